"""Prices of tokens: the packaged list, lists of one's own, and how Inspect gets them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelCost, get_model_info, set_model_cost
from standins import commands
from standins.graded_logs import GRADED, Logs, explainer, forget_prices, grader, paid, run_log, spent

from humor_tasks.errors import BadInput
from humor_tasks.logs.prices import VARIABLE, Price, read_prices
from humor_tasks.on_inspect.client import register_prices
from humor_tasks.tasks import humorbench
from humor_tasks.testing import ChatServer, text_of


@pytest.fixture
def no_prices() -> Iterator[None]:
    """Nothing registered before or after."""
    forget_prices()
    yield
    forget_prices()


def test_the_packaged_prices() -> None:
    prices = read_prices()
    text = (files("humor_tasks.logs") / "prices.toml").read_text(encoding="utf-8")
    told = {name: value for name, value in tomllib.loads(text).items() if name != "models"}
    assert told == {"currency": "USD", "unit": "million tokens", "date": told["date"]}
    published = {"openai/gpt-4o", "openai/o3", "grok/grok-4-0709", "anthropic/claude-opus-4-20250514"}
    assert published | {"anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro"} <= set(prices)
    providers = {name.split("/")[0] for name in prices}
    assert providers == {"openai", "anthropic", "google", "mistral", "deepseek", "grok", "together"}
    for name, price in prices.items():
        assert re.fullmatch(r"[a-z]+/[\w.\-/]+", name), name
        assert price.source.startswith("https://"), name
        assert date(2025, 1, 1) <= date.fromisoformat(price.as_of) <= date.fromisoformat(told["date"]), name
        assert 0 < price.cache_read <= price.input <= min(price.output, price.cache_write) < 1000, name


def test_the_cost_of_tokens() -> None:
    price = Price(1, 10, 0.1, 2, "-", "-")
    assert price.cost(100, 10, 30, 5) == pytest.approx(213e-6)
    assert price.cost(1_000_000, 0) == 1


def test_prices_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = tmp_path / "own.toml", tmp_path / "other.toml"
    own.write_text('[models."x/y"]\ninput = 1\noutput = 2.5\n')
    other.write_text('[models."x/z"]\ninput = 0\noutput = 0\nas_of = 2026-01-02\nsource = "https://x.example"\n')
    monkeypatch.setenv(VARIABLE, str(own))
    assert read_prices() == {"x/y": Price(1, 2.5, 1, 1, "-", "-")}  # without a cache price: that of input
    assert read_prices(other) == {"x/z": Price(0, 0, 0, 0, "2026-01-02", "https://x.example")}
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(VARIABLE, "~/other.toml")
    assert list(read_prices()) == ["x/z"]
    monkeypatch.setenv(VARIABLE, "")
    assert "openai/gpt-4o" in read_prices()


def test_prices_that_name_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    entry = '[models."x/y"]\ninput = 1\noutput = 2\n'
    found = []
    for head in ("", 'currency = "USD"\n', 'unit = "million tokens"\n', 'currency = "USD"\nunit = "million tokens"\n'):
        path.write_text(head + entry)
        found.append(read_prices(path))
    assert found == [{"x/y": Price(1, 2, 1, 1, "-", "-")}] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('currency = "EUR"\n[models."x/y"]\ninput = 1\noutput = 1', "currency is 'EUR'; it must be USD"),
        ('currency = ""\n[models."x/y"]\ninput = 1\noutput = 1', "currency is ''; it must be USD"),
        ('unit = "token"\n[models."x/y"]\ninput = 1\noutput = 1', "unit is 'token'; it must be million tokens"),
        ('unit = 1\n[models."x/y"]\ninput = 1\noutput = 1', "unit is 1; it must be million tokens"),
        (None, "there is no such file"),
        ("[models", "cannot be read"),
        ("\udcff", "cannot be read"),
        ("", "has no table"),
        ("[models]", "has no table"),
        ("models = 3", "has no table"),
        ('models = ["x/y"]', "has no table"),
        ('[models]\n"x/y" = 3', "x/y: must be a table with input, output"),
        ('[models."x/y"]\ninput = -1\noutput = 1', r"x/y: input is -1; it must be dollars"),
        ('[models."x/y"]\ninput = "1"\noutput = 1', "x/y: input is '1'"),
        ('[models."x/y"]\ninput = true\noutput = 1', "x/y: input is True"),
        ('[models."x/y"]\ninput = 1\noutput = nan', "x/y: output is nan"),
        ('[models."x/y"]\ninput = 1\noutput = inf', "x/y: output is inf"),
        ('[models."x/y"]\ninput = 1\noutput = 1\ncache_read = -0.1', "x/y: cache_read is -0.1"),
        ('[models."x/y"]\ninput = 1', "x/y: has no output price"),
        ('[models."x/y"]\noutput = 1', "x/y: input is None"),
    ],
)
def test_prices_that_are_none(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=f"prices: {re.escape(str(path))}.*{message}"):
        read_prices(path)


def test_prices_that_are_none_end_a_task_each_time(monkeypatch: pytest.MonkeyPatch, no_prices: None) -> None:
    monkeypatch.setenv(VARIABLE, "/no/where.toml")
    with pytest.raises(PrerequisiteError, match="there is no such file"):
        register_prices()
    with pytest.raises(PrerequisiteError, match="there is no such file"):  # the failure is not remembered as done
        humorbench(dataset="sample")


def cost_of(name: str) -> float | None:
    info = get_model_info(name)
    return info.cost.input if info and info.cost else None


def test_models_that_the_user_priced_keep_their_price(no_prices: None) -> None:
    before = get_model_info("openai/gpt-4o-mini")
    assert before
    assert before.cost is None
    set_model_cost("openai/gpt-4o", ModelCost(input=77, output=1, input_cache_read=1, input_cache_write=1))
    register_prices()
    assert cost_of("openai/gpt-4o") == 77
    assert cost_of("openai/gpt-4o-mini") == read_prices()["openai/gpt-4o-mini"].input
    after = get_model_info("openai/gpt-4o-mini")
    assert after
    assert after.model_copy(update={"cost": None}) == before


def test_prices_are_registered_once_a_process(logs: Logs, no_prices: None, monkeypatch: pytest.MonkeyPatch) -> None:
    humorbench(dataset="sample")
    assert cost_of("mockllm/a") is None
    monkeypatch.setenv(VARIABLE, str(logs.prices))
    humorbench(dataset="sample")
    assert cost_of("mockllm/a") is None
    register_prices.cache_clear()
    humorbench(dataset="sample")
    assert cost_of("mockllm/a") == 1


def test_a_cost_config_goes_before_our_prices(logs: Logs, tmp_path: Path) -> None:
    """Applied after our prices, as in a call of eval()."""
    own = ModelCost(input=1000, output=0, input_cache_read=0, input_cache_write=0)

    def make() -> EvalLog:
        task = humorbench(dataset="sample", cache=False)
        return run_log(task, explainer("a"), [grader("judge")], tmp_path, limit=2, model_cost_config={"mockllm/a": own})

    costs = [role and role.cost for role in paid(Path(logs.priced(make).location))]
    assert costs == [pytest.approx(2 * 100 * 1000 / 1e6), pytest.approx(2 * GRADED["judge"] / 1e6)]


@pytest.mark.slow
def test_a_cost_config_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Applied before our prices are registered."""
    (tmp_path / "costs.json").write_text(
        json.dumps({"openai/gpt-4o": {"input": 1000, "output": 0, "input_cache_read": 0, "input_cache_write": 0}})
    )
    (tmp_path / "prices.toml").write_text(
        '[models."openai/gpt-4o"]\ninput = 1\noutput = 1\n[models."openai/gpt-4o-mini"]\ninput = 2\noutput = 3\n'
    )
    monkeypatch.setenv(VARIABLE, str(tmp_path / "prices.toml"))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("INSPECT_DISPLAY", "plain")

    def answer(messages: list[dict[str, Any]]) -> str:
        asked = text_of(messages[-1])
        return "<judgement>PASS</judgement>" if "<point>" in asked else "<explanation>A pun.</explanation>"

    models = ("--model", "openai/gpt-4o", "--model-role", "grader=openai/gpt-4o-mini", "--limit", "3")
    how = ("--log-dir", tmp_path, "--model-cost-config", tmp_path / "costs.json")
    forget_prices()
    with ChatServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        asked = ("humor_tasks/humorbench", "-T", "dataset=sample", "-T", "cache=false")
        commands.inspect("eval", *asked, *models, *how, cwd=tmp_path)
    forget_prices()
    (path,) = tmp_path.glob("*.eval")
    system, graders = paid(path)
    assert spent(system) == (3, 3, 3 * 1000 / 1e6)  # a token in and a token out a request
    assert spent(graders) == (3, 3, 3 * (2 + 3) / 1e6)
