"""Shared code of the New Yorker Caption Contest benchmarks: parameters, rows, records, worked examples.

Hessel et al., ACL 2023, arXiv 2209.06293. Corpus: jmhessel/newyorker_caption_contest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, get_args

from humor_tasks.benchmarks.caption_contest import released
from humor_tasks.contract.answers import BLANK_LINE, Choice
from humor_tasks.contract.card import Card, Source
from humor_tasks.contract.definition import Run
from humor_tasks.contract.metric import Metric
from humor_tasks.contract.options import Split, WithPictures, parameter
from humor_tasks.contract.prompts import Template, check_shows, fill, folder_of, read_templates, shows, split_turns
from humor_tasks.contract.prompts.layout import read_layout
from humor_tasks.contract.shots import draw
from humor_tasks.contract.variants import Group, OutputType, Variant, variants
from humor_tasks.errors import BadInput
from humor_tasks.papers import papers
from humor_tasks.rows import pins
from humor_tasks.rows.records import Outcome, Prompt, Record, plain_text
from humor_tasks.scorers.estimate import Estimate, mean_of_folds

SAMPLING = (  # section 3, appendices B.3 and B.7
    "GPT-3.5 and GPT-4 by OpenAI's defaults, `--gen_kwargs do_sample=True,temperature=1`; explanations of T5 by "
    "`--gen_kwargs do_sample=True,temperature=1,top_p=0.95` (in Inspect `--temperature 1 --top-p 0.95`); OFA by beam "
    "search with 5 beams, its default here."
)
HUB = "jmhessel/newyorker_caption_contest"
CARD = "newyorker_caption_contest"
DATES = "704 of the contests 1 to 763, which are weekly since 25 April 2005; 763 is of about July 2021."
Fold = Literal["0", "1", "2", "3", "4", "all"]
Setting = Literal["description", "pixels", "caption_only"]
ShotsOrder = Literal["seeded", "released"]
FOLDS: tuple[str, ...] = get_args(Fold)[:-1]
SPLITS: tuple[str, ...] = get_args(Split)


@dataclass(frozen=True)
class NyccOptions(WithPictures):
    """Parameters of the caption contest benchmarks."""

    scored = (*WithPictures.scored, "fold")  # for means over folds

    dataset: str = parameter(
        HUB,
        "Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged, "
        "invented).",
    )
    split: Split = parameter("test", "Split to evaluate.")
    shots: int = parameter(
        0, "Number of worked examples in the prompt, each from a different contest of the train split.", least=0
    )
    shots_order: ShotsOrder = parameter(
        "seeded",
        "Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's random "
        "stream over the whole split (`released`, docs/shots.md).",
    )
    fold: Fold = parameter(
        "0",
        "Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.",
        also=int,
    )
    setting: Setting = parameter(
        "description", "Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`)."
    )
    cot: bool | None = parameter(None, "Ask for reasoning before the answer; by default only without worked examples.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fold == "all" and self.split == "train":
            raise BadInput("fold=all with split=train: the train splits of the folds overlap; use one fold.")
        if self.shots_order == "released":
            self._check_released()

    def _check_released(self) -> None:
        """Raise BadInput for what the released script cannot do, or what would change its random stream."""
        option = "shots_order=released"
        if self.split == "train":
            raise BadInput(f"{option}: worked examples are drawn from the train split; evaluate validation or test.")
        if self.setting == "pixels":
            raise BadInput(f"{option}: the released script shows no pictures; use setting=description or caption_only.")
        if self.seed != type(self).seed and self.on_unparsed != "random":
            raise BadInput(f"{option} has its own seed; leave out seed={self.seed} (lm-eval: --seed).")

    @property
    def train_split(self) -> str:
        """Where worked examples are drawn from, for messages."""
        return f"the train split of fold {self.fold}"

    @property
    def reasons(self) -> bool:
        """Whether the prompt asks for reasoning before the answer."""
        return self.shots == 0 if self.cot is None else bool(self.cot)

    @property
    def style(self) -> str:
        """The part of a template's name that says whether the reply reasons first."""
        return "cot" if self.reasons else "direct"

    def signature_entries(self) -> dict[str, Any]:
        """`cot` has its effective value."""
        entries = super().signature_entries()
        return entries | {"cot": self.reasons} if "cot" in entries else entries

    def without_effect(self) -> set[str]:
        """`shots_order` where it has no effect, or that of the default."""
        seeded = not self.shots or self.shots_order == "seeded"
        return super().without_effect() | ({"shots_order"} if seeded else set())

    def for_likelihoods(self) -> dict[str, Any]:
        """Log-likelihoods of labels require a prompt without reasoning."""
        if self.cot:
            raise BadInput("cot=true requires a generated reply; this task compares log-likelihoods of answers.")
        return {"cot": False}

    @property
    def stop(self) -> tuple[str, ...]:
        """A blank line ends a direct answer; a reply with reasoning has no stop sequence."""
        return () if self.reasons else BLANK_LINE


def letters(letters: str) -> Callable[[NyccOptions], Choice]:
    """The answer form of a task with these letters; the options select the extraction rule."""
    return lambda o: Choice(letters, o.extraction, stop=o.stop)


# ---- source -------------------------------------------------------------------------------------


PICTURES = "7.9 GB"
"""The size of the hub's pictures."""


def source(rows: str) -> Source:
    """The corpus as the source of a benchmark that reads these rows."""
    licence = (
        "CC BY 4.0 for the authors' annotations and explanations; cartoons belong to their artists, captions to their "
        "writers."
    )
    return Source(HUB, pins.about(HUB), licence=licence, rows=rows, pictures=PICTURES)


card = partial(
    Card,
    paper=papers.CAPTION_CONTEST,
    sampling=SAMPLING,
    dates=DATES,
    dated=True,
    needs=f"hub, text only ({PICTURES} more with pictures)",
)
"""The card of a benchmark of this corpus, with what all of them share."""
DIFFERENCES = (
    "Prompts have the published structure in this project's own words; `prompts=FOLDER` takes the published turns, "
    "whose public files the corpus's card names.",
    "By default every model reads chat turns. The paper's GPT-3 completed one text, as `prompts=FOLDER` can ask.",
    "lm-eval's `_gen` tasks are greedy, and so are T5 and its like in both harnesses; the flags beside the published "
    "sampling sample as the paper did.",
    "The published GPT-3, GPT-3.5 and GPT-4 are shut down. Their protocols run with any other model.",
    "`humor-tasks export finetune` trains chat models, with the loss on the answer alone. The paper's GPT-3 had that "
    "for choices, and for explanations the default loss, which counts the prompt too.",
)
"""Of every task."""
OF_LETTERS = (
    *DIFFERENCES,
    "lm-eval's tasks without `_gen` compare the log-likelihoods of letters. The published language models wrote "
    "letters, as in the `_gen` tasks and in Inspect.",
)
"""Of tasks that are answered with a letter."""


# ---- prompt -------------------------------------------------------------------------------------


SCENE = Template("nycc", "scene.{o.setting}.txt", shared=True)
"""The template that shows a cartoon."""


def templates(name: str, captions: str, letters: str = "") -> tuple[Template, ...]:
    """The templates of a task; `captions` is the field with its captions, `letters` are fields with one each."""
    return SCENE, Template("nycc", f"{name}.{{o.style}}.txt", check=partial(_check, name, captions, letters))


def _check(name: str, captions: str, letters: str, template: str, o: NyccOptions) -> None:
    """Raise BadInput for a template that cannot be read, or that does not show the cartoon's words and the captions."""
    layout = read_layout(template, f"{name}.{o.style}.txt")
    for text in layout.shown:
        one_by_one = letters and all(shows(text, letter) for letter in letters)
        needed = [*(["scene"] if o.setting == "description" else []), *([] if one_by_one else [captions])]
        if not shows(text, released.FIELD):
            check_shows(text, layout.name, needed)


FIXED_SCENE = replace(SCENE, fixed=True)
"""The same for prompts of another family, whose folder of templates does not replace it."""


def prompt(run: Run[NyccOptions], record: Record) -> Prompt:
    """The prompt: task turns, worked examples with answers, then the record (Appendix of the paper)."""
    scene_name, task_name = sorted(run.templates, key=lambda name: not name.startswith("scene."))
    if folder := folder_of(run.options.prompts):
        _check_filled(folder, task_name)
    scene = run.templates[scene_name]

    def shown(item: Record) -> tuple[Record, Mapping[str, str]]:
        fields = {**item.fields, **dict(zip(ascii_uppercase, item.choices, strict=False))}
        fields["scene"] = fill(scene, item.fields, scene_name)
        if released.SCENE in fields:
            fields[released.FIELD] = released.line_of(item.fields, item.choices)
        return item, fields

    items = (*(shots(run, record) if run.options.shots else ()), record)
    return Prompt(read_layout(run.templates[task_name], task_name).turns([*map(shown, items)], run.form))


@cache
def _check_filled(folder: str, name: str) -> None:
    """Raise BadInput where a folder has the task's template for prompts with or without reasoning, and not this one."""
    task, style = name.split(".")[:2]
    other = f"{task}.{'direct' if style == 'cot' else 'cot'}.txt"
    files = {path.name for path in Path(folder).expanduser().glob(f"{task}.*.txt")}
    if other in files and name not in files:
        raise BadInput(
            f"prompts={folder}: has {other} and no {name}, by which this run asks: cot={str(style == 'cot').lower()}, "
            f"by default {'without' if style == 'cot' else 'with'} worked examples. Add {name}, or change cot or shots."
        )


def shots(run: Run[NyccOptions], record: Record) -> list[Record]:
    """Worked examples for one record: one instance from each of several contests of the train split.

    With shots_order=released the sampling is that of the released script (see `released`). By default the procedure is
    the same except for the random stream, which is each record's own (see `draw`).
    """
    o = run.options
    if record.groups["fold"] == "-":
        raise BadInput("shots: the leaderboard's format has no train split for worked examples; leave shots out.")
    fold = record.groups["fold"]
    if o.shots_order == "released" and run.data.drawn_examples is not None:
        return list(run.data.drawn_examples(fold, o.shots)[record.id])
    return draw(run.pool(fold), record, o.shots, o.seed, o.train_split, "contests")


# ---- metric -------------------------------------------------------------------------------------


def part(run: Run[NyccOptions], groups: Mapping[str, str]) -> str | None:
    """The fold, with fold=all."""
    return f"fold{groups['fold']}" if run.options.fold == "all" else None


def summary(run: Run[NyccOptions], metric: Metric, outcomes: Sequence[Outcome]) -> dict[str, Estimate]:
    """A metric over all outcomes; with fold=all, the unweighted mean of the folds and the value of each fold.

    The mean is nan where a fold has no outcome (as under a limit): a mean over fewer folds is not comparable.
    """
    if run.options.fold != "all":
        return {metric.name: metric.over(outcomes)}
    folds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        folds.setdefault(outcome.groups["fold"], []).append(outcome)
    by_fold = {fold: metric.over(folds[fold]) for fold in sorted(folds)}
    missing = [metric.over(())] if set(folds) != set(FOLDS) else []
    mean = mean_of_folds([*by_fold.values(), *missing])
    if (metric.proportion or metric.estimate is None) and not missing:
        outcomes_by_fold = [folds[fold] for fold in by_fold]
        values = [[o.values[metric.name] for o in fold] for fold in outcomes_by_fold]
        mean = metric.mean_of_folds(values, [[o.cluster for o in fold] for fold in outcomes_by_fold])
    return {metric.name: mean} | {f"{metric.name}_fold{fold}": e for fold, e in by_fold.items()}


# ---- tasks in lm-eval ------------------------------------------------------------------------------


LM_EVAL_SETTINGS = {
    "": {},
    "_pixels": {"setting": "pixels"},
    "_caption_only": {"setting": "caption_only"},
    "_crossval": {"fold": "all"},
}
LM_EVAL_GROUPS = {
    "": Group("nyc", "The three benchmarks of fold 0, letters by log-likelihood."),
    "_gen": Group("nyc_gen", "The three benchmarks of fold 0, replies generated."),
    "_crossval": Group("nyc_crossval", "The five folds: every metric is their unweighted mean, as in the paper."),
    "_wordings": Group("nyc_wordings", "As nyc, every item under all prompt sets."),
    "_wordings_gen": Group("nyc_wordings_gen", "As nyc_gen, every item under all prompt sets."),
    "_crossval_gen": Group("nyc_crossval_gen", "As nyc_crossval, replies generated."),
}


def in_lm_eval(base: str, likelihood: OutputType) -> tuple[Variant, ...]:
    """The tasks of one benchmark, by log-likelihoods and by written replies."""
    settings, groups = LM_EVAL_SETTINGS, LM_EVAL_GROUPS
    return variants(base, likelihood, "generate_until", settings=settings, groups=groups, wordings=True)


# ---- the prompt for one caption --------------------------------------------------------------------


WITH_SCENE, WITHOUT = "write.txt", "write.caption_only.txt"
CAPTION_PREFIX = "Caption:"


@dataclass(frozen=True)
class CaptionPrompt:
    """A request for a caption. `context` is a record's scene as one text; with "" the prompt has no scene."""

    templates: Mapping[str, str]

    @classmethod
    def read(cls, prompts: str | None = None) -> CaptionPrompt:
        """The packaged templates; files of the same names in the folder `prompts` replace them."""
        templates = read_templates("writing", [WITH_SCENE, WITHOUT], prompts)
        check_shows(templates[WITH_SCENE], WITH_SCENE, ("scene",), who="cartoon would not be shown")
        for name, text in templates.items():
            split_turns(text, name)
        return cls(templates)

    def messages(self, context: str) -> list[dict[str, str]]:
        """The conversational prompt: role and content of each turn."""
        name = WITH_SCENE if context.strip() else WITHOUT
        fields = {"scene": context} if name == WITH_SCENE else {}
        return [
            {"role": role, "content": fill(text, fields, name)}
            for role, text in split_turns(self.templates[name], name)
        ]

    def text(self, context: str) -> str:
        """The standard prompt: the turns' texts with blank lines between them, then "Caption:"."""
        return plain_text((turn["content"] for turn in self.messages(context)), CAPTION_PREFIX)
