"""A release, from a clean checkout: placeholders filled, version and date set, committed and tagged.

    python register/release.py 0.2.0 --url https://github.com/OWNER/NAME

Needs the part `## 0.2.0 (unreleased)` in CHANGELOG.md. Writes nothing before everything is checked, and leaves the
checkout as it was where a step fails. Then dist/register-0.2.0 holds what is submitted to the registers: the entries of
register/ with the address of the repository and the commit of the release, and submissions.md, the two addresses that
inspect_evals' form asks for. Nothing is pushed.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import subprocess
import sys
from pathlib import Path

from entries import COMMIT, OWNER, ROOT, URL, source_of

from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import replacing, write_text

ADDRESS = re.compile(r"https://github\.com/([\w-]+)/(?!\.+$)([\w.-]+)", re.ASCII)
PLACEHOLDER = r"\{\{(REPOSITORY_[A-Z]+|SITE_URL)\}\}"
SITE = "{{SITE_URL}}"  # where .github/workflows/docs.yml publishes
VERSION = re.compile(r'^__version__ = "[^"]*"$', re.M)
# Files that have placeholders for good: they are the forms, and this is the program that fills them.
FORMS = ("register/", "tests/")
# Out of comment at the first release: until then no address exists, and the package's metadata must not name one.
URLS = re.compile(r'^# (?=\[project\.urls\]|[\w"][\w "-]* = "\{\{)', re.M)


def git(root: Path, *arguments: str) -> str:
    """Git's output. Raises BadInput with git's own words where it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput(f"git {arguments[0]} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def check(root: Path, version: str, url: str) -> None:
    """Raise BadInput where this version cannot be released from this checkout."""
    if not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", version):
        raise BadInput(f"version {version}: must be three numbers, such as 0.2.0.")
    if not ADDRESS.fullmatch(url) or url.endswith(".git"):
        raise BadInput(f"--url {url}: must be https://github.com/OWNER/NAME, without .git or a slash at the end.")
    if dirty := [line[3:] for line in git(root, "status", "--porcelain").splitlines()]:
        raise BadInput(f"the checkout is not clean: commit or remove first: {', '.join(dirty[:5])}.")
    if not git(root, "branch", "--show-current"):
        raise BadInput("HEAD is detached; check out a branch, which the commit of the release goes to.")
    if git(root, "tag", "--list", f"v{version}"):
        raise BadInput(f"version {version}: the tag v{version} exists already.")
    if found := generated_differences(root):
        raise BadInput(f"{found[0]}. Run: python tools/generate.py")


def generated_differences(root: Path) -> list[str]:
    """What differs in a checkout's register/ from what is declared."""
    sys.path.append(str(ROOT / "tools"))
    from generate import differences, registers

    return differences(registers(), root)


def check_date(date: str) -> None:
    """Raise BadInput for what is no day in the form YYYY-MM-DD."""
    try:
        valid = datetime.date.fromisoformat(date).isoformat() == date
    except ValueError:
        valid = False
    if not valid:
        raise BadInput(f"--date {date}: must be YYYY-MM-DD.")


def dated(changelog: str, version: str, date: str) -> str:
    """The changelog with the version's part dated. Raises BadInput where the part is missing, or says nothing."""
    part = re.search(rf"^## {re.escape(version)} \(unreleased\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if part is None:
        raise BadInput(f"CHANGELOG.md: has no part '## {version} (unreleased)'; write what this version changes.")
    if not part[1].strip():
        raise BadInput(f"CHANGELOG.md: the part '## {version} (unreleased)' is empty; write what this version changes.")
    return changelog.replace(f"## {version} (unreleased)", f"## {version} ({date})", 1)


def filled(text: str, url: str, commit: str = COMMIT) -> str:
    """The text with its placeholders filled; the commit's stays where none is given."""
    owner, name = ADDRESS.fullmatch(url).groups()  # type: ignore[union-attr]
    known = {URL: url, OWNER: owner, COMMIT: commit, SITE: f"https://{owner.lower()}.github.io/{name}/"}
    for placeholder, value in known.items():
        text = text.replace(placeholder, value)
    return text


def read(root: Path, path: str) -> str:
    """A file's text. Raises BadInput naming it."""
    try:
        return (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"{path}: cannot be read ({problem}).") from None


def edits(root: Path, version: str, url: str, date: str) -> dict[str, str]:
    """The files that a release changes: path -> new text."""
    found = {"CHANGELOG.md": dated(read(root, "CHANGELOG.md"), version, date)}
    grep = ("grep", "--null", "--files-with-matches", "--extended-regexp", PLACEHOLDER)
    for path in git(root, *grep).split("\0")[:-1]:
        if not path.startswith(FORMS):
            text = found.get(path) or read(root, path)
            found[path] = filled(URLS.sub("", text) if path == "pyproject.toml" else text, url)
    module = "humor_tasks/_version.py"
    text, lines = re.subn(VERSION, f'__version__ = "{version}"', read(root, module))
    if lines != 1:
        raise BadInput(f'{module}: has {lines} lines of the form __version__ = "..."; there must be one.')
    found[module] = text
    if (root / "CITATION.cff").is_file():
        text = found.get("CITATION.cff") or read(root, "CITATION.cff")
        text = re.sub(r"^version: .*$", f"version: {version}", text, flags=re.M)
        found["CITATION.cff"] = re.sub(r"^date-released: .*$", f"date-released: {date}", text, flags=re.M)
    return found


def release(root: Path, version: str, url: str, date: str) -> str:
    """Commit and tag the release and write the filled entries; the commit. Raises BadInput with all as it was."""
    check(root, version, url)
    made = edits(root, version, url, date)
    before, output = git(root, "rev-parse", "HEAD").strip(), root / "dist" / f"register-{version}"
    try:
        for path, text in made.items():
            write_text(root / path, text)
        git(root, "commit", "--quiet", "--all", "--message", f"Release {version}")
        commit = git(root, "rev-parse", "HEAD").strip()
        write_filled(root, output, url, commit)
        try:
            git(root, "tag", "--annotate", f"v{version}", "--message", f"humor-tasks {version}")
        except BaseException:
            shutil.rmtree(output, ignore_errors=True)
            raise
    except BaseException:
        git(root, "reset", "--quiet", "--hard", before)  # the checkout was clean
        raise
    return commit


def submissions(url: str, commit: str) -> str:
    """What inspect_evals' form for register entries asks for: the paper, and the line where the task is defined."""
    rows = []
    for name in sorted(tasks.__all__):
        path, line = source_of(name)
        paper = BENCHMARKS[name].card.paper.at_arxiv or "none: the form needs one"
        rows.append(f"| {name} | {paper} | {url}/blob/{commit}/{path}#L{line} |")
    return "\n".join(["| task | arXiv | source |", "|---|---|---|", *rows]) + "\n"


def write_filled(root: Path, output: Path, url: str, commit: str) -> None:
    """Write the filled entries as a new folder, or in place of an older one of the same version."""
    register = root / "register"
    with replacing(output) as folder:
        for form in sorted(register.glob("*/**/*.*")):
            if form.suffix in (".yaml", ".yml", ".md"):
                place = folder / form.relative_to(register)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(filled(form.read_text(encoding="utf-8"), url, commit), encoding="utf-8")
        (folder / "inspect_evals" / "submissions.md").write_text(submissions(url, commit), encoding="utf-8")
        shutil.rmtree(output, ignore_errors=True)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Make the release, and say what comes next."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--url", required=True, help="https://github.com/OWNER/NAME")
    parser.add_argument("--date", default=datetime.date.today().isoformat(), help="of the release; today by default")
    given = parser.parse_args(arguments)
    try:
        check_date(given.date)
        commit = release(root, given.version, given.url, given.date)
    except BadInput as problem:
        print(f"release: {problem}", file=sys.stderr)
        return 2
    print(f"Committed {commit} and tagged it v{given.version}. For the registers: dist/register-{given.version}")
    print(f"Next: git push origin HEAD v{given.version}   (the tag starts .github/workflows/release.yml)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
