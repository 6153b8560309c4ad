"""Hooks of mkdocs: pages that lie outside docs/, what pages take from the code, links, llms.txt.

A page has the place of its file in the repository: its links are relative to that, as on GitHub, and are turned into
links of the site here. `<!-- NAME: ARGUMENT -->` on a line of its own is replaced by what MARKS gives.
"""

from __future__ import annotations

import logging
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] if str(ROOT) not in sys.path else []  # mkdocs loads hooks by file, not by package

from humor_tasks.benchmarks import BENCHMARKS  # noqa: E402
from humor_tasks.datasets_cards import names as cards  # noqa: E402
from humor_tasks.errors import BadInput  # noqa: E402
from website import tables  # noqa: E402

log = logging.getLogger("mkdocs.hooks.website")

OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "register/README.md": "register.md",
    "speed/README.md": "measured.md",
    "tests/README.md": "tests.md",
    **{f"datasets_cards/{name}/README.md": f"cards/{name}.md" for name in cards()},
}
"""Pages of the site that do not lie in docs/: path in the repository -> path on the site."""
FILES = "files/"
"""The folder of the site for files of the repository that pages link to."""

FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.S | re.M)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
MARK = re.compile(r"^<!-- (\w+)(?:: (\S+))? -->$", re.M)
MADE = re.compile(r"^::: ", re.M)
PAGE = re.compile(r"(?<=[ (])(?<!\]\()docs/(\w+)\.md(?=[,;)])")
LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".md": "markdown"}


def file_of(path: str) -> str:
    """A file of the repository as a code block."""
    text = (ROOT / path).read_text(encoding="utf-8").rstrip()
    fence = "````" if "```" in text else "```"
    return f"{fence}{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}\n{fence}"


MARKS: dict[str, Callable[..., str]] = {
    "about": tables.about,
    "meaning": tables.meaning,
    "limitations": tables.limitations,
    "material": tables.material,
    "levels": tables.ends,
    "parameters": tables.parameters,
    "metrics": tables.metrics,
    "published": tables.published_figures,
    "reproducible": tables.reproducible,
    "benchmarks": tables.index,
    "cards": tables.cards,
    "file": file_of,
}


# ---- what mkdocs calls --------------------------------------------------------------------------


def on_config(config: Any) -> Any:
    """The navigation, with the benchmarks after the index of their part, in groups by the beginning of their titles.

    The dataset cards end the part.
    """
    part = next(section["Benchmarks"] for section in config.nav if "Benchmarks" in section)
    groups: dict[str, list[dict[str, str]]] = {}
    for name, benchmark in BENCHMARKS.items():
        group, _, label = benchmark.card.title.rpartition(": ")
        groups.setdefault(group, []).append({label[:1].upper() + label[1:]: f"benchmarks/{name}.md"})
    part[1:1] = [{group: pages} for group, pages in groups.items()]
    part.append({"Dataset cards": [f"cards/{name}.md" for name in cards()]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """The pages outside docs/, and the files that pages link to."""
    check_benchmarks({file.src_uri for file in files})
    for path, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, content=_read(path)))
    for file in [file for file in files if file.is_documentation_page()]:
        for path in _linked_files(repository_path(file.src_uri), file.content_string):
            if files.get_file_from_path(FILES + path) is None:
                files.append(File.generated(config, FILES + path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with the marks replaced, and links of the site."""
    return shown(markdown, page.file.src_uri)


def on_post_build(config: Any) -> None:
    """llms.txt: an index of the pages' Markdown, which lies beside the pages."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    for section in config.nav:
        for title, uris in section.items():
            lines += [f"## {title}", "", *(_listed(uri, Path(config.site_dir)) for uri in _pages(uris)), ""]
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


# ---- checks -------------------------------------------------------------------------------------


def check_benchmarks(pages: set[str]) -> None:
    """End the build, naming each, for benchmarks without a page, and parameters and metrics without documentation."""
    found = [f"{name}: write docs/benchmarks/{name}.md" for name in BENCHMARKS if f"benchmarks/{name}.md" not in pages]
    found += [problem for benchmark in BENCHMARKS.values() for problem in tables.problems(benchmark)]
    if found:
        raise PluginError("The site is not built:\n" + "\n".join(found))


# ---- texts --------------------------------------------------------------------------------------


def shown(markdown: str, uri: str) -> str:
    """A page's Markdown on the site."""
    return site_links(named(filled(markdown, uri), uri), uri)


def named(markdown: str, uri: str) -> str:
    """The text with links where texts of the code name a page, such as docs/parts.md."""
    here = posixpath.dirname(repository_path(uri)) or "."
    return _outside_code(markdown, lambda text: PAGE.sub(lambda m: f"[{m[1]}]({posixpath.relpath(m[0], here)})", text))


def filled(markdown: str, uri: str) -> str:
    """The text with every mark replaced. Raises PluginError, naming page and mark, for what cannot be."""

    def replaced(mark: re.Match[str]) -> str:
        name, argument = mark.groups()
        try:
            return MARKS[name](*([argument] if argument else []))
        except (BadInput, LookupError, OSError, TypeError) as problem:
            raise PluginError(f"{uri}: {mark.group(0)}: {problem}") from None

    return MARK.sub(replaced, markdown)


def site_links(markdown: str, uri: str) -> str:
    """The text with links between files of the repository turned into links between pages of the site."""
    place = repository_path(uri)

    def turned(link: re.Match[str]) -> str:
        target, anchor = link.group(1), link.group(2) or ""
        if re.match(r"[a-z]+:", target):
            return link.group(0)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        goal = site_path(path)
        if goal is None:
            log.warning(f"{place}: the link to {target} leads to no page and no file of the repository")
            return link.group(0)
        return posixpath.relpath(goal, posixpath.dirname(uri) or ".") + anchor

    return _outside_code(markdown, lambda text: LINK.sub(turned, text))


def repository_path(uri: str) -> str:
    """The file of the repository that a page of the site is."""
    return next((path for path, page in OUTSIDE.items() if page == uri), f"docs/{uri}")


def site_path(path: str) -> str | None:
    """The place on the site of a file of the repository; None where there is no such file, or Markdown is no page."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")  # mkdocs says if it is missing
    return FILES + path if (ROOT / path).is_file() and not path.endswith(".md") else None


def _linked_files(place: str, markdown: str) -> set[str]:
    """The files outside docs/ that a page links to and that are no pages."""
    found: set[str] = set()
    for text in _pieces(markdown)[::2]:
        targets = (match.group(1) for match in LINK.finditer(text))
        paths = (posixpath.normpath(posixpath.join(posixpath.dirname(place), t)) for t in targets if ":" not in t)
        found |= {path for path in paths if (site_path(path) or "").startswith(FILES)}
    return found


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    return "".join(piece if i % 2 else change(piece) for i, piece in enumerate(_pieces(markdown)))


def _pieces(markdown: str) -> list[str]:
    """The text outside code blocks and the code blocks, in turn."""
    pieces, end = [], 0
    for block in FENCED.finditer(markdown):
        pieces += [markdown[end : block.start()], block.group(0)]
        end = block.end()
    return [*pieces, markdown[end:]]


# ---- llms.txt -----------------------------------------------------------------------------------


def _read(path: str) -> str:
    """A page's text without the header of a dataset card."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.sub(r"\A---\n.*?^---\n+", "", text, flags=re.S | re.M)


def _pages(entry: Any) -> list[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [uri for part in parts for uri in _pages(part)]


def _listed(uri: str, site: Path) -> str:
    """A page's line in llms.txt; writes its Markdown beside the page, but for those that are made from docstrings."""
    text = shown(_read(repository_path(uri)), uri)
    heading, _, body = text.partition("\n")
    if MADE.search(text):
        uri = uri.replace(".md", ".html")
    else:
        (site / uri).write_text(text, encoding="utf-8")
    return f"- [{heading.removeprefix('# ')}]({uri}): {_first_sentence(body)}"


def _first_sentence(text: str) -> str:
    """The first sentence of the first paragraph, without marks."""
    paragraph = next((each for each in re.split(r"\n\n+", text.strip()) if re.match(r"[^#|<`!:\-]|`\w", each)), "")
    plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", re.sub(r"^\*\*.*?\*\* ", "", " ".join(paragraph.split())))
    return re.split(r"(?<=[.?:])(?<!et al\.) ", plain)[0].rstrip(":")
