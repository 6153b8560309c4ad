"""The scorers and metrics that Inspect registers. Each imports its implementation when it is created.

Every Inspect command imports this module. Therefore it imports nothing but Inspect.
"""

from __future__ import annotations

from typing import Literal

from inspect_ai.scorer import Metric, SampleScore, Scorer, Value, metric, scorer


@metric(scores="unreduced")
def benchmark_metrics(benchmark: str = "matching") -> Metric:
    """Every metric of the sample's benchmark with standard error and interval, over all epochs.

    Uses unreduced scores, because a reducer would keep only the first epoch's unparsed replies.

    Args:
        benchmark: The benchmark whose metrics are reported for samples of other packages' tasks.
    """

    def compute(scores: list[SampleScore]) -> Value:
        from humor_tasks.on_inspect.outcomes import reported

        return reported(scores, benchmark)

    return compute


@metric(scores="unreduced")
def preference_metrics() -> Metric:
    """Win rates with confidence intervals and measures of the judges' reliability, over all pairs."""

    def compute(scores: list[SampleScore]) -> Value:
        from humor_tasks.benchmarks.preference import pairs_run
        from humor_tasks.on_inspect.outcomes import reported

        return reported(scores, "explanation", pairs_run)

    return compute


@scorer(metrics=[benchmark_metrics("caption_writing")])
def against_people(
    grader: str | list[str] | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """How often judges prefer ten written captions to four groups of ten human captions of the same contest.

    The questions are those of `crowd_groups`, in both orders. A panel's verdict is that of more than half of them. The
    score is the mean of the four win rates, and N where one is missing. Its metadata has every verdict.

    Args:
        grader: Model or models that judge; by default those bound to the model role `grader`.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
    from humor_tasks.on_inspect.judging.judge import Judge, Requests

    return Judge("against_people", "caption_writing", grader, Requests(temperature, seed, cache, retries))


@scorer(metrics=[benchmark_metrics("brainstorm")])
def brainstormed() -> Scorer:
    """Whether every line of a brainstorm can be parsed; the caption is the answer, the metadata has all lines."""
    from humor_tasks.on_inspect.scorers import brainstorm_scorer

    return brainstorm_scorer()


@scorer(metrics=[benchmark_metrics("humor_writing")])
def texts_written() -> Scorer:
    """Whether the reply has as many texts as were asked for; they are the answer, a line each."""
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("texts_written", "humor_writing")


@scorer(metrics=[benchmark_metrics("recitation")])
def recited() -> Scorer:
    """Whether a reply completes a caption word for word: C or I; N where it is left out."""
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("recited", "recitation")


@scorer(metrics=[benchmark_metrics("humorbench")])
def element_coverage(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
    grader_prompts: str | None = None,
    judge_first: Literal["none", "commit"] = "none",
) -> Scorer:
    """The share of the target's points that graders find in the answer.

    This scorer works for any task. The target holds one or several reference points. Graders see the sample's metadata
    `context`, otherwise its input, and the reply without its reasoning block. In HumorBench, the answer is the
    explanation in its tags, and the context is the cartoon.
    A point is covered if more than half of all graders pass it, and not covered if more than half fail it. Otherwise it
    has no verdict and is excluded from the denominator. It is counted as `undecided` where every grader gave a verdict,
    and as `grader_failed` otherwise. The metrics `coverage_missing_failed` and `coverage_missing_passed` count it as
    failed and as passed. A sample without any verdict has the value N, with one of these as the reason, and so has a
    reply that is left out; Inspect's own `mean()` would count it as 0. The metadata has graders' verdicts and reasons.

    Args:
        grader: Model or models that grade; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        prompts: Folder whose `grade.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        grader_prompts: Prompt set of the graders, A (the default) to E, or a folder as in `prompts`.
        judge_first: `commit` asks graders for their own view of the item before they see the reply.
    """
    from humor_tasks.benchmarks.humorbench.coverage import ANY_TEXT
    from humor_tasks.on_inspect.judging.judge import Judge, RubricSettings

    how = RubricSettings(temperature, seed, cache, retries, structured, grader_prompts, judge_first)
    return Judge("element_coverage", ANY_TEXT, grader, how, prompts)


@scorer(metrics=[benchmark_metrics("humorbench_autograder")])
def judge_agreement() -> Scorer:
    """Compares a judge's PASS or FAIL, parsed strictly, with a person's in the target.

    An unreadable verdict, and any in a truncated reply, is scored N, left out of the metrics and counted as unparsed.
    """
    from humor_tasks.on_inspect.hooks import warn_when_tasks_end
    from humor_tasks.on_inspect.scorers import reply_scorer

    warn_when_tasks_end()
    return reply_scorer("judge_agreement", "humorbench_autograder")


@scorer(metrics=[benchmark_metrics()])
def multiple_choice(extraction: str | None = None, on_unparsed: str | None = None) -> Scorer:
    """Compares the letter in the reply with the target.

    Args:
        extraction: Rule for reading the letter in a reply; by default that of the task, otherwise `strict`.
        on_unparsed: What an unreadable reply counts as; by default as in the task, otherwise `wrong`.
    """
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("multiple_choice", "matching", extraction=extraction, on_unparsed=on_unparsed)


@scorer(metrics=[benchmark_metrics()])
def multiple_choice_strict(on_unparsed: str | None = None) -> Scorer:
    """`multiple_choice` with `extraction=strict`, under a name of its own in a log that is scored again.

    Args:
        on_unparsed: As in `multiple_choice`.
    """
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("multiple_choice", "matching", extraction="strict", on_unparsed=on_unparsed)


@scorer(metrics=[benchmark_metrics()])
def multiple_choice_released_chat(on_unparsed: str | None = None) -> Scorer:
    """`multiple_choice` with `extraction=released_chat`, under a name of its own in a log that is scored again.

    Args:
        on_unparsed: As in `multiple_choice`.
    """
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("multiple_choice", "matching", extraction="released_chat", on_unparsed=on_unparsed)


@scorer(metrics=[benchmark_metrics()])
def multiple_choice_released_leaderboard(on_unparsed: str | None = None) -> Scorer:
    """`multiple_choice` with `extraction=released_leaderboard`, under a name of its own in a log that is scored again.

    Args:
        on_unparsed: As in `multiple_choice`.
    """
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("multiple_choice", "matching", extraction="released_leaderboard", on_unparsed=on_unparsed)


@scorer(metrics=[preference_metrics()])
def preference(
    grader: str | list[str] | None = None,
    structured: bool | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """The judges' verdict on two texts: those of a sample of `explanation_preference`, or a reply and its reference.

    In any other task with a reference text as its target, it is `reference_preference` with the packaged templates.
    The verdict of a panel is that of more than half of its judges; without such a majority, it is a tie if all judges
    gave a verdict. The score is 1 where the system is preferred, .5 for a tie, 0 otherwise, and N without a verdict.

    Args:
        grader: Model or models that judge; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output; by default as in the task.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
    from humor_tasks.on_inspect.judging.judge import GraderSettings, Judge

    how = GraderSettings(temperature, seed, cache, retries, False if structured is None else structured)
    return Judge("preference", "explanation", grader, how, as_in_task=structured is None)


@scorer(metrics=[benchmark_metrics("humicroedit_rating")])
def rating_error() -> Scorer:
    """The rating in the reply as the score's value; the metrics are those of the benchmark."""
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("rating_error", "humicroedit_rating")


@scorer(metrics=[benchmark_metrics("explanation")])
def reference_overlap() -> Scorer:
    """ROUGE-L of the reply's explanation with the reference; corpus BLEU-4 as a metric."""
    from humor_tasks.on_inspect.scorers import reply_scorer

    return reply_scorer("reference_overlap", "explanation")


@scorer(metrics=[preference_metrics()])
def reference_preference(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
    grader_prompts: str | None = None,
    judge_first: Literal["none", "commit"] = "none",
) -> Scorer:
    """Whether judges prefer the reply to the reference, judged in both orders; EXPAcc is the metric `preferred`.

    This scorer is for `explanation` and `mock_explaining`, and for any task with a reference text as its target. It
    compares the reply without its reasoning block with the reference. Judges see the sample's metadata `context`,
    otherwise the question's text, and the question's pictures.

    Args:
        grader: Model or models that judge; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        prompts: Folder whose `prefer.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        grader_prompts: Prompt set of the graders, A (the default) to E, or a folder as in `prompts`.
        judge_first: `commit` asks graders for their own view of the item before they see the reply.
    """
    from humor_tasks.on_inspect.judging.judge import Judge, RubricSettings

    how = RubricSettings(temperature, seed, cache, retries, structured, grader_prompts, judge_first)
    return Judge("reference_preference", "explanation", grader, how, prompts)


@scorer(metrics=[benchmark_metrics("mock_generation")])
def story_ratings(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
    grader_prompts: str | None = None,
    judge_first: Literal["none", "commit"] = "none",
) -> Scorer:
    """Ratings from 1 to 5 of how well a story matches what is shown (SMS) and of its humour or sarcasm (HSS).

    This scorer is for `mock_generation`, and for any task whose reply is a story. Graders see the sample's metadata
    `context`, otherwise the question's text, and its pictures. The rating of a panel is the mean, if more than half of
    all graders gave one. The score is the mean of both ratings, and N where one is missing.

    Args:
        grader: Model or models that rate; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        prompts: Folder whose `sms.txt`, `hss.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        grader_prompts: Prompt set of the graders, A (the default) to E, or a folder as in `prompts`.
        judge_first: Only `none`: there is no template by which graders write their own view first.
    """
    from humor_tasks.on_inspect.judging.judge import Judge, RubricSettings

    how = RubricSettings(temperature, seed, cache, retries, structured, grader_prompts, judge_first)
    return Judge("story_ratings", "mock_generation", grader, how, prompts)
