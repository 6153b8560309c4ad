"""Both harnesses read a reply by the same rule, and report how often a rule fell back to a letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, score
from inspect_ai.log import EvalLog
from standins.logs import metrics

from humor_tasks import evaluate, load
from humor_tasks.on_inspect import multiple_choice
from humor_tasks.tasks import matching
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

LEADERBOARD: dict[str, Any] = {"dataset": "sample", "extraction": "released_leaderboard"}
IDS = [record.id for record in load("matching", dataset="sample").records]


def in_inspect(task: Task, replies: dict[str, str], folder: Path) -> EvalLog:
    model = ScriptedModel("m", lambda messages: replies[messages[-1].metadata["id"]])
    (log,) = eval(task, model=model.model, log_dir=str(folder), display="log")
    assert log.status == "success"
    return log


def in_lm_eval(replies: dict[str, str], **metadata: Any) -> dict[str, Any]:
    found = run_lm_eval(ScriptedLM(lambda prompt, doc: replies[doc["id"]]), "nyc_matching_gen", metadata=metadata)
    return {"metrics": found["results"]["nyc_matching_gen"], "samples": found["samples"]["nyc_matching_gen"]}


@pytest.mark.slow
def test_the_share_of_fallbacks_is_a_metric_of_both_harnesses(tmp_path: Path) -> None:
    said = {identity: f"{'Final ' if i < 3 else ''}Answer: B" for i, identity in enumerate(IDS)}
    share = (len(IDS) - 3) / len(IDS)
    ours = metrics(in_inspect(matching(**LEADERBOARD), said, tmp_path))
    theirs = in_lm_eval(said, **LEADERBOARD)["metrics"]
    alone = evaluate("matching", said, **LEADERBOARD).metrics
    assert ours["fallback"] == theirs["fallback,none"] == alone["fallback"].value == pytest.approx(share)
    assert ours["fallback_stderr"] == theirs["fallback_stderr,none"] == pytest.approx(alone["fallback"].stderr)
    assert ours["unparsed"] == theirs["unparsed,none"] == 0


@pytest.mark.slow
def test_a_log_rescored_by_the_leaderboard_rule_tells_its_fallbacks(tmp_path: Path) -> None:
    log = in_inspect(matching(dataset="sample"), dict.fromkeys(IDS, "Answer: B"), tmp_path)
    assert "fallback" not in metrics(log)
    again = score(log, multiple_choice(extraction="released_leaderboard"), action="overwrite", display="log")
    assert metrics(again)["fallback"] == 1
