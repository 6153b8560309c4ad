"""A training setting is written once: what its dataclass declares is the flag of `humor-tasks train`."""

from __future__ import annotations

import subprocess
import sys

import click.testing

from humor_tasks.cli.train import SYSTEMS, train
from humor_tasks.lab.training.text.settings import ENCODINGS, KINDS


def test_help_shows_choices_ranges_and_what_is_required() -> None:
    text = click.testing.CliRunner().invoke(train, ["clip", "--help"]).output
    assert "--fit [pad|crop]" in text
    assert "--task [matching|ranking]" in text
    assert "Default: 0.3 (0 to 0.5)." in " ".join(text.split())
    assert "--random-crop / --centre-crop" in text
    assert text.count("[required]") == 2  # the task and the run folder


def test_the_literals_are_those_of_the_models() -> None:
    from humor_tasks.models.text import choosing, pretrained

    assert (KINDS, ENCODINGS) == (pretrained.KINDS, choosing.ENCODINGS)


def test_help_needs_no_torch() -> None:
    commands = [*(["train", name] for name in SYSTEMS), ["build", "newyorker"], ["export", "preferences"]]
    code = (
        "import sys, click.testing, humor_tasks.models.humicroedit\nfrom humor_tasks.cli import main\n"
        f"for words in {commands!r}: assert click.testing.CliRunner().invoke(main, [*words, '--help']).exit_code == 0\n"
        "heavy = 'torch transformers accelerate datasets pandas sklearn lm_eval inspect_ai'\n"
        "print(set(heavy.split()) & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
