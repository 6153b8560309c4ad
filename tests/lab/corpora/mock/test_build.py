"""`humor-tasks build mock`: every source in its published format, what is left out of it and why, what is drawn."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from standins import mock_sources as made
from standins.mock_sources import build_refused, built, own, posts, rows
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.lab.corpora.mock.building import LICENCES, TOO_FEW, with_options, with_splits
from humor_tasks.lab.corpora.mock.dialogues import shared_footage
from humor_tasks.lab.corpora.mock.items import Item, balanced_letters
from humor_tasks.lab.corpora.mock.stills import OWN
from humor_tasks.rows.media.frames import probe
from humor_tasks.rows.media.picture import check_picture

CARDS = REPOSITORY / "datasets_cards"
SPLITS = ("train", "validation", "test")


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
        ("a%2Ejpg,x,,,,", "a%2Ejpg (There is 'a.jpg'; correct the row.)"),
        ("a.jpg,x,,,,../1", "is not a valid id"),
    ],
)
def test_bad_rows_of_ones_own_are_named(tmp_path: Path, line: str, said: str) -> None:
    made.pictures(tmp_path, ["secret"])
    assert said in build_refused(tmp_path / "out", "--cartoon-movement", own(tmp_path / "cm", [line], ["a"]))


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


def test_clips_of_wits(tmp_path: Path) -> None:
    dialogues = {str(i): made.dialogue(i) for i in range(6)}
    wits = made.wits(tmp_path / "wits", train=dialogues, val={"0": made.dialogue(50)})
    clips = made.wits_clips(tmp_path / "clips", *(f"train_{i}" for i in range(6)), "val_0")
    built(out := tmp_path / "out", "--wits", wits, "--wits-clips", clips)
    for split, name in (("train", "train_5"), ("validation", "val_0")):
        (row,) = [row for row in rows(out, "comedy_explaining", split) if row["media"].endswith(f"{name}.mp4")]
        assert (out / row["media"]).read_bytes() == (clips / f"{name}.mp4").read_bytes()
    assert all(row["media"].endswith("_c.mp4") for row in rows(out, "comedy_matching"))  # not what is looked for
    run = load("mock_explaining", dataset=str(out), scene="comedy", split="train", input="frames")
    assert all(record.clip for record in run.records)
    (clips / "train_1_c.mp4").unlink()
    (clips / "val_0.mp4").rename(clips / "val_00.mp4")
    given = ("--wits", wits, "--wits-clips", clips)
    assert "2 missing files: " in (said := build_refused(tmp_path / "no", *given))
    assert "id 1: train_1_c.mp4" in said
    assert "WITS: 5 of 7 rows kept.\n  Left out: 2, its file" in built(tmp_path / "drop", *given, "--missing", "drop")
    built(keep := tmp_path / "keep", *given, "--missing", "keep")
    held = {row["id"]: row["media"] for name in ("matching", "explaining") for row in rows(keep, f"comedy_{name}")}
    assert held["wits_train_1_explaining"].endswith("train_1.mp4")
    assert (held["wits_train_1_matching"], held["wits_validation_0_explaining"]) == (None, None)


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
    said = built(out, "--cai", tmp_path / "cai", "--more", tmp_path / "more", "--post-splits", "sources")
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
        assert check_picture((out / row["media"]).read_bytes(), row["id"]).kind == "JPEG"
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
    given += ["--cai", tmp_path / "cai", "--more", tmp_path / "more", "--post-splits", "sources"]
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


def post_item(n: int, media: str = "", **more: Any) -> Item:
    return Item(f"i{n}", "post", "test", media or f"m{n}", f"Line {n}.", **more)


@pytest.mark.parametrize("seed", range(5))
def test_splits_are_drawn_by_medium_and_of_the_shares(seed: int) -> None:
    items = [post_item(n, f"m{n // 3}") for n in range(300)]
    drawn = with_splits(items, seed)
    sizes = Counter(str(one.split) for one in drawn)
    assert sizes == {"train": 240, "validation": 30, "test": 30}
    assert len({(one.media_id, one.split) for one in drawn}) == 100
    assert with_splits([post_item(0, split="test")], seed)[0].split == "test"


def test_no_letter_is_favoured_where_they_cannot_be_equally_many() -> None:
    drawn = [balanced_letters(3, random.Random(seed)) for seed in range(400)]
    assert all(len(set(letters)) == 3 for letters in drawn)
    assert all(250 < sum(letter in letters for letters in drawn) < 350 for letter in "ABCD")


def test_options_are_of_other_media_and_letters_balanced() -> None:
    items = [post_item(n, f"m{n // 2}") for n in range(40)]
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
