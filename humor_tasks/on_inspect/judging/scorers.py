"""The scorers with graders, by name. What they ask and how they score is in `benchmarks.judging` and each benchmark."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai.scorer import Metric, SampleScore, Scorer, Value, metric, scorer

from humor_tasks.benchmarks.humorbench.coverage import ANY_TEXT
from humor_tasks.benchmarks.reference import PAIRS
from humor_tasks.on_inspect.judging.graders import Asking, Requests
from humor_tasks.on_inspect.judging.judge import Judge
from humor_tasks.on_inspect.outcomes import benchmark_metrics, reported


@metric(scores="unreduced")
def preference_metrics() -> Metric:
    """Win rates with confidence intervals and measures of the judges' reliability, over all pairs."""

    def compute(scores: list[SampleScore]) -> Value:
        return reported(PAIRS, scores)

    return compute


@scorer(metrics=[benchmark_metrics("humorbench")])
def element_coverage(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """The share of the target's points that graders find in the answer.

    This scorer works for any task. The target holds one or several reference points. Graders see the sample's metadata
    `context`, otherwise its input, and the reply without its reasoning block. In HumorBench, the answer is the
    explanation in its tags, and the context is the cartoon.

    A point is covered if more than half of all graders pass it, and not covered if more than half fail it. Otherwise it
    has no verdict and is excluded from the denominator. It is counted as `undecided` where every grader gave a verdict,
    and as `grader_failed` otherwise. The metrics `coverage_missing_failed` and `coverage_missing_passed` count it as
    failed and as passed. A sample without any verdict has the value N, with one of these as the reason, and so has a
    reply that is left out; Inspect's own `mean()` would count it as 0. The score's metadata has every grader's verdict
    and reasons.

    Args:
        grader: Model or models that grade; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        prompts: Folder whose `grade.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
    return Judge("element_coverage", ANY_TEXT, grader, Asking(temperature, seed, cache, retries, structured), prompts)


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
    how = Asking(temperature, seed, cache, retries, False if structured is None else structured)
    return Judge("preference", "explanation", grader, how, as_in_task=structured is None)


@scorer(metrics=[preference_metrics()])
def reference_preference(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
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
    """
    how = Asking(temperature, seed, cache, retries, structured)
    return Judge("reference_preference", "explanation", grader, how, prompts)


@scorer(metrics=[benchmark_metrics("caption_writing")])
def against_people(
    grader: str | list[str] | None = None,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """How often judges prefer ten written captions to four groups of ten human captions of the same contest.

    The questions are those of `crowd_groups`, in both orders. A verdict of a panel is that of more than half of its
    judges. The score is the mean of the four win rates, and N where one is missing. The score's metadata has every
    verdict.

    Args:
        grader: Model or models that judge; by default those bound to the model role `grader`.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
    return Judge("against_people", "caption_writing", grader, Requests(temperature, seed, cache, retries))


@scorer(metrics=[benchmark_metrics("mock_generation")])
def story_ratings(
    grader: str | list[str] | None = None,
    structured: bool = False,
    temperature: float | None = 0.0,
    seed: int | None = 1234,
    prompts: str | None = None,
    cache: bool = True,
    retries: int = 0,
) -> Scorer:
    """Ratings from 1 to 5 of how well a story matches what is shown (SMS) and of its humour or sarcasm (HSS).

    This scorer is for `mock_generation`, and for any task whose reply is a story. Graders see the sample's metadata
    `context`, otherwise the question's text, and the question's pictures. The rating of a panel is the mean, if more
    than half of all graders gave a rating. The score is the mean of both ratings, and N where one is missing.

    Args:
        grader: Model or models that rate; by default those bound to the model role `grader`.
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of graders whose configuration does not set one; `none`: the provider's default.
        seed: Seed of graders whose configuration does not set one; `none`: the provider's default.
        prompts: Folder whose `sms.txt`, `hss.txt` and `verdict.*.txt` replace the packaged templates.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
    """
    how = Asking(temperature, seed, cache, retries, structured)
    return Judge("story_ratings", "mock_generation", grader, how, prompts)


SCORERS: dict[str, Callable[..., Scorer]] = {
    "element_coverage": element_coverage,
    "preference": preference,
    "reference_preference": reference_preference,
    "against_people": against_people,
    "story_ratings": story_ratings,
}
"""The scorers by the name that `Judging.scorer` gives."""
