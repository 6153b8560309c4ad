"""Humicroedit's RMSE and RMSE@k of predicted funniness."""

from collections.abc import Hashable, Sequence

from humor_tasks.evaluate_metrics import entries, typed
from humor_tasks.papers import papers
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.regression import PERCENTS, rmse, rmse_at


class HumicroeditRmse(typed.TypedMetric):
    """The root mean squared error of predicted ratings of edited headlines (SemEval-2020 Task 7, subtask 1).

    RMSE@k is the error over the k percent of rows with the highest and the k percent with the lowest mean grade, for k
    of 10, 20, 30 and 40. Rows tied at the cut share the remaining places, so the order of the rows does not matter.
    Predictions are not clipped. Edits of one headline are not independent: the headline is the cluster.
    """

    prediction = entries.RATING
    reference = entries.GRADE
    paper = papers.HUMICROEDIT
    inputs_text = """
        Args:
            predictions (`list` of `float`): the predicted ratings.
            references (`list` of `float`): the mean grades.
            clusters (`list` of `str` or `int`, *optional*): each row's original headline. Without it there is no
                interval.
            level (`float`, defaults to 0.95): the level of the intervals.

        Returns:
            rmse, rmse_at_10, rmse_at_20, rmse_at_30, rmse_at_40 (`float`), nan where k percent are no row; with
                clusters also NAME_stderr, NAME_low, NAME_high of each.
            n (`int`): the number of rows, and with clusters clusters (`int`): that of headlines.

        Examples:

            >>> from humor_tasks.evaluate_metrics import HumicroeditRmse
            >>> rmse = HumicroeditRmse()
            >>> found = rmse.compute(predictions=[1.0, 1.0, 1.0, 1.0], references=[0.0, 1.0, 1.0, 3.0])
            >>> round(found["rmse"], 3), round(found["rmse_at_30"], 3), found["n"]
            (1.118, 1.581, 4)
    """

    def estimates(
        self, predictions: list[float], references: list[float], clusters: Sequence[Hashable], level: float
    ) -> dict[str, Estimate | float]:
        """The RMSE over all rows and over both ends."""
        rmses: dict[str, Estimate | float] = {"rmse": rmse(predictions, references, clusters, level)}
        for percent in PERCENTS:
            rmses[f"rmse_at_{percent}"] = rmse_at(predictions, references, clusters, percent, level)
        return rmses
