"""The lm-eval side: tasks through its evaluator, its command line, its flags and its chat templates."""

from __future__ import annotations

import inspect
import json
import math
import pickle
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.evaluator import simple_evaluate
from lm_eval.models.api_models import TemplateAPI
from lm_eval.models.dummy import DummyLM
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from standins import commands
from standins.paths import REPOSITORY

from humor_tasks import evaluate, load
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval import harness
from humor_tasks.on_lm_eval.contributions import Value
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.results.submission import read_answers
from humor_tasks.testing import ScriptedLM, run_lm_eval

TASKS = str(REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks")


def evaluated_by_lm_eval(
    model: LM, *tasks: str, shots: int | None = None, chat: bool = False, **metadata: Any
) -> dict[str, Any]:
    given = {"dataset": "sample"} | metadata
    return run_lm_eval(model, *tasks, metadata=given, num_fewshot=shots, apply_chat_template=chat)


@pytest.mark.parametrize("likelihoods", [[math.nan] * 5, [math.nan, -1, -2, -3, -4], [-math.inf] * 5])
def test_no_finite_log_likelihood_is_no_answer(likelihoods: list[float]) -> None:
    manager = TaskManager(include_path=TASKS, include_defaults=False, metadata={"dataset": "sample"})
    task = manager.load(["nyc_matching"])["tasks"]["nyc_matching"]
    shares = task.process_results(task.test_docs()[0], [(value, False) for value in likelihoods])
    assert (shares["acc"], shares["unparsed"]) == (0, 1)


@pytest.mark.lm_eval_versions
def test_pictures_are_opened_once_each() -> None:
    class Looking(ScriptedLM):
        def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
            self.pictures = [r.args[2]["visual"][0] for r in requests]
            return super().loglikelihood(requests)

    model = Looking("Answer: A")
    found = evaluated_by_lm_eval(model, "nyc_matching_pixels")
    assert len(model.pictures) == 50
    assert len({id(p) for p in model.pictures}) == 5
    assert all(p.size > (1, 1) for p in model.pictures)
    assert all(r.args[0].count("<image>") == 1 for r in model.asked)
    # Logged by their files' hashes, without a look at their pixels.
    hashes = {
        r.id: r.picture.sha256() for r in load("matching", dataset="sample", setting="pixels").records if r.picture
    }
    for sample in found["samples"]["nyc_matching_pixels"]:
        assert [a[2] for a in sample["arguments"]] == [{"visual": [hashes[sample["doc"]["id"]]]}] * 5


@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_crossval_group_is_the_mean_of_folds() -> None:
    found = evaluated_by_lm_eval(BaselineLM("overlap"), "nyc_crossval")
    rows = {name.rpartition("::")[2]: row for name, row in found["results"].items()}  # lm-eval 0.5: GROUP::TASK
    row = rows["nyc_matching_crossval"]
    folds = [row[f"acc_fold{k},none"] for k in range(5)]
    assert row["acc,none"] == pytest.approx(sum(folds) / 5)
    assert row["acc_stderr,none"] == pytest.approx(
        math.sqrt(sum(row[f"acc_fold{k}_stderr,none"] ** 2 for k in range(5))) / 5
    )
    single = evaluated_by_lm_eval(BaselineLM("overlap"), "nyc_matching", fold=2)["results"]["nyc_matching"]
    assert single["acc,none"] == row["acc_fold2,none"]
    assert sorted(name.rpartition("::")[2] for name in found["group_subtasks"]["nyc_crossval"]) == [
        f"nyc_{b}_crossval" for b in ("explanation", "matching", "ranking")
    ]


@pytest.mark.lm_eval_versions
def test_the_documented_group_of_ones_own_has_our_tasks_and_their_mean(tmp_path: Path) -> None:
    """The page's YAML in a folder of the user's, through lm-eval's own task manager."""
    page = (REPOSITORY / "docs" / "lm_eval.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    (tmp_path / "my_humor.yaml").write_text(body)
    given: dict[str, Any] = {"folders": [TASKS, tmp_path], "metadata": {"dataset": "sample"}}
    found = run_lm_eval(BaselineLM("overlap"), "my_humor", **given)
    rows = {name.rpartition("::")[2]: row["acc,none"] for name, row in found["results"].items()}
    mean = rows.pop("my_humor")
    assert rows.keys() == {"nyc_matching", "nyc_ranking", "crowd_pairs"}
    assert mean == pytest.approx(sum(rows.values()) / 3)


def test_shots_and_seed_come_from_the_harness() -> None:
    model = ScriptedLM("Answer: A")
    evaluated_by_lm_eval(model, "nyc_matching", shots=3)
    opened = load("matching", dataset="sample", shots=3, cot=False)
    texts = ["\n\n".join(t.text for t in opened.prompt(r).turns) + "\n\nAnswer:" for r in opened.records]
    assert [r.args[0] for r in model.asked[::5]] == texts
    assert [r.args[1] for r in model.asked[:5]] == [" A", " B", " C", " D", " E"]


@pytest.mark.lm_eval_versions
def test_chat_template_and_system_instruction() -> None:
    model = ScriptedLM("Answer: A")
    evaluated_by_lm_eval(model, "nyc_matching", "nyc_matching_gen", shots=1, chat=True)
    compared = next(r for r in model.asked if r.request_type == "loglikelihood")
    generated = next(r for r in model.asked if r.request_type == "generate_until")
    assert compared.args[0].count("<user>") == generated.args[0].count("<user>") == 3
    assert compared.args[0].endswith("<assistant>Answer:")
    assert generated.args[0].endswith("<assistant>")
    task = TaskManager(include_path=TASKS, include_defaults=False, metadata={"dataset": "sample"})
    nyc = task.load(["nyc_matching_gen"])["tasks"]["nyc_matching_gen"]
    merged = nyc.fewshot_context(nyc.test_docs()[0], 1, "Be brief.", True, False, lambda turns, **_: turns)
    assert [turn["role"] for turn in merged] == ["system", "user"]
    assert merged[0]["content"].startswith("Be brief.\n\nYou are well read")


@pytest.mark.lm_eval_versions
def test_generation_stops_where_a_base_model_would_go_on() -> None:
    model = ScriptedLM("Answer: A")
    evaluated_by_lm_eval(model, "nyc_matching_gen")
    assert model.asked[0].args[1]["until"] == ["</s>", "<|im_end|>"]
    few = ScriptedLM("Answer: A")
    evaluated_by_lm_eval(few, "nyc_matching_gen", shots=2)
    assert few.asked[0].args[1]["until"] == ["\n\n"]


def test_the_perplexity_of_five_folds_is_the_mean_of_theirs() -> None:
    """Hessel et al. 2023, Tables 4 and 5: "averages over 5 cross-validation splits"."""
    found = evaluated_by_lm_eval(ScriptedLM("Explanation: a bear."), "nyc_explanation_crossval")["results"][
        "nyc_explanation_crossval"
    ]
    each = []
    for fold in range(5):
        texts = [str(r.target) for r in load("explanation", dataset="sample", fold=fold).records]
        each.append(math.exp(sum(len(f" {text}") for text in texts) / sum(len(text.split()) for text in texts)))
    assert found["word_perplexity,none"] == pytest.approx(sum(each) / 5)
    few = run_lm_eval(
        ScriptedLM("Explanation: a bear."), "nyc_explanation_crossval", metadata={"dataset": "sample"}, limit=6
    )["results"]
    assert math.isnan(few["nyc_explanation_crossval"]["word_perplexity,none"]), "as every metric without a fold"


@pytest.mark.lm_eval_versions
def test_unparsed_replies_are_counted_and_left_out_only_when_asked() -> None:
    found = evaluated_by_lm_eval(ScriptedLM("no idea"), "nyc_ranking_gen")["results"]["nyc_ranking_gen"]
    assert (found["acc,none"], found["unparsed,none"]) == (0, 1)
    found = evaluated_by_lm_eval(ScriptedLM("no idea"), "nyc_ranking_gen", on_unparsed="exclude")["results"][
        "nyc_ranking_gen"
    ]
    assert "acc,none" not in found
    assert found["unparsed,none"] == 1


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"fold": 7}, "fold: there is no '7'"),
        ({"setting": "pixles"}, "Did you mean 'pixels'"),
        ({"datasets": "sample"}, "^--metadata datasets: no task .* Did you mean 'dataset'"),
        ({"cot": True}, "cot=true requires a generated reply"),
        ({"num_fewshot": 3}, "Did you mean '--num_fewshot'"),
        ({"shot": 3}, "Did you mean '--num_fewshot'"),
        ({"revison": "main"}, "Did you mean 'dataset_revision'"),
        ({"fodl": "all"}, "^--metadata fodl: no task .* Did you mean 'fold'"),
        ({"scene": "post"}, "^--metadata scene: no task .* There are budget, cot, dataset, "),
        ({" 1 ": " faint"}, """^--metadata 1: no task .* JSON: --metadata '{"name": "a,b"}'"""),
        ({"revision": "main"}, r"^--metadata revision: use dataset_revision\.$"),
        ({"seed": 1}, r"^--metadata seed: use --seed\.$"),
        ({"temperature": 1}, r"^--metadata temperature: use --gen_kwargs\.$"),
    ],
)
def test_bad_metadata(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        evaluated_by_lm_eval(ScriptedLM("Answer: A"), "nyc_matching", **metadata)


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize("name", ["matching", "humorbench", "explanation_preference"])
def test_what_a_flag_gives_is_refused_in_the_metadata(name: str) -> None:
    given = {"dataset": "sample"}
    with pytest.raises(BadInput, match=r"^--metadata shots: use --num_fewshot\.$"):
        BenchmarkTask(
            {"task": "t", "benchmark": name, "output_type": "generate_until", "metadata": {"shots": 1} | given}
        )


def test_a_variant_and_the_metadata_may_not_disagree() -> None:
    with pytest.raises(BadInput, match="nyc_matching_pixels fixes setting=pixels"):
        evaluated_by_lm_eval(ScriptedLM("Answer: A"), "nyc_matching_pixels", setting="description")
    assert evaluated_by_lm_eval(ScriptedLM("Answer: A"), "nyc_matching_pixels", setting="pixels")["results"]


class LoadedError(Exception):
    """Ends a command when all its tasks are loaded."""


@pytest.fixture
def ends_when_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """lm-eval's `evaluate` raises LoadedError, and its model `dummy` takes all arguments."""

    def ends(**_: Any) -> None:
        raise LoadedError

    monkeypatch.setattr("lm_eval.evaluator.evaluate", ends)
    monkeypatch.setattr(DummyLM, "create_from_arg_obj", lambda *_: DummyLM())


def model_arguments() -> list[str]:
    """The names of what lm-eval's models take, and some of vLLM's, which it needs vLLM to tell."""
    named = {name for kind in (HFLM, TemplateAPI) for name in inspect.signature(kind).parameters}
    assert {"pretrained", "revision", "model", "base_url", "tokenizer", "seed"} < named
    more = ["gpu_memory_utilization", "tensor_parallel_size", "max_images", "image", "mode", "scene", "dataset_name"]
    return sorted(named - {"kwargs"}) + more


@pytest.mark.lm_eval_versions
@pytest.mark.usefixtures("ends_when_loaded")
def test_model_arguments_are_the_models_whatever_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(task: Any) -> None:  # reads no rows
        task.run = SimpleNamespace(
            version="1-A", records=(), shows_media=False, options=task.benchmark.options(**task._given)
        )

    monkeypatch.setattr(BenchmarkTask, "_load", load)
    tasks = [path.stem for path in sorted(Path(TASKS).glob("*.yaml")) if "\nclass:" in path.read_text()]
    assert len(tasks) > 50
    without_default = {"explanation_preference", "explanation_preference_wordings"}  # name the systems
    tasks = [task for task in tasks if task not in without_default]
    model = json.dumps(dict.fromkeys(model_arguments(), "x") | {"max_images": 2})
    for names, more in ((tasks, []), (without_default, ["system=human", "against=other"])):
        command = [
            "--tasks",
            ",".join(names),
            "--model",
            "dummy",
            "--model_args",
            model,
            "--metadata",
            "dataset=sample",
            *more,
        ]
        with pytest.raises(LoadedError):
            commands.lm_eval(*command, cwd=tmp_path)


@pytest.mark.lm_eval_versions
@pytest.mark.usefixtures("ends_when_loaded")
@pytest.mark.parametrize(
    ("tasks", "model", "metadata", "said"),
    [
        ("nyc_matching", "seed=1,revision=main", "fold=1", ""),
        ("nyc_matching", "revision=main", "revision=main", "--metadata revision: use dataset_revision."),
        ("nyc_matching", "seed=1", "seed=2", "--metadata seed: use --seed."),
        ("nyc_matching", "fodl=all", "fold=1", ""),
        ("nyc_matching", "model=m", "fodl=all", "Did you mean 'fold'?"),
        ("nyc", "model=m", "fodl=all", "Did you mean 'fold'?"),
        ("nyc_matching,mock_matching", "model=m", "fold=1 scene=post", ""),
        ("nyc_matching,mock_matching", "model=m", "mode=judge", "--metadata mode: no task of this command"),
        ("nyc_matching,others", "model=m", "max_seq_lengths=[4096] tokenizer=m mode=y", ""),
        ("nyc_matching,others", "model=m", "folds=all", "Did you mean 'fold'?"),
        ("others,nyc", "model=m", "datset=sample", "Did you mean 'dataset'?"),
    ],
)
def test_metadata_is_told_from_model_arguments_and_other_tasks_keys(
    tasks: str, model: str, metadata: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "others.py").write_text(OTHERS)
    (tmp_path / "others.yaml").write_text("task: others\nclass: !function others.Others\n")
    command = ["--tasks", tasks, "--model", "dummy", "--model_args", model, "--include_path", "."]
    with pytest.raises(BadInput if said else LoadedError, match=re.escape(said) or None):
        commands.lm_eval(*command, "--metadata", *metadata.split(), "dataset=sample", cwd=tmp_path)


OTHERS = """
from lm_eval.api.task import Task
from lm_eval.config.task import TaskConfig

class Others(Task):
    def __init__(self, config):
        self._config = TaskConfig(task="others", metadata=config["metadata"])

    def get_config(self, key):
        return getattr(self._config, key)

    def set_config(self, key, value, update=False):
        setattr(self._config, key, value)

    def set_fewshot_seed(self, seed=None):
        pass

Others.__abstractmethods__ = frozenset()
"""


@pytest.mark.lm_eval_versions
@pytest.mark.usefixtures("ends_when_loaded")
def test_model_arguments_in_a_text_are_the_models_too() -> None:
    manager = TaskManager(include_path=TASKS, include_defaults=False, metadata={"dataset": "sample", "revision": "b"})
    with pytest.raises(LoadedError):
        simple_evaluate(DummyLM(), "model=m,revision=b", ["nyc_matching"], task_manager=manager)
    with pytest.raises(BadInput, match="use dataset_revision"):
        simple_evaluate(DummyLM(), "model=m,revision=c", ["nyc_matching"], task_manager=manager)


@pytest.mark.lm_eval_versions
def test_a_chooser_scores_other_peoples_choices_and_no_free_text(caplog: pytest.LogCaptureFixture) -> None:
    model = BaselineLM("overlap")

    def request(context: str, continuation: str, doc_id: int, i: int) -> Instance:
        return harness.request("loglikelihood", {}, (context, continuation), i, harness.Where("other", doc_id))

    asked = [request("The bear eats", f" {c}", 0, i) for i, c in enumerate(["a fish", "the bear"])]
    answers = model.loglikelihood([*asked, request("Free", " text", 1, 0)], disable_tqdm=True)
    assert [greedy for _, greedy in answers] == [False, True, False]
    assert math.isnan(answers[2][0])
    assert caplog.text.count("no log-likelihoods of free text") == 1
    assert "word_perplexity,none" not in evaluated_by_lm_eval(model, "nyc_explanation")["results"]["nyc_explanation"]
    with pytest.raises(NotImplementedError, match="only scores choices"):
        model.loglikelihood_rolling([])


def test_misspelt_model_arguments_are_not_ignored() -> None:
    with pytest.raises(BadInput, match=r"there is no 'stratgy'.*Did you mean 'strategy'"):
        BaselineLM.create_from_arg_string("stratgy=first", {"batch_size": 1, "max_batch_size": None, "device": None})


def test_scored_values_survive_being_gathered_from_other_processes() -> None:
    opened = load("matching", dataset="sample")
    outcome = opened.outcome(opened.records[0], "Answer: A")
    copy = pickle.loads(pickle.dumps(Value(1.0, outcome)))  # noqa: S301 (what torch's gather does)
    assert copy == 1.0
    assert copy.outcome == outcome
    assert json.dumps(Value(0.5, outcome)) == "0.5"


@pytest.mark.slow
def test_embedding_on_the_command_line(minilm: str, tmp_path: Path) -> None:
    command = ["--tasks", "nyc_matching", "--model", "humor-embedding", "--model_args", f"pretrained={minilm}"]
    commands.lm_eval(*command, "--metadata", "dataset=sample", "--output_path", tmp_path, cwd=tmp_path)
    (result,) = tmp_path.rglob("results_*.json")
    assert json.loads(result.read_text())["results"]["nyc_matching"]["acc,none"] > 0.3


@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_command_line_logs_samples_that_make_a_submission(tmp_path: Path) -> None:
    command = ["--tasks", "nyc_ranking,nyc_matching_crossval_gen", "--metadata", "dataset=sample"]
    command += ["--model", "humor-baseline", "--model_args", "strategy=longest"]
    commands.lm_eval(*command, "--output_path", tmp_path, "--log_samples", cwd=tmp_path)
    (result,) = tmp_path.rglob("results_*.json")
    (samples,) = tmp_path.rglob("samples_nyc_ranking_*.jsonl")
    saved = json.loads(result.read_text())
    read = read_answers(samples)
    answers = read.answers
    assert read.letters == "AB"
    report = evaluate("ranking", {k: str(v) for k, v in answers.items()}, dataset="sample")
    assert saved["results"]["nyc_ranking"]["acc,none"] == pytest.approx(report.metrics["accuracy"].value)
    assert saved["configs"]["nyc_ranking"]["metadata"]["signature"].startswith("bench:ranking|")
    assert len(read_answers(next(tmp_path.rglob("samples_nyc_matching_*.jsonl"))).answers) == 50


@pytest.mark.lm_eval_versions
def test_repeats_are_refused() -> None:
    task = BenchmarkTask({"task": "t", "benchmark": "matching", "metadata": {"dataset": "sample"}})
    task.set_repeats(1)
    with pytest.raises(BadInput, match="--repeats 3: lm-eval does not repeat items"):
        task.set_repeats(3)
