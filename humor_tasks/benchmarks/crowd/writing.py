"""Caption writing: can a model write captions that beat people's?

Zhang et al. 2024, arXiv 2406.10522, Tables 3, 4 and 6.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from humor_tasks.benchmarks.answers import Answer, FreeText
from humor_tasks.benchmarks.caption_contest.corpus import FIXED_SCENE
from humor_tasks.benchmarks.card import Card, Level
from humor_tasks.benchmarks.contract import Benchmark, Data, Run
from humor_tasks.benchmarks.crowd import corpus, variants
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
from humor_tasks.benchmarks.prompts import Template, fill, filled_turns
from humor_tasks.data import papers
from humor_tasks.data.contests.captions import key_of
from humor_tasks.data.contests.source import Contests
from humor_tasks.data.records import Outcome, Prompt, Record
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


# ---- data ---------------------------------------------------------------------------------------


def load(benchmark: Benchmark[WritingOptions], o: WritingOptions) -> Data:
    """One record per contest, with a cartoon to write captions for."""
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


def prompt(run: Run[WritingOptions], record: Record) -> Prompt:
    """The request for ten captions."""
    scene = next(name for name in run.templates if name.startswith("scene."))
    fields = {**record.fields, "scene": fill(run.templates[scene], record.fields, scene)}
    asked = filled_turns(run.templates["write.txt"], fields, "write.txt")
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
    return Answer("\n".join(captions), "answered", values, {"captions": list(captions)})


def outcome(run: Run[WritingOptions], record: Record, answer: Answer) -> Outcome:
    """The measures of the captions' words, and how many of them repeat an entry; judges add the rest."""
    values: dict[str, float] = {}
    if answer.value is not None:
        entries = _source(_same_data(run.options)).contest(int(record.cluster)).caption
        kinds = [match.kind for match in matches(answer.facts["captions"], entries)]
        values = {f"recited_{kind}": kinds.count(kind) / len(kinds) for kind in ("exact", "near")}
    return answer.outcome(dataclasses.replace(record, target=None), values)


# ---- the judges' questions ------------------------------------------------------------------------


@lru_cache(maxsize=8)
def judges_run(question: GroupsOptions) -> Run[GroupsOptions]:
    """`crowd_groups` without rows: the prompt, the form of answers and the worked examples of the judges' question."""
    cartoons = corpus.open_crowd(question, corpus.WITH_GROUPS).cartoons if question.shots else ()
    records = [record for each in cartoons for record in comparisons(question, each, (), exam=True)]
    data = Data((), {}, lambda fold: corpus.pool(question), drawn=worked_examples(question, records))
    return Run(CROWD_GROUPS, question, data, CROWD_GROUPS.texts(question))


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


def options_of(run: Run) -> WritingOptions:
    """The options of a run of this benchmark."""
    assert isinstance(run.options, WritingOptions)
    return run.options


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
    card=Card(
        title="Caption contest crowd: captions against people's",
        paper=papers.CROWD,
        place="Tables 3, 4 and 6",
        source=corpus.SOURCE,
        asks="Caption writing: can a model write captions that beat people's?",
        claim="Models write captions that judges prefer to ordinary entries, but experts hardly ever to the best ones.",
        prompt="The cartoon; the reply is ten captions, each explained. Judges (model role `grader`) compare the ten "
        "captions with each of four groups of ten human captions, in both orders, by the question of `crowd_groups` "
        "(`mode=overall` or `best_pick`). With `exam=true` they are also asked which of the top 10 and #1000-1009 is "
        "better, whose answer is known.",
        metrics="Win rates by human group, clustered by contest, raw and corrected for the judge's accuracy; that "
        'accuracy, its share of "A" and its consistency; the share of captions that repeat an entry of the contest '
        "(all rated captions are compared); diversity and length. A reply without exactly ten captions loses, or is "
        "left out with `on_unparsed=exclude`.",
        sampling="GPT and Claude by their providers' defaults, `--gen_kwargs do_sample=True,temperature=1`; Mistral "
        "and LLaVA by `--gen_kwargs do_sample=True,temperature=0.7,top_p=0.95,repetition_penalty=1.15`.",
        splits=corpus.SPLITS,
        counted=corpus.COUNTED,
        dates=corpus.DATES,
        human=(Level(0.9456, "ead", "people, top 10", "Zhang et al. 2024, Table 6, row people, top 10"),),
        means="A win rate says what this judge prefers. Read it with `judge_accuracy`, the judge's exam in the same "
        "contests, and with the corrected win rate (docs/crowd.md).",
        limits="It does not say what people prefer: an LLM judge is far kinder to the text of LLMs than people are. "
        "For Claude-3-Opus against the top 10, GPT-4 judged 54.4 % wins, workers 35.4 %, an expert 1.6 %.",
        related=("crowd_groups", "brainstorm"),
        needs="hub",
    ),
    corpus="newyorker",
    version="1-A",
    answer=FreeText(read),
    metrics=METRICS,
    options=WritingOptions,
    templates=(FIXED_SCENE, Template("crowd", "write.txt", shows=("scene",))),
    load=load,
    prompt=prompt,
    outcome=outcome,
    judged=True,
    verdicts=VERDICTS,
    rubric="",
    writes="captions",
    lm_eval=variants.WRITING,
    scorers=("against_people",),
)
