"""The plan of a suite: members, exact requests, tokens, cost, and how wide intervals will be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from standins.tiny_text import tiny_tokenizer

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.suites import ABILITIES
from humor_tasks.errors import BadInput
from humor_tasks.logs.prices import Price
from humor_tasks.rows.records import Turn
from humor_tasks.suites.members import Member, members, opened, suite_names
from humor_tasks.suites.plan import Asked, Requests, plan_of
from humor_tasks.suites.printed import as_markdown
from humor_tasks.suites.tokens import PER_TURN, counter_of, estimated, nothing
from humor_tasks.suites.typical import typical_reply
from humor_tasks.suites.width import half_width

TEXT = ["matching", "ranking", "recitation", "crowd_pairs", "crowd_groups", "humicroedit_rating"]
TEXT += ["humicroedit_pairwise", "bbeh_nycc"]


def names(suite: str, *given: str, **shared: Any) -> list[str]:
    return [member.name for member in members(suite, given, **shared)]


def test_members() -> None:
    assert names("text") == TEXT
    assert names("judged") == ["explanation_preference", "humorbench"]
    assert names("pictures")[:2] == ["matching (setting=pixels)", "ranking (setting=pixels)"]
    every = names("all")
    assert len(every) == len(set(every)) > 20
    assert suite_names() == ("text", "judged", "pictures", "writing", "all")
    assert {benchmark.ability for benchmark in BENCHMARKS.values()} - {""} == set(ABILITIES)


def test_parameters() -> None:
    found = members("text", ["crowd_pairs.per_contest=2", "shots=3"], dataset="sample", budget=5)
    by_name = {member.benchmark.name: dict(member.parameters) for member in found}
    assert by_name["crowd_pairs"] == {"dataset": "sample", "budget": 5, "per_contest": 2, "shots": 3}
    assert by_name["bbeh_nycc"] == {"dataset": "sample", "budget": 5}
    own = members("text", ["matching.budget=9", "matching.dataset=mine", "cot=false"], dataset="sample", budget=5)[0]
    assert dict(own.parameters) == {"dataset": "mine", "budget": 9, "cot": False}  # what is given for it alone
    shown = members("text", ["matching.prompts=/a/b/mine"])[0].name
    assert shown == "matching (prompts=mine)"


@pytest.mark.parametrize(
    ("suite", "given", "message"),
    [
        (
            "texts",
            [],
            "suite: there is no 'texts'; choose from text, judged, pictures, writing, all. Did you mean 'text'?",
        ),
        ("text", ["shots"], "-T shots: write -T NAME=VALUE."),
        ("text", ["shot=1"], "Did you mean 'shots'?"),
        ("text", ["humorbench.shots=1"], "task of suite text: there is no 'humorbench'"),
        ("text", ["shots=-1"], "-T shots=-1: matching: shots must be"),
        ("text", ["shots=1", "shots=2"], "shots is given twice; give it once."),
        ("text", ["matching.per_contest=1"], "parameter of matching: there is no 'per_contest'"),
    ],
)
def test_refused(suite: str, given: list[str], message: str) -> None:
    with pytest.raises(BadInput) as problem:
        members(suite, given)
    assert message in str(problem.value)


def test_left_out() -> None:
    ready, absent = opened(members("writing", dataset="sample"), grader=False)
    assert [member.benchmark.name for member, _ in ready] == ["explanation", "brainstorm", "humor_writing"]
    assert {each.why for each in absent} == {"needs a grader model: --grader MODEL."}
    with pytest.raises(BadInput, match="no task of the suite can run"):
        opened(members("judged", dataset="sample"), grader=False)
    _, (preference,) = opened(members("judged", dataset="sample"), grader=True)
    assert preference.why.startswith("system: name the explanations")


def test_every_grader_is_asked_of_every_model() -> None:
    models, graders = ([Asked(name, estimated()) for name in names] for names in ("mn", "gh"))
    plan = plan_of(opened(members("judged", dataset="sample"), grader=True)[0], models, graders, limit=5)
    assert plan.number == 2 * 5 + 2 * 2 * 5


def test_requests_and_cost() -> None:
    """Where replies are judged, and where a judge is asked for its own view first, once an item."""
    price = Price(2.0, 8.0, 2.0, 2.0, "-", "-")
    model = Asked("m", estimated(), price, most_tokens=100, reply_tokens=10)
    graders = [Asked("g", estimated(), None), Asked("h", estimated(), free=True)]
    ready, _ = opened(members("judged", dataset="sample"), True)
    plain = plan_of(ready, [model], graders)
    (task,) = plain.tasks
    assert task.by_model["m"].number == task.by_grader["g"].number == 38
    assert task.by_model["m"].written == 380
    assert plain.number == 38 * 3
    total = plain.total(model, grader=False)
    assert model.cost(total) == pytest.approx((2 * total.read + 8 * 380) / 1e6)
    assert model.most(total) == pytest.approx((2 * total.read + 8 * 3800) / 1e6)
    assert graders[0].cost(total) is None
    assert graders[1].cost(total) == 0
    first = plan_of(opened(members("judged", ["judge_first=commit"], dataset="sample"), True)[0], [model], graders)
    cartoons = 38 + len({record.cluster for record in ready[0][1].records})
    assert cartoons <= first.tasks[0].by_grader["g"].number <= 76
    short = plan_of(ready, [Asked("h", estimated(), most_tokens=3)], graders)
    assert short.tasks[0].by_model["h"].written == 38 * 3  # no reply is longer than the limit
    assert "- h judges its own replies." in as_markdown(short)
    text = as_markdown(plain, ())
    assert "38 + 76 to graders" in text
    assert "m: 38 requests" in text
    assert "no price is known" in text


def test_limit_and_replicates() -> None:
    models = [Asked("m", estimated()), Asked("n", nothing(), free=True)]
    chosen = [member for member in members("pictures", ["replicates=3"], dataset="sample") if "mock" in member.name]
    plan = plan_of(opened(chosen, grader=False)[0], models, (), limit=5)
    assert [task.by_model["m"].number for task in plan.tasks] == [15, 15, 15]
    assert plan.number == 2 * 3 * 15
    assert plan.total(models[1], grader=False) == Requests(45, 0, 0)


def test_notes() -> None:
    ready, _ = opened(members("pictures", ["mock_matching.input=media"], dataset="sample", budget=500), True)
    notes = {task.member.benchmark.name: task.notes for task in plan_of(ready, [Asked("m", estimated())], ()).tasks}
    assert notes["matching"] == (
        "The budget of 500 holds all of its items.",
        "The tokens of 10 pictures and clips are not counted.",
    )


# ---- tokens --------------------------------------------------------------------------------------

TURNS = [Turn("system", "Be brief."), Turn("user", "Which of them is it?")]


def test_tokenizer(tmp_path: Path) -> None:
    """By a chat template; without one the turns as plain text."""
    tokenizer = tiny_tokenizer(["Be brief. Which of them is it?"], "causal")
    tokenizer.save_pretrained(tmp_path / "base")
    tokenizer.chat_template = (
        "{% for m in messages %}<s> {{ m.content }} {% endfor %}{% if add_generation_prompt %}<s>{% endif %}"
    )
    tokenizer.save_pretrained(tmp_path / "chat")
    chat = counter_of("hf/local", {"model_path": str(tmp_path / "chat")})
    base = counter_of(f"text/{tmp_path / 'base'}", {})
    shown = "<s> Be brief. <s> Which of them is it? <s>"
    assert chat.prompt(TURNS) == len(tokenizer(shown, add_special_tokens=False)["input_ids"])
    assert base.prompt(TURNS) == len(tokenizer("Be brief.\n\nWhich of them is it?")["input_ids"])
    assert chat.about == f"counted by the tokenizer of {tmp_path / 'chat'}"
    assert counter_of("openai/m", {}, str(tmp_path / "chat")).text("Be brief.") == chat.text("Be brief.")


def test_estimate(tmp_path: Path) -> None:
    counter = counter_of("openai/m", {})
    assert counter.text("x" * 41) == 10
    assert counter.prompt(TURNS) == round(9 / 4.1) + round(20 / 4.1) + 2 * PER_TURN
    assert "within 15%" in counter.about
    assert counter_of("hf/local", {"model_path": str(tmp_path)}).source == ""
    with pytest.raises(BadInput, match=r"--tokenizer .*: cannot be loaded"):
        counter_of("openai/m", {}, str(tmp_path))


# ---- typical replies and widths -------------------------------------------------------------------


def test_typical_replies_are_read() -> None:
    """Otherwise judges would be asked nothing of them."""
    for member, run in opened(members("all", dataset="sample"), True)[0]:
        judging = run.benchmark.judging
        if member.benchmark.name != "brainstorm" and (judging is None or judging.judges_replies):
            record = run.records[0]
            assert run.outcome(record, typical_reply(run, record)).status == "answered", member.name


def test_width() -> None:
    """Narrower with more clusters; unknown where the metric has no scale."""
    widths = {
        member.benchmark.name: half_width(run) for member, run in opened(members("all", dataset="sample"), True)[0]
    }
    assert {name for name, width in widths.items() if width is None} == {"explanation", "recitation", "mock_explaining"}
    assert all(0.05 < width < 2 for width in widths.values() if width is not None)
    small, large = (
        half_width(Member(BENCHMARKS["crowd_pairs"], {"dataset": "sample", "budget": budget}).open())
        for budget in (40, 160)
    )
    assert small is not None
    assert large is not None
    assert large < small
