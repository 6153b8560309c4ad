"""Brainstorm: list concepts for a cartoon, choose among them, write a caption and explain why it is funny.

Hessel et al., ACL 2023, arXiv 2209.06293, Appendix G. The nine worked examples are written for this package.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from humor_tasks.benchmarks.caption_contest import corpus, rows
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.contract.answers import Answer, FreeText
from humor_tasks.contract.card import Uses
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import REPLY_RATES, Metric, share
from humor_tasks.contract.options import OnUnparsed, absent, derived, parameter
from humor_tasks.contract.prompts import Template, filled_turns, folder_of
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import read_body
from humor_tasks.papers.considerations import considerations
from humor_tasks.rows.records import Outcome, Prompt, Record
from humor_tasks.scorers.answer import Mode
from humor_tasks.scorers.fields import Fields, items, read_fields
from humor_tasks.scorers.tagged import count_words

WITHOUT_CARTOON = "unconditional"
SHOWN = ("Place", "Scene", "Unusual", "Entities")
WRITTEN = ("Concepts", "Chosen", "Caption", "Explanation")
SAMPLING = {"temperature": 0.8, "top_p": 0.9, "frequency_penalty": 0.2, "presence_penalty": 0.05}
EXAMPLES = 9
EXAMPLES_FILE = "examples.txt"
LABELS_FILE = "labels.txt"
Setting = Literal["description", "pixels"]
_BETWEEN = re.compile(r"^[ \t]*(?:={3,}[ \t]*)?$", re.M)
_NONE = "brainstorm has no such parameter; for worked examples use examples."


@dataclass(frozen=True)
class BrainstormOptions(corpus.NyccOptions):
    """Parameters of the brainstorm; those of the corpus are inherited from `explanation`."""

    scored = (*corpus.NyccOptions.scored, "setting", "unconditional")  # which determine the lines of a reply

    shots: int = absent(0, _NONE)
    prompts: str | None = parameter(
        None,
        "Prompt set: A (the default) to E, `all` of them in one run, or a folder whose "
        "`brainstorm.*.txt`, `examples.txt` and `labels.txt` replace those of set A (docs/wordings.md).",
    )
    on_unparsed: OnUnparsed = absent("wrong", _NONE)
    extraction: Mode = absent("strict", _NONE)
    seed: int = 1234  # has no effect
    setting: Setting = parameter(
        "description",
        "Show place, scene, unusual part and entities as text (`description`), or the picture and also ask for them "
        "(`pixels`).",
    )
    unconditional: bool = parameter(
        False, "Show no cartoon: the model invents one and its caption, once an epoch. No rows are read."
    )
    shots_order: corpus.ShotsOrder = absent("seeded", _NONE)
    cot: bool | None = absent(None, _NONE)
    examples: int = parameter(EXAMPLES, "Number of worked examples in the prompt.", least=0)
    temperature: float | None = parameter(
        SAMPLING["temperature"],
        "Sampling temperature, by default as published; `none`: the provider's default.",
        least=0,
    )
    top_p: float | None = parameter(
        SAMPLING["top_p"],
        "Nucleus sampling, by default as published; `none`: the provider's default.",
        least=0,
        most=1,
    )
    frequency_penalty: float | None = parameter(
        SAMPLING["frequency_penalty"], "Frequency penalty, by default as published; `none`: the provider's default."
    )
    presence_penalty: float | None = parameter(
        SAMPLING["presence_penalty"], "Presence penalty, by default as published; `none`: the provider's default."
    )

    own_labels: str | None = derived(None)  # those of the folder's labels.txt, a line each, for the log's scoring

    def __post_init__(self) -> None:
        super().__post_init__()
        file = Path(folder_of(self.prompts) or "").expanduser() / LABELS_FILE
        if folder_of(self.prompts) and file.is_file():
            object.__setattr__(self, "own_labels", "\n".join(_labels_in(read_body(file))))

    def scoring(self) -> dict[str, Any]:
        """The labels too, where they are not the package's."""
        return super().scoring() | ({"own_labels": self.own_labels} if self.own_labels else {})

    def generation(self) -> dict[str, Any]:
        """The sampling settings."""
        return {name: getattr(self, name) for name in SAMPLING}

    def without_effect(self) -> set[str]:
        """See Options."""
        without = {"shots", "cot", "extraction", "on_unparsed", "seed", "own_labels"}  # the last are among the prompts
        return super().without_effect() | without | ({"setting"} if self.unconditional else set())

    @property
    def variant(self) -> str:
        """See Options."""
        return WITHOUT_CARTOON if self.unconditional else ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the lines in a reply: of the last four, or of all eight."""
        if self.own_labels:
            return tuple(self.own_labels.split("\n"))
        return WRITTEN if self.setting == "description" and not self.unconditional else (*SHOWN, *WRITTEN)


def _labels_in(text: str) -> list[str]:
    """The labels that a user's labels.txt gives the lines WRITTEN. Raises BadInput unless there is one for each."""
    labels = [label for line in text.split("\n") if (label := line.strip().rstrip(":"))]
    if len({label.casefold() for label in labels}) != len(WRITTEN) or len(labels) != len(WRITTEN):
        raise BadInput(
            f"template {LABELS_FILE}: has {len(labels)} lines; write four different ones, the labels of the lines "
            f"{', '.join(WRITTEN)} in a reply and in {EXAMPLES_FILE}."
        )
    return labels


def texts_of(run: Run, reply: str) -> Mapping[str, str]:
    """The lines of a reply to a run of this benchmark by the package's labels; none where they cannot be read."""
    assert isinstance(run.options, BrainstormOptions)
    texts: Mapping[str, str] = _read(reply, run.options.labels).texts
    return texts


def _read(reply: str, labels: Sequence[str]) -> Fields:
    """The lines of a reply by the package's labels."""
    reading = read_fields(reply, labels)
    names = (*SHOWN, *WRITTEN)[-len(labels) :]
    return dataclasses.replace(reading, texts=dict(zip(names, reading.texts.values(), strict=False)))


def load(benchmark: Benchmark[BrainstormOptions], o: BrainstormOptions) -> Data:
    """One record per cartoon, with the contest's number in its id and without captions and explanations; one record
    without a cartoon for `unconditional`.
    """
    if o.unconditional:
        if o.fold != "0":
            raise BadInput("unconditional=true has no folds; leave fold out.")
        record = Record(WITHOUT_CARTOON, WITHOUT_CARTOON, {}, "", (), "", {"fold": o.fold})
        nothing = dict.fromkeys(("requested_revision", "revision")) | {"configs": [], "split": o.split, "rows": 1}
        return Data((record,), {"dataset": WITHOUT_CARTOON, "fingerprint": "-", **nothing})
    data = rows.load(EXPLANATION, o)
    contests: dict[str, Record] = {}
    for record in data.records:
        contests.setdefault(record.cluster, record)
    scene_fields = ("location", "description", "uncanny", "entities")
    records = [
        dataclasses.replace(
            record,
            id=f"contest_{name}",
            target="",
            fields={k: v for k, v in record.fields.items() if k in scene_fields},
        )
        for name, record in contests.items()
    ]
    return Data(tuple(records), dict(data.provenance) | {"rows": len(records)}, data.pool)


def templates(o: BrainstormOptions) -> tuple[Template, ...]:
    """The templates of the question and of the worked examples."""
    kind = WITHOUT_CARTOON if o.unconditional else o.setting
    shows = ("examples", *(("description",) if kind == "description" else ()))
    question = Template("brainstorm", f"brainstorm.{kind}.txt", shows)
    labels = [Template("brainstorm", LABELS_FILE, shared=True)] if o.own_labels else []
    return question, Template("brainstorm", EXAMPLES_FILE, shared=True, check=examples_in), *labels


def examples_in(text: str, o: BrainstormOptions) -> list[str]:
    """The worked examples to show. Raises BadInput for a bad one in the template, and where it has too few."""
    examples = [block.strip() for block in _BETWEEN.split(text) if block.strip()]
    labels = o.labels if o.own_labels else (*SHOWN, *WRITTEN)
    for i, example in enumerate(examples, 1):
        if read_fields(example, labels).status != "answered":
            lines = ", ".join(labels)
            raise BadInput(
                f"template {EXAMPLES_FILE}: example {i} must have the lines {lines}, each once and in order. Other "
                f"labels stand in {LABELS_FILE} of the same folder."
            )
    if o.examples > len(examples):
        raise BadInput(f"examples={o.examples}: {EXAMPLES_FILE} has only {len(examples)} examples.")
    return examples[: o.examples]


def prompt(run: Run[BrainstormOptions], record: Record) -> Prompt:
    """The prompt with worked examples and the cartoon."""
    name = next(name for name in run.templates if name.startswith("brainstorm."))
    worked = examples_in(run.templates[EXAMPLES_FILE], run.options)
    examples = "\n\n".join(["Worked examples:", *worked]) if worked else "(There are no examples.)"
    if run.options.own_labels:
        examples = ("\n===\n" if "\n===" in run.templates[EXAMPLES_FILE] else "\n\n").join(worked)
    turns = filled_turns(run.templates[name], {**record.fields, "examples": examples}, name)
    return Prompt((*turns[:-1], dataclasses.replace(turns[-1], picture=record.picture)))


def read(labels: Sequence[str], reply: str, refused: bool) -> Answer:
    """The caption, with the metrics of the lines; no answer where one of the lines cannot be read."""
    reading = _read(reply, labels)
    status = "refused" if refused and reading.status != "answered" else reading.status
    values = {"parsed": float(status == "answered")}
    if status == "answered":
        concepts, chosen = (_listed(reading.texts[label], labels) for label in ("Concepts", "Chosen"))
        values |= {"concepts": float(len(concepts)), "chosen_among_them": float(chosen <= concepts)}
        values["caption_words"] = float(count_words(reading.texts["Caption"]))
    return Answer(reading.texts.get("Caption"), status, values)


def _listed(text: str, labels: Sequence[str]) -> set[str]:
    """The entries of a list, in any case: separated by semicolons or, under other labels, by commas."""
    commas = ";" not in text and tuple(labels[-len(WRITTEN) :]) != WRITTEN
    return {entry.casefold() for entry in items(text.replace(",", ";") if commas else text)}


def outcome(run: Run[BrainstormOptions], record: Record, answer: Answer) -> Outcome:
    """The outcome from the reply alone; `humor-tasks captions rank` measures the quality of captions."""
    return answer.outcome(dataclasses.replace(record, target=None))


BRAINSTORM = Benchmark(
    name="brainstorm",
    card=corpus.card(
        title="New Yorker Caption Contest: brainstorm a caption",
        considerations=considerations("newyorker_caption_contest", "brainstorm"),
        section="Appendix G",
        source=corpus.source("the cartoons of config `explanation`, each once, without its captions."),
        question="Brainstorm: can a model list concepts for a cartoon, choose among them, and write a caption?",
        claim="A model that lists concepts and chooses among them before it writes produces captions worth ranking.",
        prompt="Nine worked examples (written for this package), then the cartoon's place, scene, unusual part and "
        "entities. The reply has lines for the concepts, the chosen ones, the caption and its explanation. With "
        "`setting=pixels` they are also for place, scene, unusual part and entities. So they are with "
        "`unconditional=true`, where the model invents the cartoon. "
        "Sampling as published: temperature .8, top-p .9, frequency penalty .2, "
        "presence penalty .05.",
        metrics="The share of parseable replies, and properties of concepts and captions.",
        sampling="by the defaults of the parameters.",
        splits={"train": None, "validation": 130, "test": None},
        related=("caption_writing", "mock_generation"),
        dated=False,
        needs="hub",
        differences=(
            "The nine worked examples and the instructions are this package's own; `prompts=FOLDER` takes others, also "
            "in the paper's format.",
            "The paper's model continues the prompt as text; here a chat model is asked for the lines.",
            "There is no task in lm-eval: its requests have no frequency and presence penalties.",
        ),
        usage="`--epochs N` gives N captions per cartoon; `humor-tasks captions rank LOG --model MODEL` ranks them.",
    ),
    corpus="newyorker",
    version="2-A",
    answer=lambda o: FreeText(partial(read, o.labels), scorer="brainstormed", stop=o.stop),
    metrics=(
        share("parsed", "Share of replies in which every line can be read."),
        *REPLY_RATES,
        Metric("concepts", about="Number of different concepts listed.", neutral=True),
        share("chosen_among_them", "Share of replies whose chosen concepts are among the listed."),
        Metric("caption_words", about="Length of the caption in words.", neutral=True),
    ),
    options=BrainstormOptions,
    templates=templates,
    load=load,
    prompt=prompt,
    outcome=outcome,
    summary=corpus.summary,
    part=corpus.part,
    uses=Uses(writes="caption"),
    suites={"writing": {}},
    ability="writing",
)
