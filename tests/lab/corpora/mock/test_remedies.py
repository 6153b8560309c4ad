"""MOCK's errors: each names a remedy, and the remedy works when it is followed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from standins import mock_sources as made
from standins.mock_options import JUDGE, environment, obliging, options_arguments
from standins.mock_sources import built, comedy_only, posts, without_pictures

from humor_tasks import evaluate, load
from humor_tasks.cli import main
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.testing import ChatServer, run_lm_eval

SAMPLE = Path(folder("mock"))


# ---- folders ------------------------------------------------------------------------------------


def posts_only(tmp: Path, *more: object) -> Path:
    posts(tmp, 20)
    if "--missing" in more:
        shutil.rmtree(tmp / "cai" / "dataset_image")
    built(tmp / "mock", "--cai", tmp / "cai", *more)
    return tmp / "mock"


def described(tmp: Path) -> Path:
    """A file for --descriptions that describes each post."""
    file = tmp / "texts.json"
    file.write_text(json.dumps({f"tweet-{100 + i}": f"A grey square, number {i}." for i in range(20)}))
    return file


def with_clips(tmp: Path) -> Path:
    """The sample without its cartoons of detecting."""
    shutil.copytree(SAMPLE, tmp / "mock", ignore=shutil.ignore_patterns("*.py", "*.toml"))
    return tmp / "mock"


# ---- commands -----------------------------------------------------------------------------------


def run_command(*arguments: object) -> None:
    """`humor-tasks ARGUMENTS`; raises BadInput where it is refused."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if done.exit_code == 2:
        raise BadInput(" ".join(done.output.split()))
    assert done.exit_code == 0, done.output


def in_process(name: str, dataset: Path | str, **parameters: Any) -> None:
    """A run of a task that shows every prompt."""
    run = load(name, dataset=str(dataset), **parameters)
    for record in run.records:
        run.prompt(record)
    if run.form.labels:
        evaluate(run, {record.id: run.form.written(record.target or "") for record in run.records})


def in_lm_eval(name: str, dataset: Path, **metadata: Any) -> None:
    assert run_lm_eval(BaselineLM("first"), name, metadata={"dataset": str(dataset)} | metadata)["results"][name]


def options_built(source: Path, *arguments: object) -> Callable[[], None]:
    """`build options` with models that oblige."""

    def run() -> None:
        with ChatServer(obliging) as server, patch.dict(os.environ, environment(server.url, source.parent)):
            run_command(*options_arguments(source, source.parent / "options", *JUDGE, *map(str, arguments)))

    return run


Run = Callable[[], Any]


# Each: a function of a folder that returns what fails, what the error says (with the remedy), and what it says to do.
def no_clips(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        lambda: in_process("mock_detecting", mock),
        f"of comedy_detecting/test in {mock}. What can be read: split=test scene=comedy input=description",
        lambda: in_process("mock_detecting", mock, split="test", scene="comedy", input="description"),
    )


def no_split(tmp: Path) -> tuple[Run, str, Run]:
    built(tmp / "mock", "--wits", made.wits(tmp / "wits", val={str(i): made.dialogue(i) for i in range(8)}))
    return (
        lambda: in_process("mock_explaining", tmp / "mock", input="description"),
        "comedy: there is no comedy_explaining/test. What can be read: split=validation scene=comedy input=description",
        lambda: in_process("mock_explaining", tmp / "mock", split="validation", scene="comedy", input="description"),
    )


def one_scene_without_a_split(tmp: Path) -> tuple[Run, str, Run]:
    built(tmp / "mock", "--wits", made.wits(tmp / "wits", val={str(i): made.dialogue(i) for i in range(8)}))
    return (
        lambda: in_process("mock_matching", tmp / "mock", scene="comedy", input="description"),
        "has no split 'test'; there are: validation. What can be read: split=validation scene=comedy",
        lambda: in_process("mock_matching", tmp / "mock", split="validation", scene="comedy", input="description"),
    )


def scene_that_is_not_there(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        lambda: in_process("mock_detecting", mock, scene="cartoon"),
        "What can be read: split=test scene=comedy input=description",
        lambda: in_process("mock_detecting", mock, split="test", scene="comedy", input="description"),
    )


def posts_without_media(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp, "--missing", "keep")
    return (
        lambda: in_process("mock_detecting", mock),
        "have no picture or clip, such as row 0 (id cai_118_detecting) of post_detecting/test",
        lambda: (
            built(tmp / "again", "--cai", tmp / "cai", "--missing", "keep", "--descriptions", described(tmp)),
            in_process("mock_detecting", tmp / "again", input="description"),
        ),
    )


def posts_without_descriptions(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp, "--missing", "keep")
    return (
        lambda: in_process("mock_detecting", mock, input="description"),
        "Build the folder again with pictures (`--more-images`, `--cai-images`, `--mustard-clips`, `--wits-clips`) "
        "or with `--descriptions FILE`, a JSON object {media_id: text}.",
        lambda: (
            made.pictures(tmp / "pictures", [str(100 + i) for i in range(20)]),
            built(tmp / "again", "--cai", tmp / "cai", "--cai-images", tmp / "pictures"),
            in_process("mock_detecting", tmp / "again"),
        ),
    )


def pictures_without_descriptions(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp)
    return (
        lambda: in_process("mock_detecting", mock, input="description"),
        "What can be read: split=test scene=post input=media",
        lambda: in_process("mock_detecting", mock, split="test", scene="post", input="media"),
    )


def shots_without_training_rows(tmp: Path) -> tuple[Run, str, Run]:
    built(tmp / "mock", "--wits", made.wits(tmp / "wits", test={str(i): made.dialogue(i) for i in range(8)}))
    given = {"scene": "comedy", "input": "description"}
    return (
        lambda: in_process("mock_explaining", tmp / "mock", **given, shots=2),
        "has no split 'train'; there are: test. Worked examples come from the train split: leave out shots",
        lambda: in_process("mock_explaining", tmp / "mock", **given),
    )


def chain_of_task_without_samples(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    given = {"scene": "comedy", "input": "description"}
    return (
        lambda: in_process("mock_detecting", mock, **given, chain_of_task=True),
        "and chain_of_task",
        lambda: in_process("mock_detecting", mock, **given),
    )


def clips_in_lm_eval(tmp: Path) -> tuple[Run, str, Run]:
    mock = with_clips(tmp)
    return (
        lambda: in_lm_eval("mock_detecting_pixels", mock, scene="comedy"),
        "or, for comedy in words, the task mock_detecting.",
        lambda: in_lm_eval("mock_detecting", mock, scene="comedy"),
    )


def stills_in_lm_eval(tmp: Path) -> tuple[Run, str, Run]:
    mock = without_pictures(tmp)
    return (
        lambda: in_lm_eval("mock_detecting", mock),
        "What can be read: split=test scene=comedy input=description (in lm-eval, tasks ending in _pixels have "
        "input=media, and the others input=description)",
        lambda: in_lm_eval("mock_detecting", mock, split="test", scene="comedy"),
    )


def pixels_in_lm_eval(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp)
    return (
        lambda: in_lm_eval("mock_detecting_gen", mock),
        "split=test scene=post input=media (in lm-eval, tasks ending in _pixels have input=media",
        lambda: in_lm_eval("mock_detecting_pixels_gen", mock, split="test", scene="post"),
    )


def nothing_left(tmp: Path) -> tuple[Run, str, Run]:
    made.more(tmp / "more", val=[["11", "a", "b"]])
    given = ("build", "mock", "--more", tmp / "more", "-o", tmp / "mock", "--missing")
    return (
        lambda: run_command(*given, "drop"),
        "no usable row. Left out: MORE: 1, its file is missing. --missing keep keeps rows without their file",
        lambda: run_command(*given, "keep"),
    )


def nothing_but_short(tmp: Path) -> tuple[Run, str, Run]:
    file = made.mustard(tmp / "m.json", {f"1_{i}": (made.dialogue(i, 2), bool(i % 2)) for i in range(12)})
    given = ("build", "mock", "--mustard", file, "-o", tmp / "mock")
    return (
        lambda: run_command(*given),
        "Left out: MUStARD: 12, fewer than 3 utterances. --missing keep keeps rows without their file, and "
        "--keep-short-dialogues short dialogues.",
        lambda: (
            run_command(*given, "--keep-short-dialogues"),
            in_process("mock_detecting", tmp / "mock", scene="comedy", input="description", split="train"),
        ),
    )


def another_language(tmp: Path) -> tuple[Run, str, Run]:
    file = made.wits(tmp / "wits", val={"1": made.dialogue(1)}) / "val_data_final_plain.json"
    data = json.loads(file.read_text())
    del data["1"]["english_explanation"]
    file.write_text(json.dumps(data))
    given = ("build", "mock", "--wits", file, "-o", tmp / "mock")
    return (
        lambda: run_command(*given),
        "choose --wits-explanations ['code_mixed']",
        lambda: run_command(*given, "--wits-explanations", "code_mixed"),
    )


def name_without_split(tmp: Path) -> tuple[Run, str, Run]:
    made.more(tmp / "more", val=[["11", "a", "b"]])
    (tmp / "more" / "val_df.tsv").rename(tmp / "rows.tsv")
    given = ("-o", tmp / "mock", "--missing", "keep")
    return (
        lambda: run_command("build", "mock", "--more", tmp / "rows.tsv", *given),
        "its name must contain the split, as in train_df.tsv, val_df.tsv, test_df.tsv",
        lambda: run_command("build", "mock", "--more", (tmp / "rows.tsv").rename(tmp / "val_df.tsv"), *given),
    )


def options_without_clips(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        options_built(mock),
        "line 1: has no picture or clip, as 10 of 10 rows. Use --input description.",
        options_built(mock, "--input", "description"),
    )


def options_of_another_split(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        options_built(mock, "--split", "test", "--input", "description"),
        "--scene all --split test: there is no such file; there are: comedy_matching/train.jsonl.",
        options_built(mock, "--split", "train", "--input", "description"),
    )


def options_of_posts_in_a_circle(tmp: Path) -> tuple[Run, str, Run]:
    mock = without_pictures(tmp)
    return (
        options_built(mock, "--input", "description"),
        "has no description, as 8 of 18 rows. Use --input description --scene comedy.",
        options_built(mock, "--input", "description", "--scene", "comedy"),
    )


REMEDIES = (
    *(no_clips, no_split, one_scene_without_a_split, scene_that_is_not_there),
    *(posts_without_media, posts_without_descriptions),
    *(pictures_without_descriptions, shots_without_training_rows, chain_of_task_without_samples),
    *(clips_in_lm_eval, stills_in_lm_eval, pixels_in_lm_eval),
    *(nothing_left, nothing_but_short, another_language, name_without_split),
    *(options_without_clips, options_of_another_split, options_of_posts_in_a_circle),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Left out:UserWarning")
@pytest.mark.parametrize("made_by", REMEDIES)
def test_the_remedy_that_an_error_names_works(made_by: Callable[[Path], tuple[Run, str, Run]], tmp_path: Path) -> None:
    fails, said, works = made_by(tmp_path)
    with pytest.raises(BadInput) as problem:
        fails()
    assert said in str(problem.value)
    works()
