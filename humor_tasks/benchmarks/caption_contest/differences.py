"""What the benchmarks of the caption contest do otherwise than the paper."""

from __future__ import annotations

DIFFERENCES = (
    "Prompts have the published structure in this project's own words; `prompts=FOLDER` takes the published wording.",
    "Every model reads chat turns. The paper's GPT-3 completed one text.",
    "lm-eval's `_gen` tasks are greedy, and so are T5 and its like in both harnesses; the flags beside the published "
    "sampling sample as the paper did.",
    "The published GPT-3, GPT-3.5 and GPT-4 are shut down. Their protocols run with any other model.",
    "`humor-tasks export finetune` trains chat models, with the loss on the answer alone. The paper's GPT-3 had that "
    "for choices, and for explanations the default loss, which counts the prompt too.",
)
"""Of every task."""
OF_LETTERS = (
    *DIFFERENCES,
    "lm-eval's tasks without `_gen` compare the log-likelihoods of letters. The published language models wrote "
    "letters, as in the `_gen` tasks and in Inspect.",
)
"""Of tasks that are answered with a letter."""
