"""Accuracy of the caption that a system chooses, with an interval clustered by contest."""

from collections.abc import Hashable, Sequence

from humor_tasks.evaluate_metrics import entries, typed
from humor_tasks.papers import papers
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion


class CaptionChoiceAccuracy(typed.TypedMetric):
    """The share of rows in which the chosen caption is the right one.

    It is the accuracy of the benchmarks `matching`, `ranking` and all others that have a system choose. A row without
    an answer counts as wrong. Rows of one contest share a cartoon and are not independent, so the interval is that of
    a proportion of clustered rows.
    """

    prediction = entries.CHOSEN
    reference = entries.LABEL
    paper = papers.CAPTION_CONTEST
    inputs_text = """
        Args:
            predictions (`list` of `str` or `int`): the labels of the chosen captions; None where a reply names none.
            references (`list` of `str` or `int`): the labels of the right captions. Labels are compared as text,
                without white space around them.
            clusters (`list` of `str` or `int`, *optional*): each row's contest. Without it there is no interval.
            level (`float`, defaults to 0.95): the level of the interval.

        Returns:
            accuracy (`float`), and with clusters accuracy_stderr, accuracy_low, accuracy_high: the interval.
            unparsed (`float`): the share of rows without an answer.
            n (`int`): the number of rows, and with clusters clusters (`int`): that of contests.

        Examples:

            >>> from humor_tasks.evaluate_metrics import CaptionChoiceAccuracy
            >>> accuracy = CaptionChoiceAccuracy()
            >>> accuracy.compute(predictions=["A", "B", None, "A"], references=["A", "B", "C", "B"])
            {'accuracy': 0.5, 'unparsed': 0.25, 'n': 4}
    """

    def estimates(
        self, predictions: list[str], references: list[str], clusters: Sequence[Hashable], level: float
    ) -> dict[str, Estimate | float]:
        """The accuracy and the share of rows without an answer, which is stored as ""."""
        right = [float(chosen == wanted) for chosen, wanted in zip(predictions, references, strict=True)]
        unparsed = clustered_proportion([float(not chosen) for chosen in predictions], clusters, level)
        return {"accuracy": clustered_proportion(right, clusters, level), "unparsed": unparsed.value}
