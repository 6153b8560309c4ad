"""Tiny image-text models with random weights and their processors: LLaVA, Video-LLaVA, LLaVA-NeXT-Video, Qwen2-VL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from standins.tiny_text import tiny_tokenizer

FAMILIES = ("llava", "video_llava", "llava_next_video", "qwen2_vl")
SIDE, PATCH = 28, 14
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}MARK{% endif %}{% endfor %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
IDS = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")


def tiny_image_text(
    folder: Path, family: str, texts: Sequence[str], template: bool = False, scale: float = 0.15
) -> str:
    """The folder of a model and its processor, as `save_pretrained` writes them. template: with a chat template."""
    import transformers as hf

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(texts, "causal")
    marks = [f"<|{name}|>" for name in ("image_pad", "video_pad", "vision_start", "vision_end")]
    tokenizer.add_special_tokens(
        {"additional_special_tokens": marks if family == "qwen2_vl" else ["<image>", "<video>"]}
    )
    token = tokenizer.convert_tokens_to_ids
    text = {"vocab_size": len(tokenizer), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    text |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 8192}
    text |= {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "bos_token_id": None}
    eyes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    sides: dict[str, Any] = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
    patches: dict[str, Any] = {"patch_size": PATCH, "vision_feature_select_strategy": "default"}
    patches["num_additional_image_tokens"] = 1
    if family == "qwen2_vl":
        rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
        vision = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "mlp_ratio": 2, "patch_size": PATCH}
        ids = dict(zip(IDS, map(token, marks), strict=True))
        config: Any = hf.Qwen2VLConfig(text_config=text | {"rope_parameters": rope}, vision_config=vision, **ids)
        network: Any = hf.Qwen2VLForConditionalGeneration(config)
        pixels = {"size": {"shortest_edge": SIDE * SIDE, "longest_edge": 4 * SIDE * SIDE}}
        videos = hf.Qwen2VLVideoProcessor(**pixels)
        processor: Any = hf.Qwen2VLProcessor(hf.Qwen2VLImageProcessor(**pixels), tokenizer, videos)
        mark = "<|vision_start|>{{ '<|image_pad|>' if part['type'] == 'image' else '<|video_pad|>' }}<|vision_end|>"
    else:
        vision = hf.CLIPVisionConfig(**eyes, image_size=SIDE, patch_size=PATCH, projection_dim=32)
        shared = {"vision_config": vision, "text_config": hf.LlamaConfig(**text), "vision_feature_layer": -1}
        shared |= {"image_token_index": token("<image>")}
        mark = "{{ '<image>' if part['type'] == 'image' else '<video>' }}"
        if family == "llava":
            network = hf.LlavaForConditionalGeneration(hf.LlavaConfig(**shared))
            processor = hf.LlavaProcessor(hf.CLIPImageProcessor(**sides), tokenizer, image_token="<image>", **patches)
        elif family == "video_llava":
            shared |= {"video_token_index": token("<video>")}
            network = hf.VideoLlavaForConditionalGeneration(hf.VideoLlavaConfig(**shared))
            videos = hf.VideoLlavaVideoProcessor(**sides)
            processor = hf.VideoLlavaProcessor(hf.VideoLlavaImageProcessor(**sides), videos, tokenizer, **patches)
        else:
            grid = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE]]
            shared |= {"video_token_index": token("<video>"), "image_grid_pinpoints": grid, "spatial_pool_stride": 2}
            network = hf.LlavaNextVideoForConditionalGeneration(hf.LlavaNextVideoConfig(**shared))
            images = hf.LlavaNextImageProcessor(image_grid_pinpoints=grid, **sides)
            videos = hf.LlavaNextVideoVideoProcessor(**sides)
            processor = hf.LlavaNextVideoProcessor(videos, images, tokenizer, **patches)
    with torch.no_grad():  # by default larger than at the start of training, so that replies differ
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, scale)
    network.generation_config.eos_token_id = tokenizer.eos_token_id
    if template:
        processor.chat_template = TEMPLATE.replace("MARK", mark)
    network.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return str(folder)
