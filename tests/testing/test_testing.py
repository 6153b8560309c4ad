"""`humor_tasks.testing` as the author of a plugin or of a task uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage

import humor_tasks.testing as public
from humor_tasks.on_inspect import element_coverage, reference_preference, story_ratings
from humor_tasks.scorers import read_verdict
from humor_tasks.scorers.verdict import RATING_WORDS, read_word
from humor_tasks.testing import (
    REFUSED,
    ChatServer,
    HubServer,
    ScriptedLM,
    ScriptedModel,
    material,
    run_lm_eval,
    scripted_judge,
    text_of,
    verdict_reply,
)

pytestmark = pytest.mark.inspect_ai_versions

YAML = """task: bears
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: {kind}
doc_to_text: "Does it joke? {{{{line}}}}"
doc_to_target: "{{{{label}}}}"
metadata: {{version: 1}}
"""


def graded(judge: ScriptedModel, reply: Any = "Because of the bear.", **how: Any) -> EvalLog:
    """A task of somebody else's with our scorer."""
    points = [Sample(id="s", input="Why?", target=["A bear.", "A <whale>."])]
    task = Task(dataset=points, scorer=element_coverage(cache=False, **how))
    (log,) = eval(task, model=ScriptedModel("m", reply).model, model_roles={"grader": judge.model}, display="log")
    assert log.status == "success", log.error
    return log


def statuses(log: EvalLog) -> list[tuple[bool | None, str]]:
    assert log.samples
    (score,) = (log.samples[0].scores or {}).values()
    said = [question["verdicts"][0] for question in (score.metadata or {})["judged"]]
    return [(one["word"], one["status"]) for one in said]


@pytest.mark.parametrize("structured", [False, True])
def test_a_judge_by_rule(structured: bool) -> None:
    judge = scripted_judge("j", lambda shown: "bear" in shown["point"] and "bear" in shown["answer"])
    log = graded(judge, structured=structured)
    assert log.results
    assert log.results.scores[0].metrics["coverage"].value == 0.5
    assert {material(request[-1][1])["point"] for request in judge.asked} == {"A bear.", "A <whale>."}
    assert [role for role, _ in judge.asked[0]] == ["system", "user"]
    assert all((config.response_schema is not None) == structured for config in judge.configs)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (True, [(True, "answered")] * 2),
        ([True, False], [(False, "answered"), (True, "answered")]),
        (None, [(None, "unparsed")] * 2),
        (REFUSED, [(None, "refused")] * 2),
        (RuntimeError("the judge is down"), [(None, "error")] * 2),
        ([True], [(None, "error"), (True, "answered")]),  # the script is over
        (lambda shown: None if "bear" in shown["point"] else False, [(False, "answered"), (None, "unparsed")]),
    ],
)
def test_verdicts(verdicts: Any, expected: list[tuple[bool | None, str]]) -> None:
    """The two points are asked at the same time, so that only the set of verdicts is fixed."""
    assert sorted(statuses(graded(scripted_judge("j", verdicts))), key=str) == expected


@pytest.mark.slow
def test_a_judge_of_two_texts_and_of_stories() -> None:
    sides = lambda shown: max("ab", key=lambda side: len(shown[f"explanation_{side}"])).upper()  # noqa: E731
    for judge, scorer, metric, expected in (
        (scripted_judge("longer", sides), reference_preference(cache=False), "win_rate", 1.0),
        (scripted_judge("rater", lambda shown: len(shown["story"])), story_ratings(cache=False), "hss", 4.0),
    ):
        reply = "A bear." if metric == "win_rate" else "Once"
        task = Task(dataset=[Sample(id="s", input="Why?", target="Bear")], scorer=scorer)
        roles: dict[str, Any] = {"grader": judge.model}
        (log,) = eval(task, model=ScriptedModel("m", reply).model, model_roles=roles, display="log")
        assert log.results
        assert log.results.scores[0].metrics[metric].value == expected
        assert len(judge.asked) == 2  # both orders; both ratings


@pytest.mark.slow
def test_what_a_scripted_model_replies() -> None:
    used = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
    own = ModelOutput.from_content("m", "no")
    own.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = ScriptedModel("m", ["Answer: A", REFUSED, own], usage=used)
    task = Task(dataset=[Sample(id=str(i), input="A or B?", choices=["x", "y"], target="A") for i in range(3)])
    (log,) = eval(task, model=model.model, display="log", max_samples=1, max_connections=1)
    assert log.samples
    assert sorted((s.output.completion, str(s.output.stop_reason)) for s in log.samples) == [
        ("", "content_filter"),
        ("Answer: A", "stop"),
        ("no", "stop"),
    ]
    assert log.stats.model_usage["mockllm/m"].total_tokens == 2 * 10 + 2
    assert model.asked == [[("user", "A or B?")]] * 3
    (failed,) = eval(task, model=ScriptedModel("m", ValueError("no such model")).model, display="log")
    assert failed.status == "error"
    assert "no such model" in str(failed.error)


def test_verdicts_are_written_as_they_are_read() -> None:
    for structured in (False, True):
        assert read_verdict(verdict_reply(True, structured), "json" if structured else "tags").passed is True
        assert read_verdict(verdict_reply(False, structured), "json" if structured else "tags").passed is False
    assert read_verdict(verdict_reply(None)).status == "unparsed"
    assert read_word(verdict_reply(4), RATING_WORDS)[0] == 4


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(("kind", "prefix"), [("multiple_choice", " "), ("generate_until", "")])
def test_lm_eval_on_a_folder_of_yaml(tmp_path: Path, kind: str, prefix: str) -> None:
    (tmp_path / "data.jsonl").write_text('{"line": "A bear.", "label": "yes"}\n{"line": "A bus.", "label": "no"}\n')
    choices = 'doc_to_choice: ["yes", "no"]\n'
    more = choices if kind == "multiple_choice" else "metric_list: [{metric: exact_match}]\n"
    (tmp_path / "bears.yaml").write_text(YAML.format(data=tmp_path / "data.jsonl", kind=kind) + more)
    metric = "exact_match,none" if kind == "generate_until" else "acc,none"
    model = ScriptedLM(lambda prompt, doc: prefix + ("yes" if "bear" in prompt else "no"))
    found = run_lm_eval(model, "bears", folders=[tmp_path], output=tmp_path / "out")
    assert found["results"]["bears"][metric] == 1
    assert model.asked[0].args[0] == "Does it joke? A bear."
    assert len(found["samples"]["bears"]) == 2
    assert len(list((tmp_path / "out").rglob("samples_bears_*.jsonl"))) == 1
    assert run_lm_eval(ScriptedLM(f"{prefix}yes"), "bears", folders=[tmp_path])["results"]["bears"][metric] == 0.5
    assert run_lm_eval(ScriptedLM(["no", "yes"]), "bears", folders=[tmp_path], limit=1)["n-samples"]["bears"] == {
        "original": 2,
        "effective": 1,
    }


@pytest.mark.lm_eval_versions
def test_lm_eval_on_our_own_tasks() -> None:
    right = ScriptedLM(lambda prompt, doc: f"Answer: {doc['target']}")
    found = run_lm_eval(right, "nyc_matching", metadata={"dataset": "sample"}, limit=4)
    assert found["results"]["nyc_matching"]["acc,none"] == 1
    weighed = ScriptedLM(likelihood=lambda prompt, continuation: -float(continuation != " C"))
    samples = run_lm_eval(weighed, "nyc_matching", metadata={"dataset": "sample"}, limit=4)["samples"]["nyc_matching"]
    assert {sample["resps"][2][0][0] for sample in samples} == {0.0}


def test_a_chat_server() -> None:
    script = [REFUSED, RuntimeError("out of jokes"), ConnectionResetError(), "Ha."]
    with ChatServer(script) as server:
        assert server.url.startswith("http://127.0.0.1:")
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        ask: Callable[[], Any] = lambda: client.chat.completions.create(  # noqa: E731
            model="m", messages=[{"role": "user", "content": [{"type": "text", "text": "Why?"}]}]
        )
        assert ask().choices[0].finish_reason == "content_filter"
        with pytest.raises(openai.InternalServerError, match="out of jokes"):
            ask()
        with pytest.raises(openai.APIConnectionError):
            ask()
        assert ask().choices[0].message.content == "Ha."
    assert [text_of(request["messages"][0]) for request in server.requests] == ["Why?"] * 4


@pytest.mark.slow
def test_a_hub(tmp_path: Path) -> None:
    """The client reads HF_ENDPOINT when it is imported: hence a process."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "test.jsonl").write_text('{"joke": "A bear."}\n')
    script = "import datasets; print(datasets.load_dataset('bears/jokes', split='test')['joke'][0])"
    with HubServer() as hub:
        commit = hub.add("bears/jokes", source)
        assert hub.endpoint.startswith("http://127.0.0.1:")
        env = {**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home")}
        done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False)
        assert done.stdout == "A bear.\n", done.stderr
        assert hub.bytes_of("test.jsonl") == 20
        assert [request.method for request in hub.data_requests()] == ["HEAD", "GET"]
        assert all(request.path.count("bears/jokes") == 1 for request in hub.log)
        (source / "test.jsonl").write_text('{"joke": "Two bears."}\n')
        assert hub.add("bears/jokes", source) != commit
        hub.forget_requests()
        assert not hub.served()


@pytest.mark.slow
def test_importing_it_loads_nothing_and_no_registry_imports_it() -> None:
    script = (
        "import sys, humor_tasks._registry; before = set(sys.modules)\n"
        "assert not [name for name in before if name.startswith('humor_tasks.testing')]\n"
        "import humor_tasks.testing as t; assert set(sys.modules) - before == {'humor_tasks.testing'}\n"
        "assert set(t.__all__) <= set(dir(t)); [getattr(t, name) for name in t.__all__]\n"
        "assert not {'pytest', '_pytest'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = public.nothing
