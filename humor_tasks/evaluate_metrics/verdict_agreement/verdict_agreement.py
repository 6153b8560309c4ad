"""Agreement of a judge's verdicts with people's."""

from collections.abc import Hashable, Sequence

from humor_tasks.evaluate_metrics import entries, typed
from humor_tasks.papers import papers
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.judge import judge_exam
from humor_tasks.scorers.proportion import clustered_proportion


class VerdictAgreement(typed.TypedMetric):
    """How well a judge's verdicts, PASS or FAIL, agree with people's verdicts on the same explanations.

    Accuracy, rates of false passes and false fails, precision, recall and F1 (PASS is the positive class), Cohen's
    kappa and Gwet's AC1, as in the benchmark `humorbench_autograder`. A judge that passes everything has a kappa of 0,
    while its accuracy is the share of PASS. Rows without a verdict are left out and counted as `unparsed`. Verdicts on
    one cartoon are not independent: the cartoon is the cluster.
    """

    prediction = entries.JUDGED
    reference = entries.HUMAN
    paper = papers.HUMORBENCH
    inputs_text = """
        Args:
            predictions (`list` of `bool`): the judge's verdicts; True or 1 is PASS, False or 0 is FAIL, None stands for
                no verdict.
            references (`list` of `bool`): people's verdicts.
            clusters (`list` of `str` or `int`, *optional*): each row's cartoon. Without it there is no interval.
            level (`float`, defaults to 0.95): the level of the intervals.

        Returns:
            accuracy, false_pass_rate, false_fail_rate, precision, recall, f1, cohen_kappa, gwet_ac1 (`float`), nan
                where undefined (0/0); with clusters also NAME_stderr, NAME_low, NAME_high of each.
            unparsed (`float`): the share of rows without a verdict.
            n (`int`): the number of the other rows, and with clusters clusters (`int`): that of their cartoons.

        Examples:

            >>> from humor_tasks.evaluate_metrics import VerdictAgreement
            >>> agreement = VerdictAgreement()
            >>> found = agreement.compute(predictions=[True, True, False, None], references=[True, False, False, True])
            >>> round(found["accuracy"], 3), found["false_pass_rate"], found["unparsed"], found["n"]
            (0.667, 0.5, 0.25, 3)
    """

    def estimates(
        self,
        predictions: list[bool | None],
        references: list[bool],
        clusters: Sequence[Hashable],
        level: float,
    ) -> dict[str, Estimate | float]:
        """All metrics of `judge_exam` over the rows with a verdict, and the share of the others."""
        read = [row for row in zip(references, predictions, clusters, strict=True) if row[1] is not None]
        labels, verdicts, of = ([row[i] for row in read] for i in range(3))
        unparsed = clustered_proportion([float(verdict is None) for verdict in predictions], clusters, level)
        return {**judge_exam(labels, verdicts, of, level), "unparsed": unparsed.value}
