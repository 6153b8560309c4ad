"""Results as the hub's `.eval_results` of a model: ORG/NAME/.eval_results/BENCHMARK.yaml, one file a result.

The folder ORG/NAME is uploaded into the model's repository. The hub shows a result where the `eval.yaml` of the dataset
names the task. https://huggingface.co/docs/hub/eval-results
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.results.comparable import PROTOCOL
from humor_tasks.results.export import Published, defaults, started
from humor_tasks.results.result import Result
from humor_tasks.scorers.estimate import Estimate

IN_NOTES = (
    *("setting", "shots", "method", "cot", "prompts"),
    *("describer", "solver", "system_message", "chat_template", "generation"),  # what the harness changed
)
"""Entries of a signature that stand in the notes."""
HARMLESS = ("on_bad_picture",)
"""Parameters whose effect is another entry, `skipped`."""


def refusal(result: Result) -> str:
    """Why a result cannot stand beside other results on the hub; "" where it can."""
    if not result.run.source.get("revision"):
        return f"{result.run.source.get('dataset')} is no dataset of the hub."
    published = {name: str(value) for name, value in defaults(result).items()} | {"v": result.benchmark.version}
    other = [name for name in parameters_of(result.benchmark.options) if name not in (*IN_NOTES, *PROTOCOL, *HARMLESS)]
    if not result.opened.options.rows_by_seed:
        other = [name for name in other if name != "seed"]  # without effect
    for name, words in {**PROTOCOL, **{name: name for name in other}}.items():
        value, default = result.signature.get(name), published.get(name, "none")
        if value not in (None, default):
            return f"{words}: {value}; results on the hub are of the default, {default}."
    return ""


def files(published: Sequence[Published], source_url: str | None) -> dict[PurePosixPath, str]:
    """The files' texts. Raises BadInput where two results are the same measurement of one model."""
    texts: dict[PurePosixPath, str] = {}
    counts = Counter((p.model, p.result.benchmark.name) for p in published)
    for p in published:
        name = p.result.benchmark.name
        digest = f"-{p.result.run.signature.digest}" if counts[p.model, name] > 1 else ""
        file = PurePosixPath(p.model, ".eval_results", f"{name}{digest}.yaml")
        if file in texts:
            raise BadInput(f"{p.result.paths[0]}: is a second run of {p.model} with one signature; export one.")
        texts[file] = _yaml(p.result, source_url)
    return texts


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
    settings = [f"{name} {result.signature[name]}" for name in IN_NOTES if name in result.signature]
    graders = [f"graders {', '.join(result.run.graders)}"] if result.benchmark.judging and result.run.graders else []
    interval = f"{main}, 95 % interval {e.low:.4f} to {e.high:.4f}, {e.n} items in {e.clusters} clusters"
    library = {"inspect": "Inspect AI", "lm_eval": "lm-evaluation-harness"}[result.run.harness]
    release = f"humor-tasks {result.signature.get('humor_tasks', '')} {result.benchmark.name} {result.run.version}"
    return "; ".join([interval, *settings, *graders, f"{release}, {library}"])
