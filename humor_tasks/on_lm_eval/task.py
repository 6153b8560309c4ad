"""Benchmark -> lm-eval Task.

A task's YAML file names the benchmark and the parameters that it fixes. All other parameters come from lm-eval's flags
(`--num_fewshot`, `--seed`) and from `--metadata`, which accepts the benchmark's parameters by name.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import LETTER_METRICS, Run
from humor_tasks.contract.judging.missing import MISSING, missing_warning
from humor_tasks.contract.metric import UNPARSED, Metric
from humor_tasks.contract.replies import endings, endings_warning
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.on_lm_eval import generation, harness, metadata
from humor_tasks.on_lm_eval.checks import check_weights, check_whole_items, refuse_use_cache
from humor_tasks.on_lm_eval.contributions import Contribution, contribution, perplexities, perplexity
from humor_tasks.on_lm_eval.harness import Instance, Task, TaskConfig
from humor_tasks.on_lm_eval.rendering import about_run, check_sent, document, messages, signed
from humor_tasks.rows.media.picture import Picture, decode_later
from humor_tasks.rows.records import Outcome, plain_text
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.perplexity import UNITS

logger = logging.getLogger(__name__)

PICTURES = "_pixels"
"""In the names of tasks that show pictures; those of the same names without it show words."""


class BenchmarkTask(Task):
    """A benchmark as an lm-eval task, with log-likelihoods of labels or generated replies (`generate_until`)."""

    def __init__(self, config: dict[str, Any]) -> None:
        harness.check_supported()
        refuse_use_cache()
        config = dict(config)
        config.pop("class", None)
        self.benchmark = find_benchmark(config.pop("benchmark"))
        self.accepts = metadata.names(self.benchmark.options)
        self.generates = config.get("output_type") == "generate_until"
        fixed = {name: config.pop(name) for name in sorted(self.accepts) if name in config}
        self._fixed = frozenset(fixed)
        config["metadata"] = dict(config.get("metadata") or {})
        if self.generates:
            config["generation_kwargs"] = {"until": [], "do_sample": False, "temperature": 0.0}
            # `_generation` fills in stop sequences, by the number of shots, and the length: one given is the user's.
        self._plain = dict(config.get("generation_kwargs") or {})
        self._config = TaskConfig(**config)
        self.OUTPUT_TYPE = self._config.output_type
        harness.prepare(self)
        self._instances = None
        self._asked = metadata.given(self._config.metadata)
        self._given = metadata.parameters(str(self._config.task), self.benchmark.options, self._asked, fixed)
        self._pictures: dict[str, Any] = {}  # by SHA-256
        self._files: dict[str, Any] = {}  # the same pictures by path
        self._processes = 1
        self._shown_as: dict[str, str] = {}  # entries of the signature for what lm-eval adds to the prompts
        self._limit: dict[str, int] = {}  # of a chat model's reply, where neither protocol nor user gives one
        self._signed: tuple[Run | None, Signature] = (None, Signature())
        self._last: tuple[Run | None, str, Any] = (None, "", None)
        self._estimated: tuple[str, list[Outcome], dict[str, Estimate]] = ("", [], {})
        self._load()
        self.VERSION = self._config.metadata["version"] = self.run.version
        self.MULTIMODAL = self.run.shows_media

    def _load(self, **seed: int) -> None:
        """Rows, parameters and templates."""
        self.run = self.benchmark.open(**self._given, **seed)
        if not self.generates and (changes := self.run.options.for_likelihoods()):
            self.run = self.run.with_options(**changes)
        needs = "estimate=expected" if self.run.form.needs_likelihoods else self.run.options.needs_logprobs
        if self.generates and needs:
            raise BadInput(f"{self._config.task} generates replies; {needs} needs the log-likelihood task.")
        if any(record.clip and not record.clip.frames for record in self.run.records):
            raise BadInput(self._without_clips())
        self._docs = [document(record, self.run) for record in self.run.records]
        self._records = {record.id: record for record in self.run.records}
        self._places = {identity: i for i, identity in enumerate(self._records)}

    def _without_clips(self) -> str:
        """What to do, because clips cannot be shown."""
        task, clips = str(self._config.task), self.benchmark.uses.clips
        why = "has clips, and lm-eval has no model with video input. Run it in Inspect: `inspect eval humor_tasks/"
        if clips is None:
            return f"{task}: the data {why}{self.benchmark.name}`."
        option, value = clips.in_words
        words = f"the task {task.replace(PICTURES, '')}" if option in self._fixed else f"{option}={value}"
        return (
            f"{task}: {clips.with_clips} {why}{self.benchmark.name} -T {clips.parameter}={clips.with_clips}`; in "
            f"lm-eval, choose {clips.parameter}={clips.without_clips}, or, for {clips.with_clips} in words, {words}."
        )

    # ---- documents ----

    def has_training_docs(self) -> bool:
        """False: the benchmark itself draws worked examples, so that both harnesses use the same ones."""
        return False

    def has_validation_docs(self) -> bool:
        """False: the split to evaluate is always provided as test documents."""
        return False

    def has_test_docs(self) -> bool:
        """True: the split to evaluate."""
        return True

    def test_docs(self) -> list[dict[str, Any]]:
        """One document per record, with ids, texts and label."""
        return self._docs

    def doc_to_text(self, doc: Mapping[str, Any]) -> str:
        """The prompt as plain text."""
        return plain_text((turn["content"] for turn in messages(self._prompt(doc))), self._prefix)

    def doc_to_target(self, doc: Mapping[str, Any]) -> str:
        """The letter, or the reference text."""
        return doc["target"] or ""

    def doc_to_choice(self, doc: Mapping[str, Any]) -> list[str]:
        """The labels: letters, words or digits."""
        return list(self._labels)

    def doc_to_image(self, doc: Mapping[str, Any]) -> list[Any]:
        """The prompt's pictures; each distinct file is read once, when a request is built, and decoded when used."""
        return [self._open(picture) for picture in self._prompt(doc).pictures]

    def _open(self, picture: Picture) -> Any:
        if picture.path in self._files:
            return self._files[picture.path]
        picture = picture.pinned()  # checked, so that a model of this package does not read it again
        if picture.digest not in self._pictures:
            self._pictures[picture.digest] = decode_later(picture.encoded()[0], picture)
        if picture.path is not None:
            self._files[picture.path] = self._pictures[picture.digest]
        return self._pictures[picture.digest]

    def _prompt(self, doc: Mapping[str, Any]) -> Any:
        """The prompt; lm-eval asks several times in a row for that of one document."""
        if self._last[0] is not self.run or self._last[1] != doc["id"]:
            self._last = self.run, doc["id"], self.run.prompt(self._records[doc["id"]])
        return self._last[2]

    @property
    def _prefix(self) -> str:
        """The text between the prompt and a continuation whose likelihood is compared; empty for generation."""
        return "" if self.generates else self.run.form.prefix

    @property
    def _labels(self) -> tuple[str, ...]:
        """The continuations whose likelihoods are compared."""
        return self.run.form.labels

    # ---- requests ----

    def build_all_requests(self, *, cache_requests: bool = False, **how: Any) -> None:
        """See Task; lm-eval's request cache is not used.

        Its key has only the task name and the number of shots. A run with other metadata would get the prompts of
        another dataset, fold or setting.
        """
        if cache_requests:
            logger.warning("%s: --cache_requests is ignored, because its cache ignores --metadata.", self._config.task)
        self._processes = int(how.get("world_size", 1))
        asked = {name: how[name] for name in ("rank", "limit", "world_size", "samples") if name in how}
        shots = self._config.num_fewshot or 0
        run = self.run.with_options(shots=shots) if self.run.options.shots != shots else self.run
        check_whole_items(str(self._config.task), run, how.get("limit"), how.get("samples"))
        run.check_media(records := [self._records[doc["id"]] for _, doc in self.doc_iterator(**asked)])
        units = {self.benchmark.unit(record.cluster) for record in records}
        check_weights(self._config.metadata or {}, run.options.split, units)
        super().build_all_requests(cache_requests=False, **how)

    def set_fewshot_seed(self, seed: int | None = None) -> None:
        """Use the fourth number of lm-eval's `--seed` as the seed of worked examples and random guesses.

        The first call in which all tasks of a command are loaded.
        """
        metadata.refuse_unknown(self._asked, BenchmarkTask)
        super().set_fewshot_seed(seed)
        if seed is None or seed == self.run.options.seed:
            return
        if self.run.options.rows_by_seed:
            self._load(seed=seed)
        else:
            self.run = self.run.with_options(seed=seed)

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
        """The prompt, with the model's chat template where one is applied."""
        if num_fewshot != self.run.options.shots:
            self.run = self.run.with_options(shots=num_fewshot)
        turns = messages(self._prompt(doc), system_instruction, merge=not fewshot_as_multiturn)
        template = chat_template if apply_chat_template else None
        self._shown_as = signed(system_instruction, template is not None, fewshot_as_multiturn)
        if template is None:
            return plain_text((turn["content"] for turn in turns), self._prefix)
        if named := metadata.template_name():
            self._shown_as["chat_template"] += f"-{named}"
        if self._prefix:
            turns.append({"role": "assistant", "content": self._prefix})
        return template(turns, add_generation_prompt=not self._prefix)

    def construct_requests(self, doc: Mapping[str, Any], ctx: str, **kwargs: Any) -> list[Instance]:
        """One log-likelihood per label, or one generation; for free text also the log-likelihood of the reference."""
        task, visual = str(self._config.task), self.doc_to_image(doc) if self.MULTIMODAL else []
        check_sent(task, len(visual), self._config.metadata or {})
        visuals = {"visual": visual} if visual else None
        where = harness.Where.from_kwargs(task, kwargs)
        copy = document(self._records[doc["id"]], self.run)  # without the outcome, because lm-eval logs its hash

        def request(kind: Any, i: int, argument: Any) -> Instance:
            return harness.request(kind, copy, (ctx, argument), i, where, visuals, doc["target"] or "")

        if self._labels and not self.generates:
            return [request("loglikelihood", i, f" {label}") for i, label in enumerate(self._labels)]
        template = kwargs.get("chat_template") if kwargs.get("apply_chat_template") else None
        requests = [request("generate_until", 0, self._generation(ctx, template))]
        if self.generates:
            return requests
        return [*requests, request("loglikelihood", 1, f" {doc['target']}")] if doc["target"] else requests

    def _generation(self, ctx: Any, chat_template: Any) -> dict[str, Any]:
        """Generation arguments: a blank line ends a direct answer, only an end token ends reasoning or a chat's turn.

        chat_template: None where none is applied. A chat model may think in paragraphs.
        """
        given, stop, length = self._config.generation_kwargs or {}, self.run.form.stop, self.run.reply_length
        if chat_template is not None:
            marker = generation.begun(ctx, self.run.options.thinking)
            generation.check_end_token(str(self._config.task), marker, self._config.metadata or {})
            stop, length = (), generation.chat_length(length, ctx, chat_template)
            named = length.prescribed or generation.has_length(given)
            self._limit = {} if named else {"max_tokens": length.tokens}
        return generation.arguments(given, stop, length)

    # ---- results ----

    def apply_filters(self) -> Any:
        """See Task. Marks thinking that began in the prompt, and replaces each picture by the SHA-256 of its file.

        Otherwise lm-eval encodes the picture as PNG for each label, to log the SHA-256 of that PNG.
        """
        names = {id(image): key for key, image in self._pictures.items()}
        instances: list[Instance] = self._instances or []
        if "chat_template" in self._shown_as:
            generation.mark_thinking(instances, self.run.options.thinking)
        for instance in instances:
            for extra in instance.arguments[2:]:  # shared by all labels of a document
                extra["visual"] = [names.get(id(picture), picture) for picture in extra["visual"]]
        return super().apply_filters()

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """This document's contribution to each metric that it counts towards; logs the outcome in the document."""
        record = self._records[doc["id"]]
        if self._labels and not self.generates:
            likelihoods = [likelihood for likelihood, _ in results]
            outcome = self.run.scored(
                record, self.run.form.from_likelihoods(likelihoods), self._letter_values(likelihoods)
            )
        else:
            outcome = self.run.outcome(record, results[0])
        about = {"groups": dict(record.groups), "facts": dict(record.facts), "signature": str(self._signature)}
        doc["humor_tasks"] = about_run(self.run) | about
        logged = outcome.as_dict()
        if self.run.data.positions:  # for the order of joined parts
            logged["place"] = self.run.variations.place(record, self.run.data.positions)
        contributions: dict[str, Any] = dict.fromkeys(self._possible_metrics if self._processes > 1 else ())
        for metric in self.run.reported:
            if metric.counted([outcome]):
                for shown in self._shown(metric, outcome.groups):
                    contributions |= dict.fromkeys(_with_stderr(shown), contribution(metric, outcome))
        if len(results) > 1 and not self._labels and not math.isnan(results[1][0]):
            for name, reference in perplexities(results[1][0], record).items():
                contributions |= dict.fromkeys(_with_stderr(name), reference)
        return harness.log_outcome(doc, contributions, logged)

    def _letter_values(self, likelihoods: Sequence[float]) -> dict[str, float]:
        """Log-likelihoods of the labels by the names of outcomes' values."""
        return {f"{LETTER_METRICS['logprobs']}{label}": x for label, x in zip(self._labels, likelihoods, strict=True)}

    @functools.cached_property
    def _possible_metrics(self) -> list[str]:
        """The metrics that at least one document counts towards if it is answered.

        With several processes, lm-eval requires a contribution from every process for each metric of the first one, and
        drops all other metrics. Where a document does not count, its contribution is None.
        """
        first = next(iter(self._labels), "")
        evidence = {} if self.generates else self._letter_values([0.0] * len(self._labels))
        run = self.run
        answered = [run.outcome(r, run.form.written(r.target or first), letter_values=evidence) for r in run.records]
        names = [
            name
            for outcome in answered
            for metric in self.run.reported
            if metric.counted([outcome])
            for name in self._shown(metric, outcome.groups)
        ]
        return [key for name in dict.fromkeys(names) for key in _with_stderr(name)]

    def _shown(self, metric: Metric, groups: Mapping[str, str]) -> list[str]:
        short = metric.name_in_lm_eval
        part = None if metric.whole else self.benchmark.part(self.run, groups)
        return [short, f"{short}_{part}"] if part else [short]

    def override_metric(self, metric_name: str) -> None:
        """Log replies and score none, for `--predict_only`."""
        self.process_results = lambda doc, results: {metric_name: 999}  # type: ignore[method-assign]  # as lm-eval's own
        self.aggregation = lambda: {metric_name: max}  # type: ignore[method-assign]

    def set_repeats(self, repeats: int) -> None:
        """Raise BadInput for lm-eval 0.5's `--repeats`: only the first reply would count."""
        if repeats != 1:
            raise BadInput(f"--repeats {repeats}: {metadata.ONLY_INSPECT['replicates']}")

    def aggregation(self) -> dict[str, Callable[[list[Any]], float]]:
        """Metric name -> function over the contributions of all documents."""
        functions: dict[str, Callable[[list[Any]], float]] = {}
        parts = {self.benchmark.part(self.run, record.groups): None for record in self.run.records}
        for metric in self.run.reported:
            for part in ("", *(part for part in parts if part)):
                name = "_".join(filter(None, (metric.name_in_lm_eval, part)))
                functions[name] = functools.partial(self._aggregate, metric, part, "value")
                functions[f"{name}_stderr"] = functools.partial(self._aggregate, metric, part, "stderr")
        folds = len({record.groups.get("fold") for record in self.run.records})
        of_references = [(f"{n}{end}", n, end[1:] or "value") for n in UNITS for end in ("", "_stderr")]
        return functions | {name: functools.partial(perplexity, n, value, folds) for name, n, value in of_references}

    def _aggregate(self, metric: Metric, part: str, value: str, items: list[Contribution | None]) -> float:
        # In the order of the data, not of the processes: bootstrapped standard errors depend on the order.
        outcomes = sorted((item.outcome for item in items if item is not None), key=lambda o: self._places[o.id])
        if not outcomes:
            return math.nan
        name, held, estimates = self._estimated  # a value and its standard error are of one estimate
        if name != metric.name or list(map(id, held)) != list(map(id, outcomes)):
            estimates = self.run.summary(metric, outcomes)
            self._estimated = metric.name, outcomes, estimates
        estimate = estimates.get("_".join(filter(None, (metric.name, part))), estimates[metric.name])
        if (part, value) == ("", "value"):
            for warning in self._warnings(metric, outcomes, estimate.value):
                logger.warning("%s: %s", self._config.task, warning)
        return float(getattr(estimate, value))

    @staticmethod
    def _warnings(metric: Metric, outcomes: Sequence[Outcome], value: float) -> list[str]:
        """Of missing verdicts, and with the metric that counts all replies of how they ended."""
        if metric.name == MISSING:
            return [warning] if (warning := missing_warning({MISSING: value})) else []
        ended = endings(outcomes) if metric.name == UNPARSED.name else {}
        shares = {name: estimates[name].value for name, estimates in ended.items()}
        return [warning] if (warning := endings_warning(shares)) else []

    def higher_is_better(self) -> dict[str, bool]:
        """Metric name -> whether higher values are better; without standard errors."""
        directions = {metric.name_in_lm_eval: metric.direction for metric in self.run.reported}
        parts = {part for record in self.run.records if (part := self.benchmark.part(self.run, record.groups))}
        directions |= {f"{name}_{part}": direction for name, direction in directions.items() for part in parts}
        return {name: direction == "higher" for name, direction in directions.items()} | dict.fromkeys(UNITS, False)

    @property
    def _signature(self) -> Signature:
        if self._signed[0] is not self.run:  # lm-eval sets shots, system message and sampling after it builds the task
            self._signed = self.run, self.run.signature("generate" if self.generates else "loglikelihood")
        given = {n: v for n, v in (self._config.generation_kwargs or {}).items() if self._plain.get(n) != v}
        return self._signed[1].with_entries(self._shown_as).with_generation(given | self._limit)

    def dump_config(self) -> dict[str, Any]:
        """The configuration that lm-eval stores with the results, with the signature and provenance of the score."""
        config: dict[str, Any] = super().dump_config()
        about = {
            "signature": str(self._signature),
            "source": {**self.run.data.provenance, **self.run.variations.provenance},
        }
        return config | {"metadata": (config.get("metadata") or {}) | about}


def _with_stderr(name: str) -> tuple[str, str]:
    """The names of a metric and its standard error.

    lm-eval has no hook for a task's own standard error; a metric of this name replaces lm-eval's "N/A".
    """
    return name, f"{name}_stderr"
