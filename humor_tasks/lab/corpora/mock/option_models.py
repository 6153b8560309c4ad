"""Generation of distractors for MOCK's matching: a model writes them, a judge or embedding model rejects duplicates."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from inspect_ai.model import GenerateConfig, Model

from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.contract.judging.rubrics import Judgement, open_rubric
from humor_tasks.contract.prompts import Template, fill, read_all, split_turns
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import words_in
from humor_tasks.lab.corpora.mock.options import Item, Option, Plan
from humor_tasks.logs.record import CUT_OFF
from humor_tasks.on_inspect.calls import Calls
from humor_tasks.on_inspect.checks import check_takes
from humor_tasks.on_inspect.errors import first_exception
from humor_tasks.on_inspect.judging.graders import GraderSettings, read
from humor_tasks.on_inspect.local import Batcher
from humor_tasks.on_inspect.private import PrerequisiteError
from humor_tasks.rows.records import Prompt, Turn
from humor_tasks.scorers.tagged import read_tagged
from humor_tasks.scorers.verdict import as_data

SAME = Judgement("same.txt", ("first", "second", "format"), {"SAME": True, "DIFFERENT": False})
Same = Callable[[Item, str, str], Any]
"""A coroutine function: whether two lines of an item are equivalent; None where the verdict is unparsed."""
MANNER = {"comedy": " It is meant as it is said: it is not sarcastic."}
"""Scene -> how distractors are meant, where the paper (section 3.4) asks for it."""
_MARK = re.compile(r"\A(?:[1A][.)]|[-*•])\s")
_SEVERAL = re.compile(r"(?:1[.)]|A\)|[-*•])\s.*\s(?:2[.)]|B\)|[*•])\s", re.DOTALL)
QUOTES = {'"': '"', "“": "”", "‘": "’", "'": "'", "«": "»"}


@dataclass
class Result:
    """Distractors by item id, items without enough distractors and the reason, and counts of rejections."""

    options: dict[str, list[Option]] = field(default_factory=dict)
    short: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


class Writer:
    """Asks a model for a line that could replace the hidden one."""

    def __init__(self, model: Model, calls: Calls, o: mock.MockOptions, temperature: float | None) -> None:
        self.model, self.calls, self.seed, self.temperature = model, calls, o.seed, temperature
        write = Template("options", "write.txt", required=("item", "taken"))
        self.templates = read_all([*mock.showing(o.input, fixed=True), write], o)

    def prompt(self, item: Item, taken: Sequence[str]) -> Prompt:
        """The prompt: the item with its line hidden, and the lines that must not be repeated."""
        record = item.record
        fields = {**record.fields, "item": mock.item(self.templates, record)}
        fields["manner"] = MANNER.get(record.groups["scene"], "")
        fields["taken"] = as_data("\n".join(taken)) or "(none so far)"
        *opening, (_, body) = split_turns(self.templates["write.txt"], "write.txt")
        turns = [Turn(role, fill(text, fields, "write.txt")) for role, text in opening]
        return Prompt((*turns, Turn("user", fill(body, fields, "write.txt"), record.picture, record.clip)))

    async def __call__(self, item: Item, taken: Sequence[str], slot: int, attempt: int) -> str | None:
        """A line, or None where the reply was truncated, or has no line or a list of lines between its tags."""
        # A separate seed per call, so that two captions of one picture do not get the same line from the log of calls.
        drawn = random.Random(f"{self.seed}:{item.record.id}:{slot}:{attempt}").randrange(2**31)
        config = GenerateConfig(temperature=self.temperature, seed=drawn)
        about = {"item": item.record.id, "purpose": "write", "slot": slot, "attempt": attempt}
        output = await self.calls.ask(self.model, self.prompt(item, taken), config, about)
        line = read_tagged(output.completion, "line")
        if not line.tagged or line.status != "answered" or output.stop_reason in (*CUT_OFF, "content_filter"):
            return None
        if _SEVERAL.match(line.text):
            return None
        return bare(line.text, item.row["dialogue"][-1]["speaker"] if item.row["dialogue"] else "") or None


def bare(text: str, speaker: str = "") -> str:
    """A line without features that distinguish it from the answer: speaker, list marker, quotation marks, controls."""
    if speaker and text.casefold().startswith(f"{speaker.casefold()}:"):
        text = text[len(speaker) + 1 :].strip()
    text = _MARK.sub("", "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs"))).strip()
    inner, end = text[1:-1].strip(), QUOTES.get(text[:1])
    return inner if len(text) > 1 and end and text.endswith(end) and not {text[0], end} & set(inner) else text


def by_judge(model: Model, calls: Calls, prompts: str | None, seed: int) -> Same:
    """Equivalence by a judge's strictly parsed verdict."""
    rubric, how = open_rubric("options", prompts, SAME), GraderSettings(seed=seed)

    async def same(item: Item, first: str, second: str) -> bool | None:
        prompt = rubric.ask({"first": first, "second": second})
        about = {"item": item.record.id, "purpose": "judge"}
        output = await calls.ask(model, prompt, how.config(model.config), about)
        verdict: bool | None = read(str(model), output, SAME, structured=False).word
        return verdict

    return same


def by_embedding(embed: Callable[[Sequence[str]], Any], threshold: float) -> Same:
    """Equivalence by a cosine of at least `threshold` between the lines' embeddings."""
    cosines: Batcher[tuple[str, str], float] = Batcher(
        lambda pairs: [float(a @ b) for a, b in (embed(list(pair)) for pair in pairs)]
    )

    async def same(item: Item, first: str, second: str) -> bool:
        return await cosines((first, second)) >= threshold

    return same


async def make_options(
    plans: Sequence[Plan],
    lines: Mapping[str, Sequence[str]],
    write: Writer,
    same: Same,
    attempts: int,
    at_once: int,
    done: Callable[[], Any],
) -> Result:
    """Three distractors per item, none equivalent to the answer or another distractor; `done` is called after each
    item.

    lines: those of unrelated items, by item id. A line with an unparsed verdict is rejected too. Raises BadInput for a
    model that does not accept the items' media.
    """
    try:
        check_takes(write.model, [medium for p in plans for medium in (p.item.record.picture, p.item.record.clip)])
    except PrerequisiteError as problem:
        raise BadInput(str(problem).replace("input=", "--input ")) from None
    made, limit = Result(), anyio.CapacityLimiter(at_once)

    async def one(plan: Plan) -> None:
        async with limit:
            await _options(plan, lines[plan.item.record.id], write, same, attempts, made)
        done()

    try:
        async with anyio.create_task_group() as group:
            for plan in plans:
                group.start_soon(one, plan)
    except BaseExceptionGroup as problems:  # the other tasks were cancelled
        raise first_exception(problems) from None
    return made


async def _options(plan: Plan, lines: Sequence[str], write: Writer, same: Same, attempts: int, made: Result) -> None:
    item, rejected = plan.item, list[str]()
    options = [Option(plan.by_hand, "hand")] if plan.by_hand is not None else []

    async def is_new(text: str) -> bool:
        taken = [item.line, *(option.text for option in options)]
        if words_in(text) in {words_in(line) for line in taken} or not words_in(text):
            made.counts["same text"] += 1
            return False
        for line in taken:
            verdict = await same(item, line, text)
            if verdict is not False:
                made.counts["judged equivalent" if verdict else "verdict unparsed"] += 1
                return False
        return True

    for slot in range(2 - len(options)):
        for attempt in range(attempts):
            text = await write(item, [*(option.text for option in options), *rejected], slot, attempt)
            if text is None:
                made.counts["reply unparsed"] += 1
            elif await is_new(text):
                options.append(Option(text, "model"))
                break
            else:
                rejected.append(text)
        else:
            made.short[item.record.id] = f"no distractor by the model in {attempts} attempts"
            return
    for line in lines:
        if await is_new(line):
            made.options[item.record.id] = [*options, Option(line, "unrelated")]
            return
    made.short[item.record.id] = "no unrelated line with another meaning"
