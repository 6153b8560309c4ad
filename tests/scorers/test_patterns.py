"""The patterns with which replies are read, against what every supported Python matches right."""

from __future__ import annotations

import importlib
import pkgutil
import re
import re._constants as opcodes
import re._parser as parser
from typing import Any

from humor_tasks import scorers

SINGLE = {opcodes.LITERAL, opcodes.NOT_LITERAL, opcodes.IN, opcodes.ANY}


def possessive_groups(parsed: Any) -> list[str]:
    """The groups with a possessive quantifier in a parsed pattern, at any depth."""
    if not isinstance(parsed, parser.SubPattern | tuple | list):
        return []
    if isinstance(parsed, tuple) and parsed and parsed[0] is opcodes.POSSESSIVE_REPEAT:
        low, high, body = parsed[1]
        if len(body) != 1 or body[0][0] not in SINGLE:
            return [f"{{{low},{high}}} of {body}"]
    return [found for part in parsed for found in possessive_groups(part)]


def test_no_group_has_a_possessive_quantifier() -> None:
    """Python before 3.11.5 matches (?:ab|a)*+ wrongly (gh-106052), and (?>(?:ab|a)*) right."""
    found = {}
    for module in pkgutil.iter_modules(scorers.__path__, f"{scorers.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                found[f"{module.name}.{name}"] = possessive_groups(parser.parse(value.pattern, value.flags))
    assert len(found) > 50
    assert not {name: groups for name, groups in found.items() if groups}


def test_groups_are_found_at_any_depth() -> None:
    assert possessive_groups(parser.parse("x(?:y|[ab]*+c(?>d(?:ef)?+))")) != []
    assert possessive_groups(parser.parse("[ab]*+c++(?>(?:ef)*)")) == []
