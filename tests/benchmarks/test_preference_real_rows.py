"""explanation_preference on real validation rows, without a harness."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from standins.judging import longer, verdict, write_texts

from humor_tasks import evaluate, load

pytestmark = pytest.mark.slow


@pytest.fixture
def others(real_corpus: str, tmp_path: Path) -> str:
    """The longer of two other rows' human explanations: lengths are people's, and the system's is mostly the longer."""
    records = load("explanation", dataset=real_corpus, split="validation").records
    texts = [record.target or "" for record in records]
    assert len(texts) == len(set(texts)) == 130
    two = zip([*texts[1:], *texts[:1]], [*texts[2:], *texts[:2]], strict=True)
    ids = [record.id for record in records]
    return write_texts(tmp_path / "others.json", dict(zip(ids, (max(pair, key=len) for pair in two), strict=True)))


def test_a_judge_of_length_is_even_once_length_is_controlled(real_corpus: str, others: str) -> None:
    """All rows, without a harness."""
    run = load("explanation_preference", dataset=real_corpus, split="validation", system=others)
    replies = {r.id: verdict(longer(r.fields["first"], r.fields["second"])) for r in run.records}
    found = evaluate(run, replies).metrics
    texts = json.loads(Path(others).read_text(encoding="utf-8"))
    human = {r.id: r.target or "" for r in load("explanation", dataset=real_corpus, split="validation").records}
    wins = [longer(texts[i], human[i]) for i in human]
    assert found["win_rate"].value == pytest.approx((wins.count("A") + wins.count("TIE") / 2) / 130)
    assert found["win_rate"].low > 0.55
    controlled = found["length_controlled_win_rate"]
    assert controlled.value == pytest.approx(0.5, abs=0.1)
    assert controlled.low < 0.5 < controlled.high
    assert [found[name].value for name in ("inconsistent", "unread", "first_shown")] == [0.0, 0.0, 0.5]
