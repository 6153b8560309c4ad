"""A parameter is written once: what a dataclass declares is a flag of its command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click
import pytest
from click.testing import CliRunner

from humor_tasks.cli import main
from humor_tasks.cli.options import Declares
from humor_tasks.contract.options import Declared, parameter, required


@dataclass(frozen=True, kw_only=True)
class Settings(Declared):
    """Of a command of this test."""

    folder: Path = required("A folder.")
    share: float = parameter(0.25, "A share.", least=0, most=1)
    tiny_rate: float = parameter(1e-05, "A rate.", least=0)
    ranks: tuple[int, ...] = parameter((4, 8), "Ranks.", least=1)
    kind: Literal["red", "blue"] = parameter("red", "A kind.")
    names: tuple[str, ...] = parameter((), "Names.", repeated=True)
    tie: bool = parameter(False, "Ties.")
    shuffle: bool = parameter(True, "Order.", off="sorted")
    heat: float | None = parameter(0.0, "Heat.", least=0)
    hidden: int = 3


def run(*words: str, **how: Any) -> Any:
    """What the callback is given, or the error's text."""
    found: list[Any] = []
    command = Declares("c", settings=f"{__name__}:Settings", callback=lambda **told: found.append(told), **how)
    command.params.append(click.Option(["--mine"]))
    done = CliRunner().invoke(command, list(words))
    return found[0] if found else done.output or str(done.exception)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (("--folder", "f"), {"folder": Path("f")}),
        (("--folder", "f", "--ranks", "1,2"), {"folder": Path("f"), "ranks": (1, 2)}),
        (("--folder", "f", "--names", "a,b", "--names", "c"), {"folder": Path("f"), "names": ("a,b", "c")}),
        (("--folder", "f", "--tie"), {"folder": Path("f"), "tie": True}),
        (("--folder", "f", "--no-tie", "--sorted"), {"folder": Path("f"), "tie": False, "shuffle": False}),
        (("--folder", "f", "--tiny-rate", "2", "--share", "0"), {"folder": Path("f"), "tiny_rate": 2.0, "share": 0.0}),
        (("--folder", "f", "--heat", "none"), {"folder": Path("f"), "heat": None}),
        (("--folder", "f", "--heat", "2"), {"folder": Path("f"), "heat": 2.0}),
        (("--folder", "f", "--kind", "green"), {"folder": Path("f"), "kind": "green"}),  # the dataclass refuses it
    ],
)
def test_the_callback_gets_what_was_given(words: tuple[str, ...], given: dict[str, Any]) -> None:
    assert run(*words, "--mine", "m") == {"mine": "m", "given": given}


def test_what_click_refuses() -> None:
    assert "Missing option '--folder'" in run()
    assert "'x' is not a valid float" in run("--folder", "f", "--share", "x")
    assert run("--folder", "f", "--heat", "warm") == "heat must be a number of at least 0 or none, not 'warm'."
    assert "No such option '--hidden'" in run("--folder", "f", "--hidden", "4")


def test_help_has_choices_ranges_and_defaults_in_the_order_asked_for() -> None:
    text = " ".join(run("--help").split())
    assert "--folder PATH A folder. [required]" in text
    assert "A share. Default: 0.25 (0 to 1)." in text
    assert "A rate. Default: 1e-5." in text
    assert "Ranks. Default: 4,8." in text
    assert "--kind [red|blue] A kind. Default: red." in text
    assert "--shuffle / --sorted" in text
    assert text.index("--folder") < text.index("--kind") < text.index("--mine")
    after = run("--help", after="mine")
    assert after.index("--mine") < after.index("--folder") < after.index("--kind") < after.index("--help")


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Declares]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        elif isinstance(command, Declares):
            yield (*words, name), command


COMMANDS = dict(commands(main))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_documented_parameter_is_a_flag_with_its_text_and_default(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    flags = {each.name: each for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)}
    assert len(command.declared) > 3
    for name, declared in command.declared.items():
        text = flags[name].help or ""
        assert text.startswith(declared.info.text)
        if isinstance(declared.default, int) and not isinstance(declared.default, bool):
            assert f"Default: {declared.default}" in text


def test_the_dataclass_is_imported_when_the_flags_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nowhere", None)
    command = Declares("c", settings="nowhere:Settings")
    with pytest.raises(ModuleNotFoundError):
        command.get_params(click.Context(command))
