"""What is recorded: runs in Inspect, in lm-eval and without a harness, on the packaged samples and on real rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from standins.paths import REPOSITORY

from humor_tasks.benchmarks import BENCHMARKS

STUBS = REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks"
BASELINES = ("first", "longest", "overlap")
NYCC = ("matching", "ranking", "explanation")
MOCK = ("mock_detecting", "mock_matching", "mock_explaining")
JUDGED = {name for name, benchmark in BENCHMARKS.items() if benchmark.judging}
KINDS = {
    **{"matching": "matching", "ranking": "ranking", "explanation": "explanation", "brainstorm": "brainstorm"},
    **{"mock_detecting": "yes_no", "mock_matching": "mock_matching", "mock_explaining": "explanation"},
    **{"mock_generation": "story", "humorbench": "humorbench", "humorbench_autograder": "judge"},
    **{"humicroedit_rating": "rating", "humicroedit_pairwise": "pairs", "explanation_preference": "judge"},
    **{"crowd_pairs": "pairs", "crowd_groups": "pairs", "caption_writing": "captions", "humor_writing": "captions"},
}


def kind_of(name: str, args: dict[str, Any]) -> str:
    """What kind of reply a task or stub asks for: one of KINDS, the letters of a choice, or "" for a text."""
    short = name.removeprefix("nyc_")
    name = max((known for known in BENCHMARKS if short.startswith(known)), key=len)
    if name not in KINDS:
        return "".join(BENCHMARKS[name].form(BENCHMARKS[name].options()).labels)
    return "rating" if args.get("via") == "ratings" else KINDS[name]


@dataclass(frozen=True)
class Case:
    """One run. `model` is a baseline's strategy, `scripted`, `digits` or `none`; `more` are extra settings of the run.

    The values $REAL and $SYSTEM in `args` stand for the folder of real rows and a file of made explanations.
    """

    harness: str
    tasks: tuple[str, ...]
    label: str
    model: str
    args: dict[str, Any]
    graders: int = 0
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its name; an lm-eval run of several stubs is named by the first."""
        return f"{self.harness}/{self.tasks[0]}/{'real' if self.real else 'sample'}/{self.label}/{self.model}"

    @property
    def real(self) -> bool:
        """Whether it reads real rows."""
        return "$REAL" in str(self.args["dataset"])


def label_of(args: dict[str, Any]) -> str:
    """The arguments beside the data, in short."""
    left = {name: value for name, value in args.items() if name not in ("dataset", "system", "cache")}
    return ",".join(f"{name}={value}" for name, value in left.items()) or "default"


def inspect(task: str, model: str = "scripted", graders: int = 0, label: str = "", **args: Any) -> Case:
    """A run in Inspect. No verdict comes from a cache: every run makes all its calls."""
    args = {"dataset": "sample"} | ({"cache": False} if task in JUDGED else {}) | args
    more = {name: args.pop(name) for name in ("solver", "describer", "rescore", "epochs") if name in args}
    label = label or label_of(args | more) + (f",graders={graders}" if graders > 1 else "")
    return Case("inspect", (task,), label, model, args, graders, more)


def lm_eval(tasks: str | Sequence[str], model: str = "scripted", label: str = "", **args: Any) -> Case:
    args = {"dataset": "sample"} | args
    more = {name: args.pop(name) for name in ("shots", "chat") if name in args}
    names = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    return Case("lm_eval", names, label or label_of(args | more), model, args, 0, more)


def alone(task: str, **args: Any) -> Case:
    args = {"dataset": "sample"} | args
    return Case("alone", (task,), label_of(args), "scripted", args)


def caption_contest() -> Iterator[Case]:
    for task in NYCC:
        for setting in ("description", "pixels", "caption_only"):
            for model in (*BASELINES, "scripted"):
                if model != "overlap" or setting == "description":  # it needs words
                    yield inspect(task, model, setting=setting)
        for model in ("overlap", "scripted"):
            yield inspect(task, model, fold="all")
        yield inspect(task, "scripted", shots=2)
        yield inspect(task, "scripted", shots=2, setting="pixels", cot=True, fold=3)
        yield inspect(task, "scripted", cot=False)
        yield inspect(task, "scripted", on_unparsed="exclude", fold="all")
        yield alone(task, fold="all")
    for task in NYCC[:2]:
        yield inspect(task, "scripted", on_unparsed="random", seed=7, fold="all")
        yield inspect(task, "scripted", extraction="released_chat", fold="all")
        yield inspect(task, "scripted", extraction="released_leaderboard", cot=False)
        yield inspect(task, "random", fold=2)
    yield inspect("explanation", "scripted", 2, rescore="reference_preference", fold=1)
    yield inspect("matching", "scripted", setting="pixels", solver="describe_first", describer="plain")
    for setting in ("description", "pixels"):
        yield inspect("brainstorm", "scripted", setting=setting)
    yield inspect("brainstorm", "scripted", fold="all", examples=2, temperature=0.1, top_p="none")
    yield inspect("brainstorm", "scripted", epochs=2)
    yield alone("brainstorm", fold="all")
    yield inspect("explanation_preference", "none", 1, system="$SYSTEM")
    yield inspect("explanation_preference", "none", 3, system="$SYSTEM", setting="pixels")
    yield inspect("explanation_preference", "none", 1, system="$SYSTEM", fold="all", order="random", structured=True)
    more = {"setting": "caption_only", "order": "fixed", "on_unparsed": "exclude"}
    yield inspect("explanation_preference", "none", 1, system="$SYSTEM", **more)
    for of in ("mock_explaining", "mock_generation"):
        against = {} if of == "mock_explaining" else {"against": "$OTHER"}
        yield inspect("explanation_preference", "none", 1, system="$SYSTEM", of=of, scene="stills", **against)
    yield alone("explanation_preference", system="$SYSTEM")


def crowd() -> Iterator[Case]:
    for kind in ("top_against_1000", "rule", "hard"):
        yield inspect("crowd_pairs", "longest", pairs=kind)
    for model in ("longest", "overlap", "scripted"):
        yield inspect("crowd_groups", model, against="all")
    yield inspect("crowd_groups", "longest", tau="fit")
    yield inspect("crowd_groups", "scripted", mode="best_pick", setting="pixels", shots=2)
    for mode in ("overall", "best_pick"):
        yield inspect("caption_writing", "scripted", 1, mode=mode)
    yield lm_eval(("crowd_pairs", "crowd_pairs_gen", "crowd_groups", "crowd_groups_best_pick", "caption_writing"))
    yield lm_eval(("crowd_pairs_pixels", "crowd_groups_pixels_gen"), shots=2)


def mock() -> Iterator[Case]:
    for task in MOCK:
        for shown in ("media", "description", "frames"):
            yield inspect(task, "scripted", input=shown, scene="all", frames=3)
        for model in BASELINES:
            yield inspect(task, model, input="description")
        yield inspect(task, "longest", scene="stills")
        yield inspect(task, "scripted", scene="comedy", input="frames", frames=2, sampling="scene")
        yield inspect(task, "scripted", scene="stills", input="description", shots=2)
        yield inspect(task, "scripted", scene="cartoon", input="media", chain_of_task=True)
        yield inspect(task, "scripted", scene="post", input="description", on_unparsed="exclude")
        yield alone(task, input="description")
    yield inspect("mock_matching", "scripted", input="description", replicates=2, on_unparsed="random")
    yield inspect("mock_matching", "scripted", scene="post", input="description", solver="chain_of_task")
    yield inspect("mock_generation", "scripted", 1)
    yield inspect("mock_generation", "scripted", 3, scene="all", input="frames", frames=2, images=2)
    yield inspect("mock_generation", "scripted", 1, input="description", on_unparsed="exclude", structured=True)
    yield inspect("mock_generation", "scripted", 1, input="description", retries=1, seed=5)


def humicroedit() -> Iterator[Case]:
    rating, pairs = "humicroedit_rating", "humicroedit_pairwise"
    for setting in ("edited_only", "original_and_edit"):
        yield inspect(rating, setting=setting)
        yield inspect(pairs, setting=setting)
        yield inspect(pairs, setting=setting, via="ratings")
    for model in BASELINES:
        yield inspect(pairs, model)
    for way in ({}, {"via": "ratings"}):
        yield inspect(pairs, split="dev", on_unparsed="exclude", **way)
        yield inspect(pairs, "scripted", ties="keep", **way)
        yield inspect(pairs, shots=2, **way)
        yield alone(pairs, **way)
    yield inspect(pairs, on_unparsed="random")
    yield inspect(pairs, "digits", via="ratings", estimate="expected")
    yield inspect(rating, "digits", estimate="expected")
    yield inspect(rating, split="dev", on_unparsed="exclude")
    yield inspect(rating, split="train_funlines", shots=2)
    yield alone(rating)


def humorbench() -> Iterator[Case]:
    for per in ("row", "caption"):
        for graders in (1, 3):
            yield inspect("humorbench", "scripted", graders, one_explanation_per=per)
        yield inspect("humorbench", "scripted", 1, one_explanation_per=per, on_unparsed="exclude", structured=True)
        yield alone("humorbench", one_explanation_per=per)
    for subset in ("wordplay", "cultural_reference", "toxic_or_shocking"):
        yield inspect("humorbench", "scripted", 1, subset=subset)
    yield inspect("humorbench", "scripted", 2, subset="wordplay", retries=1, temperature="none", seed=9)
    yield inspect("humorbench_autograder")
    yield inspect("humorbench_autograder", structured=True, temperature=0.5)
    yield alone("humorbench_autograder")


def in_lm_eval() -> Iterator[Case]:
    # Tasks with prompts=all are those of each prompt set; see tests/harnesses/test_wordings.py.
    stubs = sorted(path.stem for path in STUBS.glob("*.yaml") if "_wordings" not in path.stem)
    groups = {"nyc", "nyc_gen", "nyc_crossval", "nyc_crossval_gen", "humor", "humor_gen"}
    judged = {task.name for each in BENCHMARKS.values() if each.judging or each.verdicts for task in each.lm_eval}
    of_crowd = {stub for stub in stubs if stub.startswith(("crowd_", "caption_writing"))}  # see `crowd`
    plain = [stub for stub in stubs if stub not in groups | judged | of_crowd]
    choosing = [stub for stub in plain if "humicroedit_rating" not in stub]
    in_words = [stub for stub in choosing if "pixels" not in stub and "caption_only" not in stub]
    for model in BASELINES:
        yield lm_eval(in_words if model == "overlap" else choosing, model, "stubs")
    for half in (plain[::2], plain[1::2]):  # each a test's time
        yield lm_eval(half, label="stubs")
    yield lm_eval(("humorbench", "humorbench_autograder"))
    yield lm_eval("mock_generation", images=2)
    yield lm_eval("humorbench", one_explanation_per="caption", subset="wordplay")
    yield lm_eval("explanation_preference", system="$SYSTEM")
    for group in sorted(groups):
        yield lm_eval(group, "overlap")
    nyc = [f"nyc_{task}{gen}" for task in NYCC for gen in ("", "_gen")]
    yield lm_eval(nyc, shots=2)
    yield lm_eval(nyc, shots=2, chat=True, fold=3)
    yield lm_eval(nyc[1::2], cot=False)
    yield lm_eval(nyc[1::2], chat=True, on_unparsed="exclude", fold="all")
    yield lm_eval(nyc[:4], on_unparsed="random")
    pairs = ("humicroedit_pairwise", "humicroedit_pairwise_gen")
    rating = ("humicroedit_rating", "humicroedit_rating_gen")
    yield lm_eval((*rating, *pairs), setting="original_and_edit", shots=2)
    yield lm_eval(pairs, via="ratings")
    yield lm_eval(pairs, ties="keep", split="dev")
    mock = [f"{task}{gen}" for task in MOCK for gen in ("", "_gen")]
    yield lm_eval(mock, shots=2, scene="post")
    yield lm_eval(mock, chain_of_task=True, scene="cartoon")


def real() -> Iterator[Case]:
    """Small, and the first that a moved reader of the real files would change."""
    corpus = {"dataset": "$REAL/newyorker_caption_contest", "split": "validation"}
    for model in ("overlap", "scripted"):
        yield inspect("matching", model, **corpus)
        yield inspect("ranking", model, **corpus, fold=2)
    for setting in ("pixels", "caption_only"):
        yield inspect("matching", **corpus, setting=setting)
    yield inspect("ranking", **corpus, shots=2, on_unparsed="exclude")
    yield inspect("explanation", **corpus)
    yield inspect("explanation", "overlap", **corpus)
    yield inspect("brainstorm", **corpus)
    yield inspect("explanation_preference", "none", 1, **corpus, system="$SYSTEM")
    yield alone("matching", **corpus)
    yield lm_eval(("nyc_matching", "nyc_ranking"), "overlap", **corpus)
    yield lm_eval(("nyc_matching_gen", "nyc_ranking_gen", "nyc_explanation", "nyc_explanation_gen"), **corpus)
    yield lm_eval(("nyc_matching_pixels",), **corpus)
    headlines = {"dataset": "$REAL/humicroedit", "split": "dev"}
    yield inspect("humicroedit_rating", **headlines)
    yield inspect("humicroedit_pairwise", **headlines)
    yield inspect("humicroedit_pairwise", **headlines, via="ratings", ties="keep")
    yield inspect("humicroedit_pairwise", "longest", **headlines)
    yield alone("humicroedit_rating", **headlines | {"split": "train_funlines"})
    yield lm_eval(("humicroedit_rating", "humicroedit_pairwise", "humicroedit_rating_gen"), **headlines)
    elements = {"dataset": "$REAL/humorbench/comprehensive_annotations.csv"}
    yield inspect("humorbench", "scripted", 2, **elements)
    yield inspect("humorbench", "scripted", 1, **elements, subset="hard", one_explanation_per="caption")
    yield lm_eval(("humorbench", "humorbench_hard"), **elements)
    exam = {"dataset": "$REAL/humorbench/gpt_4o_rubric.csv,$REAL/humorbench/gemini_2.5_pro_rubric.csv"}
    yield inspect("humorbench_autograder", **exam)
    yield lm_eval("humorbench_autograder", **exam)


def others() -> Iterator[Case]:
    """One run in Inspect of each benchmark that is not among KINDS: a choice of letters, or a text, judged or not."""
    for name in BENCHMARKS:
        if name not in KINDS:
            yield inspect(name, graders=int(name in JUDGED))


def all_cases() -> list[Case]:
    """Every run, each under its own key."""
    made = [*caption_contest(), *crowd(), *mock(), *humicroedit(), *humorbench(), *in_lm_eval(), *others(), *real()]
    keys = [case.key for case in made]
    assert len(set(keys)) == len(keys), sorted(key for key in set(keys) if keys.count(key) > 1)
    return made


# What tests/whole_package/test_characterisation.py runs: one a benchmark, harness and kind of answer, about 30 seconds
# in all.
KEPT = """
inspect/matching/sample/setting=description/overlap
inspect/matching/sample/setting=pixels/scripted
inspect/matching/sample/fold=all/scripted
inspect/matching/sample/extraction=released_leaderboard,cot=False/scripted
inspect/ranking/sample/shots=2/scripted
inspect/ranking/sample/on_unparsed=random,seed=7,fold=all/scripted
inspect/explanation/sample/setting=description/scripted
inspect/explanation/sample/fold=1,rescore=reference_preference,graders=2/scripted
inspect/brainstorm/sample/setting=pixels/scripted
inspect/explanation_preference/sample/default/none
inspect/mock_detecting/sample/input=description,scene=all,frames=3/scripted
inspect/mock_matching/sample/input=description/overlap
inspect/mock_matching/sample/scene=cartoon,input=media,chain_of_task=True/scripted
inspect/mock_explaining/sample/input=description,scene=all,frames=3/scripted
inspect/mock_generation/sample/default/scripted
inspect/humicroedit_rating/sample/setting=edited_only/scripted
inspect/humicroedit_rating/sample/estimate=expected/digits
inspect/humicroedit_pairwise/sample/setting=original_and_edit/scripted
inspect/humicroedit_pairwise/sample/setting=edited_only,via=ratings/scripted
inspect/humorbench/sample/one_explanation_per=row,graders=3/scripted
inspect/humorbench/sample/one_explanation_per=caption/scripted
inspect/humorbench_autograder/sample/default/scripted
inspect/bbeh_nycc/sample/default/scripted
inspect/crowd_pairs/sample/pairs=top_against_1000/longest
inspect/crowd_groups/sample/against=all/scripted
inspect/crowd_groups/sample/tau=fit/longest
inspect/caption_writing/sample/mode=overall/scripted
lm_eval/crowd_pairs/sample/default/scripted
lm_eval/bbeh_nycc_humor/sample/stubs/scripted
lm_eval/bbeh_nycc_humor_gen/sample/stubs/scripted
lm_eval/nyc_crossval/sample/default/overlap
lm_eval/humorbench/sample/default/scripted
lm_eval/explanation_preference/sample/default/scripted
lm_eval/mock_generation/sample/images=2/scripted
inspect/matching/real/split=validation,setting=pixels/scripted
inspect/ranking/real/split=validation,fold=2/overlap
inspect/explanation/real/split=validation/scripted
inspect/explanation_preference/real/split=validation/none
inspect/humorbench/real/subset=hard,one_explanation_per=caption/scripted
""".split()


def kept_cases() -> list[Case]:
    """Those of KEPT; all without a harness; of real rows all in lm-eval, too."""
    made = all_cases()
    assert set(KEPT) <= {case.key for case in made}, set(KEPT) - {case.key for case in made}
    kept = {*KEPT, *(case.key for case in others())}
    return [c for c in made if c.key in kept or c.harness == "alone" or (c.real and c.harness == "lm_eval")]
