"""What a user gets: a wheel and an editable installation, each in an environment of its own, far from the checkout."""

from __future__ import annotations

import email
import email.message
import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log
from standins import commands
from standins.cards import check_rows
from standins.paths import REPOSITORY
from standins.waiting import LIMIT
from uv import find_uv_bin

from humor_tasks import __version__
from humor_tasks.datasets_cards import names

SOURCES = ("humor_tasks", "scorers", "datasets_cards", "backport", "benchmarks", "register", "tools")
HOOK_FILES = {"_humor_tasks_lm_eval.py", "humor_tasks_lm_eval.pth"}
MODES = ("wheel", "editable")
# Each costs hundreds of megabytes and belongs to an extra.
NOT_IN_BASE = {"torch", "torchvision", "transformers", "sentence-transformers", "open-clip-torch", "vllm"}

MOST_BYTES = 3_000_000
KINDS = {*".py .typed .txt .yaml .toml .json .jsonl .csv .md .html .css .js .png .mp4".split()}


def uv(*arguments: str | Path) -> str:
    """uv's output; it builds and installs in a tenth of pip's time."""
    return succeeding([find_uv_bin(), *arguments], cwd=REPOSITORY).stdout


def succeeding(command: list[str | Path], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """What a command that succeeds says; its failure shows all of it."""
    left_out = ("COVERAGE_PROCESS_START", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV")
    clean = {k: v for k, v in os.environ.items() if k not in left_out}
    done = subprocess.run(command, cwd=cwd, env=clean | env, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
    return done


class Environment:
    """A fresh virtual environment, used from an empty folder beside it so that the checkout cannot leak in."""

    def __init__(self, folder: Path) -> None:
        uv("venv", "--quiet", "--python", sys.executable, folder / "venv")
        self.work = folder / "work"
        self.work.mkdir()
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.site = Path(self.python("import sysconfig; print(sysconfig.get_path('purelib'))").strip())

    def install(self, *what: str | Path) -> None:
        uv("pip", "install", "--python", self.bin / "python", *what)

    def borrow_dependencies(self) -> None:
        """What this interpreter has installed can be imported too, behind what the environment has itself."""
        (self.site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))

    def required(self) -> list[str]:
        """What the installed humor-tasks asks for."""
        return self.python("import importlib.metadata as m; print(*m.requires('humor-tasks'), sep='\\n')").splitlines()

    def run(self, command: str, *more: str) -> subprocess.CompletedProcess[str]:
        """Run an installed command: offline, because the packaged sample must do without the hub."""
        program, *arguments = command.split()
        settings = {"HF_HUB_OFFLINE": "1", "INSPECT_DISPLAY": "plain", "INSPECT_LOG_DIR": str(self.work / "logs")}
        return succeeding([self.bin / program, *arguments, *more], cwd=self.work, **settings)

    def python(self, code: str) -> str:
        return self.run("python -c", code).stdout

    def scores_in_lm_eval(self, lm_eval: str) -> str:
        """Run one of our tasks on the packaged sample; what is said beside the results."""
        task = "--tasks nyc_ranking --model humor-baseline --model_args strategy=first --metadata dataset=sample"
        said = self.run(f"{lm_eval} {task} --limit 2 --output_path results").stderr
        (results,) = (self.work / "results").rglob("results_*.json")
        assert "acc,none" in json.loads(results.read_text())["results"]["nyc_ranking"]
        return said

    def places(self) -> list[Path]:
        """Where the package and what is packed into it are imported from."""
        code = "import humor_tasks as h, humor_tasks.scorers as s, humor_tasks.datasets_cards as cards\n"
        names = "h.__file__, s.__file__, cards.folder('newyorker_caption_contest')"
        return [Path(place) for place in self.python(f"{code}print({names})").split()]

    def installed(self) -> dict[str, str]:
        """All installed distributions with their versions."""
        listed = json.loads(uv("pip", "list", "--quiet", "--format", "json", "--python", self.bin / "python"))
        return {package["name"]: package["version"] for package in listed}

    def ours(self) -> set[str]:
        """Our files in site-packages, but for the caches Python made."""
        files = (file.relative_to(self.site) for file in self.site.rglob("*") if file.is_file())
        return {str(file) for file in files if "humor" in file.parts[0] and "__pycache__" not in file.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution so that this one is complete, too."""
    folder = tmp_path_factory.mktemp("dist")
    uv("build", "--out-dir", folder, REPOSITORY)
    (built,) = folder.glob("*.whl")
    return built


def metadata_of(wheel: Path) -> email.message.Message:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(archive.read(metadata))


def required_by(wheel: Path) -> set[str]:
    return set(metadata_of(wheel).get_all("Requires-Dist", []))


def what_to_install(mode: str, wheel: Path) -> tuple[str | Path, ...]:
    return ("--editable", REPOSITORY) if mode == "editable" else (wheel,)


def test_no_module_outgrows_450_lines() -> None:
    sizes = {file: len(file.read_text().splitlines()) for part in SOURCES for file in (REPOSITORY / part).rglob("*.py")}
    assert sizes
    assert {str(file.relative_to(REPOSITORY)): size for file, size in sizes.items() if size > 450} == {}


def in_checkout(folder: str) -> set[str]:
    """The files below a folder of the repository, but for the caches Python made."""
    files = (file for file in (REPOSITORY / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(REPOSITORY).as_posix() for file in files}


def test_the_lock_satisfies_the_project_and_takes_packages_from_the_public_index() -> None:
    uv("lock", "--check", "--offline")  # where it fails, pyproject.toml has changed: run `uv lock`
    hosts = set(re.findall(r"https?://([^/\"]+)", (REPOSITORY / "uv.lock").read_text(encoding="utf-8")))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}  # none of the machine that made it


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names}
    (metadata,) = (top for top in tops if top.endswith(".dist-info"))
    assert tops == {"humor_tasks", metadata} | HOOK_FILES
    wanted = {f"humor_tasks/{name}" for folder in ("scorers", "datasets_cards") for name in in_checkout(folder)}
    assert {name for name in names if name.startswith("humor_tasks/")} == wanted | in_checkout("humor_tasks")
    assert {Path(name).suffix for name in wanted | in_checkout("humor_tasks")} <= KINDS
    assert wheel.stat().st_size < MOST_BYTES
    assert {"humor_tasks/py.typed", "humor_tasks/_registry.py", f"{metadata}/licenses/LICENSE"} <= names
    stubs = {
        f"humor_tasks/on_lm_eval/tasks/{file.name}" for file in REPOSITORY.glob("humor_tasks/on_lm_eval/tasks/*.yaml")
    }
    assert stubs
    assert stubs <= names
    assert not {name for name in names if Path(name).match("test_*.py") or name.endswith(".pyc")}


@pytest.mark.slow
def test_datasets_loads_the_samples_in_the_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    cards = sorted(card.parent for card in tmp_path.glob("humor_tasks/datasets_cards/*/README.md"))
    assert [card.name for card in cards] == names()
    assert sum(len(check_rows(folder, tmp_path / "cache")) for folder in cards) >= 45


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    told = metadata_of(wheel)
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("humor-tasks", __version__, "MIT")
    assert {"humor", "llm", "inspect-ai", "lm-eval"} <= set(told["Keywords"].split(","))
    # No address before the first release, which fills the placeholders.
    assert not [url for url in told.get_all("Project-URL", []) if "{{" in url or ", https://" not in url]


@pytest.fixture(scope="module")
def oldest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel in an environment that has the oldest harnesses that it allows, and no extra."""
    there = Environment(tmp_path_factory.mktemp("oldest"))
    floors = [re.match(r"(inspect-ai|lm-eval)(?=.*>=([\d.]+))", each) for each in required_by(wheel)]
    versions = {floor[1]: floor[2] for floor in floors if floor}
    there.install(wheel, *(f"{name}=={version}" for name, version in versions.items()))
    installed = there.installed()
    assert {name: installed.get(name) for name in versions} == versions
    assert installed.keys() & NOT_IN_BASE == set()
    return there


@pytest.fixture(scope="module")
def editable(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The checkout installed in place, beside the newest harnesses, which this interpreter has."""
    there = Environment(tmp_path_factory.mktemp("editable"))
    there.install("--no-deps", "--editable", REPOSITORY)
    there.borrow_dependencies()
    assert set(there.required()) == required_by(wheel)
    return there


@pytest.mark.cpu(20, "compiles what Inspect imports")
@pytest.mark.slow
def test_the_wheel_works_in_inspect(oldest: Environment) -> None:
    oldest.run("inspect eval humor_tasks/matching --model baseline/overlap -T dataset=sample --limit 2")
    (log,) = (oldest.work / "logs").glob("*.eval")
    assert read_eval_log(str(log), header_only=True).status == "success"
    assert all(place.is_relative_to(oldest.site) for place in oldest.places())
    assert "Usage:" in oldest.run("humor-tasks --help").stdout


@pytest.mark.cpu(15, "compiles what lm-eval imports")
@pytest.mark.slow
def test_the_wheel_works_in_lm_eval(oldest: Environment) -> None:
    oldest.scores_in_lm_eval(f"python {commands.__file__}")


@pytest.mark.cpu(20, "lm-eval reads the 14,000 files of its own tasks")
@pytest.mark.slow
def test_a_checkout_works_in_lm_eval_as_typed_and_hides_none_of_its_tasks(editable: Environment) -> None:
    """Inspect in a checkout is what all other tests run."""
    assert "overrides existing task" not in editable.scores_in_lm_eval("python -m lm_eval")
    assert all(place.is_relative_to(REPOSITORY) for place in editable.places())


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_nothing_stays_behind_after_uninstallation(mode: str, wheel: Path, tmp_path: Path) -> None:
    there = Environment(tmp_path)
    watched = "import sys; print(any('humor' in type(finder).__module__ for finder in sys.meta_path))"
    there.install("--no-deps", *what_to_install(mode, wheel))
    assert there.ours() >= HOOK_FILES
    assert there.python(watched).strip() == "True"
    uv("pip", "uninstall", "--python", there.bin / "python", "humor-tasks")
    assert there.ours() == set()
    assert there.python(watched).strip() == "False"
