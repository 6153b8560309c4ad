"""`humor-tasks build mock`: every source in its published format, what is left out and why, and the real files."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from standins import mock_sources as made
from standins.mock_sources import build, built, mustard_of, posts, rows
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.corpora.mock.building import LICENCES, TOO_FEW, with_options, with_splits
from humor_tasks.corpora.mock.dialogues import shared_footage
from humor_tasks.corpora.mock.items import Item, balanced_letters
from humor_tasks.corpora.mock.stills import OWN
from humor_tasks.data.media.frames import probe
from humor_tasks.data.media.picture import check_picture
from humor_tasks.models.choosers.shortcuts import content_words
from humor_tasks.tasks import mock_detecting

CARDS = REPOSITORY / "datasets_cards"
SPLITS = ("train", "validation", "test")


def refused(out: Path, *arguments: object) -> str:
    done = build(out, *arguments)
    assert done.exit_code == 2, done.output
    assert not out.exists()
    assert not list(out.parent.glob(f".{out.name}*"))
    return " ".join(done.output.replace("│", " ").split())


def own(folder: Path, lines: list[str], names: list[str]) -> Path:
    """A folder of a user's own pictures with items.csv."""
    made.pictures(folder, names)
    (folder / "items.csv").write_text("\n".join(["image,caption,label,explanation,split,id", *lines, ""]))
    return folder


def own_rows(*lines: str) -> Any:
    return lambda folder: ["--cartoonstock", own(folder / "cs", list(lines), ["0"])]


# ---- every source -------------------------------------------------------------------------------


def test_mustard_and_its_clips(tmp_path: Path) -> None:
    dialogues = {f"1_{i}": (made.dialogue(i), bool(i % 2)) for i in range(20)}
    dialogues |= {"1_90": (made.dialogue(90, 2), True), "1_91": (made.dialogue(91, 1), False)}
    file = made.mustard(tmp_path / "sarcasm_data.json", dialogues)
    clips = made.mustard_clips(tmp_path / "clips", list(dialogues))
    out = tmp_path / "out"
    said = built(out, "--mustard", file, "--mustard-clips", clips)
    assert "MUStARD: 20 of 22 rows kept.\n  Left out: 2, fewer than 3 utterances." in said
    assert "| comedy, detecting | 16 (4,413) | 2 (552) | 2 (552) |" in said
    assert Counter(row["label"] for row in rows(out, "comedy_detecting")) == {"yes": 10, "no": 10}
    left_out = re.search(rf"comedy, matching: left out (\d+), {TOO_FEW}", said)
    assert left_out
    assert len(rows(out, "comedy_matching")) == 10 - int(left_out[1]) > 0
    for row in rows(out, "comedy_detecting"):
        number = int(row["id"].split("_")[2])
        assert row["dialogue"] == [{"speaker": who, "text": text} for who, text in made.dialogue(number)]
        assert probe(out / row["media"]).seconds == pytest.approx((3 + list(dialogues).index(f"1_{number}")) / 10)
    for row in rows(out, "comedy_matching"):
        assert row["media"].endswith("_c.mp4")  # what was said before, not what is looked for
    run = load("mock_detecting", dataset=str(out), scene="comedy", split="train")
    assert len(run.records) == 16
    assert load("mock_matching", dataset=str(out), scene="comedy", split="train").records[0].clip


def test_cartoons_and_posts_of_ones_own(tmp_path: Path) -> None:
    lines = [f"{i}.jpg,Funny {i} line,yes,Because {i},{'test' if i > 5 else 'train'}," for i in range(10)]
    lines += [f"{i}.jpg,It is line {i},no,,{'test' if i > 5 else 'train'}," for i in range(10)]
    cartoons = own(tmp_path / "cs", [*lines, "./0.jpg,Another joke,,,train,"], [str(i) for i in range(10)])
    posts(tmp_path)
    tweets = own(tmp_path / "tweets", ["a.jpg,Great day,yes,,,101", "b.jpg,Great night,yes,,,"], ["a", "b"])
    out = tmp_path / "out"
    said = built(out, "--cartoonstock", cartoons, "--cai", tmp_path / "cai", "--tweets", tweets)
    assert "CartoonStock: 21 of 21 rows kept." in said
    assert Counter(row["label"] for row in rows(out, "cartoon_detecting")) == {"yes": 10, "no": 10}
    assert len(rows(out, "cartoon_detecting", "test")) == 8
    assert len(rows(out, "cartoon_matching")) == 11  # the row without a label, too
    assert len({row["media_id"] for row in rows(out, "cartoon_matching")}) == 10  # ./0.jpg is 0.jpg
    assert {row["explanation"] for row in rows(out, "cartoon_explaining", "test")} == {
        f"Because {i}" for i in range(6, 10)
    }
    assert load("mock_detecting", dataset=str(out), scene="cartoon").records[0].picture
    own_posts = [row for row in rows(out, "post_detecting") if row["source"] == "further tweets"]
    assert [row["caption"] for row in own_posts] == ["Great night"]  # the other is Cai et al.'s
    assert "- CartoonStock: your own copy; pictures" in (out / "README.md").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a.jpg,x,maybe,,,", "line 2: label is 'maybe'; it must be yes, no, or empty."),
        ("a.jpg,x,,,dev,", "line 2: split is 'dev'"),
        ("a.jpg, ,,,,", "line 2: caption is"),
        ("../secret.jpg,x,,,,", "leaves the dataset folder"),
        ("none.jpg,x,,,,", "1 missing file"),
        ("a.jpg,x,,,,../1", "is not a valid id"),
    ],
)
def test_bad_rows_of_ones_own_are_named(tmp_path: Path, line: str, said: str) -> None:
    made.pictures(tmp_path, ["secret"])
    assert said in refused(tmp_path / "out", "--cartoon-movement", own(tmp_path / "cm", [line], ["a"]))


def test_wrong_decodings_are_mended_and_counted(tmp_path: Path) -> None:
    lines = {"1_1": "ThatÕs it, donÕt.", "1_2": "Weā€™re so.", "1_3": "Õne, don�t.", "1_4": "Ah… café, it’s."}
    dialogues = {i: ([*made.dialogue(int(i[-1]), 2), ("BO", line)], True) for i, line in lines.items()}
    said = built(tmp_path / "out", "--mustard", made.mustard(tmp_path / "m.json", dialogues))
    assert "Wrongly decoded characters mended: 2 dialogues, such as" in said
    assert "Wrongly decoded characters kept as written: 1 dialogue: 1_3." in said
    assert {row["id"]: row["dialogue"][-1]["text"] for row in rows(tmp_path / "out", "comedy_detecting")} == {
        "mustard_1_1_detecting": "That’s it, don’t.",
        "mustard_1_2_detecting": "We’re so.",
        "mustard_1_3_detecting": "Õne, don�t.",
        "mustard_1_4_detecting": "Ah… café, it’s.",
    }


def test_wits_in_its_own_splits(tmp_path: Path) -> None:
    folder = made.wits(
        tmp_path / "wits",
        train={str(i): made.dialogue(i) for i in range(6)} | {"7": made.dialogue(7, 2)},
        test={"1": made.dialogue(50, 5)},
    )
    out = tmp_path / "out"
    said = built(out, "--wits", folder)
    assert "WITS: 7 of 8 rows kept.\n  Left out: 1, fewer than 3 utterances." in said
    assert not (out / "comedy_detecting").exists()  # all of it is sarcastic
    assert rows(out, "comedy_explaining", "test")[0]["explanation"] == "BO mocks the number 1."
    assert len(rows(out, "comedy_matching", "train")) == 6
    assert not (out / "comedy_matching" / "test.jsonl").exists()  # one row has nothing to be chosen from
    assert f"comedy, matching: left out 1, {TOO_FEW}." in said
    mixed = tmp_path / "mixed"
    built(mixed, "--wits", folder / "test_data_final_plain.json", "--wits-explanations", "code_mixed")
    assert rows(mixed, "comedy_explaining", "test")[0]["explanation"] == "BO number 1 ka mazak udata hai."


def test_posts_share_pictures_and_stay_in_one_split(tmp_path: Path) -> None:
    ids = posts(tmp_path)
    out = tmp_path / "out"
    said = built(out, "--cai", tmp_path / "cai", "--more", tmp_path / "more")
    detecting = {
        row["id"]: row for split in ("train", "validation", "test") for row in rows(out, "post_detecting", split)
    }
    # MORE has the first post in test: Cai's of the same tweet leaves train.
    assert "post, detecting: left out 1, in train, while its medium is also in a later split." in said
    assert list(detecting) == [f"cai_{identity}_detecting" for identity in ids[1:]]
    # The last label is the person's, not the hashtag's.
    assert [row["label"] for row in detecting.values()] == ["yes" if i % 2 else "no" for i in range(1, 8)]
    assert detecting["cai_101_detecting"]["caption"] == 'caption of n101 is "so" nice \'s'
    matching = rows(out, "post_matching")
    assert len({row["media_id"] for row in matching}) == len(matching)
    for row in [*detecting.values(), *matching, *rows(out, "post_explaining")]:
        assert check_picture((out / row["media"]).read_bytes(), row["id"]) == "JPEG"
    assert load("mock_detecting", dataset=str(out), scene="post", split="train").records[0].picture
    assert TOO_FEW in said  # of validation and test there are too few


def test_captions_that_give_the_label_away_are_left_out_as_published(tmp_path: Path) -> None:
    words = ["so # sarcasm", "a joke , right", "see <url>", "sarcasms galore", "ironical", "humor", "plain"]
    made.cai(tmp_path / "cai", train=[[str(i), text, 1] for i, text in enumerate(words)])
    said = built(tmp_path / "out", "--cai", tmp_path / "cai", "--missing", "keep")
    assert "Cai et al. 2019: 3 of 7 rows kept.\n  Left out: 4, a word that reveals the label, as published." in said
    kept = [row["caption"] for row in rows(tmp_path / "out", "post_detecting")]
    assert kept == ["sarcasms galore", "ironical", "plain"]


@pytest.mark.slow
def test_the_new_yorker_sample_becomes_cartoons(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = built(out, "--newyorker", "sample")
    source = CARDS / "newyorker_caption_contest"
    for split, n in (("train", 30), ("validation", 10), ("test", 10)):
        matching = rows(out, "cartoon_matching", split)
        assert len(matching) == n
        assert abs(max(c := Counter(row["answer"] for row in matching).values()) - min(c)) <= 1
    by_id = {
        json.loads(line)["instance_id"]: json.loads(line)
        for file in source.glob("matching/*.jsonl")
        for line in file.read_text().splitlines()
    }
    for row in rows(out, "cartoon_matching"):
        origin = by_id[row["id"].removeprefix("newyorker_").removesuffix("_matching")]
        captions = {" ".join(caption.split()) for caption in origin["caption_choices"]}
        assert set(row["options"]) < captions
        assert row["caption"] == " ".join(origin["caption_choices"]["ABCDE".index(origin["label"])].split())
        assert row["options_from"] == "other captions of the source"
        assert row["description"] == " ".join(origin["image_description"].split())
        assert (out / row["media"]).read_bytes() == (source / origin["image"]).read_bytes()
    assert "| cartoon, explaining | 15 (391) | 5 (130) | 5 (130) |" in said
    assert "| cartoon, detecting | 0 (8,521) | 0 (1,066) | 0 (1,066) |" in said  # no public negatives
    for how in ("media", "description"):
        assert len(load("mock_explaining", dataset=str(out), scene="cartoon", input=how).records) == 5


@pytest.mark.slow
def test_all_parts_together_are_one_folder(tmp_path: Path) -> None:
    posts(tmp_path)
    dialogues = {f"1_{i}": (made.dialogue(i), bool(i % 2)) for i in range(40)}
    given = ["--mustard", made.mustard(tmp_path / "m.json", dialogues), "--newyorker", "sample"]
    given += ["--cai", tmp_path / "cai", "--more", tmp_path / "more"]
    given += ["--wits", made.wits(tmp_path / "wits", train={str(i): made.dialogue(100 + i) for i in range(5)})]
    texts = tmp_path / "descriptions.json"
    texts.write_text(json.dumps({"tweet-101": "A grey square."}))
    a, b = tmp_path / "a", tmp_path / "b"
    assert built(a, *given, "--descriptions", texts) == built(b, *given, "--descriptions", texts).replace(
        str(b), str(a)
    )
    for file in a.rglob("*"):
        if file.is_file():
            assert file.read_bytes() == (b / file.relative_to(a)).read_bytes()
    configs = {f"{scene}_{task}" for scene in ("cartoon", "post", "comedy") for task in ("matching", "explaining")}
    assert {path.parent.name for path in a.glob("*/*.jsonl")} == configs | {"post_detecting", "comedy_detecting"}
    for scene in ("cartoon", "post", "comedy"):
        media: dict[str, set[str]] = {}
        for config, split in itertools.product(
            configs | {"post_detecting", "comedy_detecting"}, ("train", "validation", "test")
        ):
            if config.startswith(scene) and (a / config / f"{split}.jsonl").is_file():
                media.setdefault(split, set()).update(row["media_id"] for row in rows(a, config, split))
        assert not any(media[x] & media[y] for x, y in itertools.combinations(media, 2))
    (told,) = [row for row in rows(a, "post_detecting") if row["media_id"] == "tweet-101"]
    assert told["description"] == "A grey square."
    card = (a / "README.md").read_text()
    assert "What the sources do not record" in card
    assert "- MUStARD: 40 of 40 rows kept." in card
    public = LICENCES.keys() - {name for name, _ in OWN.values()}
    assert all(f"- {source}: {LICENCES[source]}." in card for source in public)
    other = tmp_path / "other"
    built(other, *given, "--seed", 2)
    assert rows(other, "comedy_detecting", "test") != rows(a, "comedy_detecting", "test")


# ---- what is drawn ------------------------------------------------------------------------------


def item(n: int, media: str = "", **more: Any) -> Item:
    return Item(f"i{n}", "post", "test", media or f"m{n}", f"Line {n}.", **more)


@pytest.mark.parametrize("seed", range(5))
def test_splits_are_drawn_by_medium_and_of_the_shares(seed: int) -> None:
    items = [item(n, f"m{n // 3}") for n in range(300)]
    drawn = with_splits(items, seed)
    sizes = Counter(str(one.split) for one in drawn)
    assert sizes == {"train": 240, "validation": 30, "test": 30}
    assert len({(one.media_id, one.split) for one in drawn}) == 100
    assert with_splits([item(0, split="test")], seed)[0].split == "test"


def test_no_letter_is_favoured_where_they_cannot_be_equally_many() -> None:
    drawn = [balanced_letters(3, random.Random(seed)) for seed in range(400)]
    assert all(len(set(letters)) == 3 for letters in drawn)
    assert all(250 < sum(letter in letters for letters in drawn) < 350 for letter in "ABCD")


def test_options_are_of_other_media_and_letters_balanced() -> None:
    items = [item(n, f"m{n // 2}") for n in range(40)]
    found = with_options(items, "seed")
    assert Counter(one["answer"] for one in found.values()) == dict.fromkeys("ABCD", 10)
    for n, one in enumerate(items):
        options = found[one.id]["options"]
        assert len({option.casefold() for option in options}) == 4
        assert options["ABCD".index(found[one.id]["answer"])] == one.line
        assert f"Line {n ^ 1}." not in options  # the other line of the same medium
    assert with_options(items[:3], "seed") == {}


def test_dialogues_that_share_an_utterance_are_of_one_scene() -> None:
    long = "this is said in two of them"
    found = shared_footage({"a": ["x y z", long], "b": ["x y z"], "c": [long, "and so is this one here"],
                            "d": ["And so is this one here"], "e": ["other words than those before"]})  # fmt: skip
    assert found["a"] == found["c"] == found["d"]
    assert len(set(found.values())) == 3


# ---- bad input ----------------------------------------------------------------------------------


def one_dialogue(identity: str, utterances: int) -> Any:
    return lambda p: ["--mustard", made.mustard(p / "m.json", {identity: (made.dialogue(1, utterances), True)})]


def more_of(*rows: list[str], images: tuple[str, ...] = ("11",)) -> Any:
    def write(p: Path) -> list[Any]:
        made.pictures(p / "more" / "images", images)
        return ["--more", made.more(p / "more", val=rows)]

    return write


def cai_of(text: str, *arguments: str) -> Any:
    def write(p: Path) -> list[Any]:
        (made.cai(p / "cai") / "text" / "train.txt").write_text(text)
        return ["--cai", p / "cai", *arguments]

    return write


def wits_of(**changes: Any) -> Any:
    def write(p: Path) -> list[Any]:
        file = made.wits(p / "wits", val={"1": made.dialogue(1)}) / "val_data_final_plain.json"
        data = json.loads(file.read_text())
        data["1"] |= changes
        file.write_text(json.dumps({"1": {k: v for k, v in data["1"].items() if v is not ...}}))
        return ["--wits", file]

    return write


def wrong_picture(p: Path) -> list[Any]:
    given = more_of(["11", "a", "b"])(p)
    (p / "more" / "images" / "11.jpg").write_bytes(b"\0\0\0\x18ftypisom" + b"\0" * 20)
    return [*given]


def text_of(option: str, name: str, text: str | bytes) -> Any:
    """A file given to `option`, beside a source that is in order."""

    def write(p: Path) -> list[Any]:
        (p / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return [option, p / name] + (mustard_of()(p) if option == "--descriptions" else ["--missing", "keep"])

    return write


def id_twice(p: Path) -> list[Any]:
    shutil.copytree(CARDS / "newyorker_caption_contest", p / "ny")
    file = p / "ny" / "matching" / "block0.jsonl"
    first, second, *rest = (json.loads(line) for line in file.read_text().splitlines())
    second["instance_id"] = first["instance_id"]
    file.write_text("".join(json.dumps(row) + "\n" for row in (first, second, *rest)))
    return ["--newyorker", p / "ny"]


def link_to_itself(p: Path) -> list[Any]:
    given = more_of(["11", "a", "b"], images=())(p)
    (p / "more" / "images" / "11.jpg").symlink_to(p / "more" / "images" / "11.jpg")
    return [*given]


WRONG = [
    (lambda p: [], "name at least one source"),
    (lambda p: ["--mustard", p / "none.json"], "none.json: there is no such file"),
    (mustard_of(sarcasm=None), "id 1_1: sarcasm is None; the label must be true or false"),
    (mustard_of(sarcasm="yes"), "sarcasm is 'yes'"),
    (mustard_of(speaker=""), "id 1_1: a speaker is empty"),
    (mustard_of(utterance=None), "an utterance is empty"),
    (mustard_of(context_speakers=["ANN"]), "context and context_speakers must be lists of the same length"),
    (mustard_of(utterance="half a \ud800"), r"an utterance is 'half a \ud800'; it must be text"),
    (mustard_of(sarcasm="y" * 10**6), f"sarcasm is '{'y' * 59}; the label must be true or false"),
    (text_of("--mustard", "m.json", '{"1": {"context": []}, "1": {}}'), "'1' is repeated in one object"),
    (text_of("--mustard", "m.json", "[" * 10**5), "m.json: not JSON (maximum recursion depth"),
    (text_of("--mustard", "m.json", '{"1": "café"}'.encode("latin-1")), "Error: {tmp}/m.json: cannot be read as UTF-8"),
    (text_of("--mustard", "m.json", '{"1": 2}'), "m.json, id 1: must be a dialogue, not 2"),
    (text_of("--descriptions", "d.json", '{"mustard-1_1": "\\ud800"}'), "d.json, mustard-1_1: the description is"),
    (text_of("--descriptions", "d.json", '{"mustard-1_1": " "}'), "d.json, mustard-1_1: the description is empty"),
    (text_of("--more", "val_df.tsv", '11\t"never closed\tx\n12\ta\tb\n'), "val_df.tsv, line 2: is not tab-separated"),
    (text_of("--more", "val_df.tsv", '11\t"closed\tx\n12\t"where"\tb\n'), "val_df.tsv, line 2: is not tab-separated"),
    (text_of("--more", "val_df.tsv", f"11\t{'a' * 200_000}\tx\n"), "line 1: is not tab-separated values (fi"),
    (more_of(["1" * 300, "a", "b"]), "1 missing file: "),
    (link_to_itself, "11.jpg"),
    (one_dialogue("../x", 3), "'../x' is not a valid id"),
    (one_dialogue("1_1", 2), "the sources have no usable row"),
    (more_of(["11", "a", "b"], ["12", "c", "d"]), "1 missing file: "),
    (more_of(["11", "a", "b"], ["12", "c", "d"]), "val_df.tsv, line 2: 12.jpg. Restore them, or leave their rows out"),
    (more_of(["11", "a"]), "val_df.tsv, line 1: has 2 fields; there must be pid, caption and explanation"),
    (more_of(["11", "a", " "]), "explanation is empty; it must be text"),
    (more_of(["../../11", "a", "b"]), "'../../11' is not a valid id"),
    (wrong_picture, "11.jpg: not a picture in a supported format; it is a file of type 'isom'"),
    (lambda p: ["--more", made.more(p / "empty")], "holds none of train_df.tsv, val_df.tsv, test_df.tsv"),
    (cai_of("['11', 'text', 1]\n['12', 'text']\n", "--missing", "keep"), "train.txt, line 2: the label is missing"),
    (cai_of("['11', 'text', 2]\n", "--missing", "keep"), "the label is 2; it must be 0 or 1"),
    (cai_of("['11', 'text', True]\n"), "the label is True"),
    (cai_of("__import__('os').system('true')\n"), "line 1: must be a Python list of an id, a text and a label"),
    (cai_of("[" * 5000 + "\n"), "line 1: must be a Python list"),
    (cai_of("['11', 'text', 1, 0, 1]\n"), "line 1: must be a Python list"),
    (cai_of("['11', ' ', 1]\n", "--missing", "keep"), "text is empty; it must be text"),
    (wits_of(english_explanation=...), "has no english_explanation; choose --wits-explanations ['code_mixed']"),
    (wits_of(english_explanation=""), "english_explanation is empty"),
    (wits_of(episode_name=None), "episode_name is empty"),
    (lambda p: ["--newyorker", p / "none"], "is neither 'sample'"),
    (id_twice, "New Yorker: two different rows of matching have the id newyorker_"),
    (own_rows(",A line,,,,"), "items.csv, line 2: image is empty"),
    (own_rows("/dev/../etc/passwd,A line,,,,"), "passwd' is an absolute path"),
    (own_rows("0.jpg,A line,Yes,,,"), "items.csv, line 2: label is 'Yes'"),
    (own_rows("0.jpg,A line,,,,2", "0.jpg,Another,,,,"), "line 3: its id is also that of {tmp}/cs/items.csv, line 2"),
    (lambda p: ["--newyorker", "sample", "--missing", "maybe"], "--missing: there is no 'maybe'"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_wrong_input_is_named_and_nothing_is_written(tmp_path: Path, given: Any, said: str) -> None:
    assert said.replace("{tmp}", str(tmp_path)) in refused(tmp_path / "out", *given(tmp_path))


def test_rows_without_their_file_are_left_out_or_kept_on_demand(tmp_path: Path) -> None:
    given = more_of(["11", "a", "b"], ["12", "c", "d"])(tmp_path)
    said = built(tmp_path / "dropped", *given, "--missing", "drop")
    assert "MORE: 1 of 2 rows kept.\n  Left out: 1, its file is missing." in said
    said = built(tmp_path / "kept", *given, "--missing", "keep")
    assert "1 rows have no picture or clip: use input=description." in said
    assert [row["media"] for row in rows(tmp_path / "kept", "post_explaining")] == ["media/post/tweet-11.jpg", None]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep me")
    given = mustard_of()(tmp_path)
    done = build(out, *given)
    assert done.exit_code == 2
    assert "exists already; name a new folder" in " ".join(done.output.split())
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    (out / "mine.txt").unlink()
    built(out, *given)


def test_a_link_out_of_the_folder_of_pictures_is_not_followed(tmp_path: Path) -> None:
    given = more_of(["12", "a", "b"])(tmp_path)
    made.pictures(tmp_path / "elsewhere", ["12"])
    (tmp_path / "more" / "images" / "12.jpg").symlink_to(tmp_path / "elsewhere" / "12.jpg")
    assert "leaves the dataset folder" in refused(tmp_path / "out", *given)


# ---- the real files -----------------------------------------------------------------------------


def test_captions_of_more_are_read_as_python_wrote_them(tmp_path: Path) -> None:
    written = {
        repr('it \'s "so" nice'): 'it \'s "so" nice',
        repr("<user> ' s day"): "<user> ' s day",
        "so nice": "so nice",
        "'so' nice": "'so' nice",
        "it's 'nice'": "it's 'nice'",
        "'": "'",
        "'a' + 'b'": "'a' + 'b'",
    }
    ids = tuple(map(str, range(len(written))))
    given = more_of(*([i, caption, "why"] for i, caption in zip(ids, written, strict=True)), images=ids)(tmp_path)
    built(tmp_path / "out", *given)
    assert [row["caption"] for row in rows(tmp_path / "out", "post_explaining")] == list(written.values())


@pytest.fixture(scope="module")
def real(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("real") / "mock"
    sources = real_data / "mock_sources"
    given = ["--mustard", sources / "mustard_sarcasm_data.json", "--more", sources / "more_val_df.tsv"]
    return out, built(out, *given, "--newyorker", real_data / "newyorker_caption_contest", "--missing", "keep")


def test_real_sources_are_kept_and_left_out_as_counted(real: tuple[Path, str], real_data: Path) -> None:
    out, said = real
    dialogues = json.loads((real_data / "mock_sources" / "mustard_sarcasm_data.json").read_text())
    assert Counter(one["sarcasm"] for one in dialogues.values()) == {True: 345, False: 345}
    assert sum(len(one["context"]) + 1 < 3 for one in dialogues.values()) == 138
    assert "MUStARD: 552 of 690 rows kept.\n  Left out: 138, fewer than 3 utterances." in said
    assert "Wrongly decoded characters mended: 7 dialogues" in said
    assert "kept as written" not in said
    assert not [row for row in rows(out, "comedy_detecting") if "Õ" in str(row["dialogue"])]
    assert Counter(row["label"] for row in rows(out, "comedy_detecting")) == {"no": 298, "yes": 254}
    assert "| comedy, detecting | 442 (4,413) | 55 (552) | 55 (552) |" in said
    assert "MORE: 175 of 175 rows kept." in said
    assert "| post, explaining | 0 (2,808) | 175 (351) | 0 (351) |" in said
    captions = [row["caption"] for row in rows(out, "post_explaining")]
    assert not [caption for caption in captions if caption[0] == "'" or "\\" in caption]
    assert "New Yorker: 661 of 661 rows kept." in said
    assert len(rows(out, "cartoon_matching", "validation")) == 522  # 531, of which 9 captions stand there twice
    assert len(rows(out, "cartoon_explaining", "validation")) == 130
    assert len(list((out / "media" / "cartoon").iterdir())) >= 40


def test_real_rows_become_records(real: tuple[Path, str]) -> None:
    sizes = {
        (task, split): len(
            load(f"mock_{task}", dataset=str(real[0]), scene="comedy", split=split, input="description").records
        )
        for task in ("detecting", "matching")
        for split in ("train", "validation", "test")
    }
    assert sum(n for (task, _), n in sizes.items() if task == "detecting") == 552
    assert sum(n for (task, _), n in sizes.items() if task == "matching") == 254


def test_real_pictures_of_cartoons_are_shown(real_data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = built(out, "--newyorker", real_data / "newyorker_caption_contest", "--missing", "drop")
    run = load("mock_matching", dataset=str(out), scene="cartoon", split="validation")
    assert f"| cartoon, matching | 0 (8,681) | {len(run.records)} (1,085) |" in said
    assert len(run.records) > 150
    assert all(record.picture and record.picture.mime() == "image/jpeg" for record in run.records)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["first", "overlap"])
def test_shortcuts_on_real_dialogues(real: tuple[Path, str], strategy: str) -> None:
    """Always yes; and yes where the last utterance takes up a word of what was said before, worked out by hand."""
    expected = []
    for row in rows(real[0], "comedy_detecting", "validation"):
        *before, last = [turn["text"] for turn in row["dialogue"]]
        shared = bool(content_words(last) & content_words("\n".join(before)))
        expected.append(row["label"] == ("yes" if strategy == "first" or shared else "no"))
    task = mock_detecting(dataset=str(real[0]), scene="comedy", input="description", split="validation")
    (log,) = eval(task, model=f"baseline/{strategy}", display="none", log_samples=False)
    assert log.results
    assert log.results.total_samples == len(expected) == 55
    assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(sum(expected) / 55)
