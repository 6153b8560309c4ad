"""Chain-of-Task (MOCK, section 4.3): the prompt of a sub-task begins with one worked sample of each of the other two.

Detecting: a sample of matching, then the explanation of its answer. Matching: a humorous or sarcastic sample of
detecting, then its explanation; it is an explained row with the answer yes. Explaining: a sample of detecting, then one
of matching with another medium. Samples are drawn by seed and item from the train split of the same scene. They are
shown with their pictures or clips and with their answers. A sample never shares its medium with the item. It never
contains a line of the item among its options or in its dialogue; lines are compared without case, whitespace and
punctuation. `loading.pools` says which rows of comedy are shown by their dialogue because they have no clip.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from humor_tasks.benchmarks.mock import corpus
from humor_tasks.contract.answers import Choice, FreeText
from humor_tasks.contract.definition import Run
from humor_tasks.contract.prompts import fill, split_turns
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Prompt, Record, Turn

ORDER = {
    "detecting": ("matching", "explaining"),
    "matching": ("detecting", "explaining"),
    "explaining": ("detecting", "matching"),
}
"""Sub-task -> the sub-tasks whose samples its prompt begins with."""
_FEW = 16  # candidates to try before the whole pool of thousands is shuffled


def prompt(run: Run[corpus.MockOptions], record: Record) -> Prompt:
    """The sub-task's prompt; with chain_of_task=true, with worked samples of the others after its system turn."""
    plain = corpus.prompt(run, record)
    if not run.options.chain_of_task:
        return plain
    return inserted(plain, [turn for sample in samples(run, record) for turn in sample_turns(run, *sample)])


def inserted(asked: Prompt, worked: Sequence[Turn]) -> Prompt:
    """The prompt with the turns `worked` after its system turns."""
    first = next(i for i, turn in enumerate(asked.turns) if turn.role != "system")
    return Prompt((*asked.turns[:first], *worked, *asked.turns[first:]))


def samples(
    run: Run[corpus.MockOptions],
    record: Record,
    task: str = "",
    allowed: Callable[[Record], bool] = lambda sample: True,
) -> list[tuple[str, Record]]:
    """The sub-tasks to show before `task` (default: that of the run), each with its sample.

    `record` may be of another corpus; `allowed` then tells whether a sample may be used, such as by its medium. Raises
    BadInput where a sub-task has no usable sample.
    """
    scene, lines = record.groups["scene"], _lines(record)
    first, second = ORDER[task or run.benchmark.name.removeprefix("mock_")]

    def usable(sample: Record) -> bool:
        return lines.isdisjoint(_lines(sample) | _spoken(sample)) and allowed(sample)

    def drawn(other: str, *shown: Record) -> Iterator[Record]:
        """Usable samples with another medium than these records, in random order."""
        rng = random.Random(f"{run.options.seed}:{record.id}:{other}")
        apart = (s for s in _drawn(run.pool(scene, other), rng) if not any(_same_medium(s, each) for each in shown))
        return filter(usable, apart)

    def pairs() -> Iterator[tuple[Record, Record]]:
        if second == "explaining":  # drawn first, because few lines are explained
            for explained in drawn(second, record):
                yield from ((sample, explained) for sample in _of_line(run, first, explained) if usable(sample))
        else:
            for one in islice(drawn(first, record), 1):
                yield from ((one, other) for other in drawn(second, record, one))

    pair = next(pairs(), None)
    if pair is None:
        raise BadInput(
            f"chain_of_task: the train split of {scene} has no samples of {first} and {second} to show before "
            f"{record.id}: none can be shown, each shares a line, picture or clip with it, or they do not belong "
            "together (docs/mock.md#chain-of-task). Add rows, or leave chain_of_task out."
        )
    return list(zip((first, second), pair, strict=True))


def _of_line(run: Run[corpus.MockOptions], task: str, explained: Record) -> list[Record]:
    """The samples of detecting or matching about an explained line, which is humorous or sarcastic."""
    if task == "detecting":
        return [replace(explained, choices=("yes", "no"), target="yes")]
    line = _plain(explained.fields["punchline"])
    pool = run.pool(explained.groups["scene"], task)
    return [s for s in pool.get(explained.cluster, ()) if _plain(s.choices["ABCD".index(str(s.target))]) == line]


def _drawn(pool: Mapping[str, Sequence[Record]], rng: random.Random) -> Iterator[Record]:
    """One sample of each medium in random order, generated lazily because few are needed."""
    names = list(pool)
    for count in (min(_FEW, len(names)), len(names)):
        for name in rng.sample(names, count):
            yield rng.choice(pool[name])


def _same_medium(one: Record, other: Record) -> bool:
    file = _file(one)
    return one.cluster == other.cluster or (file is not None and file == _file(other))


def _file(record: Record) -> str | None:
    medium = record.clip or record.picture
    return medium.path if medium else None


def _lines(record: Record) -> set[str]:
    """The captions or last utterances of an item, as options or alone."""
    lines = {record.fields.get("punchline", ""), *(record.choices if len(record.choices) > 2 else ())}
    return {_plain(line) for line in lines if line}


def _spoken(sample: Record) -> set[str]:
    """All utterances of a sample: the same dialogue cut at another place has another last utterance."""
    lines = (line.partition(": ") for line in sample.fields.get("said", "").split("\n"))
    return {_plain(spoken) for _, _, spoken in lines if spoken}


def _plain(line: str) -> str:
    """The words of a line without case and punctuation; the line itself where it has no words."""
    return " ".join(re.findall(r"\w+", line.casefold())) or line


def sample_turns(run: Run[corpus.MockOptions], task: str, sample: Record) -> list[Turn]:
    """A sub-task's task turns without the system turn, which the prompt already has, and its sample with the answer."""
    name = f"{task}.txt"
    *opening, (_, body) = split_turns(run.templates[name], name)
    turns = [Turn(role, fill(text, sample.fields, name)) for role, text in opening if role != "system"]
    prefix = (Choice if sample.choices else FreeText).prefix
    return [*turns, corpus.user(run, sample, body, name), Turn("assistant", f"{prefix} {sample.target}")]
