"""Explanation preference: which of two explanations of a joke is better, by the word of judges?

Claim: overlap with a reference says little of an explanation; which of two people prefer says much
(Hessel et al., ACL 2023, arXiv 2209.06293, Table 3; MOCK's EXPAcc asks a judge model the same).
Source: the corpus of `explanation` or `mock_explaining`, and two sides: references by people, or
explanations out of logs and files.
Prompt: the joke, the two explanations as A and B, in both orders. A pair whose orders disagree is a
tie (Zheng et al. 2023, arXiv 2306.05685). Metrics: win rate, ties worth half; the share that is
preferred outright (EXPAcc); the win rate were both equally long (see `scorers.preference`); and what tells
how far to trust the judge. A pair without a verdict leaves them and is counted. Clustered by contest.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast, get_args

from humor_tasks.benchmarks.answers import Answer, FreeText
from humor_tasks.benchmarks.caption_contest import corpus as contest
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.contract import Benchmark, Data, Options, Run
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.mock.explaining import MOCK_EXPLAINING
from humor_tasks.benchmarks.mock.generation import MOCK_GENERATION
from humor_tasks.benchmarks.options import absent, parameter
from humor_tasks.benchmarks.pair_verdicts import METRICS, SIDES, decided, other, settled
from humor_tasks.benchmarks.prompts import fill, read_templates
from humor_tasks.benchmarks.rubric import Judgement, Rubric, open_rubric
from humor_tasks.benchmarks.systems import HUMAN, read_system
from humor_tasks.data.records import Outcome, Prompt, Record
from humor_tasks.data.rows import join_fingerprints
from humor_tasks.errors import BadInput, check_choice, listed
from humor_tasks.scorers.preferred import WORDS, read_preferred

Of = Literal["explanation", "mock_explaining", "mock_generation"]
Order = Literal["both", "random", "fixed"]
Setting = Literal["description", "pixels", "caption_only", "frames"]
PREFERENCE = Judgement("prefer.txt", ("first", "second", "format"), WORDS)
WHOSE = "name whose explanations: 'human', a log, lm-eval's samples, or a file of texts."
OF_MOCK = {benchmark.name: benchmark for benchmark in (MOCK_EXPLAINING, MOCK_GENERATION)}
MOCK_INPUTS = {"description": "description", "pixels": "media", "frames": "frames"}


@dataclass(frozen=True)
class PreferenceOptions(contest.NyccOptions):
    """Parameters of the comparison; those of the corpus are `explanation`'s."""

    shots: int = absent(0, "a judge is asked without worked examples.")
    prompts: str | None = parameter(
        None, "Folder whose `prefer.txt` and `verdict.*.txt` replace the packaged templates."
    )
    on_unparsed: Literal["wrong", "exclude"] = parameter(
        "wrong", "An empty explanation loses against another (`wrong`) or leaves the pairs (`exclude`)."
    )
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of the orders drawn, and of judges.")
    setting: Setting = parameter(  # type: ignore[assignment]  # also how clips are shown
        "description",
        "What judges see: `description`, `pixels` (pictures, whole clips), `caption_only`; of MOCK also `frames`.",
    )
    cot: bool | None = absent(None, "a judge always gives its reasons first.")
    of: Of = parameter(
        "explanation", "Whose explanations are compared: of the contest or of MOCK; or stories (`mock_generation`)."
    )
    scene: mock.Scene = parameter("all", "Of MOCK: which scenes.")
    system: str = parameter(
        "",
        "Whose explanations: an Inspect log, lm-eval's samples, {instance_id: text} as JSON, or `human`.",
        needed=WHOSE,
    )
    against: str = parameter(HUMAN, "The other side's, named in the same way; `human`: the references.", needed=WHOSE)
    order: Order = parameter(
        "both", "`both` asks twice, `random` once in an order drawn with `seed`, `fixed` shows the system first."
    )
    structured: bool = parameter(False, "Ask judges for a JSON verdict by the provider's structured output.")
    temperature: float | None = parameter(
        0.0, "Temperature of judges whose own configuration sets none; `none` leaves it to the provider."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of == EXPLANATION.name and self.scene != "all":
            raise BadInput(f"scene={self.scene} belongs to of={' or '.join(OF_MOCK)}.")
        check_choice("setting", self.setting, MOCK_INPUTS if self.of in OF_MOCK else get_args(contest.Setting))
        if self.of == MOCK_GENERATION.name and HUMAN in (self.system, self.against):
            raise BadInput("system, against: there are no stories by people; name two systems' logs or files of texts.")
        if self.system == self.against:
            raise BadInput(f"system and against are both {self.system}; compare two different sides.")

    def scoring(self) -> dict[str, Any]:
        """With what decides how a verdict is read; the sides' names are demanded, and by then read."""
        return super().scoring() | {"structured": self.structured, "system": self.system, "against": self.against}

    def shown(self) -> dict[str, Any]:
        """Without what a judge's question does not depend on."""
        apart = {"shots", "cot", "extraction", *(("fold",) if self.of in OF_MOCK else ("of", "scene"))}
        return {name: value for name, value in super().shown().items() if name not in apart}

    def corpus(self) -> Run:
        """The benchmark whose explanations are compared, opened."""
        if self.of == EXPLANATION.name:
            return Run(EXPLANATION, self, contest.load(EXPLANATION, self), {})
        dataset = "" if self.dataset == contest.HUB else self.dataset
        given: dict[str, Any] = {
            "dataset": dataset,
            "revision": self.revision,
            "split": self.split,
            "scene": self.scene,
        }
        given |= {"images": 0} if self.of == MOCK_GENERATION.name else {}
        return OF_MOCK[self.of].open(**given, input=MOCK_INPUTS[self.setting])


def own(run: Run) -> PreferenceOptions:
    """The run's options under their own type."""
    return cast(PreferenceOptions, run.options)


def load(benchmark: Benchmark, options: Options) -> Data:
    """One record a pair and order; instances that one side lacks are said and left out."""
    o = cast(PreferenceOptions, options)
    corpus = o.corpus()
    sides = {name: read_system(getattr(o, name), corpus) for name in SIDES}
    known = {record.id: record for record in corpus.records}
    kept = [i for i in known if all(i in side.texts for side in sides.values())]
    for name, side in sides.items():
        missing = [i for i in known if i not in side.texts and any(i in other.texts for other in sides.values())]
        unknown = [i for i in side.texts if i not in known]
        for what, ids in (("has no", missing), ("is not of the corpus: it has", unknown)):
            if ids:
                warnings.warn(f"{getattr(o, name)} {what} {listed('instance', ids)}; left out.", stacklevel=2)
    if not kept:
        raise BadInput(f"{o.system} and {o.against} have no instance of split {o.split}, fold {o.fold}, in common.")
    records = [r for i in kept for r in _pair(o, known[i], *(side.texts[i] for side in sides.values()))]
    provenance = dict(corpus.data.provenance) | {f"{name}_model": side.model for name, side in sides.items()}
    prints = [str(provenance["fingerprint"]), *(side.fingerprint for side in sides.values())]
    provenance |= {"pairs": len(kept), "rows": len(records), "fingerprint": join_fingerprints(prints)}
    return Data(tuple(records), provenance)


def _pair(o: PreferenceOptions, item: Record, system: str, against: str) -> list[Record]:
    """The record of each order that is asked."""
    texts = dict(zip(SIDES, (system, against), strict=True))
    orders = list(SIDES) if o.order == "both" else [SIDES[0]]
    if o.order == "random":
        orders = [random.Random(f"{o.seed}-{item.id}").choice(SIDES)]
    groups = {"pair_id": item.id, "settled": settled(system, against, o.on_unparsed)}
    groups |= {"lengths": f"{len(system)} {len(against)}", "orders": str(len(orders))}
    # A run that is resumed after a side's file changed asks anew: verdicts on other texts are not of these ids.
    mark = hashlib.sha256(f"{system}\0{against}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return [
        dataclasses.replace(
            item,
            id=f"{item.id}-{first}-first-{mark}",
            fields={**item.fields, "first": texts[first], "second": texts[other(first)]},
            target=SIDES[0],
            groups={**item.groups, **groups, "first": first},
        )
        for first in orders
    ]


def templates(options: Options) -> dict[str, str]:
    """The judge's question and the scene's template."""
    o = cast(PreferenceOptions, options)
    if o.of == EXPLANATION.name:
        scene = read_templates("nycc", [f"scene.{o.setting}.txt"], None)
    else:
        scene = read_templates("mock", [f"show.{how}.txt" for how in mock.SHOWN[MOCK_INPUTS[o.setting]]], None)
    family = "stories" if o.of == MOCK_GENERATION.name else "preference"
    return dict(open_rubric(family, o.prompts, PREFERENCE).templates) | scene


def prompt(run: Run, record: Record) -> Prompt:
    """The joke and both explanations."""
    name = next((name for name in run.templates if name.startswith("scene.")), "")
    if name:
        context = f"{fill(run.templates[name], record.fields, name)}\n\nCaption: {record.fields['caption']}"
    else:
        context = mock.item(run.templates, record)
    material = {"context": context}
    material |= {side: record.fields[side] for side in ("first", "second")}
    *opening, asked = Rubric(run.templates, PREFERENCE).ask(material, own(run).structured).turns
    return Prompt((*opening, dataclasses.replace(asked, picture=record.picture, clip=record.clip)))


def read(structured: bool, reply: str, refused: bool) -> Answer:
    """One judge's verdict: A, B or tie."""
    said = read_preferred(reply, "json" if structured else "tags")
    return Answer(said.choice, "refused" if refused and said.choice is None else said.status)


def outcome(run: Run, record: Record, answer: Answer) -> Outcome:
    """See `decided`."""
    return decided(record, [answer.value], [answer.status])


EXPLANATION_PREFERENCE = Benchmark(
    name="explanation_preference",
    title="New Yorker Caption Contest: preferred explanation",
    paper=contest.PAPER,
    version="1-A",
    answer=lambda o: FreeText(partial(read, o.structured)),
    metrics=METRICS,
    options=PreferenceOptions,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
    judged=True,
)
