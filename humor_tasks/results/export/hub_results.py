"""Results as the hub's `.eval_results` of a model: ORG/NAME/.eval_results/BENCHMARK.yaml, one file a result.

The folder ORG/NAME is uploaded into the model's repository. The hub shows a result where the `eval.yaml` of the dataset
names the task. https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from humor_tasks.benchmarks.options import parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.results.comparable import PROTOCOL
from humor_tasks.results.export.choosing import Published, defaults, started
from humor_tasks.results.result import Result
from humor_tasks.scorers.estimate import Estimate

ASKED = ("describer", "solver", "system_message", "chat_template", "generation")
"""Entries of a signature for what the harness changed."""
SHOWN = ("setting", "shots", "method", "cot", "prompts", *ASKED)
"""Entries of a signature that notes tell."""
HARMLESS = ("on_bad_picture",)
"""Parameters whose effect is another entry, `skipped`."""


def refusal(result: Result) -> str:
    """Why a result cannot stand beside those of others on the hub; "" where it can."""
    if not result.run.source.get("revision"):
        return f"{result.run.source.get('dataset')} is no dataset of the hub."
    wanted = {name: str(value) for name, value in defaults(result).items()} | {"v": result.benchmark.version}
    for name, told in PROTOCOL.items():
        found, own = result.signature.get(name), wanted.get(name, "none")
        if found not in (None, own):
            return f"{told}: {found}; results on the hub are of the default, {own}."
    for name in parameters_of(result.benchmark.options):
        found, own = result.signature.get(name), wanted[name]
        without_effect = name == "seed" and not result.opened.options.rows_by_seed
        if name not in (*SHOWN, *PROTOCOL, *HARMLESS) and not without_effect and found not in (None, own):
            return f"{name}: {found}; results on the hub are of the default, {own}."
    return ""


def files(published: Sequence[Published], source_url: str | None) -> dict[PurePosixPath, str]:
    """The files' texts. Raises BadInput where two results are the same measurement of one model."""
    found: dict[PurePosixPath, str] = {}
    for each in published:
        folder, name = PurePosixPath(each.model, ".eval_results"), each.result.benchmark.name
        several = sum((o.model, o.result.benchmark.name) == (each.model, name) for o in published) > 1
        more = f"-{each.result.run.signature.digest}" if several else ""
        file = folder / f"{name}{more}.yaml"
        if file in found:
            raise BadInput(f"{each.result.paths[0]}: is a second run of {each.model} with one signature; export one.")
        found[file] = _yaml(each.result, source_url)
    return found


def _yaml(result: Result, source_url: str | None) -> str:
    import yaml
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    main = result.benchmark.metrics[0].name
    entry = EvalResultEntry(
        dataset_id=result.run.source["dataset"],
        task_id=result.benchmark.name,
        value=result.estimates[main].value,
        dataset_revision=result.run.source["revision"],
        date=started(result)[:10] or None,
        source_url=source_url,
        notes=_notes(result, main, result.estimates[main]),
    )
    text: str = yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True, width=10_000)
    return text


def _notes(result: Result, main: str, e: Estimate) -> str:
    """Metric, interval and protocol in one line."""
    shown = [f"{name} {result.signature[name]}" for name in SHOWN if name in result.signature]
    graders = [f"graders {', '.join(result.run.graders)}"] if result.benchmark.judging and result.run.graders else []
    interval = f"{main}, 95 % interval {e.low:.4f} to {e.high:.4f}, {e.n} items in {e.clusters} clusters"
    library = {"inspect": "Inspect AI", "lm_eval": "lm-evaluation-harness"}[result.run.harness]
    release = f"humor-tasks {result.signature.get('humor_tasks', '')} {result.benchmark.name} {result.run.version}"
    return "; ".join([interval, *shown, *graders, f"{release}, {library}"])
