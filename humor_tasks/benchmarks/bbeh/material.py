"""Whose humour BBEH's nycc is, and what is said of annotation, people and content.

Kazemi et al., ACL 2025, arXiv 2502.19187, and the file itself.
"""

from __future__ import annotations

from humor_tasks.benchmarks.material import Material

MATERIAL = Material(
    card="bbeh",
    humour="Readers of The New Yorker wrote the captions for its contest, and its voters made one of ten the funniest. "
    "The score is agreement with these voters.",
    coverage="200 questions, one a cartoon, in English. The file does not say which contests they are of, how the nine "
    "other captions were drawn, or how far apart the ratings are, so that a hard question and a coin toss look alike.",
    annotation="No one annotated anything anew: the answer is the crowd's rating, and descriptions are texts from one "
    "source that the file does not name.",
    privacy="Captions come without their writers' names; a caption can name public persons.",
    consent="Nothing is stated of writers and voters.",
    sensitive="Captions are jokes of many readers and may offend; nothing says that they were filtered.",
    outputs="A reply is a letter after a reasoning, which may repeat what is offensive in a caption.",
)
