"""The entries for public registers, made from what the package declares.

    python register/entries.py            # writes them, and names those that nothing declares any more
    python register/entries.py --check    # writes nothing; exit status 1 and one line for each file that differs

inspect_evals/TASK/eval.yaml: an entry of inspect_evals' register of external evaluations (its schema is
`inspect_evals.metadata.ExternalEvalMetadata`). lm_eval/FAMILY/README.md: the README that lm-eval asks for beside a
family of tasks (its templates/new_yaml_task). What does not exist before a release stands as a placeholder, which
register/release.py fills.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.documented import docstring_of
from humor_tasks.data.published import Figure, published
from humor_tasks.data.writing import write_text
from humor_tasks.errors import BadInput
from humor_tasks.evaluate_metrics import papers

ROOT = Path(__file__).resolve().parent.parent
REGISTER = ROOT / "register"
STUBS = ROOT / "humor_tasks" / "on_lm_eval" / "tasks"
URL, OWNER, COMMIT = "{{REPOSITORY_URL}}", "{{REPOSITORY_OWNER}}", "{{REPOSITORY_COMMIT}}"

# Rows of the public test data under the task's own parameters, where the number is known from the files themselves: the
# hub's card of the caption contest (explanation, fold 0), and the pinned files of the other cards. The figure is left
# out where nobody has counted (matching and ranking print the mean of five folds), where it depends on a parameter, and
# where the corpus is not public. Pairs with a tie are not scored.
SAMPLES = {"explanation": 131, "humorbench": 499, "humorbench_autograder": 200, "humicroedit_rating": 3024}

CORPORA = {
    "jmhessel/newyorker_caption_contest": "Rows come from the hub; -T revision=COMMIT pins them.",
    "yguooo/newyorker_caption_ranking": "Rows come from the hub; -T revision=COMMIT pins them.",
    "ReubenNarad/Humor-Bench": "The files are pinned by SHA-256.",
    "semeval-2020-task-7": "The files are pinned by SHA-256.",
    "": "The corpus is not public: give -T dataset=FOLDER; -T dataset=sample is a packaged, invented sample.",
}


# ---- inspect_evals -----------------------------------------------------------------------------------------------


def entry(name: str) -> dict[str, Any]:
    """The register's entry of one Inspect task, in the order of its documentation."""
    benchmark = find_benchmark(name, "Inspect task")
    about: dict[str, Any] = {
        "full_title": benchmark.title,
        "common_title": benchmark.title,
        "description": description(name),
        "contributors": [OWNER],
        "source": {"repository_url": URL, "repository_commit": COMMIT, "maintainers": [OWNER]},
        "tasks": [_task(benchmark)],
    }
    if arxiv := arxiv_of(benchmark.paper):
        about["arxiv"] = arxiv
    return about | {"tags": _tags(benchmark)}


def _task(benchmark: Benchmark) -> dict[str, Any]:
    task: dict[str, Any] = {"name": benchmark.name, "task_path": source_of(benchmark.name)[0]}
    if benchmark.name in SAMPLES:
        task["dataset_samples"] = SAMPLES[benchmark.name]
    comment = [CORPORA[str(benchmark.options.__dataclass_fields__["dataset"].default)]]
    if benchmark.judging:
        comment.append("Judges are the model role grader.")
    if "system" in benchmark.options.__dataclass_fields__:
        comment.append("-T system= names the explanations to compare.")
    if human := human_figure(benchmark):
        arxiv = arxiv_of(benchmark.paper)
        task["human_baseline"] = {"metric": human.estimate, "score": human.value, "source": arxiv}
        setting = f", {human.setting}" if human.setting else ""
        comment.append(f"Human baseline: {human.source} ({human.system}{setting}).")
    return task | {"comment": " ".join(comment)}


def human_figure(benchmark: Benchmark) -> Figure | None:
    """People's first published figure of the primary metric, or of it over a part of the rows (crowd_accuracy).

    None without one, and where the paper has no public address: the register wants the address of each figure.
    """
    primary = benchmark.metrics[0].name
    known = (each for each in published(benchmark.name) if each.kind == "human" and arxiv_of(benchmark.paper))
    return next((each for each in known if f"_{each.metric}".endswith(f"_{primary}")), None)


def description(name: str) -> str:
    """What a benchmark asks and claims, on one line, from the docstring of the module that defines it."""
    asked, _, rest = docstring_of(name).partition(" Claim: ")
    claim = re.split(r" \(|\. ", rest)[0]
    return asked if claim.startswith("as for") else f"{asked} {claim[0].upper()}{claim[1:]}."


def arxiv_of(paper: str) -> str | None:
    """The address of the paper at arXiv, where its citation names the number."""
    found = re.search(r"arXiv (\d{4}\.\d{5})", paper)
    return f"https://arxiv.org/abs/{found[1]}" if found else None


def source_of(name: str) -> tuple[str, int]:
    """Where a task is defined: the file's path in the repository, and the line of its decorator, from 1."""
    file = Path(str(inspect.getsourcefile(inspect.unwrap(getattr(tasks, name)))))
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return file.relative_to(ROOT).as_posix(), node.decorator_list[0].lineno
    raise AssertionError(f"{file}: defines no task {name}")


def _tags(benchmark: Benchmark) -> list[str]:
    """Humor, the family, what a judged benchmark is, and Multimodal where a picture or a clip can be shown."""
    shows = "on_bad_picture" in benchmark.options.__dataclass_fields__
    return ["Humor", *["Multimodal"] * shows, *["LLM-as-judge"] * bool(benchmark.judging)]


# ---- lm-eval -----------------------------------------------------------------------------------------------------

# Title, homepage and BibTeX of each family's paper; MOCK's is not public.
PAPERS: dict[str, tuple[str, str, str]] = {
    "nyc": (
        'Do Androids Laugh at Electric Sheep? Humor "Understanding" Benchmarks from The New Yorker Caption Contest',
        "https://github.com/jmhessel/caption_contest_corpus",
        inspect.cleandoc(papers.CAPTION_CONTEST),
    ),
    "crowd": (
        "Humor in AI: Massive Scale Crowd-Sourced Preferences and Benchmarks for Cartoon Captioning",
        "https://github.com/yguooo/cartoon-caption-generation",
        """@inproceedings{zhang-etal-2024-humor,
  title = {{Humor in AI}: Massive Scale Crowd-Sourced Preferences and Benchmarks for Cartoon Captioning},
  author = {Zhang, Jifan and Jain, Lalit and Guo, Yang and Chen, Jiayi and Zhou, Kuan Lok and Suresh, Siddharth and
            Wagenmaker, Andrew and Sievert, Scott and Rogers, Timothy and Jamieson, Kevin and Mankoff, Robert and
            Nowak, Robert},
  booktitle = {NeurIPS Datasets and Benchmarks},
  year = {2024},
}""",
    ),
    "humorbench": (
        "Which LLMs Get the Joke? Probing Non-STEM Reasoning Abilities with HumorBench",
        "https://github.com/ReubenNarad/Humor-Bench",
        inspect.cleandoc(papers.HUMORBENCH),
    ),
    "humicroedit": (
        "SemEval-2020 Task 7: Assessing Humor in Edited News Headlines",
        "https://github.com/n-hossain/semeval-2020-task-7-humicroedit",
        inspect.cleandoc(papers.HUMICROEDIT),
    ),
    "mock": ("MOCK: huMor-sarcasm cOmprehension benChmarK", "not public", ""),
}
# How an answer is obtained, by lm-eval's output_type.
HOW = {
    "multiple_choice": "log-likelihoods of the choices",
    "loglikelihood": "the log-likelihood of the reference",
    "generate_until": "written answers",
}
FAMILY_OF_CORPUS = {"caption_contest": "nyc", "preference": "nyc"}


def family_of(stub: Mapping[str, Any]) -> str:
    """The family of a task or a group of tasks: the corpus of its benchmark, or the first word of the group's name."""
    if "group" in stub:
        return str(stub["group"]).split("_")[0]
    corpus = BENCHMARKS[stub["benchmark"]].options.__module__.split(".")[2]
    return FAMILY_OF_CORPUS.get(corpus, corpus)


def stubs() -> dict[str, dict[str, Any]]:
    """The YAML files of lm-eval's tasks and groups by name, `about` holding a group's comment."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(STUBS.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        told = yaml.safe_load(text.replace("!function ", ""))
        comment = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
        found[told.get("group") or told["task"]] = told | {"about": comment}
    return found


def family_readme(family: str) -> str:
    """The README of a family, in the sections and with the checklist of lm-eval's template."""
    title, homepage, bibtex = PAPERS[family]
    own = {name: told for name, told in stubs().items() if family_of(told) == family}
    tasks_of = {name: told for name, told in own.items() if "group" not in told}
    benchmarks = list(dict.fromkeys(told["benchmark"] for told in tasks_of.values()))
    return README.format(
        family=family,
        title=title,
        abstract=arxiv_of(BENCHMARKS[benchmarks[0]].paper) or "not public",
        benchmarks="\n".join(f"* `{name}`: {description(name)}" for name in benchmarks),
        homepage=homepage,
        citation=f"```bibtex\n{bibtex}\n```" if bibtex else "The paper is not public.",
        groups="\n".join(f"* `{name}`: {told['about']}" for name, told in own.items() if "group" in told) or "None.",
        tasks="\n".join(f"* `{name}`: {variant(told)}" for name, told in tasks_of.items()),
        known="x" if bibtex else " ",
        reference=COMPARED if bibtex else "No code and no rows are public.",
    )


COMPARED = "`humor-tasks reproduce --all` compares published rows with ours; docs/reproduce.md says how to run it."
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
    return found | {f"lm_eval/{family}/README.md": family_readme(family) for family in PAPERS}


def differences(register: Path = REGISTER) -> list[str]:
    """One line for each generated file that is missing, has another text, or belongs to nothing that is declared."""
    made = files()
    held = {file.relative_to(register).as_posix() for file in register.glob("*/*/*") if file.is_file()}
    left = [f"{path}: nothing of that name is declared; delete it" for path in sorted(held - made.keys())]
    lacking = [f"{path}: is missing" for path in sorted(made.keys() - held)]
    other = [path for path in sorted(made.keys() & held) if (register / path).read_text(encoding="utf-8") != made[path]]
    return left + lacking + [f"{path}: differs from what the package declares" for path in other]


def main(arguments: list[str] | None = None, register: Path = REGISTER) -> int:
    """Write the entries, or say what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where files differ")
    check = parser.parse_args(arguments).check
    try:
        made = {} if check else files()
        for path, text in made.items():
            (register / path).parent.mkdir(parents=True, exist_ok=True)
            write_text(register / path, text)
        found = differences(register)
    except BadInput as problem:
        print(problem, file=sys.stderr)
        return 2
    print("\n".join([*found, *["Run: python register/entries.py"] * check]) if found else "register: up to date")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
