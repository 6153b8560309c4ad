"""Bad parameters, names of tasks and models, prompts and options of every command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from standins.bad_rows import row

from bad_inputs.case import Bad, bad
from bad_inputs.datasets import opens, picture, rows, seen
from humor_tasks import clip_predict, evaluate, load
from humor_tasks.on_inspect.client import register_prices

INSPECT = "inspect eval humor_tasks/{} --model baseline/first -T dataset=sample {}"
LM_EVAL = "lm_eval --tasks {} --model humor-baseline --model_args strategy={} --metadata dataset=sample {}"
SAMPLE = {"dataset": "sample"}
TEMPLATE = "matching.cot.txt"


def prompts(text: str | bytes, name: str = TEMPLATE) -> dict[str, str | bytes]:
    return {f"p/{name}": text}


def other_prices() -> Any:
    register_prices.cache_clear()
    return patch.dict(os.environ, HUMOR_TASKS_PRICES="gone.toml")


def value(name: str, task: str, *says: str, files: Any = None, **parameters: Any) -> Bad:
    """A parameter that the task cannot have, on the sample."""
    return bad(name, opens(task, dataset="sample", **parameters), *says, files=files or {})


def template(name: str, text: str | bytes, *says: str) -> Bad:
    return bad(name, opens(dataset="sample", prompts="p"), TEMPLATE, *says, files=prompts(text))


VALUES: list[Bad] = [
    bad("no such task", lambda: load("matchin", **SAMPLE), "there is no 'matchin'", "Did you mean 'matching'?"),
    bad("a task that is None", lambda: load(None, **SAMPLE), "there is no 'None'"),
    value(
        "no such parameter", "matching", "parameter of matching: there is no 'foldd'", "Did you mean 'fold'?", foldd=1
    ),
    value("a parameter of another benchmark", "humorbench", "parameter of humorbench: there is no 'fold'", fold=1),
    value("shots below zero", "matching", "shots must be a whole number of at least 0, not -1", shots=-1),
    value("shots that are NaN", "matching", "shots must be a whole number of at least 0, not nan", shots=float("nan")),
    value("shots that are a fraction", "matching", "shots must be a whole number", shots=1.5),
    value("shots that are true", "matching", "shots must be a whole number", "not True", shots=True),
    value("more shots than the pool has", "matching", "shots", "contests", shots=10**9),
    bad("more shots than the pool has, inspect", INSPECT.format("matching", "-T shots=5000"), "shots", "contests"),
    bad(
        "more shots than the pool has, lm-eval",
        LM_EVAL.format("nyc_matching", "first", "--num_fewshot 5000"),
        "contests",
    ),
    bad("shots where there is no train split", opens(shots=1), "no split 'train'", files=rows(row())),
    value("shots of HumorBench", "humorbench", "shots", "no training rows", shots=2),
    value("a fold of 7", "matching", "fold: there is no '7'; choose from 0, 1, 2, 3, 4, all", fold=7),
    value("a fold that is a list", "matching", "fold", "there is no '[1, 2]'", fold=[1, 2]),
    value("all folds of train", "matching", "use one fold", fold="all", split="train"),
    value("a split in capitals", "matching", "split: there is no 'TEST'", "Did you mean 'test'?", split="TEST"),
    value("a seed that is a word", "matching", "seed must be a whole number, not 'one'", seed="one"),
    value("a seed that is infinite", "matching", "seed must be a whole number, not inf", seed=float("inf")),
    value("cot that is a word", "matching", "cot must be true or false, not 'yes'", cot="yes"),
    value(
        "a setting without its picture",
        "matching",
        "setting: there is no 'pixel'",
        "Did you mean 'pixels'?",
        setting="pixel",
    ),
    value("on_unparsed misspelt", "matching", "Did you mean 'wrong'?", on_unparsed="wong"),
    value("extraction misspelt", "matching", "extraction: there is no 'lenient'", extraction="lenient"),
    value("0 frames", "mock_detecting", "frames must be a whole number from 1 to 64, not 0", frames=0),
    value("65 frames", "mock_detecting", "frames must be a whole number from 1 to 64, not 65", frames=65),
    value("pictures below zero", "mock_generation", "images must be a whole number of at least 0, not -3", images=-3),
    value("a temperature that is NaN", "brainstorm", "temperature must be a number", temperature=float("nan")),
    value("a temperature below zero", "brainstorm", "temperature must be a number", temperature=-1.0),
    value("top_p above 1", "brainstorm", "top_p must be a number", top_p=7.0),
    value("more examples than there are", "brainstorm", "examples", examples=99),
    value("a subset that is not", "humorbench", "subset: there is no 'hrad'", "Did you mean 'hard'?", subset="hrad"),
    value(
        "a subset of no keys",
        "humorbench",
        "s.json",
        "at least one entry",
        subset="s.json",
        files={"s.json": '{"keys": []}'},
    ),
    value(
        "a subset of unknown keys",
        "humorbench",
        "s.json",
        "9-x",
        subset="s.json",
        files={"s.json": '{"keys": ["9-x"]}'},
    ),
    value(
        "a subset that is a CSV named JSON",
        "humorbench",
        "s.json",
        "CSV",
        subset="s.json",
        files={"s.json": "idx,element\n1,a\n"},
    ),
    value("a subset that is a list", "humorbench", "s.json", '"keys"', subset="s.json", files={"s.json": '["9-x"]'}),
    value("a scale without meanings", "humicroedit_rating", "scale", scale=""),
    value(
        "an own view before a comparison of stories",
        "explanation_preference",
        "judge_first=commit: there is no template commit.txt beside prefer.txt",
        judge_first="commit",
        of="mock_generation",
        system="a.json",
        against="b.json",
        files=dict.fromkeys(("a.json", "b.json"), '{"x": "A bear."}'),
    ),
    value("an own view of another kind", "humorbench_autograder", "judge_first: there is no 'yes'", judge_first="yes"),
    bad("a preference of nothing", lambda: load("explanation_preference", **SAMPLE), "system"),
    value(
        "a preference of a folder",
        "explanation_preference",
        "d: is a folder; name 'human'",
        system="d",
        files={"d": Path.mkdir},
    ),
    value("a preference of a missing file", "explanation_preference", "gone.json", "no such", system="gone.json"),
    value("a preference of a text against itself", "explanation_preference", "human", system="human"),
]

PROMPTS: list[Bad] = [
    bad("no such folder of prompts", opens(dataset="sample", prompts="gone"), "prompts=gone", "no such folder"),
    bad(
        "a file in place of the folder",
        opens(dataset="sample", prompts="p"),
        "prompts=p",
        "no such folder",
        files={"p": "x"},
    ),
    bad("a folder without templates", opens(dataset="sample", prompts="p"), "no .txt file", files={"p": Path.mkdir}),
    bad(
        "a template of another name",
        opens(dataset="sample", prompts="p"),
        "no template matchin.txt",
        "Did you mean",
        files=prompts("x", "matchin.txt"),
    ),
    template("an empty template", "", "lacks"),
    template("a template without the item", "== user ==\n$scene", "lacks $choices"),
    template("a template with another field", "== user ==\n$scene $choices $captions", "no field $captions"),
    template("a template with a dollar sign", "== user ==\n$scene $choices 5$", "write $$"),
    template("a template without turns", "$scene $choices", "== user =="),
    template("a template in UTF-16", "== user ==\n$scene $choices".encode("utf-16"), "UTF-16"),
    bad(
        "a template that is a folder",
        opens(dataset="sample", prompts="p"),
        TEMPLATE,
        "is a folder",
        files={f"p/{TEMPLATE}": Path.mkdir},
    ),
]

HARNESSES: list[Bad] = [
    bad("a fold of 7, inspect", INSPECT.format("matching", "-T fold=7"), "humor_tasks/matching: fold: there is no '7'"),
    bad("a misspelt setting, inspect", INSPECT.format("matching", "-T setting=pixel"), "Did you mean 'pixels'?"),
    bad(
        "an unknown parameter, inspect",
        INSPECT.format("matching", "-T foldd=1"),
        "foldd",
        "not used by task",
        warns=True,
    ),
    bad("no such task, inspect", INSPECT.format("matchin", ""), "No inspect tasks were found"),
    bad(
        "no such model, inspect",
        INSPECT.format("matching", "").replace("baseline/first", "baseline/overlp"),
        "overlp",
        "Did you mean 'overlap'?",
    ),
    bad("an unknown argument of a model, inspect", INSPECT.format("matching", "-M stratgy=1"), "stratgy"),
    bad("no grader, inspect", INSPECT.format("humorbench", ""), "grader"),
    bad("a grader that is not, inspect", INSPECT.format("humorbench", "--model-role grader=baseline/gone"), "gone"),
    bad(
        "a grader twice, inspect",
        INSPECT.format("humorbench", "--model-role grader=baseline/first,baseline/first"),
        "each model once",
    ),
    bad(
        "all wordings of graders before there are replies, inspect",
        INSPECT.format("humorbench", "--model-role grader=baseline/first -T grader_prompts=all"),
        "grader_prompts=all judges replies that exist already",
        "humor-tasks grade LOG --grader MODEL --grader-prompts all",
    ),
    bad(
        "a wording of graders that is not, inspect",
        INSPECT.format("humorbench", "--model-role grader=baseline/first -T grader_prompts=Z"),
        "grader_prompts=Z: there are prompt sets A, B, C, D, E",
    ),
    bad(
        "an own view before ratings of stories, inspect",
        INSPECT.format("mock_generation", "--model-role grader=baseline/first -T judge_first=commit"),
        "judge_first=commit: there is no template commit.txt beside sms.txt",
    ),
    bad("a baseline that rates, inspect", INSPECT.format("humicroedit_rating", ""), "cannot rate headlines"),
    bad(
        "a CLIP that is not, inspect",
        INSPECT.format("matching", "-T setting=pixels").replace("baseline/first", "clip/gone"),
        "gone",
    ),
    bad(
        "an OFA that is not, inspect",
        INSPECT.format("matching", "-T setting=pixels").replace("baseline/first", "ofa/gone"),
        "gone",
    ),
    bad(
        "a run of Humicroedit that is not, inspect",
        INSPECT.format("humicroedit_rating", "").replace("baseline/first", "humicroedit/gone"),
        "gone",
    ),
    bad(
        "a price list that is not, inspect",
        INSPECT.format("matching", ""),
        "prices: gone.toml",
        "no such file",
        within=other_prices,
    ),
    bad("a fold of 7, lm-eval", LM_EVAL.format("nyc_matching", "first", "fold=7"), "fold: there is no '7'"),
    bad(
        "a misspelt parameter, lm-eval",
        LM_EVAL.format("nyc_matching", "first", "foldd=1"),
        "--metadata foldd: no task of this command has a parameter of this name. Did you mean 'fold'?",
    ),
    bad(
        "a parameter of a flag, lm-eval",
        LM_EVAL.format("nyc_matching", "first", "shots=2"),
        "--metadata shots: use --num_fewshot",
    ),
    bad(
        "a fixed parameter, lm-eval",
        LM_EVAL.format("nyc_matching_pixels", "first", "setting=description"),
        "nyc_matching_pixels fixes setting=pixels",
    ),
    bad(
        "a parameter of Inspect alone, lm-eval",
        LM_EVAL.format("mock_detecting", "first", "replicates=5"),
        "--metadata replicates",
    ),
    bad(
        "a wording of graders, lm-eval",
        LM_EVAL.format("humorbench", "first", "grader_prompts=B"),
        "--metadata grader_prompts: lm-eval asks no graders",
    ),
    bad(
        "an own view first, lm-eval",
        LM_EVAL.format("humorbench_autograder", "first", "judge_first=commit"),
        "--metadata judge_first: lm-eval sends one request for each item",
        "use the Inspect task",
    ),
    bad("metadata that is not key=value, lm-eval", LM_EVAL.format("nyc_matching", "first", "fold"), "fold"),
    bad(
        "a seed of a baseline that is a word, lm-eval",
        LM_EVAL.format("nyc_matching", "random,baseline_seed=one", ""),
        "the seed of a baseline must be a whole number, not 'one'",
    ),
    bad(
        "a seed of a baseline that is a fraction, inspect",
        INSPECT.format("matching", "-M seed=1.5"),
        "the seed of a baseline must be a whole number, not 1.5",
    ),
    bad("no such strategy, lm-eval", LM_EVAL.format("nyc_matching", "overlp", ""), "overlp", "Did you mean 'overlap'?"),
    bad("an unknown argument of a model, lm-eval", LM_EVAL.format("nyc_matching", "first,stratgy=1", ""), "stratgy"),
    bad(
        "reasoning by likelihoods, lm-eval",
        LM_EVAL.format("nyc_matching", "first", "cot=True"),
        "cot=true requires a generated reply",
    ),
    bad(
        "clips, lm-eval",
        LM_EVAL.format("mock_matching_pixels", "first", "scene=comedy"),
        "mock_matching_pixels: comedy has clips",
    ),
    bad(
        "a batch of words, lm-eval",
        "lm_eval --tasks nyc_matching_pixels --model humor-clip --model_args pretrained=gone --metadata dataset=sample",
        "gone",
    ),
    bad(
        "expected ratings of replies, lm-eval",
        LM_EVAL.format("humicroedit_rating_gen", "first", "estimate=expected"),
        "log-likelihood task",
    ),
]

COMMANDS: list[Bad] = [
    bad("parameters of no task", "humor-tasks parameters matchin", "Did you mean 'matching'?"),
    bad("no such command", "humor-tasks scor p.json", "No such command 'scor'"),
    bad(
        "evaluate with parameters too late",
        lambda: evaluate(load("ranking", **SAMPLE), {}, fold=1),
        "pass parameters to load",
    ),
    bad(
        "CLIP of an explanation", lambda: clip_predict("sample", task="explanation"), "task: there is no 'explanation'"
    ),
    bad("CLIP into a folder", lambda: clip_predict("sample", output="."), "is a folder"),
    bad(
        "train without data",
        "humor-tasks train humicroedit --system baseline --dataset gone -o run",
        "gone/task-1/train.csv",
    ),
    bad(
        "train of no such system",
        "humor-tasks train humicroedit --system bert --dataset sample -o run",
        "there is no 'bert'",
    ),
    bad(
        "train with NaN", "humor-tasks train humicroedit --system ridge --dataset sample -o run --alphas nan", "alphas"
    ),
    bad(
        "train with a rate below zero",
        "humor-tasks train clip --task matching --dataset sample -o run --lr -1 --device cpu",
        "lr",
    ),
    bad(
        "train with a rate of NaN",
        "humor-tasks train clip --task matching --dataset sample -o run --lr nan --device cpu",
        "lr",
    ),
    bad(
        "train with 0 epochs",
        "humor-tasks train clip --task matching --dataset sample -o run --epochs 0 --device cpu",
        "epochs",
    ),
    bad("train OFA from nowhere", "humor-tasks train ofa --pretrained gone --dataset sample -o run", "gone"),
    bad(
        "train into a file",
        "humor-tasks train humicroedit --system baseline --dataset sample -o run",
        "run",
        files={"run": "mine"},
    ),
    bad("build from nothing", "humor-tasks build mock -o out", "--mustard"),
    bad("build from a missing file", "humor-tasks build mock --mustard gone.json -o out", "gone.json", "no such file"),
    bad(
        "build from a CSV",
        "humor-tasks build mock --mustard m.json -o out",
        "m.json",
        "CSV",
        files={"m.json": "id,text\n1,a\n"},
    ),
    bad(
        "build from an empty object",
        "humor-tasks build mock --mustard m.json -o out",
        "no usable row",
        files={"m.json": "{}"},
    ),
    bad(
        "build into a full folder",
        "humor-tasks build mock --mustard m.json -o out",
        "out",
        files={"m.json": "{}", "out/x": "mine"},
    ),
    bad("build of WITS without files", "humor-tasks build mock --wits w -o out", "w", files={"w": Path.mkdir}),
    *(
        bad(
            f"describe by {what}",
            f"humor-tasks describe --model {model} --dataset d -o out",
            model.split("/")[1],
            files=seen(picture()),
        )
        for what, model in (("no model", "baseline/overlp"), ("a model without eyes", "gone/gone"))
    ),
    bad(
        "describe at a temperature of words",
        "humor-tasks describe --model baseline/first --dataset sample -o out --temperature hot",
        "hot",
    ),
    bad("pairs of one system", "humor-tasks people pairs --dataset sample --system human -o p.jsonl", "--against"),
    bad(
        "pairs of a missing file",
        "humor-tasks people pairs --dataset sample --system human --against gone.json -o p.jsonl",
        "gone.json",
    ),
    bad(
        "captions of a missing file",
        "humor-tasks captions rank gone.jsonl --model baseline/longest --dataset sample",
        "gone.jsonl",
        "no such",
    ),
    bad(
        "captions of no contest",
        "humor-tasks captions rank c.jsonl --model baseline/longest --dataset sample",
        "c.jsonl",
        "line 1",
        files={"c.jsonl": '{"caption": "a"}\n'},
    ),
    bad(
        "an invisible caption to rank",
        "humor-tasks captions rank c.jsonl --model baseline/longest --dataset sample",
        "c.jsonl, line 1: caption is invisible: U+200B",
        files={"c.jsonl": '{"contest": "9101", "caption": "\u200b", "system": "a"}\n'},
    ),
]

CASES = [*VALUES, *PROMPTS, *HARNESSES, *COMMANDS]
