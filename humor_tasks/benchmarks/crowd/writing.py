"""Caption writing: can a model write captions that beat people's?

Zhang et al. 2024, arXiv 2406.10522, Tables 3, 4 and 6.

A sample holds the human groups and the scene, so that a log is judged without the dataset. The entries of a contest are
too many for that: what the captions repeat is found where the run has its data, and kept among the reply's facts. A log
without these facts has no metric of recitation. Worked examples of the judges are read from `shots_from`.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from humor_tasks.benchmarks.caption_contest.corpus import FIXED_SCENE
from humor_tasks.benchmarks.crowd import corpus
from humor_tasks.benchmarks.crowd.corpus import HUMAN_GROUPS, examples_block
from humor_tasks.benchmarks.crowd.groups import (
    CROWD_GROUPS,
    Group,
    GroupsOptions,
    Mode,
    both_orders,
    human_groups,
    prompt_after,
)
from humor_tasks.benchmarks.crowd.metrics import (
    FIT,
    GUESSED,
    VERDICTS,
    WIN_RATES,
    WRITING_METRICS,
    lost,
    panel_letter,
    verdict_values,
)
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import Level, Uses, guessed
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.judging.questions import ByAnswer, Judging, Panel, Question, Reply
from humor_tasks.contract.judging.rubrics import Rubric
from humor_tasks.contract.options import absent, parameter
from humor_tasks.contract.prompts import Template, fill, filled_turns, folder_of
from humor_tasks.contract.texts import read_texts
from humor_tasks.contract.variants import variants
from humor_tasks.errors import BadInput
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.records import VARIATION, Outcome, Prompt, Record
from humor_tasks.scorers.recitation import matches

WRITTEN = "captions"
"""The name of the written captions among the groups."""
EXAM = ("top10", "rank1000")
_QUESTION = ("dataset", "setting", "shots_from", "prompts", "mode", "tau")


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
        """The options of `crowd_groups` for the judges' question. Raises BadInput as GroupsOptions does.

        A prompt set is the writer's alone; a folder in `prompts` replaces the judges' templates, too.
        """
        given = {name: getattr(self, name) for name in _QUESTION} | {"prompts": folder_of(self.prompts)}
        return GroupsOptions(**given, shots=self.judge_shots)

    @property
    def variant(self) -> str:
        """The mode, where it is not the default."""
        return "" if self.mode == "overall" else self.mode

    def scoring(self) -> dict[str, Any]:
        """Also the judges' question."""
        names = (*_QUESTION, "judge_shots", "exam")
        default = type(self)
        changed = {n: value for n in names if (value := getattr(self, n)) != getattr(default, n, None)}
        return super().scoring() | changed

    def generation(self) -> dict[str, Any]:
        """The published limit of a reply."""
        return {"max_tokens": 1000}

    def without_effect(self) -> set[str]:
        """See Options."""
        idle = super().without_effect() | {"shots", "cot", "extraction"}
        return idle if self.judge_shots else idle | {"judge_shots"}


# ---- data ---------------------------------------------------------------------------------------


def load(benchmark: Benchmark[WritingOptions], o: WritingOptions) -> Data:
    """One record per contest, with a cartoon to write captions for and people's groups of captions.

    `place` is the contest's position among all, by which the judges' worked examples are drawn.
    """
    crowd = corpus.open_crowd(o, corpus.WITH_GROUPS)
    people = {cartoon.number: human_groups(cartoon.contest) for cartoon in crowd.cartoons}
    places = {number: i for i, number in enumerate(number for number, groups in people.items() if groups)}
    crowd = _with_all_groups(crowd, people, o)
    records = [
        dataclasses.replace(
            cartoon.record,
            target="",
            groups={"fold": "0"},
            facts={"people": {name: list(group.captions) for name, group in people[cartoon.number].items()}}
            | ({"place": places[cartoon.number]} if o.judge_shots else {}),
        )
        for cartoon in crowd.cartoons
    ]
    entries = crowd.source.contest
    return Data(tuple(records), crowd.provenance(len(records)), entries=lambda cluster: entries(int(cluster)).caption)


def _with_all_groups(crowd: corpus.Crowd, people: Mapping[int, Mapping[str, Group]], o: WritingOptions) -> corpus.Crowd:
    """The contests that have every human group whole; the others are left out with a warning."""
    lacking = [number for number, groups in people.items() if len(groups) < len(HUMAN_GROUPS)]
    if not lacking:
        return crowd
    left_out = {f"fewer than {corpus.GROUP_SIZE} usable captions in a human group": lacking}
    warnings.warn(f"{o.dataset}, split {o.split}: left out: {corpus.reasons_text(left_out)}.", stacklevel=3)
    cartoons = tuple(cartoon for cartoon in crowd.cartoons if cartoon.number not in lacking)
    return dataclasses.replace(crowd, cartoons=cartoons, left_out={**crowd.left_out, **left_out})


# ---- prompt -------------------------------------------------------------------------------------


def prompt(run: Run[WritingOptions], record: Record) -> Prompt:
    """The request for ten captions."""
    scene = next(name for name in run.templates if name.startswith("scene."))
    fields = {**record.fields, "scene": fill(run.templates[scene], record.fields, scene)}
    turns = filled_turns(run.templates["write.txt"], fields, "write.txt")
    return Prompt(tuple(turns)).showing(record.picture)


# ---- answer -------------------------------------------------------------------------------------


def outcome(run: Run[WritingOptions], record: Record, answer: Answer) -> Outcome:
    """The measures of the captions' words, and how many of them repeat an entry; judges add the rest.

    Without the contest's entries, the captions that repeat one are those that the record's facts name.
    """
    values: dict[str, float] = {}
    recited: Mapping[str, str] = {}
    captions = answer.facts.get("captions", ())
    if run.data.entries and captions:
        recitations = matches(captions, run.data.entries(record.cluster))
        recited = {caption: match.kind for caption, match in zip(captions, recitations, strict=True)}
    elif captions:
        recited = record.facts.get("recited", {})
    if captions and all(caption in recited for caption in captions):
        kinds = [recited[caption] for caption in captions]
        values = {f"recited_{kind}": kinds.count(kind) / len(kinds) for kind in ("exact", "near")}
    facts = {name: fact for name, fact in record.facts.items() if name == VARIATION}
    facts |= {"recited": dict(recited)} if values else {}
    return answer.outcome(dataclasses.replace(record, target=None, facts=facts), values)


# ---- the judges' questions ------------------------------------------------------------------------


@lru_cache(maxsize=8)
def judges_run(question: GroupsOptions) -> Run[GroupsOptions]:
    """`crowd_groups` without rows: the prompt and the form of answers of the judges' question."""
    data = Data((), {}, lambda fold: corpus.pool(question))
    return Run(CROWD_GROUPS, question, data, CROWD_GROUPS.texts(question))


def questions(run: Run[WritingOptions], reply: Reply, rubrics: Sequence[Rubric]) -> list[Question]:
    """Those of `comparisons`; none about a reply without ten captions."""
    if reply.outcome.answer is None:
        return []
    question = run.options.question()
    records = comparisons(question, reply.record, reply.outcome.facts["captions"], run.options.exam)
    judges, shots, of = judges_run(question), question.shots, reply.record
    worked = examples_block(question, of.facts["place"], of.cluster, shots) if shots else []
    return [_question(judges, record, worked) for record in records]


def _question(asked: Run[GroupsOptions], record: Record, worked: Sequence[Record]) -> Question:
    pairing, first = record.groups["pairing"], record.groups["first"]
    prompt = prompt_after(asked, record, worked)
    put = ByAnswer(record, prompt, asked.form, asked.reply_length, asked.options.needs_logprobs, asked.prompts_hash)
    return Question({"pairing": pairing, "target": record.target, "first": first}, put, f"{pairing}, {first} first")


def comparisons(question: GroupsOptions, record: Record, captions: Sequence[str], exam: bool) -> list[Record]:
    """The judges' questions about a contest: written captions against each human group, in both orders.

    exam: also the two of EXAM, whose answer is known. `groups["pairing"]` is the human group's name, or "exam".
    """
    written = Group(WRITTEN, tuple(captions))
    if "people" not in record.facts:
        raise BadInput("it has no groups of people's captions to compare with; only samples of caption_writing have.")
    human = {name: Group(name, tuple(texts)) for name, texts in record.facts["people"].items()}
    cartoon = dataclasses.replace(record, context=corpus.context_of(record.fields))
    records = [record for group in human.values() for record in both_orders(cartoon, written, group, question)]
    if exam:
        better, other = (human[name] for name in EXAM)
        records += both_orders(cartoon, better, other, question, {"pairing": "exam"})
    return records


# ---- verdicts -------------------------------------------------------------------------------------


def judged(run: Run[WritingOptions], outcome: Outcome, panels: Sequence[Panel]) -> Outcome:
    """The outcome of captions with the judges' verdicts; without ten captions it is lost, or left out."""
    o = run.options
    tau = None if o.tau == "none" else float(o.tau)
    if outcome.answer is None:
        values = {} if o.on_unparsed == "exclude" else lost(o.exam, tau is not None)
    else:
        values = verdict_values(panels, tau)
    return dataclasses.replace(outcome, values={**outcome.values, **values})


def mean_win_rate(o: Outcome) -> float | None:
    """The mean of the four win rates; None where one is missing."""
    won = [o.values[name] for name in WIN_RATES if name in o.values]
    return sum(won) / len(won) if len(won) == len(WIN_RATES) else None


CAPTION_WRITING = Benchmark(
    name="caption_writing",
    card=corpus.card(
        title="Caption contest crowd: captions against people's",
        considerations=considerations("newyorker_caption_ranking", "caption_writing"),
        section="Tables 3, 4 and 6",
        question="Caption writing: can a model write captions that beat people's?",
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
        chance=guessed(0.5, "either group is as likely", *GUESSED, by="a judge that decides at random"),
        human=(Level(0.9456, "ead", "people, top 10", "Zhang et al. 2024, Table 6, row people, top 10"),),
        related=("crowd_groups", "brainstorm"),
    ),
    corpus="newyorker",
    version="1-A",
    answer=FreeText(partial(read_texts, corpus.GROUP_SIZE)),
    metrics=WRITING_METRICS,
    options=WritingOptions,
    templates=(FIXED_SCENE, Template("crowd", "write.txt", required=("scene",))),
    load=load,
    prompt=prompt,
    outcome=outcome,
    judging=Judging(
        scorer="against_people",
        questions=questions,
        outcome=judged,
        value=mean_win_rate,
        panel=panel_letter,
        verdicts=VERDICTS,
        verdict_in_words=False,
    ),
    uses=Uses(writes="captions"),
    lm_eval=variants("caption_writing", "generate_until", settings=corpus.LM_EVAL_SETTINGS, wordings=True),
    typical="\n".join(
        f"{i}. We have all been meaning to talk about that {i} times.\nExplanation: It names the thing that everybody "
        "in the scene ignores."
        for i in range(1, 11)
    ),
    suites={"writing": {}},
    ability="writing",
)
