"""The documentation site: a strict build, what it holds, and what ends it."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import markdown
import pytest
import yaml
from mkdocs.exceptions import PluginError
from standins.once import made_once
from standins.paths import REPOSITORY
from standins.waiting import LIMIT

from humor_tasks import __version__
from humor_tasks.benchmarks import BENCHMARKS, Benchmark, Card
from humor_tasks.benchmarks.caption_contest.corpus import NyccOptions
from humor_tasks.contract.metric import Metric
from humor_tasks.contract.options import parameter
from humor_tasks.papers.published import published

sys.path.append(str(REPOSITORY))  # website/ is no part of the package

from website import hooks, tables

PAGES = {f"benchmarks/{name}.md" for name in BENCHMARKS}


class Links(HTMLParser):
    """The targets of links and pictures of a page, and its anchors."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := named.get(name))}
        if (target := named.get("href") or named.get("src")) and tag in ("a", "img"):
            self.targets.append(target)


BROKEN = ("nowhere.md", "report.md#no-such-heading", "../humor_tasks/no_such.toml")


def build(folder: Path) -> None:
    """`mkdocs build --strict` of this checkout but for BROKEN links in docs/audit.md: a strict build ends after all.

    With --quiet, warnings would not count.
    """
    source = checkout_copy(folder / "source")
    with (source / "docs" / "audit.md").open("a") as page:
        page.write("\n" + " ".join(f"[x]({link})" for link in BROKEN) + "\n")
    settings = (source / "mkdocs.yml").read_text(encoding="utf-8")
    (source / "mkdocs.yml").write_text(settings.replace("  - search\n", "", 1))  # whose index no test reads
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder / "site"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=LIMIT)
    (folder / "said").write_text(f"{done.returncode}\n{done.stdout}{done.stderr}")


def checkout_copy(folder: Path) -> Path:
    """What the build reads of this checkout."""
    left_out = shutil.ignore_patterns("__pycache__", "*.png", "*.mp4")
    for name in ("docs", "website", "speed", "datasets_cards", "register", "scorers", "humor_tasks"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=left_out)
    texts = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
    for name in (*texts, "mkdocs.yml", "CITATION.cff", "LICENSE"):
        shutil.copy(REPOSITORY / name, folder)
    shutil.copy(REPOSITORY / "docs" / "report.png", folder / "docs")
    shutil.copytree(REPOSITORY / "tests" / "thirdparty", folder / "tests" / "thirdparty")
    shutil.copy(REPOSITORY / "tests" / "README.md", folder / "tests")
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "site", build)


@pytest.fixture(scope="session")
def site(built: Path) -> Path:
    return built / "site"


@pytest.mark.slow
@pytest.mark.cpu(15, "MkDocs renders the whole site, once for all tests")
def test_broken_links_alone_end_the_strict_build_and_are_named(built: Path) -> None:
    code, *said = (built / "said").read_text().splitlines()
    warnings = [line for line in said if line.startswith("WARNING")]
    assert code == "1"
    assert f"Aborted with {len(warnings)} warnings in strict mode!" in said
    names = [re.split("[/#]", link)[-1] for link in BROKEN]
    named = [name for line in warnings for name in names if "audit.md" in line and name in line]
    assert (set(named), len(named)) == (set(names), len(warnings))


@pytest.mark.slow
def test_the_site_has_every_page_and_its_links_hold(site: Path) -> None:
    pages = {path.relative_to(site).as_posix(): Links(path) for path in site.rglob("*.html")}
    assert {page.replace(".md", ".html") for page in PAGES} < set(pages)
    assert len(pages) > 50
    broken = set()
    for page, links in pages.items():
        for target in links.targets:
            if page == "404.html" or re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = unquote(target).partition("#")
            goal = (site / page).parent / path if path else site / page
            known = pages.get(os.path.relpath(goal.resolve(), site.resolve()))
            if not goal.exists() or (anchor and known is not None and anchor not in known.anchors):
                broken.add((page, target))
    assert {page for page, _ in broken} == {"audit.html"}
    assert len(broken) == len(BROKEN), broken


@pytest.mark.slow
def test_pages_say_what_the_code_says(site: Path) -> None:
    for name, benchmark in BENCHMARKS.items():
        page = (site / "benchmarks" / f"{name}.html").read_text(encoding="utf-8")
        assert all(f"<code>{metric.name}</code>" in page for metric in benchmark.reported), name
        assert "<!-- " not in page, name
    for name in ("matching", "humicroedit_rating"):
        page = (site / "benchmarks" / f"{name}.html").read_text(encoding="utf-8")
        values = [f"{figure.bound or ''} {figure.value:g}".strip().replace("<", "&lt;") for figure in published(name)]
        assert all(f"<td>{value}</td>" in page for value in values)
    own = (site / "own.md").read_text(encoding="utf-8")
    for package in ("pun_bench", "quip_bench"):
        source = REPOSITORY / "tests" / "thirdparty" / package / package / "__init__.py"
        assert source.read_text(encoding="utf-8").rstrip() in own


REFERENCE = ("", ".benchmarks", ".models.clip", ".models.ofa", ".on_inspect", ".scorers", ".tasks", ".testing")


@pytest.mark.slow
def test_the_reference_has_every_class_and_function_that_is_exported(site: Path) -> None:
    shown = {anchor.rpartition(".")[2] for page in site.glob("python/*.html") for anchor in Links(page).anchors}
    for module in REFERENCE:
        exported = importlib.import_module(f"humor_tasks{module}")
        made = {name: getattr(exported, name) for name in exported.__all__}
        names = {name for name, each in made.items() if inspect.isroutine(each) or inspect.isclass(each)}
        assert names, module
        assert not names - shown, module


@pytest.mark.slow
def test_llms_txt_lists_markdown_that_is_there(site: Path) -> None:
    listed = re.findall(r"^- \[.+\]\((.+?)\): .*$", (site / "llms.txt").read_text(encoding="utf-8"), re.M)
    assert {"index.md", "own.md", "python/scorers.html", "changelog.md"} | PAGES < set(listed)
    assert all((site / page).read_text(encoding="utf-8").startswith(("# ", "\n<!doctype")) for page in listed)
    assert "| `on_unparsed` |" in (site / "benchmarks" / "matching.md").read_text(encoding="utf-8")


# ---- bad input ----------------------------------------------------------------------------------


def test_a_benchmark_without_a_page_is_named() -> None:
    hooks.check_benchmarks(PAGES)
    with pytest.raises(PluginError, match=r"matching: write docs/benchmarks/matching\.md"):
        hooks.check_benchmarks(PAGES - {"benchmarks/matching.md"})


def test_benchmarks_and_cards_are_in_the_navigation_by_what_they_declare() -> None:
    config = SimpleNamespace(nav=[{"Start": ["index.md"]}, {"Benchmarks": ["benchmarks/index.md", "parameters.md"]}])
    index, *groups, parameters, cards = hooks.on_config(config).nav[1]["Benchmarks"]
    assert (index, parameters) == ("benchmarks/index.md", "parameters.md")
    assert groups[0]["New Yorker Caption Contest"][0] == {"Matching": "benchmarks/matching.md"}
    assert {page for group in groups for pages in group.values() for each in pages for page in each.values()} == {
        f"benchmarks/{name}.md" for name in BENCHMARKS
    }
    assert "cards/mock.md" in cards["Dataset cards"]


@dataclass(frozen=True)
class Undocumented(NyccOptions):
    loud: bool = False
    quiet: bool = parameter(False, "")
    seed: int = 7  # hidden on purpose: a base documents it


def test_parameters_and_metrics_without_documentation_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Benchmark = BENCHMARKS["matching"]
    bare = dataclasses.replace(whole, options=Undocumented, metrics=(*whole.metrics, Metric("laughs")))
    assert tables.problems(whole) == []
    assert [problem.partition(" has no")[0] for problem in tables.problems(bare)] == [
        "matching: parameter loud",
        "matching: parameter quiet",
        "matching: metric laughs",
    ]
    monkeypatch.setitem(BENCHMARKS, "matching", bare)
    with pytest.raises(PluginError, match=r"parameter loud.*\n.*parameter quiet.*\n.*metric laughs"):
        hooks.check_benchmarks(PAGES)


MARKS = ["<!-- metrics: mating -->", "<!-- file: no/such.py -->", "<!-- benchmarks: x -->", "<!-- metrics -->"]
MARKS += [
    f"<!-- {name}: mating -->"
    for name in ("about", "meaning", "levels", "parameters", "published", "reproducible", "metric")
]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_that_cannot_be_filled_is_named(mark: str) -> None:
    with pytest.raises(PluginError, match=r"page\.md: " + re.escape(mark)):
        hooks.filled(f"a\n\n{mark}\n", "page.md")


# ---- texts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "link", "turned"),
    [
        ("index.md", "docs/text.md#adapters", "text.md#adapters"),
        ("index.md", "CHANGELOG.md", "changelog.md"),
        ("index.md", "LICENSE", "files/LICENSE"),
        ("text.md", "../README.md", "index.md"),
        ("benchmarks/matching.md", "../../datasets_cards/mock/README.md", "../cards/mock.md"),
        ("cards/mock.md", "../../docs/mock.md", "../mock.md"),
        ("cards/mock.md", "published.toml", "../files/datasets_cards/mock/published.toml"),
        ("text.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("text.md", "#adapters", "#adapters"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(page: str, link: str, turned: str) -> None:
    assert (
        hooks.site_links(f"[x]({link})\n\n```\n[x]({link})\n```\n", page) == f"[x]({turned})\n\n```\n[x]({link})\n```\n"
    )


def test_a_page_that_a_text_names_becomes_a_link() -> None:
    text = "Part of the run (docs/parts.md), see `docs/parts.md` and [x](docs/parts.md)."
    linked = "Part of the run ([parts](../docs/parts.md)), see `docs/parts.md` and [x](docs/parts.md)."
    assert hooks.named(text, "measured.md") == linked


def test_published_figures_of_a_system_share_a_row_unless_an_estimate_stands_twice() -> None:
    people = next(
        line for line in tables.published_figures("mock_detecting").splitlines() if line.startswith("| people")
    )
    assert people == "| people | human | input=media |  | test | 0.981 | 0.993 | 0.984 | 3, 6, 9 |"
    rating = tables.published_figures("humicroedit_rating").splitlines()
    baselines = [line.split(" | ")[3:] for line in rating if line.startswith("| BASELINE")]
    assert baselines == [
        ["0.575", "", "", "", "", "1 |"],
        ["0.57471", "", "", "", "", "2 |"],
        ["0.57471", "0.98616", "0.83064", "0.72266", "0.64004", "3 |"],
    ]


def test_texts_of_the_code_are_text_on_the_page() -> None:
    """Python-Markdown knows no backslash before <, and no escape in code, where a pipe ends no cell."""
    table = tables._table(("a", "b"), [(tables._escaped("1 < 2 <script>x</script> *y* | z"), "`p|q`")])
    page = markdown.markdown(table, extensions=["tables"])
    assert "<td>1 &lt; 2 &lt;script&gt;x&lt;/script&gt; *y* | z</td>" in page
    assert "<td><code>p|q</code></td>" in page


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_page_opens_with_the_claim(name: str) -> None:
    assert "**Claim.** " in tables.about(name)
    assert all(text.endswith(".") for text in tables.about(name).split("\n\n"))


def test_a_page_says_what_a_score_means_and_shows_chance_and_people() -> None:
    assert "**What it does not mean.** " in tables.limitations("matching")
    told = tables.ends("matching")
    assert "| `accuracy` | 0 | 0.2 | 0.94 | 1 |" in told
    assert "| `unparsed`, `refused`, `fallback` | 1 | none: note 1 | none: note 1 | 0 |" in told
    assert "| chance | a guess | `accuracy` | 0.2 | one of five captions is right |" in told
    assert "| people | Human estimate, pixels | `accuracy` | 0.94 | " in told
    assert "**Levels.** Chance 0.2, a guess (`accuracy`); people 0.94, " in tables.about("matching")
    assert "a guess (`accuracy`); people: none; [all, and why not](" in tables.about("bbeh_nycc")
    pinned = tables.about("humicroedit_rating")
    assert "test 3,024." in pinned
    assert "`task-1/test.csv` d559d0b609a7." in pinned


def test_a_card_of_a_title_alone_still_makes_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    puns = dataclasses.replace(BENCHMARKS["matching"], name="puns", card=Card(title="Puns"))
    monkeypatch.setitem(BENCHMARKS, "puns", puns)
    assert (tables.about("puns"), tables.meaning("puns")) == ("**Languages.** en.", "")
    assert tables.metrics("puns").startswith("| metric |")


def test_every_metric_is_described_in_a_sentence() -> None:
    for benchmark in BENCHMARKS.values():
        for metric in benchmark.reported:
            assert re.fullmatch(r"[A-Z`].*\.", metric.about), f"{benchmark.name}: {metric.name}"


def test_a_metric_that_only_describes_has_no_better_direction() -> None:
    better = {row.split(" | ")[0]: row.split(" | ")[1] for row in tables.metrics("crowd_groups").splitlines()[2:]}
    assert (better["| `share_a`"], better["| `accuracy`"], better["| `unparsed`"]) == ("", "higher", "lower")


def test_the_readme_is_short_and_the_citation_is_of_this_version() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
    assert (REPOSITORY / "docs" / "report.png").stat().st_size < 200_000
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == __version__
    assert {"cff-version", "message", "title", "authors"} < set(cited)
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert len(cited["references"]) == 7
    assert all(reference.get("url", reference["title"]) in readme for reference in cited["references"])
