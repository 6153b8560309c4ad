"""Two text models, one a parity of contests, learn which captions the crowd likes."""

from __future__ import annotations

from pathlib import Path

import pytest
from standins.tiny_text import tiny_folder

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker.stages import Validation
from humor_tasks.lab.training.quality import fit_text
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.quality import load
from humor_tasks.models.quality.model import QualityChooser


@pytest.mark.slow
def test_two_text_models_are_trained_saved_and_loaded(tmp_path: Path) -> None:
    good = [f"{word} llama" for word in ("my", "your", "his", "her", "our", "one", "two", "no")]
    bad = [text.replace("llama", "broccoli") for text in good]
    tiny_folder(tmp_path / "t5", [*good, *bad])
    labelled = [(n, [*good, *bad], [True] * 8 + [False] * 8) for n in (2, 3, 4, 5)]
    made = fit_text(str(tmp_path / "t5"), labelled, same=[(5, 6)], rate=3e-3, epochs=20)
    assert made.contests == ((2, 4), (3, 5, 6))
    found = Validation()
    found.add(made.score([*good, *bad], [3] * 16).tolist(), [True] * 8 + [False] * 8)
    assert found.estimates()["accuracy"].value == 1
    made.save(tmp_path / "quality")
    read = load(tmp_path / "quality", device="cpu")
    assert read.contests == made.contests
    mixed = [2, 3, None, 6]
    assert read.score(good[:4], mixed).tolist() == pytest.approx(made.score(good[:4], mixed).tolist(), abs=1e-4)
    chooser = QualityChooser(str(tmp_path / "quality"))
    (scores,) = chooser.score([Question("q", "", (bad[0], good[0]), cluster="7")])
    assert scores[1] > scores[0]
    (tmp_path / "quality" / "quality.json").write_text('{"kind": "text"}')
    with pytest.raises(BadInput, match="is no whole quality model"):
        load(tmp_path / "quality")
    with pytest.raises(BadInput, match="no rated contest has an odd number"):
        fit_text(str(tmp_path / "t5"), labelled[:1], rate=1e-3, epochs=1)
