"""The entries for public registers, made from what the package declares.

`python tools/generate.py` writes them.

inspect_evals/TASK/eval.yaml: an entry of inspect_evals' register of external evaluations (its schema is
`inspect_evals.metadata.ExternalEvalMetadata`). lm_eval/FAMILY/README.md: the README that lm-eval asks for beside a
family of tasks (its templates/new_yaml_task). What does not exist before a release stands as a placeholder, which
register/release.py fills.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS, Benchmark, Level, find_benchmark
from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.papers.papers import Paper

ROOT = Path(__file__).resolve().parent.parent
URL, OWNER, COMMIT = "{{REPOSITORY_URL}}", "{{REPOSITORY_OWNER}}", "{{REPOSITORY_COMMIT}}"


# ---- inspect_evals -----------------------------------------------------------------------------------------------


def entry(name: str) -> dict[str, Any]:
    """The register's entry of one Inspect task, in the order of its documentation."""
    benchmark = find_benchmark(name, "Inspect task")
    about: dict[str, Any] = {
        "full_title": benchmark.card.title,
        "common_title": benchmark.card.title,
        "description": description(benchmark),
        "contributors": [OWNER],
        "source": {"repository_url": URL, "repository_commit": COMMIT, "maintainers": [OWNER]},
        "tasks": [_task(benchmark)],
    }
    if arxiv := benchmark.card.paper.at_arxiv:
        about["arxiv"] = arxiv
    return about | {"tags": _tags(benchmark)}


def _task(benchmark: Benchmark) -> dict[str, Any]:
    card, defaults = benchmark.card, benchmark.options.__dataclass_fields__
    task: dict[str, Any] = {"name": benchmark.name, "task_path": source_of(benchmark.name)[0]}
    if not card.counted and (samples := card.splits[str(defaults["split"].default)]):
        task["dataset_samples"] = samples
    comment = [card.source.pin]
    if benchmark.judging:
        comment.append("Judges are the model role grader.")
    if "system" in defaults:
        comment.append("-T system= names the explanations to compare.")
    if human := human_level(benchmark):
        source = card.paper.at_arxiv
        task["human_baseline"] = {"metric": human.estimate, "score": human.value, "source": source}
        comment.append(f"Human baseline: {human.source} ({human.reached_by}).")
    return task | {"comment": " ".join(comment)}


def human_level(benchmark: Benchmark) -> Level | None:
    """What people reach by the primary metric, or by it over a part of the rows (crowd_accuracy).

    None without one, and where the paper has no public address: the register wants the address of each figure.
    """
    primary = benchmark.metrics[0].name
    known = benchmark.card.human if benchmark.card.paper.at_arxiv else ()
    return next((each for each in known if f"_{each.estimate}".endswith(f"_{primary}")), None)


def description(benchmark: Benchmark) -> str:
    """What a benchmark asks and claims, on one line."""
    return f"{benchmark.card.question} {benchmark.card.claim}"


def source_of(name: str) -> tuple[str, int]:
    """Where a task is defined: the file's path in the repository, and the line of its decorator, from 1."""
    file = Path(str(inspect.getsourcefile(inspect.unwrap(getattr(tasks, name)))))
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return file.relative_to(ROOT).as_posix(), node.decorator_list[0].lineno
    raise AssertionError(f"{file}: defines no task {name}")


def _tags(benchmark: Benchmark) -> list[str]:
    """Humor, the family, what a judged benchmark is, and Multimodal where a picture or a clip can be shown."""
    shows = "on_bad_picture" in parameters_of(benchmark.options)
    return ["Humor", *["Multimodal"] * shows, *["LLM-as-judge"] * bool(benchmark.judging)]


# ---- lm-eval -----------------------------------------------------------------------------------------------------

# How an answer is obtained, by lm-eval's output_type.
HOW = {
    "multiple_choice": "log-likelihoods of the choices",
    "loglikelihood": "the log-likelihood of the reference",
    "generate_until": "written answers",
}


def family_of(name: str) -> str:
    """The family of a task or a group of tasks: the paper of its benchmark, or of those of the group."""
    told = stubs()[name]
    return family_of(told["task"][0]) if "group" in told else BENCHMARKS[told["benchmark"]].card.paper.key


@cache
def stubs() -> dict[str, dict[str, Any]]:
    """The YAML files of lm-eval's tasks and groups by name, as declared, `about` holding a group's comment."""
    from lm_eval_tasks import files as declared

    found: dict[str, dict[str, Any]] = {}
    for _, text in sorted(declared().items()):
        told = yaml.safe_load(text.replace("!function ", ""))
        comment = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
        found[told.get("group") or told["task"]] = told | {"about": comment}
    return found


def family_readme(paper: Paper) -> str:
    """The README of a paper's family, in the sections and with the checklist of lm-eval's template."""
    own = {name: told for name, told in stubs().items() if family_of(name) == paper.key}
    tasks_of = {name: told for name, told in own.items() if "group" not in told}
    benchmarks = list(dict.fromkeys(told["benchmark"] for told in tasks_of.values()))
    return README.format(
        family=paper.key,
        title=paper.title,
        abstract=paper.at_arxiv or paper.address or "not public",
        benchmarks="\n".join(f"* `{name}`: {description(BENCHMARKS[name])}" for name in benchmarks),
        homepage=paper.code or "not public",
        citation=f"```bibtex\n{paper.bibtex}\n```" if paper.bibtex else "The paper is not public.",
        groups="\n".join(f"* `{name}`: {told['about']}" for name, told in own.items() if "group" in told) or "None.",
        tasks="\n".join(f"* `{name}`: {variant(told)}" for name, told in tasks_of.items()),
        known="x" if paper.address else " ",
        reference=COMPARED if paper.address else "No code and no rows are public.",
    )


COMPARED = (
    "`humor-tasks reproduce --all` compares published rows with ours; docs/reproduce.md says how to run it, and "
    "docs/evidence.md has runs beside published figures."
)
README = """# {family}

### Paper

Title: {title}

Abstract: {abstract}

{benchmarks}

Homepage: {homepage}

### Citation

{citation}

### Groups, Tags, and Tasks

#### Groups

{groups}

#### Tags

None.

#### Tasks

{tasks}

### Checklist

For adding novel benchmarks/datasets to the library:
* [{known}] Is the task an existing benchmark in the literature?
  * [{known}] Have you referenced the original paper that introduced the task?
  * [{known}] If yes, does the original paper provide a reference implementation? If so, have you checked against the \
reference implementation and documented how to run such a test? {reference}

If other tasks on this dataset are already supported:
* [x] Is the "Main" variant of this task clearly denoted? It has the shortest name.
* [x] Have you provided a short sentence in a README on what each new variant adds / evaluates? Under Tasks.
* [{known}] Have you noted which, if any, published evaluation setups are matched by this variant? \
`humor-tasks reproduce --list` names them.

### Changelog

The version of a task is in its configuration's `metadata`; CHANGELOG.md of humor-tasks says what changed.
"""


def variant(told: Mapping[str, Any]) -> str:
    """One sentence on a task: its benchmark, how answers are obtained, and what sets the variant apart."""
    names = ("task", "class", "benchmark", "output_type", "metadata", "about")
    given = {key: value for key, value in told.items() if key not in names} | dict(told.get("metadata") or {})
    how = HOW[told["output_type"]]
    apart = "".join(f", {key}={value}" for key, value in given.items())
    return f"`{told['benchmark']}` by {how}{apart}."


# ---- files -------------------------------------------------------------------------------------------------------


def files() -> dict[str, str]:
    """Every generated file: path in register/ -> its text. YAML has the keys in their order, and no text is wrapped."""
    found = {}
    for name in sorted(tasks.__all__):
        text = yaml.safe_dump(entry(name), sort_keys=False, allow_unicode=True, width=10_000)
        found[f"inspect_evals/humor_tasks_{name}/eval.yaml"] = text
    return found | {f"lm_eval/{paper.key}/README.md": family_readme(paper) for paper in papers()}


def papers() -> list[Paper]:
    """The papers of all benchmarks, one a family of lm-eval's tasks. Raises BadInput for one without a key."""
    for benchmark in BENCHMARKS.values():
        if not benchmark.card.paper.key:
            raise BadInput(
                f"{benchmark.name}: card.paper has no key. Give Paper(key=FAMILY, title=TITLE), also without a paper."
            )
    return list(dict.fromkeys(benchmark.card.paper for benchmark in BENCHMARKS.values()))
