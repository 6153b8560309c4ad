"""A scripted lm-eval model, and runs of lm-eval that load only the given tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

from humor_tasks import on_lm_eval
from humor_tasks.on_lm_eval.harness import LM, Instance
from humor_tasks.testing.script import by_rule

TASKS = Path(on_lm_eval.__path__[0]) / "tasks"
"""The folder of this package's task YAML."""

Likelihood = Callable[[str, str], float]


class ScriptedLM(LM):
    """An lm-eval model that replies by script and keeps every request in `asked`.

    script: one reply for every request; a list with one reply per request; or a function of the prompt and the
    document.
    likelihood: a function of the prompt and the continuation that returns its log-likelihood. By default it is 0 for a
    continuation that the scripted reply ends with, otherwise minus the length of the continuation.

        model = ScriptedLM(lambda prompt, doc: f"Answer: {doc['target']}")
        found = run_lm_eval(model, "nyc_matching", metadata={"dataset": "sample"})
        assert found["results"]["nyc_matching"]["acc,none"] == 1
    """

    MULTIMODAL = True
    tokenizer_name = "scripted"

    def __init__(self, script: Any = "", likelihood: Likelihood | None = None) -> None:
        super().__init__()
        self._answer, self._likelihood = by_rule(script), likelihood
        self.asked: list[Instance] = []

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """One scripted reply per request."""
        self.asked += requests
        return [str(self._answer(request.args[0], request.doc)) for request in requests]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """One log-likelihood per request."""
        self.asked += requests
        return [(self._of(request), False) for request in requests]

    def _of(self, request: Instance) -> float:
        prompt, continuation = request.args[:2]
        if self._likelihood is not None:
            return self._likelihood(prompt, continuation)
        reply = str(self._answer(prompt, request.doc))
        return 0.0 if reply.endswith(continuation) else -float(len(continuation))

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not supported, because no task of this package uses it."""
        raise NotImplementedError("ScriptedLM has no rolling log-likelihoods.")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Each turn, preceded by its role in angle brackets."""
        turns = "".join(f"<{turn['role']}>{turn['content']}" for turn in chat_history)
        return turns + "<assistant>" * add_generation_prompt


@contextmanager
def undescribed() -> Iterator[None]:
    """Runs of lm-eval without its description of the machine, which asks `pip list` and others: a second a run."""
    if find_spec("torch") is None:  # nothing describes the machine then
        yield
        return
    import torch.utils.collect_env as environment

    with patch.object(environment, "get_pretty_env_info", lambda: "not described"):
        yield


def run_lm_eval(
    model: LM | str,
    *tasks: str,
    folders: Sequence[str | Path] = (TASKS,),
    metadata: Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The results of `lm_eval --model ... --tasks ... --metadata ...`, loading only the tasks of these folders.

    lm-eval itself first scans about 14,000 YAML files, which takes 10 to 20 seconds, and describes the machine, which
    takes another one; here "pretty_env_info" says "not described".

    folders: folders of task YAML; by default that of this package.
    metadata: as in `--metadata`.
    output: a folder for the files of `--output_path` and `--log_samples`.
    more: passed to lm-eval's `simple_evaluate` (`limit=4`, `num_fewshot=1`, `apply_chat_template=True`).

    Returns lm-eval's results, with the documents and replies under "samples".

        found = run_lm_eval(ScriptedLM("Answer: A"), "my_task", folders=["my_package/tasks"])
        assert found["results"]["my_task"]["acc,none"] == 0.5
    """
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    given = dict(metadata or {})
    manager = TaskManager(include_path=[str(folder) for folder in folders], include_defaults=False, metadata=given)
    tracker = EvaluationTracker(output_path=str(output)) if output is not None else None
    with undescribed():
        evaluated: dict[str, Any] | None = simple_evaluate(
            model, tasks=list(tasks), task_manager=manager, evaluation_tracker=tracker, **more
        )
    if evaluated is None:
        raise RuntimeError("lm-eval returned no results; with several processes, only the first one has them.")
    if tracker is not None:
        results = {name: value for name, value in evaluated.items() if name != "samples"}
        tracker.save_results_aggregated(results=results, samples=evaluated["samples"])
        for name, samples in evaluated["samples"].items():
            tracker.save_results_samples(task_name=name, samples=samples)
    return evaluated
