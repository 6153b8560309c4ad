"""Whose humour the edited headlines are, and what their paper says of annotation, people and content.

Hossain et al., SemEval-2020 Task 7, section 2.
"""

from __future__ import annotations

from humor_tasks.benchmarks.material import Material

MATERIAL = Material(
    card="humicroedit",
    humour="Workers of Amazon Mechanical Turk changed one word of a headline to make it as funny as possible for a "
    "wide audience, and five others graded it from 0 to 3. The headlines are of 25 large English-language news "
    "sources, as posted on Reddit in r/worldnews and r/politics from January 2017 to May 2018. Edits of FunLines, for "
    "training only, are by players of a game (section 2).",
    coverage="15,095 edits of about 5,000 headlines, split by headline into 64, 16 and 20 % at random. It is one form "
    "of joke, a replaced word, about the news of two years; r/politics is about the United States. Most "
    "edits are not very funny: the mean grade of train is .94, and half have less than 1.",
    annotation="Editors and judges passed a qualification; they are separate people. The funniness is the mean of five "
    "grades. One judge's grade against another's has an error that every run reports as `one_judge`; pay and agreement "
    "are not in the task's paper.",
    privacy="Headlines name public persons, and some name private ones who were in the news. Judges are not "
    "identified: their grades are sorted.",
    consent="The task's paper says nothing of consent. Headlines belong to the news media, which were not asked as far "
    "as is known.",
    sensitive="Headlines report war, terror, crime and harassment, and an edit makes a joke of them; edits may insult "
    "persons and groups. Nothing was removed for it as far as the paper says.",
    outputs="A reply is a grade or a letter. Where a model gives reasons, it may repeat the insult.",
)
