"""MOCK's errors: each names a remedy, and the remedy works when it is followed. Defaults run on what a folder holds."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from standins import mock_sources as made
from standins.mock_sources import built, posts, rows

from humor_tasks import evaluate, load
from humor_tasks.cli import main
from humor_tasks.corpora.mock.building import NOTHING_BEFORE
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.testing import ChatServer, run_lm_eval

SAMPLE = Path(folder("mock"))


# ---- folders ------------------------------------------------------------------------------------


def dialogues(tmp: Path, n: int = 24) -> Path:
    return made.mustard(tmp / "m.json", {f"1_{i}": (made.dialogue(i), bool(i % 2)) for i in range(n)})


def comedy_only(tmp: Path, *more: object) -> Path:
    """What `build mock --mustard FILE` writes: no cartoons, no posts, no clips."""
    built(tmp / "mock", "--mustard", dialogues(tmp), *more)
    return tmp / "mock"


def without_pictures(tmp: Path, *more: object) -> Path:
    """Comedy, and posts with neither pictures nor descriptions."""
    posts(tmp, 20)
    shutil.rmtree(tmp / "cai" / "dataset_image")
    return comedy_only(tmp, "--cai", tmp / "cai", "--missing", "keep", *more)


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


def command(*arguments: object) -> None:
    """`humor-tasks ARGUMENTS`; raises BadInput where it is refused."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if done.exit_code == 2:
        raise BadInput(" ".join(done.output.split()))
    assert done.exit_code == 0, done.output


def task(name: str, dataset: Path | str, **parameters: Any) -> None:
    """A run of a task that shows every prompt."""
    run = load(name, dataset=str(dataset), **parameters)
    for record in run.records:
        run.prompt(record)
    if run.form.labels:
        evaluate(run, {record.id: run.form.written(record.target or "") for record in run.records})


def lm_eval(name: str, dataset: Path, **metadata: Any) -> None:
    assert run_lm_eval(BaselineLM("first"), name, metadata={"dataset": str(dataset)} | metadata)["results"][name]


def options(source: Path, *arguments: object) -> Callable[[], None]:
    """`build options` with models that oblige."""

    def run() -> None:
        def reply(messages: list[dict[str, Any]]) -> str:
            said = json.dumps(messages)
            judged = "line_a" in said
            return "<judgement>DIFFERENT</judgement>" if judged else f"<line>A line {hash(said)}.</line>"

        with ChatServer(reply) as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOCAL_BASE_URL", server.url)
            patch.setenv("LOCAL_API_KEY", "x")
            patch.setenv("INSPECT_CACHE_DIR", str(source.parent / "cache"))
            models = ["--model", "openai-api/local/writer", "--judge", "openai-api/local/judge"]
            command("build", "options", source, *models, *arguments, "-o", source.parent / "options")

    return run


Run = Callable[[], Any]


# Each: a function of a folder that returns what fails, what the error says (with the remedy), and what it says to do.
def no_clips(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        lambda: task("mock_detecting", mock),
        f"of comedy_detecting/test in {mock}. What can be read: split=test scene=comedy input=description",
        lambda: task("mock_detecting", mock, split="test", scene="comedy", input="description"),
    )


def no_split(tmp: Path) -> tuple[Run, str, Run]:
    built(tmp / "mock", "--wits", made.wits(tmp / "wits", val={str(i): made.dialogue(i) for i in range(8)}))
    return (
        lambda: task("mock_explaining", tmp / "mock", input="description"),
        "comedy: there is no comedy_explaining/test. What can be read: split=validation scene=comedy input=description",
        lambda: task("mock_explaining", tmp / "mock", split="validation", scene="comedy", input="description"),
    )


def one_scene_without_a_split(tmp: Path) -> tuple[Run, str, Run]:
    built(tmp / "mock", "--wits", made.wits(tmp / "wits", val={str(i): made.dialogue(i) for i in range(8)}))
    return (
        lambda: task("mock_matching", tmp / "mock", scene="comedy", input="description"),
        "has no split 'test'; there are: validation. What can be read: split=validation scene=comedy",
        lambda: task("mock_matching", tmp / "mock", split="validation", scene="comedy", input="description"),
    )


def scene_that_is_not_there(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        lambda: task("mock_detecting", mock, scene="cartoon"),
        "What can be read: split=test scene=comedy input=description",
        lambda: task("mock_detecting", mock, split="test", scene="comedy", input="description"),
    )


def posts_without_media(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp, "--missing", "keep")
    return (
        lambda: task("mock_detecting", mock),
        "have no picture or clip, such as row 0 (id cai_118_detecting) of post_detecting/test",
        lambda: (
            built(tmp / "again", "--cai", tmp / "cai", "--missing", "keep", "--descriptions", described(tmp)),
            task("mock_detecting", tmp / "again", input="description"),
        ),
    )


def posts_without_descriptions(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp, "--missing", "keep")
    return (
        lambda: task("mock_detecting", mock, input="description"),
        "Build the folder again with pictures (`--more-images`, `--cai-images`, `--mustard-clips`) or with "
        "`--descriptions FILE`, a JSON object {media_id: text}.",
        lambda: (
            made.pictures(tmp / "pictures", [str(100 + i) for i in range(20)]),
            built(tmp / "again", "--cai", tmp / "cai", "--cai-images", tmp / "pictures"),
            task("mock_detecting", tmp / "again"),
        ),
    )


def pictures_without_descriptions(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp)
    return (
        lambda: task("mock_detecting", mock, input="description"),
        "What can be read: split=test scene=post input=media",
        lambda: task("mock_detecting", mock, split="test", scene="post", input="media"),
    )


def shots_without_training_rows(tmp: Path) -> tuple[Run, str, Run]:
    built(tmp / "mock", "--wits", made.wits(tmp / "wits", test={str(i): made.dialogue(i) for i in range(8)}))
    given = {"scene": "comedy", "input": "description"}
    return (
        lambda: task("mock_explaining", tmp / "mock", **given, shots=2),
        "has no split 'train'; there are: test. Worked examples come from the train split: leave out shots",
        lambda: task("mock_explaining", tmp / "mock", **given),
    )


def too_few_for_shots(tmp: Path) -> tuple[Run, str, Run]:
    return (
        lambda: task("mock_matching", "sample", scene="post", shots=9),
        "shots=9: the train split of post has only 3 other media",
        lambda: task("mock_matching", "sample", scene="post", shots=3),
    )


def chain_of_task_without_samples(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    given = {"scene": "comedy", "input": "description"}
    return (
        lambda: task("mock_detecting", mock, **given, chain_of_task=True),
        "and chain_of_task",
        lambda: task("mock_detecting", mock, **given),
    )


def clips_in_lm_eval(tmp: Path) -> tuple[Run, str, Run]:
    mock = with_clips(tmp)
    return (
        lambda: lm_eval("mock_detecting_pixels", mock, scene="comedy"),
        "or, for comedy in words, the task mock_detecting.",
        lambda: lm_eval("mock_detecting", mock, scene="comedy"),
    )


def stills_in_lm_eval(tmp: Path) -> tuple[Run, str, Run]:
    mock = without_pictures(tmp)
    return (
        lambda: lm_eval("mock_detecting", mock),
        "What can be read: split=test scene=comedy input=description (in lm-eval, tasks ending in _pixels have "
        "input=media, and the others input=description)",
        lambda: lm_eval("mock_detecting", mock, split="test", scene="comedy"),
    )


def pixels_in_lm_eval(tmp: Path) -> tuple[Run, str, Run]:
    mock = posts_only(tmp)
    return (
        lambda: lm_eval("mock_detecting_gen", mock),
        "split=test scene=post input=media (in lm-eval, tasks ending in _pixels have input=media",
        lambda: lm_eval("mock_detecting_pixels_gen", mock, split="test", scene="post"),
    )


def missing_files(tmp: Path, way: str) -> tuple[Run, str, Run]:
    made.more(tmp / "more", val=[["11", "a", "b"], ["12", "c", "d"]])
    made.pictures(tmp / "more" / "images", ["11"])
    given = ("build", "mock", "--more", tmp / "more", "-o", tmp / "mock")
    return (
        lambda: command(*given),
        "Restore them, or leave their rows out (--missing drop), or build for text-only models (--missing keep).",
        lambda: command(*given, "--missing", way),
    )


def nothing_left(tmp: Path) -> tuple[Run, str, Run]:
    made.more(tmp / "more", val=[["11", "a", "b"]])
    given = ("build", "mock", "--more", tmp / "more", "-o", tmp / "mock", "--missing")
    return (
        lambda: command(*given, "drop"),
        "no usable row. Left out: MORE: 1, its file is missing. --missing keep keeps rows without their file",
        lambda: command(*given, "keep"),
    )


def nothing_but_short(tmp: Path) -> tuple[Run, str, Run]:
    file = made.mustard(tmp / "m.json", {f"1_{i}": (made.dialogue(i, 2), bool(i % 2)) for i in range(12)})
    given = ("build", "mock", "--mustard", file, "-o", tmp / "mock")
    return (
        lambda: command(*given),
        "Left out: MUStARD: 12, fewer than 3 utterances. --missing keep keeps rows without their file, and "
        "--keep-short-dialogues short dialogues.",
        lambda: (
            command(*given, "--keep-short-dialogues"),
            task("mock_detecting", tmp / "mock", scene="comedy", input="description", split="train"),
        ),
    )


def another_language(tmp: Path) -> tuple[Run, str, Run]:
    file = made.wits(tmp / "wits", val={"1": made.dialogue(1)}) / "val_data_final_plain.json"
    data = json.loads(file.read_text())
    del data["1"]["english_explanation"]
    file.write_text(json.dumps(data))
    given = ("build", "mock", "--wits", file, "-o", tmp / "mock")
    return (
        lambda: command(*given),
        "choose --wits-explanations ['code_mixed']",
        lambda: command(*given, "--wits-explanations", "code_mixed"),
    )


def name_without_split(tmp: Path) -> tuple[Run, str, Run]:
    made.more(tmp / "more", val=[["11", "a", "b"]])
    (tmp / "more" / "val_df.tsv").rename(tmp / "rows.tsv")
    given = ("-o", tmp / "mock", "--missing", "keep")
    return (
        lambda: command("build", "mock", "--more", tmp / "rows.tsv", *given),
        "its name must contain the split, as in train_df.tsv, val_df.tsv, test_df.tsv",
        lambda: command("build", "mock", "--more", (tmp / "rows.tsv").rename(tmp / "val_df.tsv"), *given),
    )


def folder_that_exists(tmp: Path) -> tuple[Run, str, Run]:
    comedy_only(tmp)
    given = ("build", "mock", "--mustard", tmp / "m.json", "-o")
    return lambda: command(*given, tmp / "mock"), "name a new folder", lambda: command(*given, tmp / "new")


def no_source(tmp: Path) -> tuple[Run, str, Run]:
    given = ("build", "mock", "-o", tmp / "mock")
    said = "name at least one source: --mustard, --wits, --more, --cai or --newyorker"
    return lambda: command(*given), said, lambda: command(*given, "--mustard", dialogues(tmp))


def options_without_clips(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        options(mock),
        "line 1: has no picture or clip, as 10 of 10 rows. Use --input description.",
        options(mock, "--input", "description"),
    )


def options_of_another_split(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        options(mock, "--split", "test", "--input", "description"),
        "--scene all --split test: there is no such file; there are: comedy_matching/train.jsonl.",
        options(mock, "--split", "train", "--input", "description"),
    )


def options_of_posts_in_a_circle(tmp: Path) -> tuple[Run, str, Run]:
    mock = without_pictures(tmp)
    return (
        options(mock, "--input", "description"),
        "has no description, as 8 of 18 rows. Use --input description --scene comedy.",
        options(mock, "--input", "description", "--scene", "comedy"),
    )


def options_of_one_file(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    file = mock / "comedy_matching" / "train.jsonl"
    return (
        options(file, "--input", "description", "--split", "train"),
        "train.jsonl is one file; leave it out",
        options(file, "--input", "description"),
    )


def options_with_one_detector_too_many(tmp: Path) -> tuple[Run, str, Run]:
    mock = comedy_only(tmp)
    return (
        options(mock, "--input", "description", "--embedding", "x"),
        "give either --judge MODEL or --embedding MODEL",
        options(mock, "--input", "description"),
    )


REMEDIES: Mapping[str, Callable[[Path], tuple[Run, str, Run]]] = {
    made_by.__name__: made_by
    for made_by in (
        *(no_clips, no_split, one_scene_without_a_split, scene_that_is_not_there, posts_without_media),
        *(posts_without_descriptions, pictures_without_descriptions, shots_without_training_rows, too_few_for_shots),
        *(chain_of_task_without_samples, clips_in_lm_eval, stills_in_lm_eval, pixels_in_lm_eval),
        *(nothing_left, nothing_but_short, another_language, name_without_split, folder_that_exists, no_source),
        *(
            options_without_clips,
            options_of_another_split,
            options_of_posts_in_a_circle,
            options_of_one_file,
            options_with_one_detector_too_many,
        ),
    )
} | {f"missing files: {way}": lambda tmp, way=way: missing_files(tmp, way) for way in ("drop", "keep")}  # type: ignore[misc]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Left out:UserWarning")
@pytest.mark.parametrize("name", REMEDIES)
def test_the_remedy_that_an_error_names_works(name: str, tmp_path: Path) -> None:
    fails, said, works = REMEDIES[name](tmp_path)
    with pytest.raises(BadInput) as problem:
        fails()
    assert said in str(problem.value)
    works()


# ---- defaults -----------------------------------------------------------------------------------


def loaded(name: str, dataset: Path, **parameters: Any) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = load(name, dataset=str(dataset), **parameters)
    return run, [str(each.message) for each in told]


def test_the_default_scene_takes_what_the_folder_holds_and_says_what_it_lacks(tmp_path: Path) -> None:
    """No source gives cartoons that are not humorous."""
    posts(tmp_path, 20)
    clips = made.mustard_clips(tmp_path / "clips", [f"1_{i}" for i in range(24)])
    given = ["--cai", tmp_path / "cai", "--mustard", dialogues(tmp_path), "--mustard-clips", clips]
    built(tmp_path / "mock", *given, "--newyorker", "sample")
    run, told = loaded("mock_detecting", tmp_path / "mock")
    counts = {scene: sum(r.groups["scene"] == scene for r in run.records) for scene in ("cartoon", "post", "comedy")}
    assert counts == {"cartoon": 0, "post": 2, "comedy": 2}
    assert told == [
        "mock_detecting: cartoon: there is no cartoon_detecting/test. Left out. Evaluated: 2 of post, 2 of comedy."
    ]
    assert "|left_out:cartoon:all|" in str(run.signature("generate"))
    assert run.data.provenance["left_out"] == {"cartoon": "all"}
    whole, told = loaded("mock_matching", tmp_path / "mock", split="train")
    assert {record.groups["scene"] for record in whole.records} == {"cartoon", "post", "comedy"}
    assert "left_out" not in str(whole.signature("generate")) + "".join(told)


def test_rows_without_their_picture_are_left_out_and_counted(tmp_path: Path) -> None:
    posts(tmp_path, 20)
    (tmp_path / "cai" / "dataset_image" / "118.jpg").unlink()
    built(tmp_path / "mock", "--cai", tmp_path / "cai", "--missing", "keep")
    run, told = loaded("mock_detecting", tmp_path / "mock")
    assert [record.id for record in run.records] == ["cai_119_detecting"]
    assert "post: 1 of 2 rows have no picture or clip, such as row 0 (id cai_118_detecting)" in told[0]
    assert run.data.dropped == {"cai_118_detecting"}
    assert "left_out:cartoon:all,comedy:all,post:1" in str(run.signature("generate"))
    assert evaluate(run, {"cai_119_detecting": "yes", "cai_118_detecting": "no"}).metrics["accuracy"].n == 1


def test_short_dialogues_are_kept_on_demand(tmp_path: Path) -> None:
    lengths = {str(i): made.dialogue(i, 1 + i % 4) for i in range(24)}
    folder = made.wits(tmp_path / "wits", test=lengths)
    said = built(tmp_path / "out", "--wits", folder, "--keep-short-dialogues")
    assert "WITS: 24 of 24 rows kept." in said
    assert f"- comedy, matching: left out 6, {NOTHING_BEFORE}." in said
    assert len(rows(tmp_path / "out", "comedy_explaining")) == 24
    for name, count in (("mock_explaining", 24), ("mock_matching", 18)):
        run = load(name, dataset=str(tmp_path / "out"), scene="comedy", input="description")
        assert len(run.records) == count
        assert all(run.prompt(record).turns for record in run.records)


def test_the_card_says_which_rows_nothing_shows(tmp_path: Path) -> None:
    mock = without_pictures(tmp_path)
    assert "of them have no description either, so nothing shows them: name their pictures (--more-images" in (
        mock / "README.md"
    ).read_text().replace("\n", " ")
