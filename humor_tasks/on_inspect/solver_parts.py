"""The solvers that Inspect registers; `parts` has the scorers. Each imports its implementation when it is created."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def chain_of_task(
    task: str = "",
    scene: str = "",
    dataset: str = "",
    revision: str | None = None,
    input: str = "",
    frames: int = 0,
    sampling: str = "",
    prompts: str | None = None,
    seed: int | None = None,
    generates: bool = True,
) -> Solver:
    """Shows worked samples of MOCK's other two sub-tasks before the question, then lets the model answer.

    This solver works for any task. With MOCK's tasks, all arguments default to the task's parameters; others require
    `task`, `scene` and `dataset`. No sample shares its medium with the question, by `cluster` in the metadata and by
    the bytes of the media. The sample's metadata `chain_of_task` records the samples.

    Args:
        task: Sub-task of the question: `detecting`, `matching` or `explaining`.
        scene: `cartoon`, `post` or `comedy`.
        dataset: Folder whose train splits contain the samples, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        input: How samples are shown: `media`, `frames` or `description`; outside MOCK, the default is `media`.
        frames: With input=frames: the number of frames.
        sampling: With input=frames: `even` or `scene`.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        seed: Seed of the worked samples.
        generates: Let the model answer; `false` where a later solver does.
    """
    from humor_tasks.on_inspect.solvers.chain_of_task import chain_of_task_solver

    return chain_of_task_solver(task, scene, dataset, revision, input, frames, sampling, prompts, seed, generates)


@solver
def describe_first(
    instruction: str | None = None,
    prompts: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    cache: bool = True,
) -> Solver:
    """Replace each picture by a description from the model role `describer`, then let the model answer.

    Args:
        instruction: A system message before each question, for chat models.
        prompts: The folder of the task's `-T prompts=`, if it has one.
        temperature: Temperature of the describer, unless its configuration sets one.
        max_tokens: Maximum number of tokens of an answer, unless the describer's configuration sets one.
        seed: Seed of the describer, unless its configuration sets one.
        cache: Keep answers in Inspect's model cache, so that none is paid for twice.
    """
    from humor_tasks.on_inspect.solvers.describe_first import describe_first_solver

    return describe_first_solver(instruction, prompts, temperature, max_tokens, seed, cache)


@solver
def expected_answer(labels: Sequence[str] = ("0", "1", "2", "3")) -> Solver:
    """Generates, then answers with the expected value under the probabilities of the digits.

    The probabilities are those after the last "Rating:" of the reply, otherwise at its first token, if it is a digit.
    Other replies are unparsed. The sample's metadata has the reply (`said`) and `digit_probability`, their sum.

    Args:
        labels: The digits of the scale.
    """
    from humor_tasks.on_inspect.logprobs import expected_answer_solver

    return expected_answer_solver(labels)


@solver
def left_to_judges() -> Solver:
    """Does nothing, because the judges are called in the scorer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state

    return solve


@solver
def require_grader() -> Solver:
    """A setup step that fails before any model call where no grader is bound."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        from humor_tasks.on_inspect.judging.graders import graders

        graders()
        return state

    return solve
