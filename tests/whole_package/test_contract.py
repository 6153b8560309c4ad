"""What holds the whole together: one definition, two harnesses, one direction of imports."""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai import list_tasks
from inspect_ai.model import ChatMessageUser, ContentImage
from standins.judging import write_texts
from standins.paths import REPOSITORY

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.on_inspect.messages import chat_messages
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.rendering import PLACEHOLDER, messages
from humor_tasks.on_lm_eval.task import BenchmarkTask

pytestmark = [pytest.mark.inspect_ai_versions, pytest.mark.lm_eval_versions]

STUBS = sorted((REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks").glob("*.yaml"))
NYCC = ("matching", "ranking", "explanation")
MOCK = ("mock_detecting", "mock_matching", "mock_explaining")
SETTINGS = ("description", "pixels", "caption_only")


def lm_eval_task(name: str, output_type: str, **metadata: Any) -> BenchmarkTask:
    return BenchmarkTask(
        {
            "task": f"nyc_{name}",
            "benchmark": name,
            "output_type": output_type,
            "metadata": {"dataset": "sample"} | metadata,
        }
    )


RATINGS = {"via": "ratings"}
CASES: list[tuple[str, dict[str, Any], int]] = [
    *((name, {"setting": setting, "fold": 1}, 2) for name, setting in itertools.product(NYCC, SETTINGS)),
    *((name, {"fold": "all"}, 0) for name in NYCC),
    *(("humorbench", {"one_explanation_per": per}, 0) for per in ("row", "caption")),
    ("humorbench_autograder", {}, 0),
    *((name, {"scene": "stills", "input": "description"}, 0) for name in MOCK),
    *((name, {"scene": "stills", "input": "media"}, 2) for name in MOCK),
    ("humicroedit_rating", {"setting": "edited_only"}, 2),
    ("humicroedit_pairwise", {"setting": "original_and_edit"}, 2),
    ("humicroedit_pairwise", {"setting": "edited_only", **RATINGS}, 2),
    ("explanation_preference", {}, 0),
    ("explanation_preference", {"order": "random", "structured": True}, 0),
    ("explanation_preference", {"setting": "pixels"}, 0),
    ("crowd_groups", {"mode": "overall", "setting": "description", "contests": "9010-9011"}, 5),
    ("crowd_groups", {"mode": "best_pick", "setting": "description", "contests": "9010-9011"}, 0),
    ("crowd_groups", {"mode": "overall", "setting": "pixels", "contests": "9010-9011"}, 2),
]
NAMED = {name for name, *_ in CASES}
CASES += [(name, {}, 0) for name, benchmark in BENCHMARKS.items() if benchmark.lm_eval and name not in NAMED]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "given", "shots"), CASES)
def test_both_harnesses_show_the_same(name: str, given: dict[str, Any], shots: int, tmp_path: Path) -> None:
    given = {"dataset": "sample"} | given
    if name == "explanation_preference":
        texts = {record.id: "It is a pun." for record in BENCHMARKS["explanation"].open(dataset="sample").records}
        given["system"] = write_texts(tmp_path / "system.json", texts)
    task = BenchmarkTask({"task": "t", "benchmark": name, "output_type": "generate_until", "metadata": given})
    task.set_fewshot_seed(1234)  # what lm-eval's command line does
    more = {"shots": shots} if shots else {}
    theirs, run = build(name, given | more), BENCHMARKS[name].open(**given, **more)
    assert theirs.version == task.VERSION
    for sample, doc, record in zip(theirs.dataset, task.test_docs(), run.records, strict=True):
        context = task.fewshot_context(
            doc, shots, apply_chat_template=True, fewshot_as_multiturn=True, chat_template=lambda turns, **_: turns
        )
        told = [(turn["role"], turn["content"].removeprefix(f"{PLACEHOLDER}\n")) for turn in context]
        assert [(message.role, message.text) for message in sample.input] == told
        assert told == [(turn.role, turn.text) for turn in run.prompt(record).turns]
        target = [point.text for point in record.points] or doc["target"]  # Inspect's viewer shows the points
        assert (sample.id, sample.choices or [], sample.target or "") == (doc["id"], doc["choices"], target)
        about = sample.metadata or {}
        assert about["cluster"] == doc["cluster"]
        assert [about["humor_tasks"][part] for part in ("groups", "facts")] == [
            doc["humor_tasks"][part] for part in ("groups", "facts")
        ]
        assert about.get("points", []) == doc.get("points", [])
        assert about.get("pairs") == doc.get("pairs")
        shown = [
            part.image
            for message in chat_messages(run.prompt(record), record, run.form, run.reply_length, pictures=True)
            if isinstance(message, ChatMessageUser) and not isinstance(message.content, str)
            for part in message.content
            if isinstance(part, ContentImage)
        ]
        pictures, opened = run.prompt(record).pictures, task.doc_to_image(doc)
        if name in NAMED:  # of the others the rows decide
            assert len(pictures) == (shots + 1) * ("pixels" in given.values() or "media" in given.values())
        assert shown == [picture.data_uri() for picture in pictures]
        assert [image.convert("RGB").tobytes() for image in opened] == [p.open().tobytes() for p in pictures]


def test_log_likelihoods_of_yes_and_no_are_compared_as_words() -> None:
    parameters = {"dataset": "sample", "scene": "post", "input": "description"}
    config = {"task": "x", "benchmark": "mock_detecting", "output_type": "multiple_choice", "metadata": parameters}
    task = BenchmarkTask(config)
    doc = task.test_docs()[0]
    requests = task.construct_requests(doc, "ctx", metadata=("x", 0, 1))
    assert [request.args for request in requests] == [("ctx", " yes"), ("ctx", " no")]
    assert task.fewshot_context(doc, 0).endswith("Is the caption sarcastic?\n\nAnswer:")
    for likelihoods, accuracy in (([(-1.0, True), (-2.0, False)], 1.0), ([(-2.0, False), (-1.0, True)], 0.0)):
        assert task.process_results({**doc, "target": "yes"}, likelihoods)["acc"] == pytest.approx(
            accuracy if doc["target"] == "yes" else 1 - accuracy
        )


@pytest.mark.parametrize("name", NYCC)
def test_log_likelihood_variants_ask_the_direct_prompt(name: str) -> None:
    run = BENCHMARKS[name].open(dataset="sample", cot=False)
    task = lm_eval_task(name, "multiple_choice" if run.form.labels else "loglikelihood")
    for doc, record in zip(task.test_docs(), run.records, strict=True):
        plain = "\n\n".join(turn["content"] for turn in messages(run.prompt(record)))
        prefix = "Explanation:" if name == "explanation" else "Answer:"
        assert task.fewshot_context(doc, 0) == f"{plain}\n\n{prefix}"


def test_every_stub_loads_and_every_benchmark_has_one() -> None:
    configs = {  # each file is called like what it defines
        stub.stem: yaml.load(stub.read_text().replace("!function ", ""), Loader=yaml.SafeLoader) for stub in STUBS
    }
    tasks = {name: config for name, config in configs.items() if "class" in config}
    for name, config in configs.items():
        assert name == (config["task"] if name in tasks else config["group"])
        assert ("fold" in config) == ("crossval" in name and name in tasks)
        if name not in tasks:
            assert set(config["task"]) <= set(tasks)
            continue
        assert config["class"] == f"{BenchmarkTask.__module__}.{BenchmarkTask.__name__}"
        assert config["benchmark"] in BENCHMARKS
        if name.endswith("_gen"):
            differing = {"task", "output_type"}
            other = tasks[name.removesuffix("_gen")]
            assert {k: v for k, v in config.items() if k not in differing} == {
                k: v for k, v in other.items() if k not in differing
            }
            assert (config["output_type"], other["output_type"] == "generate_until") == ("generate_until", False)
    assert {config["benchmark"] for config in tasks.values()} == {
        name for name, each in BENCHMARKS.items() if each.lm_eval
    }
    assert set(configs) - set(tasks) == {
        *(f"nyc{part}{way}" for part in ("", "_crossval", "_wordings") for way in ("", "_gen")),
        *("humor", "humor_gen"),
    }


def test_every_task_is_found_without_importing_it() -> None:
    """As `inspect list tasks` and the register of inspect_evals find them: top-level functions under `@task`."""
    found = list_tasks(str(Path("humor_tasks") / "on_inspect" / "tasks"), root_dir=REPOSITORY)
    assert sorted(task.name for task in found) == sorted(BENCHMARKS)


def test_lm_eval_indexes_every_stub() -> None:
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(STUBS[0].parent), include_defaults=False)
    assert sorted(manager.all_tasks) == sorted(stub.stem for stub in STUBS)


@pytest.mark.slow
def test_registry_is_light_and_what_offers_clip_and_ofa_is_imported_without_torch() -> None:
    """A module for each corpus, a handful around them, and nothing of other packages that Inspect does not import."""
    code = (
        "import inspect_ai, sys; before = set(sys.modules); import humor_tasks._registry\n"
        "print(sorted(set(sys.modules) - before))\n"
        "import humor_tasks, humor_tasks.on_inspect.providers.chooser, humor_tasks.models.clip\n"
        "humor_tasks.clip_predict\n"
        "import humor_tasks.on_inspect.providers.ofa, humor_tasks.models.ofa, humor_tasks.cli.describe\n"
        "import humor_tasks.rows.descriptions, humor_tasks.on_inspect.describer\n"
        "print(sorted({'torch', 'open_clip', 'torchvision', 'tokenizers', 'safetensors'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded, heavy = map(ast.literal_eval, printed.splitlines())
    assert heavy == []
    assert {name.split(".")[0] for name in loaded} == {"humor_tasks"}
    corpora = [name for name in loaded if name.startswith("humor_tasks.on_inspect.tasks.")]
    assert set(loaded) - set(corpora) == {
        *("humor_tasks", "humor_tasks._version", "humor_tasks._registry", "humor_tasks.tasks"),
        *(
            "humor_tasks.on_inspect",
            "humor_tasks.on_inspect.parts",
            "humor_tasks.on_inspect.solver_parts",
            "humor_tasks.on_inspect.tasks",
        ),
    }
    assert len(corpora) <= 9
