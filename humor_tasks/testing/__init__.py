"""Test doubles for tests of tasks: scripted models and judges, and local servers.

| name | stands in for |
|---|---|
| `ScriptedModel` | a model under test, or any other model, in Inspect |
| `scripted_judge` | a grader in Inspect: verdicts by rule or in sequence, unreadable, refused and failing ones |
| `ScriptedLM` | a model in lm-eval |
| `run_lm_eval` | `lm_eval --tasks ...` on given folders of task YAML, without scanning lm-eval's own 14,000 files |
| `ChatServer` | an OpenAI-compatible server, on 127.0.0.1 |
| `HubServer` | the Hugging Face hub, on 127.0.0.1: serves local dataset folders and counts requests |

`REFUSED` is a reply that the provider flags as a refusal. `verdict_reply` gives the text of a judge's reply, `material`
the texts in a judge's prompt, and `text_of` the text of a chat message. No key, network or pytest is needed.

    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from humor_tasks.on_inspect.parts import element_coverage
    from humor_tasks.testing import ScriptedModel, scripted_judge

    def test_my_task(tmp_path):
        task = Task(dataset=[Sample("Why bears?", target="A bear.")], scorer=element_coverage(cache=False))
        judge = scripted_judge("judge", lambda shown: "bear" in shown["answer"])
        (log,) = eval(task, model=ScriptedModel("m", "Because of the bear.").model,
                      model_roles={"grader": judge.model}, log_dir=str(tmp_path))
        assert log.results.scores[0].metrics["coverage"].value == 1
        assert len(judge.asked) == 1

Names are imported on first use, so importing this package does not import a harness.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from humor_tasks.testing.chat import ChatServer, text_of
    from humor_tasks.testing.hub import HubServer
    from humor_tasks.testing.judges import material, scripted_judge, verdict_reply
    from humor_tasks.testing.lm_eval_runs import ScriptedLM, run_lm_eval
    from humor_tasks.testing.models import ScriptedModel
    from humor_tasks.testing.script import REFUSED

_MODULES = {
    "ChatServer": "chat",
    "HubServer": "hub",
    "REFUSED": "script",
    "ScriptedLM": "lm_eval_runs",
    "ScriptedModel": "models",
    "material": "judges",
    "run_lm_eval": "lm_eval_runs",
    "scripted_judge": "judges",
    "text_of": "chat",
    "verdict_reply": "judges",
}

__all__ = [
    "REFUSED",
    "ChatServer",
    "HubServer",
    "ScriptedLM",
    "ScriptedModel",
    "material",
    "run_lm_eval",
    "scripted_judge",
    "text_of",
    "verdict_reply",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'humor_tasks.testing' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
