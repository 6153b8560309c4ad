"""A training setting is written once: what its dataclass declares is the flag of `humor-tasks train`."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import click
import click.testing
import pytest

from humor_tasks.cli.train import SYSTEMS, train
from humor_tasks.contract.options import flags_of
from humor_tasks.lab.training.text.settings import ENCODINGS, KINDS


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_documented_setting_is_a_flag_with_its_default(name: str) -> None:
    system = SYSTEMS[name]
    settings = getattr(import_module(f"humor_tasks.lab.training.{system.folder}.settings"), system.settings)
    command = train.commands[name]
    options = command.get_params(click.Context(command))
    flags = {option.name: option for option in options if isinstance(option, click.Option)}
    declared = flags_of(settings)
    assert list(declared) == [flag for flag in flags if flag not in ("output", "no_progress", "_click_default_help")]
    for parameter in declared.values():
        text = flags[parameter.name].help or ""
        assert text.startswith(parameter.info.text)
        if isinstance(parameter.default, int) and not isinstance(parameter.default, bool):
            assert f"Default: {parameter.default}" in text


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
    code = (
        "import sys, click.testing, humor_tasks.models.humicroedit\nfrom humor_tasks.cli.train import SYSTEMS, train\n"
        "for name in SYSTEMS: assert click.testing.CliRunner().invoke(train, [name, '--help']).exit_code == 0\n"
        "heavy = 'torch transformers accelerate datasets pandas sklearn lm_eval inspect_ai'\n"
        "print(set(heavy.split()) & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
