"""Shared code of the MOCK benchmarks: parameters, rows, records, rendering of items, parts of metrics.

MOCK (huMor-sarcasm cOmprehension benChmarK): detecting, matching and explaining humour and sarcasm in cartoons, posts
and comedy scenes. The assembled corpus is not public; `humor-tasks build mock` builds a replacement from the public
sources. See the card `datasets_cards/mock`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from humor_tasks.contract.card import UNNAMED, Card, Chain, Clips, Level, Source, Uses, Votes
from humor_tasks.contract.choice import lettered
from humor_tasks.contract.definition import Run
from humor_tasks.contract.options import Split, WithPictures, parameter
from humor_tasks.contract.prompts import Template, fill, split_turns
from humor_tasks.contract.shots import draw
from humor_tasks.contract.variants import OutputType, Variant, variants
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import as_seen, check_text, missing
from humor_tasks.papers import papers
from humor_tasks.rows import fingerprint
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Prompt, Record, Turn

CARD = "mock"
LM_EVAL = {"": {"input": "description"}, "_pixels": {"input": "media"}}
FRAMES = {"": {"input": "frames"}}  # shows comedy
Scene = Literal["all", "stills", "cartoon", "post", "comedy"]
SCENES: tuple[str, ...] = get_args(Scene)[2:]
# `stills`: the scenes without video.
CHOICES = {"all": SCENES, "stills": SCENES[:2]} | {scene: (scene,) for scene in SCENES}
Input = Literal["media", "description", "frames"]
INPUTS: tuple[str, ...] = get_args(Input)
Sampling = Literal["even", "scene"]
MOST_FRAMES = 64
EVERY = "all"  # what is left out of a scene without rows in the split
SCENE = "Scenes to evaluate; `stills` are cartoon and post, the scenes without video."

WORDS = {
    "cartoon": ("a cartoon and its caption", "a cartoon without its caption", "cartoon", "caption", "humorous"),
    "post": (
        "a picture that somebody posted, and its caption",
        "a picture that somebody posted, without its caption",
        *("picture", "caption", "sarcastic"),
    ),
    "comedy": (
        "a scene of a comedy with its dialogue",
        "a scene of a comedy with its dialogue but for the last utterance",
        *("scene", "last utterance", "sarcastic"),
    ),
}
"""Scene -> values of the template fields $material, $hidden, $thing, $line and $quality."""
CLIPS = Clips("comedy", "scene", "cartoon, post or stills (both)", ("input", "description"))


PUBLISHED = {
    "cartoon": {
        "detecting": (8521, 1066, 1066),
        "matching": (8681, 1085, 1085),
        "explaining": (391, 130, 130),
    },
    "post": {
        "detecting": (19815, 2410, 2410),
        "matching": (8517, 1063, 1063),
        "explaining": (2808, 351, 351),
    },
    "comedy": {
        "detecting": (4413, 552, 552),
        "matching": (4138, 517, 517),
        "explaining": (1792, 224, 224),
    },
}
"""Scene -> sub-task -> MOCK's published sizes of train, validation and test."""
card = partial(
    Card,
    paper=papers.MOCK,
    sampling=UNNAMED,
    counted="items of the paper's own corpus, all three scenes",
    dates="The paper gives none.",
    languages=("en", "hi"),  # dialogues of WITS are Hindi mixed with English
    needs="a corpus that you [build](docs/mock.md)",
)
"""The card of a benchmark of this corpus, with what all of them share."""


def source(rows: str) -> Source:
    """A MOCK folder as the source of a benchmark that reads these rows."""
    return Source(
        pin="The corpus is not public: give -T dataset=FOLDER; -T dataset=sample is a packaged, invented sample.",
        licence="MUStARD and MORE MIT; the New Yorker's annotations and explanations CC BY 4.0; WITS and Cai et al. "
        "none. Cartoons, posts and dialogues belong to their creators.",
        rows=rows,
    )


def sizes(task: str) -> dict[str, int | None]:
    """The paper's number of items of a sub-task by split."""
    return {split: sum(PUBLISHED[scene][task][i] for scene in SCENES) for i, split in enumerate(get_args(Split))}


def uses(task: str, votes: Votes | None = None) -> Uses:
    """What the items of a sub-task are good for."""
    return Uses(frozenset({"text", "image_text"}), votes, Chain(task), CLIPS, repeated=True)


def people(task: str, *values: float) -> tuple[Level, ...]:
    """What people reach in a sub-task, a scene at a time; one of the two is an author of the paper (section 4.1.2)."""
    return tuple(
        Level(value, f"accuracy_{scene}", "two people", f"MOCK, Table 2{part}, {task}, human")
        for part, scene, value in zip("abc", SCENES, values, strict=True)
    )


@dataclass(frozen=True)
class MockOptions(WithPictures):
    """Parameters of the MOCK benchmarks."""

    # The scene is needed for metrics per scene, the others by the solver `chain_of_task`.
    scored = (*WithPictures.scored, "scene", "dataset", "revision", "input", "frames", "sampling", "chain_of_task")

    dataset: str = parameter(
        "", "A folder written by `humor-tasks build mock`, its hub id, or `sample` (packaged, invented)."
    )
    split: Split = parameter("test", "Split to evaluate.")
    shots: int = parameter(
        0,
        "Number of worked examples in the prompt, from the same scene's train split, each with a different picture or "
        "clip.",
        least=0,
    )
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of worked examples, worked samples and random guesses.")
    scene: Scene = parameter("all", SCENE)
    input: Input = parameter(
        "media", "Show the picture or whole clip (`media`), `frames` of a clip as pictures, or a text (`description`)."
    )
    frames: int = parameter(8, "With `input=frames`: the number of frames.", least=1, most=MOST_FRAMES)
    sampling: Sampling = parameter(
        "even", "With `input=frames`: `even`ly spaced frames, or the frames after the largest changes (`scene`)."
    )
    chain_of_task: bool = parameter(
        False,
        "Begin the prompt with a worked sample of each other sub-task (Chain-of-Task), from the same scene's train "
        "split.",
    )

    def without_effect(self) -> set[str]:
        """The settings of frames where no frames are shown."""
        frames = self.input == "frames" and self.has_clips
        return super().without_effect() | (set() if frames else {"frames", "sampling"})

    def scoring(self) -> dict[str, Any]:
        """Also `on_bad_picture` where it leaves out rows."""
        return super().scoring() | ({"on_bad_picture": "skip"} if self.on_bad_picture == "skip" else {})

    @property
    def has_clips(self) -> bool:
        """Whether the scenes include comedy, whose media are clips."""
        return "comedy" in CHOICES[self.scene]


# ---- signature ----------------------------------------------------------------------------------


def worked(run: Run[MockOptions]) -> dict[str, str]:
    """For a signature: what of the folder is not evaluated, and the fingerprint of the pools of worked examples and
    samples; empty where nothing is left out and none are used.
    """
    o, task = run.options, run.benchmark.name.removeprefix("mock_")
    drawn = [other for other in NEEDS if (o.shots if other == task else o.chain_of_task and task in SHOWN_BY[other])]
    left_out = run.data.provenance.get("left_out", {})
    scenes = [scene for scene in CHOICES[o.scene] if left_out.get(scene) != EVERY]
    pooled = [run.pool(scene, other) for scene in scenes for other in drawn]
    rows = [
        {"id": r.id, "cluster": r.cluster, "fields": dict(r.fields), "target": r.target}
        for pool in pooled
        for records in pool.values()
        for r in records
    ]
    entries = {"left_out": ",".join(f"{scene}:{n}" for scene, n in left_out.items())} if left_out else {}
    return entries | ({"worked": fingerprint(rows)[:12]} if drawn else {})


# ---- record -------------------------------------------------------------------------------------

# Sub-task -> the columns that hold its answer.
NEEDS = {"detecting": ("label",), "matching": ("options", "answer"), "explaining": ("explanation",)}
SHOWN_BY = {
    "detecting": ("explaining",),
    "matching": ("detecting", "explaining"),
    "explaining": ("detecting", "matching"),
}
"""Sub-task -> the sub-tasks whose Chain-of-Task shows its train rows."""


def record(task: str, o: MockOptions, row: Mapping[str, Any], scene: str, where: str) -> Record:
    """A row of a sub-task as a record. Raises BadInput naming the row."""
    _, line = said_in(row, scene, where)
    choices, target = ANSWERS[task](row, line, where)
    return record_of(o, row, scene, where, task == "matching", choices, target)


def said_in(row: Mapping[str, Any], scene: str, where: str) -> tuple[list[tuple[str, str]], str]:
    """The utterances of a row, and its last utterance or caption. Raises BadInput for a row of another scene."""
    if row["scene"] != scene:
        raise BadInput(f"{where}: scene is {row['scene']!r}; in this config it must be {scene}.")
    turns = dialogue(row["dialogue"], where) if scene == "comedy" else []
    return turns, turns[-1][1] if turns else text(row, "caption", where)


def record_of(
    o: MockOptions,
    row: Mapping[str, Any],
    scene: str,
    where: str,
    hidden: bool,
    choices: tuple[str, ...] = (),
    target: str | None = None,
) -> Record:
    """A row as a record; where its caption or last utterance is `hidden`, no field contains it."""
    turns, line = said_in(row, scene, where)
    if hidden and len(turns) == 1:
        raise BadInput(f"{where}: dialogue has 1 utterance; where the last is hidden, there must be one before it.")
    words = dict(zip(("material", "hidden", "thing", "line", "quality"), WORDS[scene], strict=True))
    fields = words | {"choices": lettered(choices)}
    whole = "\n".join(f"{speaker}: {spoken}" for speaker, spoken in turns) or line
    fields |= {"said": _said(turns, line, hidden), "caption": "" if hidden else whole}
    fields |= {"punchline": "" if hidden else line}
    fields |= {"description": _description(row, scene, where)} if o.input == "description" else {}
    media = row.get("media")
    clip = _clip(o, media) if media is not None and scene == "comedy" else None
    before = " ".join(spoken for _, spoken in turns[:-1])
    return Record(
        id=text(row, "id", where),
        cluster=text(row, "media_id", where),
        fields=fields | {"count": str(o.frames)},
        context="\n".join(part for part in (fields.get("description", ""), before) if part),
        choices=choices,
        target=target,
        groups={"scene": scene},
        picture=None if clip else media,
        clip=clip,
    )


def _clip(o: MockOptions, shown: Picture) -> Clip:
    return Clip(shown.where, shown.path, shown.read_bytes, o.frames if o.input == "frames" else 0, o.sampling)


def text(row: Mapping[str, Any], column: str, where: str) -> str:
    """A text with whitespace collapsed; BadInput where it is missing or empty."""
    return " ".join(check_text(row[column], f"{where}: {column}").split())


def dialogue(turns: Any, where: str) -> list[tuple[str, str]]:
    """(speaker, text) of each utterance; BadInput where there is none."""
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise BadInput(f"{where}: dialogue is {turns!r:.80}; it must be a list of turns with speaker and text.")
    if not turns:
        raise BadInput(f"{where}: dialogue has no utterance; the question is about the last one.")
    if not all({"speaker", "text"} <= set(turn) for turn in turns):
        raise BadInput(f"{where}: dialogue: every turn needs speaker and text.")
    place = f"{where}: dialogue"
    return [(text(turn, "speaker", place), text(turn, "text", place)) for turn in turns]


def _description(row: Mapping[str, Any], scene: str, where: str) -> str:
    """The text that replaces the medium; optional for comedy, where the dialogue is shown."""
    if scene == "comedy" and not row["description"]:
        return ""
    if not row["description"]:
        raise BadInput(f"{where}: description is empty; it must be text.")
    return text(row, "description", where)


def _said(turns: Sequence[tuple[str, str]], line: str, hide: bool) -> str:
    """The caption or dialogue as the prompt shows it; for a hidden utterance, only its speaker."""
    if not turns:
        return "" if hide else f"Caption: {line}"
    lines = [f"{speaker}: {spoken}" for speaker, spoken in (turns[:-1] if hide else turns)]
    return "\n".join(["Dialogue:", *lines, *([f"{turns[-1][0]}: (hidden)"] if hide else [])])


def _label(row: Mapping[str, Any], line: str, where: str) -> tuple[tuple[str, ...], str]:
    if row["label"] not in ("yes", "no"):
        raise BadInput(f"{where}: label is {row['label']!r}; it must be 'yes' or 'no'.")
    return ("yes", "no"), row["label"]


def _options(row: Mapping[str, Any], line: str, where: str) -> tuple[tuple[str, ...], str]:
    """Four options and the answer's letter; the option of that letter must be the hidden line."""
    options = row["options"]
    if not isinstance(options, list) or len(options) != 4 or any(map(missing, options)):
        count = len(options) if isinstance(options, list) else repr(options)
        raise BadInput(f"{where}: options has {count}; four texts are needed (see `humor-tasks build options`).")
    captions = tuple(" ".join(option.split()) for option in options)
    if len({as_seen(option) for option in captions}) < 4:
        raise BadInput(f"{where}: options contains the same text twice; the four texts must differ.")
    answer = row["answer"]
    if answer not in tuple("ABCD"):
        raise BadInput(f"{where}: answer is {answer!r}; it must be A, B, C or D.")
    if captions["ABCD".index(answer)] != line:
        raise BadInput(f"{where}: option {answer}, the answer, is not the row's own line: '{line:.60}'.")
    return captions, answer


def _explanation(row: Mapping[str, Any], line: str, where: str) -> tuple[tuple[str, ...], str]:
    return (), text(row, "explanation", where)


ANSWERS: Mapping[str, Callable[[Mapping[str, Any], str, str], tuple[tuple[str, ...], str]]] = {
    "detecting": _label,
    "matching": _options,
    "explaining": _explanation,
}
"""Sub-task -> function of (row, line, where) that returns the choices and the target."""


# ---- prompt -------------------------------------------------------------------------------------

SHOWN = {"media": ("picture", "video"), "frames": ("picture", "frames"), "description": ("description", "dialogue")}


def templates(task: str) -> Callable[[MockOptions], list[Template]]:
    """The sub-task's template first, then those that show an item; with chain_of_task also the other sub-tasks'."""

    def under(o: MockOptions) -> list[Template]:
        tasks = dict.fromkeys((task, *(NEEDS if o.chain_of_task else ())))
        questions = (Template("mock", f"{t}.txt", ("item", *(["choices"] if t == "matching" else []))) for t in tasks)
        return [*questions, *showing(o.input)]

    return under


def showing(shown: str, fixed: bool = False) -> list[Template]:
    """The templates that show an item, by the value of `input`."""
    return [Template("mock", f"show.{how}.txt", fixed=fixed, shared=True) for how in SHOWN[shown]]


def prompt(run: Run[MockOptions], record: Record) -> Prompt:
    """The prompt: task turns, worked examples with answers, then the record."""
    name = next(name for name in run.templates if not name.startswith("show."))
    *opening, (_, body) = split_turns(run.templates[name], name)
    turns = [Turn(role, fill(text, record.fields, name)) for role, text in opening]
    for shot in shots(run, record):
        turns += [user(run, shot, body, name), Turn("assistant", run.form.written(shot.target))]
    return Prompt((*turns, user(run, record, body, name)))


def user(run: Run[MockOptions], record: Record, body: str, name: str) -> Turn:
    """The user turn that shows an item with its picture or clip and asks the question."""
    fields = {**record.fields, "item": item(run.templates, record)}
    return Turn("user", fill(body, fields, name), record.picture, record.clip)


def item(templates: Mapping[str, str], record: Record) -> str:
    """The text of an item: a reference to its picture or clip, or its description, and the caption or dialogue.

    A worked sample of comedy that has no clip where clips are shown (`loading.pools`) is its dialogue alone.
    """
    if record.clip is not None:
        how = "frames" if record.clip.frames else "video"
    elif record.picture is not None:
        how = "picture"
    elif "description" in record.fields:
        how = "description" if record.fields["description"] else "dialogue"
    else:
        return record.fields["said"]
    medium = fill(templates[f"show.{how}.txt"], record.fields, f"show.{how}.txt")
    return "\n\n".join(part for part in (medium, record.fields["said"]) if part)


def shots(run: Run[MockOptions], record: Record) -> list[Record]:
    """Worked examples from the same scene's train split; all media differ, also from the record's."""
    o, scene = run.options, record.groups["scene"]
    if not o.shots:
        return []
    pool = run.pool(scene, run.benchmark.name.removeprefix("mock_"))
    return draw(pool, record, o.shots, o.seed, f"the train split of {scene}", "media")


# ---- parts --------------------------------------------------------------------------------------


def part(run: Run[MockOptions], groups: Mapping[str, str]) -> str | None:
    """The scene, where several are evaluated."""
    return groups.get("scene") if len(CHOICES[run.options.scene]) > 1 else None


def in_lm_eval(base: str, likelihood: OutputType) -> tuple[Variant, ...]:
    """The tasks of one benchmark; lm-eval has no model with video input, so that only `_frames` shows comedy."""
    tasks = variants(base, likelihood, "generate_until", settings=LM_EVAL, metadata={"scene": "stills"}, wordings=True)
    return *tasks, *in_frames(base)


def in_frames(base: str) -> tuple[Variant, ...]:
    """The task that shows a clip as pictures."""
    return variants(base + "_frames", "generate_until", settings=FRAMES, metadata={"scene": "comedy"})
