"""Results for Every Eval Ever and for the hub's `.eval_results`: of both harnesses, valid there, or refused.

`python tests/results/export/test_export.py` writes the golden file anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from inspect_ai import Task, eval
from standins.commands import humor_tasks, inspect, lm_eval, refused, uv
from standins.graded_logs import Logs
from standins.hub_client import hub_client
from standins.once import made_once
from standins.paths import GOLDEN
from standins.waiting import LIMIT

from humor_tasks import datasets_cards
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.results import LeftOut, Result, Results, export, read_results
from humor_tasks.results.export import Published, choose, defaults, eval_schema, hub_results, read_models
from humor_tasks.rows.pins import DATASETS
from humor_tasks.tasks import humicroedit_rating, matching
from humor_tasks.testing import HubServer, ScriptedModel

CORPUS = "jmhessel/newyorker_caption_contest"
GOLDEN = GOLDEN / "exported.json"
MODELS = ("--model", "baseline/overlap=us/overlap", "--model", "humor-baseline strategy=first=us/first")
NOW = 1.7e9
CHANGING = {
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}": "UUID",
    r"\b[0-9a-f]{40}\b": "COMMIT",
    r"\b20\d\d-\d\d-\d\d(T[\d:.+]+)?": "TIME",
    r"\b\d{10}\.\d+": "NOW",
    r"(?<=\"version\": \")\d[\w.]+": "VERSION",
    r"(?<=humor_tasks:)0[\d.]+|(?<=humor-tasks )0[\d.]+|(?<=\"humor_tasks\": \")0[\d.]+": "RELEASE",
}
"""What differs from run to run in the files -> what stands for it."""


# ---- runs ------------------------------------------------------------------------------------------------------------


def run_on_the_corpus(folder: Path) -> None:
    """A run of either harness as a user types it. A stand-in for the hub serves the sample in place of the corpus."""
    (folder / "logs").mkdir()
    by_lm_eval = ("--tasks", "nyc_matching", "--model", "humor-baseline", "--model_args", "strategy=first")
    with HubServer() as hub:
        hub.add(CORPUS, datasets_cards.folder("newyorker_caption_contest"), commit=DATASETS[CORPUS])
        with hub_client(HF_ENDPOINT=hub.endpoint, HF_HOME=str(folder / "home")):
            by_inspect = ("humor_tasks/ranking", "--model", "baseline/overlap", "--log-dir", "logs")
            inspect("eval", *by_inspect, cwd=folder)
            lm_eval(*by_lm_eval, "--log_samples", "--output_path", folder / "logs", cwd=folder)


@pytest.fixture(scope="module")
def corpus_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "runs on the corpus", run_on_the_corpus) / "logs"


def scripted_log(folder: Path, task: Task, reply: str = "Answer: A", **more: Any) -> Path:
    (log,) = eval(task, model=ScriptedModel("m", reply).model, log_dir=str(folder), display="log", **more)
    assert log.status == "success", log.error
    return Path(log.location)


def run_on_the_sample(folder: Path) -> None:
    scripted_log(folder, matching(dataset="sample"))
    scripted_log(folder, humicroedit_rating(dataset="sample"), "1.4")
    options = ("--model", "humor-baseline", "--model_args", "strategy=first", "--metadata", "dataset=sample")
    lm_eval("--tasks", "nyc_ranking", *options, "--output_path", folder / "lm", "--log_samples", cwd=folder)


@pytest.fixture(scope="module")
def sample_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the packaged sample, of both harnesses."""
    return made_once(tmp_path_factory, "runs on the sample", run_on_the_sample)


def of_corpus(result: Result, **more: Any) -> Result:
    """The result as if its rows were the corpus's."""
    source = {**result.run.source, "dataset": defaults(result)["dataset"], "revision": "0" * 40}
    return replace(result, run=replace(result.run, source=source), **more)


def with_signature(result: Result, **entries: str) -> Result:
    """The result with other entries of its signature."""
    return replace(result, run=replace(result.run, signature=Signature({**result.signature, **entries})))


def result_of(folder: Path, benchmark: str) -> Result:
    (result,) = read_results([folder]).of(benchmark)
    return result


# ---- what is written -------------------------------------------------------------------------------------------------


def exported(logs: Path, folder: Path) -> dict[str, Any]:
    """The files of both forms by path, without times and the sample's commit."""
    humor_tasks("export", "hub", logs, *MODELS, "-o", folder)
    more = ("--organization", "Our lab", "--relationship", "first_party")
    humor_tasks("export", "eval-schema", logs, *MODELS, *more, "-o", folder)
    found = {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}
    for pattern, name in CHANGING.items():
        found = {re.sub(pattern, name, path): re.sub(pattern, name, text) for path, text in found.items()}
    found = {path: re.sub(r"\d\.\d{10,}", lambda x: f"{float(x[0]):.9f}", text) for path, text in found.items()}
    return {path: yaml.safe_load(text) for path, text in found.items()}  # JSON is YAML


@pytest.mark.slow
def test_the_files_of_both_harnesses_are_the_golden_ones(corpus_runs: Path, tmp_path: Path) -> None:
    assert exported(corpus_runs, tmp_path) == json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_hubs_client_reads_the_main_metric_back(corpus_runs: Path, tmp_path: Path) -> None:
    url = "https://example.org/logs"
    said = humor_tasks("export", "hub", corpus_runs, *MODELS, "--source-url", url, "-o", tmp_path)
    files = [tmp_path / "us/overlap/.eval_results/ranking.yaml", tmp_path / "us/first/.eval_results/matching.yaml"]
    assert sorted(said.split()) == sorted(map(str, files))
    for file, benchmark in zip(files, ("ranking", "matching"), strict=True):
        result = result_of(corpus_runs, benchmark)
        (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text()))
        assert (entry.dataset_id, entry.task_id, entry.source_url) == (CORPUS, benchmark, url)
        assert entry.value == result.estimates["accuracy"].value
        assert entry.dataset_revision == result.run.source["revision"]
        assert entry.date == result.run.created[:10]


@pytest.mark.slow
def test_the_packages_own_validator_accepts_every_kind_of_record(
    sample_runs: Path, logs: Logs, corpus_runs: Path, tmp_path: Path
) -> None:
    """every-eval-ever asks for Python 3.12; its validator also runs on 3.11, beside what is installed."""
    package = tmp_path / "package"
    wanted = ("--no-deps", "--python-version", "3.12", "every-eval-ever==0.3.0")
    uv("pip", "install", "--quiet", "--target", package, *wanted)
    graded = of_corpus(read_results([logs.of("a", "judge")]).results[0])
    others = [of_corpus(result) for result in read_results([sample_runs]).results]
    assert {r.benchmark.name for r in (graded, *others)} == {"humorbench", "matching", "ranking", "humicroedit_rating"}
    published = [Published(each, f"us/{n}") for n, each in enumerate((graded, *others))]
    for path, text in eval_schema.files(published, "Our lab", "other", NOW, tmp_path).items():
        (tmp_path / path).write_text(text)
    humor_tasks("export", "eval-schema", corpus_runs, "--organization", "We", *MODELS, "--samples", "-o", tmp_path)
    records = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("data/*/*/*/*.json*"))
    assert len(records) == 12
    broken = json.loads((tmp_path / records[0]).read_text())
    del broken["evaluation_results"][0]["score_details"]["score"]
    wrong = str(PurePosixPath(records[0]).with_name("00000000-0000-4000-8000-000000000000.json"))
    (tmp_path / wrong).write_text(json.dumps(broken))
    command = [sys.executable, "-m", "every_eval_ever", "validate", "--format", "json", *records, wrong]
    env = os.environ | {"PYTHONPATH": str(package)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=LIMIT)
    found = {each["file"]: (each["valid"], each["warnings"]) for each in json.loads(done.stdout)}
    assert found == dict.fromkeys(records, (True, [])) | {wrong: (False, [])}


def test_judged_results_name_their_graders(logs: Logs) -> None:
    graded = of_corpus(read_results([logs.of("a", "judge")]).results[0])
    found = eval_schema.files([Published(graded, "us/a")], "We", "other", NOW)
    assert found == eval_schema.files([Published(graded, "us/a")], "We", "other", NOW)  # one run has one record
    (text,) = found.values()
    for score in json.loads(text)["evaluation_results"]:
        assert score["metric_config"]["additional_details"] == {"graders": "mockllm/judge"}
    (text,) = hub_results.files([Published(graded, "us/a")], None).values()
    assert "graders mockllm/judge" in yaml.safe_load(text)[0]["notes"]


def samples_of(result: Result, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]], bytes]:
    """The aggregate record, the lines beside it and their bytes."""
    ((path, text),) = eval_schema.files([Published(result, "us/m")], "We", "other", NOW, folder).items()
    record = json.loads(text)
    assert record["detailed_evaluation_results"]["file_path"] == str(path.with_name(f"{path.stem}_samples.jsonl"))
    written = (folder / record["detailed_evaluation_results"]["file_path"]).read_bytes()
    return record, [json.loads(line) for line in written.decode("ascii").splitlines()], written


@pytest.mark.parametrize("benchmark", ["humorbench", "matching", "ranking", "humicroedit_rating"])
def test_samples_are_one_line_a_reply_and_metric(benchmark: str, sample_runs: Path, logs: Logs, tmp_path: Path) -> None:
    graded = benchmark == "humorbench"
    found = read_results([logs.of("a", "judge")]).results[0] if graded else result_of(sample_runs, benchmark)
    result = of_corpus(found)
    record, lines, written = samples_of(result, tmp_path)
    detail = record["detailed_evaluation_results"]
    assert (detail["checksum"], detail["total_rows"]) == (hashlib.sha256(written).hexdigest(), len(lines))
    assert {line["evaluation_id"] for line in lines} == {record["evaluation_id"]}
    assert {line["sample_id"] for line in lines} == {outcome.id for outcome in result.outcomes}
    scores = {each["evaluation_result_id"]: each["score_details"] for each in record["evaluation_results"]}
    for metric in result.opened.reported:
        if metric.name not in result.estimates or metric.estimate is not None:
            continue
        identity = f"{result.scorer}:{metric.name}"
        values = [line["evaluation"]["score"] for line in lines if line["evaluation_result_id"] == identity]
        assert len(values) == scores[identity]["uncertainty"]["num_samples"]
        assert statistics.fmean(values) == pytest.approx(scores[identity]["score"])
    by_id = {line["sample_id"]: line for line in lines}
    for sample in result.run:
        line = by_id[sample.id]
        assert line["input"]["raw"] == sample.question
        assert line["input"]["reference"] == [sample.target]
        assert line["output"]["raw"] == ([] if sample.reply is None else [sample.reply])
        assert (line["input"]["choices"] or []) == list(sample.choices)


def test_every_text_of_a_sample_stays_on_its_line(sample_runs: Path, tmp_path: Path) -> None:
    result = of_corpus(result_of(sample_runs, "matching"))
    odd = "one\u2028two\x85three\n\ud800 \N{GRINNING FACE}"
    refused = replace(result.outcomes[0], status="refused", answer=None, values={"accuracy": 0.0})
    (sample, *_) = result.run
    score = replace(sample.scores[0], outcome=refused)
    changed = replace(sample, question=odd, reply=odd, scores=(score,))
    _, (line,), _ = samples_of(replace(result, run=replace(result.run, samples=[changed])), tmp_path)
    assert line["output"]["raw"] == [line["input"]["raw"]] == [odd.replace("\ud800", "\ufffd")]
    assert (line["error"], line["answer_attribution"]) == ("refused", [])
    assert line["evaluation"] == {"score": 0.0, "is_correct": False, "num_turns": 1}


def test_two_settings_of_one_model_are_two_files(sample_runs: Path) -> None:
    plain = of_corpus(result_of(sample_runs, "matching"))
    shown = with_signature(plain, setting="pixels")
    for other in (shown, replace(plain, system="m (strategy=last)")):
        assert len(eval_schema.files([Published(plain, "us/m"), Published(other, "us/m")], "We", "other", NOW)) == 2
    files = hub_results.files([Published(plain, "us/m"), Published(shown, "us/m")], None)
    assert len(files) == 2
    assert all(re.fullmatch(r"us/m/\.eval_results/matching-[0-9a-f]{8}\.yaml", str(path)) for path in files)
    assert {"pixels" in text for text in files.values()} == {True, False}
    with pytest.raises(BadInput, match="is a second run of us/m with one signature; export one"):
        hub_results.files([Published(plain, "us/m"), Published(plain, "us/m")], None)


# ---- what is left out ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [("hub",), ("eval-schema", "--organization", "We")])
def test_runs_of_the_sample_are_refused(form: tuple[str, ...], sample_runs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    said = refused("export", *form, sample_runs, "-o", output)
    assert "there is no result that can be exported; nothing was written." in said
    assert f"is of the packaged sample and says nothing about {CORPUS}; run matching on the corpus." in said
    assert "says nothing about semeval-2020-task-7; run humicroedit_rating on the corpus." in said
    assert said.count("is of the packaged sample") == 3
    assert not output.exists()


REFUSED: list[tuple[Callable[[Result], Result], str]] = [
    (
        lambda r: replace(r, run=replace(r.run, source={"dataset": "my/rows"})),
        f"is of my/rows and not of {CORPUS}; run m",
    ),
    (lambda r: replace(r, run=replace(r.run, source={})), "is of rows of unknown origin and not of"),
    (
        lambda r: replace(r, run=replace(r.run, source={}, harness="lm_eval")),
        "does not say which rows it is of; put lm-eval's results_*.json of the run beside its samples.",
    ),
    (
        lambda r: replace(r, run=replace(r.run, signature=Signature())),
        "has no signature, which says how it was made; run",
    ),
    (
        lambda r: replace(r, outcomes=(replace(r.outcomes[0], values={"accuracy": 7.0}), *r.outcomes[1:])),
        "values[0] is 7.0; in a proportion it lies between 0 and 1.",
    ),
    (lambda r: replace(r, complete=False, notes=("incomplete: 4 of 10 items.",)), "incomplete: 4 of 10 items."),
    (lambda r: replace(r, outcomes=()), "has no value of accuracy."),
    (
        lambda r: replace(r, opened=find_benchmark("mock_matching").reopen(None, {})),
        "mock_matching has no public corpus that its result could stand for.",
    ),
]
OTHER_PROTOCOL = {
    "split": ("validation", "split: validation; results on the hub are of the default, test."),
    "fold": ("3", "fold: 3; results on the hub are of the default, 0."),
    "on_unparsed": ("exclude", "rule for unreadable replies: exclude; results on the hub are of the default, wrong."),
    "v": ("1-A", "version of the benchmark: 1-A; results on the hub are of the default, 2-A."),
    "skipped": ("3", "number of rows left out: 3; results on the hub are of the default, none."),
    "extraction": (
        "released_leaderboard",
        "extraction: released_leaderboard; results on the hub are of the default, strict.",
    ),
}


@pytest.mark.parametrize(("change", "why"), REFUSED)
def test_what_is_no_result_of_the_corpus_is_left_out(change: Any, why: str, sample_runs: Path) -> None:
    whole = of_corpus(result_of(sample_runs, "matching"))
    kept, left = choose(Results((whole, change(whole))), {whole.system: "us/m"})
    assert [each.result for each in kept] == [whole]
    (told,) = left
    assert told.path == whole.paths[0]
    assert told.why.startswith(why)


@pytest.mark.parametrize("entry", OTHER_PROTOCOL)
def test_the_hub_gets_the_benchmarks_own_protocol_alone(entry: str, sample_runs: Path) -> None:
    whole = of_corpus(result_of(sample_runs, "matching"))
    value, why = OTHER_PROTOCOL[entry]
    other = with_signature(whole, **{entry: value})
    assert (hub_results.refusal(whole), hub_results.refusal(other)) == ("", why)
    assert export.refusal(other) == ""
    assert (
        hub_results.refusal(with_signature(whole, shots="5", setting="pixels", seed="7", on_bad_picture="skip")) == ""
    )
    changed = with_signature(whole, solver="self_critique")
    (notes,) = hub_results.files([Published(changed, "us/m")], None).values()
    assert "solver self_critique; " in notes
    pairs = replace(whole, opened=find_benchmark("crowd_pairs").reopen(None, {}))
    for name, few in {"contests": "536", "per_contest": "1", "seed": "7"}.items():
        told = hub_results.refusal(with_signature(pairs, v="1-A", split="held_out", **{name: few}))
        assert told.startswith(f"{name}: {few};")
    (text,) = eval_schema.files([Published(other, "us/m")], "We", "other", NOW).values()
    assert f"{entry}:{value}" in json.loads(text)["eval_library"]["additional_details"]["signature"]


def test_the_hub_gets_datasets_of_the_hub_alone(sample_runs: Path) -> None:
    rated = of_corpus(result_of(sample_runs, "humicroedit_rating"))
    rated = replace(rated, run=replace(rated.run, source={**rated.run.source, "revision": None}))
    assert hub_results.refusal(rated) == "semeval-2020-task-7 is no dataset of the hub."
    (text,) = eval_schema.files([Published(rated, "us/m")], "We", "other", NOW).values()
    source = json.loads(text)["evaluation_results"][0]["source_data"]
    assert (source["source_type"], source["dataset_name"]) == ("other", "semeval-2020-task-7")


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_systems_need_models_and_models_systems(corpus_runs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"

    def said(*options: str) -> str:
        return refused("export", "hub", corpus_runs, "-o", output, *options)

    missing = "--model 'baseline/overlap=ORG/NAME' --model 'humor-baseline strategy=first=ORG/NAME'"
    assert said().endswith(f"say which models these systems are, as the hub names them: {missing}")
    assert "--model baseline/overlp: no run is of this system. Did you mean 'baseline/overlap'?" in said(
        "--model", "baseline/overlp=us/m"
    )
    assert not output.exists()


@pytest.mark.parametrize(
    "given",
    ["us/m", "=us/m", "a=m", "a=us/m/2", "a=../m", "a=us/", "a=us/m..", "a=us/ü", "a=us/m\n", f"a=us/{'m' * 97}"],
)
def test_a_model_is_named_as_on_the_hub(given: str) -> None:
    with pytest.raises(BadInput, match="give the system's name in the log and its model: SYSTEM=ORG/NAME"):
        read_models([given])


def test_a_system_is_one_model_and_may_have_equals_signs() -> None:
    assert read_models(["hf pretrained=a/b=us/m"]) == {"hf pretrained=a/b": "us/m"}
    assert read_models(["a=us/m", "a=us/m"]) == {"a": "us/m"}
    with pytest.raises(BadInput, match="--model a: is given as us/m and as us/n; a system is one model"):
        read_models(["a=us/m", "a=us/n"])


def test_a_model_of_a_run_that_was_left_out_is_told_why(sample_runs: Path) -> None:
    whole = of_corpus(result_of(sample_runs, "matching"))
    left = LeftOut(Path("logs/b.eval"), "cannot be read.")
    with pytest.raises(
        BadInput, match=r"--model b: no run is of this system\.\nLeft out: logs/b\.eval: cannot be read"
    ):
        choose(Results((whole,), (left,)), {whole.system: "us/m", "b": "us/b"})


@pytest.mark.slow
def test_what_is_typed_is_written_as_text_or_refused(corpus_runs: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    hub = ("export", "hub", corpus_runs, *MODELS, "-o", output)
    for url in ("javascript:alert(1)", "", "http://", "http://a b", "https://a/\udce9"):
        said = refused(*hub, "--source-url", url)
        assert "--source-url " in said
        assert "give an address that begins with https:// or http://" in said
    records = ("export", "eval-schema", corpus_runs, *MODELS, "-o", output, "--organization")
    assert "--organization is missing" in refused(*records, " ")
    assert not output.exists()
    humor_tasks(*records, "<b>\udce9")
    assert len(texts := [path.read_text(encoding="utf-8") for path in output.rglob("*.json")]) == 2
    assert {json.loads(text)["source_metadata"]["source_organization_name"] for text in texts} == {"<b>\ufffd"}


@pytest.mark.slow
def test_places_that_cannot_be_written_and_a_missing_organization(corpus_runs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    command = (corpus_runs, *MODELS, "-o")
    assert "is a file; give a folder." in refused("export", "hub", *command, tmp_path / "file")
    assert "cannot be written" in refused("export", "hub", *command, tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"
    said = refused("export", "eval-schema", *command, tmp_path / "out")
    assert "--organization is missing; Every Eval Ever asks who made the runs." in said
    assert not (tmp_path / "out").exists()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        run_on_the_corpus(Path(made))
        found = exported(Path(made) / "logs", Path(made) / "out")
    GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
