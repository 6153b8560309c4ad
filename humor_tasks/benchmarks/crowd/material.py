"""Whose humour the crowd's ratings are, and what their paper says of annotation, people and content.

Zhang et al., NeurIPS 2024 Datasets and Benchmarks, arXiv 2406.10522.
"""

from __future__ import annotations

from humor_tasks.benchmarks.material import Material

MATERIAL = Material(
    card="newyorker_caption_ranking",
    humour="Entrants of The New Yorker's caption contest write the captions, about 6,000 a cartoon, and visitors of "
    "the contest's page rate them as unfunny, somewhat funny or funny. The rank of a caption is the taste of those who "
    "chose to vote, averaged.",
    coverage="All entries of 365 contests from number 530 on, with 284 million ratings; 91 contests are held out "
    "(Table 1). A bandit algorithm shows promising captions more often: a contest's ten best have 5,314 votes on "
    "average and its median captions 90, so low ranks are uncertain. Voters chose themselves, and their age, country "
    "and number are not published.",
    annotation="No guideline but the three answers; means and standard errors are published with each caption. For "
    "Table 2 Prolific workers at $12 an hour and one former cartoon editor of the magazine answered the judges' "
    "questions. Workers place the better group in .58 to .64 of the cases and the expert in .94, so the crowd of "
    "voters and single people differ much. Agreement between workers is not published.",
    privacy="Ratings are published as counts, without voters. Captions come without their writers' names; a caption "
    "can name public persons.",
    consent="Consent of entrants and voters is not described in what could be read of the paper. Cartoonists keep "
    "their rights.",
    sensitive="All entries are there, the worst too: none is filtered for content, and some are sexual, political or "
    "insulting.",
    outputs="Captions that a model writes may offend, and so may its reasons for a choice. No reply is filtered; "
    "`refused` counts replies that decline.",
)
