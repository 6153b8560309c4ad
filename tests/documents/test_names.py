"""What the documents name exists: relative links, modules, files of this package, tasks, commands, imports."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from standins import documented
from standins.documented import DOCUMENTS
from standins.paths import REPOSITORY

from humor_tasks import _registry
from humor_tasks.cli import main

LINK = re.compile(r"\]\(([^)\s]+)\)")
DOTTED = re.compile(r"\bhumor_tasks(?:\.[A-Za-z_]\w*)+")
OF_THIS_PACKAGE = re.compile(r"(?<![\w/.])humor_tasks/([\w./-]*\w)")
IN_BACKTICKS = re.compile(r"`((?:tests|tools|docs|register|speed|website|scorers|datasets_cards)/[\w./-]+)`")
ELSEWHERE = {"docs/extensions/extensions.yml"}  # of Inspect's repository
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]+(?:[./].*)?$")  # benchmarks/CORPUS/NAME.py: its folder exists
COMMAND = re.compile(r"^humor-tasks ([a-z-]+)", re.M)


@cache
def document_text(document: str) -> str:
    return (REPOSITORY / document).read_text(encoding="utf-8")


def block_texts(document: str, *languages: str) -> str:
    return "\n".join(block.body for block in documented.blocks(document) if block.language in languages)


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", documented.FENCED.sub("", document.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def resolved(name: str) -> Any:
    """The module or the attribute of a module that a dotted name means."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            found: Any = importlib.import_module(module)
        except ModuleNotFoundError as missing:
            if not module.startswith(str(missing.name)):
                raise
            continue
        for attribute in parts[end:]:
            found = getattr(found, attribute)
        return found
    raise AssertionError(name)


def test_the_documents_are_found() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/parameters.md"} < set(DOCUMENTS)
    assert sum(document.startswith("datasets_cards/") for document in DOCUMENTS) >= 4


def test_relative_links_lead_to_files_and_headings() -> None:
    for document in DOCUMENTS:
        for target in LINK.findall(document_text(document)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            linked = (REPOSITORY / document).parent / path if path else REPOSITORY / document
            assert linked.exists(), f"{document}: {target}"
            assert not anchor or anchor in anchors(linked), f"{document}: {target}"


def test_dotted_names_resolve() -> None:
    for document in DOCUMENTS:
        for name in set(DOTTED.findall(document_text(document))):
            assert resolved(name) is not None, f"{document}: {name}"


def test_paths_of_the_package_are_files_or_registered_names() -> None:
    for document in DOCUMENTS:
        for name in set(OF_THIS_PACKAGE.findall(document_text(document))):
            path = PLACEHOLDER.sub("", name)
            assert name in _registry.__all__ or (REPOSITORY / "humor_tasks" / path).exists(), f"{document}: {name}"


def test_paths_in_backticks_exist() -> None:
    missing = [
        f"{document}: {name}"
        for document in DOCUMENTS
        for name in sorted(set(IN_BACKTICKS.findall(document_text(document))))
        if name not in ELSEWHERE and not (REPOSITORY / PLACEHOLDER.sub("", name)).exists()
    ]
    assert not missing, missing


def test_commands_exist() -> None:
    for document in DOCUMENTS:
        for name in set(COMMAND.findall(block_texts(document, "bash", "sh"))):
            assert name in main.commands, f"{document}: humor-tasks {name}"


def test_imports_of_examples_resolve() -> None:
    for document in DOCUMENTS:
        for node in ast.walk(ast.parse(block_texts(document, "python"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "humor_tasks":
                for alias in node.names:
                    assert resolved(f"{node.module}.{alias.name}") is not None, f"{document}: {alias.name}"


def test_the_guides_map_names_what_is_there() -> None:
    section = document_text("CONTRIBUTING.md").partition("Inside the rooms:")[2].partition("Outside the package:")[0]
    named = re.findall(r"^ {4}([a-z_]+/[\w./]*)", section, re.M)
    assert len(named) > 15
    for name in named:
        assert (REPOSITORY / "humor_tasks" / PLACEHOLDER.sub("", name.rstrip("/"))).exists(), name


def test_what_does_not_exist_is_found_out() -> None:
    for name in ("humor_tasks.nowhere", "humor_tasks.scorers.estimate.nothing"):
        with pytest.raises((AttributeError, AssertionError)):
            resolved(name)
    assert "a-newer-one" not in anchors(REPOSITORY / "README.md")
    assert "a-new-benchmark" in anchors(REPOSITORY / "CONTRIBUTING.md")
