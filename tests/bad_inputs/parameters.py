"""Bad parameters, names of tasks and models, prompts and options of every command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from standins.bad_rows import row

from bad_inputs.case import Bad, bad
from bad_inputs.datasets import opens, rows
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


VALUES: list[Bad] = [
    bad("no such task", lambda: load("matchin", **SAMPLE), "there is no 'matchin'", "Did you mean 'matching'?"),
    bad("a task that is None", lambda: load(None, **SAMPLE), "there is no 'None'"),
    bad(
        "no such parameter",
        opens(dataset="sample", foldd=1),
        "parameter of matching: there is no 'foldd'",
        "Did you mean 'fold'?",
    ),
    bad(
        "a parameter of another benchmark",
        lambda: load("humorbench", fold=1, **SAMPLE),
        "parameter of humorbench: there is no 'fold'",
    ),
    bad("shots below zero", opens(dataset="sample", shots=-1), "shots must be a whole number of at least 0, not -1"),
    bad(
        "shots that are NaN",
        opens(dataset="sample", shots=float("nan")),
        "shots must be a whole number of at least 0, not nan",
    ),
    bad("shots that are a fraction", opens(dataset="sample", shots=1.5), "shots must be a whole number"),
    bad("shots that are true", opens(dataset="sample", shots=True), "shots must be a whole number", "not True"),
    bad("more shots than the pool has", opens(dataset="sample", shots=10**9), "shots", "contests"),
    bad("more shots than the pool has, inspect", INSPECT.format("matching", "-T shots=5000"), "shots", "contests"),
    bad(
        "more shots than the pool has, lm-eval",
        LM_EVAL.format("nyc_matching", "first", "--num_fewshot 5000"),
        "contests",
    ),
    bad("shots where there is no train split", opens(shots=1), "no split 'train'", files=rows(row())),
    bad("shots of HumorBench", lambda: load("humorbench", shots=2, **SAMPLE), "shots", "no training rows"),
    bad("a fold of 7", opens(dataset="sample", fold=7), "fold: there is no '7'; choose from 0, 1, 2, 3, 4, all"),
    bad("a fold that is a list", opens(dataset="sample", fold=[1, 2]), "fold", "there is no '[1, 2]'"),
    bad("all folds of train", opens(dataset="sample", fold="all", split="train"), "use one fold"),
    bad(
        "a split in capitals",
        opens(dataset="sample", split="TEST"),
        "split: there is no 'TEST'",
        "Did you mean 'test'?",
    ),
    bad("a seed that is a word", opens(dataset="sample", seed="one"), "seed must be a whole number, not 'one'"),
    bad("a seed that is infinite", opens(dataset="sample", seed=float("inf")), "seed must be a whole number, not inf"),
    bad("cot that is a word", opens(dataset="sample", cot="yes"), "cot must be true or false, not 'yes'"),
    bad(
        "a setting without its picture",
        opens(dataset="sample", setting="pixel"),
        "setting: there is no 'pixel'",
        "Did you mean 'pixels'?",
    ),
    bad("on_unparsed misspelt", opens(dataset="sample", on_unparsed="wong"), "Did you mean 'wrong'?"),
    bad("extraction misspelt", opens(dataset="sample", extraction="lenient"), "extraction: there is no 'lenient'"),
    bad(
        "0 frames",
        lambda: load("mock_detecting", frames=0, **SAMPLE),
        "frames must be a whole number from 1 to 64, not 0",
    ),
    bad(
        "65 frames",
        lambda: load("mock_detecting", frames=65, **SAMPLE),
        "frames must be a whole number from 1 to 64, not 65",
    ),
    bad(
        "pictures below zero",
        lambda: load("mock_generation", images=-3, **SAMPLE),
        "images must be a whole number of at least 0, not -3",
    ),
    bad(
        "a temperature that is NaN",
        lambda: load("brainstorm", temperature=float("nan"), **SAMPLE),
        "temperature must be a number",
    ),
    bad(
        "a temperature below zero",
        lambda: load("brainstorm", temperature=-1.0, **SAMPLE),
        "temperature must be a number",
    ),
    bad("top_p above 1", lambda: load("brainstorm", top_p=7.0, **SAMPLE), "top_p must be a number"),
    bad("more examples than there are", lambda: load("brainstorm", examples=99, **SAMPLE), "examples"),
    bad(
        "a subset that is not",
        lambda: load("humorbench", subset="hrad", **SAMPLE),
        "subset: there is no 'hrad'",
        "Did you mean 'hard'?",
    ),
    bad(
        "a subset of no keys",
        lambda: load("humorbench", subset="s.json", **SAMPLE),
        "s.json",
        "at least one entry",
        files={"s.json": '{"keys": []}'},
    ),
    bad(
        "a subset of unknown keys",
        lambda: load("humorbench", subset="s.json", **SAMPLE),
        "s.json",
        "9-x",
        files={"s.json": '{"keys": ["9-x"]}'},
    ),
    bad(
        "a subset that is a CSV named JSON",
        lambda: load("humorbench", subset="s.json", **SAMPLE),
        "s.json",
        "CSV",
        files={"s.json": "idx,element\n1,a\n"},
    ),
    bad(
        "a subset that is a list",
        lambda: load("humorbench", subset="s.json", **SAMPLE),
        "s.json",
        '"keys"',
        files={"s.json": '["9-x"]'},
    ),
    bad("a scale without meanings", lambda: load("humicroedit_rating", scale="", **SAMPLE), "scale"),
    bad("a preference of nothing", lambda: load("explanation_preference", **SAMPLE), "system"),
    bad(
        "a preference of a folder",
        lambda: load("explanation_preference", system="d", **SAMPLE),
        "d: is a folder; name 'human'",
        files={"d": Path.mkdir},
    ),
    bad(
        "a preference of a missing file",
        lambda: load("explanation_preference", system="gone.json", **SAMPLE),
        "gone.json",
        "no such",
    ),
    bad(
        "a preference of a text against itself",
        lambda: load("explanation_preference", system="human", **SAMPLE),
        "human",
    ),
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
    bad("an empty template", opens(dataset="sample", prompts="p"), TEMPLATE, "lacks", files=prompts("")),
    bad(
        "a template without the item",
        opens(dataset="sample", prompts="p"),
        TEMPLATE,
        "lacks $choices",
        files=prompts("== user ==\n$scene"),
    ),
    bad(
        "a template with another field",
        opens(dataset="sample", prompts="p"),
        TEMPLATE,
        "no field $captions",
        files=prompts("== user ==\n$scene $choices $captions"),
    ),
    bad(
        "a template with a dollar sign",
        opens(dataset="sample", prompts="p"),
        TEMPLATE,
        "write $$",
        files=prompts("== user ==\n$scene $choices 5$"),
    ),
    bad(
        "a template without turns",
        opens(dataset="sample", prompts="p"),
        TEMPLATE,
        "== user ==",
        files=prompts("$scene $choices"),
    ),
    bad(
        "a template in UTF-16",
        opens(dataset="sample", prompts="p"),
        TEMPLATE,
        "UTF-16",
        files=prompts("== user ==\n$scene $choices".encode("utf-16")),
    ),
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
    bad("describe by no model", "humor-tasks describe --model baseline/overlp --dataset sample -o out", "overlp"),
    bad("describe by a model without eyes", "humor-tasks describe --model gone/gone --dataset sample -o out", "gone"),
    bad(
        "describe at a temperature of words",
        "humor-tasks describe --model baseline/first --dataset sample -o out --temperature hot",
        "hot",
    ),
    bad("pairs of one system", "humor-tasks pairs --dataset sample --system human -o p.jsonl", "--against"),
    bad(
        "pairs of a missing file",
        "humor-tasks pairs --dataset sample --system human --against gone.json -o p.jsonl",
        "gone.json",
    ),
    bad(
        "captions of a missing file",
        "humor-tasks rank-captions gone.jsonl --model baseline/longest --dataset sample",
        "gone.jsonl",
        "no such",
    ),
    bad(
        "captions of no contest",
        "humor-tasks rank-captions c.jsonl --model baseline/longest --dataset sample",
        "c.jsonl",
        "line 1",
        files={"c.jsonl": '{"caption": "a"}\n'},
    ),
    bad(
        "an invisible caption to rank",
        "humor-tasks rank-captions c.jsonl --model baseline/longest --dataset sample",
        "c.jsonl, line 1: caption is invisible: U+200B",
        files={"c.jsonl": '{"contest": "9101", "caption": "\u200b", "system": "a"}\n'},
    ),
]

CASES = [*VALUES, *PROMPTS, *HARNESSES, *COMMANDS]
