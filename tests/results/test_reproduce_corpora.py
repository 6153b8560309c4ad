"""`reproduce` on rows of the right form and the wrong content: whatever the score, they are not the published rows."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.results.reproduce.corpora import Known, of_items, of_run, of_signature, texts_digest
from humor_tasks.results.reproduce.recipes import Given, opened
from humor_tasks.results.reproduce.rows import find_row, read_rows, rows
from humor_tasks.results.reproduce.verdict import reproduce

CARDS = ("humicroedit", "humorbench", "mock", "newyorker_caption_contest")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders named as the cards with the samples' rows: the form of the corpora, and other content."""
    data = tmp_path_factory.mktemp("corpora")
    for card in CARDS:
        shutil.copytree(folder(card), data / card)
    labels = (folder("humorbench") / "sample_rubric.csv").read_text().splitlines()
    of_one = [line.replace("sample-explainer-a", "gpt-4o") for line in labels if "sample-explainer-b" not in line]
    (data / "humorbench" / "gpt_4o_rubric.csv").write_text("\n".join(of_one) + "\n")
    return data


REPLY = {"humicroedit_rating": "1.5", "explanation": "A joke.", "mock_explaining": "A joke.", "mock_detecting": "yes"}
WRONG = [
    *("matching-random", "ranking-random"),
    *("humicroedit-rating-baseline", "humicroedit-pairwise-baseline", "humorbench-people-gpt-4o"),
    *("humicroedit-rating-table-4-hitachi", "humicroedit-pairwise-table-5-utfpr", "matching-t5-11b", "ranking-t5-11b"),
    *("explanation-t5-11b", "mock-detecting-post-gpt-4v", "mock-matching-comedy-videochat2"),
    *("mock-explaining-cartoon-gpt-4o", "matching-gpt-4-5-shot"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_rows_of_the_right_form_and_the_wrong_content_reproduce_nothing(
    name: str, corpora: Path, tmp_path: Path
) -> None:
    """Also where every value is just the published one."""
    row, use = find_row(name), Given(dataset=str(corpora))
    if row.recipe == "labels":
        row = replace(row, figures=(replace(row.figures[0], n=20),))
    if row.recipe in ("predictions", "model"):
        use = replace(use, predictions=answered(opened(row, use), tmp_path / "answers.json"))
    here = reproduce(row, use)
    right = replace(row, figures=tuple(replace(c.figure, value=c.here.value) for c in here.compared))
    verdict = reproduce(right, use)
    assert all(compared.agrees for compared in verdict.compared)
    assert verdict.compared
    assert verdict.sentence.startswith("not the published rows: ")
    assert reproduce(replace(right, known=Known()), use).status == "reproduced", "it is the rows alone"


def answered(run: Run, path: Path) -> Path:
    """The same reply to every row."""
    name = run.benchmark.name
    reply = REPLY.get(name, "1" if name == "humicroedit_pairwise" else "A")
    if name.startswith("humicroedit"):
        path = path.with_suffix(".csv")
        path.write_text("id,pred\n" + "".join(f"{record.id},{reply}\n" for record in run.records))
    else:
        path.write_text(json.dumps({record.id: f"Answer: {reply}" for record in run.records}))
    return path


def test_what_is_known_refuses_the_sample_of_every_row(corpora: Path) -> None:
    """All rows but those of votes; benchmarks that judge texts need logs of them and have a test of their own."""

    @cache
    def on_the_sample(name: str, card: str) -> Run:
        dataset = corpora / card / ("gpt_4o_rubric.csv" if name == "humorbench_autograder" else "")
        return load(name, dataset=str(dataset), **({"fold": "all"} if card == "newyorker_caption_contest" else {}))

    checked = 0
    for row in rows().values():
        if row.recipe == "votes":
            continue
        assert row.known, row.name
        if row.known.absent:
            assert of_signature(row.known, row.benchmark, Signature({"data": "x"})) == [row.known.absent]
        elif row.benchmark != "explanation_preference":
            assert of_run(row.known, on_the_sample(row.labels or row.benchmark, row.card)), row.name
        checked += 1
    assert checked > 450


def test_items_and_signatures_of_finished_runs() -> None:
    posts = [({"scene": "post", "pair_id": str(i)}, f"{i}-{first}") for i in range(351) for first in "ab"]
    expacc = find_row("mock-expacc-post-gpt-4o").known
    assert of_items(expacc, posts) == []
    assert of_items(expacc, posts[2:]) == ["350 items of scene post, and 351 are published."]
    assert of_items(expacc, [({"scene": "film"}, "1")]) == ["scene film is not among the published rows."]
    rating = find_row("humicroedit-rating-hitachi").known
    assert of_items(rating, []) is None, "files decide"
    assert of_signature(rating, "humicroedit_rating", Signature({"rows": "d559d0b609a7"})) == []
    (other,) = of_signature(rating, "humicroedit_rating", Signature({"rows": "000000000000"})) or ()
    assert other == "SHA-256 000000000000..., and task-1/test.csv has d559d0b609a7...."
    matching = find_row("matching-t5-11b").known
    hub = {"data": "jmhessel/newyorker_caption_contest", "rev": "d81cbab7d0392708d5371d3a4960e69261824db4"}
    assert of_signature(matching, "matching", Signature(hub)) == []
    assert of_signature(matching, "matching", Signature(hub | {"rev": "0" * 40})) is None
    assert of_signature(matching, "matching", Signature(hub | {"data": "folder"})) is None
    assert of_signature(None, "matching", Signature(hub)) == ["nothing is known of the published rows of matching."]


def test_right_numbers_with_other_texts_are_other_rows(corpora: Path) -> None:
    run = load("ranking", dataset=str(corpora / "newyorker_caption_contest"), fold="all")
    of_1 = [record for record in run.records if record.groups["fold"] == "1"]
    known = Known(group="fold", counts={"1": 10}, total=50, texts={"1": texts_digest(of_1)})
    assert of_run(known, run) == []
    swapped = [replace(of_1[0], target="AB"["BA".index(of_1[0].target or "")]), *of_1[1:]]
    assert texts_digest(reversed(of_1)) == texts_digest(of_1) != texts_digest(swapped)
    assert of_run(replace(known, texts={"1": texts_digest(swapped)}), run) == [
        "fold 1 has other texts or other right answers."
    ]


DIGESTS = [("matching", "0"), *(("ranking", fold) for fold in "0123"), ("explanation", "0")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:row .*caption_choices")
@pytest.mark.parametrize(("name", "fold"), DIGESTS)
def test_digests_are_those_of_the_public_rows(name: str, fold: str, real_data: Path) -> None:
    """The validation rows of a fold are the test rows of the next."""
    dataset = str(real_data / "newyorker_caption_contest")
    records = load(name, dataset=dataset, split="validation", fold=fold).records
    known, following = find_row(f"{name}-t5-11b").known, str(int(fold) + 1)
    assert known
    assert (len(records), texts_digest(records)) == (known.counts[following], known.texts[following])


def test_unknown_fields_of_what_is_known_are_refused(tmp_path: Path) -> None:
    (tmp_path / "reproduce.toml").write_text("row = []\n[rows.matching]\nnumber = 1\n")
    with pytest.raises(BadInput, match=r"rows\.matching: there is no 'number'"):
        read_rows(tmp_path / "reproduce.toml", "card")
