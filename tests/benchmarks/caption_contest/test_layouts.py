"""Wordings of a user's folder, to the byte: worked examples, letters, entities and one text to complete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from standins.bad_rows import row

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.text.data import prompt_of
from humor_tasks.on_inspect.messages import question
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.local import prefix_of
from humor_tasks.on_lm_eval.providers.local import prompt_of as read_by_this_package
from humor_tasks.on_lm_eval.task import BenchmarkTask

WIKI = "https://en.wikipedia.org/wiki/"
SCENE = """Where: $image_location
What: $image_description
Odd: $image_uncanny_description
With: $entity_names"""
CHAT = {
    "scene.description.txt": SCENE,
    "matching.direct.txt": """== system ==
You sort captions.
== user ==
The next one.

$scene
Lines:
A: $A
B: $B
C: $C
D: $D
E: $E

Which?
== first ==
Each time I name five lines.
We begin.

$scene
Lines:
A: $A | B: $B | C: $C | D: $D | E: $E
== answer ==
$answer
""",
    "ranking.direct.txt": """== system ==
You rank captions.
== user ==
$scene
A: $A
B: $B
== answer ==
I would take $answer, at $$5.
""",
    "explanation.direct.txt": """== user ==
$scene
Line: $caption
== answer ==
Here is my explanation: $answer
""",
}
TEXT = {
    "scene.description.txt": "In $image_location. $image_description $image_uncanny_description Seen: $entity_links.",
    "matching.direct.txt": """== text ==
Say which line is of the picture.
%%%
== item ==
$scene
A) $A
B) $B
C) $C
D) $D
E) $E
the line is:
$answer
%%%
""",
    "ranking.direct.txt": """== text ==
== item ==
$scene A) $A B) $B. Funnier is $answer
""",
    "explanation.direct.txt": "== text ==\nSay why.\n== item ==\n$scene\nline: $caption\nwhy:\n${answer}\n===\n",
}


def rows_of(task: str) -> dict[str, list[dict[str, Any]]]:
    """One row to evaluate and one train row of each of two other contests, both alike."""
    other = {
        "image_location": "a  bank",
        "image_description": "A clown waits. ",
        "image_uncanny_description": "It is\u2009a bank.",
        "entities": [f"{WIKI}Fire_drill", f"{WIKI}Teller_(disambiguation)#Notes"],
        "caption_choices": {"matching": list("vwxyz"), "ranking": ["v", "w"], "explanation": "v"}[task],
        "label": {"matching": "D", "ranking": "A", "explanation": "Clowns save."}[task],
    }
    train = [row(task, **other, contest_number=n, instance_id=f"t{n}") for n in (2, 3)]
    return {"test": [row(task, entities=[f"{WIKI}Caf%C3%A9", f"{WIKI}Cook%27s_hat"])], "train": train}


@pytest.fixture
def given(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Parameters of a run on rows_of(task) with a folder of templates; the test's `task` and `texts`."""
    task, texts = request.param
    return {"dataset": dataset(tmp_path / "d", task), "prompts": folder(tmp_path / "p", texts)}


def dataset(path: Path, task: str) -> str:
    path.mkdir()
    for split, rows in rows_of(task).items():
        (path / f"{split}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    files = "".join(f"  - split: {split}\n    path: {split}.jsonl\n" for split in rows_of(task))
    (path / "README.md").write_text(f"---\nconfigs:\n- config_name: {task}\n  data_files:\n{files}---\n")
    return str(path)


def folder(path: Path, texts: Mapping[str, str]) -> str:
    path.mkdir()
    for name, text in texts.items():
        (path / name).write_text(text)
    return str(path)


def turns(run: Run) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in run.prompt(run.records[0]).turns]


BANK = "Where: a  bank\nWhat: A clown waits. \nOdd: It is\u2009a bank.\nWith: Fire drill, Teller"
# The script's rule for names decodes `%27s` alone, and loses the s.
KITCHEN = "Where: a kitchen\nWhat: A whale stands at a stove.\nOdd: Whales do not cook.\nWith: Caf%C3%A9, Cook' hat"
MATCHING = [
    ("system", "You sort captions."),
    (
        "user",
        f"Each time I name five lines.\nWe begin.\n\n{BANK}\nLines:\nA: v | B: w | C: x | D: y | E: z",
    ),
    ("assistant", "D"),
    ("user", f"The next one.\n\n{BANK}\nLines:\nA: v\nB: w\nC: x\nD: y\nE: z\n\nWhich?"),
    ("assistant", "D"),
    ("user", f"The next one.\n\n{KITCHEN}\nLines:\nA: one\nB: two\nC: three\nD: four\nE: five\n\nWhich?"),
]
RANKING = [
    ("system", "You rank captions."),
    *(("user", f"{BANK}\nA: v\nB: w"), ("assistant", "I would take A, at $5.")) * 2,
    ("user", f"{KITCHEN}\nA: one\nB: two"),
]
EXPLANATION = [
    *(("user", f"{BANK}\nLine: v"), ("assistant", "Here is my explanation: Clowns save.")) * 2,
    ("user", f"{KITCHEN}\nLine: one"),
]
IN_BANK = "In a  bank. A clown waits.  It is\u2009a bank. Seen: Fire_drill, Teller_(disambiguation)#Notes."
IN_KITCHEN = "In a kitchen. A whale stands at a stove. Whales do not cook. Seen: Caf%C3%A9, Cook%27s_hat."
BANK_LINES = "A) v\nB) w\nC) x\nD) y\nE) z\nthe line is:\nD\n%%%"
TEXTS = {
    "matching": f"Say which line is of the picture.\n%%%\n{IN_BANK}\n{BANK_LINES}\n{IN_BANK}\n{BANK_LINES}\n"
    f"{IN_KITCHEN}\nA) one\nB) two\nC) three\nD) four\nE) five\nthe line is:",
    "ranking": f"{IN_BANK} A) v B) w. Funnier is A\n{IN_BANK} A) v B) w. Funnier is A\n"
    f"{IN_KITCHEN} A) one B) two. Funnier is",
    "explanation": "Say why.\n"
    + f"{IN_BANK}\nline: v\nwhy:\nClowns save.\n===\n" * 2
    + f"{IN_KITCHEN}\nline: one\nwhy:",
}
CHATS = {"matching": MATCHING, "ranking": RANKING, "explanation": EXPLANATION}
TASKS = list(CHATS)


@pytest.mark.parametrize(("task", "given"), [(t, (t, CHAT)) for t in TASKS], indirect=["given"])
def test_turns(task: str, given: dict[str, Any]) -> None:
    assert turns(load(task, **given, shots=2)) == CHATS[task]
    opening = [] if task == "explanation" else CHATS[task][:1]
    assert turns(load(task, **given, cot=False)) == [*opening, CHATS[task][-1]]


@pytest.mark.parametrize(("task", "given"), [(t, (t, TEXT)) for t in TASKS], indirect=["given"])
def test_one_text(task: str, given: dict[str, Any]) -> None:
    run = load(task, **given, shots=2)
    assert turns(run) == [("user", TEXTS[task])]
    assert (run.form.prefix, run.form.written("X"), prompt_of(run, run.records[0])) == ("", "X", TEXTS[task])
    assert run.form.stop == {"matching": ("%%%",), "ranking": ("\n\n",), "explanation": ("===",)}[task]


@pytest.mark.parametrize("given", [("matching", CHAT), ("matching", TEXT)], ids=["chat", "text"], indirect=True)
@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
def test_both_harnesses_send_it(given: dict[str, Any]) -> None:
    """Nothing is added: to one text not even a blank line, and no `Answer:` before a letter."""
    chat = "== answer" in (Path(given["prompts"]) / "matching.direct.txt").read_text()
    plain = "\n\n".join(text for _, text in MATCHING) + "\n\n" if chat else TEXTS["matching"]
    (sample,) = build("matching", given | {"shots": 2}).dataset
    assert [(m.role, m.text) for m in sample.input] == (MATCHING if chat else [("user", plain)])
    read = question(sample.input, reads=True)
    assert (read.prompt, read.prefix) == (plain, "")
    for kind in ("multiple_choice", "generate_until"):
        task = BenchmarkTask({"task": "t", "benchmark": "matching", "output_type": kind, "metadata": dict(given)})
        (doc,) = task.test_docs()
        assert task.fewshot_context(doc, 2) == plain
        requests = task.construct_requests(doc, plain, metadata=("t", 0, 1))
        assert all((prefix_of(r), read_by_this_package(r, "")) == ("", plain) for r in requests)
        if kind == "multiple_choice":
            assert [request.args[1] for request in requests] == [" A", " B", " C", " D", " E"]
        else:
            assert requests[0].args[1]["until"] == (["\n\n"] if chat else ["%%%"])


@pytest.mark.parametrize(
    ("reply", "letter"),
    [("D", "D"), ("\nD\n", "D"), ("(D)", "D"), ("D) four", "D"), ("D: four", "D"), ("four", None), ("D or E", None)],
)
@pytest.mark.parametrize("given", [("matching", TEXT)], indirect=True)
def test_a_letter_alone_is_read(given: dict[str, Any], reply: str, letter: str | None) -> None:
    run = load("matching", **given, cot=False)
    assert run.outcome(run.records[0], reply).answer == letter


@pytest.mark.parametrize("given", [("explanation", CHAT)], indirect=True)
def test_an_explanation_is_read_behind_the_prefix_of_the_examples(given: dict[str, Any]) -> None:
    run = load("explanation", **given, shots=2)
    assert run.form.prefix == "Here is my explanation:"
    assert run.outcome(run.records[0], "Here is my explanation: Whales eat.").answer == "Whales eat."


@pytest.mark.parametrize("given", [("ranking", CHAT)], indirect=True)
def test_letters_follow_the_order_of_the_choices(given: dict[str, Any]) -> None:
    run = load("ranking", **given, cot=False, order="rotated")
    shown = [run.prompt(record).turns[-1].text.split("\n")[-2:] for record in run.records]
    assert shown == [["A: one", "B: two"], ["A: two", "B: one"]]


def test_a_picture_needs_no_words(tmp_path: Path) -> None:
    own = folder(tmp_path / "p", {"ranking.cot.txt": "== user ==\nA: $A\nB: $B"})
    run = load("ranking", dataset="sample", setting="pixels", prompts=own)
    for record in run.records:
        (turn,) = run.prompt(record).turns
        assert turn.text == "A: {}\nB: {}".format(*record.choices)
        assert turn.picture is record.picture


ITEM = "== user ==\n$scene $choices\n"
BAD = [
    (f"{ITEM}== answer ==\nIt is clear.", r"lacks \$answer; a worked example would show no answer. Write \$answer"),
    (f"{ITEM}== answer ==\n$answer of $scene", r"there is no field \$scene; the fields are \$answer"),
    (f"{ITEM}== answer ==\n$answer $answer", r"shows \$answer 2 times; write it once"),
    (f"{ITEM}== answer ==\n$answer\n== answer ==\n$answer", "repeat a section; write each once"),
    (f"{ITEM}== answer ==\n$answer\n== user ==\nMore", "== user == stands after == answer ==; turns come first"),
    (f"{ITEM}== first ==\n$scene", r"lacks \$choices; the model would not see the item"),
    (f"{ITEM}== first ==\n", "== first == is empty; write the first worked example, or leave the line out"),
    ("== user ==\n$scene $A $B $C $D", r"lacks \$choices; the model would not see the item"),
    (f"{ITEM}== text ==\nx\n== item ==\n$scene $choices", "one text has the lines == text == and then == item =="),
    ("== text ==\n$scene $choices", "one text has the lines == text == and then == item =="),
    ("== item ==\n$scene $choices", "one text has the lines == text == and then == item =="),
    ("== text ==\nx\n== item ==\n$scene $choices", r"== item == lacks \$answer; a worked example would show no"),
    ("== text ==\nx\n== item ==\n$scene $choice $choices: $answer", r"there is no field \$choice; the fields are"),
    (f"{ITEM}$entity_name", r"there is no field \$entity_name; the fields are"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_layouts_name_the_file_and_the_remedy(tmp_path: Path, text: str, message: str) -> None:
    own = folder(tmp_path / "p", {"matching.direct.txt": text})
    with pytest.raises(BadInput, match=f"^template matching.direct.txt: .*{message}"):
        run = load("matching", dataset="sample", prompts=own, shots=1)
        run.prompt(run.records[0])


def test_a_template_that_the_run_would_not_use_is_no_silent_default(tmp_path: Path) -> None:
    own = folder(tmp_path / "p", {"matching.cot.txt": ITEM})
    run = load("matching", dataset="sample", prompts=own, shots=1)
    with pytest.raises(
        BadInput, match=r"has matching.cot.txt and no matching.direct.txt, by which .* cot=false, .* Add"
    ):
        run.prompt(run.records[0])
    assert turns(load("matching", dataset="sample", prompts=own))[0][0] == "user"


def test_examples_with_pictures_are_turns(tmp_path: Path) -> None:
    own = folder(tmp_path / "p", {"ranking.direct.txt": "== text ==\n== item ==\n$choices $answer"})
    run = load("ranking", dataset="sample", setting="pixels", prompts=own, shots=1)
    with pytest.raises(BadInput, match=r"one text has no place for examples' pictures; write == user =="):
        run.prompt(run.records[0])


def test_tasks_that_do_not_read_a_section_refuse_it(tmp_path: Path) -> None:
    own = folder(tmp_path / "p", {"general.txt": "== user ==\n$first\n== answer ==\n$answer"})
    run = load("recitation", dataset="sample", prompts=own)
    with pytest.raises(BadInput, match=r"template general.txt: == answer == is for tasks that read it"):
        [run.prompt(record) for record in run.records]
