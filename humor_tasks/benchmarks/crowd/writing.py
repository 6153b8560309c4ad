"""Caption writing: can a model write captions that beat people's?

Claim: models write captions that judges prefer to ordinary entries, but experts hardly ever to the best ones (Zhang et
al. 2024, arXiv 2406.10522, Tables 3 and 4). An LLM judge is far kinder to the text of LLMs than people are: for
Claude-3-Opus against the top 10, GPT-4 judged 54.4 % wins, workers 35.4 %, an expert 1.6 %.
Source: yguooo/newyorker_caption_ranking, 91 held-out contests. Prompt: the cartoon; ten captions, each explained.
Judges (model role `grader`) compare the ten captions with each of four groups of ten human captions, in both orders, by
the question of `crowd_groups` (`mode=overall` or `best_pick`). With `exam=true` they are also asked which of the top 10
and #1000-1009 is better, whose answer is known.
Metrics: win rates by human group, clustered by contest, raw and corrected for the judge's accuracy; that accuracy, its
share of "A" and its consistency; the share of captions that repeat an entry of the contest (all rated captions are
compared); diversity and length. A reply without exactly ten captions loses, or is left out with `on_unparsed=exclude`.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

from humor_tasks.benchmarks.answers import Answer, FreeText
from humor_tasks.benchmarks.contract import Benchmark, Data, Options, Run
from humor_tasks.benchmarks.crowd import corpus
from humor_tasks.benchmarks.crowd.group_metrics import FIT
from humor_tasks.benchmarks.crowd.groups import (
    CROWD_GROUPS,
    HUMAN_GROUPS,
    Group,
    GroupsOptions,
    Mode,
    group_record,
    human_groups,
    worked_examples,
)
from humor_tasks.benchmarks.crowd.writing_metrics import METRICS, VERDICTS, Verdict, lost, verdict_values
from humor_tasks.benchmarks.options import absent, parameter
from humor_tasks.benchmarks.prompts import check_shows, fill, read_templates, split_turns
from humor_tasks.benchmarks.variants import variants
from humor_tasks.data.contests.captions import key_of
from humor_tasks.data.contests.source import Contests
from humor_tasks.data.records import Outcome, Prompt, Record, Role, Turn
from humor_tasks.errors import BadInput
from humor_tasks.scorers.caption_list import read_captions
from humor_tasks.scorers.diversity import average_ead
from humor_tasks.scorers.recitation import matches
from humor_tasks.scorers.tagged import count_words

WRITTEN = "captions"
"""The name of the written captions among the groups."""
EXAM = ("top10", "rank1000")
_FIELDS = ("dataset", "revision", "split", "contests", "annotations", "images", "doubtful", "setting")


@dataclass(frozen=True)
class WritingOptions(corpus.CrowdOptions):
    """Parameters of caption writing; `shots` and `shots_from` are those of the judges' prompt."""

    shots: int = absent(0, "the writer's prompt has no worked examples; those of the judges are judge_shots.")
    judge_shots: int = parameter(0, "Number of worked examples in the judges' prompt; 5 in the paper.", least=0)
    mode: Mode = parameter(
        "overall",
        "The judges' question: the funnier group (`overall`), or the group with the funnier best caption "
        "(`best_pick`).",
    )
    exam: bool = parameter(True, "Also ask the judges which of the top 10 and #1000-1009 is better.")
    tau: str = parameter(
        "none",
        "Threshold of log P(A) - log P(B) for recalibrated verdicts of mode=overall, such as crowd_groups fits; or "
        "`none`. Needs judges with log-probabilities.",
        also=float,
    )
    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong", "A reply without exactly ten captions loses (`wrong`), or is left out (`exclude`)."
    )
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of the judges.")
    cot: bool | None = absent(None, "the writer explains its captions; leave cot out.")
    temperature: float | None = parameter(
        0.0, "Temperature of judges whose configuration sets none; or `none`.", least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tau == FIT:
            raise BadInput("tau=fit: fit it with crowd_groups, whose metric `tau` is the value to give here.")
        self.question()

    def question(self) -> GroupsOptions:
        """The options of `crowd_groups` for the judges' question. Raises BadInput as GroupsOptions does."""
        given = {name: getattr(self, name) for name in (*_FIELDS, "shots_from", "prompts", "mode", "tau")}
        return GroupsOptions(**given, shots=self.judge_shots)

    @property
    def variant(self) -> str:
        """The mode, where it is not the default."""
        return "" if self.mode == "overall" else self.mode

    def scoring(self) -> dict[str, Any]:
        """Also the contests and the judges' question."""
        names = (*_FIELDS, "judge_shots", "shots_from", "prompts", "mode", "exam", "tau")
        default = type(self)
        changed = {n: value for n in names if (value := getattr(self, n)) != getattr(default, n, None)}
        return super().scoring() | changed

    def generation(self) -> dict[str, Any]:
        """The published limit of a reply."""
        return {"max_tokens": 1000}

    def shown(self) -> dict[str, Any]:
        """Without what has no effect on replies or scores."""
        apart = {"shots", "cot", "extraction", *(() if self.judge_shots else ("judge_shots",))}
        return {name: value for name, value in super().shown().items() if name not in apart}


def options_of(run: Run) -> WritingOptions:
    """The run's options as WritingOptions."""
    return cast(WritingOptions, run.options)


# ---- data ---------------------------------------------------------------------------------------


def load(benchmark: Benchmark, options: Options) -> Data:
    """One record per contest, with a cartoon to write captions for."""
    o = cast(WritingOptions, options)
    crowd = _with_all_groups(corpus.open_crowd(o, corpus.WITH_GROUPS), o)
    records = [
        Record(
            id=f"contest-{cartoon.number}",
            cluster=str(cartoon.number),
            fields=cartoon.fields,
            context=cartoon.context,
            choices=(),
            target="",
            groups={"fold": "0"},
            picture=cartoon.picture,
        )
        for cartoon in crowd.cartoons
    ]
    return Data(tuple(records), crowd.provenance(len(records)))


def _with_all_groups(crowd: corpus.Crowd, o: WritingOptions) -> corpus.Crowd:
    """The contests that have every human group whole; the others are left out with a warning."""
    lacking = [c.number for c in crowd.cartoons if len(human_groups(c.contest)) < len(HUMAN_GROUPS)]
    if not lacking:
        return crowd
    left_out = {f"fewer than {corpus.GROUP_SIZE} usable captions in a human group": lacking}
    warnings.warn(f"{o.dataset}, split {o.split}: left out: {corpus.told_of(left_out)}.", stacklevel=3)
    kept = tuple(cartoon for cartoon in crowd.cartoons if cartoon.number not in lacking)
    return dataclasses.replace(crowd, cartoons=kept, left_out={**crowd.left_out, **left_out})


@lru_cache(maxsize=4)
def _source(o: WritingOptions) -> Contests:
    return corpus.open_source(o)


def _same_data(o: WritingOptions) -> WritingOptions:
    """Options that differ only in what does not select contests are one."""
    return WritingOptions(**{name: getattr(o, name) for name in _FIELDS})


def cartoon(o: WritingOptions, number: int) -> corpus.Cartoon:
    """A contest of the options' data. Raises BadInput where it is not there or cannot be evaluated."""
    found = corpus.cartoon_of(_source(_same_data(o)), number, o, corpus.WITH_GROUPS)
    if isinstance(found, corpus.Cartoon):
        return found
    raise BadInput(f"{o.dataset}: contest {number} cannot be evaluated: {found}.")


# ---- prompt -------------------------------------------------------------------------------------


def templates(options: Options) -> dict[str, str]:
    """The templates of the scene and of the request."""
    o = cast(WritingOptions, options)
    texts = read_templates("crowd", ["write.txt"], o.prompts)
    check_shows(texts["write.txt"], "write.txt", ("scene",))
    return read_templates("nycc", [f"scene.{o.setting}.txt"], None) | texts


def prompt(run: Run, record: Record) -> Prompt:
    """The request for ten captions."""
    scene = next(name for name in run.templates if name.startswith("scene."))
    fields = {**record.fields, "scene": fill(run.templates[scene], record.fields, scene)}
    asked = [
        Turn(cast(Role, role), fill(text, fields, "write.txt"))
        for role, text in split_turns(run.templates["write.txt"], "write.txt")
    ]
    return Prompt((*asked[:-1], dataclasses.replace(asked[-1], picture=record.picture)))


# ---- answer -------------------------------------------------------------------------------------


def read(reply: str, refused: bool) -> Answer:
    """The ten captions of a reply, a line each; no answer where there are not exactly ten."""
    found = read_captions(reply, corpus.GROUP_SIZE)
    if found.status != "answered":
        return Answer(None, "refused" if refused else found.status, {"found": float(found.found)})
    return given([" ".join(text.split()) for text in found.texts])


def given(captions: Sequence[str]) -> Answer:
    """Captions as an answer, with the measures of their words."""
    values = {
        "characters": sum(map(len, captions)) / len(captions),
        "words": sum(map(count_words, captions)) / len(captions),
        "ead": average_ead(captions),
        "distinct": len(set(map(key_of, captions))) / len(captions),
        "found": float(len(captions)),
    }
    return Answer("\n".join(captions), "answered", values)


def outcome(run: Run, record: Record, answer: Answer) -> Outcome:
    """The measures of the captions' words, and how many of them repeat an entry; judges add the rest."""
    values = dict(answer.values) | answer.rates
    if answer.value is not None:
        entries = _source(_same_data(options_of(run))).contest(int(record.cluster)).caption
        kinds = [match.kind for match in matches(answer.value.split("\n"), entries)]
        values |= {f"recited_{kind}": kinds.count(kind) / len(kinds) for kind in ("exact", "near")}
    return Outcome(record.id, record.cluster, record.groups, answer.status, answer.value, None, values)


# ---- the judges' questions ------------------------------------------------------------------------


@lru_cache(maxsize=8)
def judges_run(question: GroupsOptions) -> Run:
    """`crowd_groups` without rows: the prompt, the form of answers and the worked examples of the judges' question."""
    cartoons = corpus.open_crowd(question, corpus.WITH_GROUPS).cartoons if question.shots else ()
    records = [record for each in cartoons for record in comparisons(question, each, (), exam=True)]
    data = Data((), {}, lambda fold: corpus.pool(question), drawn=worked_examples(question, records))
    return Run(CROWD_GROUPS, question, data, CROWD_GROUPS.templates(question))


def comparisons(question: GroupsOptions, cartoon: corpus.Cartoon, captions: Sequence[str], exam: bool) -> list[Record]:
    """The judges' questions about a contest: written captions against each human group, in both orders.

    exam: also the two of EXAM, whose answer is known. `groups["pairing"]` is the human group's name, or "exam".
    """
    written = Group(WRITTEN, tuple(captions))
    human = human_groups(cartoon.contest)
    asked: list[tuple[Group, Group, dict[str, str]]] = [(written, group, {}) for group in human.values()]
    if exam and all(name in human for name in EXAM):
        better, other = (human[name] for name in EXAM)
        asked.append((better, other, {"pairing": "exam"}))
    return [
        group_record(cartoon, better, other, first.name, question, told)
        for better, other, told in asked
        for first in (better, other)
    ]


def judged(run: Run, outcome: Outcome, verdicts: Sequence[Verdict]) -> Outcome:
    """The outcome of captions with the judges' verdicts; without ten captions it is lost, or left out."""
    o = options_of(run)
    tau = None if o.tau == "none" else float(o.tau)
    if outcome.answer is None:
        values = {} if o.on_unparsed == "exclude" else lost(o.exam, tau is not None)
    else:
        values = verdict_values(verdicts, tau)
    return dataclasses.replace(outcome, values={**outcome.values, **values})


CAPTION_WRITING = Benchmark(
    name="caption_writing",
    corpus="newyorker",
    title="Caption contest crowd: captions against people's",
    paper=corpus.PAPER,
    sampling="GPT and Claude by their providers' defaults, `--gen_kwargs do_sample=True,temperature=1`; Mistral and "
    "LLaVA by `--gen_kwargs do_sample=True,temperature=0.7,top_p=0.95,repetition_penalty=1.15`.",
    version="1-A",
    answer=FreeText(read),
    metrics=METRICS,
    options=WritingOptions,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
    judged=True,
    verdicts=VERDICTS,
    rubric="",
    lm_eval=variants("caption_writing", "generate_until", settings=corpus.SHOWN),
    question="can a model write captions that a judge prefers to people's?",
    needs="hub",
    scorers=("against_people",),
)
