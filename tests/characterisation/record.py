"""The characterisation table: what both harnesses show, score and report today.

A number that differs by less than CLOSE is the same: numpy adds in another order on another processor.

    python tests/characterisation/record.py OUT.json [--only PREFIX]   # several: --only A --only B
    python tests/characterisation/record.py --table [--only PREFIX]    # the committed part, into table.json
    python tests/characterisation/record.py --compare A.json B.json    # 1 where they differ

Real rows are read from $HUMOR_TASKS_REAL_DATA; without it they are left out, and table.json keeps their entries. Of
their texts only hashes are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from characterisation.cases import STUBS, Case, all_cases, kept_cases, kind_of
from characterisation.scripted import InLmEval, in_inspect, number, reply, told

from humor_tasks.rows.media.picture import pillow_version

Entry = dict[str, Any]
FIRST = 3  # rows whose messages are recorded one by one
IN_INSPECT, IN_LM_EVAL = 100, 500
"""Real rows that are asked about, of all that are opened: Inspect takes some 20 ms for each. `alone` asks about all."""
CLOSE = 1e-9
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?|nan")
TABLE = Path(__file__).with_name("table.json")


def sha(value: Any) -> str:
    """SHA-256 of a value, by its JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=repr).encode()).hexdigest()


class Recorder:
    """Runs cases; `folder` takes logs and made files, `real` holds the real rows."""

    def __init__(self, folder: Path, real: Path | None) -> None:
        self.folder, self.real = folder, real

    def record(self, case: Case) -> dict[str, Entry]:
        """The entries of one run: one in Inspect and without a harness, one a stub in lm-eval."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = {name: self._filled(value, case) for name, value in case.args.items()}
            found = {"inspect": self._inspect, "lm_eval": self._lm_eval, "alone": self._alone}[case.harness](case, args)
        return {key: self._plain(entry) for key, entry in found.items()}

    def _plain(self, value: Any) -> Any:
        """No machine's paths, and numbers as they are written."""
        if isinstance(value, Mapping):
            return {str(name): self._plain(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(inner) for inner in value]
        if isinstance(value, float):
            return repr(float(value))
        text = str(value)
        for path, name in ((self.real, "$REAL"), (self.folder, "$TMP")):
            text = text.replace(str(path), name) if path else text
        return text.replace(f"|pillow:{pillow_version()}|", "|pillow:$PILLOW|")  # whichever is installed

    # ---- what is put into a run ----

    def _filled(self, value: Any, case: Case) -> Any:
        if value in ("$SYSTEM", "$OTHER"):
            return self._explanations(case, value)
        return value.replace("$REAL", str(self.real)) if isinstance(value, str) else value

    def _explanations(self, case: Case, side: str) -> str:
        """Another row's reference cut to many lengths, as {id: text}; one is missing, one the row's own, one empty."""
        import humor_tasks

        of = case.args.get("of", "explanation")
        names = ("dataset", "split", "fold", "scene")
        args = {name: self._filled(case.args[name], case) for name in names if name in case.args}
        found = humor_tasks.load(of, **args | ({"input": "description"} if of.startswith("mock") else {})).records
        made = {
            record.id: reply("story", record.id + side, odd=99) + (found[i - 1].target or "")[: 60 + 40 * (i % 9)]
            for i, record in enumerate(found)
        }
        made[found[1].id] = found[1].target or "The same."
        made[found[2].id] = ""
        if of == "explanation":
            del made[found[0].id]
        name = f"{side[1:]}-{number(case.key)}.json"
        (self.folder / name).write_text(json.dumps(made))
        return str(self.folder / name)

    # ---- Inspect ----

    def _inspect(self, case: Case, args: dict[str, Any]) -> dict[str, Entry]:
        from inspect_ai import eval
        from inspect_ai.solver import SolverSpec

        (task,), asked = case.tasks, list[Any]()
        kind = case.model if case.model == "digits" else kind_of(task, args)
        model: Any = in_inspect(kind, asked=asked) if case.model in ("scripted", "digits") else f"baseline/{case.model}"
        roles: dict[str, Any] = {}
        judges = [in_inspect("judge", f"judge{i}", str(i), asked) for i in range(case.graders)]
        if judges:
            roles["grader"] = judges
        more: dict[str, Any] = {"epochs": case.more["epochs"]} if "epochs" in case.more else {}
        if "describer" in case.more:
            roles["describer"] = in_inspect(case.more["describer"], "describer", asked=asked)
        if "solver" in case.more:
            given = {"cache": False} if case.more["solver"] == "describe_first" else {}
            more["solver"] = SolverSpec(f"humor_tasks/{case.more['solver']}", args=given)
        (log,) = eval(
            f"humor_tasks/{task}",
            task_args=args,
            model=model if case.model != "none" else "none/none",
            model_roles=roles or None,
            log_dir=str(self.folder / "logs"),
            display="log",
            limit=IN_INSPECT if case.real else None,
            **more,
        )
        if log.status != "success":
            raise RuntimeError(f"{case.key}: {log.error.message if log.error else log.status}")
        if "rescore" in case.more:
            log = _rescored(log, case.more["rescore"], judges)
        assert log.results
        assert log.stats
        about = log.eval.metadata or {}
        metrics = {
            score.name: {name: float(metric.value) for name, metric in score.metrics.items()}
            | {"scored_samples": score.scored_samples, "unscored_samples": score.unscored_samples}
            for score in log.results.scores
        }
        samples = sorted(log.samples or [], key=lambda sample: sample.epoch)
        entry = _about(log.eval.task_version, about["signature"], about["source"]) | {
            "metrics": metrics,
            **_messages([_question(sample) for sample in samples]),
            "answers": sha([_answers(sample) for sample in samples]),
            "scores": sha([[s.id, {n: repr(x.value) for n, x in (s.scores or {}).items()}] for s in samples]),
            "requests": {"calls": len(asked), "sha256": sha(sorted(asked, key=repr))},
            "usage": {name: used.total_tokens for name, used in sorted(log.stats.model_usage.items())},
        }
        return {case.key: entry}

    # ---- lm-eval ----

    def _lm_eval(self, case: Case, args: dict[str, Any]) -> dict[str, Entry]:
        from lm_eval import evaluator
        from lm_eval.tasks import TaskManager

        manager = TaskManager(include_path=str(STUBS), include_defaults=False, metadata=args)
        scripted = case.model == "scripted"
        found = evaluator.simple_evaluate(
            InLmEval(lambda name: kind_of(name, args)) if scripted else "humor-baseline",
            model_args=None if scripted else f"strategy={case.model}",
            tasks=list(case.tasks),
            task_manager=manager,
            num_fewshot=case.more.get("shots"),
            apply_chat_template=case.more.get("chat", False),
            limit=IN_LM_EVAL if case.real else None,
        )
        assert found is not None
        entries = {}
        for known, result in found["results"].items():
            task = known.rpartition("::")[2]  # lm-eval 0.5 has GROUP::TASK
            key = "/".join((case.harness, task, *case.key.split("/")[2:]))
            if len(case.tasks) == 1 and task != case.tasks[0]:
                key = f"{case.key}/{task}"  # of a group
            entry: Entry = {"metrics": {n: v for n, v in result.items() if n not in ("alias", "name")}}
            if known in found["samples"]:
                about = found["configs"][known]["metadata"]
                samples = sorted(found["samples"][known], key=lambda sample: int(sample["doc_id"]))
                asked = [sample["arguments"] for sample in samples]
                entry |= _about(found["versions"][known], about["signature"], about["source"]) | _messages(asked)
                entry["answers"] = sha([[s["doc"]["id"], s["target"], repr(_kept(s))] for s in samples])
                entry["shots"] = found["n-shot"][known]
                entry["higher_is_better"] = found["higher_is_better"][known]
            else:
                entry["subtasks"] = sorted(name.rpartition("::")[2] for name in found["group_subtasks"][known])
            entries[key] = entry
        return entries

    # ---- without a harness ----

    def _alone(self, case: Case, args: dict[str, Any]) -> dict[str, Entry]:
        import humor_tasks

        (task,) = case.tasks
        run = humor_tasks.load(task, **args)
        asked = [[[turn.role, turn.text] for turn in run.prompt(record).turns] for record in run.records]
        kind = kind_of(task, args)
        replies = {r.id: reply(kind, a[-1][1]) for r, a in zip(run.records, asked, strict=True)}
        report = humor_tasks.evaluate(run, replies)
        metrics = {n: {p: float(getattr(e, p)) for p in ESTIMATE} for n, e in report.metrics.items()}
        about = _about(run.version, str(run.signature("predictions")), {})
        return {case.key: about | {"metrics": metrics, "printed": sha(self._plain(report)), **_messages(asked)}}


ESTIMATE = ("value", "stderr", "low", "high")


def _kept(sample: Mapping[str, Any]) -> list[Any]:
    """The first reply to each request, or its log-likelihood."""
    return [first for first, *_ in sample["resps"]]


def _about(version: Any, signature: str, source: Mapping[str, Any]) -> Entry:
    parts = dict(part.partition(":")[::2] for part in signature.split("|"))
    return {"version": version, "prompts": parts["prompts"], "signature": signature, "source": dict(source)}


def _messages(rows: Sequence[Any]) -> Entry:
    return {"rows": len(rows), "messages": [sha(row) for row in rows[:FIRST]], "all_messages": sha(list(rows))}


def _question(sample: Any) -> list[Any]:
    """The messages a sample's model was sent."""
    from inspect_ai.log import resolve_sample_attachments

    messages = resolve_sample_attachments(sample, "full").messages
    if messages and messages[-1].role == "assistant":
        messages = messages[:-1]
    return told(messages)


def _answers(sample: Any) -> list[Any]:
    scores = (sample.scores or {}).items()
    said = {name: [score.answer, score.reason, (score.metadata or {}).get("status")] for name, score in scores}
    return [sample.id, sample.epoch, sample.target, said]


def _rescored(log: Any, scorer: str, judges: Sequence[Any]) -> Any:
    from inspect_ai import score
    from inspect_ai._util.registry import registry_create

    made: Any = registry_create("scorer", f"humor_tasks/{scorer}", cache=False)
    return score(log, made, action="append", display="log", model_roles={"grader": list(judges)})


# ---- comparing -----------------------------------------------------------------------------------


def differences(was: Any, now: Any, where: str = "") -> list[str]:
    """One line a field that differs: its place, and both values."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        names = [*was, *(name for name in now if name not in was)]
        return [
            line
            for name in names
            for line in differences(was.get(name, "-"), now.get(name, "-"), f"{where}: {name}" if where else name)
        ]
    return [] if was == now or _close(str(was), str(now)) else [f"{where}: was {was}, is {now}"]


def _close(was: str, now: str) -> bool:
    both = NUMBER.fullmatch(was) and NUMBER.fullmatch(now)
    return bool(both) and math.isclose(float(was), float(now), rel_tol=CLOSE, abs_tol=CLOSE)


def chosen(cases: Iterable[Case], only: Iterable[str], real: bool) -> list[Case]:
    """The cases whose key begins with one of `only`, or all; without those of real rows, unless `real`."""
    prefixes = tuple(only)
    return [case for case in cases if (real or not case.real) and (not prefixes or case.key.startswith(prefixes))]


def not_recorded(table: Mapping[str, Entry], only: Sequence[str], real: bool) -> dict[str, Entry]:
    """The entries of the committed table that stay, unless recorded anew: all with `only`, or those of real rows."""
    return {key: entry for key, entry in table.items() if only or (not real and key.split("/")[2] == "real")}


def main() -> int:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, help="file to write the table to")
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX")
    parser.add_argument("--table", action="store_true", help="record the committed part of the table")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"))
    parser.add_argument("--seconds", action="store_true", help="tell how long each run takes")
    given = parser.parse_args()
    if given.compare:
        found = differences(*(json.loads(path.read_text()) for path in given.compare))
        print("\n".join(found) or "no difference")
        return int(bool(found))
    real = os.environ.get("HUMOR_TASKS_REAL_DATA")
    table: dict[str, Entry] = {}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"INSPECT_LOG_DIR": f"{folder}/logs", "INSPECT_CACHE_DIR": f"{folder}/cache"}
        os.environ |= {"INSPECT_DISPLAY": "none", "HF_HUB_DISABLE_TELEMETRY": "1", "TQDM_DISABLE": "1"}
        recorder = Recorder(Path(folder), Path(real) if real else None)
        for case in chosen(kept_cases() if given.table else all_cases(), given.only, bool(real)):
            start = time.monotonic()
            try:
                found = recorder.record(case)
                assert not set(found) & set(table), case.key
                table |= found
            except Exception as problem:
                failed += 1
                print(f"FAILED {case.key}: {type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
            if given.seconds:
                print(f"{time.monotonic() - start:6.2f}  {case.key}", flush=True)
    if given.table and failed:
        print(f"{TABLE.name} is left as it was.", file=sys.stderr)
    elif given.table:
        table = not_recorded(json.loads(TABLE.read_text()), given.only, bool(real)) | table
        lines = [f"{json.dumps(key)}: {json.dumps(entry, sort_keys=True)}" for key, entry in sorted(table.items())]
        TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    else:
        text = json.dumps(table, indent=1, sort_keys=True) + "\n"
        given.out.write_text(text) if given.out else print(text)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
