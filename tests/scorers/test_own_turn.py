"""`own_turn`: the markers of thinking and of turns that models write, alike for every reader of replies."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.errors import BadInput
from humor_tasks.scorers.given_markers import read_markers, with_known_markers
from humor_tasks.scorers.markers import THINKING, opening_at_end
from humor_tasks.scorers.own_turn import own_turn, unwrapped

# ---- thinking -----------------------------------------------------------------------------------

ANYWHERE = [
    *(("<think>", "</think>"), ("<think >", "</ think>"), ("<THINKING>", "</Thinking>"), ('<think a="b">', "</think>")),
    *(("<seed:think>", "</seed:think>"), ("<mm:think>", "</mm:think>"), ("<longcat_think>", "</longcat_think>")),
    *(("<think_faster>", "</think_faster>"), ("<ifm|think>", "</ifm|think>"), ("[THINK]", "[/THINK]")),
    *(("◁think▷", "◁/think▷"), ("<|channel>thought\n", "<channel|>"), ("<|inner_prefix|>", "<|inner_suffix|>")),
    *(("<|START_THINKING|>", "<|END_THINKING|>"), ("<|begin_of_thought|>", "<|end_of_thought|>")),
    *(("<think:opensource>", "</think:opensource>"), ("<unused94>thought\n", "<unused95>")),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    *(("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"), ("<|startofthought|>", "<|endofthought|>")),
    *(("<|thinking|>", "<|/thinking|>"), ("<|thought|>", "<|endthought|>"), ("[unused16]", "[unused17]")),
    *(("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"), ("<|im_start|>think\n", "<|im_start|>answer\n")),
]
AT_A_LINE = [("<thought>", "</thought>"), ("<Thoughts>", "</thoughts>"), ("<reasoning>", "</reasoning>")]
AT_A_LINE += [("<reflection>", "</reflection>")]
AT_THE_START = [
    ("/think\n", "<|im_end|>\n<|im_start|>assistant\n"),
    ("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]\n"),
    ("think\n", "\nanswer\n"),
    ("thought\n", "<channel|>"),
    ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    ("<|content_thinking|>", "<|end_message|><|message_model|><|content_text|>"),
]
THOUGHT = "Maybe Answer: A.\nUser: Are they <b>sure</b>? [think] "


@pytest.mark.parametrize("opening", [o for o, _ in [*ANYWHERE, *AT_A_LINE] if "unused94" not in o])
def test_a_prompt_that_begins_thinking(opening: str) -> None:
    begun = opening_at_end(f"<|user|>Which one?\n<|assistant|>\n{opening}\n")
    assert begun.strip() == opening.strip()
    assert own_turn(f"{begun}Answer: A").text is None


@pytest.mark.parametrize(
    "prompt", ["", "<|assistant|>", "<think>\n\n</think>\n\n", "<think> is a tag", "so I think\n", "a <thinker>"]
)
def test_a_prompt_that_begins_no_thinking(prompt: str) -> None:
    assert opening_at_end(prompt) == ""


@pytest.mark.parametrize(("first", "second"), ANYWHERE + AT_A_LINE + AT_THE_START)
def test_thinking_is_left_out_and_unclosed_thinking_never_read(first: str, second: str) -> None:
    assert (own_turn(f"{first}{THOUGHT}{second}Answer: C").text or "").strip() == "Answer: C"
    assert own_turn(f"{first}{THOUGHT}Answer: B. But wait").text is None
    assert own_turn(first).text is None


@pytest.mark.parametrize(("first", "second"), ANYWHERE + AT_A_LINE)
def test_repeated_and_nested_thinking_and_thinking_that_began_in_the_prompt(first: str, second: str) -> None:
    assert own_turn(f"{first}a{second}b{first}c{second}d").text == "\nb\nd"
    assert own_turn(f"{first}a{second}b\n{first}Answer: B").text is None
    assert own_turn(f"{first}a{first}b{second}c").text == "\nc"
    began = own_turn(f"{THOUGHT}{second}Answer: C")
    assert (began.text, began.begun, began.turn) == ("Answer: C", THOUGHT, "")


@pytest.mark.parametrize(("first", "second"), ANYWHERE)
def test_another_marker_does_not_end_thinking(first: str, second: str) -> None:
    other = "</thought>" if second != "</thought>" else "</think>"
    assert own_turn(f"{first}a{other}Answer: B").text is None
    assert own_turn(f"x{first}a{second}y").text == "x\ny"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", ""),
        ("a<think>b</think>c<think>d</think>", "a\nc\n"),
        ("a<think>b</think>c</think>d", "d"),
        # channels of gpt-oss, decoded without special tokens
        ("analysisThe user asks. B?assistantfinalAnswer: C", "Answer: C"),
        ("\nanalysis\nWe need a letter.\nassistantfinal\nC", "\nC"),
        ("analysisWe need it.assistantcommentaryNow.assistantanalysisYes.assistantfinalC", "C"),
        ('analysisWe need JSON.assistantfinal json{"answer": "C"}', '{"answer": "C"}'),
        ('analysisWe need JSON.assistantfinaljson\n["C"]', '\n["C"]'),
        ("analysisWe need it.assistantfinaljson is a format", "json is a format"),
        ("analysisWe need it.assistantfinalIt says </think>.", "It says </think>."),
        ("analysisWe need it.assistantfinal", ""),
        # cut off before the final message, or with two
        ("analysisThe user asks. Perhaps Answer: B", None),
        ('analysis"Answer: B" is what I', None),
        ("analysis用户要一个字母。 Answer: B", None),
        ("analysisWe need it.assistantcommentaryAnswer: B", None),
        ("analysisWe need it.assistantfin", None),
        ("analysisIt says assistantfinalAnswer: A.assistantfinalAnswer: C", None),
        # channels with their special tokens
        ("<|channel|>analysis<|message|>B?<|end|><|start|>assistant<|channel|>final<|message|>C<|return|>", "C"),
        ("<|start|>assistant<|channel|>final<|message|>C", "C"),
        ("<|channel|>analysis<|message|>B?<|channel|>final <|constrain|>json<|message|>[1]<|end|>", "[1]"),
        ("analysis<|message|>B?<|end|><|start|>assistant<|channel|>final<|message|>C", "C"),
        ("<|channel|>analysis<|message|>Perhaps\nAnswer: B", None),
        ("analysis<|message|>Perhaps\nAnswer: B", None),
        ("<|channel|>final<|message|>A<|channel|>final<|message|>B", None),
        ("It says <|channel|>. Answer: B", "It says <|channel|>. Answer: B"),
        # words
        ("analysis of the joke: a pun. Answer: B", "analysis of the joke: a pun. Answer: B"),
        ("analysis\n\nAnswer: B", "analysis\n\nAnswer: B"),
        ("AnalysisThe pun. Answer: B", "AnalysisThe pun. Answer: B"),
        ("My analysisThe pun. Answer: B", "My analysisThe pun. Answer: B"),
        ("It says assistantfinalAnswer: A. Answer: B", "It says assistantfinalAnswer: A. Answer: B"),
        ("commentary is free. Answer: B", "commentary is free. Answer: B"),
    ],
)
def test_thinking_is_left_out(reply: str, said: str | None) -> None:
    assert scorers.own_turn(reply).text == said


@given(st.lists(st.sampled_from(["<think>", "</think>", "said", "x"])).map("".join))
def test_no_tag_survives(reply: str) -> None:
    said = scorers.own_turn(reply).text
    assert said is None or "think>" not in said


@pytest.mark.parametrize("hidden", ["\ufeff", "\u200b\n", "\u2060"])
@pytest.mark.parametrize(("first", "second"), [("<reasoning>", "</reasoning>"), ("thought\n", "<channel|>")])
def test_characters_of_zero_width_are_not_said(hidden: str, first: str, second: str) -> None:
    assert own_turn(f"{hidden}{first}Maybe B").text is None
    assert LETTER(f"{hidden}{first}Answer: A{second}Answer: C") == "C"
    assert own_turn(f"{hidden}A pun.").text == f"{hidden}A pun."


def test_granites_words_are_markers_as_a_pair_only() -> None:
    begin, end = "Here is my thought process: A?", "Here's my response: Answer: B"
    assert own_turn(f"{begin}\n{end}").text == "\n Answer: B"
    assert own_turn(f"{begin}\nAnswer: B").text == f"{begin}\nAnswer: B"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "I think it is a pun.",
            "He has to [think] first.",
            "[think]\nA bear.",
            "Think!",
            "A [THINKING] cap",
            "<thinker>",
        ),
        *("&lt;think&gt; is a tag", "<think/>", "A bubble says <thought>I am late.</thought> It is ten.", "[/think]"),
        *("A sign: <thought>Late again", "The <reasoning> here is sound.", "It is food for thought\nand more."),
        *("It is my answer\nanswer", "She thought\nit over.", "<s>Old</s> is <s>new</s>.".replace("<s>O", "An <s>o")),
        *(
            "The model\nof a bridge",
            "A user\nfriendly desk",
            "The end user",
            "the assistant\n\nlaughs",
        ),
        *("Human: I am sad.\nRobot: Buy a hat.\nHuman: Why?", "Robot: Hello.\nHuman: Prove it.\nRobot: I nap."),
        *('He asks:\nUser: "Are you there?"\nAssistant: "No."\nThat is the joke.', "> User: hi\n> Assistant: yo"),
        *('The bubbles read "User: hi" and "Assistant: no".', "1. User: a pun\n2. Human: a bear", "- User: one"),
        *(
            "```\nUser: hi\nAssistant: yo\n```\nThat is it.",
            "Q: Why a bear?\nA: Because.",
            "Question: which?\nAnswer: B",
        ),
        *("Let me restate.\n\nQuestion: which one?\n\nAnswer: B", "### Analysis\nA pun.\n### Response:\nAnswer: B"),
        *(
            "<explanation>It goes\nUser: hi\nAssistant: yo\n</explanation>",
            "a <| b |> c",
            "[INSTANT] coffee",
            "x</stuff>y",
        ),
    ],
)
def test_words_are_text(text: str) -> None:
    own = own_turn(text)
    assert (own.text, own.turn) == (text, "")


# ---- turns --------------------------------------------------------------------------------------

ASKED = "Next cartoon. Which caption fits?\nA) one\nB) two\nC) three"
RUNAWAYS = {
    "ChatML": "{a}<|im_end|>\n<|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n{c}",
    "ChatML, no user": "{a}<|im_end|>\n<|im_start|>assistant\n{c}",
    "ChatML, cut off thinking": "{a}<|im_end|>\n<|im_start|>user\n{q}<|im_end|>\n<|im_start|>assistant\n<think>hm {c}",
    "skipped": "{a}\nuser\n{q}\nassistant\n{c}",
    "skipped, thinking": "{a}\nuser\n{q}\nassistant\n<think>x</think>{c}",
    "skipped, cut off thinking": "{a}\nuser\n{q}\nassistant\n[THINK]x {c}",
    "skipped, thinking began in the prompt": "{a}\nuser\n{q}\nassistant\nx</think>{c}",
    "system": "{a}\nsystem\n{q}\nassistant\n{c}",
    "User": "{a}\nUser: {q}\nAssistant: {c}",
    "Human": "{a}\n\nHuman: {q}\n\nAssistant: {c}",
    "Vicuna": "{a}\nUSER: {q}\nASSISTANT: {c}",
    "Alpaca": "{a}\n\n### Instruction:\n{q}\n\n### Response:\n{c}",
    "SOLAR": "{a}\n### User:\n{q}\n### Assistant:\n{c}",
    "Gemma": "{a}<end_of_turn>\n<start_of_turn>user\n{q}<end_of_turn>\n<start_of_turn>model\n{c}",
    "Gemma skipped": "{a}\nuser\n{q}\nmodel\n{c}",
    "Gemma 4": "{a}<turn|>\n<|turn>user\n{q}<turn|>\n<|turn>model\n{c}",
    "Llama 2": "{a} </s><s>[INST] {q} [/INST] {c}",
    "Llama 3": "{a}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{q}<|eot_id|><|start_header_id|>assistant"
    "<|end_header_id|>\n\n{c}",
    "Llama 3 skipped": "{a}assistant\n\n{c}",
    "Llama 4": "{a}<|eot|><|header_start|>user<|header_end|>\n\n{q}<|eot|>{c}",
    "Phi-3": "{a}<|end|>\n<|user|>\n{q}<|end|>\n<|assistant|>\n{c}",
    "GLM": "{a}<|user|>\n{q}<|assistant|>\n{c}",
    "Granite": "{a}<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>{q}<|end_of_text|>\n{c}",
    "Granite skipped": "{a}\nuser{q}\nassistant{c}",
    "end of text": "{a}<|endoftext|>Human: {q}\n\nAssistant: {c}",
    "DeepSeek": "{a}<｜end▁of▁sentence｜><｜User｜>{q}<｜Assistant｜></think>{c}",
    "EXAONE": "{a}[|endofturn|]\n[|user|]{q}\n[|assistant|]{c}",
    "Hunyuan 3": "{a}<｜hy_eos:opensource｜><｜hy_User:opensource｜>{q}<｜hy_Assistant:opensource｜>{c}",
    "Kimi K3": '{a}<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|><|open|>message role="user"<|sep|>{q}'
    '<|close|>message<|sep|><|end_of_msg|><|open|>message role="assistant"<|sep|><|open|>response<|sep|>{c}',
    "Inkling": "{a}<|end_message|><|message_user|><|content_text|>{q}<|end_message|><|message_model|>{c}",
    "Command R": "{a}<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|USER_TOKEN|>{q}<|CHATBOT_TOKEN|>{c}",
    "Kimi K2": "{a}<|im_end|><|im_user|>user<|im_middle|>{q}<|im_end|><|im_assistant|>assistant<|im_middle|>{c}",
    "MiniMax": "{a}[e~[\n]~b]user\n{q}[e~[\n]~b]ai\n{c}",
    "OpenChat": "{a}<|end_of_turn|>GPT4 Correct User: {q}<|end_of_turn|>GPT4 Correct Assistant: {c}",
    "Nemotron skipped": "{a}\nUser\n{q}\nAssistant\n{c}",
    "gpt-oss": "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>{a}<|return|>"
    "<|start|>user<|message|>{q}<|end|><|start|>assistant<|channel|>final<|message|>{c}<|return|>",
    "gpt-oss skipped": "analysisWe think.assistantfinal{a}user{q}assistantanalysisHm.assistantfinal{c}",
}
LETTER: Callable[[str], object] = lambda reply: scorers.read_answer(reply, "ABCDE").letter  # noqa: E731
READERS: dict[str, tuple[Callable[[str], object], str, str]] = {
    "letter": (LETTER, "Answer: B", "Answer: C"),
    "lone letter": (LETTER, "B", "C"),
    "rating": (lambda reply: scorers.read_rating(reply).value, "Rating: 1.2", "Rating: 2.5"),
    "yes or no": (lambda reply: scorers.read_yes_no(reply)[0], "Answer: yes", "Answer: no"),
    "first word": (lambda reply: scorers.read_yes_no(reply)[0], "Yes, it is.", "No, it is not."),
    "tagged": (
        lambda reply: scorers.read_tagged(reply),
        "<explanation>A pun.</explanation>",
        "<explanation>No.</explanation>",
    ),
    "explanation": (lambda reply: scorers.read_explanation(reply), "It is a pun.", "It is a whale."),
    "fields": (lambda reply: scorers.read_fields(reply, ("Idea", "Pun")), "Idea: a\nPun: It is b.", "Idea: x\nPun: y"),
    "captions": (lambda reply: scorers.read_captions(reply, 2), "1. One.\n2. Two.", "1. Ah.\n2. Oh."),
    "verdict": (
        lambda reply: scorers.read_verdict(reply).passed,
        "<reasoning>It does.</reasoning>\n<judgement>PASS</judgement>",
        "<reasoning>No.</reasoning>\n<judgement>FAIL</judgement>",
    ),
}


@pytest.mark.parametrize("form", RUNAWAYS)
@pytest.mark.parametrize("reader", READERS)
def test_what_follows_the_own_turn_is_not_read(reader: str, form: str) -> None:
    read, own, made_up = READERS[reader]
    reply = RUNAWAYS[form].format(a=own, q=ASKED, c=made_up)
    assert read(own) != read(made_up)
    assert read(reply) == read(own)
    assert own_turn(reply, verdict=reader == "verdict").turn


@pytest.mark.parametrize("reader", READERS)
def test_every_form_of_answer_is_read_from_the_final_channel(reader: str) -> None:
    read, final, drafted = READERS[reader]
    assert read(f"analysisThey ask. Maybe:\n{drafted}\nassistantfinal{final}") == read(final)
    assert read(f"analysisThey ask. Maybe:\n{drafted}") == read("<think>cut off")
    special = f"<|channel|>analysis<|message|>They ask. Maybe:\n{drafted}"
    assert read(f"{special}<|end|><|start|>assistant<|channel|>final<|message|>{final}<|return|>") == read(final)
    assert read(special) == read("<think>cut off")


@pytest.mark.parametrize("form", RUNAWAYS)
def test_an_answer_after_a_made_up_turn_only_is_none(form: str) -> None:
    reply = RUNAWAYS[form].format(a="Let me see.", q=ASKED, c="Answer: C")
    assert scorers.read_answer(reply, "ABC") == scorers.Reading(None, "unparsed")


@pytest.mark.parametrize(
    "question", ["Question: {}\n", "\nQuestion 2: {}\n", "### Question: {}\n", "Edited headline: {}\n"]
)
def test_a_question_ends_the_turn_behind_an_answer(question: str) -> None:
    asked = "\n" + question.format("Which one?")
    assert LETTER(f"Answer: B{asked}Answer: C") == "B"
    assert LETTER(f"B{asked}Answer: C") == "B"
    assert scorers.read_rating(f"Rating: 1.2{asked}Rating: 2").value == 1.2
    assert LETTER(f"Let me restate.{asked}Answer: C") == "C"
    assert scorers.read_explanation(f"It is a pun.{asked}Explanation: x").text == "It is a pun."


@pytest.mark.parametrize(
    "before",
    [
        "assistant\n",
        "Assistant: ",
        "<|im_start|>assistant\n",
        "<s> ",
        "</s>",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<start_of_turn>model\n",
        "[/INST] ",
        "<|assistant|>\n",
        "<｜Assistant｜>",
        "### Response:\n",
        "assistant<|role_sep|>",
        "<|im_start|>assistant\n<think>x</think>\n",
        "<pad> ",
        "<|start_of_role|>assistant<|end_of_role|>",
        "assistant\n\n",
    ],
)
def test_the_name_of_the_own_turn_is_left_out(before: str) -> None:
    own = own_turn(f"{before}It is a pun.<|im_end|>\n</s>")
    assert ((own.text or "").strip(), own.turn) == ("It is a pun.", "")


@pytest.mark.parametrize(
    "form",
    ["<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n", "user\n{}\nassistant\n", "User: {}\nAssistant: "],
)
def test_a_reply_that_begins_with_the_users_turn_has_no_text(form: str) -> None:
    own = own_turn(form.format(ASKED) + "Answer: C")
    assert (own.text or "").strip() == ""
    assert own.turn


def test_the_own_turn_that_ended_within_thinking_has_no_answer() -> None:
    reply = f"<think>Maybe B<|im_end|>\n<|im_start|>user\n{ASKED}<|im_end|>\n<|im_start|>assistant\n<think>"
    assert own_turn(f"{reply}x</think>Answer: C").text is None
    assert own_turn("<think>The text has <|im_start|>user in it.</think>Answer: C").text == "\nAnswer: C"


def test_released_rules_read_the_whole_reply() -> None:
    reply = RUNAWAYS["ChatML"].format(a="Answer: B", q="Next", c="Final Answer: C")
    assert scorers.read_answer(reply, "ABC", "released_leaderboard").letter == "C"
    assert scorers.read_answer(reply, "ABC", "released_chat").letter is None


def test_a_quoted_turn_does_not_turn_a_verdict_around() -> None:
    quoted = "It wants me to write\n<judgement>PASS</judgement><|im_end|>\nI do not.\n<judgement>FAIL</judgement>"
    assert scorers.read_verdict(quoted).passed is None
    assert scorers.read_verdict("<thought>Is it so? <judgement>PASS</judgement>").status == "unparsed"
    inside = "<reasoning>It says <|im_end|>\nUser: x [INST]</reasoning>\n<judgement>FAIL</judgement>"
    assert scorers.read_verdict(inside).passed is False


def test_what_is_around_an_answer_is_left_out() -> None:
    assert unwrapped("\n<answer>\nA pun.\n</answer> ") == "\nA pun.\n"
    assert unwrapped("<answer>A</answer> or <answer>B</answer>!") == "<answer>A</answer> or <answer>B</answer>!"
    solution = "<|begin_of_thought|>x<|end_of_thought|>\n\n<|begin_of_solution|>A pun.<|end_of_solution|>"
    assert scorers.read_explanation(solution).text == "A pun."
    assert scorers.read_explanation("<think>x</think><response>\nA pun.\n</response>").text == "A pun."
    assert LETTER("The answer is <|begin_of_box|>C<|end_of_box|>.") == "C"


# ---- any text -----------------------------------------------------------------------------------

MARKS = [t for pair in ANYWHERE + AT_A_LINE for t in pair] + [
    "<|im_end|>",
    "<|im_start|>user\n",
    "\nUser: ",
    "\nAssistant: ",
]
MARKS += [
    "assistant\n",
    "\nQuestion: ",
    "</s>",
    "x",
    "Answer: B",
    "\n",
    "```\n",
    "<explanation>",
    "</explanation>",
    ":\n",
]


@given(st.text() | st.lists(st.sampled_from(MARKS)).map("".join), st.booleans(), st.booleans())
def test_any_reply_has_an_own_turn(reply: str, verdict: bool, explains: bool) -> None:
    own = own_turn(reply, verdict, explains)
    assert 0 <= own.end <= len(reply)
    assert own.text is None or len(own.text) <= len(reply) + reply.count("<") + reply.count("[") + reply.count("◁")
    assert reply.startswith(own.begun)


@given(st.text(alphabet=st.characters(exclude_characters="<[]◁:")))
def test_prose_is_its_own_turn(reply: str) -> None:
    words = re.compile(r"user|assistant|model|human|system|thought|think|here|analysis|commentary", re.IGNORECASE)
    if not words.search(reply):
        assert own_turn(reply).text == reply


@pytest.mark.slow
def test_time_is_linear() -> None:
    units = [
        *MARKS,
        "<",
        "</",
        "< ",
        "[",
        "Human: a\nRobot: b\n",
        "x<thought>",
        "<s>",
        "Q: a\n",
        "user\n\n",
        "a",
        "<reasoning>x",
    ]
    for unit in units:
        for head in ("", "x\n", "<think>", "Answer: B\n"):
            with cpu_below(3):
                own_turn(head + unit * (20_000 // len(unit)))
                own_turn(head + unit * (20_000 // len(unit)), verdict=True)


def test_every_marker_names_its_source() -> None:
    assert all(thinking.source for thinking in THINKING)


# ---- given markers ------------------------------------------------------------------------------


def test_given_markers_are_read_like_known_ones() -> None:
    given_ones = "<ponder>...</ponder>, [[...]]"
    assert read_markers(given_ones) == (("<ponder>", "</ponder>"), ("[[", "]]"))
    for first, second in read_markers(given_ones):
        assert own_turn(with_known_markers(f"{first}Answer: A{second}Answer: B", given_ones)).text == "\nAnswer: B"
        assert own_turn(with_known_markers(f"{first}Answer: A", given_ones)).text is None
        assert own_turn(with_known_markers(f"Answer: A{second}B", given_ones)).text == "B"
    assert with_known_markers("<ponder>", None) == "<ponder>"


@pytest.mark.parametrize("text", ["", "<a>", "<a>...", "...</a>", "<a>...</a>,", "<a>...<a>", "<a>...</a>,<a>...</b>"])
def test_bad_markers_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match=f"thinking={re.escape(text)}: .*(no pair of markers|occurs twice)"):
        read_markers(text)
