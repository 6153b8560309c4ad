"""`humor-tasks build mock` on the real files of one source each: counts, records, pictures, shortcuts by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from standins.mock_sources import built, rows

from humor_tasks import load


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
    assert "| post, explaining | 140 (2,808) | 18 (351) | 17 (351) |" in said
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
