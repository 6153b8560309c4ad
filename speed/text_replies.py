"""Greedy replies of a causal model in both harnesses, beside the harness's own model: one run, each in its own process.

    python speed/text_replies.py --pretrained HuggingFaceTB/SmolLM2-135M-Instruct [--rows 16] [--lm-eval-tokens 200]

Compared are `humor-text` with lm-eval's `hf`, and `text/` with Inspect's `hf/` at several numbers of connections, on
explanations of humorbench's packaged rows. Every reply has the same number of tokens, because an end token is never
written. Loading the model and a first reply are not timed. Memory is a process's peak, with the model.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any

TASK = "humorbench"
ROUTES = {"lm-eval": ("humor-text", "hf"), "inspect": ("text/", "hf/")}


def prompts(rows: int) -> list[list[dict[str, str]]]:
    """The turns of the first rows."""
    from humor_tasks import load

    run = load(TASK, dataset="sample")
    turns = [run.prompt(record).turns for record in run.records[:rows]]
    return [[{"role": turn.role, "content": turn.text} for turn in each] for each in turns]


def in_lm_eval(name: str, given: argparse.Namespace) -> Any:
    """A function that writes the replies to so many of these rows, in batches."""
    from lm_eval.models.huggingface import HFLM

    from humor_tasks.on_lm_eval import harness
    from humor_tasks.on_lm_eval.providers.text import TextLM

    how = {"device": given.device, "batch_size": given.connections}
    model: Any
    if name == "hf":
        model = HFLM(pretrained=given.pretrained, dtype="float32", **how)
    else:
        model = TextLM(given.pretrained, **how)
    network = model.model if name == "hf" else model.language.network
    network.generation_config.min_new_tokens = given.tokens
    texts = [model.apply_chat_template(turns) for turns in prompts(given.rows)]

    def write(count: int) -> list[str]:
        settings = {"max_gen_toks": given.tokens, "do_sample": False, "until": []}
        requests = [
            harness.request("generate_until", {}, (text, dict(settings)), 0, harness.Where("rows", n))
            for n, text in enumerate(texts[:count])
        ]
        return list(model.generate_until(requests, disable_tqdm=True))

    return write


def in_inspect(name: str, given: argparse.Namespace) -> Any:
    """As `in_lm_eval`, by an evaluation with so many connections."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
    from inspect_ai.solver import generate

    greedy: dict[str, Any] = {"model_path": given.pretrained, "do_sample": False} if name == "hf/" else {}
    model = get_model("hf/local" if name == "hf/" else f"text/{given.pretrained}", device=given.device, **greedy)
    network = model.api.model if name == "hf/" else model.api.chooser.model.network  # type: ignore[attr-defined]
    network.generation_config.min_new_tokens = given.tokens
    shown = {"system": ChatMessageSystem, "user": ChatMessageUser}
    samples = [Sample(input=[shown[t["role"]](content=t["content"]) for t in turns]) for turns in prompts(given.rows)]

    def write(count: int) -> list[str]:
        task = Task(dataset=MemoryDataset(samples[:count]), solver=generate())
        how = {"max_connections": given.connections, "max_tokens": given.tokens, "log_dir": given.folder}
        (log,) = eval(task, model=model, display="none", log_format="eval", **how)
        if log.status != "success":
            raise SystemExit(f"{name}: {log.error}")
        return [sample.output.completion for sample in log.samples or ()]

    return write


def measure(given: argparse.Namespace) -> None:
    """Print seconds, processor seconds, the peak of memory in MiB and the replies of one model, as JSON."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    harness, name = given.measure.split(":")
    write = (in_lm_eval if harness == "lm-eval" else in_inspect)(name, given)
    write(1)
    start, used = time.perf_counter(), time.process_time()
    replies = write(given.rows)
    found = {"seconds": time.perf_counter() - start, "processor": time.process_time() - used}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**found, "peak": peak, "replies": replies}))


def measured(model: str, given: argparse.Namespace, tokens: int, connections: int, folder: str) -> dict[str, Any]:
    """What a process of its own prints for this model."""
    options = {"--pretrained": given.pretrained, "--device": given.device, "--rows": given.rows, "--tokens": tokens}
    options |= {"--connections": connections, "--measure": model, "--folder": folder}
    command = [sys.executable, __file__, *(str(part) for pair in options.items() for part in pair)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "INSPECT_DISPLAY": "none"})
    if done.returncode:
        raise SystemExit(f"{model}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pretrained", required=True, help="a causal checkpoint with a chat template")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=8, help="in lm-eval")
    parser.add_argument("--lm-eval-tokens", type=int, default=200, help="of each reply")
    parser.add_argument("--inspect-tokens", type=int, default=100, help="of each reply")
    parser.add_argument("--connect", default="1,8,32", help="numbers of connections, in Inspect")
    for option in ("--tokens", "--connections"):
        parser.add_argument(option, type=int, help=argparse.SUPPRESS)
    for option in ("--measure", "--folder"):
        parser.add_argument(option, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given)
        return
    cases = [("lm-eval", given.lm_eval_tokens, given.batch_size)]
    cases += [("inspect", given.inspect_tokens, int(count)) for count in given.connect.split(",")]
    print(
        f"{given.pretrained}, fp32, {given.device}, {given.rows} rows; hf over ours: above 1, ours is faster or smaller"
    )
    with tempfile.TemporaryDirectory() as folder:
        for harness, tokens, connections in cases:
            ours, theirs = (
                measured(f"{harness}:{name}", given, tokens, connections, folder) for name in ROUTES[harness]
            )
            same = sum(a.strip() == b.strip() for a, b in zip(ours["replies"], theirs["replies"], strict=True))
            names, parts = " and ".join(ROUTES[harness]), []
            for key, unit in (("seconds", "s"), ("processor", "s of processors"), ("peak", "MiB")):
                parts.append(f"{ours[key]:.1f} and {theirs[key]:.1f} {unit} ({theirs[key] / ours[key]:.2f})")
            print(f"{names}, {tokens} tokens, {connections} at a time: {', '.join(parts)}; the same text {same}")


if __name__ == "__main__":
    main()
