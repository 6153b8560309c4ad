"""Explanation preference: which of two explanations of a joke is better, as judged by grader models?

Hessel et al., ACL 2023, arXiv 2209.06293, Table 3. A pair with different verdicts in its two orders is a tie (Zheng et
al. 2023, arXiv 2306.05685); a pair without a verdict leaves the other metrics and counts as `unread`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

from humor_tasks.benchmarks.caption_contest import corpus as contest
from humor_tasks.benchmarks.caption_contest import rows as contest_rows
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.mock.explaining import MOCK_EXPLAINING
from humor_tasks.benchmarks.mock.generation import MOCK_GENERATION
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import UNNAMED, Card, Level, Uses, guessed
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.judging.pairs import (
    HUMAN,
    METRICS,
    SIDES,
    VERDICTS,
    judged_pair,
    other,
    pair_outcome,
    read_system,
    settled,
    win_value,
)
from humor_tasks.contract.judging.questions import ByRubric, Judging, OwnPrompt, Panel, Question, Reply
from humor_tasks.contract.judging.rubrics import JUDGE_FIRST, JudgeFirst, Judgement, Rubric, rubric_templates
from humor_tasks.contract.options import Split, absent, parameter
from humor_tasks.contract.prompts import Template, fill
from humor_tasks.contract.variants import variants
from humor_tasks.errors import BadInput, check_choice, listed
from humor_tasks.papers import papers
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows import join_fingerprints
from humor_tasks.rows.records import VARIATION, Outcome, Prompt, Record
from humor_tasks.scorers.preferred import WORDS, panel_choice, read_preferred

Of = Literal["explanation", "mock_explaining", "mock_generation"]
Order = Literal["both", "random", "fixed"]
Setting = Literal["description", "pixels", "caption_only", "frames"]
PREFERENCE = Judgement("prefer.txt", ("first", "second", "format"), WORDS)
NEEDED = "name the explanations: 'human', an Inspect log, lm-eval's samples, or a file of texts."
OF_MOCK = {benchmark.name: benchmark for benchmark in (MOCK_EXPLAINING, MOCK_GENERATION)}
MOCK_INPUTS = {"description": "description", "pixels": "media", "frames": "frames"}


@dataclass(frozen=True)
class PreferenceOptions(contest.NyccOptions):
    """Parameters of the comparison; those of the corpus are inherited from `explanation`."""

    # The options require the two sources, which scoring does not read.
    scored = (*contest.NyccOptions.scored, "structured", "system", "against")

    shots: int = absent(0, "the judge's prompt has no worked examples; leave shots out.")
    prompts: str | None = parameter(
        None,
        "Prompt set: A (the default) to E, `all` of them in one run, or a folder whose "
        "`prefer.txt` and `verdict.*.txt` replace those of set A (docs/wordings.md).",
    )
    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong", "An empty explanation loses against a non-empty one (`wrong`), or its pair is left out (`exclude`)."
    )
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of random orders and of the judges.")
    setting: Setting = parameter(  # type: ignore[assignment]  # also how clips are shown
        "description",
        "What judges see: `description`, `pixels` (pictures, whole clips), `caption_only`; for MOCK also `frames`.",
    )
    shots_order: contest.ShotsOrder = absent("seeded", "the judge's prompt has no worked examples; leave it out.")
    cot: bool | None = absent(None, "the judge always gives reasons before its verdict; leave cot out.")
    of: Of = parameter(
        "explanation",
        "Benchmark of the compared texts: explanations of the contest or of MOCK, or stories (`mock_generation`).",
    )
    scene: mock.Scene = parameter("all", "For MOCK: scenes to evaluate.")
    system: str = parameter(
        "",
        "Explanations to evaluate: an Inspect log, lm-eval's samples, {instance_id: text} as JSON, or `human`.",
        needed=NEEDED,
    )
    against: str = parameter(
        HUMAN, "Explanations to compare with, named in the same way; `human`: the references.", needed=NEEDED
    )
    order: Order = parameter(  # type: ignore[assignment]  # both orders are judged already
        "both", "`both` judges each pair in both orders, `random` in one, drawn by `seed`; `fixed`: the system first."
    )
    structured: bool = parameter(False, "Request a JSON verdict through the provider's structured output.")
    judge_first: JudgeFirst = parameter("none", JUDGE_FIRST)
    temperature: float | None = parameter(
        0.0,
        "Temperature of judges whose configuration does not set one; `none`: the provider's default.",
        least=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of == EXPLANATION.name and self.scene != "all":
            raise BadInput(f"scene={self.scene} applies only to of={' or '.join(OF_MOCK)}.")
        check_choice("setting", self.setting, MOCK_INPUTS if self.of in OF_MOCK else get_args(contest.Setting))
        if self.of == MOCK_GENERATION.name and HUMAN in (self.system, self.against):
            raise BadInput(
                "system, against: there are no human references for stories; name two systems' logs or files of texts."
            )
        if self.system == self.against:
            raise BadInput(f"system and against are both {self.system}; name two different sources of explanations.")
        templates(self)  # before rows and texts are read: judge_first needs a template that not all questions have

    def signature_entries(self) -> dict[str, Any]:
        """Those of the judge come last."""
        entries = super().signature_entries()
        last = ("order", "structured", "temperature", "judge_first")
        return {n: v for n, v in entries.items() if n not in last} | {n: entries[n] for n in last if n in entries}

    def without_effect(self) -> set[str]:
        """Those that do not affect the judge's prompt."""
        idle = super().without_effect() | {"shots", "cot", "extraction"}
        idle |= {"judge_first"} if self.judge_first == "none" else set()
        return idle | ({"fold"} if self.of in OF_MOCK else {"of", "scene"})

    @property
    def rows_by_seed(self) -> bool:
        """Whether the orders are drawn."""
        return self.order == "random"

    def corpus(self) -> Run:
        """The opened benchmark whose explanations are compared; `prompts` are those of the judges alone."""
        if self.of == EXPLANATION.name:
            return Run(EXPLANATION, replace(self, prompts=None), contest_rows.load(EXPLANATION, self), {})
        dataset = "" if self.dataset == contest.HUB else self.dataset
        given: dict[str, Any] = {
            "dataset": dataset,
            "revision": self.revision,
            "split": self.split,
            "scene": self.scene,
            "on_bad_picture": self.on_bad_picture,
        }
        given |= {"images": 0} if self.of == MOCK_GENERATION.name else {}
        return OF_MOCK[self.of].open(**given, input=MOCK_INPUTS[self.setting])


def load(benchmark: Benchmark[PreferenceOptions], o: PreferenceOptions) -> Data:
    """One record per pair and order; instances without both explanations are left out with a warning."""
    corpus = o.corpus()
    sides = {name: read_system(getattr(o, name), corpus) for name in SIDES}
    known = {record.id: record for record in corpus.records}
    common = [i for i in known if all(i in side.texts for side in sides.values())]
    for name, side in sides.items():
        missing = [i for i in known if i not in side.texts and any(i in other.texts for other in sides.values())]
        unknown = [i for i in side.texts if i not in known]
        for what, ids in (("has no text for", missing), ("has texts for ids outside the corpus:", unknown)):
            if ids:
                warnings.warn(f"{getattr(o, name)} {what} {listed('instance', ids)}; left out.", stacklevel=2)
    if not common:
        part = f"split {o.split}, scene {o.scene}" if o.of in OF_MOCK else f"split {o.split}, fold {o.fold}"
        other = "; setting=pixels has the rows with a picture" if o.setting == "description" and o.of in OF_MOCK else ""
        raise BadInput(
            f"{o.system} and {o.against} have no instance of {part}, in common: setting={o.setting} shows "
            f"{len(known)} instances{other}."
        )
    records = [r for i in common for r in _pair(o, known[i], *(side.texts[i] for side in sides.values()))]
    provenance = dict(corpus.data.provenance) | {f"{name}_model": side.model for name, side in sides.items()}
    prints = [str(provenance["fingerprint"]), *(side.fingerprint for side in sides.values())]
    provenance |= {"pairs": len(common), "rows": len(records), "fingerprint": join_fingerprints(prints)}
    return Data(tuple(records), provenance)


def _pair(o: PreferenceOptions, item: Record, system: str, against: str) -> list[Record]:
    """One record for each order in which the pair is judged."""
    texts = dict(zip(SIDES, (system, against), strict=True))
    orders = list(SIDES) if o.order == "both" else [SIDES[0]]
    if o.order == "random":
        orders = [random.Random(f"{o.seed}-{item.id}").choice(SIDES)]
    groups = {"pair_id": item.id, "settled": settled(system, against, o.on_unparsed)}
    facts = {"lengths": [len(system), len(against)], "orders": len(orders)}
    # The ids contain a hash of the texts: a run resumed after a file changed must not reuse verdicts on other texts.
    mark = hashlib.sha256(f"{system}\0{against}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return [
        dataclasses.replace(
            item,
            id=f"{item.id}-{first}-first-{mark}",
            fields={**item.fields, "first": texts[first], "second": texts[other(first)]},
            target=SIDES[0],
            groups={**item.groups, **groups, "first": first},
            facts=facts,
        )
        for first in orders
    ]


def templates(o: PreferenceOptions) -> list[Template]:
    """The templates of the judge's question and of the scene."""
    family = "stories" if o.of == MOCK_GENERATION.name else "preference"
    scene = [contest.FIXED_SCENE] if o.of == EXPLANATION.name else mock.showing(MOCK_INPUTS[o.setting], fixed=True)
    return [*rubric_templates(family, PREFERENCE, judge_first=o.judge_first), *scene]


def prompt(run: Run[PreferenceOptions], record: Record) -> Prompt:
    """The judge's prompt: the joke and both explanations."""
    name = next((name for name in run.templates if name.startswith("scene.")), "")
    if name:
        context = f"{fill(run.templates[name], record.fields, name)}\n\nCaption: {record.fields['caption']}"
    else:
        context = mock.item(run.templates, record)
    material = {"context": context}
    material |= {side: record.fields[side] for side in ("first", "second")}
    asked = Rubric(run.templates, PREFERENCE).ask(material, run.options.structured)
    return asked.showing(record.picture, record.clip)  # the judge's own view is of the picture, too


def read(structured: bool, reply: str, refused: bool) -> Answer:
    """One judge's verdict: A, B or tie."""
    verdict = read_preferred(reply, "json" if structured else "tags")
    return Answer(verdict.choice, "refused" if refused and verdict.choice is None else verdict.status)


def outcome(run: Run[PreferenceOptions], record: Record, answer: Answer) -> Outcome:
    """See `pair_outcome`."""
    return pair_outcome(replace(record, facts={**record.facts, **answer.facts}), [answer.value], [answer.status])


def questions(run: Run[PreferenceOptions], reply: Reply, rubrics: Sequence[Rubric]) -> list[Question]:
    """The prompt itself, unless the texts settle the pair."""
    groups = reply.record.groups
    return [Question({"first": groups["first"]}, None if groups["settled"] else OwnPrompt(PREFERENCE))]


RANDOM_JUDGE = "a judge that decides at random"

EXPLANATION_PREFERENCE = Benchmark(
    name="explanation_preference",
    card=Card(
        title="New Yorker Caption Contest: preferred explanation",
        considerations=considerations("newyorker_caption_contest", "explanation_preference"),
        paper=papers.CAPTION_CONTEST,
        section="Table 3, by people; MOCK's EXPAcc is by a judge model",
        source=contest.source(
            "the corpus of `explanation` or `mock_explaining`, and explanations of two systems from logs or files; the "
            "human references can be one of the systems. Stories of `mock_generation` are compared in the same way."
        ),
        question="Explanation preference: which of two explanations of a joke is better, as judged by grader models?",
        claim="Overlap with a reference says little about the quality of an explanation; pairwise preferences say "
        "much.",
        prompt="The joke and the two explanations as A and B, in both orders. A pair with different verdicts in the "
        "two orders is a tie (Zheng et al. 2023, arXiv 2306.05685).",
        metrics="Win rate, with ties as one half; the share of pairs where the system is preferred (EXPAcc); "
        "length-controlled win rate, adjusted for length by logistic regression; and measures of the judge's "
        "reliability. A pair without a verdict is excluded from these metrics and counted as `unread`. Clustered by "
        "contest.",
        sampling=UNNAMED,
        splits=dict.fromkeys(get_args(Split)),  # as many pairs as both systems explain
        dates=contest.DATES,
        dated=True,
        chance=(
            *guessed(0.5, "either side is as likely", "win_rate", "length_controlled_win_rate", by=RANDOM_JUDGE),
            *guessed(0.25, "both orders name the system: 1/2 times 1/2", "preferred", by=RANDOM_JUDGE),
            *guessed(0.5, "the orders disagree in one of two pairs", "tie_rate", "inconsistent", by=RANDOM_JUDGE),
        ),
        human=(
            Level(
                0.677,
                "win_rate",
                "people against GPT-4, 5-shot, judged by people",
                "Hessel et al. 2023, Table 3, Q7",
            ),
        ),
        differences=(
            "The votes behind Table 3 are not published: `humor-tasks reproduce` says only whether some votes fit both "
            "printed figures.",
        ),
        related=("explanation", "mock_explaining", "mock_generation", "humorbench_autograder"),
        needs="explanations",
    ),
    version="1-A",
    answer=lambda o: FreeText(partial(read, o.structured)),
    metrics=METRICS,
    options=PreferenceOptions,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
    judging=Judging(
        scorer="preference",
        questions=questions,
        outcome=judged_pair,
        value=win_value,
        panel=panel_choice,
        verdicts=VERDICTS,
        judges_replies=False,
    ),
    uses=Uses(clips=replace(mock.CLIPS, in_words=("setting", "description"))),
    lm_eval=variants("explanation_preference", "generate_until", wordings=True),
    suites={"judged": {}},
    ability="why",
)


# ---- judging a reply by its reference --------------------------------------------------------------


PAIRS_RUN = Run(EXPLANATION_PREFERENCE, PreferenceOptions(system="-"), Data((), {}), {})
"""What reports the verdicts on pairs of texts from anywhere."""


def reference_questions(run: Run, reply: Reply, rubrics: Sequence[Rubric]) -> list[Question]:
    """Both orders, unless the texts settle the pair."""
    reference = reply.record.target or ""
    if reply.record.choices:
        raise BadInput("its target is not a reference text.")
    if not reference.strip():
        raise BadInput("the target has no reference text to compare the reply with.")
    text = reply.outcome.answer or ""
    settlement = settled(text, reference, "wrong")
    texts = dict(zip(SIDES, (text, reference), strict=True))
    questions = []
    for first, second in (SIDES, SIDES[::-1]):
        material = {"context": reply.item_text, "first": texts[first], "second": texts[second]}
        about = {"first": first, "settled": settlement, "lengths": [len(text), len(reference)]}
        questions.append(Question(about, None if settlement else ByRubric(rubrics[0], material)))
    return questions


def judged_by_reference(run: Run, o: Outcome, panels: Sequence[Panel]) -> Outcome:
    """The outcome of the pair; an empty reply loses, or is left out with `on_unparsed=exclude`."""
    about = panels[0].about
    left_out = about["settled"] == "against" and run.options.on_unparsed == "exclude"
    groups = {"settled": "left_out" if left_out else str(about["settled"])}
    facts = {name: value for name, value in o.facts.items() if name == VARIATION} | {"lengths": about["lengths"]}
    return judged_pair(run, replace(o, groups=groups, facts=facts), panels)


REFERENCE: Judging[Run] = Judging(
    scorer="reference_preference",
    questions=reference_questions,
    outcome=judged_by_reference,
    value=win_value,
    panel=panel_choice,
    verdicts=VERDICTS,
    rubrics=(("preference", PREFERENCE),),
)


def judging_of(run: Run[Any]) -> Judging[Any] | None:
    """How replies of a run can be judged: as its benchmark says, otherwise by the reference, if there is one."""
    by_reference = isinstance(run.form, FreeText) and run.form.reference
    return run.benchmark.judging or (REFERENCE if by_reference else None)


def judging_of_replies(benchmark: Benchmark[Any]) -> Judging[Any] | None:
    """How the logged replies of a benchmark can be judged, also by their reference."""
    judging = benchmark.judging or judging_of(Run(benchmark, benchmark.options(), Data((), {}), {}))
    return judging if judging and judging.judges_replies else None


def reporting(run: Run[Any]) -> Run[Any]:
    """The run whose metrics the judged outcomes of a run have."""
    return pairs_run(run) if judging_of(run) is REFERENCE else run


def pairs_run(run: Run[Any]) -> Run[Any]:
    """`PAIRS_RUN`, where each pair is judged under the prompt sets of `run`."""
    return replace(PAIRS_RUN, judged_under=run.variations.sets)
