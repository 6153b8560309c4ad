"""MOCK, generation: write a very short humorous or sarcastic story for a picture."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from humor_tasks.benchmarks.mock import corpus, loading
from humor_tasks.benchmarks.mock.matching import MOCK_MATCHING
from humor_tasks.contract import card
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import guessed
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.judging.missing import Verdicts, failed_shares, failure_rates
from humor_tasks.contract.judging.questions import ByRubric, Judging, Panel, Question, Reply
from humor_tasks.contract.judging.rubrics import Judgement, Rubric
from humor_tasks.contract.metric import OF_JUDGES, REPLY_RATES, Metric, rate
from humor_tasks.contract.options import Split, absent, parameter
from humor_tasks.contract.variants import variants
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.scorers.verdict import RATING_WORDS, panel_rating

RATED = {name: Judgement(f"{name}.txt", ("story", "format"), RATING_WORDS) for name in ("sms", "hss")}
RATINGS = tuple(RATED)
_NO_EXAMPLES = "the prompt for a story has no worked examples; leave this parameter out."


@dataclass(frozen=True)
class GenerationOptions(corpus.MockOptions):
    """Parameters of story generation."""

    shots: int = absent(0, _NO_EXAMPLES)
    prompts: str | None = parameter(
        None,
        "Prompt set: A (the default) to E, `all` of them in one run, or a folder whose "
        "`generation.txt` and `show.*.txt` replace those of set A (docs/wordings.md).",
    )
    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong", "A reply without a story gets the lowest ratings (`wrong`) or is left out (`exclude`)."
    )
    seed: int = parameter(1234, "Seed of the sample of pictures and of the graders.")
    scene: corpus.Scene = parameter("stills", corpus.SCENE)
    chain_of_task: bool = absent(False, _NO_EXAMPLES)
    images: int = parameter(150, "Number of pictures per scene, drawn by `seed`; 0 takes all.", least=0)

    def without_effect(self) -> set[str]:
        """See Options."""
        return super().without_effect() | {"shots", "chain_of_task", "extraction"}

    @property
    def rows_by_seed(self) -> bool:
        """Whether the pictures are drawn."""
        return bool(self.images)


def load(benchmark: Benchmark[GenerationOptions], o: GenerationOptions) -> Data:
    """One record per picture or clip, from the first of its rows, whose own caption or last line is the target."""
    data = loading.load(MOCK_MATCHING, o)
    media: dict[str, dict[str, Record]] = {}
    for record in data.records:
        media.setdefault(record.groups["scene"], {}).setdefault(record.cluster, record)
    drawn = [record for scene, own in media.items() for record in _draw(own, o, scene)]
    records = [_record(record) for record in drawn]
    return Data(tuple(records), dict(data.provenance) | {"rows": len(records)}, data.pool)


def _record(of: Record) -> Record:
    """A row of matching as a picture to write for."""
    caption = of.choices["ABCD".index(str(of.target))]
    fields = {**of.fields, "choices": ""}
    return dataclasses.replace(of, id=f"{of.cluster}_generation", choices=(), target=caption, fields=fields)


def _draw(media: Mapping[str, Record], o: GenerationOptions, scene: str) -> list[Record]:
    names = sorted(media)
    if o.images:
        names = sorted(random.Random(f"{o.seed}:{scene}").sample(names, min(o.images, len(names))))
    return [media[name] for name in names]


def outcome(run: Run[GenerationOptions], record: Record, answer: Answer) -> Outcome:
    """The outcome before grading; `judged` adds the ratings."""
    return answer.outcome(dataclasses.replace(record, target=None))


def questions(run: Run, reply: Reply, rubrics: Sequence[Rubric]) -> list[Question]:
    """Both ratings of a story; nobody is asked where there is none."""
    material = {"context": reply.item_text, "story": reply.outcome.answer or ""}
    asked = reply.outcome.answer is not None
    return [
        Question({"rating": name}, ByRubric(rubric, material) if asked else None, name.upper())
        for name, rubric in zip(RATINGS, rubrics, strict=True)
    ]


def mean_rating(o: Outcome) -> float | None:
    """The mean of both ratings; None where one is missing."""
    given = [o.values[name] for name in RATINGS if name in o.values]
    return sum(given) / len(given) if len(given) == len(RATINGS) else None


def judged(run: Run, ungraded: Outcome, panels: Sequence[Panel]) -> Outcome:
    """The outcome with its ratings, and the shares of graders' replies without a rating; no story has the lowest."""
    ratings = {panel.about["rating"]: panel_rating(panel.words) for panel in panels if panel.verdicts}
    statuses = [verdict.status for panel in panels for verdict in panel.verdicts]
    values = dict(ungraded.values)
    if ungraded.answer is None:
        worst = float(min(RATING_WORDS.values()))
        values |= dict.fromkeys(RATINGS, worst) if run.options.on_unparsed == "wrong" else {}
    values |= {name: rating for name, rating in ratings.items() if rating is not None}
    if statuses:
        values |= failed_shares(statuses, "grader_")
        values["unrated"] = float(None in ratings.values())
    return dataclasses.replace(ungraded, values=values)


def _missing(o: Outcome) -> float:
    return float(sum(name not in o.values for name in RATINGS))


def _filled(o: Outcome, passed: bool) -> Outcome:
    worth = float((max if passed else min)(RATING_WORDS.values()))
    return dataclasses.replace(o, values={**dict.fromkeys(RATINGS, worth), **o.values}) if "unrated" in o.values else o


VERDICTS = Verdicts(lambda o: float(len(RATINGS)) if "unrated" in o.values else 0.0, _missing, _filled, RATINGS)
"""The ratings of a story: a missing one counts as the lowest or as the highest."""

GRADED = "Stories, generated and logged (--log_samples); `humor-tasks grade` rates them."
MOCK_GENERATION = Benchmark(
    name="mock_generation",
    card=corpus.card(
        title="MOCK: a humorous or sarcastic story",
        considerations=considerations("mock", "mock_generation"),
        source=corpus.source(
            "the pictures of the configs `SCENE_matching` of a MOCK folder, `images` per scene, drawn by seed without "
            "replacement; 150 in the paper."
        ),
        question="MOCK, generation: can a model write a very short humorous or sarcastic story for a picture?",
        claim="A model that understands humour can write humour that fits a picture.",
        prompt="The picture without its caption or dialogue.",
        metrics="SMS (semantic match) and HSS (humour or sarcasm), means of graders' ratings from 1 to 5 (model role "
        "`grader`), clustered by medium. A missing rating is excluded from them and counted as `unrated`.",
        sampling="the paper names none.",
        splits=dict.fromkeys(get_args(Split)),
        counted="",
        chance=guessed(1.0, "the lowest rating of the rubric", "sms", "hss", by="a text that fits nothing"),
        differences=(
            "Section 5 fine-tunes models on MOCK, which is not public; `humor-tasks train image-text` trains them on a "
            "folder of yours, and has run with small networks only.",
        ),
        related=("explanation_preference", "brainstorm"),
        usage="To compare two systems, use `humor_tasks/explanation_preference -T of=mock_generation -T system=LOG -T "
        "against=LOG`.",
    ),
    corpus="mock",
    version="1-B",
    answer=FreeText(),
    metrics=(
        Metric("sms", about="Semantic match with the picture: mean of the graders' ratings from 1 to 5.", span=(1, 5)),
        Metric(
            "hss",
            about="Humour or sarcasm of the story with the picture: mean of the graders' ratings from 1 to 5.",
            span=(1, 5),
        ),
        rate("unrated", "Share of stories with a rating missing.", OF_JUDGES),
        *failure_rates("grader_"),
        Metric("words", "lower", about="Length of the story in words.", neutral=True),
        *REPLY_RATES,
    ),
    options=GenerationOptions,
    templates=corpus.templates("generation"),
    load=load,
    prompt=corpus.prompt,
    outcome=outcome,
    part=corpus.part,
    signatures=corpus.worked,
    judging=Judging(
        scorer="story_ratings",
        questions=questions,
        outcome=judged,
        value=mean_rating,
        panel=panel_rating,
        verdicts=VERDICTS,
        rubrics=tuple(("generation", judgement) for judgement in RATED.values()),
    ),
    uses=card.Uses(votes=card.CONVEYING),
    lm_eval=(
        *variants("mock_generation", "generate_until", settings=corpus.LM_EVAL, about=GRADED, wordings=True),
        *corpus.in_frames("mock_generation"),
    ),
    display=card.Display(columns=(card.Column("story_ratings", scale=(1, 5)),)),
    typical="The dog had waited by the door for an hour. When she came home, he handed her the bill.",
    suites={"writing": {"input": "frames"}},
    ability="writing",
)
