"""Reward models as choosers: equal to plain transformers, in both harnesses, and what cannot rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from inspect_ai import eval
from standins.tiny_text import tiny_network, tiny_tokenizer

from humor_tasks.api import load
from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
from humor_tasks.errors import BadInput
from humor_tasks.logs.inspect_logs import read_log
from humor_tasks.models.choosers.chooser import YES_NO, Question, best
from humor_tasks.models.choosers.reward import RewardChooser
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.reward import RewardLM
from humor_tasks.testing import run_lm_eval

CHAT = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
TEXTS = ["A lighthouse sits on a couch", "caption scene write funny cartoon magazine", "Nothing to see here, officer."]
PROMPT = CaptionPrompt.read()
QUESTIONS = [
    Question("a", "A lighthouse sits on a couch.", ("Nothing.", "It was a long night for all of us, your honour.")),
    Question("b", "", ("See?", "It was a long night for all of us, your honour.", "Officer!")),
    Question("c", "A lighthouse sits on a couch.", ("Nothing.", "Here.")),
]


def reward_folder(folder: Path, kind: str = "causal", chat: bool = True, outputs: int = 1, context: int = 1024) -> str:
    """A model for sequence classification with random weights, as RewardTrainer saves it."""
    import transformers as hf

    tokenizer = tiny_tokenizer(TEXTS, kind, context=context)
    tokenizer.chat_template = CHAT if chat else None
    config = tiny_network(kind, tokenizer).config
    config.num_labels = outputs
    torch.manual_seed(1)
    made = hf.LlamaForSequenceClassification if kind == "causal" else hf.BertForSequenceClassification
    network = made(config)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def plainly(folder: str, questions: list[Question], form: str) -> list[list[float]]:
    """Each text alone, through transformers."""
    import transformers as hf

    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    network = hf.AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def reward(context: str, caption: str) -> float:
        if form == "conversational":
            turns = [*PROMPT.messages(context), {"role": "assistant", "content": caption}]
            ids = tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True)["input_ids"]
        else:
            ids = tokenizer(f"{PROMPT.text(context)} {caption}</s>")["input_ids"]
        with torch.inference_mode():
            return float(network(torch.tensor([ids])).logits[0, 0])

    return [[reward(q.context, choice) for choice in q.choices] for q in questions]


def flat(scores: list[list[float]]) -> list[float]:
    return [value for own in scores for value in own]


@pytest.mark.parametrize(
    ("kind", "chat", "form"),
    [
        ("causal", True, "conversational"),
        ("causal", True, "standard"),
        ("causal", False, "standard"),
        ("encoder", False, "standard"),
    ],
)
def test_rewards_are_those_of_plain_transformers(kind: str, chat: bool, form: str, tmp_path: Path) -> None:
    folder = reward_folder(tmp_path, kind, chat)
    expected = plainly(folder, QUESTIONS, form)
    assert len({round(value, 4) for value in flat(expected)}) > 4
    given = None if chat == (form == "conversational") else form  # by default as the tokenizer says
    for size in (1, 2, 32):
        chooser = RewardChooser(folder, PROMPT, "cpu", size, format=given)
        assert chooser.format == form
        assert flat(chooser.score(QUESTIONS)) == pytest.approx(flat(expected), abs=1e-5)
        assert flat(chooser.score(QUESTIONS[::-1])[::-1]) == pytest.approx(flat(expected), abs=1e-5)
        assert chooser.cut == 0
    assert chooser.score([]) == []


@pytest.mark.parametrize("chat", [True, False])
def test_long_texts_lose_their_beginning(chat: bool, tmp_path: Path) -> None:
    chooser = RewardChooser(reward_folder(tmp_path, chat=chat), PROMPT, "cpu")
    ids = chooser._ids("A couch.", "Nothing.")
    assert (len(ids) > 40, chooser.limit, chooser.cut) == (True, 1024, 0)
    chooser.limit = 40
    assert chooser._ids("A couch.", "Nothing.") == ids[-40:]
    assert chooser.cut == 1


NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"


def with_template(folder: Path, template: str) -> str:
    name = reward_folder(folder)
    (folder / "chat_template.jinja").write_text(template)
    return name


def test_system_text_begins_the_users_turn_where_a_template_has_no_other(tmp_path: Path) -> None:
    folded = RewardChooser(with_template(tmp_path / "a", NO_SYSTEM + CHAT), PROMPT, "cpu")
    own = RewardChooser(with_template(tmp_path / "b", CHAT), PROMPT, "cpu")
    assert (dict(folded.signed), dict(own.signed)) == ({"chat_template": "folded"}, {})
    system, user = PROMPT.messages("A couch.")
    turns = [
        {"role": "user", "content": f"{system['content']}\n\n{user['content']}"},
        {"role": "assistant", "content": "Nothing."},
    ]
    expected = own.tokenizer.apply_chat_template(turns, tokenize=True, return_dict=True)["input_ids"]
    assert folded._ids("A couch.", "Nothing.") == expected != own._ids("A couch.", "Nothing.")
    standard = RewardChooser(with_template(tmp_path / "c", NO_SYSTEM + CHAT), PROMPT, "cpu", format="standard")
    assert not standard.signed
    info = RewardLM(str(tmp_path / "a"), device="cpu").get_model_info()
    assert info == {"reward": {"format": "conversational", "texts_cut": 0, "chat_template": "folded"}}


def test_a_template_that_refuses_the_turns_is_told_of_before_the_first_question(tmp_path: Path) -> None:
    folder = with_template(tmp_path / "m", "{{ raise_exception('Only two turns.') }}")
    said = rf"\(system, user, assistant\): Only two turns\. Change the template, {folder}/chat_template\.jinja, or use "
    with pytest.raises(BadInput, match=said + r"format=standard\.$"):
        RewardChooser(folder, PROMPT, "cpu")
    assert RewardChooser(folder, PROMPT, "cpu", format="standard").score(QUESTIONS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "said"),
    [
        (CHAT.replace("in messages", "in messages if m['role'] != 'assistant'"), "leaves out the caption"),
        (CHAT.replace("in messages", "in messages[:2]"), "leaves out the caption"),
        ("Hello.", "leaves out the text of the user's turn"),
    ],
)
def test_a_template_that_leaves_out_what_is_judged_is_refused(template: str, said: str, tmp_path: Path) -> None:
    folder = with_template(tmp_path / "m", template)
    with pytest.raises(BadInput, match=rf"{said}.*Change the template, {folder}/chat_template\.jinja"):
        RewardChooser(folder, PROMPT, "cpu")


def test_weights_that_lack_a_part_are_not_filled_with_random_numbers(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = Path(reward_folder(tmp_path)) / "model.safetensors"
    state = {name: tensor for name, tensor in load_file(file).items() if name != "score.weight"}
    save_file(state, file, metadata={"format": "pt"})
    with pytest.raises(BadInput, match=r"not those of a reward model: 1 weight: score\.weight missing"):
        RewardChooser(str(tmp_path), PROMPT, "cpu")


def test_a_folded_prompt_is_in_the_signature_of_a_log(tmp_path: Path) -> None:
    for name, template in (("folds", NO_SYSTEM + CHAT), ("plain", CHAT)):
        folder = with_template(tmp_path / name, template)
        eval(
            build("ranking", {"dataset": "sample"}), model=f"reward/{folder}", model_args={"device": "cpu"},
            display="log", log_dir=str(tmp_path / "logs" / name), limit=2,
        )  # fmt: skip
    folds, plain = (read_log(next((tmp_path / "logs" / name).iterdir())).signature for name in ("folds", "plain"))
    assert (folds.get("chat_template"), plain.get("chat_template")) == ("folded", None)
    assert {n: v for n, v in folds.items() if n != "chat_template"} == dict(plain)


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_both_harnesses_and_no_harness_pick_the_same(tmp_path: Path) -> None:
    folder = reward_folder(tmp_path / "m")
    run = load("ranking", dataset="sample")
    chooser = RewardChooser(folder, PROMPT, "cpu")
    scores = chooser.score([Question(r.id, r.context, r.choices) for r in run.records])
    picked = {r.id: "AB"[best(own)] for r, own in zip(run.records, scores, strict=True)}
    assert len({*picked.values()}) == 2
    (log,) = eval(
        build("ranking", {"dataset": "sample"}), model=f"reward/{folder}", model_args={"device": "cpu"},
        display="log", log_dir=str(tmp_path / "logs"),
    )  # fmt: skip
    assert log.samples
    assert {sample.id: sample.output.completion for sample in log.samples} == {
        name: f"Answer: {letter}" for name, letter in picked.items()
    }
    found = run_lm_eval(RewardLM(folder, device="cpu"), "nyc_ranking", metadata={"dataset": "sample"})
    right = sum(picked[r.id] == r.target for r in run.records) / len(run.records)
    assert found["results"]["nyc_ranking"]["acc,none"] == pytest.approx(right)


# ---- what cannot rank ---------------------------------------------------------------------------


def test_what_is_no_reward_model(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer(TEXTS, "causal")
    tiny_network("causal", tokenizer).save_pretrained(tmp_path / "writes")
    tokenizer.save_pretrained(tmp_path / "writes")
    reward_folder(tmp_path / "three", outputs=3)
    (tmp_path / "lora").mkdir()
    (tmp_path / "lora" / "adapter_config.json").write_text("{}")
    said = {
        "writes": r"is no reward model, which classifies sequences with one output; it is LlamaForCausalLM with",
        "three": r"it is LlamaForSequenceClassification with 3 outputs\.$",
        "lora": r"is an adapter; merge it into its model \(peft: merge_and_unload\) and save that\.$",
        "gone": r"there is no such folder, and it cannot be loaded from the hub",
    }
    for name, message in said.items():
        with pytest.raises(BadInput, match=message):
            RewardChooser(str(tmp_path / name), PROMPT, "cpu")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"precision": "int8"}, "reward: precision: there is no 'int8'"),
        ({"batch_size": 0}, "reward: batch_size is 0; it must be a whole number of at least 1."),
        ({"format": "chat"}, "reward: format: there is no 'chat'"),
        ({"format": "conversational"}, "has no chat template."),
        ({"device": "abacus"}, "reward: device is 'abacus'"),
    ],
)
def test_settings_that_cannot_be_used(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        RewardChooser(reward_folder(tmp_path, chat=False), PROMPT, **{"device": "cpu"} | given)


def test_questions_that_it_cannot_answer(tmp_path: Path) -> None:
    chooser = RewardChooser(reward_folder(tmp_path), PROMPT, "cpu")
    chooser.check(QUESTIONS[0])
    for question, said in (
        (Question("q", "A couch.", ()), "has no choice of them"),
        (Question("q", "A couch.", YES_NO), "has no choice of them"),
        (Question("q", "", ("a", "b"), picture=object()), "cannot see the picture; use setting=description"),
    ):
        with pytest.raises(BadInput, match=said):
            chooser.check(question)


def test_a_reward_that_is_no_number_is_refused(tmp_path: Path) -> None:
    chooser = RewardChooser(reward_folder(tmp_path), PROMPT, "cpu")
    with torch.no_grad():
        chooser.network.score.weight.fill_(float("nan"))
    with pytest.raises(BadInput, match=r"the reward of 'Nothing\.' is nan; try precision=fp32\.$"):
        chooser.score(QUESTIONS)
