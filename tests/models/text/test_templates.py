"""Chat templates of several kinds: each shows the benchmark's turns, or is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelOutput
from standins.tiny_text import tiny_tokenizer

from humor_tasks.errors import BadInput
from humor_tasks.logs.record import template_entry
from humor_tasks.models.image_text import ModelTurn, text_of
from humor_tasks.models.text.templates import Form, chat_text, fit_template, is_folding

TEXTS = ["You are kind. Is it funny? Yes. No."]
TURNS = [{"role": "system", "content": "You are kind."}, {"role": "user", "content": "Is it funny?"}]
SHOTS = [*TURNS, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And this?"}]
ROWS = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] | trim }}\n{% endfor %}"
PROMPT = "{% if add_generation_prompt %}[assistant]{% endif %}"
PLAIN = ROWS + PROMPT
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/...') }}{% endif %}{% endfor %}"
)
DROPS = (
    "{% for m in messages %}{% if m['role'] != 'system' %}[{{ m['role'] }}]{{ m['content'] }}\n{% endif %}{% endfor %}"
)
PARTS = (
    "{% for m in messages %}[{{ m['role'] }}]"
    "{% for c in m['content'] if c.type == 'text' %}{{ c.text }}{% endfor %}{{ '\n' }}{% endfor %}"
)
OWN = "[system]You are kind.\n[user]Is it funny?\n[assistant]"
FOLDED = "[user]You are kind.\n\nIs it funny?\n[assistant]"
KINDS: dict[str, tuple[Any, str, bool]] = {
    "with a system turn": (PLAIN, OWN, False),
    "without one": (NO_SYSTEM + PLAIN, FOLDED, True),
    "that drops it": (DROPS + PROMPT, FOLDED, True),
    "of roles that it looks up": (
        "{% set n = {'user': 'user', 'assistant': 'assistant'} %}"
        "{% for m in messages %}[{{ n[m['role']] + '' }}]{{ m['content'] }}\n{% endfor %}" + PROMPT,
        FOLDED,
        True,
    ),
    "of parts only": (PARTS + PROMPT, OWN, False),
    "of parts without a system turn": (NO_SYSTEM + PARTS + PROMPT, FOLDED, True),
    "with a date": (
        "{% set d = strftime_now('%Y') %}{% if not date_string is defined %}{% endif %}" + PLAIN,
        OWN,
        False,
    ),
    "with tools": ("{% if tools %}{{ tools | tojson }}{% endif %}" + PLAIN, OWN, False),
    "with a default system text": (
        "{% if messages[0]['role'] != 'system' %}[system]Default.\n{% endif %}" + PLAIN,
        OWN,
        False,
    ),
    "of several names": ({"default": NO_SYSTEM + PLAIN, "rag": PLAIN}, FOLDED, True),
}


def tokenizer(template: Any) -> Any:
    made = tiny_tokenizer(TEXTS, "causal")
    made.chat_template = template
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_templates_show_the_system_text(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    template, expected, folds = KINDS[kind]
    owner = tokenizer(template)
    assert [chat_text(owner, TURNS), chat_text(owner, TURNS)] == [expected, expected]
    assert is_folding(owner) == folds
    told = [record.getMessage() for record in caplog.records if "has no system turn" in record.getMessage()]
    assert len(told) == folds
    assert chat_text(owner, SHOTS) == expected.replace("[assistant]", "[assistant]Yes.\n[user]And this?\n[assistant]")


def test_turns_without_a_system_text_stay_as_they_are() -> None:
    for template in (PLAIN, NO_SYSTEM + PLAIN, DROPS + PROMPT):
        assert chat_text(tokenizer(template), TURNS[1:]) == "[user]Is it funny?\n[assistant]"


def test_a_saved_tokenizer_folds_in_every_program(tmp_path: Path) -> None:
    """What is trained and saved is asked in the same form by harnesses that apply the template themselves."""
    import transformers

    owner = tokenizer(NO_SYSTEM + PLAIN)
    assert chat_text(owner, TURNS) == FOLDED
    owner.save_pretrained(tmp_path)
    again = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert again.apply_chat_template(TURNS, tokenize=False, add_generation_prompt=True) == FOLDED
    assert (chat_text(again, TURNS), is_folding(again)) == (FOLDED, True)
    assert again.chat_template == owner.chat_template  # not folded twice


def test_a_template_that_is_exchanged_is_asked_again() -> None:
    owner = tokenizer(NO_SYSTEM + PLAIN)
    assert fit_template(owner) == Form(True, False)
    owner.chat_template = PARTS + PROMPT
    assert fit_template(owner) == Form(False, True)


USERS = [*TURNS, {"role": "user", "content": "And this?"}]
REFUSED: dict[str, tuple[Any, list[dict[str, str]], str]] = {
    "two users in a row": (NO_SYSTEM + PLAIN, USERS, r"\(system, user, user\): Conversation roles must alternate"),
    "an assistant first": (
        NO_SYSTEM + PLAIN,
        [TURNS[0], {"role": "assistant", "content": "Yes."}, TURNS[1]],
        r"\(system, assistant, user\): System role not supported\. Change the template",
    ),
    "its own reason": ("{{ raise_exception('Only for tools.') }}", TURNS, r"\(system, user\): Only for tools\. Change"),
    "no template language": ("{% if %}", TURNS, r"\(system, user\): Expected an expression"),
    "no default": ({"rag": PLAIN, "tools": PLAIN}, TURNS, r"\(system, user\): This model has multiple chat templates"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_templates_that_refuse_the_turns(kind: str) -> None:
    template, turns, said = REFUSED[kind]
    with pytest.raises(BadInput, match=r"^the model's chat template cannot show the benchmark's turns " + said):
        chat_text(tokenizer(template), turns)


@pytest.mark.parametrize(
    "template",
    [" ", "Hello.", "{% for m in messages if m['role'] == 'system' %}{{ m['content'] }}{% endfor %}", "{{ tools }}"],
)
def test_templates_that_leave_out_the_users_text(template: str) -> None:
    with pytest.raises(BadInput, match=r"template leaves out the text of the user's turn\. Change the template, "):
        chat_text(tokenizer(template), TURNS)


def test_a_template_may_write_texts_in_another_way() -> None:
    capitals = "{% for m in messages %}{{ m['content'] | upper | replace(' ', '  ') }}{% endfor %}"
    assert chat_text(tokenizer(capitals), TURNS) == "YOU  ARE  KIND.IS  IT  FUNNY?"


@pytest.mark.parametrize("file", ["chat_template.jinja", "tokenizer_config.json"])
def test_the_file_of_the_template_is_named(file: str, tmp_path: Path) -> None:
    import transformers

    tokenizer("{{ raise_exception('No.') }}").save_pretrained(tmp_path)
    if file == "tokenizer_config.json":  # as older versions of transformers save it
        template = (tmp_path / "chat_template.jinja").read_text()
        (tmp_path / "chat_template.jinja").unlink()
        about = json.loads((tmp_path / file).read_text())
        (tmp_path / file).write_text(json.dumps(about | {"chat_template": template}))
    with pytest.raises(BadInput, match=rf": No\. Change the template, {tmp_path}/{file}\.$"):
        chat_text(transformers.AutoTokenizer.from_pretrained(tmp_path), TURNS)


class Processor:
    """What `text_of` uses of a processor, with a tokenizer's template."""

    image_token, video_token = "<image>", None

    def __init__(self, template: str) -> None:
        self.tokenizer = tokenizer(template)
        self.chat_template = template

    def apply_chat_template(self, turns: Any, **how: Any) -> str:
        given = {"chat_template": self.chat_template} | how
        return str(self.tokenizer.apply_chat_template(turns, **given))


IMAGES = PARTS.replace("if c.type == 'text' %}", "%}{% if c.type == 'image' %}{{ '<image>\\n' }}{% endif %}")
LOOKS = [ModelTurn("system", "You are kind."), ModelTurn("user", "Is it funny?", ("a picture",))]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (IMAGES, "[system]You are kind.\n[user]<image>\nIs it funny?\n[assistant]"),
        (NO_SYSTEM + IMAGES, "[user]You are kind.\n\n<image>\nIs it funny?\n[assistant]"),
        (ROWS, "[system]You are kind.\n[user]<image>\nIs it funny?\n[assistant]"),  # takes no lists
        (NO_SYSTEM + ROWS, "[user]You are kind.\n\n<image>\nIs it funny?\n[assistant]"),
    ],
)
def test_templates_of_models_that_see(template: str, expected: str) -> None:
    processor = Processor(template + PROMPT)
    assert text_of(processor, LOOKS) == expected
    assert is_folding(processor) == ("[system]" not in expected)


def test_the_answer_of_a_provider_signs_the_log() -> None:
    outputs = [ModelOutput(), output("chat_template"), ModelOutput.from_content("m", "Answer: A")]
    assert template_entry("reward/m", outputs) == {"chat_template": "folded"}
    assert template_entry("image_text/m", outputs[::-1]) == template_entry("reward/m", []) == {}
    assert template_entry("openai/m", outputs) == {}


def output(name: str) -> ModelOutput:
    written = ModelOutput.from_content("m", "Answer: A")
    written.metadata = {name: "folded"}
    return written
