"""One causal model by every route in this process: the same prompt gives the same log-likelihoods and the same reply.

The routes are Inspect's `hf/`, our `text/`, lm-eval's `hf` and our `humor-text`; the rows are packaged samples.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from lm_eval.models.huggingface import HFLM
from standins.tiny_text import tiny_folder

from humor_tasks import load
from humor_tasks.models.text.causal import plain_template
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.text import TextLM
from humor_tasks.rows.records import plain_text
from humor_tasks.testing import run_lm_eval

SAMPLE = {"dataset": "sample"}
ROWS, TOKENS = 2, 8
REAL = os.environ.get("HUMOR_TASKS_REAL_MODELS")
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not loop.last or add_generation_prompt %}\n{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def asked(model: Any, task: str, chat: bool, rows: int, **more: Any) -> dict[str, Any]:
    """{row: what lm-eval's model answered}."""
    found = run_lm_eval(model, task, limit=rows, metadata=SAMPLE, apply_chat_template=chat, **more)
    return {row["doc"]["id"]: row["filtered_resps"] for row in found["samples"][task]}


def inspected(name: str, model: str, rows: int, folder: Path, **more: Any) -> dict[str, Any]:
    """{row: the output of Inspect's model}."""
    (log,) = eval(build(name, SAMPLE), model=model, limit=rows, display="log", log_dir=str(folder), **more)
    assert log.status == "success", log.error
    return {str(sample.id): sample.output for sample in log.samples or ()}


def check_letters(name: str, folder: str, chat: bool, logs: Path, rows: int = ROWS) -> None:
    """Letters by three routes. Ours agree to 1e-5; the sum of `hf` over Gemma's 262,144 words is off by 1e-4."""
    hf = asked(HFLM(pretrained=folder, device="cpu", dtype="float32"), name, chat, rows)
    ours = asked(TextLM(folder, device="cpu"), name, chat, rows)
    texts = inspected(name, f"text/{folder}", rows, logs, model_args={"device": "cpu"})
    assert ours.keys() == hf.keys() == texts.keys()
    for identity, pairs in ours.items():
        chances = [chance for chance, _ in pairs]
        assert list(texts[identity].metadata["scores"].values()) == pytest.approx(chances, abs=1e-5)
        assert chances == pytest.approx([chance for chance, _ in hf[identity]], abs=2e-4)


def bare(reply: str) -> str:
    """A reply without the prefix with which a prompt ended, which our models repeat."""
    return reply.removeprefix("Answer:").strip()


def check_replies(name: str, folder: str, chat: bool, logs: Path, rows: int = ROWS) -> None:
    """Greedy replies of the first tokens; Inspect's `hf/` shows roles as words to a model without a template."""
    how = {"gen_kwargs": {"max_gen_toks": TOKENS}}
    models = (HFLM(pretrained=folder, device="cpu", dtype="float32"), TextLM(folder, device="cpu"))
    found = [
        {identity: bare(reply) for identity, (reply,) in asked(model, f"{name}_gen", chat, rows, **how).items()}
        for model in models
    ]
    if chat:
        greedy = {"model_path": folder, "do_sample": False, "device": "cpu"}
        outputs = inspected(name, "hf/local", rows, logs, model_args=greedy, max_tokens=TOKENS)
        found.append({identity: bare(output.completion) for identity, output in outputs.items()})
    assert any(found[0].values())
    assert all(replies == found[0] for replies in found)


@pytest.mark.slow
@pytest.mark.parametrize("template", [None, TEMPLATE, plain_template("Answer:")], ids=["none", "chat", "plain"])
def test_a_causal_model_answers_the_same_by_every_route(template: str | None, tmp_path: Path) -> None:
    run = load("humicroedit_pairwise", dataset="sample")
    texts = [plain_text((turn.text for turn in run.prompt(record).turns), "Answer:") for record in run.records]
    folder = tiny_folder(tmp_path / "model", texts, "causal", seed=1, layers=1)
    if template is not None:
        (tmp_path / "model" / "chat_template.jinja").write_text(template)
    check_letters("humicroedit_pairwise", folder, bool(template), tmp_path)
    check_replies("humicroedit_pairwise", folder, bool(template), tmp_path)


@pytest.mark.real_models
@pytest.mark.slow
@pytest.mark.skipif(REAL is None, reason="HUMOR_TASKS_REAL_MODELS is not set: real models are not part of this project")
@pytest.mark.cpu(20, "real models read prompts of 150 tokens")
@pytest.mark.parametrize("check", [check_letters, check_replies])
@pytest.mark.parametrize("folder", sorted(Path(REAL or ".").glob("*/config.json")), ids=lambda path: path.parent.name)
def test_a_real_model_answers_the_same_by_every_route(folder: Path, check: Any, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    chat = AutoTokenizer.from_pretrained(folder.parent).chat_template is not None
    check("humicroedit_pairwise", str(folder.parent), chat, tmp_path, rows=1)
