"""lm-eval's road to CLIP's accuracy against the one without a harness: same model, instances and pictures on disk.

    python speed/clip_lm_eval.py [--architecture ViT-B-32] [--device cuda] [--instances 5000]

Both open the rows, answer and score them; what is embedded is forgotten before each. Without --architecture the model
has two layers of 64 numbers, so that little but reading pictures, tokenizing and the harness is left to be timed.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import open_clip
from clip_workload import write_corpus
from lm_eval import evaluator
from lm_eval.tasks import TaskManager

import humor_tasks
from humor_tasks import evaluate, load
from humor_tasks.models.choosers.chooser import LETTERS, Question, best
from humor_tasks.models.choosers.clip import ClipChooser
from humor_tasks.models.clip import Clip
from humor_tasks.on_lm_eval.providers.clip import ClipLM

TINY = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}
TASK = "nyc_matching_pixels"
TASKS = Path(humor_tasks.__file__).parent / "on_lm_eval" / "tasks"


def directly(clip: Clip, data: str) -> float:
    run = load("matching", dataset=data, setting="pixels")
    questions = [Question(r.id, r.context, r.choices, r.picture) for r in run.records]
    scores = ClipChooser(clip).score(questions)
    letters = {q.id: LETTERS[best(own)] for q, own in zip(questions, scores, strict=True)}
    return evaluate(run, letters).metrics["accuracy"].value


def in_lm_eval(model: ClipLM, data: str, log_samples: bool = False) -> float:
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata={"dataset": data})
    found = evaluator.simple_evaluate(model, tasks=[TASK], task_manager=manager, log_samples=log_samples)
    assert found is not None
    return float(found["results"][TASK]["acc,none"])


def timed(clip: Clip, run: Callable[[], float]) -> dict[str, float]:
    """Seconds on the clock, of the processor, and of the processor outside of `Clip.score`; and the accuracy."""
    clip.forget()
    inside, score = 0.0, Clip.score

    def watched(*arguments: Any) -> Any:
        nonlocal inside
        began = time.process_time()
        scores = score(*arguments)
        inside += time.process_time() - began
        return scores

    with mock.patch.object(Clip, "score", watched):
        start, spent = time.perf_counter(), time.process_time()
        accuracy = run()
        busy = time.process_time() - spent
    return {"clock": time.perf_counter() - start, "processor": busy, "besides": busy - inside, "accuracy": accuracy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--architecture", help="open_clip's name; default: two small layers")
    parser.add_argument("--device", help="default: the best there is")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--instances", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Tiny-16-32.json").write_text(json.dumps(TINY))
        open_clip.add_model_config(folder)
        data = write_corpus(Path(folder) / "data", given.instances)
        name = given.architecture or "Tiny-16-32"
        model = ClipLM(f"{name}/random", given.device, precision=given.precision)
        ways = {
            "without a harness": lambda: directly(model.clip, data),
            "lm-eval": lambda: in_lm_eval(model, data),
            "lm-eval, samples logged": lambda: in_lm_eval(model, data, log_samples=True),
        }
        for run in ways.values():  # once for what is done once: imports, first passes
            run()
        rounds = [{way: timed(model.clip, run) for way, run in ways.items()} for _ in range(given.runs)]
    assert len({found["accuracy"] for one in rounds for found in one.values()}) == 1
    print(f"{name} on {model.clip.device}, {given.precision}, {given.instances:,} instances, medians of {given.runs}")
    print(f"{'':24}{'seconds':>10}{'ratio':>8}{'processor':>12}{'ratio':>8}{'besides CLIP':>15}")
    for way in ways:
        clock, processor, besides = ([one[way][k] for one in rounds] for k in ("clock", "processor", "besides"))
        first = [one["without a harness"] for one in rounds]
        by_clock = statistics.median(a / b["clock"] for a, b in zip(clock, first, strict=True))
        by_processor = statistics.median(a / b["processor"] for a, b in zip(processor, first, strict=True))
        print(
            f"{way:24}{statistics.median(clock):10.2f}{by_clock:8.2f}{statistics.median(processor):12.2f}"
            f"{by_processor:8.2f}{statistics.median(besides):15.2f}"
        )
    print("goal: at most 1.10 times the time without a harness")


if __name__ == "__main__":
    main()
