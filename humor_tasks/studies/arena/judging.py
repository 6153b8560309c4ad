"""The judges of an arena, and one round of battles as a run of Inspect: a sample is a battle in one order.

A judge with a prompt is any Inspect model. It is asked in both orders. A verdict is A, B or TIE, read as strictly as
everywhere (`scorers.preferred`). A model that scores single captions (`quality/`, `embedding/`, `baseline/`) is asked
once: the higher score wins, the mean score of ten captions; equal scores are a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, Model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from humor_tasks.contract.judging.questions import Verdict
from humor_tasks.contract.judging.rubrics import Judgement, Rubric, open_rubric
from humor_tasks.errors import BadInput
from humor_tasks.logs import read_run
from humor_tasks.logs.parts import added
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.on_inspect.client import open_model, register_prices
from humor_tasks.on_inspect.errors import first_exception
from humor_tasks.on_inspect.judging.graders import GraderSettings, in_words, verdict_of
from humor_tasks.on_inspect.judging.refusals import Standing
from humor_tasks.on_inspect.messages import prompt_messages
from humor_tasks.on_inspect.solver_parts import left_to_judges
from humor_tasks.rows.records import Prompt
from humor_tasks.scorers.preferred import WORDS
from humor_tasks.studies.arena.players import Battle, Key, Roster, Scene, Show, as_text
from humor_tasks.studies.arena.store import LOGS, Store, StoredVerdict
from humor_tasks.studies.captions.placing import check_scores_captions

JUDGEMENTS = {show: Judgement(f"{show}.txt", ("first", "second", "format"), WORDS) for show in ("best", "ten")}
FAMILY = "arena"
AT_ONCE = 100
"""Samples in progress at a time; a model's own limit of connections is lower. With batches: all of a round."""


class Judge(Protocol):
    """A judge. ordered: whether its verdict may depend on what is shown first, so that both orders are asked."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def ordered(self) -> bool:
        """See Judge."""
        ...

    @property
    def left_out(self) -> Sequence[str]:
        """The settings that it is not sent, because its provider refuses them."""
        ...

    async def verdict(self, stage: Roster, key: Key) -> Verdict:
        """Its verdict on a battle in one order."""
        ...

    def check(self, stage: Roster) -> None:
        """Raise BadInput where it cannot judge what a contest shows."""
        ...


@dataclass(frozen=True)
class PromptedJudge:
    """A model that reads the question."""

    model: Model
    rubric: Rubric
    how: GraderSettings
    ordered: bool = True
    standing: Standing = field(default_factory=Standing, repr=False)

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self.model)

    @property
    def left_out(self) -> Sequence[str]:
        """See Judge."""
        return self.standing.left_out

    async def verdict(self, stage: Roster, key: Key) -> Verdict:
        """See Judge."""
        form = in_words(self.rubric.judgement, self.how.structured)
        asked = messages(self.rubric, stage, key, self.how.structured)
        return await verdict_of(self.model, asked, form, self.how, self.standing)

    def check(self, stage: Roster) -> None:
        """See Judge."""


@dataclass(frozen=True)
class ScoringJudge:
    """A model that scores single captions. All captions that players show in a contest are scored at once."""

    name: str
    chooser: Chooser
    ordered: bool = False
    left_out: Sequence[str] = ()
    _scores: dict[str, dict[str, float]] = field(default_factory=dict, repr=False)

    async def verdict(self, stage: Roster, key: Key) -> Verdict:
        """See Judge."""
        scene, *sides = stage.shown(key)
        scores = self._scores.get(scene.contest) or self._scores.setdefault(scene.contest, self._score(stage, scene))
        first, second = (sum(scores[text] for text in texts) / len(texts) for texts in sides)
        equal = math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
        word = "tie" if equal else "A" if first > second else "B"
        return Verdict(self.name, word, "answered", f"score {first:.4g} against {second:.4g}")

    def check(self, stage: Roster) -> None:
        """See Judge."""
        for scene in stage.scenes.values():
            question = self._question(stage, scene)
            if len(question.choices) > 1:
                self.chooser.check(question)

    def _score(self, stage: Roster, scene: Scene) -> dict[str, float]:
        question = self._question(stage, scene)
        (scores,) = self.chooser.score([question])
        return dict(zip(question.choices, scores, strict=True))

    def _question(self, stage: Roster, scene: Scene) -> Question:
        contest = scene.contest
        shown = (text for player in stage.players.values() for text in player.captions.get(contest, ()))
        return Question(contest, scene.words, tuple(dict.fromkeys(shown)), picture=scene.picture, cluster=contest)


def question(show: Show, prompts: str | None) -> Rubric:
    """The judges' question. prompts: a prompt set, or a folder of templates. Raises BadInput where there is none."""
    return open_rubric(FAMILY, prompts, JUDGEMENTS[show])


def open_judges(
    names: Sequence[str],
    model_args: Sequence[str] = (),
    show: Show = "best",
    prompts: str | None = None,
    batch: bool = False,
    **how: bool,
) -> list[Judge]:
    """The judges of these names. prompts: a prompt set, or a folder of templates. how: of GraderSettings.

    Raises BadInput for none, for one named twice, and for a model that cannot judge.
    """
    if not names:
        raise BadInput("an arena needs a judge; name one with --judge.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadInput(f"--judge: {twice[0]} is named twice; its verdicts would be the same.")
    rubric, settings = question(show, prompts), GraderSettings(**how)
    judges: list[Judge] = []
    for name in names:
        model = open_model(name, model_args)
        chooser: Chooser | None = getattr(model.api, "chooser", None)
        if chooser is None or chooser.reads_prompt:
            model.config = model.config.model_copy(update={"batch": True}) if batch else model.config
            judges.append(PromptedJudge(model, rubric, settings))
        else:
            check_scores_captions(chooser)
            judges.append(ScoringJudge(name, chooser))
    return judges


def messages(rubric: Rubric, stage: Roster, key: Key, as_json: bool = False) -> list[ChatMessage]:
    """The question to a judge. The captions are escaped as untrusted text."""
    scene, *sides = stage.shown(key)
    first, second = map(as_text, sides)
    asked = rubric.ask({"context": scene.words, "first": first, "second": second}, as_json)
    turns = (*asked.turns[:-1], replace(asked.turns[-1], picture=scene.picture))
    return prompt_messages(Prompt(turns), pictures=scene.picture is not None)


# ---- a round --------------------------------------------------------------------------------------


def wanted(battles: Iterable[Battle], judges: Sequence[Judge], store: Store, stage: Roster) -> list[Key]:
    """The verdicts on these battles that the store lacks. Players that show the same captions are not asked about."""
    keys = []
    for battle in battles:
        if stage.same(battle):
            continue
        contest, one, other = battle
        for judge in judges:
            keys += [Key(contest, one, other, judge.name)]
            keys += [Key(contest, other, one, judge.name)] if judge.ordered else []
    return [key for key in keys if store.get(key) is None]


def ask(keys: Sequence[Key], judges: Sequence[Judge], store: Store, stage: Roster, show: Show) -> None:
    """Get these verdicts and keep each in the store as it comes in. The Inspect log goes to the arena's folder.

    Raises BadInput where the run does not finish; the verdicts that came in are kept.
    """
    if not keys:
        return
    register_prices()
    rubric = next((j.rubric for j in judges if isinstance(j, PromptedJudge)), question(show, None))
    by_order: dict[tuple[str, str, str], list[str]] = {}
    for key in keys:
        by_order.setdefault(key[:3], []).append(key.judge)
    samples = [_sample(rubric, stage, order, names) for order, names in by_order.items()]
    task = Task(
        name="arena",
        dataset=MemoryDataset(samples, name="arena"),
        solver=left_to_judges(),
        scorer=_verdicts({judge.name: judge for judge in judges}, store, stage),
    )
    batched = any(isinstance(judge, PromptedJudge) and judge.model.config.batch for judge in judges)
    try:
        logs = eval(
            task,
            model="none/none",
            log_dir=str(store.folder / LOGS),
            max_samples=len(samples) if batched else AT_ONCE,
        )
    except OSError as problem:
        raise BadInput(f"{store.folder}: the log cannot be written ({problem}).") from None
    if not logs:  # after Ctrl-C
        raise BadInput(f"{store.folder}: the round was interrupted. Run the command again.")
    log = logs[0]
    if log.status != "success":
        why = f": {' '.join(log.error.message.split())}" if log.error else ""
        raise BadInput(
            f"{store.folder}: the round ended with status {log.status}{why}. Once that is put right, run the command "
            "again; it asks only for what is missing."
        )


def _sample(rubric: Rubric, stage: Roster, order: tuple[str, str, str], judges: Sequence[str]) -> Sample:
    key = Key(*order, judges[0])
    about = {"contest": key.contest, "first": key.first, "second": key.second, "judges": list(judges)}
    named = " | ".join(name.replace("|", "\\|") for name in order)  # names with a bar stay apart from each other
    return Sample(id=named, input=messages(rubric, stage, key), metadata=about)


@scorer(metrics=[], name="battle")
def _verdicts(judges: Mapping[str, Judge], store: Store, stage: Roster) -> Scorer:
    """The verdicts of the sample's judges on its battle."""

    async def one(key: Key) -> Verdict:
        judge = judges[key.judge]
        verdict = await judge.verdict(stage, key)
        left_out = ",".join(judge.left_out)
        store.keep(key, StoredVerdict(verdict.word, verdict.status, verdict.reasons, verdict.reply, left_out))
        return verdict

    async def score(state: TaskState, target: Target) -> Score:
        known = state.metadata
        keys = [Key(known["contest"], known["first"], known["second"], name) for name in known["judges"]]
        try:
            verdicts = await collect(*(one(key) for key in keys))
        except ExceptionGroup as problems:
            raise first_exception(problems) from None
        words = [verdict.word or verdict.status for verdict in verdicts]
        told = "\n\n".join(
            f"{v.grader}: {word}. {v.reasons or v.reply or ''}" for v, word in zip(verdicts, words, strict=True)
        )
        value = words[0] if len(words) == 1 else {v.grader: word for v, word in zip(verdicts, words, strict=True)}
        reason = next((v.status for v in verdicts if v.word is None), None)
        return Score(
            value=value, answer=", ".join(words), explanation=told, metadata={"reason": reason} if reason else {}
        )

    return score


def left_out(store: Store) -> dict[str, str]:
    """Judge -> the settings that some of its verdicts were asked for without, because its provider refuses them."""
    return {key.judge: kept.left_out for key, kept in store.kept.items() if kept.left_out}


def usage(store: Store) -> dict[str, str]:
    """Model -> its tokens and cost in the logs of all finished rounds, in words. Cached verdicts cost nothing."""
    logs = [path for path in sorted((store.folder / LOGS).glob("*.*")) if path.suffix in (".eval", ".json")]
    return {
        model: f"{used.all_input:,} tokens in, {used.output:,} out"
        + ("" if used.cost is None else f", ${used.cost:,.2f}")
        for model, used in added(read_run(log, finished=None).models for log in logs).items()
    }
