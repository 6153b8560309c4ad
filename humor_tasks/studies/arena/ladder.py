"""From verdicts to a ladder: strengths, ranks, wins, and the judges' biases, agreement and exam on people's groups.

Every figure is clustered by contest. The strengths are those of `scorers.davidson`: natural log odds of being
preferred, with a tie parameter and an order effect for each judge.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput
from humor_tasks.scorers.agreement import raw_agreement
from humor_tasks.scorers.bradley_terry import elo
from humor_tasks.scorers.davidson import Fit, davidson
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.krippendorff import krippendorff_alpha
from humor_tasks.scorers.powered_strengths import powered_strengths
from humor_tasks.scorers.preference import win_rate
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.rank_sets import apart, rank_sets, spent, together
from humor_tasks.studies.arena.players import ANCHOR, PEOPLE, Key, Roster, characters
from humor_tasks.studies.arena.store import Store, StoredVerdict

SAME = "same captions"
PERSON = "person/"
"""What the name of an annotator as a judge begins with."""
MEDIAN_ELO = 1000


@dataclass(frozen=True)
class Row:
    """One verdict as a row of the fit. result: for the player shown first; None where the verdict is missing.

    longer: the difference of the lengths of what both show, first minus second, in characters.
    """

    key: Key
    result: float | None
    longer: float
    status: str = "answered"


@dataclass(frozen=True)
class Standing:
    """A player on the ladder.

    strength: relative to the anchor, see `Ladder.anchor`; the intervals of all players hold
    together. ranks: the best and worst that it may have, all players' sets
    together at the level. controlled: its strength at equal length. bounds: its strength with each missing verdict
    on it counted as lost, and as won; equal to the strength where none is missing. win_rate: what the fit
    expects against all others, each as often. marked: "" or what a reader should know, such as that it is also a judge.
    """

    player: str
    strength: Estimate
    ranks: tuple[int, int]
    controlled: Estimate
    bounds: tuple[float, float]
    win_rate: Estimate
    battles: int
    contests: int
    length: float
    marked: str = ""

    @property
    def elo(self) -> tuple[float, float, float]:
        """The strength and its interval in Elo points: 400 more is preferred ten times in eleven."""
        e = elo(self.strength)
        return MEDIAN_ELO + e.value, MEDIAN_ELO + e.low, MEDIAN_ELO + e.high


@dataclass(frozen=True)
class JudgeReport:
    """A judge: its verdicts, what it prefers, and its exam.

    first_shown: the share of its decided verdicts for what is shown first; None where it is asked in one order.
    consistent: the share of battles in which both orders gave the same result. order_effect: in log odds. exam: the
    strength of the human group that the crowd rates highest over that of the lowest, by this judge alone. wrong: the
    pairs of human groups that its strengths order otherwise than the crowd, of all such pairs.
    """

    name: str
    verdicts: int
    missing: int
    ties: Estimate
    first_shown: Estimate | None
    consistent: Estimate | None
    order_effect: Estimate | None
    exam: Estimate | None
    wrong: tuple[int, int]

    @property
    def failed(self) -> bool:
        """Whether it has not been able to order the human groups' ends: the interval of `exam` is not above 0."""
        return self.exam is not None and not self.exam.low > 0


@dataclass(frozen=True)
class ByPeople:
    """Strengths by people's votes, relative to the mean player.

    alone: by the votes alone; None where these do not make a ladder, because there are too few. powered: with the
    models' verdicts on the battles that nobody voted on, by `scorers.powered_strengths`; None where votes lack a
    player. weight: of these verdicts, from 0 to 1.
    """

    votes: int
    raters: int
    alone: Mapping[str, Estimate] | None
    powered: Mapping[str, Estimate] | None
    weight: float = 0.0


@dataclass(frozen=True)
class Ladder:
    """Everything that is said of an arena, players with the strongest first.

    anchor: the player at 0; "" where strengths are relative to the mean of all. wins: (player, other) -> the mean
    result of the first against the second. apart: neighbours and whether they are apart at this look. longer: the
    effect of a standard deviation of length on the log odds. level: of all intervals.
    """

    standings: tuple[Standing, ...]
    judges: tuple[JudgeReport, ...]
    anchor: str
    wins: Mapping[tuple[str, str], Estimate]
    apart: tuple[tuple[str, str, bool], ...]
    agreement: Mapping[str, Estimate]
    longer: Estimate | None
    missing: int
    verdicts: int
    people: ByPeople | None = None
    level: float = 0.95


# ---- rows -----------------------------------------------------------------------------------------


def verdict_rows(store: Store, stage: Roster, votes: Mapping[Key, StoredVerdict] | None = None) -> list[Row]:
    """The verdicts on the battles of the arena, and a tie for each judge where both players show the same captions."""
    kept = store.kept
    rows = [_row(stage, key, verdict) for key, verdict in {**kept, **(votes or {})}.items()]
    judges = dict.fromkeys(key.judge for key in kept)
    same = [battle for battle in store.played if stage.same(battle)]
    rows += [_row(stage, Key(*battle, judge), StoredVerdict("tie", SAME)) for battle in same for judge in judges]
    return rows


def _row(stage: Roster, key: Key, verdict: StoredVerdict) -> Row:
    _, first, second = stage.shown(key)
    return Row(key, verdict.result, characters(first) - characters(second), verdict.status)


def fit_of(rows: Sequence[Row], by_length: bool = False) -> Fit:
    """The fit of the rows that have a result. Raises BadInput where none has."""
    read = [row for row in rows if row.result is not None]
    if not read:
        raise BadInput("no verdict of the judges could be read; the logs in the arena's folder hold their replies.")
    return davidson(
        [row.key.first for row in read],
        [row.key.second for row in read],
        [row.result for row in read if row.result is not None],
        [row.key.judge for row in read],
        [row.key.contest for row in read],
        ordered=_ordered(read),
        covariate=_scaled([row.longer for row in read]) if by_length else None,
    )


def _fit_of_some(rows: Sequence[Row]) -> Fit | None:
    """The fit of one judge's rows, or of people's; None where they are too few or do not join their players."""
    try:
        return fit_of(rows)
    except BadInput:
        return None


def _ordered(rows: Sequence[Row]) -> frozenset[str]:
    """The judges that saw each player first at times; one that scores single captions sees no order."""
    orders = {(row.key.judge, row.key.first < row.key.second) for row in rows}
    return frozenset(judge for judge, by_name in orders if (judge, not by_name) in orders)


def _scaled(longer: Sequence[float]) -> list[float]:
    """Differences of lengths in their standard deviations, squeezed as in length-controlled AlpacaEval."""
    spread = math.sqrt(sum(x * x for x in longer) / len(longer))
    return [math.tanh(x / spread) if spread else 0.0 for x in longer]


# ---- the ladder -----------------------------------------------------------------------------------


def ladder_of(
    store: Store, stage: Roster, level: float = 0.95, votes: Mapping[Key, StoredVerdict] | None = None
) -> Ladder:
    """The ladder of all verdicts in an arena, and of people's `votes`."""
    rows = verdict_rows(store, stage, votes)
    fit = fit_of(rows)
    anchor = ANCHOR if ANCHOR in fit.names else ""
    strengths, sets = together(fit, level, reference=anchor or None), rank_sets(fit, level)
    expected = fit.win_rates(level)
    varied = any(row.longer for row in rows)
    by_length = fit_of(rows, by_length=True) if varied else fit
    controlled = together(by_length, level, reference=anchor or None)
    bounds = {name: _bounds(rows, name, anchor, strengths[name].value) for name in fit.names}
    judges = dict.fromkeys(row.key.judge for row in rows)
    of_player: dict[str, list[Row]] = {}
    of_pair: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        for name, other in itertools.permutations(row.key[1:3]):
            of_player.setdefault(name, []).append(row)
            of_pair.setdefault((name, other), []).append(row)
    standings = [
        Standing(
            name,
            strengths[name],
            sets[name],
            controlled[name],
            bounds[name],
            expected[name],
            len({row.key.battle for row in of_player[name]}),
            len({row.key.contest for row in of_player[name]}),
            stage.players[name].length,
            "also a judge" if any(_same_model(name, judge) for judge in judges) else "",
        )
        for name in sorted(fit.names, key=lambda name: -strengths[name].value)
    ]
    missing = sum(row.result is None for row in rows)
    return Ladder(
        tuple(standings),
        tuple(_judge([row for row in rows if row.key.judge == name], name, level) for name in judges),
        anchor,
        {pair: _results(held, pair[0], level) for pair, held in of_pair.items()},
        tuple((p.stronger, p.weaker, p.apart) for p in apart(fit, spent(1 - level, max(len(store.rounds), 1)))),
        _agreement(rows, level),
        by_length.slope(level) if varied else None,
        missing,
        len(rows),
        _by_people(rows, level),
        level,
    )


def _by_people(rows: Sequence[Row], level: float) -> ByPeople | None:
    """People's own ladder, and what models add to it; None without votes."""
    votes = [row for row in rows if row.key.judge.startswith(PERSON)]
    if not votes:
        return None
    people, judged = _fit_of_some(votes), {row.key.battle for row in votes}
    about = len(votes), len({row.key.judge for row in votes})
    if people is None:
        return ByPeople(*about, None, None)
    of_models = [row for row in rows if not row.key.judge.startswith(PERSON)]
    part = [row for row in of_models if row.key.battle in judged]
    alone, partial, whole = people.strengths(None, level), _fit_of_some(part), _fit_of_some(of_models)
    if not (partial and whole and set(partial.names) == set(whole.names) == set(people.names)):
        return ByPeople(*about, alone, None)
    powered = powered_strengths(people, partial, whole, level)
    return ByPeople(*about, alone, powered.strengths, powered.weight)


def _same_model(player: str, judge: str) -> bool:
    """Whether a player has a judge's name, with or without the provider."""
    return player == judge or player.rpartition("/")[2] == judge.rpartition("/")[2]


def _bounds(rows: Sequence[Row], name: str, anchor: str, value: float) -> tuple[float, float]:
    """The strength of a player with each missing verdict on it counted as lost, and as won."""
    if not any(row.result is None and name in row.key[1:3] for row in rows):
        return value, value
    ends = []
    for won in (0.0, 1.0):
        filled = [
            Row(row.key, won if row.key.first == name else 1 - won, row.longer)
            if row.result is None and name in row.key[1:3]
            else row
            for row in rows
        ]
        ends.append(fit_of(filled).strengths(anchor or None)[name].value)
    return min(*ends, value), max(*ends, value)


def _results(rows: Sequence[Row], name: str, level: float) -> Estimate:
    """The mean result of a player's verdicts; a tie is one half."""
    read = [row for row in rows if row.result is not None]
    won = [row.result if row.key.first == name else 1 - row.result for row in read if row.result is not None]
    return win_rate(won, [row.key.contest for row in read], level)


# ---- judges ---------------------------------------------------------------------------------------


def _judge(rows: Sequence[Row], name: str, level: float) -> JudgeReport:
    read = [row for row in rows if row.result is not None]
    contests = [row.key.contest for row in read]
    ordered = bool(_ordered(read))
    decided = [row for row in read if row.result != 0.5]
    fit = _fit_of_some(read)
    exam, wrong = _exam(fit, level)
    return JudgeReport(
        name,
        len(rows),
        len(rows) - len(read),
        clustered_proportion([float(row.result == 0.5) for row in read], contests, level),
        clustered_proportion([row.result or 0.0 for row in decided], [row.key.contest for row in decided], level)
        if ordered
        else None,
        _consistency(read, level) if ordered else None,
        fit.order_effects(level).get(name) if fit else None,
        exam,
        wrong,
    )


def _consistency(read: Sequence[Row], level: float) -> Estimate:
    """The share of battles with both orders in which both gave the same result."""
    by_key = {row.key: row.result for row in read}
    same, contests = [], []
    for key, result in by_key.items():
        back = by_key.get(Key(key.contest, key.second, key.first, key.judge))
        if back is not None and result is not None and key.first < key.second:
            same.append(float(result == 1 - back))
            contests.append(key.contest)
    return clustered_proportion(same, contests, level)


def _exam(fit: Fit | None, level: float) -> tuple[Estimate | None, tuple[int, int]]:
    """A judge's order of the human groups; None where it compared fewer than two, or too few to be on one ladder."""
    groups = [name for name in PEOPLE.values() if fit and name in fit.names]
    if fit is None or len(groups) < 2:
        return None, (0, 0)
    values = fit.strengths(groups[-1], level)
    pairs = list(itertools.combinations(groups, 2))
    wrong = sum(values[better].value < values[other].value for better, other in pairs)
    return values[groups[0]], (wrong, len(pairs))


def _agreement(rows: Sequence[Row], level: float) -> dict[str, Estimate]:
    """The agreement of several judges on battles in one order; empty for one judge.

    A judge that is asked in one order counts in both.
    """
    judges = list(dict.fromkeys(row.key.judge for row in rows))
    if len(judges) < 2:
        return {}
    words = {row.key: row.result for row in rows}
    orders = dict.fromkeys(key[:3] for key in words)
    table = []
    for contest, first, second in orders:
        results = []
        for judge in judges:
            result = words.get(Key(contest, first, second, judge))
            back = words.get(Key(contest, second, first, judge))
            results.append(result if result is not None or back is None else 1 - back)
        table.append(results)
    contests = [order[0] for order in orders]
    return {
        "raw agreement": raw_agreement(table, contests, level=level),
        "Krippendorff's alpha": krippendorff_alpha(table, contests, metric="ordinal", level=level),
    }
