"""HumorBench without a harness: rows, subsets, replies, verdicts, prompts of one's own."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from standins.corpus import rows_of
from standins.humorbench import CARD, ELEMENTS, key, short, write_rows

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.humorbench import corpus
from humor_tasks.benchmarks.humorbench.coverage import WORD_LIMIT
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.points import graded
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome


@pytest.fixture(scope="module")
def run() -> Run:
    return load("humorbench", dataset="sample")


# ---- rows ---------------------------------------------------------------------------------------


def test_one_record_a_row(run: Run) -> None:
    rows = rows_of(ELEMENTS)
    assert run.version == "1-A"
    assert [record.id for record in run.records] == [key(row) for row in rows]
    assert len({record.cluster for record in run.records}) == len({row["description"] for row in rows}) == 11
    for record, row in zip(run.records, rows, strict=True):
        assert dict(record.fields) == {"description": row["description"], "caption": row["caption"]}
        assert record.context == row["description"]
        assert [(point.id, point.text) for point in record.points] == [(record.id, row["element"])]
        assert (record.choices, record.target, record.groups, record.picture) == ((), None, {}, None)


def test_one_record_a_caption(run: Run) -> None:
    by_caption = load("humorbench", dataset="sample", one_explanation_per="caption")
    assert by_caption.version == "1-A-caption"
    assert (len(run.records), len(by_caption.records)) == (38, 24)
    assert [p for record in by_caption.records for p in record.points] == [p for r in run.records for p in r.points]
    captions = Counter(row["caption"] for row in rows_of(ELEMENTS))
    assert {r.fields["caption"]: len(r.points) for r in by_caption.records} == captions
    assert len({record.id for record in by_caption.records}) == 24
    clusters = {r.fields["caption"]: r.cluster for r in run.records}
    assert {r.fields["caption"]: r.cluster for r in by_caption.records} == clusters
    questions = {run.prompt(record) for record in run.records}
    assert {by_caption.prompt(record) for record in by_caption.records} == questions


def test_captions_are_told_apart_by_their_cartoon(tmp_path: Path) -> None:
    same = {"caption": "Ouch.", "element": "It hurts"}
    rows = [{"idx": "1", "description": "A saw.", **same}, {"idx": "2", "description": "A drill.", **same}]
    records = load("humorbench", dataset=write_rows(tmp_path / "e.csv", rows), one_explanation_per="caption").records
    assert len({record.id for record in records}) == len({record.cluster for record in records}) == 2


def test_signature_and_provenance_name_data_and_protocol(run: Run) -> None:
    digest = hashlib.sha256(ELEMENTS.read_bytes()).hexdigest()
    assert run.data.provenance["fingerprint"] == digest
    assert run.data.provenance["rows"] == 38
    for part in ("bench:humorbench|v:1-A|", "data:sample|rev:-|n:38|", f"rows:{digest[:12]}", "subset:all", "per:row"):
        assert part in str(run.signature("generate"))
    by_caption = load("humorbench", dataset="sample", one_explanation_per="caption", subset="wordplay")
    for part in ("v:1-A-caption|", "subset:wordplay", "one_explanation_per:caption"):
        assert part in str(by_caption.signature("generate"))


def test_blanks_and_words_that_look_like_nothing_are_text(tmp_path: Path) -> None:
    row = {"idx": " 7 ", "description": " A\tbear. ", "caption": "None", "element": "NA\n NaN"}
    (record,) = load("humorbench", dataset=write_rows(tmp_path / "e.csv", [row])).records
    assert dict(record.fields) == {"description": "A bear.", "caption": "None"}
    assert record.points[0].text == "NA NaN"
    assert record.id == f"7-{hashlib.sha256(b'NA NaN').hexdigest()[:8]}"


def test_a_folder_and_a_file_are_the_same(tmp_path: Path) -> None:
    (tmp_path / corpus.ELEMENTS).write_bytes(b"\xef\xbb\xbf" + ELEMENTS.read_bytes())  # with a byte order mark
    found = load("humorbench", dataset=str(tmp_path))
    assert found.records == load("humorbench", dataset=str(tmp_path / corpus.ELEMENTS)).records
    assert found.records == load("humorbench", dataset="sample").records


def test_the_real_rows(real_data: Path) -> None:
    dataset = str(real_data / "humorbench")
    run = load("humorbench", dataset=dataset)
    assert (len(run.records), len({record.cluster for record in run.records})) == (499, 156)
    assert run.data.provenance["fingerprint"] == corpus.PINNED[corpus.ELEMENTS][0]
    assert len(load("humorbench", dataset=dataset, one_explanation_per="caption").records) == 309
    sizes = {"hard": 100, "wordplay": 119, "cultural_reference": 181, "toxic_or_shocking": 78}
    sizes |= {"visual_link": 382, "subverted_trope": 95, "multi_step": 100}
    for subset, size in sizes.items():
        assert len(load("humorbench", dataset=dataset, subset=subset).records) == size


# ---- subsets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("subset", "size"), [("wordplay", 10), ("cultural_reference", 6), ("toxic_or_shocking", 4)])
def test_named_subsets_of_the_sample(run: Run, subset: str, size: int) -> None:
    wanted = json.loads((CARD / "subsets" / "sample" / f"{subset}.json").read_text())["keys"]
    records = load("humorbench", dataset="sample", subset=subset).records
    assert len(records) == size
    assert records == tuple(record for record in run.records if record.id in wanted)
    by_caption = load("humorbench", dataset="sample", subset=subset, one_explanation_per="caption").records
    assert sorted(point.id for record in by_caption for point in record.points) == sorted(wanted)


def test_the_sample_has_no_hard_subset() -> None:
    with pytest.raises(BadInput, match=r"subset=hard: the sample has no such list.*humor-tasks analyse hard-subset"):
        load("humorbench", dataset="sample", subset="hard")


def test_a_named_subset_of_another_file_is_refused() -> None:
    with pytest.raises(BadInput, match=r"subset=hard: 100 keys: .* and 90 more of the list are not in .*another file"):
        load("humorbench", dataset=str(ELEMENTS), subset="hard")


def test_files_of_keys(run: Run, tmp_path: Path) -> None:
    wanted = [run.records[i].id for i in (5, 2, 30)]
    in_json = tmp_path / "mine.json"
    in_json.write_text(json.dumps({"subset": "mine", "keys": wanted}))
    rows = [{"element": f" {row['element']}\n", "idx": row["idx"]} for row in rows_of(ELEMENTS) if key(row) in wanted]
    in_csv = write_rows(tmp_path / "mine.csv", rows)
    for path in (str(in_json), in_csv):
        found = load("humorbench", dataset="sample", subset=path)
        assert [record.id for record in found.records] == [run.records[i].id for i in (2, 5, 30)]
        assert f"subset:{path}" in str(found.signature("generate"))


BAD_KEYS = [
    ("k.json", '{"keys": ["1-00000000"]}', ["1 key: 1-00000000 of the list is not in sample", "another revision"]),
    ("k.json", '{"keys": []}', ["k.json", '"keys" must be a list', "at least one entry"]),
    ("k.json", '{"keys": "9001-15740785"}', ["k.json", '"keys" must be a list of texts']),
    (
        "k.json",
        '{"ids": []}',
        ["k.json: cannot be read as a list of keys", 'It must be JSON {"keys": ["IDX-MARK", ...]}', "or CSV"],
    ),
    ("k.txt", "9001-15740785\n", ["k.txt", "It must be JSON"]),
    ("k.csv", "idx\n9001\n", ["k.csv", "there is no column 'element'"]),
    ("k.csv", "idx,element\n9001,A whale\n", ["k.csv", "1 key: 9001-", "not in sample"]),
]


@pytest.mark.parametrize(("name", "body", "messages"), BAD_KEYS, ids=short)
def test_bad_lists_of_keys(tmp_path: Path, name: str, body: str | bytes, messages: list[str]) -> None:
    (tmp_path / name).write_bytes(body if isinstance(body, bytes) else body.encode())
    with pytest.raises(BadInput) as caught:
        load("humorbench", dataset="sample", subset=str(tmp_path / name))
    for message in messages:
        assert message in str(caught.value)


# ---- replies ------------------------------------------------------------------------------------


def words(n: int, tagged: bool = True) -> str:
    text = " ".join(["ha"] * n)
    return f"<explanation>{text}</explanation>" if tagged else text


# reply, status, answer (... is not looked at), then untagged, over_limit and words
REPLIES: list[tuple[str, str, Any, int, int, int]] = [
    ("<explanation>It rhymes.</explanation>", "answered", "It rhymes.", 0, 0, 2),
    ("It rhymes.", "answered", "It rhymes.", 1, 0, 2),
    ("<explanation>It rhymes", "answered", "It rhymes", 1, 0, 2),
    ("<explanation>No.</explanation><think>Hm", "unparsed", None, 1, 0, 0),
    ("", "empty", None, 1, 0, 0),
    ("I'm sorry, but I can't help with that.", "refused", None, 1, 0, 0),
    ("<explanation>I'm sorry, but I can't help with that.</explanation>", "refused", None, 0, 0, 0),
    (words(199), "answered", ..., 0, 0, 199),
    (words(200), "answered", ..., 0, 1, 200),
    (words(200, tagged=False), "answered", ..., 1, 1, 200),
    (words(199) + words(250, tagged=False), "answered", ..., 0, 0, 199),
    (f"<explanation>{words(199, tagged=False)} – * —</explanation>", "answered", ..., 0, 0, 199),
]


@pytest.mark.parametrize(("reply", "status", "answer", "untagged", "over", "count"), REPLIES)
def test_what_a_reply_amounts_to(
    run: Run, reply: str, status: str, answer: Any, untagged: int, over: int, count: int
) -> None:
    record = run.records[3]
    found = run.outcome(record, reply)
    assert (found.id, found.cluster, found.target) == (record.id, record.cluster, None)
    assert found.status == status
    if answer is not ...:
        assert found.answer == answer
    assert dict(found.values) == {
        "over_limit": over,
        "untagged": untagged,
        **({"words": count} if answer is not None else {}),
        "unparsed": status in ("unparsed", "empty"),
        "refused": status == "refused",
    }


def test_a_refusal_by_the_provider(run: Run) -> None:
    found = run.outcome(run.records[0], "The cartoon shows", refused=True)
    assert (found.status, found.answer, found.values["refused"]) == ("refused", None, 1)
    assert "words" not in found.values  # how long explanations are, not replies
    whole = run.outcome(run.records[0], "<explanation>It rhymes.</explanation>", refused=True)
    assert (whole.status, whole.answer, whole.values["refused"]) == ("answered", "It rhymes.", 0)


def test_prompts_show_item_and_limit(run: Run) -> None:
    assert WORD_LIMIT == 200
    for record in run.records:
        (turn,) = run.prompt(record).turns
        assert turn.role == "user"
        assert "fewer than 200 words" in turn.text
        assert "<explanation>" in turn.text
        assert record.fields["description"] in turn.text
        assert record.fields["caption"] in turn.text
        assert record.points[0].text not in turn.text


# ---- verdicts -----------------------------------------------------------------------------------

# verdicts, then coverage, all_covered (None: it counts towards neither), graded_points, grader_failed
VERDICTS: list[tuple[list[bool | None], float | None, float | None, int | None, float]] = [
    *(([True], 1, 1, 1, 0), ([False], 0, 0, 1, 0), ([None], None, None, None, 1)),
    *(([True, False], 0.5, 0, 2, 0), ([True, True, True], 1, 1, 3, 0), ([True, None], 1, None, 1, 0.5)),
    *(([False, None], 0, 0, 1, 0.5), ([True, False, None, None], 0.5, 0, 2, 0.5)),
    ([None, None], None, None, None, 1),
]


@pytest.mark.parametrize(("verdicts", "share", "everything", "points", "failed"), VERDICTS)
def test_what_verdicts_amount_to(
    run: Run,
    verdicts: list[bool | None],
    share: float | None,
    everything: float | None,
    points: int | None,
    failed: float,
) -> None:
    outcome = run.outcome(run.records[0], "<explanation>It rhymes.</explanation>")
    found = graded(run, outcome, verdicts)
    expected = {"coverage": share, "all_covered": everything, "graded_points": points}
    expected |= {"grader_failed": failed, "undecided": 0, "asked_points": len(verdicts)}
    assert found.values == {**outcome.values} | {k: v for k, v in expected.items() if v is not None}
    assert (found.status, found.answer) == ("answered", "It rhymes.")
    split = graded(run, outcome, verdicts, [verdict is None for verdict in verdicts])
    assert (split.values["grader_failed"], split.values["undecided"]) == (0, failed)


@pytest.mark.parametrize("reply", ["", "I'm sorry, but I can't help with that.", "<think>"])
def test_a_reply_without_an_explanation_covers_nothing_or_is_left_out(run: Run, reply: str) -> None:
    outcome = run.outcome(run.records[0], reply)
    for verdicts in ([None, None], [True, True], [False, False]):  # nobody was asked
        found = graded(run, outcome, verdicts)
        assert {"coverage": 0.0, "all_covered": 0.0}.items() <= found.values.items()
        assert "grader_failed" not in found.values
        excluding = run.with_options(on_unparsed="exclude")
        assert graded(excluding, outcome, verdicts) == outcome
    assert "coverage" not in run.metrics([outcome])


def an_outcome(cluster: str, **values: float) -> Outcome:
    return Outcome("x", cluster, {}, "answered", "It rhymes.", None, values)


def test_estimates_by_hand(run: Run) -> None:
    outcomes = [
        an_outcome("a", coverage=1 / 3, graded_points=3, all_covered=0, grader_failed=0.25, asked_points=4, words=10),
        an_outcome("a", coverage=1, graded_points=1, all_covered=1, grader_failed=0, asked_points=1, words=20),
        an_outcome("b", coverage=0, graded_points=2, all_covered=0, grader_failed=0, asked_points=2, words=60),
        an_outcome("c", grader_failed=1, asked_points=1, words=30),  # no verdict: counts towards these two alone
    ]
    found = run.metrics(outcomes)
    bounds = ["coverage_missing_failed", "coverage_missing_passed"]
    assert list(found) == ["coverage", "all_covered", "words", "grader_failed", "missing_verdicts", *bounds]
    # 2 of 6 points; deviations 0, 1/3, -1/3 (of points over 2 a sample): clusters 1/3 and -1/3
    coverage = found["coverage"]
    assert (coverage.value, coverage.n, coverage.clusters) == (pytest.approx(1 / 3), 3, 2)
    assert coverage.stderr == pytest.approx(math.sqrt(2 * (1 / 9 + 1 / 9)) / 3)
    assert 0 <= coverage.low < 0.01  # two clusters say next to nothing
    assert 0.99 < coverage.high <= 1
    assert found["all_covered"].value == pytest.approx(1 / 3)  # of replies: a mean
    assert (found["words"].value, found["words"].n, found["words"].clusters) == (30, 4, 3)
    # 2 of 8 points asked about, 2 a sample
    assert found["grader_failed"].value == pytest.approx(2 / 8)
    clusters = [(0 - 1 / 4 * 1 + 1 - 1 / 4 * 4) / 2, (0 - 1 / 4 * 2) / 2, (1 - 1 / 4) / 2]
    assert found["grader_failed"].stderr == pytest.approx(math.sqrt(1.5 * sum(c * c for c in clusters)) / 4)


def test_coverage_of_a_caption_weighs_its_points() -> None:
    run = load("humorbench", dataset="sample", one_explanation_per="caption")
    says_first_only = [
        graded(run, run.outcome(record, "<explanation>x</explanation>"), [i == 0 for i in range(len(record.points))])
        for record in run.records
    ]
    found = run.metrics(says_first_only)
    assert found["coverage"].value == pytest.approx(24 / 38)
    assert found["all_covered"].value == pytest.approx(sum(len(r.points) == 1 for r in run.records) / 24)
    assert (found["coverage"].n, found["coverage"].clusters) == (24, 11)


def test_evaluate_tells_what_needs_no_grader(run: Run) -> None:
    replies = {record.id: words(200) for record in run.records}
    replies[run.records[0].id] = ""
    report = evaluate(run, replies)
    assert list(report.metrics) == ["over_limit", "untagged", "words", "unparsed", "refused"]
    assert report.metrics["over_limit"].value == pytest.approx(37 / 38)
    assert report.metrics["untagged"].value == report.metrics["unparsed"].value == pytest.approx(1 / 38)


def test_only_coverage_is_better_when_higher(run: Run) -> None:
    higher = [metric.name for metric in run.benchmark.metrics if metric.direction == "higher"]
    assert higher == ["coverage", "all_covered"]
    exam = load("humorbench_autograder", dataset="sample").benchmark
    lower = [metric.name for metric in exam.metrics if metric.direction == "lower"]
    assert lower == ["false_pass_rate", "false_fail_rate", "unparsed", "refused"]


# ---- prompts of one's own -----------------------------------------------------------------------

EXPLAIN = "== user ==\nWhy? $description / $caption ($limit)"
GRADE = "== user ==\nIn <a>$answer</a> is <p>$point</p>? $format"


def prompts_folder(folder: Path, **templates: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in templates.items():
        (folder / f"{name.replace('verdict_', 'verdict.')}.txt").write_text(text)
    return str(folder)


def test_templates_are_replaced(run: Run, tmp_path: Path) -> None:
    prompts = prompts_folder(tmp_path / "p", explain=EXPLAIN, grade=GRADE, verdict_tags="Say it.")
    own = load("humorbench", dataset="sample", prompts=prompts)
    fields = run.records[0].fields
    assert own.prompt(run.records[0]).turns[0].text == f"Why? {fields['description']} / {fields['caption']} (200)"
    assert own.prompts_hash != run.prompts_hash
    exam = load("humorbench_autograder", dataset="sample", prompts=prompts)
    shown = exam.records[0].fields
    (turn,) = exam.prompt(exam.records[0]).turns
    assert turn.text == f"In <a>{shown['answer']}</a> is <p>{shown['point']}</p>? Say it."
    only = load("humorbench", dataset="sample", prompts=prompts_folder(tmp_path / "q", explain=EXPLAIN))
    assert only.templates["grade.txt"] == run.templates["grade.txt"]


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ({"explain": "== user ==\nWhy?"}, r"explain.txt: lacks \$caption, \$description; the model would not see"),
        ({"grade": "== user ==\n$answer $format"}, r"template grade.txt: lacks \$point; the grader would not see it"),
        ({"grade": "== user ==\n$point"}, r"grade.txt: lacks \$answer, \$format"),
        (
            {},
            r"the folder has no .txt file; the templates are commit.txt, explain.txt, grade.txt, verdict.json",
        ),
    ],
)
def test_templates_that_lack_something_are_refused(tmp_path: Path, templates: dict[str, str], message: str) -> None:
    prompts = prompts_folder(tmp_path, **templates)

    def first_prompt(task: str) -> None:
        run = load(task, dataset="sample", prompts=prompts)
        run.prompt(run.records[0])

    with pytest.raises(BadInput, match=message):
        first_prompt("humorbench")
    if "explain" not in templates:  # the exam shares the grader's templates
        with pytest.raises(BadInput, match=message):
            first_prompt("humorbench_autograder")
