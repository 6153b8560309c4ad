"""The card of a built caption contest corpus: configurations, provenance, counts, balance and baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.files.tables import interval
from humor_tasks.lab.corpora.newyorker.folder import Config, Contents
from humor_tasks.lab.corpora.newyorker.rows import BLOCKS, Instance
from humor_tasks.models.choosers.shortcuts import RULES, credit
from humor_tasks.papers.papers import CAPTION_CONTEST
from humor_tasks.rows.canary import NOTE
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "sentence-transformers", "torch")
"""Packages whose versions may decide about the bytes of a corpus."""
_MOST_FILES = 20
_LICENCE = """\
**Licences.** Annotations of the cartoons and the crowd's ratings are published under CC BY 4.0. Cartoons belong to
their artists, and captions to their writers: check both before you redistribute pictures or rows.
"""
_HOW = """\
A block holds whole contests; contests with the same captions share one. Fold *k* tests on block *k*, validates on block
*k* + 1 (block 0 after the last) and trains on the rest. Training rows with a description repeat an instance for each of
its annotation tuples (descriptions of the cartoon times sets of links). Validation and test rows have one tuple, the
second description with the second set of links, as most rows of the published corpus.

**Matching**: every high-quality caption is the answer once and a wrong choice four times, always in a row of another
contest of its block. **Ranking**: a high-quality caption (an official finalist, or a favourite of the crowd) and an
okay one of the same contest that is like it in predicted quality, words, characters and punctuation.
"""


@dataclass(frozen=True)
class Provenance:
    """Where a corpus comes from. files: name -> SHA-256 of each input. models: role -> name. counts: stage -> what ->
    count.
    """

    files: Mapping[str, str]
    settings: Mapping[str, Any]
    models: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The content of provenance.json."""
        return {
            "built_by": f"humor-tasks build newyorker {__version__}",
            "settings": dict(self.settings),
            "models": dict(self.models),
            "versions": versions(),
            "files": dict(sorted(self.files.items())),
            "counts": {stage: dict(counts) for stage, counts in self.counts.items()},
        }


def versions() -> dict[str, str]:
    """The versions of the packages that are installed."""
    installed = {"humor-tasks": __version__}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


def card(
    contents: Contents, provenance: Provenance, balance: str = "", quality: Mapping[str, float] | None = None
) -> str:
    """The folder's README.md. balance: the section of `ranking.section`. quality: caption -> predicted quality, of all
    captions in matching, for a baseline.
    """
    header = ["---", "license: cc-by-4.0", "language:", "- en"]
    header += ["pretty_name: New Yorker Caption Contest, built from raw contests", "configs:"]
    for config in contents.configs:
        header += _front_matter(config)
    parts = [
        "\n".join([*header, "---"]),
        "# New Yorker Caption Contest, built from raw contests",
        f"Built by `humor-tasks build newyorker` {__version__} after Hessel et al., ACL 2023, arXiv 2209.06293, "
        f"Appendix C, from {len(contents.instances.blocks):,} contests. Use it as the published corpus: "
        "`dataset=<this folder>`.",
        _LICENCE,
        NOTE,
        _HOW,
        sizes(contents),
        baselines(contents, quality),
        balance,
        _stages(provenance.counts),
        _origin(provenance),
        f"## Citation\n\n```bibtex\n{CAPTION_CONTEST.bibtex}\n```",
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _front_matter(config: Config) -> list[str]:
    lines = []
    for fold in range(BLOCKS):
        lines += [f"- config_name: {config.name}{f'_{fold}' if fold else ''}", "  data_files:"]
        for split, files in config.files(fold).items():
            path = files[0] if len(files) == 1 else f"[{', '.join(files)}]"
            lines.append(f"  - {{split: {split}, path: {path}}}")
    return lines


def sizes(contents: Contents) -> str:
    """The section on sizes: rows of fold 0 and the least and most of all folds, and what was left out."""
    lines = ["## Sizes", "", "Rows of fold 0; in parentheses the least and the most of all five folds.", ""]
    lines += ["| configuration | train | validation | test |", "|---|---|---|---|"]
    for config in contents.configs:
        folds = config.sizes()
        cells = []
        for split in ("train", "validation", "test"):
            counts = [fold[split] for fold in folds]
            cells.append(f"{counts[0]:,} ({min(counts):,} to {max(counts):,})")
        lines.append(f"| {config.name} | {' | '.join(cells)} |")
    if contents.left_out:
        lines += ["", "Left out:", "", *(f"- {what}." for what in contents.left_out)]
    return "\n".join(lines)


# ---- baselines ----------------------------------------------------------------------------------


def answer_only(instances: Sequence[Instance], quality: Mapping[str, float] | None = None) -> dict[str, Estimate]:
    """Rule that sees the choices alone -> its accuracy, clustered by contest. Ties share the credit."""
    options, scenes = [instance.choices for instance in instances], [""] * len(instances)
    rules = ("longest", "shortest", "most words", "most punctuation")
    scores = {rule: RULES[rule](options, scenes) for rule in rules}
    if quality is not None:
        scores["predicted quality"] = [[quality[choice] for choice in row] for row in options]
    contests = [instance.contest for instance in instances]
    right = ["ABCDE".index(instance.label) for instance in instances]
    return {
        rule: clustered_proportion([credit(*pair) for pair in zip(of_rows, right, strict=True)], contests)
        for rule, of_rows in scores.items()
    }


def baselines(contents: Contents, quality: Mapping[str, float] | None = None) -> str:
    """The section on rules that see the choices of matching alone."""
    instances = [one for block in contents.instances.tasks["matching"] for one in block]
    if not instances:
        return ""
    lines = [
        "## Matching without the cartoon",
        "",
        f"How often a rule that sees the choices alone is right, over all {len(instances):,} instances, with a 95 % "
        "interval clustered by contest; chance is 0.200.",
        "",
        "| rule | accuracy |",
        "|---|---|",
    ]
    for rule, estimate in answer_only(instances, quality).items():
        lines.append(f"| {rule} | {interval(estimate)} |")
    return "\n".join(lines)


# ---- provenance ---------------------------------------------------------------------------------


def _stages(counts: Mapping[str, Mapping[str, Any]]) -> str:
    if not counts:
        return ""
    lines = ["## Counts by stage", "", "| stage | what | count |", "|---|---|---|"]
    for stage, held in counts.items():
        lines += [f"| {stage} | {_cell(what)} | {_number(count)} |" for what, count in held.items()]
    return "\n".join(lines)


def _origin(provenance: Provenance) -> str:
    held = provenance.as_json()
    lines = ["## Provenance", "", "All of it is in provenance.json, with the SHA-256 of every input file.", ""]
    lines += ["| | |", "|---|---|"]
    for kind in ("settings", "models", "versions"):
        lines += [f"| {_cell(name)} | {_cell(str(value))} |" for name, value in held[kind].items()]
    lines.append(f"| input files | {len(provenance.files):,} |")
    if 0 < len(provenance.files) <= _MOST_FILES:
        lines += ["", "| file | SHA-256 |", "|---|---|"]
        lines += [f"| {_cell(name)} | {digest} |" for name, digest in held["files"].items()]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """A table's cell in which neither Markdown's column sign nor HTML has an effect."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _number(count: Any) -> str:
    return f"{count:,}" if isinstance(count, int) else _cell(f"{count:.4f}" if isinstance(count, float) else str(count))
