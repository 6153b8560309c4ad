"""Whose humour MOCK's three scenes are, and what the manuscript says of annotation, people and content.

MOCK, sections 3, 4.1.2 and 7, appendix D.
"""

from __future__ import annotations

from humor_tasks.benchmarks.material import Material

MATERIAL = Material(
    card="mock",
    humour="Cartoons are of The New Yorker, Cartoon Movement and CartoonStock. Posts are of Twitter, Instagram and "
    "Tumblr, from MORE and Cai et al. Comedy is dialogue of sitcoms: MUStARD's are American (such as Friends), WITS' "
    "is Sarabhai v/s Sarabhai, in Hindi mixed with English (section 3.2). Professional writers, social-media users and "
    "readers of a magazine mean different things by a joke, and the score of a scene is about its writers.",
    coverage="Three scenes of the many in which people joke, as the paper says itself (section 7): cartoons 11,303, "
    "posts 28,145, dialogues 7,757. A folder that you build has the public sources only, so that most cartoons that "
    "are not humorous, 3,000 posts and most neutral dialogues are missing. Posts of Cai et al. were collected by "
    "hashtags such as that of sarcasm, which leaves out sarcasm that nobody marks.",
    annotation="Labels and explanations are those of the sources. GPT-4o wrote 1,410 descriptions of posts, 800 of "
    "cartoons are by people, and a fine-tuned LLaVA wrote the rest (section 3.3). Of three wrong options models wrote "
    "two; people wrote one in 15 % of cartoons and posts (section 3.4). Agreement between annotators is not published. "
    "Two people, one of them an author, made the human level (section 4.1.2).",
    privacy="Pictures of posts may hold personal information (appendix D): faces, names and user names. Do not publish "
    "a built folder.",
    consent="Nothing is stated of users, actors and cartoonists. Posts were public when they were collected; some may "
    "be deleted since.",
    sensitive="The authors say that they left out offensive items (appendix D); of a built folder nothing is left out "
    "for content. Sarcasm in posts attacks persons, groups and parties.",
    outputs="Explanations repeat what an item says, and stories for a picture may offend those who are shown. No reply "
    "is filtered; `refused` counts replies that decline.",
)
