"""Benchmark -> lm-eval Task.

A YAML stub names the benchmark and what the variant fixes; everything else comes from the
harness's flags (`--num_fewshot`, `--seed`) and from `--metadata`, which names the benchmark's parameters.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.task import Task
from lm_eval.config.task import TaskConfig

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.contract import Run
from humor_tasks.benchmarks.metric import Metric
from humor_tasks.benchmarks.options import LM_EVAL, declared, parameters_of
from humor_tasks.data.media.picture import Picture, decode_later
from humor_tasks.data.records import Outcome, Record
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.contributions import PERPLEXITIES, Contribution, contribution, perplexity
from humor_tasks.on_lm_eval.rendering import check_sent, messages, render
from humor_tasks.scorers.estimate import Estimate

logger = logging.getLogger(__name__)

MODELS_OWN = ("seed", "revision")  # lm-eval merges --model_args into the metadata; there these are the model's
NOT_HERE = {"replicates": "lm-eval asks once; Inspect's task repeats (-T replicates=5)."}
END_MARKS = ("</s>", "<|im_end|>")


class BenchmarkTask(Task):
    """One variant of a benchmark: letters by log-likelihood, or a generated reply (`output_type: generate_until`)."""

    def __init__(self, config: dict[str, Any]) -> None:
        config = dict(config)
        config.pop("class", None)
        self.benchmark = find_benchmark(config.pop("benchmark"))
        self._settable = [p.name for p in declared(self.benchmark.options) if p.name not in LM_EVAL]
        self.generates = config.get("output_type") == "generate_until"
        fixed = {name: config.pop(name) for name in self._settable if name in config}
        config["metadata"] = dict(config.get("metadata") or {})
        if self.generates:
            config["generation_kwargs"] = {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 1024}
            # An empty list is filled in by `_generation`: it depends on the number of shots.
        self._config = TaskConfig(**config)
        self.OUTPUT_TYPE = self._config.output_type
        self._filters = _filters()
        self._instances = None
        self._given = self._parameters(fixed)
        self._pictures: dict[str, Any] = {}  # by content
        self._files: dict[str, Any] = {}  # the same ones by path
        self._processes = 1
        self._signed: tuple[Run | None, str] = (None, "")
        self._load()
        self.VERSION = self._config.metadata["version"] = self.run.version
        self.MULTIMODAL = any(record.picture for record in self.run.records)

    def _load(self, **seed: int) -> None:
        """Rows, parameters and templates."""
        self.run = self.benchmark.open(**self._given, **seed)
        if not self.generates and (changes := self.run.options.compared()):
            self.run = self.run.with_options(**changes)
        if self.generates and self.run.form.needs_likelihoods:
            raise BadInput(f"{self._config.task} reads replies: estimate=expected needs the log-likelihood task.")
        if any(record.clip for record in self.run.records):
            raise BadInput(
                f"{self._config.task}: comedy is clips, and lm-eval has no model that takes video. Run it in Inspect: "
                f"`inspect eval humor_tasks/{self.benchmark.name} -T scene=comedy`; here, choose scene=cartoon, post "
                "or stills (both), or words alone: input=description."
            )
        self._docs = [_doc(record, self.run) for record in self.run.records]
        self._records = {record.id: record for record in self.run.records}
        self._places = {identity: i for i, identity in enumerate(self._records)}

    def _parameters(self, fixed: Mapping[str, Any]) -> dict[str, Any]:
        given = self._config.metadata or {}
        own = {each.name: each for each in declared(self.benchmark.options)}
        names = [*parameters_of(self.benchmark.options), *LM_EVAL.values()]
        for name, value in given.items():
            if name in NOT_HERE:
                raise BadInput(f"--metadata {name}: {NOT_HERE[name]}")
            if name in LM_EVAL and name in own and name not in MODELS_OWN and value != own[name].default:
                raise BadInput(f"--metadata {name}: use {LM_EVAL[name]}.")
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
            if near and name not in (*own, *names):
                raise BadInput(f"--metadata {name}: did you mean '{LM_EVAL.get(near[0], near[0])}'?")
        for name, value in fixed.items():
            if str(given.get(name, value)) != str(value):
                raise BadInput(f"{self._config.task} fixes {name}={value}: leave {name} out of --metadata.")
        parameters = {name: given[name] for name in self._settable if name in given} | dict(fixed)
        if (revision := given.get(LM_EVAL["revision"])) is not None:
            parameters["revision"] = revision
        return parameters

    # ---- documents ----

    def has_training_docs(self) -> bool:
        """Worked examples are drawn by the benchmark itself, so that both harnesses draw the same."""
        return False

    def has_validation_docs(self) -> bool:
        """False: the split to evaluate is served as test documents, whatever its name."""
        return False

    def has_test_docs(self) -> bool:
        """True."""
        return True

    def test_docs(self) -> list[dict[str, Any]]:
        """One document a record: ids, what is shown, label."""
        return self._docs

    def doc_to_text(self, doc: Mapping[str, Any]) -> str:
        """The prompt as plain text."""
        return render(messages(self._prompt(doc)), self._prefix)

    def doc_to_target(self, doc: Mapping[str, Any]) -> str:
        """The letter, or the reference text."""
        return doc["target"] or ""

    def doc_to_choice(self, doc: Mapping[str, Any]) -> list[str]:
        """The letters, or the words that stand for them."""
        return list(self._labels)

    def doc_to_image(self, doc: Mapping[str, Any]) -> list[Any]:
        """The prompt's pictures; each distinct one is opened once, when a request is built, and decoded when used."""
        return [self._open(picture) for picture in self._prompt(doc).pictures]

    def _open(self, picture: Picture) -> Any:
        if picture.path in self._files:
            return self._files[picture.path]
        data = picture.fetch()
        key = hashlib.sha256(data or b"").hexdigest()
        if key not in self._pictures:
            self._pictures[key] = decode_later(data, picture)
        if picture.path is not None:
            self._files[picture.path] = self._pictures[key]
        return self._pictures[key]

    def _prompt(self, doc: Mapping[str, Any]) -> Any:
        return self.run.prompt(self._records[doc["id"]])

    @property
    def _prefix(self) -> str:
        """What a compared continuation follows on."""
        if self.generates:
            return ""
        return self.run.form.prefix

    @property
    def _labels(self) -> tuple[str, ...]:
        """The continuations that are compared."""
        return self.run.form.labels

    # ---- requests ----

    def build_all_requests(self, *, cache_requests: bool = False, **how: Any) -> None:
        """See Task; lm-eval's request cache is not used.

        It goes by task name and shots alone, so a run with other metadata would be given the prompts
        of another dataset, fold or setting.
        """
        if cache_requests:
            logger.warning("%s: --cache_requests is not used; its cache ignores --metadata.", self._config.task)
        self._processes = int(how.get("world_size", 1))
        super().build_all_requests(cache_requests=False, **how)

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """lm-eval's `--seed` (its fourth number) seeds shots and random guesses."""
        super().set_fewshot_seed(seed)
        if seed is None:
            return
        if seed != self.run.options.seed:  # a seed may decide which rows there are
            self._load(seed=seed)

    def fewshot_context(
        self,
        doc: Mapping[str, Any],
        num_fewshot: int = 0,
        system_instruction: str | None = None,
        apply_chat_template: bool = False,
        fewshot_as_multiturn: bool = False,
        chat_template: Callable[..., str] | None = None,
        gen_prefix: str | None = None,
    ) -> str:
        """The prompt, through the model's chat template where one is applied."""
        if num_fewshot != self.run.options.shots:
            self.run = self.run.with_options(shots=num_fewshot)
        turns = messages(self._prompt(doc), system_instruction, merge=not fewshot_as_multiturn)
        if not (apply_chat_template and chat_template):
            return render(turns, self._prefix)
        if self._prefix:
            turns.append({"role": "assistant", "content": self._prefix})
        return chat_template(turns, add_generation_prompt=not self._prefix)

    def construct_requests(self, doc: Mapping[str, Any], ctx: str, **kwargs: Any) -> list[Instance]:
        """One log-likelihood a letter; or one generation, for open answers beside the reference's likelihood."""
        kwargs.pop("apply_chat_template", None)
        kwargs.pop("chat_template", None)
        visual = self.doc_to_image(doc)
        check_sent(str(self._config.task), len(visual), self._config.metadata or {})
        extra: tuple[Any, ...] = ({"visual": visual},) if visual else ()
        own = _doc(self._records[doc["id"]], self.run)  # its hash is logged: it holds nothing of the answer

        def request(kind: Any, i: int, argument: Any) -> Instance:
            return Instance(kind, doc=own, arguments=(ctx, argument, *extra), idx=i, **kwargs)

        if self.generates:
            return [request("generate_until", 0, self._generation())]
        if self._labels:
            return [request("loglikelihood", i, f" {label}") for i, label in enumerate(self._labels)]
        requests = [request("generate_until", 0, self._generation())]
        return [*requests, request("loglikelihood", 1, f" {doc['target']}")] if doc["target"] else requests

    def _generation(self) -> dict[str, Any]:
        """Generation arguments: a direct answer ends at a blank line, reasoning only at a model's end mark.

        Without a stop sequence a base model would go on with the next example; an empty list of
        stop sequences makes some servers fail.
        """
        given = dict(self._config.generation_kwargs or {})
        given.setdefault("max_gen_toks", 512)
        if not given.get("until"):
            given["until"] = list(self.run.form.stop or END_MARKS)
        return given

    # ---- results ----

    def apply_filters(self) -> Any:
        """See Task. From here on a picture is its file's SHA-256, in the log of samples too.

        lm-eval would log the SHA-256 of a PNG, and make that PNG anew for each letter compared.
        """
        names = {id(image): key for key, image in self._pictures.items()}
        asked: list[Instance] = self._instances or []
        for instance in asked:
            for extra in instance.arguments[2:]:  # the same for all letters of a document
                extra["visual"] = [names.get(id(shown), shown) for shown in extra["visual"]]
        return super().apply_filters()

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """This document's share of every metric it counts towards; its outcome goes into the log of samples."""
        record = self._records[doc["id"]]
        if self._labels and not self.generates:
            answer = self.run.form.from_likelihoods([likelihood for likelihood, _ in results])
            outcome = self.run.scored(record, answer)
        else:
            outcome = self.run.outcome(record, results[0])
        doc["humor_tasks"] = _told(self.run) | {"signature": self._signature}
        doc["outcome"] = {"status": outcome.status, "answer": outcome.answer, "values": dict(outcome.values)}
        shares: dict[str, Any] = dict.fromkeys(self._shared_metrics if self._processes > 1 else ())
        for metric in self.benchmark.metrics:
            if metric.counted([outcome]):
                for shown in self._shown(metric, outcome):
                    shares |= dict.fromkeys(_with_stderr(shown), contribution(metric, outcome))
        if len(results) > 1 and not self._labels and not math.isnan(results[1][0]):
            for name in PERPLEXITIES:
                shares |= dict.fromkeys((name, f"{name}_stderr"), (results[1][0], record.target, record.cluster))
        return shares

    @functools.cached_property
    def _shared_metrics(self) -> list[str]:
        """The metrics that some document counts towards if it is answered.

        Of several processes, lm-eval wants from each a share of every metric that the first one has, and
        leaves out the metrics that the first has not. A document's share of the others is None.
        """
        first = next(iter(self._labels), "")
        answered = [self.run.outcome(r, self.run.form.written(r.target or first)) for r in self.run.records]
        names = [
            shown
            for outcome in answered
            for metric in self.benchmark.metrics
            if metric.counted([outcome])
            for shown in self._shown(metric, outcome)
        ]
        return [key for shown in dict.fromkeys(names) for key in _with_stderr(shown)]

    def _shown(self, metric: Metric, outcome: Outcome) -> list[str]:
        short, part = metric.shown_in_lm_eval, self.benchmark.part(self.run, outcome.groups)
        return [short, f"{short}_{part}"] if part else [short]

    def aggregation(self) -> dict[str, Callable[[list[Any]], float]]:
        """Metric name -> function over all its documents' shares."""
        functions: dict[str, Callable[[list[Any]], float]] = {}
        parts = {self.benchmark.part(self.run, record.groups): None for record in self.run.records}
        for metric in self.benchmark.metrics:
            for part in ("", *(part for part in parts if part)):
                shown = "_".join(filter(None, (metric.shown_in_lm_eval, part)))
                functions[shown] = functools.partial(self._aggregate, metric, part, "value")
                functions[f"{shown}_stderr"] = functools.partial(self._aggregate, metric, part, "stderr")
        for name, count in PERPLEXITIES.items():
            functions[name] = functools.partial(perplexity, count, "value")
            functions[f"{name}_stderr"] = functools.partial(perplexity, count, "stderr")
        return functions

    def _aggregate(self, metric: Metric, part: str, value: str, items: list[Contribution | None]) -> float:
        # In the order of the data, whichever process they come from: bootstrapped errors depend on it.
        outcomes = sorted((item.outcome for item in items if item is not None), key=lambda o: self._places[o.id])
        if not outcomes:
            return math.nan
        estimates: dict[str, Estimate] = self.benchmark.summary(self.run, metric, outcomes)
        found = estimates.get("_".join(filter(None, (metric.name, part))), estimates[metric.name])
        return float(getattr(found, value))

    def higher_is_better(self) -> dict[str, bool]:
        """By metric name; standard errors are left out."""
        directions = {metric.shown_in_lm_eval: metric.direction for metric in self.benchmark.metrics}
        parts = {part for record in self.run.records if (part := self.benchmark.part(self.run, record.groups))}
        directions |= {f"{name}_{part}": found for name, found in directions.items() for part in parts}
        return {name: found == "higher" for name, found in directions.items()} | dict.fromkeys(PERPLEXITIES, False)

    @property
    def _signature(self) -> str:
        if self._signed[0] is not self.run:  # the number of shots is known late
            self._signed = self.run, self.run.signature("generate" if self.generates else "loglikelihood")
        return self._signed[1]

    def dump_config(self) -> dict[str, Any]:
        """The configuration lm-eval stores with the results, with the score's signature and source."""
        config: dict[str, Any] = super().dump_config()
        about = {"signature": self._signature, "source": dict(self.run.data.provenance)}
        return config | {"metadata": (config.get("metadata") or {}) | about}


def _with_stderr(shown: str) -> tuple[str, str]:
    """lm-eval has no hook for a task's own standard error; a metric of this name takes the place of its "N/A"."""
    return shown, f"{shown}_stderr"


def _filters() -> list[Any]:
    from lm_eval.filters import build_filter_ensemble

    return [build_filter_ensemble("none", [["take_first", None]])]


def _told(run: Run) -> dict[str, Any]:
    return {"benchmark": run.benchmark.name, "version": run.version, "options": run.options.scoring()}


def _doc(record: Record, run: Run) -> dict[str, Any]:
    doc: dict[str, Any] = {
        "id": record.id,
        "cluster": record.cluster,
        "humor_tasks": _told(run),
        "groups": dict(record.groups),
        "context": record.context,
        "choices": list(record.choices),
        "fields": dict(record.fields),  # what a rater of headlines reads
        "target": record.target,
        "rows": len(run.records),  # a log of fewer was limited
    }
    if record.picture is not None:
        doc["picture"] = record.picture.where
    if record.points:  # what a grader needs later: `humor-tasks grade`
        doc["points"] = [dataclasses.asdict(point) for point in record.points]
    return doc
