"""What an Inspect log's plan and settings say of the questions beside the task: solvers, system message, sampling.

A task's signature is made before Inspect knows the solver and the model. Here the log's header completes it, also for
solvers of other packages. This package's own solvers write what they change into the signature of each sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inspect_ai.log import EvalLog, EvalPlanStep, EvalSample
from inspect_ai.model import GenerateConfig

from humor_tasks.data.logs.metadata import about
from humor_tasks.data.signature import Signature, digest

OURS = "humor_tasks/"
CHANGING = (f"{OURS}chain_of_task", f"{OURS}describe_first")
"""The solvers of this package that change the question; its others are steps of its tasks."""
EXPECTED = f"{OURS}expected_answer"
"""The solver of `estimate=expected`, which reads another answer from the same question."""
UNSEEN = {
    *("max_connections", "adaptive_connections", "max_retries", "timeout", "attempt_timeout", "batch"),
    *("cache", "cache_prompt", "logprobs", "top_logprobs", "system_message", "fallback_models"),
}
"""Settings on which no answer depends, and the system message, which has an entry of its own."""


def signature_of(log: EvalLog, samples: Iterable[EvalSample]) -> Signature:
    """The signature of the run, with entries for all that the plan and the settings change of the plain task.

    The entries are `solver` (names of steps with the digest of their arguments), `system_message` (its digest) and
    `generation` (settings of the model that the task does not prescribe). A plain run has none of them.
    """
    told = log.eval.metadata or {}
    plain = Signature.parse(str(told.get("signature", "")))
    if not plain:
        return plain
    changing = any(step.solver in CHANGING for step in log.plan.steps)
    written = (about(sample.metadata).signature or plain for sample in samples) if changing else iter(())
    signature = next((each for each in written if each != plain), plain)  # a sample may have failed before its solver
    steps = list(_steps(log, signature, known=signature != plain))
    own = [signature["solver"]] if "solver" in signature else []
    entries = {"solver": "+".join((*own, *steps))} if steps else {}
    config = log.plan.config.merge(log.eval.model_generate_config)
    entries |= {"system_message": digest(config.system_message)} if config.system_message else {}
    prescribed = told.get("generation")
    prescribed = prescribed if isinstance(prescribed, Mapping) else {}
    given = {name: value for name, value in generation(config).items() if prescribed.get(name) != value}
    return signature.with_entries(entries).with_generation(given)


def _steps(log: EvalLog, signed: Signature, known: bool) -> Iterator[str]:
    """The steps of the plan that are not the task's own. known: whether samples tell what our solvers changed."""
    steps = [*log.plan.steps, *([log.plan.finish] if log.plan.finish else [])]
    expected = signed.get("estimate") == "expected"
    asks = [step for step in steps[:-1] if not step.solver.startswith(OURS) or _generates(step)]
    if steps and not expected and not asks and _is_plain(steps[-1]):
        steps.pop()
    for step in steps:
        if step.solver in CHANGING:
            if not known:
                yield f"{step.solver.removeprefix(OURS)}-{digest(step.params)}"
        elif step.solver == EXPECTED:
            if not expected:
                yield "expected_answer"
        elif _is_plain(step):
            yield "generate"
        elif not step.solver.startswith(OURS):
            params = {name: value for name, value in step.params.items() if value is not None}
            yield f"{step.solver}-{digest(params)}" if params else step.solver


def _is_plain(step: EvalPlanStep) -> bool:
    return step.solver in ("generate", "inspect_ai/generate") and not step.params.keys() - {"tool_calls", "cache"}


def _generates(step: EvalPlanStep) -> bool:
    """Whether a solver of this package that changes the question also asks it."""
    return step.solver in CHANGING and step.params.get("generates") is not False


def generation(config: GenerateConfig) -> dict[str, Any]:
    """The settings that answers depend on."""
    return config.model_dump(exclude_none=True, exclude=UNSEEN)
