"""Models of transformers that read pictures or video with text and write text. The extra `image-text`.

Families: LLaVA, LLaVA-NeXT, Video-LLaVA, LLaVA-NeXT-Video, Qwen-VL, GLM-V and others that
`AutoModelForImageTextToText` loads.

| module | contents |
|---|---|
| `conversation` | turns with pictures and videos, as a processor's text and tensors |
| `model` | a network with its processor that writes replies, in batches |
"""
