"""`humor-tasks analyse humicroedit`: files of every kind, reports, pictures, and the real dev rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from standins.humicroedit_systems import EVEN, FLAT, GOOD, HEADLINES, PAIRS, SAMPLE, Vectors, everything
from standins.votes import tight

from humor_tasks import api, load
from humor_tasks.cli import main
from humor_tasks.errors import BadInput
from humor_tasks.results.analysis.humicroedit import ALL, MEAN, System, analyse
from humor_tasks.results.analysis.humicroedit_report import as_json, plot, write_report
from humor_tasks.results.analysis.humicroedit_systems import read_corpus, read_systems
from humor_tasks.rows.records import Outcome
from humor_tasks.tasks import humicroedit_pairwise, humicroedit_rating
from humor_tasks.testing import ScriptedLM, run_lm_eval

# ---- reports --------------------------------------------------------------------------------------


def test_json_holds_everything_and_unknown_is_null(tmp_path: Path) -> None:
    found = everything(GOOD, EVEN, embed=Vectors())
    write_report(tmp_path / "r.json", found)
    read = json.loads((tmp_path / "r.json").read_text())
    assert set(read) == {"systems", "solved", "by_gap", "incongruity", "misses", "errors", "notes"}
    assert read["systems"][1]["rmse"] is None
    assert read["solved"][2]["pairs"] == 8
    assert read["errors"][0]["bins"][1] == {
        "low": 0.2,
        "high": 0.4,
        "mae": {"value": None, "stderr": None, "low": None, "high": None, "n": 0, "clusters": 0},
    }
    assert "NaN" not in as_json(found)


def test_markdown_has_a_section_each_and_no_markup_of_others(tmp_path: Path) -> None:
    odd = replace(GOOD, name="$x_1$ | *a*")
    headlines = (replace(HEADLINES[0], text="Bank | [pays → eats] $ 1 <b>"), *HEADLINES[1:])
    found = analyse(headlines, PAIRS, [odd, EVEN], Vectors(), 3)
    write_report(tmp_path / "r.md", found)
    text = tight((tmp_path / "r.md").read_text())
    assert re.findall(r"^#+ (.*)$", text, re.M) == [
        "Humicroedit: several systems",
        "RMSE over the funniest and the least funny headlines, by rank",
        "Pairs solved by exactly N systems",
        "Pairs solved by difference in funniness",
        "Incongruity",
        r"Underestimated most: \$x\_1\$ \| \*a\*",
        r"Overestimated most: \$x\_1\$ \| \*a\*",
        "Mean absolute error by funniness",
        "Notes",
    ]
    assert r"| 0 | Bank \| [pays → eats] \$ 1 \<b\> | 0.00 | 0.50 | +0.50 |" in text
    assert "| [0.4,0.6) | 0.3000 (1) |" in text
    assert "| [0.2,0.4) | - |" in text
    assert "| [2.8,3.0] | 1.0000 (1) |" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


@pytest.mark.slow
def test_a_picture_shows_names_as_they_are(tmp_path: Path) -> None:
    found = everything(replace(GOOD, name="$\\frac{"), replace(FLAT, name="_hidden"))
    plot(tmp_path / "e.svg", found)
    drawn = (tmp_path / "e.svg").read_text()
    assert "_hidden" in drawn
    assert "frac" in drawn
    with pytest.raises(BadInput, match=r"ends in .png, .svg, .pdf"):
        plot(tmp_path / "e.gif", found)
    for figure in ("error by funniness", "headlines", "solved by exactly N", "difference in funniness"):
        assert figure in drawn
    plot(tmp_path / "pairs.svg", everything(EVEN))
    with pytest.raises(BadInput, match="needs a system that rates headlines, or pairs"):
        plot(tmp_path / "e.png", replace(everything(EVEN), solved=(), by_gap=()))


def test_a_picture_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(BadInput, match=r"humor-tasks\[report\]"):
        plot(tmp_path / "e.png", everything(GOOD))


# ---- systems from files -----------------------------------------------------------------------------


def several_analysed(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["analyse", "humicroedit", "--dataset", "sample", *map(str, arguments)])


def submission(path: Path, name: str, value: Callable[[int], object], extra: str = "") -> Path:
    records = load(name, **SAMPLE).records
    path.write_text(
        "id,pred\n" + "".join(f"{r.id},{value(i)}\n" for i, r in enumerate(records)) + extra, encoding="utf-8"
    )
    return path


def rated_log(task: Any, reply: str, folder: Path) -> Path:
    def output(*asked: Any) -> ModelOutput:
        made = ModelOutput.from_content("mockllm/model", reply)
        made.usage = ModelUsage()
        return made

    model = get_model("mockllm/model", custom_outputs=output, memoize=False)
    return Path(eval(task, model=model, display="log", log_dir=str(folder))[0].location)


def rated_samples(folder: Path, task: str, model: ScriptedLM) -> Path:
    """The samples that lm-eval writes."""
    run_lm_eval(model, task, metadata=SAMPLE, output=folder)
    return next(folder.rglob(f"samples_{task}_*.jsonl"))


@pytest.mark.slow
def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    corpus = read_corpus(**SAMPLE)
    dropped = "".join(f"{identity},2\n" for identity in corpus.pairwise.data.dropped)
    digits = dict(zip("0123", map(math.log, (0.25, 0.25, 0.5, 1e-300)), strict=True))
    rater = ScriptedLM(likelihood=lambda prompt, continuation: digits[continuation.strip()])
    files = {
        "csv": submission(tmp_path / "r.csv", "humicroedit_rating", lambda i: i % 4 * 0.7),
        "pairs": submission(tmp_path / "p.csv", "humicroedit_pairwise", lambda i: 1 + i % 2, dropped),
        "log": rated_log(humicroedit_rating(**SAMPLE), "Rating: 1.5", tmp_path),
        "unread": rated_log(humicroedit_pairwise(**SAMPLE), "Hm.", tmp_path),
        "via": rated_log(humicroedit_pairwise(**SAMPLE, via="ratings"), "1", tmp_path),
        "digits": rated_samples(tmp_path, "humicroedit_rating", rater),
        "letters": rated_samples(tmp_path, "humicroedit_pairwise_gen", ScriptedLM("Answer: B")),
    }
    found = {s.name: s for s in read_systems([f"{name}={path}" for name, path in files.items()], corpus)}
    assert list(found["csv"].ratings.values())[:5] == [0, 0.7, 1.4, pytest.approx(2.1), 0]
    assert list(found["pairs"].picks.values())[:3] == [1, 2, 1]
    assert set(found["log"].ratings.values()) == {1.5}
    assert set(found["unread"].picks.values()) == set(found["via"].picks.values()) == {None}
    assert list(found["digits"].ratings.values()) == pytest.approx([1.25] * 36)
    assert set(found["letters"].picks.values()) == {2}
    assert all(len(s.ratings) == 36 for s in found.values() if s.ratings)
    assert all(set(s.picks) == {p.id for p in corpus.pairs} for s in found.values() if s.picks)


def test_the_command_prints_writes_and_draws(tmp_path: Path) -> None:
    rating = submission(tmp_path / "r.csv", "humicroedit_rating", lambda i: i % 4 * 0.7)
    pairs = submission(tmp_path / "p.csv", "humicroedit_pairwise", lambda i: 1 + i % 2)
    vectors = tmp_path / "vectors.txt"
    words = {w for p in read_corpus(**SAMPLE).pairs for text in (*p.words, *p.edits) for w in text.split()}
    vectors.write_text("".join(f"{w} {' '.join(map(str, Vectors()([w])[0]))}\n" for w in sorted(words)))
    done = several_analysed(
        f"a={rating}", f"b={pairs}", "--embedding", vectors, "-o", tmp_path / "r.json", "--plot", tmp_path / "e.png"
    )
    assert done.exit_code == 0, done.output
    assert "| b | pairwise | 34 | 0 | - |" in tight(done.output)
    assert "34 pairs" in done.output
    read = json.loads((tmp_path / "r.json").read_text())
    assert sum(row["pairs"] for row in read["solved"]) == 34
    assert read["incongruity"]["left_out"] == 0
    assert all(re.search(r"\[.+ → .+\]", row["text"]) for row in read["misses"][0]["underestimated"])
    assert (tmp_path / "e.png").stat().st_size > 5000
    assert several_analysed(f"a={rating}", "--most", "1").output.count("| +") == 1


@pytest.mark.parametrize(
    ("systems", "more", "message"),
    [
        (["r.csv"], [], "name a system and its file, as in gpt=logs/RUN.eval"),
        (["=r.csv"], [], "name a system and its file"),
        (["a=r.csv", "a=p.csv"], [], "there is another system called a"),
        ([f"{MEAN}=r.csv"], [], "there is another system called"),
        ([f"{ALL}=r.csv"], [], "there is another system called"),
        (["a=missing.csv"], [], "missing.csv: there is no such file"),
        (["a=missing.eval"], [], "missing.eval: there is no such log"),
        (["a=short.csv"], [], "short.csv: predictions do not match humicroedit_rating, split test of sample"),
        (["a=bad.csv"], [], "bad.csv, line 3, id 900202: the prediction is '9'"),
        (["a=other.jsonl"], [], "is no log of humicroedit_rating or humicroedit_pairwise"),
        (["a=r.csv"], ["--split", "dev"], "r.csv: predictions do not match humicroedit_rating, split dev"),
        (["a=r.csv"], ["-o", "r.txt"], "r.txt: a report ends in .md, .json"),
        (["a=r.csv"], ["--plot", "r.gif"], "r.gif: a picture ends in .png, .svg, .pdf"),
        (["a=r.csv"], ["--embedding", "bad.csv"], "bad.csv, line 1: is not a word with"),
    ],
)
def test_what_cannot_be_analysed_is_named(
    systems: list[str], more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    submission(Path("r.csv"), "humicroedit_rating", lambda i: i % 4 * 0.7)
    submission(Path("p.csv"), "humicroedit_pairwise", lambda i: 1 + i % 2)
    submission(Path("bad.csv"), "humicroedit_rating", lambda i: 9 if i == 1 else 1)
    Path("short.csv").write_text(
        "".join(Path("r.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:5]), encoding="utf-8"
    )
    told = {"benchmark": "matching", "version": "2-A", "options": {}, "groups": {}, "facts": {}}
    outcome = Outcome("1", "1", {}, "answered", "A", "A", {}).as_dict()
    doc = {"id": "1", "choices": ["x"], "humor_tasks": told, "outcome": outcome}
    Path("other.jsonl").write_text(json.dumps({"doc": doc, "filtered_resps": ["A"]}), encoding="utf-8")
    done = several_analysed(*systems, *more)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_the_real_dev_split(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    corpus = read_corpus(str(folder), "dev")
    named = [f"mean={folder / 'official_task-1-output.csv'}", f"one={folder / 'official_task-2-output.csv'}"]
    found = analyse(corpus.headlines, corpus.pairs, read_systems(named, corpus), Vectors(), 5)
    assert [s.pairs for s in found.solved] == [1020, 1079, 0]
    assert [f"{s.rmse.value:.5f}" for s in found.systems if s.rmse] == ["0.57840"]
    submitted = api.evaluate(corpus.rating, {i: str(r) for i, r in read_systems(named[:1], corpus)[0].ratings.items()})
    assert [e.value for e in found.systems[0].antipodal] == [
        submitted.metrics[f"rmse_at_{x}"].value for x in (10, 20, 30, 40)
    ]
    assert (found.by_gap[0].low, sum(g.solved.n for g in found.by_gap)) == (0.0, 2099)
    assert found.incongruity
    assert found.incongruity.correlation.n == 2099
    assert [b.mae.n for b in found.errors[0].bins][-3:] == [24, 11, 6]
    assert len(found.misses[0].underestimated) == 5
    assert [e.n for e in found.incongruity.by_solved] == [1020, 1079, 0]


def test_several_systems_on_the_real_dev_split(real_data: Path) -> None:
    """The organisers' output, and two systems that err by half a grade, one up and one down."""
    corpus = read_corpus(str(real_data / "humicroedit"), "dev")
    path = real_data / "humicroedit" / "official_task-1-output.csv"
    systems = read_systems([f"baseline={path}"], corpus)
    systems += [System(n, {h.id: h.gold + by for h in corpus.headlines}, {}) for n, by in (("up", 0.5), ("down", -0.5))]
    found = analyse(corpus.headlines, corpus.pairs, systems, None, 2500)
    of = {e.system: {b.low: b.mae.value for b in e.bins} for e in found.errors}
    assert f"{of['baseline'][0.4]:.4f}" == "0.5352"
    assert f"{of[MEAN][0.4]:.4f}" == "0.5117"  # (.5352 + .5 + .5) / 3; the averaged rating errs by a third of .5352
    assert found.misses[-1] == replace(found.misses[-1], underestimated=(), overestimated=())
    ups = analyse(corpus.headlines, corpus.pairs, systems[:2], None, 2500).misses[-1]
    assert {m.id for m in ups.overestimated} == {m.id for m in found.misses[0].overestimated}
    assert ups.underestimated == ()
