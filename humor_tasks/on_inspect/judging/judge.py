"""The scorer of every judged benchmark: it puts the questions of `Judging` to graders and scores their verdicts."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import Model
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks.preference import judging_of
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.judging.questions import (
    JUDGED,
    ByAnswer,
    Judging,
    Panel,
    Question,
    logged,
)
from humor_tasks.contract.judging.rubrics import SETS, Rubric
from humor_tasks.contract.options import ALL
from humor_tasks.contract.prompts import folder_of
from humor_tasks.contract.variations import Variation
from humor_tasks.errors import BadInput
from humor_tasks.logs.record import TaskMetadata
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.hooks import warn_when_tasks_end
from humor_tasks.on_inspect.judging.asking import Standings, ask
from humor_tasks.on_inspect.judging.graders import ALL_SETS, GraderSettings, Requests, RubricSettings, resolve
from humor_tasks.on_inspect.judging.refusals import OURS, Standing
from humor_tasks.on_inspect.messages import in_thread
from humor_tasks.on_inspect.outcomes import opened_for
from humor_tasks.on_inspect.replies import reply_of
from humor_tasks.on_inspect.scorers import score_of
from humor_tasks.rows.records import VARIATION


class Judge:
    """A scorer.

    name: its public name. like: the benchmark that samples of other packages' tasks are taken for. grader: the models
    that judge; None for those of the role `grader`. how: the settings of requests. prompts: folder of templates that
    replace packaged ones. as_in_task: whether the task's `structured` takes the place of that of `how`.
    data: of the task's run, where the scorer was made for a task; a log is judged without it.
    """

    def __init__(
        self,
        name: str,
        like: str | Benchmark[Any],
        grader: str | list[str] | None,
        how: Requests,
        prompts: str | None = None,
        as_in_task: bool = False,
    ) -> None:
        register_prices()
        warn_when_tasks_end()
        self.name, self.like, self.grader, self.how = name, like, grader, how
        self.prompts, self.as_in_task = prompts, as_in_task
        if prompts and isinstance(how, RubricSettings) and how.grader_prompts:
            cannot_run(f"{name}: prompts={prompts} and {SETS}={how.grader_prompts} name the same templates; give one.")
        self.data: Data | None = None
        self.standings: defaultdict[str, Standing] = defaultdict(Standing)  # by grader, of this run

    async def __call__(self, state: TaskState, target: Target) -> Score:
        """The score of a sample's reply."""
        run, held = opened_for(self.name, state, self.like)
        judging = judging_of(run)
        assert judging is not None  # others are refused
        try:
            how, rubrics, hashes = self._opened(run, judging, held)
            run = run if self.data is None else dataclasses.replace(run, data=self.data)
            reply = reply_of(run, judging, held, state, target)
            questions = await in_thread(judging.questions, run, reply, rubrics)
        except BadInput as problem:
            cannot_run(f"sample {state.sample_id}: {problem}")
        judges = resolve(self.grader)
        thinking = run.options.thinking  # may be that of the judges, too
        panels = await ask(judges, questions, judging.shows_media, how, state, self.standings, thinking)
        if self.data is not None and (entry := state.metadata.get("humor_tasks")) is not None:
            # the reply's facts, because those that need the data cannot be found in a log
            state.metadata["humor_tasks"] = {**entry, "facts": {**entry["facts"], **reply.outcome.facts}}
        outcome = judging.outcome(run, reply.outcome, panels)
        value = judging.value(outcome)
        return score_of(
            outcome,
            value,
            _explanation(judging, questions, panels),
            missing=judging.missing_reason(outcome) if value is None else None,
            **{JUDGED: logged(judging, panels)},
            signature=str(_signature(judges, how, hashes, questions, self.standings)),
        )

    def _opened(
        self, run: Run[Any], judging: Judging[Any], held: TaskMetadata
    ) -> tuple[Requests, list[Rubric], list[str]]:
        """The settings, the rubrics of this sample, and the hashes of those of all samples."""
        how = self.how
        if self.as_in_task and isinstance(how, GraderSettings):
            how = dataclasses.replace(how, structured=held.options.get("structured", False))
        chosen, first = (how.grader_prompts, how.judge_first) if isinstance(how, RubricSettings) else (None, "none")
        if run.judged_under:
            if chosen not in (None, ALL):
                sets = ", ".join(run.judged_under)
                raise BadInput(f"{SETS}={chosen}: its reply is judged under sets {sets}; leave {SETS} out.")
            how = dataclasses.replace(how, grader_prompts=ALL) if isinstance(how, RubricSettings) else how
            asked = Variation(**held.facts[VARIATION])
            return how, judging.open(asked.prompts, first), judging.hashes(run.judged_under, first)
        if chosen == ALL:
            raise BadInput(ALL_SETS)
        name = SETS if chosen else "prompts"
        rubrics = judging.open(chosen or self.prompts or folder_of(run.options.prompts), first, name)
        return how, rubrics, [rubric.hash for rubric in rubrics]


# ---- the score ------------------------------------------------------------------------------------


def _explanation(judging: Judging[Any], questions: Sequence[Question], panels: Sequence[Panel]) -> str:
    """The verdict and the reasons of every judge, a line each."""
    lines: list[str] = []
    for question, panel in zip(questions, panels, strict=True):
        if question.title:
            verdict = judging.panel(panel.words) if panel.verdicts else None
            lines.append(f"{_word(verdict)}: {question.title}")
        mark = "- " if question.title else ""
        lines += [f"{mark}{v.grader}, {_word(v.word)}: {v.reasons}" for v in panel.verdicts]
    return "\n".join(lines)


def _word(word: Any) -> str:
    if isinstance(word, bool):
        return "PASS" if word else "FAIL"
    return "no verdict" if word is None else str(word)


def _signature(
    judges: Sequence[Model],
    how: Requests,
    hashes: Sequence[str],
    questions: Sequence[Question],
    standings: Standings,
) -> Signature:
    """Who judged, and how: for a score's metadata. hashes: of the rubrics.

    What was left out for all judges is signed as `none`; otherwise an entry has what each of them was not sent.
    """
    left_out = {str(judge): standings[str(judge)].left_out for judge in judges}
    of_all = [name for name in OURS if all(name in names for names in left_out.values())]
    lacking = [f"{judge}-{n}" for judge, names in left_out.items() for n in names if n not in of_all]
    others = dict.fromkeys(q.request.prompts for q in questions if isinstance(q.request, ByAnswer))
    prompts = ",".join([*hashes, *others])
    about = {"graders": ",".join(map(str, judges)), **how.without(of_all).signature_entries()}
    about |= {"left_out": ",".join(lacking)} if lacking else {}
    return Signature(about | ({"prompts": prompts} if prompts else {}))
