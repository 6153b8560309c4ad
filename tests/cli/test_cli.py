"""`humor-tasks` and the Python interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from standins.commands import humor_tasks, inspect, refused

from humor_tasks import evaluate, load
from humor_tasks.cli import SECTIONS, main
from humor_tasks.cli.options import log_of, logs_of
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    path = tmp_path / "predictions.json"
    path.write_text(
        json.dumps({r.id: f"So the answer is {r.target}." for r in load("ranking", dataset="sample").records})
    )
    return path


def test_a_warning_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    """Without a place in the code, where it is one of this package."""
    before = warnings.formatwarning

    @click.command()
    def warn() -> None:
        for place in (__file__, main.callback.__code__.co_filename):
            sys.stderr.write(warnings.formatwarning("beware", UserWarning, place, 1))

    main.add_command(warn, "warn-once")
    try:
        main(["warn-once"], standalone_mode=False)
    finally:
        del main.commands["warn-once"]
    own, other = "Warning: beware\n", f"{__file__}:1: UserWarning: beware\n"
    told = capfd.readouterr().err
    assert told.startswith(other)
    assert told.endswith(own)
    assert warnings.formatwarning is before


def test_score_prints_every_metric_with_its_interval_and_signature(predictions: Path) -> None:
    done = CliRunner().invoke(main, ["score", str(predictions), "--task", "ranking", "--dataset", "sample"])
    assert done.exit_code == 0, done.output
    for word in (
        "accuracy",
        "ny_accuracy",
        "crowd_accuracy",
        "1.00000",
        "95% interval",
        "bench:ranking|v:2-A|method:predictions",
    ):
        assert word in done.output


def test_score_as_json(predictions: Path) -> None:
    arguments = ["score", str(predictions), "--task", "ranking", "--dataset", "sample", "--json"]
    found = json.loads(CliRunner().invoke(main, arguments).output)
    assert found["metrics"]["accuracy"]["value"] == 1
    assert found["metrics"]["accuracy"]["clusters"] == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop(next(iter(p))), "1 missing id: "),
        (lambda p: p.update(extra="A"), "1 unknown id: extra"),
        (lambda p: p.clear(), "10 missing ids: "),
    ],
)
def test_ids_that_do_not_fit_are_listed_and_nothing_is_scored(predictions: Path, change, message: str) -> None:
    data = json.loads(predictions.read_text(encoding="utf-8"))
    change(data)
    predictions.write_text(json.dumps(data), encoding="utf-8")
    done = CliRunner().invoke(main, ["score", str(predictions), "--task", "ranking", "--dataset", "sample"])
    assert done.exit_code == 2
    assert message in done.output
    assert "Nothing was scored" in done.output
    assert "accuracy" not in done.output
    with pytest.raises(BadInput, match=message):
        evaluate("ranking", data, dataset="sample")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "rankin", "--dataset", "sample"], "Did you mean 'ranking'"),
        (["--task", "ranking", "--dataset", "sample", "--fold", "9"], "there is no '9'"),
        (["--task", "ranking", "-T", "extracton=strict"], "parameter of ranking: there is no 'extracton'; choose from"),
        (["--task", "ranking", "-T", "extracton=strict"], "Did you mean 'extraction'"),
        (["--task", "ranking", "-T", "seed=1", "-T", "seed=2"], "seed is given twice: 1 and '2'"),
        (["--task", "ranking", "--fold", "1", "-T", "fold=1"], "fold is given twice: '1' and '1'"),
        (["--task", "ranking", "-T", "seed"], "-T seed: write -T NAME=VALUE"),
        (["--task", "ranking", "-T", "seed=one"], "seed must be a whole number, not 'one'"),
        (["--task", "ranking", "-T", "shots=-1"], "shots must be a whole number of at least 0, not -1"),
        (["--task", "ranking", "-T", "cot=yes"], "cot must be true or false, not 'yes'"),
        (["--task", "humorbench", "-T", "fold=1"], "parameter of humorbench: there is no 'fold'"),
        (["--task", "humorbench", "-T", "shots=1"], "shots: HumorBench has no training rows"),
        (["--task", "ranking", "--dataset", "/no/where"], "/no/where"),
        (["--task", "matching", "--dataset", "sample"], "unknown ids"),
    ],
)
def test_bad_arguments(predictions: Path, arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["score", str(predictions), *arguments])
    assert done.exit_code == 2
    assert message in done.output


def test_parameters_of_score_are_typed_by_the_options(predictions: Path) -> None:
    replies = json.loads(predictions.read_text(encoding="utf-8"))
    first = next(iter(replies))
    predictions.write_text(json.dumps(replies | {first: "no idea"}), encoding="utf-8")
    given = ["-T", "dataset=sample", "-T", "on_unparsed=exclude", "-T", "cot=true", "-T", "seed=7", "-T", "scale=none"]
    arguments = ["score", str(predictions), "--task", "ranking", "--json"]
    found = json.loads(CliRunner().invoke(main, [*arguments, *given[:-2]]).output)
    assert found["metrics"]["accuracy"]["n"] == 9
    assert "|on_unparsed:exclude|extraction:strict|seed:7|" in found["signature"]
    assert "there is no 'scale'" in CliRunner().invoke(main, [*arguments, *given]).output


@pytest.mark.parametrize("gone", ["--scene", "--input", "--via", "--subset", "--on-unparsed", "--extraction", "--seed"])
def test_flags_of_one_family_are_parameters(predictions: Path, gone: str) -> None:
    done = CliRunner().invoke(main, ["score", str(predictions), "--task", "ranking", gone, "x"])
    assert (done.exit_code, "No such option" in done.output) == (2, True)


def test_parameters_are_tabled() -> None:
    done = CliRunner().invoke(main, ["parameters", "humorbench"])
    assert done.exit_code == 0
    assert "| `one_explanation_per` | `row`, `caption` | `row` |" in done.output
    assert "| `seed` | a whole number or none | `1234` | Seed of graders" in done.output
    assert "lm-eval: `humorbench`, `humorbench_hard` (subset=hard)" in done.output
    assert "shots" not in done.output
    assert "Did you mean 'humorbench'" in CliRunner().invoke(main, ["parameters", "humorbnch"]).output


def test_predictions_that_are_no_text_and_parameters_too_late() -> None:
    run = load("ranking", dataset="sample")
    replies = {record.id: "A" for record in run.records}
    with pytest.raises(BadInput, match="is None; it must be text"):
        evaluate(run, replies | {run.records[0].id: None})  # type: ignore[dict-item]
    with pytest.raises(BadInput, match="extraction: pass parameters to load"):
        evaluate(run, replies, extraction="nonsense")


def test_report_reads_well() -> None:
    run = load("explanation", dataset="sample")
    report = evaluate(run, {r.id: str(r.target) for r in run.records})
    assert str(report).splitlines()[0].split() == ["metric", "value", "stderr", "95%", "interval", "n", "clusters"]
    assert report.as_dict()["metrics"]["bleu"]["value"] == pytest.approx(100)
    assert len(report.outcomes) == 5


def test_unknown_uncertainty_is_null_in_json() -> None:
    run = load("matching", dataset="sample")
    outcome = run.outcome(run.records[0], "A")
    from humor_tasks.api import Report

    assert Report(run.metrics([outcome]), Signature(), (outcome,)).as_dict()["metrics"]["accuracy"]["stderr"] is None


# ---- the commands ---------------------------------------------------------------------------------

SCREEN = (100, 31)  # columns, lines
LONGEST = 40


def commands(command: click.Command = main, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it."""
    yield words, command
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(below, *words, name)


COMMANDS = dict(commands())


def help_of(words: tuple[str, ...]) -> list[str]:
    done = CliRunner().invoke(main, [*words, "--help"], terminal_width=SCREEN[0])
    assert done.exit_code == 0, done.output
    return done.output.splitlines()


def test_help_and_version() -> None:
    lines = help_of(())
    assert len(lines) <= SCREEN[1]
    named = [line.split()[0] for line in lines[5:-2] if line.startswith("  ")]
    assert named == [command.name for commands in SECTIONS.values() for command in commands]
    assert set(named) == set(main.commands)
    assert not [line for line in lines[1:] if line.endswith("...")]
    assert "humor-tasks, version" in CliRunner().invoke(main, ["--version"]).output


@pytest.mark.parametrize("words", [words for words in COMMANDS if words[:1] != ("train",)], ids=" ".join)
def test_help_fits_a_screen(words: tuple[str, ...]) -> None:
    lines = help_of(words)
    assert len(lines) <= LONGEST
    assert max(map(len, lines)) <= SCREEN[0]


@pytest.mark.parametrize(
    ("flag", "differs"),
    [("-o", {"help", "default"}), ("--json", set()), ("-T", set()), ("-M", set()), ("--log-dir", set())],
)
def test_an_option_has_one_form(flag: str, differs: set[str]) -> None:
    found = [
        {"name": option.name, "value": option.metavar, "help": option.help, "names": sorted(option.opts)}
        for words, command in COMMANDS.items()
        for option in command.get_params(click.Context(command))
        if isinstance(option, click.Option) and flag in option.opts and words[:1] != ("train",)
    ]
    assert len(found) > 2
    for field in set(found[0]) - differs:
        assert len({str(option[field]) for option in found}) == 1, field
    assert all(option["help"] for option in found)


def test_what_is_written_is_named() -> None:
    for words, command in COMMANDS.items():
        for option in command.get_params(click.Context(command)):
            if isinstance(option, click.Option) and "-o" in option.opts and words[:1] != ("train",):
                begins = "Write " if option.required or isinstance(option.default, Path) else "Also write "
                assert str(option.help).startswith(begins), words


# ---- runs as folders ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of an exam of judges, and of matching."""
    folder = tmp_path_factory.mktemp("logs")
    for task, model in (("crowd_groups", "baseline/first"), ("matching", "baseline/overlap")):
        inspect(
            *("eval", f"humor_tasks/{task}", "--model", model, "-T", "dataset=sample", "--display", "none"),
            *("--log-dir", folder),
            cwd=folder,
        )
    return folder


def test_the_exams_of_judges_are_printed(folder: Path) -> None:
    printed = humor_tasks("judge", "exam", folder)
    assert printed.startswith("baseline/first, crowd_groups\n")
    assert "| share\\_a" in printed
    assert "matching" not in printed
    (result,) = json.loads(humor_tasks("judge", "exam", folder, "--json"))
    assert (result["judge"], result["exam"]) == ("baseline/first", "crowd_groups")
    assert result["metrics"]["share_a"]["value"] == 1
    (matching,) = folder.glob("*matching*")
    assert "no run is an exam of a judge (crowd_groups or humorbench_autograder)." in refused("judge", "exam", matching)


def test_a_folder_stands_for_its_logs_of_the_benchmark(folder: Path, tmp_path: Path) -> None:
    (matching,) = folder.glob("*matching*")
    assert logs_of(["matching"], [folder, tmp_path / "gone.eval"]) == [matching, tmp_path / "gone.eval"]
    assert log_of(["matching"], folder) == matching
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "broken.eval").write_text("no log")
    assert [path.parent for path in logs_of(["matching"], [copy, folder])] == [copy, folder]
    with pytest.raises(BadInput, match="holds no log of humorbench or ranking"):
        logs_of(["humorbench", "ranking"], [folder])
    shutil.copy(matching, copy / "again.eval")
    with pytest.raises(BadInput, match="holds 2 logs of matching; name one of them"):
        log_of(["matching"], copy)
    humor_tasks("export", "submission", matching, "-o", tmp_path / "one.json")


def test_the_command_starts_without_benchmarks_and_harnesses() -> None:
    heavy = ("inspect_ai", "lm_eval", "numpy", "torch", "PIL", "openai", "tiktoken")
    heavy += ("humor_tasks.api", "humor_tasks.benchmarks")
    code = f"import sys, humor_tasks.cli; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
