"""Whose humour HumorBench is, and what its paper says of annotation, people and content.

Narad et al. 2025, arXiv 2507.21476: sections 3 and 4, Limitations.
"""

from __future__ import annotations

from humor_tasks.benchmarks.material import Material

MATERIAL = Material(
    card="humorbench",
    humour="Captions of The New Yorker's contest, by its readers, and of CartoonStock, by professionals. What the "
    "elements of a joke are was decided by the authors' annotators, whom the paper calls experts in humour (section "
    "4.2); one author was the magazine's cartoon editor.",
    coverage="309 captions under 156 cartoons, chosen by the authors; how they were sampled is not stated. The paper "
    "says that the style may not carry over to other cultures, and that descriptions stand for the pictures "
    "(Limitations).",
    annotation="Experts wrote 499 elements, each what an explanation must name. People labelled 400 explanations of "
    "four models as PASS or FAIL, one label each, and GPT-4o as grader agrees with 87 % (section 3.3). How far two "
    "annotators agree is not published. The subsets by category are labels of models.",
    privacy="Captions come without their writers' names; a caption can name public persons. Annotators are not "
    "identified.",
    consent="The paper says nothing of consent. Cartoons and captions belong to their creators.",
    sensitive="The authors mark 78 of the 499 elements as toxic or shocking (`subset=toxic_or_shocking`); a model set "
    "the marks.",
    outputs="An explanation repeats what is offensive in the joke. No reply is filtered; `refused` counts replies that "
    "decline.",
)
