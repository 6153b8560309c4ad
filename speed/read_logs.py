"""Reading a finished run sample by sample: seconds, and the most memory held, for N samples of each harness.

`python speed/read_logs.py 50000` writes synthetic logs of so many samples into a temporary folder. The goal:
memory beside the names of the samples does not grow with N. With --public, also Inspect's own reader of single
samples, whose time grows with N squared.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, read_eval_log_samples, write_eval_log
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score

from humor_tasks.logs import read_run
from humor_tasks.rows.records import Outcome

REPLY = "It is a pun. " * 100
LETTER_METRICS: dict[str, Any] = {
    "benchmark": "matching",
    "version": "1-A",
    "options": {"on_unparsed": "wrong", "extraction": "strict", "seed": 1234, "fold": "0"},
    "groups": {"fold": "0"},
    "facts": {},
}
VALUES = {"accuracy": 1.0, "unparsed": 0.0, "refused": 0.0}


def scored(i: int) -> dict[str, Any]:
    return Outcome(f"s{i}", f"c{i // 10}", {"fold": "0"}, "answered", "A", "A", VALUES).as_dict()


def inspect_sample(i: int) -> EvalSample:
    metadata = {"cluster": f"c{i // 10}", "humor_tasks": LETTER_METRICS}
    return EvalSample(
        id=f"s{i}",
        epoch=1,
        input=[ChatMessageUser(content=f"Which caption fits? {REPLY}")],
        choices=list("abcde"),
        target="A",
        output=ModelOutput.from_content("m", REPLY),
        metadata=metadata,
        scores={"multiple_choice": Score(value="C", answer="A", metadata=scored(i))},
    )


def inspect_log(folder: Path, n: int) -> Path:
    """An .eval of `n` samples. Inspect writes the first; its writer's time for the others grows with N squared."""
    dataset = EvalDataset(samples=n, sample_ids=[f"s{i}" for i in range(n)])
    about = {"signature": "bench:matching|v:1-A", "source": {"rows": n}}
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="matching",
        dataset=dataset,
        model="m",
        config=EvalConfig(epochs=1),
        metadata=about,
    )
    log = EvalLog(status="success", eval=spec, samples=[inspect_sample(0)])
    path = folder / f"{n}.eval"
    write_eval_log(log, str(path))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        for i in range(1, n):
            archive.writestr(f"samples/s{i}_epoch_1.json", inspect_sample(i).model_dump_json())
    return path


def samples_file(folder: Path, n: int) -> Path:
    """lm-eval's samples_*.jsonl of `n` samples."""
    path = folder / f"samples_{n}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            doc = {"id": f"s{i}", "cluster": f"c{i // 10}", "humor_tasks": LETTER_METRICS, "rows": n}
            doc |= {"choices": list("abcde"), "target": "A", "fields": {}}
            doc |= {"outcome": scored(i)}
            line = {"doc": doc, "arguments": {"gen_args_0": {"arg_0": REPLY}}, "filtered_resps": [REPLY]}
            file.write(json.dumps(line) + "\n")
    return path


def ours(path: Path) -> Iterator[str]:
    """Ids, one sample in memory at a time."""
    return (sample.id for sample in read_run(path, whole=True).samples)


def public(path: Path) -> Iterator[str]:
    """The same by Inspect's generator."""
    return (str(sample.id) for sample in read_eval_log_samples(str(path)))


def measured(read: Callable[[], Iterable[str]]) -> tuple[float, float, int]:
    """Seconds without tracing; the most MiB held, and samples, with it."""
    start = time.perf_counter()
    for _ in read():
        pass
    spent = time.perf_counter() - start
    tracemalloc.start()
    count = sum(1 for _ in read())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return spent, peak / 2**20, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", type=int, default=[1000, 10000])
    parser.add_argument("--public", action="store_true", help="Also Inspect's own generator.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for n in given.samples:
            for name, path, read in (
                ("Inspect .eval", inspect_log(Path(folder), n), ours),
                ("lm-eval .jsonl", samples_file(Path(folder), n), ours),
                *([("Inspect's reader", Path(folder) / f"{n}.eval", public)] if given.public else []),
            ):
                spent, peak, count = measured(lambda read=read, path=path: read(path))  # type: ignore[misc]
                size = path.stat().st_size / 2**20
                print(
                    f"{name:<17} {count:>6} samples, {size:6.1f} MiB  {spent:7.2f} s "
                    f"({1e6 * spent / count:6.0f} us a sample)  peak {peak:6.2f} MiB"
                )


if __name__ == "__main__":
    main()
