"""What to consider before a benchmark's score is used: use cases, misuse, whose humour it is, people and content.

The texts are those of `considerations.toml` in the corpus's dataset card: fields of the whole corpus, and in a table
`benchmark.NAME` those of a benchmark. The questions are those of BetterBench (Reuel et al., NeurIPS 2024, arXiv
2411.12990) on design, data and annotation.
"""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import read_body

FILE = "considerations.toml"
USERS = ("Developers who compare models or versions of one", "Researchers of humour and of language understanding")
MISUSE = (
    "As data for training: the split that is scored is never trained on, and no model is chosen by it.",
    "As proof of a sense of humour in general, or of what readers of other places, languages and times find funny.",
    "For a decision about a person.",
)
"""What no benchmark's score is for."""


@dataclass(frozen=True)
class Considerations:
    """Whole sentences, with the place in the paper where they are from one. "" is nothing known.

    card: the folder of the corpus's dataset card. use_cases: what a score helps to decide. users: who the benchmark is
    for. meaning: what a score means. limits: what it does not mean. misuse: what it is not for, in addition to MISUSE.
    no_chance, no_human: why metrics without such a level have none.

    humour: who wrote the jokes, for whom, and who judged them. coverage: how far the rows are representative, and of
    what. annotation: who annotated what, how it was checked, how far annotators agree. privacy: personal data in rows.
    consent: what writers and annotators agreed to. sensitive: what may offend in rows. outputs: the same in replies.
    """

    card: str = ""
    use_cases: str = ""
    users: tuple[str, ...] = USERS
    meaning: str = ""
    limits: str = ""
    misuse: tuple[str, ...] = ()
    no_chance: str = ""
    no_human: str = ""
    humour: str = ""
    coverage: str = ""
    annotation: str = ""
    privacy: str = ""
    consent: str = ""
    sensitive: str = ""
    outputs: str = ""

    @property
    def of_corpus(self) -> dict[str, str]:
        """Label -> text on people and content, without empty ones."""
        told = {
            "Whose humour": self.humour,
            "Annotation": self.annotation,
            "Personal data": self.privacy,
            "Consent": self.consent,
            "Sensitive content in items": self.sensitive,
            "Sensitive content in replies": self.outputs,
        }
        return {label: text for label, text in told.items() if text}


def considerations(card: str, benchmark: str) -> Considerations:
    """Those of a benchmark, from its corpus's dataset card. Raises BadInput for what the file lacks or has amiss."""
    shared = dict(_read(card))
    benchmarks = shared.pop("benchmark", {})
    check_choice(f"datasets_cards/{card}/{FILE}, table benchmark", benchmark, benchmarks)
    fields: dict[str, Any] = shared | benchmarks[benchmark]
    for name, value in fields.items():
        where = f"datasets_cards/{card}/{FILE}, {benchmark}"
        check_choice(f"{where}, field", name, (field.name for field in dataclasses.fields(Considerations)))
        listed = name in ("users", "misuse")
        texts = value if listed else [value]
        if not isinstance(texts, list) or not all(isinstance(each, str) and each for each in texts):
            raise BadInput(f"{where}: {name} is {value!r:.60}; give {'a list of texts' if listed else 'a text'}.")
    tuples = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Considerations(**{"card": card, **fields, **tuples})


@cache
def _read(card: str) -> dict[str, Any]:
    path = folder(card) / FILE
    try:
        return tomllib.loads(read_body(path))
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"{path}: is no TOML ({problem}).") from None
