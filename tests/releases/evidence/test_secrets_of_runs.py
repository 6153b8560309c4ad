"""No secret of a run's command is in a name, report, page, table, comparison, export or evaluation report."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from evaluation_report import main
from standins.commands import humor_tasks
from standins.sample_runs import sample_runs

from humor_tasks.results import read_results

SECRETS = "hunter2"
GIVEN: dict[str, Any] = {
    "strategy": "longest",
    "passphrase": SECRETS,
    "sas_token": SECRETS,
    "pat": SECRETS,
    "base_url": f"http://ann:{SECRETS}@h/v1?sig={SECRETS}",
    "header": {"Authorization": f"Bearer {SECRETS}"},
    "client": {"cookie": SECRETS, "extra": json.dumps({"api_key": SECRETS})},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of lm-eval that differ in their tokenizer and in secrets; the second has its arguments as one text."""
    folder = tmp_path_factory.mktemp("secrets")
    for i, tokenizer in enumerate(("one", "two")):
        place = shutil.copytree(sample_runs(tmp_path_factory) / "lm", folder / "logs" / str(i))
        (path,) = place.rglob("results_*.json")
        results = json.loads(path.read_text())
        given = GIVEN | {"tokenizer": tokenizer, "api_key": f"{SECRETS}{i}"}
        as_text = ",".join(f"{name}={value}" for name, value in given.items() if not isinstance(value, dict))
        results["config"]["model_args"] = as_text if i else given
        results["config"]["gen_kwargs"] = f"api_key={SECRETS},temperature=0"
        path.write_text(json.dumps(results))
        (samples,) = place.rglob("samples_*.jsonl")
        samples.write_text(samples.read_text() + "\n" * i)
    return folder


def test_names_tell_the_tokenizer_and_no_secret(runs: Path) -> None:
    names = [result.system for result in read_results([runs / "logs"]).results]
    assert len(names) == 2
    assert all(f"tokenizer={which}" in name for which, name in zip(("one", "two"), names, strict=True))
    assert SECRETS not in str(names)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("report logs -o report", marks=pytest.mark.slow),
        "report logs -o table.csv",
        "compare logs -o compared.json",
        "evaluation_report.py logs -o evidence.md",
    ],
)
def test_what_is_written_and_printed_has_no_secret(runs: Path, command: str) -> None:
    program, *words = command.split()
    with chdir(runs):
        if program == "evaluation_report.py":
            printed = CliRunner().invoke(main, words, catch_exceptions=False).output
        else:
            printed = humor_tasks(program, *words)
    written = [path for path in runs.rglob("*") if path.is_file() and not path.is_relative_to(runs / "logs")]
    assert any(b"tokenizer=one" in path.read_bytes() or b"tokenizer\\=one" in path.read_bytes() for path in written)
    assert SECRETS not in printed + "".join(map(str, written))
    assert not [path.name for path in written if SECRETS.encode() in path.read_bytes()]
