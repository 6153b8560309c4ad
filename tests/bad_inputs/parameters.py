"""Bad parameters, names of tasks and models, prompts and options of every command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from standins.bad_rows import row

from bad_inputs.case import Bad, bad
from bad_inputs.datasets import opens, picture, rows, seen
from humor_tasks import clip_predict, load
from humor_tasks.on_inspect.client import register_prices

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


def in_inspect(name: str, task: str, given: str, *says: str, model: str = "baseline/first", **more: Any) -> Bad:
    """A command of Inspect on the sample."""
    command = f"inspect eval humor_tasks/{task} --model {model} -T dataset=sample {given}"
    return bad(f"{name}, inspect", command, *says, **more)


def in_lm_eval(name: str, task: str, strategy: str, given: str, *says: str) -> Bad:
    """A command of lm-eval on the sample; `given` follows its metadata."""
    command = "lm_eval --tasks {} --model humor-baseline --model_args strategy={} --metadata dataset=sample {}"
    return bad(f"{name}, lm-eval", command.format(task, strategy, given), *says)


def template(name: str, text: str | bytes, *says: str) -> Bad:
    return bad(name, opens(dataset="sample", prompts="p"), TEMPLATE, *says, files=prompts(text))


VALUES: list[Bad] = [
    bad("no such task", lambda: load("matchin", **SAMPLE), "there is no 'matchin'", "Did you mean 'matching'?"),
    value(
        "no such parameter", "matching", "parameter of matching: there is no 'foldd'", "Did you mean 'fold'?", foldd=1
    ),
    value("a parameter of another benchmark", "humorbench", "parameter of humorbench: there is no 'fold'", fold=1),
    value("shots below zero", "matching", "shots must be a whole number of at least 0, not -1", shots=-1),
    value("shots that are NaN", "matching", "shots must be a whole number of at least 0, not nan", shots=float("nan")),
    value("more shots than the pool has", "matching", "shots", "contests", shots=10**9),
    in_inspect("more shots than the pool has", "matching", "-T shots=5000", "shots", "contests"),
    in_lm_eval("more shots than the pool has", "nyc_matching", "first", "--num_fewshot 5000", "contests"),
    bad("shots where there is no train split", opens(shots=1), "no split 'train'", files=rows(row())),
    value("shots of HumorBench", "humorbench", "shots", "no training rows", shots=2),
    value("a split in capitals", "matching", "split: there is no 'TEST'", "Did you mean 'test'?", split="TEST"),
    value("a seed that is infinite", "matching", "seed must be a whole number, not inf", seed=float("inf")),
    value("a temperature that is NaN", "brainstorm", "temperature must be a number", temperature=float("nan")),
    value("top_p above 1", "brainstorm", "top_p must be a number", top_p=7.0),
    value("more examples than there are", "brainstorm", "examples", examples=99),
    value(
        "a subset that is a CSV named JSON",
        "humorbench",
        "s.json",
        "CSV",
        subset="s.json",
        files={"s.json": "idx,element\n1,a\n"},
    ),
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
]

PROMPTS: list[Bad] = [
    bad(
        "a file in place of the folder",
        opens(dataset="sample", prompts="p"),
        "prompts=p",
        "no such folder",
        files={"p": "x"},
    ),
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
    in_inspect("a fold of 7", "matching", "-T fold=7", "humor_tasks/matching: fold: there is no '7'"),
    in_inspect("an unknown parameter", "matching", "-T foldd=1", "foldd", "not used by task", warns=True),
    in_inspect("no such task", "matchin", "", "No inspect tasks were found"),
    in_inspect("no such model", "matching", "", "overlp", "Did you mean 'overlap'?", model="baseline/overlp"),
    in_inspect("an unknown argument of a model", "matching", "-M stratgy=1", "stratgy"),
    in_inspect("no grader", "humorbench", "", "grader"),
    in_inspect("a grader that is not", "humorbench", "--model-role grader=baseline/gone", "gone"),
    in_inspect(
        "a wording of graders that is not",
        "humorbench",
        "--model-role grader=baseline/first -T grader_prompts=Z",
        "grader_prompts=Z: there are prompt sets A, B, C, D, E",
    ),
    in_inspect(
        "an own view before ratings of stories",
        "mock_generation",
        "--model-role grader=baseline/first -T judge_first=commit",
        "judge_first=commit: there is no template commit.txt beside sms.txt",
    ),
    in_inspect("a CLIP that is not", "matching", "-T setting=pixels", "gone", model="clip/gone"),
    in_inspect("an OFA that is not", "matching", "-T setting=pixels", "gone", model="ofa/gone"),
    in_inspect("a run of Humicroedit that is not", "humicroedit_rating", "", "gone", model="humicroedit/gone"),
    in_inspect("a price list that is not", "matching", "", "prices: gone.toml", "no such file", within=other_prices),
    in_lm_eval(
        "a misspelt parameter",
        "nyc_matching",
        "first",
        "foldd=1",
        "--metadata foldd: no task of this command has a parameter of this name. Did you mean 'fold'?",
    ),
    in_lm_eval(
        "a wording of graders",
        "humorbench",
        "first",
        "grader_prompts=B",
        "--metadata grader_prompts: lm-eval asks no graders",
    ),
    in_lm_eval(
        "an own view first",
        "humorbench_autograder",
        "first",
        "judge_first=commit",
        "--metadata judge_first: lm-eval sends one request for each item",
        "use the Inspect task",
    ),
    in_lm_eval("metadata that is not key=value", "nyc_matching", "first", "fold", "fold"),
    in_lm_eval(
        "a seed of a baseline that is a word",
        "nyc_matching",
        "random,baseline_seed=one",
        "",
        "the seed of a baseline must be a whole number, not 'one'",
    ),
    in_inspect(
        "a seed of a baseline that is a fraction",
        "matching",
        "-M seed=1.5",
        "the seed of a baseline must be a whole number, not 1.5",
    ),
    in_lm_eval("no such strategy", "nyc_matching", "overlp", "", "overlp", "Did you mean 'overlap'?"),
    in_lm_eval("an unknown argument of a model", "nyc_matching", "first,stratgy=1", "", "stratgy"),
    in_lm_eval("clips", "mock_matching_pixels", "first", "scene=comedy", "mock_matching_pixels: comedy has clips"),
    bad(
        "a batch of words, lm-eval",
        "lm_eval --tasks nyc_matching_pixels --model humor-clip --model_args pretrained=gone --metadata dataset=sample",
        "gone",
    ),
]

COMMANDS: list[Bad] = [
    bad("parameters of no task", "humor-tasks parameters matchin", "Did you mean 'matching'?"),
    bad("no such command", "humor-tasks scor p.json", "No such command 'scor'"),
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
