"""`read_answer`: tables of replies as models write them, and the letter that each states."""

from __future__ import annotations

import re

import pytest
from standins.reply_styles import MISSED, TABLE

from humor_tasks import scorers

FIVE = "ABCDE"

# Replies to a five-way choice and the letter the strict parser reads; None is unparsed.
STATED = [
    # the protocol's literal, and what markup does to it
    *(("Answer: C", "C"), ("Answer:C", "C"), ("Answer : C", "C"), ("answer: c", "C"), ("ANSWER: C", "C")),
    *(("Answer: C.", "C"), ("Answer: C!", "C"), ("Answer: (c)", "C"), ("Answer: [C]", "C")),
    *(("Answer: {C}", "C"), ("Answer: <C>", "C"), ("Answer: 'C'", "C"), ('Answer: "C"', "C")),
    *(("Answer: “C”", "C"), ("Answer: `C`", "C"), ("Answer: $C$", "C"), (r"Answer: \(C\)", "C")),
    *(("Answer: **C**", "C"), ("Answer: ***C***", "C"), ("Answer: _C_", "C"), ("**Answer:** C", "C")),
    *(("**Answer**: C", "C"), ("**Answer: C**", "C"), ("**Answer:** **C**", "C"), ("_Answer:_ C", "C")),
    *(("__Answer:__ C", "C"), ("### Answer: C", "C"), ("- Answer: C", "C"), ("> Answer: C", "C")),
    *(("1. Answer: C", "C"), ("(Answer: C)", "C"), ("<b>Answer:</b> C", "C")),
    *(("<strong>Answer: C</strong>", "C"), ("Answer: <b>C</b>", "C"), ("Answer: C<|im_end|>", "C")),
    *(("Answer: C</s>", "C"), ("Answer: C<br>", "C"), ("Answer：C", "C"), ("Answer： Ｃ", "C")),
    *(("Answer:\u00a0C", "C"), ("Answer: \u200bC", "C"), ("Answer = C", "C"), ("answer - C", "C")),
    *(("answer – C", "C"), ("Answer — C", "C"), ("Answer -> C", "C"), ("Answer: C 🎉", "C")),
    # the letter on a later line, or under a heading
    *(("Answer:\nC", "C"), ("Answer:\r\nC", "C"), ("Answer:\n\n**C**", "C"), ("Answer:\n- C", "C")),
    *(("## Answer\n\nC", "C"), ("**Final Answer**\nC) the bears", "C")),
    ("Let us see.\n\n# Final answer\n\n$\\boxed{C}$", "C"),
    # the caption or a reason behind the letter
    *(("Answer: C) the caption text", "C"), ("Answer: C)the caption text", "C")),
    *(("Answer: C) if it's not the bears", "C"), ("Answer: (C) the caption text", "C")),
    *(('Answer: (C) "I\'ll have the salmon."', "C"), ("Answer: C. The bears are early.", "C")),
    *(("Answer: C: A bear walks in", "C"), ("Answer: C, A bear walks in", "C")),
    *(("Answer: C - A bear walks in", "C"), ("Answer: C – a bear walks in", "C")),
    *(('Answer: C "A bear walks in"', "C"), ("Answer: C (the bear)", "C"), ("Answer: C…", "C")),
    *(("Answer: **C** with its pun on salmon", "C"), ("Answer: **C) the caption**", "C")),
    *(("Answer: A, because the others are flat", "A"), ("Answer: A because the others are flat", "A")),
    *(("Answer: A since B is flat", "A"), ("Answer: A. B is close.", "A"), ("Answer: A, not B", "A")),
    *(("Answer: A rather than B", "A"), ("Answer: A) Or we go to Plan B", "A")),
    *(("Answer: B. 'D-Train was my nickname.'", "B"), ('Answer: B) "D" as in "Deja vu".', "B")),
    *(('Answer: C: "D"etails matter.', "C"), ("Answer: A, but A and B are close", "A"), ("Answer: a", "A")),
    *(("Answer: a.", "A"), ("Answer: Option C", "C"), ("Answer: C (Option C)", "C")),
    *(("Answer: C. Option C is best.", "C"), ("Answer: C, C it is", "C"), ("Answer: option (c)", "C")),
    *(("Answer: Caption C", "C"), ("Answer: choice **C**", "C"), ("Answer: Group C", "C")),
    *(("Answer: headline **C**", "C"), ("Answer: The funnier group is group C", "C"), ("Answer: Group", None)),
    # a reply of one sentence without the marker
    *(("The funnier group is group C.", "C"), ("The caption that belongs to the lighthouse is C.", "C")),
    *(("The winning caption is **C**", "C"), ("The funnier group is a joke.", None)),
    *(
        ("The winner of the contest is C.", "C"),
        ("The answer to the contest is: C.", "C"),
        ("The winner is a cat.", None),
    ),
    *(("The caption that belongs to the lighthouse is a joke.", None), ("The funnier group is not C.", None)),
    *(("The caption that I like is not C.", None), ("The funnier group is C or D.", None)),
    *(("The caption that is C is D.", None), ("The funnier group is C? No.", None)),
    # words that comment on the letter, or that cannot follow an article
    *(("Answer: C is the best fit", "C"), ("**Answer: C** seems the best", "C")),
    *(("**Answer:** C is correct.", "C"), ("Answer: (C) is the funniest", "C")),
    *(("Answer: C fits the scene because A is dull", "C"), ("Answer: C is better than A", "C")),
    *(("Answer: C would be my choice", "C"), ("Answer: C is the most plausible", "C")),
    *(("Answer: C it plays on salmon", "C"), ("Answer: C and here is why", "C")),
    *(("Answer: C with its pun on salmon", "C"), ("Answer: C though A is close", "C")),
    *(("Answer: B The caption about bears", "B"), ("The answer is C because A is weaker", "C")),
    *(("<answer>C is the best</answer>", "C"), ("Answer: C is the best, not A", "C")),
    *(("Answer: C) Wait, I meant salmon.", "C"), ("Answer: C. Actually, the bear is early.", "C")),
    # words between the marker and the letter
    *(("Answer: It's C", "C"), ("Answer: I choose C.", "C"), ("Answer: I think it's option C", "C")),
    *(("Answer: The best caption is C", "C"), ("Answer: Definitely C", "C")),
    *(("The answer is most likely C.", "C"), ("The answer should be **C**.", "C")),
    *(("So the answer's C.", "C"), ("<final_answer>C</final_answer>", "C")),
    # sentences
    *(("The answer is C", "C"), ("The answer is C.", "C"), ("The answer is: C", "C")),
    *(("The answer is:\n\nC", "C"), ("the answer is c", "C"), ("The answer is (C).", "C")),
    *(("The answer is **C**.", "C"), ("The **answer** is C.", "C"), ("The answer **is C**.", "C")),
    *(("The correct answer is (C)", "C"), ("The best answer is option C.", "C")),
    *(("The most likely answer is C.", "C"), ("My final answer is C", "C"), ("So, my answer is C.", "C")),
    ("Therefore the answer is C, since bears fish.", "C"),
    *(("I think the answer is C.", "C"), ("If I had to choose, the answer is C.", "C")),
    *(("It is not obvious, but the answer is C.", "C"), ("Final Answer: B", "B"), ("FINAL ANSWER: B", "B")),
    *(("**Final Answer:** B", "B"), ("Correct answer: B", "B"), ("Here is my answer: B", "B")),
    *(("I go with the bear Answer: B", "B"), ("My choice is Answer: B", "B")),
    # other containers
    *((r"\boxed{C}", "C"), (r"$\boxed{\text{C}}$", "C"), (r"Answer: $\boxed{C}$", "C")),
    *((r"\boxed{Answer: C}", "C"), (r"\boxed{C. The bears}", "C"), ('{"answer": "C"}', "C")),
    ('```json\n{"reason": "a bear", "answer": "C"}\n```', "C"),
    *(("<answer>C</answer>", "C"), ("<answer>\n(C) bears\n</answer>", "C")),
    # reasoning before, explanation behind
    ("A is flat. B is long. C has the pun.\n\nAnswer: C", "C"),
    ("Answer: C\n\nExplanation: A bear would say so.", "C"),
    *(("Answer: C\nA) is flat\nB) is long", "C"), ("No, not A. Answer: C", "C")),
    *(("The answer is not A. The answer is C.", "C"), ("The answer is clear.\nAnswer: C", "C")),
    *(('You asked for "Answer: X".\n\nAnswer: C', "C"), ("Answer: F? No.\nAnswer: C", "C")),
]

UNPARSED = [
    *("Answer: Actually, I am torn.", "Answer: Actually, B", "A careful reading suggests: B"),
    *("Answer: A careful reading suggests: B", "Answer: a joke about bears"),
    *("Answer: A caption about bears fits best", "The answer is a pun.", "The answer is A joke"),
    *("Answer: Bears", "Answer: Both", "Answer: caption about bears", "Answer: E.g., the bear"),
    *("Answer: A.I. wrote this", "Answer: B-movie humour", "Answer: D'oh!", "Answer: A's caption"),
    *("Answer: **C**aption three", "Answer: C4", "Answer: ABC", "Answer: C\u0327", "I think A"),
    *("Option C is the funniest.", "C is the funniest", "Is the answer C?", "The answer is C?", "Answer: C?"),
    *("Answer: C is tempting", "Answer: C is not funny", "Answer: C is good, but A is better"),
    *("Answer: C is funny and A is funnier", "Answer: C could be right", "Answer: C is weaker than A"),
    *("Answer: C makes no sense", "Answer: **C** if the bear is a waiter"),
    *("Answer: C would fit if the bear were a waiter", "Answer: C is it?"),
    *("The answer would be C if the bear were a waiter.", "Answer: A cartoon with a dog"),
    *("Answer: A great caption", "Answer: I cannot decide", "Answer: I think it's a", "It's a"),
    *("Answer: It's a joke about C", "Answer: C definitely", "Answer: (C) is tempting"),
    # no letter, or more than one
    *("Answer:", "Answer: ", "Answer: X", "Answer: F", "Answer: (F)", "Answer: 3", "Answer: A or B"),
    *("Answer: A/B", "Answer: A / B", "Answer: A & B", "Answer: A+B", "Answer: A and B", "Answer: A, B"),
    *("Answer: A, B and C", "Answer: A, B, or C", "Answer: A; B", "Answer: A B", "Answer: A-B"),
    *("Answer: (A) or (B)", "Answer: (A)(B)", "Answer: **A** or **B**", "Answer: **A** and **B**"),
    *("Answer: **A** and **B** are both good", "Answer: A or even better B", "Answer: A (or B)"),
    *("Answer: A, or maybe B", "Answer: A, maybe B", "Answer: A. Or is it B?"),
    *("Answer: option A or option B", "Answer: Either A or B", "Answer: not A", "Answer: A, no wait, B"),
    *("Answer: A, but actually B", "Answer: A. No, B.", "Answer: A\nNo, B.", "Answer: A\n\nCorrection: B"),
    *("Answer: A\n\nSorry, I meant B.", "Answer: ~~A~~", "Answer: A. Actually, B.", "Answer: A, I mean B"),
    *("Answer: A - scratch that - B", "Answer: A) 'bears' or B) 'fish'", r"\boxed{A \text{ or } B}"),
    *("Answer: none", "Answer: neither A nor B", "Answer: both A and B", r"\boxed{A or B}", r"\boxed{12}"),
    *("either Answer: A or Answer: B", "Answer: A (literally) or Answer: B (ironically)"),
    # someone else's answer
    *("The answer is not C", "The wrong answer is C.", "I refuse to say or answer: B is it."),
    *("The wrong answer: C", "A tempting answer is B.", "One possible answer: B"),
    *("The second best answer is B.", "A non-answer: B", "An answer is B."),
    *("If the answer is B, the bear is a waiter.", "I'm not sure whether the answer is A."),
    *("I don't think the answer is B.", "I doubt the answer is B.", "Choose one answer: A) bears B) fish"),
    "These are the options for the answer:\nA) bears\nB) fish",
    *("Answer:\nA) bears\nB) fish", "That is my answer\nabout C", "That is a bear's answer\nC"),
    *("Answer choices: A", "the answers: A", "Answer 1: C"),
    # several statements that differ, the last one not at the end
    "Answer: A\nAnswer: B\nBoth are fine, I suppose.",
    "Answer: A or B\nAnswer: B\n\nB has the better rhythm.",
    "Answer: B\n\nAnswer: none of them",
    "The answer is A. Then again, the answer is B.\nI will sleep on it.",
]

LONE = [
    *(("C", "C"), ("c", "C"), (" C \n", "C"), ("(C)", "C"), ("[C]", "C"), ("C)", "C"), ("C.", "C")),
    *(("C!", "C"), ("C:", "C"), ("**C**", "C"), ("**C.**", "C"), ('"C"', "C"), ("`C`", "C")),
    *(("```\nC\n```", "C"), ("<C>", "C"), ("Ｃ", "C"), ("C<|eot_id|>", "C"), ("Option C", "C")),
    *(("I choose C.", "C"), ("The best caption is C.", "C"), ("Caption C.", "C"), ("C) the caption", "C")),
    *(("C)the caption", "C"), ("(C) the caption", "C"), ("**C)** the caption", "C")),
    *(("C. The bears are early.", "C"), ("C: A bear walks in.", "C"), ("A: a bear walks in.", "A")),
    *(("B. He said: Plan B.", "B"), ("A careful reading suggests: B", None), ("A bear walks in.", None)),
    *(("a bear", None), ("**A** careful reading", None), ("C, because of the pun", None)),
    *(("C - the caption", None), ("C) the caption\nis by far the best", None), ("C?", None), ("F", None)),
    *(("I", None), ("1", None), ("CC", None), ("A or B", None), ("A/B", None), ("A) or B)", None)),
    *(("A, B", None), ("A. B. C.", None), ("A) is funny, B) is dull, I like B", None)),
    *(("A: flat. B: better.", None), ("A. Flat. B. Better.", None), ("(A) is not funny at all", None)),
    *(("E.g. the bear", None), ("A.I. is funny", None), ("D'oh", None), ("D. H. Lawrence", None)),
    ("-", None),
]

COMMITTED = [  # several statements: the letter, or None
    ("Answer: C\nAnswer: C", "C"),
    ("**Answer: C**\n\nThe pun is on salmon.\n\nSo the answer is C.\n\nThanks!", "C"),
    ("Answer: A\n\nWait.\n\nAnswer: B", "B"),
    ("Answer: A\n\nWait.\n\nAnswer: B\n\n---\n**\n", "B"),
    ("Answer: A\n\nWait.\n\nAnswer: B) the caption text", "B"),
    ("Answer: A\n\nWait.\n\n<answer>B</answer>\n</response>", "B"),
    ("First I thought: the answer is A. But the answer is B.", "B"),
    ("Answer: A or B\n...\nAnswer: B", "B"),
    ('You are right, the answer is "D" and the correct answer is indeed "C" and the answer is "B".', None),
    ("The answer is A, but on reflection the answer is B", "B"),
    ("Answer: A\n\nWait.\n\nAnswer: B\n\nHope that helps!", None),
    ("Answer: B\n\nAnswer: A or B", None),
    ("Answer: F\nAnswer: C\nThat is all.", None),
]


def test_strict() -> None:
    letters = dict(STATED + LONE + COMMITTED) | dict.fromkeys(UNPARSED)
    expected = {reply: scorers.Reading(said, "answered" if said else "unparsed") for reply, said in letters.items()}
    assert {reply: scorers.read_answer(reply, FIVE) for reply in expected} == expected


ALONE = re.compile(r"(?<![^\W_])([A-Ea-e])(?![^\W_])")


@pytest.mark.parametrize("other", "ABDE")
def test_every_letter_is_treated_alike(other: str) -> None:
    def rename(found: re.Match[str]) -> str:
        return other if found[1].isupper() else other.lower()

    table = [*STATED, *LONE, *COMMITTED, *((reply, None) for reply in UNPARSED)]
    only_c = [row for row in table if {found.upper() for found in ALONE.findall(row[0])} == {"C"}]
    read = {reply: scorers.read_answer(ALONE.sub(rename, reply), FIVE).letter for reply, _ in only_c}
    assert read == {reply: other if letter else None for reply, letter in only_c}
    assert len(only_c) > 100


def test_replies_are_read_as_a_person_reads_them_or_not_at_all() -> None:
    """The figures of CHANGELOG.md: right, missed and wrong letters. A wrong letter is never accepted."""
    expected = {reply: None if reply in MISSED else letter for reply, letter in TABLE}
    assert {reply: scorers.read_answer(reply, FIVE).letter for reply in expected} == expected
    assert sum(letter == expected[reply] for reply, letter in TABLE) == len(TABLE) - len(MISSED) == 217


def test_ten_choices_have_the_letter_i_which_is_also_a_pronoun() -> None:
    for reply in ("Answer: I cannot decide", "Answer: I was torn", "Answer: I would say none", "Answer: I think so"):
        assert scorers.read_answer(reply, "ABCDEFGHIJ") == scorers.Reading(None, "unparsed")
    assert scorers.read_answer("Answer: I", "ABCDEFGHIJ").letter == "I"
