"""Comparison of a judge with human votes on the same pairs of explanations.

The judge's verdicts are read from a log of humor_tasks/explanation_preference; a pair whose two orders disagree is a
tie. The human verdict is the majority of the votes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.benchmarks.preference import EXPLANATION_PREFERENCE
from humor_tasks.contract.judging.missing import BOUNDS, MISSING, missing_warning
from humor_tasks.contract.judging.pairs import FIRST_SHOWN, INCONSISTENT, SIDES, VERDICTS, pairs_of
from humor_tasks.contract.judging.questions import panels_in
from humor_tasks.contract.variations import variation_of
from humor_tasks.errors import BadInput, check_choice, listed
from humor_tasks.logs import LoggedSample, read_run
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.agreement import gwet_ac1, raw_agreement
from humor_tasks.scorers.annotators import human_ceiling
from humor_tasks.scorers.correction import ENOUGH, prediction_powered
from humor_tasks.scorers.estimate import Estimate, clustered_mean
from humor_tasks.scorers.preference import length_controlled_win_rate, paired_difference, win_rate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.studies.people.agreement import PREFERENCE, WORTH, Agreed, Question, first_shown
from humor_tasks.studies.people.items import same_text
from humor_tasks.studies.people.votes import TIE, Vote, votes_table

# Model family -> pattern in a part of the model's name, the last part first, for names such as openai/gpt-4o,
# together/meta-llama/Llama-3-8b and gpt4-explanations.
FAMILIES = {
    "gpt": r"gpt|davinci|^o\d+(?!\w)|^openai$",
    "claude": r"claude|^anthropic$",
    "gemini": r"gemini|gemma|^google$",
    "deepseek": "deepseek",
    "qwen": r"qwen|qwq",
    "llama": "llama",
    "mistral": r"mi[sx]tral|ministral",
    "grok": "grok",
    "command": r"^command|^aya|^cohere$",
    "phi": r"^phi-?\d",
}


@dataclass(frozen=True)
class JudgedPair:
    """A pair of the log: both texts, the system's first (empty where the log does not hold them), and the outcomes."""

    id: str
    texts: tuple[str, str]
    outcomes: tuple[Outcome, ...]

    @property
    def cluster(self) -> str:
        """The pair's cluster, such as its contest."""
        return self.outcomes[0].cluster

    @property
    def verdict(self) -> str | None:
        """ "system", "against" or "tie"; None unless every order has a verdict."""
        return self._preferred(self.outcomes)

    def filled(self, wins: bool) -> str | None:
        """`verdict` with each missing verdict counted as won or as lost by the system."""
        return self._preferred([VERDICTS.filled(outcome, wins) for outcome in self.outcomes])

    @staticmethod
    def _preferred(outcomes: Sequence[Outcome]) -> str | None:
        return pairs_of(outcomes)[0].preferred

    @property
    def lengths(self) -> tuple[float, float]:
        """Lengths in characters, the system's first."""
        system, against = self.outcomes[0].facts["lengths"]
        return float(system), float(against)


@dataclass(frozen=True)
class JudgeLog:
    """One finished run. `pairs` are the pairs shown to a judge; `settled` is the number of the other pairs."""

    path: Path
    judges: tuple[str, ...]
    models: tuple[str, str]
    pairs: Mapping[str, JudgedPair]
    settled: int


def read_judge_log(path: Path) -> JudgeLog:
    """A log of humor_tasks/explanation_preference.

    Raises BadInput for a log of another task, an unfinished log, several epochs and a log without judged pairs.
    """
    run = read_run(path, EXPLANATION_PREFERENCE.name, one_epoch="keep one verdict a question (--epochs 1).")
    pairs: dict[str, JudgedPair] = {}
    judges: dict[str, None] = {}
    settled = set()
    for sample in run.samples:
        score = sample.scored_by("preference")
        if score is None or score.outcome is None:
            raise BadInput(f"{sample.where} has no score of preference.")
        if variation_of(score.outcome).prompts:
            raise BadInput(f"{path}: judges each pair under several prompt sets; give a log of one (prompts=A).")
        identity = sample.groups.get("pair_id", sample.id)
        if sample.groups.get("settled"):
            settled.add(identity)
            continue
        words = [verdict for panel in panels_in(score.details, sample.where) or () for verdict in panel.verdicts]
        judges |= dict.fromkeys(verdict.grader for verdict in words)
        before = pairs[identity].outcomes if identity in pairs else ()
        pairs[identity] = JudgedPair(identity, _texts(sample), (*before, score.outcome))
    if not pairs:
        raise BadInput(f"{path}: holds no pair that a judge was asked about.")
    system, against = (str(run.source.get(f"{side}_model", side)) for side in SIDES)
    return JudgeLog(path, tuple(judges), (system, against), pairs, len(settled))


def _texts(sample: LoggedSample) -> tuple[str, str]:
    texts = str(sample.fields.get("first", "")), str(sample.fields.get("second", ""))
    return texts if sample.groups.get("first") == SIDES[0] else texts[::-1]


def family(model: str) -> str:
    """The family of a model, inferred from its name; a model of unknown family forms its own."""
    for part in reversed(model.lower().split("/")):
        for name, words in FAMILIES.items():
            if re.search(words, part):
                return name
    return model.lower()


# ---- comparison ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """A judge and the human votes on one question.

    own: the side whose explainer is of the judge's family, "" for neither or both. pairs: the number of pairs with a
    verdict and votes. estimates: over these pairs and clustered by the log's clusters, except for unread, the win rates
    and prediction_powered; `agreement_report.LEGEND` says what each is. prediction_powered needs the pairs with votes
    to be a random sample of those with a verdict.
    """

    judge: str
    question: str
    systems: tuple[str, str]
    own: str
    pairs: int
    estimates: dict[str, Estimate]
    notes: tuple[str, ...]


def against_people(
    questions: Sequence[Agreed], logs: Sequence[JudgeLog], explainers: Mapping[str, str] | None = None
) -> list[Comparison]:
    """Compare every log with every question that has pairs in common with it (the same ids and texts in PAIRS).

    `explainers` name the authors of A and B; they override the log. Raises BadInput for a log without such a question.
    """
    for side in explainers or {}:
        check_choice("explainer", side, ("A", "B"))
    comparisons: list[Comparison] = []
    for log in logs:
        preferences = [agreed for agreed in questions if agreed.question.kind == PREFERENCE]
        of_log = [one for agreed in preferences if (one := _compare(agreed, log, explainers or {}))]
        if not of_log:
            raise BadInput(
                f"{log.path}: judges no pair that people voted on: no id and pair of texts is that of a vote's item. "
                f"It compares {log.models[0]} with {log.models[1]}; its ids are such as {next(iter(log.pairs))}."
            )
        comparisons += of_log
    return comparisons


@dataclass(frozen=True)
class _Words:
    """The verdicts of judge and majority on a question's pairs (A, B or tie); `shared` lists the pairs with both."""

    question: Question
    majority: Mapping[str, str]
    verdicts: Mapping[str, str]
    pairs: Mapping[str, JudgedPair]
    turned: bool

    @property
    def shared(self) -> list[str]:
        return [i for i in self.majority if i in self.verdicts]

    def clusters(self, ids: Iterable[str]) -> list[str]:
        return [self.pairs[i].cluster for i in ids]

    def votes(self) -> list[Vote]:
        known = set(self.shared)
        return [vote for vote in self.question.votes if vote.item in known]


def _compare(agreed: Agreed, log: JudgeLog, explainers: Mapping[str, str]) -> Comparison | None:
    question = agreed.question
    turned, other = _turned(question, log)
    if turned is None:
        return None
    sides = dict(zip(SIDES[::-1] if turned else SIDES, ("A", "B"), strict=True)) | {"tie": TIE}
    pairs = {i: pair for i, pair in log.pairs.items() if i not in other}
    verdicts = {i: sides[word] for i, pair in pairs.items() if (word := pair.verdict)}
    words = _Words(question, agreed.majority, verdicts, pairs, turned)
    systems = log.models[::-1] if turned else log.models
    own_side = _own(log.judges, (explainers.get("A", systems[0]), explainers.get("B", systems[1])))
    asked = [i for i in agreed.majority if i in pairs]
    unread = clustered_proportion([float(i not in verdicts) for i in asked], words.clusters(asked))
    corrected, notes = _win_rates(words, asked)
    bounds = _bounds(words, sides)
    notes += _missing(words, bounds) if words.verdicts else []
    if other:
        notes.append(f"{listed('pair', other)} left out: the annotators saw other texts than the judge.")
    if log.settled:
        about = f"{log.settled} of the log's pairs"
        notes.append(f"the judge was not asked about {about} (the same text twice, or an empty one); left out.")
    who = ", ".join(log.judges)
    return Comparison(
        who,
        question.name,
        question.systems or systems,
        own_side,
        len(words.shared),
        _agreement(words) | _biases(words, own_side) | {"unread": unread} | corrected | bounds,
        tuple(f"{who} on {question.name}: {note}" for note in notes),
    )


def _turned(question: Question, log: JudgeLog) -> tuple[bool | None, list[str]]:
    """Whether option A is the log's `against` (None where no pair matches), and the ids with different texts."""
    by_order: dict[bool | None, list[str]] = {}
    for identity in (i for i in log.pairs if i in question.items):
        texts = [same_text(text) for text in log.pairs[identity].texts]
        options = [same_text(option) for option in question.items[identity].options]
        order = False if options == texts else True if options == texts[::-1] else None
        by_order.setdefault(order, []).append(identity)
    if True in by_order and False in by_order:
        raise BadInput(
            f"{question.name}: option A is {log.models[0]}'s in item {by_order[False][0]} and {log.models[1]}'s in "
            f"{by_order[True][0]}; keep one order of the options, since raters see them shuffled anyway."
        )
    known = next((order for order in by_order if order is not None), None)
    return known, by_order.get(None, [])


def _own(judges: Sequence[str], explainers: tuple[str, str]) -> str:
    families = {family(judge) for judge in judges}
    sides = [side for side, model in zip("AB", explainers, strict=True) if {family(model)} == families]
    return sides[0] if len(sides) == 1 else ""


def _agreement(words: _Words) -> dict[str, Estimate]:
    both = [[words.verdicts[i], words.majority[i]] for i in words.shared]
    clusters = words.clusters(words.shared)
    decided = [
        (float(one == other), c) for (one, other), c in zip(both, clusters, strict=True) if TIE not in (one, other)
    ]
    items, _, rows = votes_table(words.votes())
    return {
        "accuracy": clustered_proportion([same for same, _ in decided], [cluster for _, cluster in decided]),
        "gwet_ac1": gwet_ac1(both, clusters, sorted({"A", "B"}.union(*both))),
        "raw_agreement": raw_agreement(both, clusters),
        "human_ceiling": human_ceiling(rows, words.clusters(items)),
    }


def _biases(words: _Words, own_side: str) -> dict[str, Estimate]:
    shared, clusters = words.shared, words.clusters(words.shared)
    outcomes = [outcome for i in shared for outcome in words.pairs[i].outcomes]
    lengths = [words.pairs[i].lengths for i in shared]
    a, b = ([pair[k] for pair in lengths] for k in ((1, 0) if words.turned else (0, 1)))
    estimates = {FIRST_SHOWN.name: FIRST_SHOWN.over(outcomes)}
    estimates |= {"people_first_shown": first_shown(words.question, words.votes())}
    estimates |= {INCONSISTENT.name: INCONSISTENT.over(outcomes)}
    worth = {}
    for who, said in (("", words.verdicts), ("people_", words.majority)):
        worth[who] = [WORTH[said[i]] for i in shared]
        estimates[f"{who}length_effect"] = length_controlled_win_rate(worth[who], a, b, clusters).length_effect
        decided = [k for k, value in enumerate(worth[who]) if value != WORTH[TIE] and a[k] != b[k]]
        longer = [float((worth[who][k] == 1) == (a[k] > b[k])) for k in decided]
        estimates[f"{who}longer"] = clustered_proportion(longer, [clusters[k] for k in decided])
    differ = {"A": ("", "people_"), "B": ("people_", "")}.get(own_side)
    unknown = clustered_mean([math.nan] * len(shared), clusters)
    estimates["self_preference"] = paired_difference(*(worth[who] for who in differ), clusters) if differ else unknown
    return estimates


def _bounds(words: _Words, sides: Mapping[str, str]) -> dict[str, Estimate]:
    """The share of missing verdicts; where there are any, accuracy and A's win rate with them counted as in BOUNDS."""
    (share,) = VERDICTS.metrics(())
    estimates = {MISSING: share.over([outcome for pair in words.pairs.values() for outcome in pair.outcomes])}
    if not estimates[MISSING].value:
        return estimates
    for suffix, passes in BOUNDS.items():
        filled = {i: pair.filled(passes != words.turned) for i, pair in words.pairs.items()}
        asked = {i: sides[word] for i, word in filled.items() if word}  # --limit may leave an order out
        right = {
            i: float(passes if i not in words.verdicts else words.verdicts[i] == words.majority[i])
            for i in asked
            if TIE not in (words.majority.get(i, TIE), words.verdicts.get(i))
        }
        estimates[f"accuracy_{suffix}"] = clustered_proportion(list(right.values()), words.clusters(right))
        estimates[f"judge_win_rate_{suffix}"] = win_rate(
            [WORTH[said] for said in asked.values()], words.clusters(asked)
        )
    return estimates


def _missing(words: _Words, bounds: Mapping[str, Estimate]) -> list[str]:
    """A note with the number of missing verdicts, and the warning where they are many."""
    outcomes = [outcome for pair in words.pairs.values() for outcome in pair.outcomes]
    missing, of = sum(map(VERDICTS.missing, outcomes)), sum(map(VERDICTS.requested, outcomes))
    warning = missing_warning({name: e.value for name, e in bounds.items()})
    return [f"{missing:.0f} of {of:.0f} verdicts are missing. {warning or ''}".rstrip()] if missing else []


def _win_rates(words: _Words, asked: Sequence[str]) -> tuple[dict[str, Estimate], list[str]]:
    """The win rates and notes; `asked` are the log's pairs with votes, with or without a verdict."""
    shared = words.shared
    rest = [i for i in words.verdicts if i not in words.majority]
    human, judged = ([WORTH[said[i]] for i in shared] for said in (words.majority, words.verdicts))
    clusters, others = words.clusters(shared), words.clusters(rest)
    unlabelled = [WORTH[words.verdicts[i]] for i in rest]
    estimates = {
        "judge_win_rate": win_rate(unlabelled + judged, others + clusters),
        "people_win_rate": win_rate([WORTH[words.majority[i]] for i in asked], words.clusters(asked)),
    }
    if not words.verdicts:
        return estimates, [
            f"no verdict could be read, on any of {len(words.pairs)} pairs; this judge cannot be evaluated."
        ]
    notes = []
    if unread := len(asked) - len(shared):
        which = f"{unread} of {len(asked)} pairs with votes have no verdict"
        notes.append(f"{which}; all but people_win_rate and unread leave them out, prediction_powered too.")
    try:
        clusters_of = {"clusters": others, "human_clusters": clusters}
        estimates["prediction_powered"] = prediction_powered(unlabelled, judged, human, **clusters_of, proportion=True)
    except BadInput as problem:
        notes.append(str(problem))
    if len(shared) < ENOUGH:
        notes.append(
            f"{len(shared)} pairs with votes and a verdict: below {ENOUGH} prediction_powered's interval is too narrow."
        )
    return estimates, notes
