"""The markers of thinking and of turns in replies: two tables, each entry with the models that write it.

The markers are facts of chat templates and tokenizers; where several models share one, a few are named. "Parsers" are
the reasoning parsers of vLLM (vllm/reasoning) and SGLang (srt/parser/reasoning_parser.py). Patterns are bounded, so
that each place of a text is matched in constant time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Where = Literal["anywhere", "line", "start"]
Kind = Literal["end", "other", "own", "pad"]


@dataclass(frozen=True)
class Thinking:
    """A pair of markers around thinking, as patterns.

    closing: the second one; without a first one it ends thinking that began in the prompt. where: where the first one
    counts: anywhere; at the start of a line (a word that texts may hold as well, such as <thought> of a bubble in a
    cartoon), and anywhere once the reply has used it; or at the start of the reply alone. pair: a second one that
    counts after the first one only, because it has another meaning without it.
    """

    opening: str
    closing: str
    source: str
    where: Where = "anywhere"
    pair: str = ""


def _tag(names: str, source: str, where: Where = "anywhere") -> Thinking:
    """A tag in any case, with blanks and attributes; <think/> is none."""
    opening = rf"(?i:<[ \t]{{0,4}}(?:{names})(?:\s[^<>]{{0,200}})?(?<!/)>)"
    return Thinking(opening, rf"(?i:<[ \t]{{0,4}}/[ \t]{{0,4}}(?:{names})\s{{0,4}}>)", source, where)


_THOUGHT = r"(?:thought|thinking|think|reasoning|chain[_▁]?of[_▁]?thought)"

THINKING = (
    _tag("think(?:ing)?", "DeepSeek-R1, Qwen3, GLM-4.5, Phi-4-reasoning, MiniMax-M2, Nemotron, Olmo 3, Ernie 4.5"),
    _tag(r"think:\w{1,20}", "Hunyuan 3, <think:opensource>: tokenizer"),
    _tag("seed:think", "Seed-OSS: chat template"),
    _tag("mm:think", "MiniMax-M3: parsers"),
    _tag("longcat_think", "LongCat-Flash-Thinking: parsers"),
    _tag(r"(?:ifm\|)?think_fast(?:er)?|ifm\|think", "K2-V2 and K2 Horizon: parsers"),
    _tag("thoughts?", "Gemini by its OpenAI-compatible server, EXAONE Deep, Marco-o1", "line"),
    _tag("reasoning", "recipes of GRPO (TRL, Unsloth), LLaVA-CoT", "line"),
    _tag("reflection", "Reflection-Llama", "line"),
    Thinking(r"\[THINK\]", r"\[/THINK\]", "Magistral, Ministral 3: mistral-common"),
    Thinking("◁think▷", "◁/think▷", "Kimi-VL-Thinking: chat template"),
    Thinking(r"<\|channel>\w{0,20}", r"<channel\|>", "Gemma 4: chat template"),
    Thinking(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>", "Apertus: tokenizer"),
    Thinking(
        rf"(?i:<[|｜](?:begin|start)[_▁]?(?:of[_▁]?)?{_THOUGHT}[|｜]>)",
        rf"(?i:<[|｜](?:end|stop)[_▁]?(?:of[_▁]?)?{_THOUGHT}[|｜]>)",
        "<|START_THINKING|>: Command A; <|begin_of_thought|>: OpenThinker, Sky-T1; <|startofthought|>: Quiet-STaR",
    ),
    Thinking(
        rf"(?i:<\|(?:im_kimia_)?{_THOUGHT}_(?:start|begin)\|>)",
        rf"(?i:<\|(?:im_kimia_)?{_THOUGHT}_end\|>)",
        "Kimi-Audio: tokenizer",
    ),
    Thinking(
        rf"(?i:<\|{_THOUGHT}\|>)",
        rf"(?i:<\|/{_THOUGHT}\|>|</\|{_THOUGHT}\|>|<\|end_?{_THOUGHT}\|>)",
        "Solar Open (<|think|> ... <|end|><|begin|>assistant<|content|>); <|thinking|> ... <|/thinking|> of fine-tunes",
        pair=r"(?i:</think(?:ing)?>)|<\|end\|>\s{0,4}<\|begin\|>assistant",
    ),
    Thinking(r"\[unused16\]", r"\[unused17\]", "openPangu: parsers"),
    Thinking("<unused94>", "<unused95>", "MedGemma, <unused94>thought: tokenizer"),
    Thinking(r"<\|open\|>think<\|sep\|>", r"<\|close\|>think<\|sep\|>", "Kimi K3: parsers"),
    Thinking(
        r"(?:<\|message_model\|>)?<\|content_thinking\|>",
        "",
        "Inkling: parsers",
        pair=r"(?:<\|end_message\|>(?:<\|message_model\|>)?)?<\|content_text\|>",
    ),
    Thinking(r"<\|plamo:begin_think:plamo\|>", r"<\|plamo:end_think:plamo\|>", "PLaMo 3: parsers"),
    Thinking(r"<\|im_start\|>think\n", r"<\|im_start\|>answer\n?", "s1: prompt of its authors"),
    Thinking(
        r"(?:<\|im_start\|>assistant)?/think\n",
        "",
        "HyperCLOVA X SEED Think: parsers",
        "start",
        r"<\|im_end\|>\s{0,4}<\|im_start\|>assistant\n?",
    ),
    Thinking(
        "Here are my reasoning steps:",
        r"\[BEGIN FINAL RESPONSE\]",
        "Apriel Thinker: chat template",
        "start",
    ),
    Thinking(r"thought\n", "", "Gemma 4, decoded without special tokens: no end is left", "start", r"<channel\|>"),
    Thinking(r"think\n", "", "s1, decoded without special tokens", "start", r"(?m:^)(?:<\|im_start\|>)?answer\n"),
)
"""Pairs of markers around thinking. Channels of gpt-oss are `thinking.final_channel`."""

_AT_END = re.compile("|".join(rf"(?:{t.opening})\s*\Z" for t in THINKING if t.where != "start"))


def opening_at_end(prompt: str) -> str:
    """The first marker of thinking that ends a prompt, as chat templates of reasoning models write it; else ""."""
    found = _AT_END.search(prompt)
    return found[0] if found else ""


IN_WORDS = re.compile(r"\s*+Here(?:'s| is) my thought process:")
IN_WORDS_END = re.compile(r"Here(?:'s| is) my response:")
"""Granite 3.2's thinking: chat template. Other models begin answers with these words, so that only both are markers."""

WRAPPERS = (
    r"<\|(?:begin|end)_of_solution\|>",  # OpenThinker
    r"<\|(?:START|END)_(?:RESPONSE|TEXT)\|>",  # Command A
    r"\[(?:BEGIN|END) FINAL RESPONSE\]",  # Apriel
    r"<\|(?:begin|end)_of_box\|>",  # GLM-4.5V
    r"<\|content\|>",  # Solar Open
    r"<\|(?:open|close)\|>response<\|sep\|>",  # Kimi K3
    r"<\|content_text\|>",  # Inkling
)
"""Markers around an answer; they are left out of what is read."""
WRAPPING_TAGS = ("answer", "response", "output", "solution", "final", "conclusion")
"""Tags around a whole answer: Hunyuan and Open-Reasoner-Zero, Ernie 4.5, Reflection-Llama and Marco-o1, LLaVA-CoT."""


@dataclass(frozen=True)
class Turn:
    """A marker of a turn, as a pattern.

    kind: it ends a turn (`end`), begins one of the user or the system (`other`) or of the model (`own`), or begins or
    pads a text (`pad`), and ends a turn that has begun.
    """

    pattern: str
    kind: Kind
    source: str


def _header(opening: str, closing: str, source: str) -> tuple[Turn, Turn]:
    """A marker that the name of a role follows."""
    own = rf"{opening}\s{{0,4}}(?i:assistant|model|chatbot|bot|ai|gpt)(?![^\W_])(?:\s{{0,4}}{closing})?"
    return Turn(own, "own", source), Turn(opening, "other", source)


TURNS = (
    *_header(r"<\|im_start\|>", r"(?:<\|im_sep\|>)?", "ChatML: Qwen, Yi, Phi-4, Hermes and others"),
    *_header(r"<\|start_header_id\|>", r"<\|end_header_id\|>", "Llama 3"),
    *_header(r"<\|header_start\|>", r"<\|header_end\|>", "Llama 4"),
    *_header("<start_of_turn>", "", "Gemma"),
    *_header(r"<\|turn>", "", "Gemma 4"),
    *_header(r"<\|start_of_role\|>", r"<\|end_of_role\|>", "Granite"),
    *_header(r"<\|role_start\|>", r"<\|role_end\|>", "Megrez"),
    *_header(r"<\|start\|>", r"(?:<\|message\|>)?", "gpt-oss"),
    *_header(r"<\|begin\|>", "", "Solar Open"),
    *_header("<beginning_of_sentence>", "", "MiniMax-Text-01, MiniMax-M1"),
    *_header(r"\]~b\]", "", "MiniMax-M2"),
    *_header("<role>", "</role>", "Ling"),
    *_header(r'<\|open\|>message role="', r'"<\|sep\|>', "Kimi K3"),
    *_header("<extra_id_1>|<SPECIAL_11>", "", "Nemotron-4, Nemotron Nano 2"),
    Turn(r"<\|im_assistant\|>(?:assistant)?(?:<\|im_middle\|>)?", "own", "Kimi K2"),
    Turn(r"<\|im_(?:user|system)\|>", "other", "Kimi K2"),
    Turn(r"(?i:<\|(?:assistant|bot)\|>)", "own", "Zephyr, Phi-3, GLM-4, Falcon 3, StableLM; InternLM"),
    Turn(r"(?i:<\|(?:user|human|system|developer|observation|tool)\|>)", "other", "Zephyr, Phi-3, GLM-4, InternLM"),
    Turn(r"<\|START_OF_TURN_TOKEN\|><\|CHATBOT_TOKEN\|>|<\|CHATBOT_TOKEN\|>", "own", "Command R"),
    Turn(r"<\|START_OF_TURN_TOKEN\|>|<\|(?:USER|SYSTEM)_TOKEN\|>", "other", "Command R"),
    Turn(r"<｜(?:hy_)?Assistant(?::\w{1,20})?｜>", "own", "DeepSeek, Hunyuan"),
    Turn(r"<｜(?:hy_)?User(?::\w{1,20})?｜>", "other", "DeepSeek, Hunyuan"),
    Turn(r"<\|message_model\|>", "own", "Inkling"),
    Turn(r"<\|message_(?:user|system|tool)\|>", "other", "Inkling"),
    Turn(r"<\|close\|>message<\|sep\|>|<\|end_of_msg\|>", "end", "Kimi K3"),
    Turn(r"<\|(?:end_message|content_model_end_sampling)\|>", "end", "Inkling"),
    Turn(r"\[\|assistant\|\]", "own", "EXAONE"),
    Turn(r"\[\|(?:user|system|tool)\|\]", "other", "EXAONE"),
    Turn(r"<\|assistant_start\|>", "own", "Apertus"),
    Turn(r"<\|(?:user|system|developer)_start\|>", "other", "Apertus"),
    Turn(r"<\|response\|>", "own", "dots.llm1"),
    Turn(r"<\|userprompt\|>", "other", "dots.llm1"),
    Turn(r"\[/INST\]", "own", "Llama 2, Mistral"),
    Turn(r"\[INST\]|\[/?SYSTEM_PROMPT\]|<</?SYS>>", "other", "Llama 2, Mistral"),
    Turn("<(?:AI|bot)>:?", "own", "MiniCPM, RedPajama-INCITE"),
    Turn("<(?:用户|human)>:?", "other", "MiniCPM, RedPajama-INCITE"),
    Turn("<reserved_107>", "own", "Baichuan"),
    Turn("<reserved_106>", "other", "Baichuan"),
    Turn(r"<\|im_end\|>", "end", "ChatML, Kimi K2"),
    Turn(r"<\|(?:eot_id|eom_id|eot|eom)\|>", "end", "Llama 3, Llama 4"),
    Turn(r"<end_of_turn>|<turn\|>", "end", "Gemma, Gemma 4"),
    Turn(r"<\|(?:end|return|call)\|>", "end", "Phi-3, gpt-oss, Apriel"),
    Turn(r"<\|(?:end_of_turn|endofturn|turn_end|END_OF_TURN_TOKEN|EOT)\|>", "end", "OpenChat, HyperCLOVA X, Megrez"),
    Turn(r"<\|(?:message_sep|role_sep|separator|stop)\|>", "end", "GigaChat, Grok-2, HyperCLOVA X"),
    Turn(
        r"<\|(?:end_of_sentence|endofresponse|endofuserprompt|eos|extra_[04])\|>",
        "end",
        "Ernie 4.5, dots.llm1, Hunyuan",
    ),
    Turn(r"<\|(?:assistant|user|system|developer)_end\|>|<\|plamo:tag\|>", "end", "Apertus, PLaMo 3"),
    Turn(r"<｜hy_place▁holder▁no▁\d｜>|<｜hy_eos(?::\w{1,20})?｜>|<｜end▁of▁sentence｜>", "end", "Hunyuan, DeepSeek"),
    Turn(r"\[\|endofturn\|\]|\[e~\[|<end_of_(?:sentence|utterance)>|<SPECIAL_12>", "end", "EXAONE, MiniMax, SmolVLM"),
    Turn("<eo[ah]>", "end", "InternLM"),
    Turn("</s>|<eos>", "pad", "the end of a text in Llama 2, Mistral, T5 and Gemma; BART's replies begin with </s>"),
    Turn(r"<\|(?:endoftext|end_of_text|begin_of_text|startoftext)\|>", "pad", "GPT-2, Qwen, Llama 3, Granite, Falcon"),
    Turn(
        r"<(?:bos|pad|s)>|<｜(?:hy_)?begin▁of▁sentence｜>|\[gMASK\]|<sop>", "pad", "Gemma, T5, Llama 2, DeepSeek, GLM"
    ),
)
"""Special tokens of turns. Names of roles in words are LABELS."""

_ASKED = r"(?:GPT4[ ]Correct[ ])?(?:User|USER|Human|HUMAN)|Instruct|Пользователь"
_ANSWERED = r"(?:GPT4[ ]Correct[ ])?(?:Assistant|ASSISTANT)|Ассистент"
_HEAD = r"\#{2,4}[ ]{0,3}"

LABELS = re.compile(
    r"(?:(?:\A|(?<=\n))(?:"
    # A line of its own, where special tokens were left out: ChatML, Llama 3, Gemma, Nemotron
    r"(?:(?P<bare_other>[Uu]ser|[Hh]uman|system)|(?P<bare_own>[Aa]ssistant|model))[ \t]{0,4}(?=\n|\Z)"
    # joined to what follows: Granite, Kimi K2
    r"|(?P<glued_other>user)(?=[A-Z\"“<\d])|(?P<glued_own>assistant)(?=[A-Z\"“<\d])"
    # Vicuna, DeepSeek-V2, RWKV; Orion and Anthropic's format; Phi-2; OpenChat; YandexGPT; StableVicuna and SOLAR
    rf"|[ \t]{{0,8}}(?:(?P<other>(?:{_HEAD})?(?:{_ASKED})[ ]?:)|(?P<own>(?:{_HEAD})?(?:{_ANSWERED})[ ]?:)"
    # Alpaca, DeepSeek-Coder
    rf"|(?P<asked>{_HEAD}Instruction[ ]?:)|(?P<heading>{_HEAD}Response[ ]?:)"
    # Prompts with worked examples, and those of this package for a model without a chat template
    r"|(?P<question>(?:\#{1,4}[ ]?)?(?:QUESTION|Question|Q)(?:[ ]\d{1,3})?[ ]?:|(?:Edited|Original) headline:)))"
    # Llama 3, where special tokens were left out: the name of the role is joined to the end of the text before it
    r"|(?:(?<=[A-Z0-9.!?)\"'”’*>\]…])(?P<tail_other>user)|(?<=[a-z])(?P<low_other>user)|(?<=[\w.!?)\"'”’*>\]…])(?P<tail_own>assistant))(?=\n\n))"
)
"""Names of roles in words."""
ANSWER_LABELS = re.compile(
    r"^[ \t]{0,8}[*_#>]{0,6}[ \t]{0,3}(?:final |the )?"
    r"(?:answer|rating|score|grade|explanation|caption|completion)s?\b[^\n]{0,40}?(?::|\bis\b|\n)"
    r"|</(?:answer|explanation|judge?ment|rating|score|line)\s{0,4}>",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a reply gives its answer in a form that can be told from words that lead to it."""

_QUOTED = re.compile(r"(?:\A|(?<=[\s(]))([\"'`“‘])")
_QUOTES = dict(zip("\"'`“‘", "\"'`”’", strict=True))


def is_named(text: str, marker: re.Match[str]) -> bool:
    """Whether `text` names a marker, in quotation marks of its own: "</think>" is on the mug."""
    quoted = _QUOTED.match(text, max(0, marker.start() - 1))
    return quoted is not None and text.startswith(_QUOTES[quoted[1]], marker.end())
