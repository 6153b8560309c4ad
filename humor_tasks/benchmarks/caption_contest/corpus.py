"""Shared code of the New Yorker Caption Contest benchmarks: parameters, rows, records, worked examples.

Hessel et al., ACL 2023, arXiv 2209.06293. Corpus: jmhessel/newyorker_caption_contest.
"""

from __future__ import annotations

import urllib.parse
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, get_args

from humor_tasks.benchmarks.answers import BLANK_LINE, Choice
from humor_tasks.benchmarks.card import Card, Source
from humor_tasks.benchmarks.contract import Benchmark, Data, Run
from humor_tasks.benchmarks.metric import Metric
from humor_tasks.benchmarks.options import Split, WithPictures, parameter
from humor_tasks.benchmarks.prompts import Template, fill, split_turns
from humor_tasks.benchmarks.shots import by_cluster, draw, released
from humor_tasks.data import papers
from humor_tasks.data.records import Outcome, Prompt, Record, Turn
from humor_tasks.data.rows import (
    Rows,
    described_by,
    is_leaderboard,
    open_rows,
    provenance_of,
    read_leaderboard,
    skipped_in,
)
from humor_tasks.data.text import check_text
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.scorers.estimate import Estimate, mean_of_folds
from humor_tasks.scorers.proportion import proportion_of_folds

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
SCENE_COLUMNS = ("image_location", "image_description", "image_uncanny_description", "entities")
WIKIPEDIA = "https://en.wikipedia.org/wiki/"
SOURCES = ("official_winner", "crowd_winner")


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
        told = "shots_order=released"
        if self.split == "train":
            raise BadInput(f"{told}: worked examples are drawn from the train split; evaluate validation or test.")
        if self.setting == "pixels":
            raise BadInput(f"{told}: the released script shows no pictures; use setting=description or caption_only.")
        if self.seed != type(self).seed and self.on_unparsed != "random":
            raise BadInput(f"{told} has its own seed; leave out seed={self.seed} (lm-eval: --seed).")

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
        shown = super().signature_entries()
        return shown | {"cot": self.reasons} if "cot" in shown else shown

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


def source(rows: str) -> Source:
    """The corpus as the source of a benchmark that reads these rows."""
    pin = "Rows come from the hub; -T revision=COMMIT pins them."
    licence = (
        "CC BY 4.0 for the authors' annotations and explanations; cartoons belong to their artists, captions to their "
        "writers."
    )
    return Source(HUB, pin, licence=licence, rows=rows)


card = partial(
    Card,
    paper=papers.CAPTION_CONTEST,
    sampling=SAMPLING,
    dates=DATES,
    dated=True,
    needs="hub, text only (7.9 GB more with pictures)",
)
"""The card of a benchmark of this corpus, with what all of them share."""


def load(benchmark: Benchmark[NyccOptions], o: NyccOptions, extra: Sequence[str] = ()) -> Data:
    """The records of one fold or of all five; `extra` names additional columns of the benchmark."""
    read = partial(_read, benchmark, o, tuple(extra))
    folds = FOLDS if o.fold == "all" else (str(o.fold),)
    if o.dataset != "sample" and is_leaderboard(o.dataset):
        parts = [_read_unlabelled(benchmark, o)]
    else:
        parts = [read(fold, o.split) for fold in folds]
    records = tuple(_distinct([record for rows, records in parts for record in records], parts))
    provenance = provenance_of([rows for rows, _ in parts], o.dataset, o.split, o.revision, len(records))
    if (describer := described_by(o.dataset)) is not None:  # the descriptions are a model's, not the corpus's
        provenance["described"] = describer
    # lm-eval sets the number of shots only after it builds a task, so training rows are loaded on demand.
    pool = lru_cache(maxsize=None)(lambda fold: by_cluster(read(fold, "train")[1]))

    @cache
    def drawn(fold: str, count: int) -> dict[str, list[Record]]:
        evaluated = [record for record in records if record.groups["fold"] == fold]
        return released(evaluated, pool(fold), count, _train(o))

    return Data(records, provenance, pool, skipped_in([rows for rows, _ in parts]), drawn_examples=drawn)


def _train(o: NyccOptions) -> str:
    return f"the train split of fold {o.fold}"


def _read(
    benchmark: Benchmark[NyccOptions], o: NyccOptions, extra: tuple[str, ...], fold: str, split: str
) -> tuple[Rows, list[Record]]:
    pixels = o.setting == "pixels"
    config = benchmark.name + ("_from_pixels" if pixels else "") + (f"_{fold}" if fold != "0" else "")
    columns = ["contest_number", "caption_choices", "label", "instance_id", *extra]
    if o.setting == "description":
        columns += SCENE_COLUMNS
    home = Path(folder(CARD))
    rows = open_rows(
        o.dataset,
        hub=HUB,
        cards=home,
        config=config,
        split=split,
        columns=columns,
        pictures=pixels,
        revision=o.revision,
        on_bad_picture=o.on_bad_picture,
    )
    labels = benchmark.form(o).labels
    return rows, [_record(labels, row, rows.where(i), fold, o.setting) for i, row in enumerate(rows.rows)]


def _read_unlabelled(benchmark: Benchmark[NyccOptions], o: NyccOptions) -> tuple[Rows, list[Record]]:
    if o.setting != "pixels":
        raise BadInput(f"{o.dataset} is in the leaderboard's format, which has only pictures: use setting=pixels.")
    if not benchmark.form(o).labels:
        raise BadInput(f"{o.dataset} is in the leaderboard's format, which has no {benchmark.name} instances.")
    if (o.fold, o.split, o.revision) != ("0", "test", None):
        raise BadInput(f"{o.dataset} is in the leaderboard's format: leave out fold, split and revision.")
    rows = read_leaderboard(Path(o.dataset), o.on_bad_picture)
    labels = benchmark.form(o).labels
    return rows, [_record(labels, row, rows.where(i), "-", o.setting) for i, row in enumerate(rows.rows)]


def _distinct(records: list[Record], parts: list[tuple[Rows, list[Record]]]) -> list[Record]:
    seen: dict[str, int] = {}
    where = [rows.where(i) for rows, part in parts for i in range(len(part))]
    for i, record in enumerate(records):
        if record.id in seen:
            raise BadInput(f"{where[i]}: instance_id {record.id} is also that of {where[seen[record.id]]}.")
        seen[record.id] = i
    return records


# ---- record -------------------------------------------------------------------------------------


def _record(labels: Sequence[str], row: Mapping[str, Any], where: str, fold: str, setting: str) -> Record:
    identity, contest = _text(row, "instance_id", where), row["contest_number"]
    choices = _choices(row, labels, where)
    fields = {"choices": "\n".join(f"{a}) {c}" for a, c in zip(labels, choices, strict=False))}
    if not labels:
        fields["caption"] = " ".join(_text(row, "caption_choices", where).split())
    scene = {} if setting != "description" else _scene(row, where)
    target = None if fold == "-" else _label(row, labels, where)
    if fold != "-" and (isinstance(contest, bool) or not isinstance(contest, int | str)):
        raise BadInput(
            f"{where}: contest_number is {contest!r}; it must be a whole number: standard errors are clustered by it."
        )
    return Record(
        id=identity,
        cluster=str(contest) if contest is not None else identity,
        fields=fields | scene,
        context=scene_context(scene) if scene else "",
        choices=choices,
        target=target,
        groups={"fold": fold} | ({"winner_source": str(row["winner_source"])} if "winner_source" in row else {}),
        picture=row.get("image"),
    )


def _text(row: Mapping[str, Any], column: str, where: str) -> str:
    return check_text(row[column], f"{where}: {column}")


def _choices(row: Mapping[str, Any], letters: Sequence[str], where: str) -> tuple[str, ...]:
    if not letters:
        return ()
    choices = row["caption_choices"]
    if not isinstance(choices, list) or len(choices) != len(letters):
        count = len(choices) if isinstance(choices, list) else f"{choices!r} instead of"
        raise BadInput(f"{where}: caption_choices has {count} captions; this benchmark needs {len(letters)}.")
    for letter, choice in zip(letters, choices, strict=True):
        check_text(choice, f"{where}: caption_choices: caption {letter}")
    shown = tuple(" ".join(choice.split()) for choice in choices)
    if len(set(shown)) < len(shown):
        warnings.warn(f"{where}: caption_choices contains the same caption twice.", stacklevel=2)
    return shown


def _label(row: Mapping[str, Any], letters: Sequence[str], where: str) -> str:
    label = _text(row, "label", where)
    if letters and label not in letters:
        raise BadInput(f"{where}: label is {label!r}; it must be one of {', '.join(letters)}.")
    source = row.get("winner_source")
    if "winner_source" in row and source not in SOURCES:
        raise BadInput(f"{where}: winner_source is {source!r}; it must be one of {', '.join(SOURCES)}.")
    return label


def _scene(row: Mapping[str, Any], where: str) -> dict[str, str]:
    entities = row["entities"]
    if not isinstance(entities, list) or not all(isinstance(link, str) for link in entities):
        raise BadInput(f"{where}: entities is {entities!r}; it must be a list of links.")
    names = {"location": "image_location", "description": "image_description", "uncanny": "image_uncanny_description"}
    scene = {name: " ".join(_text(row, column, where).split()) for name, column in names.items()}
    return scene | {"entities": ", ".join(entity_name(link) for link in entities)}


def scene_context(scene: Mapping[str, str]) -> str:
    """The scene as one text, which baselines and embedding models compare with captions."""
    return ". ".join(scene[name] for name in ("location", "description", "uncanny", "entities"))


def entity_name(link: str) -> str:
    """The readable name of a Wikipedia link, by the rule of the released code.

    The last path component without #fragment, "&redirect=no" and "(disambiguation)", percent-decoded, with spaces for
    underscores.
    """
    name = link.rstrip("/").rsplit("/", 1)[-1].removeprefix("?title=")
    name = name.split("#", 1)[0].replace("&redirect=no", "")
    return urllib.parse.unquote(name).replace("_", " ").replace("(disambiguation)", "").strip()


def link_of(name: str) -> str:
    """An entity as a Wikipedia link, as in the corpus; the link is made from the name and not looked up."""
    return WIKIPEDIA + urllib.parse.quote(name.replace(" ", "_"), safe="()',!:")


# ---- prompt -------------------------------------------------------------------------------------


SCENE = Template("nycc", "scene.{o.setting}.txt")
"""The template that shows a cartoon."""
FIXED_SCENE = replace(SCENE, fixed=True)
"""The same for prompts of another family, whose folder of templates does not replace it."""


def prompt(run: Run[NyccOptions], record: Record) -> Prompt:
    """The prompt: task turns, worked examples with answers, then the record (Appendix of the paper)."""
    scene_name, task_name = sorted(run.templates, key=lambda name: not name.startswith("scene."))
    scene = run.templates[scene_name]

    def user(item: Record, body: str) -> Turn:
        fields = {**item.fields, "scene": fill(scene, item.fields, scene_name)}
        return Turn("user", fill(body, fields, task_name), item.picture)

    *opening, (_, body) = split_turns(run.templates[task_name], task_name)
    turns = [Turn(role, fill(text, {}, task_name)) for role, text in opening]
    for shot in shots(run, record):
        turns += [user(shot, body), Turn("assistant", run.form.written(shot.target))]
    return Prompt((*turns, user(record, body)))


def shots(run: Run[NyccOptions], record: Record) -> list[Record]:
    """Worked examples for one record: one instance from each of several contests of the train split.

    With shots_order=released the sampling is that of the released script (see `released`). By default the procedure is
    the same except for the random stream, which is each record's own (see `draw`).
    """
    o = run.options
    if not o.shots:
        return []
    if record.groups["fold"] == "-":
        raise BadInput("shots: the leaderboard's format has no train split for worked examples; leave shots out.")
    fold = record.groups["fold"]
    if o.shots_order == "released" and run.data.drawn_examples is not None:
        return list(run.data.drawn_examples(fold, o.shots)[record.id])
    return draw(run.pool(fold), record, o.shots, o.seed, _train(o), "contests")


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
    each = {fold: metric.over(folds[fold]) for fold in sorted(folds)}
    missing = [metric.over(())] if set(folds) != set(FOLDS) else []
    mean = mean_of_folds([*each.values(), *missing])
    if metric.proportion and not missing:
        held = [folds[fold] for fold in each]
        values = [[o.values[metric.name] for o in fold] for fold in held]
        mean = proportion_of_folds(values, [[o.cluster for o in fold] for fold in held])
    return {metric.name: mean} | {f"{metric.name}_fold{fold}": e for fold, e in each.items()}
