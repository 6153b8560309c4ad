"""HumorBench and the exam of its autograder without a harness: rows, subsets, replies, verdicts, the fetched files."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from humor_tasks import evaluate, load
from humor_tasks.api import Report
from humor_tasks.benchmark import Outcome, Run
from humor_tasks.benchmarks import _humorbench as corpus
from humor_tasks.benchmarks.humorbench import WORD_LIMIT, graded
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.scorers import JUDGE_METRICS

CARD = Path(folder("humorbench"))
ELEMENTS, RUBRIC = CARD / "comprehensive_annotations.csv", CARD / "sample_rubric.csv"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def key(row: dict[str, str]) -> str:
    return f"{row['idx']}-{hashlib.sha256(row['element'].encode()).hexdigest()[:8]}"


def write_rows(path: Path, rows: Sequence[dict[str, str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


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
        assert part in run.signature("generate")
    by_caption = load("humorbench", dataset="sample", one_explanation_per="caption", subset="wordplay")
    for part in ("v:1-A-caption|", "subset:wordplay", "one_explanation_per:caption"):
        assert part in by_caption.signature("generate")


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
    with pytest.raises(BadInput, match=r"subset=hard: the sample has no such list.*humor-tasks hard-subset"):
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
        assert f"subset:{path}" in found.signature("generate")


BAD_KEYS = [
    ("k.json", '{"keys": ["1-00000000"]}', ["1 key: 1-00000000 of the list is not in sample", "another revision"]),
    ("k.json", '{"keys": []}', ["k.json", '"keys" must be a list', "at least one entry"]),
    ("k.json", '{"keys": [1]}', ["k.json", '"keys" must be a list of texts']),
    ("k.json", '{"keys": "9001-15740785"}', ["k.json", '"keys" must be a list of texts']),
    ("k.json", '{"ids": []}', ["k.json", "KeyError", 'it must be JSON {"keys": ["IDX-MARK", ...]}', "or CSV"]),
    ("k.json", '["9001-15740785"]', ["k.json", "it must be JSON"]),
    ("k.json", '{"keys": [', ["k.json", "JSONDecodeError", "it must be JSON"]),
    ("k.json", "[" * 100_000, ["k.json", "it must be JSON"]),
    ("k.json", "", ["k.json", "it must be JSON"]),
    ("k.json", b"\xff\xfe", ["k.json", "UnicodeDecodeError", "it must be JSON"]),
    ("k.txt", "9001-15740785\n", ["k.txt", "it must be JSON"]),
    ("k.csv", "idx\n9001\n", ["k.csv", "there is no column 'element'"]),
    ("k.csv", "idx,element\n", ["k.csv", "there are no rows"]),
    ("k.csv", "idx,element\n9001,A whale\n", ["k.csv", "1 key: 9001-", "not in sample"]),
    ("k.csv", "idx,element\n9001\n", ["k.csv, line 2", "has 1 fields"]),
]


def short(value: Any) -> str:
    return ascii(value[0] if isinstance(value, list) else value)[:40]


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
    ("Here:\n< Explanation >\n It\t rhymes. \n</EXPLANATION>\nDone.", "answered", "It rhymes.", 0, 0, 2),
    ("It rhymes.", "answered", "It rhymes.", 1, 0, 2),
    ("It rhymes.</explanation>", "answered", "It rhymes.", 1, 0, 2),
    ("<explanation>It rhymes", "answered", "It rhymes", 1, 0, 2),
    ("<explanation>A draft.</explanation> or <explanation>It rhymes.</explanation>", "answered", "It rhymes.", 0, 0, 2),
    ("<explanation>It rhymes.</explanation><explanation></explanation>", "answered", "It rhymes.", 0, 0, 2),
    ("<think>Hm.</think><explanation>It rhymes.</explanation>", "answered", "It rhymes.", 0, 0, 2),
    ("<explanation>No.</explanation><think>Hm", "unparsed", None, 1, 0, 0),
    ("", "empty", None, 1, 0, 0),
    (" \n", "empty", None, 1, 0, 0),
    ("<think>Hm.</think>", "empty", None, 1, 0, 0),
    ("<explanation> </explanation>", "empty", None, 1, 0, 0),
    ("I'm sorry, but I can't help with that.", "refused", None, 1, 0, 0),
    ("<explanation>I'm sorry, but I can't help with that.</explanation>", "refused", None, 0, 0, 0),
    (words(199), "answered", ..., 0, 0, 199),
    (words(200), "answered", ..., 0, 1, 200),
    (words(201), "answered", ..., 0, 1, 201),
    (words(199, tagged=False), "answered", ..., 1, 0, 199),
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
    ([True], 1, 1, 1, 0),
    ([False], 0, 0, 1, 0),
    ([None], None, None, None, 1),
    ([True, False], 0.5, 0, 2, 0),
    ([True, True, True], 1, 1, 3, 0),
    ([True, None], 1, None, 1, 0.5),
    ([False, None], 0, 0, 1, 0.5),
    ([True, False, None, None], 0.5, 0, 2, 0.5),
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
    assert list(found) == ["coverage", "all_covered", "words", "grader_failed"]
    # 2 of 6 points; deviations 0, 1/3, -1/3 (of points over 2 a sample): clusters 1/3 and -1/3
    coverage = found["coverage"]
    assert (coverage.value, coverage.n, coverage.clusters) == (pytest.approx(1 / 3), 3, 2)
    assert coverage.stderr == pytest.approx(math.sqrt(2 * (1 / 9 + 1 / 9)) / 3)
    t = math.tan(math.pi * 0.475)  # the t quantile with one degree of freedom
    assert coverage.high == pytest.approx(1 / 3 + t * coverage.stderr)
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
    higher = [name for name in run.benchmark.metric_names if run.benchmark.higher_is_better(name)]
    assert higher == ["coverage", "all_covered"]
    exam = load("humorbench_autograder", dataset="sample").benchmark
    lower = [name for name in exam.metric_names if not exam.higher_is_better(name)]
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
        ({"explain": "== user ==\n$caption"}, r"template explain.txt: lacks \$description; the model would not see"),
        ({"explain": "== user ==\nWhy?"}, r"explain.txt: lacks \$caption, \$description"),
        ({"explain": "$description $caption"}, r"explain.txt: must start with a line '== system =='"),
        ({"explain": f"{EXPLAIN} $elements"}, r"explain.txt: there is no field \$elements; it can use \$description"),
        ({"explain": f"{EXPLAIN} for 5 $."}, r"explain.txt: .*write \$\$ for a dollar sign"),
        ({"grade": "== user ==\n$answer $format"}, r"template grade.txt: lacks \$point; the grader would not see it"),
        ({"grade": "== user ==\n$point"}, r"grade.txt: lacks \$answer, \$format"),
        ({"grade": "$answer $point $format"}, r"grade.txt: must start with a line '== system =='"),
        ({"grade": f"{GRADE} $descripton"}, r"grade.txt: there is no field \$descripton"),
        ({"grades": GRADE}, r"no template is called grades.txt. Did you mean 'grade.txt'"),
        ({}, r"the folder holds no .txt file; templates are explain.txt, grade.txt, verdict.json.txt, verdict.tags"),
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


# ---- the exam -----------------------------------------------------------------------------------

PASS = "<reasoning>It says so.</reasoning>\n<judgement>PASS</judgement>"
FAIL = "<reasoning>It does not.</reasoning>\n<judgement>FAIL</judgement>"
REAL_RUBRICS = {"gpt_4o_rubric.csv": 73, "gemini_2.5_pro_rubric.csv": 80}


@pytest.fixture(scope="module")
def exam(real_data: Path) -> Run:
    files = [str(real_data / "humorbench" / name) for name in REAL_RUBRICS]
    return load("humorbench_autograder", dataset=",".join(files))


def by_explainer(run: Run) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for record in run.records:
        groups.setdefault(record.groups["explainer"], []).append(record)
    return groups


def test_the_real_exam(exam: Run) -> None:
    groups = by_explainer(exam)
    passed = [sum(record.target == "PASS" for record in records) for records in groups.values()]
    assert passed == list(REAL_RUBRICS.values()) == [73, 80]
    assert [len(records) for records in groups.values()] == [100, 100]
    assert len({record.id for record in exam.records}) == 200
    assert exam.data.provenance["rows"] == 200


def test_a_judge_that_passes_everything(exam: Run) -> None:
    found = evaluate(exam, {record.id: PASS for record in exam.records}).metrics
    for explainer, accuracy, ac1 in zip(by_explainer(exam), (0.73, 0.80), (0.64773, 0.75610), strict=True):
        assert found[f"accuracy_{explainer}"].value == pytest.approx(accuracy)
        assert found[f"false_pass_rate_{explainer}"].value == 1
        assert found[f"false_fail_rate_{explainer}"].value == 0
        assert found[f"cohen_kappa_{explainer}"].value == 0
        assert found[f"gwet_ac1_{explainer}"].value == pytest.approx(ac1, abs=5e-6)
    assert found["accuracy"].value == pytest.approx(0.765)
    assert found["unparsed"].value == found["refused"].value == 0


def formulas(tp: int, fp: int, fn: int, tn: int) -> dict[str, float]:
    """Every metric from the four cells, as a textbook has it."""
    n = tp + fp + fn + tn
    agreed, judge, human = (tp + tn) / n, (tp + fp) / n, (tp + fn) / n
    chance = judge * human + (1 - judge) * (1 - human)
    share = (judge + human) / 2
    gwet = 2 * share * (1 - share)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return {
        "accuracy": agreed,
        "false_pass_rate": fp / (fp + tn),
        "false_fail_rate": fn / (fn + tp),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "cohen_kappa": (agreed - chance) / (1 - chance),
        "gwet_ac1": (agreed - gwet) / (1 - gwet),
    }


def judged(run: Run, **mistakes: Sequence[int]) -> tuple[Report, dict[str, list[int]]]:
    """A judge that errs on the first fn PASS and the first fp FAIL of an explainer, and says nothing readable
    of the next lost_pass and lost_fail; with TP, FP, FN, TN by explainer."""
    replies: dict[str, str] = {}
    cells: dict[str, list[int]] = {}
    for i, (explainer, records) in enumerate(by_explainer(run).items()):
        fn, fp, lost_pass, lost_fail = (mistakes[name][i] for name in ("fn", "fp", "lost_pass", "lost_fail"))
        passes = [record.id for record in records if record.target == "PASS"]
        fails = [record.id for record in records if record.target == "FAIL"]
        replies |= dict.fromkeys(passes, PASS) | dict.fromkeys(passes[:fn], FAIL)
        replies |= dict.fromkeys(fails, FAIL) | dict.fromkeys(fails[:fp], PASS)
        unread = ["It passes.", f"{PASS} or {FAIL}, who knows", "", '{"judgement": "PASS"}', "PASS"]
        replies |= zip(passes[fn : fn + lost_pass], unread * 9, strict=False)
        replies |= dict.fromkeys(fails[fp : fp + lost_fail], "I'm sorry, but I can't help with that.")
        cells[explainer] = [len(passes) - fn - lost_pass, fp, fn, len(fails) - fp - lost_fail]
    return evaluate(run, replies), cells


MISTAKES = [
    {"fn": (13, 4), "fp": (9, 11), "lost_pass": (0, 0), "lost_fail": (0, 0)},
    {"fn": (2, 20), "fp": (1, 3), "lost_pass": (5, 7), "lost_fail": (3, 2)},
]


@pytest.mark.parametrize("mistakes", MISTAKES)
def test_a_judge_of_known_confusions(exam: Run, mistakes: dict[str, Sequence[int]]) -> None:
    report, cells = judged(exam, **mistakes)
    found = report.metrics
    total = [sum(column) for column in zip(*cells.values(), strict=True)]
    for suffix, counts in {"": total, **{f"_{explainer}": counts for explainer, counts in cells.items()}}.items():
        for name, value in formulas(*counts).items():
            assert found[name + suffix].value == pytest.approx(value), name + suffix
            assert found[name + suffix].n == sum(counts)
            assert found[name + suffix].stderr > 0
    for i, explainer in enumerate(cells):  # what was not read leaves the denominator, and is counted
        assert found[f"unparsed_{explainer}"].value == pytest.approx(mistakes["lost_pass"][i] / 100)
        assert found[f"refused_{explainer}"].value == pytest.approx(mistakes["lost_fail"][i] / 100)
    assert found["unparsed"].value == pytest.approx(sum(mistakes["lost_pass"]) / 200)
    assert found["unparsed"].n == 200
    captions = {(record.fields["description"], record.fields["caption"]) for record in exam.records}
    assert found["unparsed"].clusters == len(captions) < 200


def test_one_explainer_has_no_metrics_of_its_own(tmp_path: Path) -> None:
    rows = [row for row in rows_of(RUBRIC) if row["explainer_model"] == "sample-explainer-a"]
    run = load("humorbench_autograder", dataset=write_rows(tmp_path / "r.csv", rows))
    found = evaluate(run, {record.id: PASS for record in run.records}).metrics
    assert list(found) == [*JUDGE_METRICS, "unparsed", "refused"]
    assert found["accuracy"].value == pytest.approx(14 / 20)


def test_the_exam_of_the_sample() -> None:
    run = load("humorbench_autograder", dataset="sample")
    assert run.version == "1-A"
    for record, row in zip(run.records, rows_of(RUBRIC), strict=True):
        assert record.id == f"{key(row)}-{row['explainer_model']}"
        assert (record.target, record.groups) == (row["label"], {"explainer": row["explainer_model"]})
        system, asked = run.prompt(record).turns
        assert (system.role, asked.role) == ("system", "user")
        for column in ("description", "caption", "explanation", "element"):
            assert row[column].replace("&", "&amp;") in asked.text
        assert row["label"] not in record.fields.values()
    assert len({record.cluster for record in run.records}) < 40
    report = evaluate(run, {record.id: PASS for record in run.records})
    expected = [n + s for n in (*JUDGE_METRICS, "unparsed", "refused") for s in ("", "-a", "-b")]
    assert [name.replace("_sample-explainer", "") for name in report.metrics] == expected


def test_a_verdict_counts_in_the_form_that_was_asked_for_only() -> None:
    plain = load("humorbench_autograder", dataset="sample")
    structured = load("humorbench_autograder", dataset="sample", structured=True)
    assert "<judgement>PASS</judgement>" in plain.prompt(plain.records[0]).turns[-1].text
    assert "JSON object" in structured.prompt(plain.records[0]).turns[-1].text
    assert plain.prompts_hash == structured.prompts_hash
    assert "structured:True" in structured.signature("generate")
    in_json = '{"reasoning": "It says so.", "judgement": "PASS"}'
    for run, right, wrong in ((plain, PASS, in_json), (structured, in_json, PASS)):
        assert run.outcome(run.records[0], right).answer == "PASS"
        assert run.outcome(run.records[0], wrong).status == "unparsed"


def test_several_files_are_one_exam(tmp_path: Path) -> None:
    rows = rows_of(RUBRIC)
    one, two = write_rows(tmp_path / "1.csv", rows[:20]), write_rows(tmp_path / "2.csv", rows[20:])
    whole = load("humorbench_autograder", dataset="sample")
    for dataset in (f"{one},{two}", [one, two]):  # a command line splits at commas
        joined = load("humorbench_autograder", dataset=dataset)
        assert joined.records == whole.records
        assert joined.data.provenance["configs"] == [one, two]
    with pytest.raises(BadInput) as caught:
        load("humorbench_autograder", dataset=f"{one},{two},sample")
    for message in ("sample_rubric.csv, line 2", "(idx, element) by the same explainer", f"{one}, line 2"):
        assert message in str(caught.value)


# ---- bad input ----------------------------------------------------------------------------------

ROW = {"idx": "1", "description": "A bear.", "caption": "Honey?", "element": "Bears like honey"}
GRADED = ROW | {"explanation": "It is a bear.", "explainer_model": "m", "label": "PASS"}
HEADS = {"humorbench": ",".join(ROW), "humorbench_autograder": ",".join(GRADED)}
LINES = {"humorbench": ",".join(ROW.values()), "humorbench_autograder": ",".join(GRADED.values())}


def table(task: str, *more: str) -> bytes:
    return "\n".join([HEADS[task], LINES[task], *more, ""]).encode()


BAD_FILES: list[tuple[str, bytes, list[str]]] = [
    (task, body, messages)
    for task in HEADS
    for body, messages in [
        (b"", ["f.csv: there are no rows"]),
        (HEADS[task].encode(), ["f.csv: there are no rows"]),
        (b"\n\n", ["f.csv: there is no column 'idx'; there are: none"]),
        (table(task).replace(b",caption", b""), ["f.csv: there is no column 'caption'", "description"]),
        (table(task).replace(b"element", b"elements"), ["f.csv: there is no column 'element'", "Did you mean 'ele"]),
        (table(task).replace(b"caption", b"caption,idx"), ["f.csv: the header names idx twice"]),
        (table(task, LINES[task].replace("1,", "2,").replace("Honey?", " ")), ["f.csv, line 3: caption is empty"]),
        (table(task, LINES[task].replace("Bears like honey", '"\n"')), ["f.csv, line 3: element is empty"]),
        (table(task, "", LINES[task]), ["f.csv, line 4: the same (idx, element)", "f.csv, line 2", "out"]),
        (table(task, LINES[task].replace("s like", "s  like ")), ["f.csv, line 3: the same", "line 2. Leave one of"]),
        (table(task, f"{LINES[task]},x"), ["f.csv, line 3: has", "fields, the header has"]),
        (table(task, "2,A saw."), ["f.csv, line 3: has 2 fields"]),
        # a text may run over several lines: the line named is the one that the row begins on
        (
            table(task, LINES[task].replace("1,", "2,").replace("Honey?", '"a\nb"'), "3"),
            ["f.csv, line 5: has 1 fields"],
        ),
        (table(task).replace(b"bear", b"b\xe4r"), ["f.csv: cannot be read as UTF-8 text"]),
        (table(task).decode().encode("utf-16"), ["f.csv: cannot be read as UTF-8 text"]),
        (table(task, LINES[task].replace("1,", '"2,')), ["f.csv, line 3: is not CSV"]),
        (table(task, LINES[task].replace("Honey?", '"Honey"?')), ["f.csv, line 3: is not CSV"]),
        (table(task, LINES[task].replace("Honey?", "ha" * 100_000)), ["f.csv, line 3: is not CSV"]),
    ]
]
BAD_FILES += [
    ("humorbench_autograder", table("humorbench_autograder", LINES["humorbench_autograder"][:-4] + label), messages)
    for label, messages in [
        ("pass", ["f.csv, line 3: label is 'pass'; it must be PASS or FAIL"]),
        ("MAYBE", ["f.csv, line 3: label is 'MAYBE'"]),
        ("", ["f.csv, line 3: label is ''"]),
        ("1", ["f.csv, line 3: label is '1'"]),
    ]
]
BAD_FILES += [
    (
        "humorbench_autograder",
        table("humorbench_autograder").replace(b",label", b"").replace(b",PASS", b""),
        ["f.csv: has no column 'label'", "needs a human PASS or FAIL"],
    ),
    (
        "humorbench_autograder",
        table("humorbench_autograder").replace(b"It is a bear.", b""),
        ["f.csv, line 2: explanation is empty"],
    ),
]


@pytest.mark.parametrize(("task", "body", "messages"), BAD_FILES, ids=short)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, task: str, body: bytes, messages: list[str]) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(body)
    with pytest.raises(BadInput) as caught:
        load(task, dataset=str(path))
    for message in [str(path), *messages]:
        assert message in str(caught.value)


def test_the_good_file_is_good(tmp_path: Path) -> None:
    for task in HEADS:
        path = tmp_path / "f.csv"
        path.write_bytes(table(task, "", LINES[task].replace("1,", "2,").replace("Honey?", '"a\nb, ""c"""'), ""))
        assert load(task, dataset=str(path)).records[1].fields["caption"] == 'a b, "c"'


@pytest.mark.parametrize(
    ("task", "parameters", "message"),
    [
        (
            "humorbench",
            {"dataset": "no/where.csv"},
            r"dataset=no/where.csv is neither 'ReubenNarad/Humor-Bench' .*a CSV",
        ),
        ("humorbench", {"dataset": "sampel"}, r"Did you mean 'sample'"),
        ("humorbench", {"dataset": "ReubenNarad/HumorBench"}, r"Did you mean 'ReubenNarad/Humor-Bench'"),
        ("humorbench", {"dataset": "{empty}"}, r"nor a folder with comprehensive_annotations.csv"),
        ("humorbench", {"dataset": ["a.csv"]}, r"dataset must be text, not \['a.csv'\]"),
        (
            "humorbench",
            {"on_unparsed": "random"},
            r"on_unparsed=random: there is no explanation to guess; choose wrong",
        ),
        ("humorbench", {"on_unparsed": "guess"}, r"on_unparsed: there is no 'guess'"),
        ("humorbench", {"shots": 2}, r"shots: .*without worked examples"),
        ("humorbench", {"revision": "main"}, r"revision: .*pinned by its SHA-256; for another one use dataset=<file>"),
        ("humorbench", {"split": "train"}, r"split: there is no 'train'; choose from test"),
        ("humorbench", {"extraction": "released_chat"}, r"extraction: there is no 'released_chat'; choose from strict"),
        ("humorbench", {"one_explanation_per": "rows"}, r"one_explanation_per: .*Did you mean 'row'"),
        ("humorbench", {"subset": "wordpaly"}, r"subset: there is no 'wordpaly'; .*a file of keys.* 'wordplay'"),
        ("humorbench", {"subset": "no/where.json"}, r"subset: there is no 'no/where.json'"),
        ("humorbench", {"subset": "a file of keys"}, r"subset: there is no 'a file of keys'"),
        ("humorbench", {"subset": 3}, r"subset must be text, not 3"),
        ("humorbench", {"subset": ["hard"]}, r"subset must be text, not \['hard'\]"),
        ("humorbench", {"subsets": "hard"}, r"there is no 'subsets'; .*Did you mean 'subset'"),
        ("humorbench", {"prompts": "no/where"}, r"prompts=no/where: there is no such folder"),
        ("humorbench_autograder", {"dataset": "no/where.csv"}, r"dataset=no/where.csv is neither .* nor a CSV file\."),
        ("humorbench_autograder", {"dataset": "sample,no/where.csv"}, r"dataset=no/where.csv is neither"),
        ("humorbench_autograder", {"dataset": "{empty}"}, r"nor a CSV file\."),
        ("humorbench_autograder", {"on_unparsed": "random"}, r"on_unparsed: there is no 'random'; choose from exclude"),
        ("humorbench_autograder", {"on_unparsed": "wrong"}, r"on_unparsed: there is no 'wrong'; choose from exclude"),
        ("humorbench_autograder", {"shots": 1}, r"shots: a judge is asked without worked examples"),
        ("humorbench_autograder", {"revision": "main"}, r"revision: .*for others use dataset=<file>"),
        ("humorbench_autograder", {"structured": "yes"}, r"structured must be true or false, not 'yes'"),
        ("humorbench_autograder", {"split": "train"}, r"split: there is no 'train'"),
    ],
)
def test_bad_parameters(tmp_path: Path, task: str, parameters: dict[str, Any], message: str) -> None:
    if parameters.get("dataset") == "{empty}":
        parameters = {"dataset": str(tmp_path)}
    with pytest.raises(BadInput, match=message):
        load(task, **{"dataset": "sample"} | parameters)


# ---- the public files ---------------------------------------------------------------------------


class Files(ThreadingHTTPServer):
    """Serves `held` (path -> content) and keeps the paths asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.held: dict[str, bytes] = {}
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Files

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.held.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def files() -> Iterator[Files]:
    server = Files()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Files]:
    """The sample stands in for the public elements, which have two addresses."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    digest = hashlib.sha256(ELEMENTS.read_bytes()).hexdigest()
    with files() as server:
        addresses = (server.url("/old.csv"), server.url("/new.csv"))
        monkeypatch.setattr(corpus, "PINNED", corpus.PINNED | {corpus.ELEMENTS: (digest, addresses)})
        yield server


def kept(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "home").rglob("*") if path.is_file()]


def test_the_public_file_is_fetched_once(public: Files, tmp_path: Path) -> None:
    public.held["/old.csv"] = ELEMENTS.read_bytes()
    first, second = load("humorbench"), load("humorbench", subset="all")
    assert public.asked == ["/old.csv"]
    assert first.records == second.records == load("humorbench", dataset="sample").records
    (path,) = kept(tmp_path)
    assert path.read_bytes() == ELEMENTS.read_bytes()
    about = first.data.provenance
    assert (about["dataset"], about["revision"]) == (corpus.PUBLIC, corpus.COMMITS[corpus.ELEMENTS])
    assert f"data:{corpus.PUBLIC}|rev:{about['revision']}" in first.signature("generate")


def test_the_second_address_is_tried(public: Files) -> None:
    public.held["/new.csv"] = ELEMENTS.read_bytes()
    assert len(load("humorbench").records) == 38
    assert public.asked == ["/old.csv", "/new.csv"]


def test_changed_content_is_never_used(public: Files, tmp_path: Path) -> None:
    changed = ELEMENTS.read_bytes().replace(b"disco", b"DISCO")
    public.held = {"/old.csv": changed, "/new.csv": changed}
    digest = corpus.PINNED[corpus.ELEMENTS][0]
    for _ in range(2):
        with pytest.raises(BadInput) as caught:
            load("humorbench")
        for message in (digest, "/old.csv has other content", "/new.csv has other content", "dataset=<file>"):
            assert message in str(caught.value)
        assert kept(tmp_path) == []
    public.held["/new.csv"] = ELEMENTS.read_bytes()
    assert load("humorbench").data.provenance["fingerprint"] == digest


def test_nothing_to_be_reached(public: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with files() as gone:
        addresses = (gone.url("/old.csv"), gone.url("/new.csv"))
    monkeypatch.setitem(corpus.PINNED, corpus.ELEMENTS, (corpus.PINNED[corpus.ELEMENTS][0], addresses))
    with pytest.raises(BadInput) as caught:
        load("humorbench")
    for message in (corpus.ELEMENTS, *addresses, "ConnectionError", "Get the file yourself", "dataset=<file>"):
        assert message in str(caught.value)
    assert "dataset=sample is the packaged sample" in str(caught.value)
    assert kept(tmp_path) == []


def test_a_damaged_copy_is_fetched_anew(public: Files, tmp_path: Path) -> None:
    public.held["/old.csv"] = ELEMENTS.read_bytes()
    load("humorbench")
    (path,) = kept(tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    assert len(load("humorbench").records) == 38
    assert path.read_bytes() == ELEMENTS.read_bytes()
    assert public.asked == ["/old.csv"] * 2
    path.write_bytes(b"")
    public.held.clear()  # damaged, and nowhere to be had: told, not used
    with pytest.raises(BadInput, match="could not be fetched"):
        load("humorbench")


def test_the_public_exam_is_both_rubrics(public: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = rows_of(RUBRIC)
    for name, part in zip(REAL_RUBRICS, (rows[:20], rows[20:]), strict=True):
        body = Path(write_rows(tmp_path / "part.csv", part)).read_bytes()
        public.held[f"/{name}"] = body
        monkeypatch.setitem(corpus.PINNED, name, (hashlib.sha256(body).hexdigest(), (public.url(f"/{name}"),)))
    exam = load("humorbench_autograder")
    assert exam.records == load("humorbench_autograder", dataset="sample").records
    assert public.asked == [f"/{name}" for name in REAL_RUBRICS]
    assert exam.data.provenance["configs"] == list(REAL_RUBRICS)
    assert exam.data.provenance["revision"] == corpus.COMMITS["gpt_4o_rubric.csv"]
    other = write_rows(tmp_path / "other.csv", [rows[0] | {"explainer_model": "another"}])
    assert len(load("humorbench_autograder", dataset=f"{corpus.PUBLIC},{other}").records) == 41
