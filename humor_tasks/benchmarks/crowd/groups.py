"""Crowd groups: which of two groups of ten captions for one cartoon did the crowd find funnier?

Zhang et al. 2024, arXiv 2406.10522, Table 2; recalibration (`tau`) in appendix C.2.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from humor_tasks.benchmarks.caption_contest.corpus import FIXED_SCENE, letters
from humor_tasks.benchmarks.crowd import corpus
from humor_tasks.benchmarks.crowd.corpus import HUMAN_GROUPS, RANKS, TOP, worked_examples
from humor_tasks.benchmarks.crowd.metrics import FIT, METRICS, PEOPLE
from humor_tasks.contract.answers import Answer
from humor_tasks.contract.card import Uses, guessed
from humor_tasks.contract.choice import outcome as choice_outcome
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.options import absent, parameter
from humor_tasks.contract.prompts import Template, fill, split_turns
from humor_tasks.contract.variants import variants
from humor_tasks.errors import BadInput
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows import join_fingerprints
from humor_tasks.rows.contests.contest_csv import Contest
from humor_tasks.rows.records import Grouped, Outcome, Prompt, Record, Turn
from humor_tasks.scorers.verdict import as_data

Against = Literal["1000", "200", "median", "all"]
Mode = Literal["overall", "best_pick"]
BEST_PICK = {suffix: {"mode": "best_pick", **fixed} for suffix, fixed in corpus.LM_EVAL_SETTINGS.items()}
COMBINED: Mapping[Mode, Literal["mean", "max"]] = {"overall": "mean", "best_pick": "max"}
"""How a model that scores single captions scores a group."""


class Group(NamedTuple):
    """Captions of one contest under a name, in the order in which they are shown."""

    name: str
    captions: tuple[str, ...]


@dataclass(frozen=True)
class GroupsOptions(corpus.CrowdOptions):
    """Parameters of the groups."""

    scored = (*corpus.CrowdOptions.scored, "against", "mode", "tau")  # what selects the metrics and their parts

    against: Against = parameter(
        "1000",
        "Group that the top 10 is compared with: ranks 200-209 (`200`), 1000-1009 (`1000`, published), around the "
        "`median`, or each of them (`all`).",
        also=int,
    )
    mode: Mode = parameter(
        "overall",
        "`overall`: the funnier group, one letter without reasoning; `best_pick`: the group with the funnier best "
        "caption, with reasons.",
    )
    tau: str = parameter(
        "none",
        "Threshold of log P(A) - log P(B) for recalibrated answers: a number, `fit` on contests that are not "
        "evaluated, or `none`. Needs log-probabilities and mode=overall.",
        also=float,
    )
    fit_contests: int = parameter(
        50, "With tau=fit: number of other contests, at most, about which the judge is asked as well.", least=1
    )
    shots: int = parameter(
        0, "Number of worked examples in the prompt, each of two single captions; 5 as published.", least=0
    )
    seed: int = parameter(1234, "Seed of random guesses.")
    cot: bool | None = absent(None, "mode=best_pick gives reasons and mode=overall does not; leave cot out.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tau not in ("none", FIT) and not _is_number(self.tau):
            raise BadInput(f"tau must be a number, `{FIT}` or `none`, not {self.tau!r}.")
        if self.needs_logprobs and self.mode != "overall":
            raise BadInput(
                f"tau={self.tau} needs mode=overall: a reply with reasons has no log-probability of A and B."
            )

    @property
    def reasons(self) -> bool:
        """Whether the prompt asks for reasoning before the answer."""
        return self.mode == "best_pick"

    @property
    def needs_logprobs(self) -> str:
        """See Options."""
        return "" if self.tau == "none" else f"tau={self.tau}"

    @property
    def threshold(self) -> float | None:
        """The given tau; None if tau is not given or is fitted."""
        return float(self.tau) if _is_number(self.tau) else None

    @property
    def pairings(self) -> tuple[str, ...]:
        """The groups that the top 10 is compared with."""
        of = {"200": "rank200", "1000": "rank1000", "median": "median"}
        return tuple(of.values()) if self.against == "all" else (of[self.against],)

    @property
    def variant(self) -> str:
        """Mode and group, where they are not the default."""
        return "-".join(value for value in (self.against, self.mode) if value not in ("1000", "overall"))

    def for_likelihoods(self) -> dict[str, Any]:
        """Log-likelihoods of labels require a prompt without reasoning."""
        if self.reasons:
            raise BadInput("mode=best_pick requires a generated reply; this task compares log-likelihoods of answers.")
        return {}

    def without_effect(self) -> set[str]:
        """See Options."""
        return super().without_effect() | {"cot"} | (set() if self.tau == FIT else {"fit_contests"})


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# ---- groups -------------------------------------------------------------------------------------


def human_group(contest: Contest, name: str) -> Group | None:
    """One of HUMAN_GROUPS; None where the contest has not all ten captions of these ranks.

    An entry that is unusable (empty, undecodable, with personal data) has a rank and is no caption.
    """
    places = _places(contest, name)
    return None if places is None else Group(name, tuple(contest.caption[i] for i in places))


def human_groups(contest: Contest) -> dict[str, Group]:
    """Those of HUMAN_GROUPS that the contest has whole, by name."""
    groups = {name: human_group(contest, name) for name in HUMAN_GROUPS}
    return {name: group for name, group in groups.items() if group is not None}


def _places(contest: Contest, name: str) -> list[int] | None:
    """The indices of a group's captions in rank order."""
    first = RANKS[name](contest.entries)
    index = {place: i for i, place in enumerate(contest.place)}
    ranks = range(first, first + corpus.GROUP_SIZE)
    return [index[rank] for rank in ranks] if all(rank in index for rank in ranks) else None


def _why_not(contest: Contest, pairing: str) -> str:
    """Why the top 10 cannot be compared with a group; "" where it can."""
    sides = [_places(contest, name) for name in (TOP, pairing)]
    if any(places is None for places in sides) or RANKS[pairing](contest.entries) < corpus.GROUP_SIZE:
        return f"fewer than {corpus.GROUP_SIZE} usable captions in {TOP} or {pairing}"
    top, other = (math.fsum(contest.mean[i] or 0.0 for i in places or ()) for places in sides)
    return "" if top > other else f"{TOP} and {pairing} have equal ratings"


def group_record(
    cartoon: Record,
    better: Group,
    other: Group,
    first: str,
    options: GroupsOptions,
    groups: Mapping[str, str] | None = None,
) -> Record:
    """The question which of two groups of captions is the funnier one, in one order.

    cartoon: see `Cartoon.record`. better: the group that counts as the right answer. first: the name of the group that
    is shown as A. groups: more entries of `Record.groups`. The captions may be anyone's; a line break in one
    becomes a space.
    """
    pair_groups = (better, other) if first == better.name else (other, better)
    texts = tuple(tuple(" ".join(caption.split()) for caption in group.captions) for group in pair_groups)
    pair = f"{cartoon.cluster}-{other.name}"
    fields = {"first": numbered(texts[0]), "second": numbered(texts[1])}
    labels = {"pairing": other.name, "pair_id": pair, "first": first}
    return Record(
        id=f"{pair}-{first}-first",
        cluster=cartoon.cluster,
        fields={**cartoon.fields, **fields},
        context=cartoon.context,
        choices=("\n".join(texts[0]), "\n".join(texts[1])),
        target="A" if pair_groups[0] is better else "B",
        groups={**labels, **(groups or {})},
        picture=cartoon.picture,
        facts={"tau": options.threshold} if options.needs_logprobs else {},
        grouped=Grouped(texts, COMBINED[options.mode]),
    )


def both_orders(
    cartoon: Record, better: Group, other: Group, options: GroupsOptions, groups: Mapping[str, str] | None = None
) -> list[Record]:
    """`group_record` with each of the two groups shown first."""
    return [group_record(cartoon, better, other, first.name, options, groups) for first in (better, other)]


def numbered(captions: Sequence[str]) -> str:
    """Captions as a numbered list, escaped as untrusted text: each is one line, and its number begins it."""
    return "\n".join(f"{i}. {' '.join(as_data(caption).split())}" for i, caption in enumerate(captions, 1))


# ---- data ---------------------------------------------------------------------------------------


def load(benchmark: Benchmark[GroupsOptions], o: GroupsOptions) -> Data:
    """One record per contest, pairing and order; with tau=fit, also those of other contests, at the end."""
    crowd, records = _asked(corpus.open_crowd(o), o)
    provenance = crowd.provenance(len(records))
    if o.tau == FIT:
        more, asked = _asked(_other_contests(o, crowd), o, {"use": FIT})
        records += asked
        fit = more.provenance(len(asked))
        prints = [str(source["fingerprint"]) for source in (provenance, fit)]
        provenance |= {"rows": len(records), "fit_contests": len(more.cartoons)}
        provenance |= {"fingerprint": join_fingerprints(prints)}
    return Data(tuple(records), provenance, lambda fold: corpus.pool(o), drawn_examples=worked_examples(o, records))


def _asked(
    crowd: corpus.Crowd, o: GroupsOptions, groups: Mapping[str, str] | None = None
) -> tuple[corpus.Crowd, list[Record]]:
    """The records of these contests, and the contests that have at least one record to ask about."""
    left_out = {why: list(held) for why, held in crowd.left_out.items()}
    records: list[Record] = []
    apart: dict[str, list[int]] = {}
    for cartoon in crowd.cartoons:
        for pairing in o.pairings:
            if why := _why_not(cartoon.contest, pairing):
                apart.setdefault(why, []).append(cartoon.number)
            else:
                top, other = filter(None, (human_group(cartoon.contest, name) for name in (TOP, pairing)))
                records += both_orders(cartoon.record, top, other, o, groups)
    if apart:
        reasons = corpus.reasons_text(apart)
        warnings.warn(f"{o.dataset}, split {crowd.source.split}: pairs of groups left out: {reasons}.", stacklevel=4)
    clusters = {record.cluster for record in records}
    cartoons = tuple(cartoon for cartoon in crowd.cartoons if str(cartoon.number) in clusters)
    return dataclasses.replace(crowd, cartoons=cartoons, left_out=left_out | apart), records


def _other_contests(o: GroupsOptions, crowd: corpus.Crowd) -> corpus.Crowd:
    """The contests on which the threshold is fitted: the first by a hash of split train that can be shown.

    That split has no contest with the captions of a held-out one. Evaluated contests are never among them. Raises
    BadInput where none is left.
    """
    source = corpus.open_source(o, "train")
    available = {"description": source.scenes, "pixels": source.pictures}.get(o.setting, source.files)
    left = [number for number in source.numbers if number in available and number not in crowd.source.numbers]
    if not left:
        raise BadInput(
            f"tau={FIT}: {o.dataset} has no contest of split train beside the evaluated ones; give a number."
        )
    first = sorted(left, key=lambda number: hashlib.sha256(str(number).encode()).hexdigest())[: o.fit_contests]
    return corpus.crowd_of(dataclasses.replace(source, numbers=tuple(sorted(first))), o)


# ---- prompt -------------------------------------------------------------------------------------


def templates(o: GroupsOptions) -> list[Template]:
    """The templates of the question, the worked examples and the scene."""
    names = [f"groups.{o.mode}.txt", *(["groups.example.txt"] if o.shots else [])]
    scene = Template("crowd", "groups.scene.txt", shared=True) if o.setting == "description" else FIXED_SCENE
    shows = ("scene", "first", "second")
    return [*(Template("crowd", name, shows, shared="example" in name) for name in names), scene]


def prompt(run: Run[GroupsOptions], record: Record) -> Prompt:
    """The prompt with the worked examples that are drawn for the record."""
    shots, drawn = run.options.shots, run.data.drawn_examples
    return prompt_after(run, record, drawn("", shots)[record.id] if shots and drawn else ())


def prompt_after(run: Run[GroupsOptions], record: Record, worked: Sequence[Record]) -> Prompt:
    """The prompt: task turns, worked examples with answers, then both groups."""
    o = run.options
    scene = next(name for name in run.templates if "scene." in name)

    def user(item: Record, name: str, body: str) -> Turn:
        fields = {**item.fields, "scene": fill(run.templates[scene], item.fields, scene)}
        return Turn("user", fill(body, fields, name), item.picture)

    asked, example = f"groups.{o.mode}.txt", "groups.example.txt"
    *opening, (_, body) = split_turns(run.templates[asked], asked)
    turns = [Turn(role, fill(text, {}, asked)) for role, text in opening]
    for shot in worked:
        [(_, shown)] = split_turns(run.templates[example], example)
        sides = dict(zip(("first", "second"), map(as_data, shot.choices), strict=True))
        turns += [user(dataclasses.replace(shot, fields={**shot.fields, **sides}), example, shown)]
        turns += [Turn("assistant", run.form.written(shot.target))]
    return Prompt((*turns, user(record, asked, body)))


def outcome(run: Run[GroupsOptions], record: Record, answer: Answer) -> Outcome:
    """Whether the answer is the better group, and whether it is A; a row on which tau is fitted has no value."""
    if record.groups.get("use") == FIT:
        return dataclasses.replace(answer.outcome(record), values={})
    scored = choice_outcome(run, record, answer)
    share = {} if answer.value is None else {"share_a": float(answer.value == "A")}
    return dataclasses.replace(scored, values={**scored.values, **share})


def part(run: Run[GroupsOptions], groups: Mapping[str, str]) -> str | None:
    """The group that the top 10 is compared with, where there are several."""
    return groups["pairing"] if run.options.against == "all" else None


CROWD_GROUPS = Benchmark(
    name="crowd_groups",
    card=corpus.card(
        title="Caption contest crowd: the funnier of two groups of captions",
        considerations=considerations("newyorker_caption_ranking", "crowd_groups"),
        section="Table 2",
        question="Crowd groups: which of two groups of ten captions for one cartoon did the crowd find funnier?",
        claim="A judge of whole groups of captions is only as good as its verdicts on groups whose order is known.",
        prompt="The cartoon and both groups as numbered lists: the ten captions of the highest mean rating, and those "
        "of ranks 200-209, 1000-1009 (from 0), or around the median, in both orders. With `mode=overall` the judge "
        "answers with one letter; with `mode=best_pick` it finds the best caption of each group and reasons. Worked "
        "examples are pairs of single captions, as published. Votes and ratings are never shown.",
        metrics='Accuracy clustered by contest, share of "A", consistency of the two orders; with `tau`, beside these, '
        'the same of the answers "A exactly where log P(A) - log P(B) > tau" (appendix C.2).',
        sampling=corpus.SAMPLING,
        chance=(
            *guessed(0.5, "each pair is asked in both orders", "accuracy", "recalibrated_accuracy", by="always A"),
            *guessed(0.5, "two guesses agree half of the time", "consistency", "recalibrated_consistency"),
        ),
        human=PEOPLE,
        related=("crowd_pairs", "caption_writing"),
    ),
    corpus="newyorker",
    version="1-A",
    answer=letters("AB"),
    metrics=METRICS,
    options=GroupsOptions,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
    part=part,
    letter_metrics=frozenset({"logprobs"}),
    uses=Uses(examines_judges=True),
    lm_eval=(
        *variants("crowd_groups", "multiple_choice", "generate_until", settings=corpus.LM_EVAL_SETTINGS, wordings=True),
        *variants("crowd_groups_best_pick", "generate_until", settings=BEST_PICK, wordings=True),
    ),
    suites={"text": {}, "pictures": {"setting": "pixels"}},
    ability="funnier",
)
