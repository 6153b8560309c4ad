"""Whose humour the New Yorker Caption Contest is, and what its paper says of annotation, people and content.

Hessel et al., ACL 2023, arXiv 2209.06293: footnote 3, sections 2, 3 and 6, appendices A and C.
"""

from __future__ import annotations

from humor_tasks.benchmarks.material import Material

MATERIAL = Material(
    card="newyorker_caption_contest",
    humour="Readers of The New Yorker, a magazine of the United States, write the captions, and professional "
    "cartoonists draw the cartoons. Its editors choose three finalists; readers rate entries online (section 2). What "
    "counts as funny here is what these editors and readers prefer on average, and disagreement is expected and valid "
    "(section 6).",
    coverage="704 of the first 763 contests, in English. The paper calls them a narrow slice of humour, of one "
    "language, region, history, culture and style (section 6). Good captions are finalists and favourites of the "
    "crowd, so tastes that never win are missing, and preferences lean towards what won before. Nobody has counted who "
    "the writers and raters are.",
    annotation="Locations, descriptions and links of cartoons are by Mechanical Turk workers from Australia, Canada, "
    "New Zealand, the United Kingdom and the United States with 10,000 approved tasks and 97 % approval; 21 of 30 "
    "passed a test that was graded by hand, and pay was at least $15 an hour (section 2, appendix A). One author wrote "
    "most of the 651 explanations, and left out 53 cartoons whose joke the author did not understand (appendix C). "
    "Pairs of explanations were judged by three workers each, of 29 who passed a test of their own; Gwet's AC1 is .20 "
    "to .86 (Table 3).",
    privacy="Workers' ids are hashed in the release (appendix A). Captions come without their writers' names; a "
    "caption can name public persons.",
    consent="The authors say that their board does not review such annotation, and that it is exempt under 45 CFR 46 "
    "(appendix A). Of contest entrants and cartoonists the paper says nothing: they keep their rights, and nobody "
    "asked them about this use.",
    sensitive="Jokes can offend, and some cartoons and captions have adult themes; workers were warned. The authors "
    "removed a handful that target protected groups, by hand, and endorse none (footnote 3, appendix A).",
    outputs="A model that explains a joke repeats what is offensive in it, and a caption that it writes may offend. No "
    "reply is filtered; `refused` counts replies that decline.",
)
