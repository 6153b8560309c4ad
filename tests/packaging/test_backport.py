"""The start-up hook that brings our tasks and models into an lm-eval without entry points of its own.

Every test runs a Python of its own: what is tested happens while lm-eval is imported for the first time. Nothing
needs to be installed; a folder stands in for site-packages, with the entry points of pyproject.toml.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from standins.paths import REPOSITORY
from standins.waiting import LIMIT

pytestmark = pytest.mark.lm_eval_versions

HOOK, PTH = REPOSITORY / "backport" / "_humor_tasks_lm_eval.py", REPOSITORY / "backport" / "humor_tasks_lm_eval.pth"
TASKS = REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks"
DECLARED = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["entry-points"]
OUR_MODELS = set(DECLARED["lm_eval.models"])
OUR_TASKS = {file.stem for file in TASKS.glob("*.yaml")}

# lm-eval 0.4.13 as far as the hook touches it, with the real names, signatures and order of imports.
LM_EVAL = {
    "__init__.py": "",
    "__main__.py": """
        import json
        from lm_eval.api.registry import get_model, model_registry
        from lm_eval.tasks import TaskManager
        get_model("dummy")
        print(json.dumps({"tasks": TaskManager().index, "models": list(model_registry)}))
    """,
    "api/__init__.py": "",
    "api/registry.py": """
        class Registry(dict):
            def register(self, name, target):
                assert self.get(name, target) == target, name
                self[name] = target

        model_registry = Registry()

        def get_model(name):
            if len(model_registry) == 0:
                import lm_eval.models
            return model_registry[name]
    """,
    "models/__init__.py": """
        from lm_eval.api.registry import model_registry
        model_registry.register("dummy", target="lm_eval.models.dummy:DummyLM")
    """,
    "tasks/__init__.py": "from lm_eval.tasks.manager import TaskManager",
    "tasks/_index.py": """
        class TaskIndex:
            scanned = []

            @staticmethod
            def build(paths, *, resolve_includes=True):
                TaskIndex.scanned = [str(path) for path in paths]
                return {file.stem: str(file) for path in paths for file in sorted(path.glob("**/*.yaml"))}
    """,
    "tasks/manager.py": """
        from pathlib import Path
        from lm_eval.tasks._index import TaskIndex

        class TaskManager:
            def __init__(self, include_path=None, include_defaults=True):
                paths = [Path(__file__).parent] if include_defaults else []
                self.index = TaskIndex().build(paths + [Path(p) for p in include_path or []])
    """,
    "tasks/hellaswag.yaml": "task: hellaswag",
}

# The command of 0.5.0.dev1 as far as the hook touches it; 0.4.13 reads --metadata with MergeDictAction itself.
COMMAND = """
    import argparse, json

    class MergeDictAction(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            found = json.loads(values[0]) if values[0][0] == "{" else dict(value.split("=") for value in values)
            setattr(namespace, self.dest, found)

    class Run:
        def __init__(self):
            self._parser = argparse.ArgumentParser()
            self._add_args()

        def _add_args(self):
            self._parser.add_argument("--metadata", METADATA)
            self._parser.add_argument("--samples", type=json.loads)
"""

# What #4013 and #4015 change: lm-eval reads the entry points itself.
WITH_PLUGINS = {
    "api/registry.py": LM_EVAL["api/registry.py"]
    + """
        def load_plugins(group, registry):
            from importlib.metadata import entry_points
            for entry in entry_points(group=group):
                registry.register(entry.name, target=entry)
    """,
    "models/__init__.py": LM_EVAL["models/__init__.py"]
    + """
        from lm_eval.api.registry import load_plugins
        load_plugins("lm_eval.models", model_registry)
    """,
    "tasks/manager.py": LM_EVAL["tasks/manager.py"].replace("build(paths", f"build(paths + [Path({str(TASKS)!r})]"),
}
MODELS_ONLY = {name: text for name, text in WITH_PLUGINS.items() if name != "tasks/manager.py"}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text))
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What an installation leaves in site-packages, apart from the package itself."""
    sections = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in DECLARED.items()]
    return write(
        tmp_path / "site",
        {
            HOOK.name: HOOK.read_text(),
            PTH.name: PTH.read_text(),
            "humor_tasks-0.dist-info/METADATA": "Metadata-Version: 2.1\nName: humor-tasks\nVersion: 0\n",
            "humor_tasks-0.dist-info/entry_points.txt": "".join(sections),
        },
    )


@pytest.fixture
def lm_eval(tmp_path: Path) -> Path:
    """A folder with the stand-in for lm-eval 0.4.13."""
    write(tmp_path / "fake" / "lm_eval", LM_EVAL)
    return tmp_path / "fake"


def python(
    code: str, site: Path, *path: Path, real: bool = False, args: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Run `code` in a Python that has started with `site` as its site-packages.

    Without `real` the interpreter's own site-packages are out of sight, so that only the standard library,
    this checkout and `path` can be imported.
    """
    start = f"import site; site.addsitedir({str(site)!r})\n"
    return subprocess.run(
        [sys.executable, *([] if real else ["-S"]), "-c", start + dedent(code), *args],
        env={k: v for k, v in os.environ.items() if k != "HUMOR_TASKS_NO_LM_EVAL_HOOK"}
        | {"PYTHONPATH": os.pathsep.join(str(p) for p in (*path, site, REPOSITORY))}
        | env,
        cwd=site.parent,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def answer(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert run.returncode == 0, run.stderr
    result: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return result


AS_MODULE = "import runpy; runpy.run_module('lm_eval', run_name='__main__', alter_sys=True)"  # python -m lm_eval


# --- against the stand-in --------------------------------------------------------------------------------------


def test_our_tasks_and_models_join_those_of_lm_eval(site: Path, lm_eval: Path) -> None:
    listed = answer(python(AS_MODULE, site, lm_eval))
    assert OUR_TASKS | {"hellaswag"} == set(listed["tasks"])
    assert set(listed["models"]) == OUR_MODELS | {"dummy"}


@pytest.mark.parametrize(("value", "on"), [("1", False), ("yes", False), ("0", True), ("", True)])
def test_environment_variable_turns_it_off(site: Path, lm_eval: Path, value: str, on: bool) -> None:
    listed = answer(python(AS_MODULE, site, lm_eval, HUMOR_TASKS_NO_LM_EVAL_HOOK=value))
    assert (len(listed["tasks"]) > 1) is (set(listed["models"]) >= OUR_MODELS) is on


def test_what_the_user_includes_wins_over_ours_and_is_scanned_once(site: Path, lm_eval: Path, tmp_path: Path) -> None:
    name = min(OUR_TASKS)
    write(tmp_path / "mine", {f"{name}.yaml": f"task: {name}"})
    code = f"""
        import json
        from lm_eval.tasks import TaskManager
        from lm_eval.tasks._index import TaskIndex
        theirs, none = TaskManager(include_path=["mine"]).index[{name!r}], TaskManager(include_defaults=False).index
        TaskManager(include_path=[{str(TASKS)!r}])
        print(json.dumps({{"theirs": theirs, "without defaults": none, "scanned": TaskIndex.scanned}}))
    """
    found = answer(python(code, site, lm_eval))
    assert found["scanned"].count(str(TASKS)) == 1
    assert (found["theirs"], found["without defaults"]) == (f"mine/{name}.yaml", {})


@pytest.mark.parametrize("plugins", [WITH_PLUGINS, MODELS_ONLY], ids=["models and tasks", "models only"])
def test_lm_eval_that_reads_entry_points_gets_only_what_it_lacks(
    plugins: dict[str, str], site: Path, tmp_path: Path
) -> None:
    write(tmp_path / "fake" / "lm_eval", LM_EVAL | plugins)
    code = """
        import json
        from lm_eval.api.registry import get_model, model_registry
        from lm_eval.tasks._index import TaskIndex
        from lm_eval.tasks import TaskManager
        get_model("dummy"), TaskManager()
        kinds = {name: type(target).__name__ for name, target in model_registry.items()}
        print(json.dumps({"scanned": TaskIndex.scanned, "kinds": kinds}))
    """
    listed = answer(python(code, site, tmp_path / "fake"))
    assert listed["scanned"] == [str(tmp_path / "fake" / "lm_eval" / "tasks"), str(TASKS)]
    assert listed["kinds"] == {"dummy": "str"} | dict.fromkeys(OUR_MODELS, "EntryPoint")


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("type=json.loads", ["dataset=sample", "fold=1"]),
        ("type=json.loads", ['{"dataset": "sample", "fold": "1"}']),
        ("nargs='+', action=MergeDictAction", ["dataset=sample", "fold=1"]),
    ],
)
def test_metadata_is_read_as_pairs_and_as_json(site: Path, tmp_path: Path, declared: str, given: list[str]) -> None:
    write(
        tmp_path / "fake" / "lm_eval",
        LM_EVAL | {"_cli/__init__.py": "", "_cli/run.py": COMMAND.replace("METADATA", declared)},
    )
    code = """
        import json, sys
        from lm_eval._cli.run import Run
        read = Run()._parser.parse_args(["--samples", "{}", "--metadata", *sys.argv[1:]])
        print(json.dumps(vars(read)))
    """
    found = answer(python(code, site, tmp_path / "fake", args=tuple(given)))
    assert found == {"metadata": {"dataset": "sample", "fold": "1"}, "samples": {}}


def test_lm_eval_may_be_installed_editable_beside_other_import_hooks(site: Path, tmp_path: Path) -> None:
    """Served by a finder of its own, while another hook asks all finders, as ours does."""
    write(tmp_path / "elsewhere" / "lm_eval", LM_EVAL)
    code = f"""
        import importlib.machinery, importlib.util, sys

        class Editable:
            def find_spec(name, path=None, target=None):
                return importlib.machinery.PathFinder.find_spec(name, path or [{str(tmp_path / "elsewhere")!r}])

        class Nosy:
            asking = False

            @classmethod
            def find_spec(cls, name, path=None, target=None):
                if cls.asking:
                    return None
                cls.asking = True
                try:
                    return importlib.util.find_spec(name)
                finally:
                    cls.asking = False

        class Legacy:  # of the time before find_spec
            def find_module(name, path=None):
                return None

        sys.meta_path[:0] = [Nosy, Legacy]
        sys.meta_path.append(Editable)
    """
    listed = answer(python(dedent(code) + AS_MODULE, site))
    assert len(listed["tasks"]) > 1
    assert set(listed["models"]) == OUR_MODELS | {"dummy"}


def test_lm_eval_of_another_shape_still_imports_and_says_so(site: Path, tmp_path: Path) -> None:
    write(tmp_path / "fake" / "lm_eval", LM_EVAL | {"tasks/_index.py": "class Index: pass", "tasks/__init__.py": ""})
    run = python("import lm_eval.tasks._index, lm_eval.models; print('fine')", site, tmp_path / "fake")
    assert (run.returncode, run.stdout) == (0, "fine\n")
    assert "lm_eval.tasks._index has changed" in run.stderr
    assert "lm_eval.models" not in run.stderr


def test_nothing_happens_without_lm_eval(site: Path) -> None:
    run = python("import sys, lm_eval", site)
    assert run.returncode == 1
    assert "No module named 'lm_eval'" in run.stderr


@pytest.mark.parametrize("hook", ["def install(:", "raise RuntimeError('broken')", "", None])
def test_a_broken_or_missing_hook_is_no_obstacle_to_python(site: Path, hook: str | None) -> None:
    (site / HOOK.name).unlink()
    if hook is not None:
        (site / HOOK.name).write_text(hook)
    run = python("print('fine')", site)
    assert (run.returncode, run.stdout, run.stderr) == (0, "fine\n", "")


def test_a_missing_package_is_no_obstacle_to_lm_eval(site: Path, lm_eval: Path) -> None:
    """As when only half of an uninstallation succeeded."""
    run = python("import sys; sys.path.remove(sys.argv[1])\n" + AS_MODULE, site, lm_eval, args=(str(REPOSITORY),))
    assert answer(run)["models"] == ["dummy"]


def test_a_python_start_imports_the_hook_and_nothing_else(site: Path) -> None:
    run = python(
        """
        import json, sys
        before = set(sys.modules)
        del sys.modules["_humor_tasks_lm_eval"]
        sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "LmEvalFinder"]
        sys.modules.pop("humor_tasks", None)
        exec(open(sys.argv[1]).read())
        import colorsys, email.errors  # any others: watched, but nothing of ours is loaded for them
        new = [name for name in sys.modules if name not in before or "humor" in name]
        hooks = sum(type(finder).__name__ == "LmEvalFinder" for finder in sys.meta_path)
        print(json.dumps({"new": sorted(new), "hooks": hooks, "longest": len(open(sys.argv[1]).readlines())}))
        """,
        site,
        args=(str(site / PTH.name),),
    )
    assert answer(run) == {
        "new": ["_humor_tasks_lm_eval", "colorsys", "email", "email.errors"],
        "hooks": 1,
        "longest": 1,
    }


def test_the_hook_watches_for_exactly_what_can_be_completed(site: Path) -> None:
    code = "import _humor_tasks_lm_eval as hook, humor_tasks._lm_eval_backport as backport\n"
    run = python(code + "print(hook.COMPLETED == set(backport.STEPS))", site)
    assert run.stdout == "True\n", run.stderr


# --- against the installed lm-eval ------------------------------------------------------------------------------


@pytest.mark.slow
def test_real_lm_eval_lists_ours_behind_its_own_and_before_the_users(site: Path, tmp_path: Path) -> None:
    name = min(OUR_TASKS)
    write(tmp_path / "mine", {"theirs.yaml": f"task: {name}\ndataset_path: json\n"})
    # Its own 13,986 YAML files take 10 to 21 s to read: here it reads none of them.
    code = f"""
        import json, pathlib, lm_eval.tasks
        from lm_eval.api.registry import get_model, model_registry
        from lm_eval.tasks import TaskManager
        from lm_eval.tasks._index import TaskIndex
        ours = get_model("humor-baseline")
        from lm_eval.api.model import LM
        from lm_eval.models import MODEL_MAPPING
        assert issubclass(ours, LM) and issubclass(get_model("dummy"), LM)
        files, builtin = TaskIndex._iter_yaml_files, pathlib.Path(lm_eval.tasks.__file__).parent
        TaskIndex._iter_yaml_files = staticmethod(lambda root: [] if root == builtin else files(root))
        print(json.dumps({{
            "models": list(model_registry),
            "own": list(MODEL_MAPPING),
            "by default": TaskManager().all_tasks,
            "without defaults": TaskManager(include_defaults=False).all_tasks,
            "theirs": str(TaskManager(include_path="mine")._index[{name!r}].yaml_path),
        }}))
    """
    listed = answer(python(code, site, real=True))
    assert set(listed["models"]) == OUR_MODELS | set(listed["own"])
    assert set(listed["by default"]) >= OUR_TASKS
    assert (listed["without defaults"], listed["theirs"]) == ([], "mine/theirs.yaml")
