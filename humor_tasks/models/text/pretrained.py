"""Models of transformers: loading by kind, from the hub or a folder, and generation. Their code is not executed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from transformers import LogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from humor_tasks.errors import BadInput, check_choice, listed
from humor_tasks.files.reading import json_object
from humor_tasks.models.devices import DTYPES, pick_device
from humor_tasks.models.folders import not_loaded
from humor_tasks.models.text.language import Continuation, Generation

Kind = Literal["seq2seq", "causal", "encoder"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ABOUT = "humor_tasks.json"
PROMPTS = "prompts"
"""Of a model's folder: the templates that it was trained with, where they are not the benchmark's own."""
FORMAT = 1
_CAUSAL = ("CausalLM", "LMHeadModel")
_UNLIMITED = 10**6  # tokenizers without a limit state 10**30


def kind_of(name: str, revision: str | None = None) -> Kind:
    """The kind of a model, from its configuration. Raises BadInput for an unknown model."""
    config = _loaded("AutoConfig", name, revision)
    if config.is_encoder_decoder:
        return "seq2seq"
    architectures = getattr(config, "architectures", None) or ()
    return "causal" if any(name.endswith(_CAUSAL) for name in architectures) else "encoder"


def open_tokenizer(name: str, revision: str | None = None) -> Any:
    """The tokenizer of a hub id or a folder. Raises BadInput where there is none, or none that can pad."""
    return _padding(_loaded("AutoTokenizer", name, revision), name)


def open_processor(name: str, revision: str | None = None) -> Any:
    """The processor of an image-text model. Raises BadInput where there is none, or none with pictures and text."""
    processor = _loaded("AutoProcessor", name, revision)
    if not hasattr(processor, "tokenizer"):
        raise BadInput(f"model {name}: it has no processor of pictures with text; copy its files into the folder.")
    _padding(processor.tokenizer, name)
    return processor


def _padding(tokenizer: Any, name: str) -> Any:
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # transformers makes an empty one where there is no file
        raise BadInput(f"model {name}: it has no tokenizer; copy the tokenizer's files into its folder.")
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token is None:
            raise BadInput(
                f"model {name}: its tokenizer has neither a padding token nor an end token; set one of them."
            )
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def open_network(
    name: str, kind: Kind | Literal["image_text"], precision: str = "fp32", revision: str | None = None
) -> Any:
    """The network with its weights. precision: fp32, fp16 or bf16. Raises BadInput for an unknown model."""
    classes = {"seq2seq": "AutoModelForSeq2SeqLM", "causal": "AutoModelForCausalLM", "encoder": "AutoModel"}
    classes |= {"image_text": "AutoModelForImageTextToText"}
    network, loading = _loaded(classes[kind], name, revision, dtype=DTYPES[precision], output_loading_info=True)
    # The layer after an encoder's first token is not used, and many encoders are saved without it.
    if lacking := sorted(key for key in loading["missing_keys"] if "pooler" not in key):
        raise BadInput(
            f"model {name}: its weights are not those of a {kind} model: {listed('weight', lacking, most=3)} missing. "
            "Leave out kind."
        )
    return network


def open_model(
    name: str, kind: Kind, device: str, precision: str, revision: str | None, label: str
) -> tuple[Any, Any, torch.device]:
    """The network on its device, not training, its tokenizer, and the device; `label` names the model in messages.

    Raises BadInput for an unknown model, one of another kind, and an unavailable device.
    """
    check_choice(f"text/{name}: precision", precision, tuple(DTYPES))
    place = pick_device(device, label)
    if (found := kind_of(name, revision)) != kind:
        raise BadInput(f"{label}: it is a model of the kind '{found}', not {kind}.")
    tokenizer = open_tokenizer(name, revision)
    return open_network(name, kind, precision, revision).to(place).eval(), tokenizer, place


def open_reward(name: str, precision: str = "fp32", revision: str | None = None) -> Any:
    """A network with one score per text, as TRL's RewardTrainer saves. Raises BadInput for any other model."""
    if (Path(name).expanduser() / "adapter_config.json").is_file():
        raise BadInput(f"model {name}: is an adapter; merge it into its model (peft: merge_and_unload) and save that.")
    config = _loaded("AutoConfig", name, revision)
    architectures = getattr(config, "architectures", None) or ()
    if config.num_labels != 1 or not any(kind.endswith("ForSequenceClassification") for kind in architectures):
        raise BadInput(
            f"model {name}: is no reward model, which classifies sequences with one output; it is "
            f"{', '.join(architectures) or 'of unknown architecture'} with {config.num_labels} outputs."
        )
    network, loading = _loaded(
        "AutoModelForSequenceClassification", name, revision, dtype=DTYPES[precision], output_loading_info=True
    )
    if lacking := sorted(loading["missing_keys"]):  # which transformers fills with random numbers
        raise BadInput(
            f"model {name}: its weights are not those of a reward model: {listed('weight', lacking, most=3)} missing."
        )
    return network


def _loaded(loader: str, name: str, revision: str | None, **how: Any) -> Any:
    import transformers

    where = str(Path(name).expanduser()) if name.startswith("~") else name
    if revision is not None:
        how["revision"] = revision
    try:
        return getattr(transformers, loader).from_pretrained(where, trust_remote_code=False, **how)
    except torch.OutOfMemoryError:
        raise
    except Exception as problem:  # transformers, safetensors, torch and pickle raise different classes
        raise not_loaded(f"model {name}", name, problem) from None


def context_of(tokenizer: Any, config: Any) -> int | None:
    """The maximum number of tokens of an input; None where neither tokenizer nor configuration states one.

    Relative positions, as in T5, have no limit of their own; then the tokenizer's is used.
    """
    stated = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
    stated.append(tokenizer.model_max_length)
    return min((int(limit) for limit in stated if limit and limit < _UNLIMITED), default=None)


def about(name: str) -> dict[str, Any]:
    """What `humor-tasks train text` noted in a model's folder; {} for another folder or a hub id.

    Raises BadInput where the notes are damaged or of another version.
    """
    path = Path(name).expanduser() / ABOUT
    if not path.is_file():
        return {}
    notes = json_object(path)
    if notes.get("format") != FORMAT or notes.get("kind") not in KINDS:
        raise BadInput(f"{path}: was written by another version of humor-tasks, or is damaged; train the model again.")
    return notes


# ---- generation -----------------------------------------------------------------------------------
# transformers draws the next tokens of a whole batch from one stream of random numbers, so that a text depends on the
# other prompts of its batch. Here each prompt has a generator, seeded by the seed and the prompt. The token with the
# highest sum of log-probability and Gumbel noise is a draw from the distribution (Gumbel 1954, "Statistical theory of
# extreme values and some practical applications").


def arguments(how: Generation, prompts: Sequence[str], device: torch.device) -> dict[str, Any]:
    """The arguments of `generate` for a batch of prompts, one row a prompt."""
    # None takes away what the model's own generation configuration may set; the end token is not forced, because the
    # texts without one are those that were cut.
    settings: dict[str, Any] = {
        "max_new_tokens": how.max_tokens,
        "max_length": None,
        "num_beams": how.beams,
        "do_sample": False,
        "temperature": None,
        "top_p": None,
        "top_k": None,
        "forced_eos_token_id": None,
        "use_cache": True,
    }
    if how.temperature == 0:
        return settings
    steps: list[LogitsProcessor] = [TemperatureLogitsWarper(float(how.temperature))]  # transformers refuses 1
    steps += [TopKLogitsWarper(how.top_k)] if how.top_k else []
    steps += [TopPLogitsWarper(how.top_p)] if how.top_p < 1 else []
    return settings | {"logits_processor": [*steps, _Noise(how.seed, prompts, device)]}


def generate(
    network: Any, tokenizer: Any, inputs: Mapping[str, torch.Tensor], prompts: Sequence[str], how: Generation, skip: int
) -> list[Continuation]:
    """The texts that a network writes after a batch of prompts, up to their end tokens.

    inputs: the network's tensors, with `input_ids` and `attention_mask` [rows, tokens]. skip: the tokens of its output
    before the first new one.
    """
    settings = arguments(how, prompts, inputs["input_ids"].device) | {"pad_token_id": tokenizer.pad_token_id}
    rows = network.generate(**inputs, **settings)[:, skip:].tolist()
    ends = network.generation_config.eos_token_id
    ends = tokenizer.eos_token_id if ends is None else ends
    stops = set(ends if isinstance(ends, list) else [ends])
    texts = []
    for read, tokens in zip(inputs["attention_mask"].sum(1).tolist(), rows, strict=True):
        length = next((i + 1 for i, token in enumerate(tokens) if token in stops), len(tokens))
        text = tokenizer.decode(tokens[:length], skip_special_tokens=True)
        texts.append(Continuation(text, read, length, cut=length == 0 or tokens[length - 1] not in stops))
    return texts


class _Noise(LogitsProcessor):
    """Adds Gumbel noise to the logits [rows, words], from one generator a row."""

    def __init__(self, seed: int, prompts: Sequence[str], device: torch.device) -> None:
        self.generators = []
        for prompt in prompts:
            digest = hashlib.sha256(f"{seed}\0{prompt}".encode("utf-8", "surrogatepass")).digest()
            self.generators.append(torch.Generator(device).manual_seed(int.from_bytes(digest[:8], "big") >> 1))

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.Tensor:
        """See LogitsProcessor."""
        noise = torch.empty_like(scores, dtype=torch.float32)
        for row, generator in zip(noise, self.generators, strict=True):
            row.exponential_(generator=generator)
        return scores.float() - noise.log()
