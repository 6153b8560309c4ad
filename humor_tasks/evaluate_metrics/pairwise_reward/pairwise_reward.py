"""Reward and accuracy of predictions which of two texts is funnier."""

from collections.abc import Hashable, Sequence

from humor_tasks.evaluate_metrics import entries, typed
from humor_tasks.papers import papers
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.pairwise import pair_accuracy, pair_labels, pair_reward


class PairwiseReward(typed.TypedMetric):
    """The reward and the accuracy of predictions which of two texts is funnier (SemEval-2020 Task 7, subtask 2).

    A right prediction earns the difference of the two mean grades, a wrong one loses it. Pairs of equal mean grades do
    not count. A predicted tie and a row without an answer are wrong. Pairs of one headline are not independent: the
    headline is the cluster.
    """

    prediction = entries.FUNNIER
    reference = entries.MEANS
    paper = papers.HUMICROEDIT
    inputs_text = """
        Args:
            predictions (`list` of `int`): 1 or 2, the text predicted funnier; 0 for a tie, None without an answer.
            references (`list` of pairs of `float`): the mean grades of the two texts.
            clusters (`list` of `str` or `int`, *optional*): each row's original headline. Without it there is no
                interval.
            level (`float`, defaults to 0.95): the level of the intervals.

        Returns:
            reward, pair_accuracy (`float`), and with clusters NAME_stderr, NAME_low, NAME_high of both.
            ties (`int`): the number of pairs with equal grades.
            n (`int`): the number of other pairs, and with clusters clusters (`int`): that of their headlines.

        Examples:

            >>> from humor_tasks.evaluate_metrics import PairwiseReward
            >>> reward = PairwiseReward()
            >>> reward.compute(predictions=[1, 2, 1], references=[[2.0, 1.0], [1.5, 1.0], [1.0, 1.0]])
            {'reward': 0.25, 'pair_accuracy': 0.5, 'ties': 1, 'n': 2}
    """

    def estimates(
        self,
        predictions: list[int | None],
        references: list[list[float]],
        clusters: Sequence[Hashable],
        level: float,
    ) -> dict[str, Estimate | float]:
        """Reward and accuracy over the pairs that are no tie, and the number of ties."""
        means = [(first, second) for first, second in references]
        labels = pair_labels(means)
        return {
            "reward": pair_reward(means, predictions, clusters, level),
            "pair_accuracy": pair_accuracy(labels, predictions, clusters, level),
            "ties": labels.count(0),
        }
