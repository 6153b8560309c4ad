"""OFA written the plainest way, one number after another in float64, from a state dict: what the real one is held to.

It shares no code with humor_tasks.models.ofa beyond the configuration's fields, and follows the published description:
biases are computed entry by entry, attention query by query, and search keeps lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

Array = Any
Encoded = tuple[Array, Array, Array]
BLOCKS = {"resnet18": (2, 2, 2), "resnet34": (3, 4, 6), "resnet50": (3, 4, 6), "resnet101": (3, 4, 23)}


class Plain:
    """Encoder and decoder for one input at a time."""

    def __init__(self, config: Any, state: dict[str, torch.Tensor]) -> None:
        self.c = config
        self.w = {name: t.double().numpy() for name, t in state.items()}

    # -- parts ---------------------------------------------------------------------------

    def linear(self, name: str, x: Array) -> Array:
        bias = self.w.get(f"{name}.bias", 0.0)
        return x @ self.w[f"{name}.weight"].T + bias

    def norm(self, name: str, x: Array) -> Array:
        if f"{name}.weight" not in self.w:
            return x
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return scaled * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def convolve(self, x: Array, conv: str, bn: str, stride: int, padding: int) -> Array:
        w = self.w
        y = functional.conv2d(torch.tensor(x)[None], torch.tensor(w[f"{conv}.weight"]), None, stride, padding)[
            0
        ].numpy()
        mean, var = (w[f"{bn}.running_{part}"][:, None, None] for part in ("mean", "var"))
        return (y - mean) / np.sqrt(var + 1e-5) * w[f"{bn}.weight"][:, None, None] + w[f"{bn}.bias"][:, None, None]

    def see(self, image: Array) -> Array:
        """[channels, h, w]."""
        root = "encoder.embed_images"
        x = np.maximum(self.convolve(image, f"{root}.conv1", f"{root}.bn1", 2, 3), 0)
        x = functional.max_pool2d(torch.tensor(x)[None], 3, 2, 1)[0].numpy()
        for stage, blocks in enumerate(BLOCKS[self.c.resnet_type], 1):
            for block in range(blocks):
                at, stride = f"{root}.layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1
                y = np.maximum(self.convolve(x, f"{at}.conv1", f"{at}.bn1", 1, 0), 0)
                y = np.maximum(self.convolve(y, f"{at}.conv2", f"{at}.bn2", stride, 1), 0)
                y = self.convolve(y, f"{at}.conv3", f"{at}.bn3", 1, 0)
                if block == 0:
                    x = self.convolve(x, f"{at}.downsample.0", f"{at}.downsample.1", stride, 0)
                x = np.maximum(x + y, 0)
        return x

    def text_bucket(self, r: int) -> int:
        nt = self.c.token_bucket_size
        middle = nt // 2
        if abs(r) <= middle:
            return r + nt - 1
        far = math.ceil(math.log(abs(r) / middle) / math.log(1023 / middle) * (middle - 1) - 1e-9) + middle
        return (far if r > 0 else -far) + nt - 1

    def image_bucket(self, a: int, b: int) -> int:
        ni = self.c.image_bucket_size
        rows = (2 * ni - 1) ** 2 + 3
        if a == 0 or b == 0:
            return rows - (1 if a == b else 3 if a == 0 else 2)
        (ya, xa), (yb, xb) = divmod(a - 1, ni), divmod(b - 1, ni)
        return (ya - yb + ni - 1) * (2 * ni - 1) + (xa - xb + ni - 1)

    def absolute(self, queries: Array, keys: Array, q: str, k: str, heads: int) -> Array:
        """[heads, Q, K]."""
        size = self.c.d_model // heads
        a = self.linear(q, queries) * (size * self.c.attn_scale_factor) ** -0.5
        b = self.linear(k, keys)
        return np.stack([a[:, h * size : h * size + size] @ b[:, h * size : h * size + size].T for h in range(heads)])

    def attention(self, name: str, x: Array, source: Array, bias: Array, seen: Array) -> Array:
        """seen [Q, K] bool."""
        heads = len(bias)
        size = self.c.d_model // heads
        q, k, v = (
            self.linear(f"{name}.q_proj", x),
            self.linear(f"{name}.k_proj", source),
            self.linear(f"{name}.v_proj", source),
        )
        out = np.zeros_like(x)
        for h in range(heads):
            part = slice(h * size, h * size + size)
            for i in range(len(x)):
                logits = np.array(
                    [q[i, part] @ k[j, part] / math.sqrt(2 * size) + bias[h, i, j] for j in range(len(source))]
                )
                logits = np.where(seen[i], logits, -np.inf)
                share = np.exp(logits - logits.max())
                out[i, part] = (share / share.sum()) @ v[:, part] * self.w[f"{name}.c_attn"][h]
        return self.linear(f"{name}.out_proj", out)

    def added(self, x: Array, norm: str, first: bool, part: Callable[[Array], Array]) -> Array:
        return x + part(self.norm(norm, x)) if first else self.norm(norm, x + part(x))

    def feed(self, at: str, x: Array) -> Array:
        y = self.linear(f"{at}.fc1", x)
        y = y * 0.5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
        return self.linear(f"{at}.fc2", self.norm(f"{at}.ffn_layer_norm", y))

    # -- encoder and decoder -------------------------------------------------------------

    def encode(
        self, ids: list[int] | None, image: Array | None, hide_image: bool = False
    ) -> tuple[Array, Array, Array]:
        """States, positions and which places are seen."""
        c, w = self.c, self.w
        scale = math.sqrt(c.d_model) if c.scale_embedding else 1.0
        kind = w.get("encoder.type_embedding.weight", np.zeros((2, c.d_model)))
        rows, place, seen, patch = [], [], [], []
        if image is not None:
            features = self.see(np.asarray(image, np.float64))
            for y in range(features.shape[1]):
                for x in range(features.shape[2]):
                    vector = self.linear("encoder.image_proj", features[:, y, x]) * scale + kind[1]
                    rows.append(self.norm("encoder.patch_layernorm_embedding", vector))
                    patch.append(y * c.image_bucket_size + x + 1)
                    place.append(
                        self.norm("encoder.image_pos_ln", w["encoder.embed_image_positions.weight"][patch[-1]])
                    )
                    seen.append(not hide_image)
        for t, token in enumerate(ids or []):
            vector = w["encoder.embed_tokens.weight"][token] * scale + kind[0]
            rows.append(self.norm("encoder.layernorm_embedding", vector))
            place.append(self.norm("encoder.pos_ln", w["encoder.embed_positions.weight"][t]))
            seen.append(token != 1)
        x, position, visible, n = np.array(rows), np.array(place), np.array(seen), len(patch)
        x[~visible] = 0
        shared = self.absolute(
            position, position, "encoder.pos_q_linear", "encoder.pos_k_linear", c.encoder_attention_heads
        )
        for layer in range(c.encoder_layers):
            bias, at = shared.copy(), f"encoder.layers.{layer}"
            far, near = (w[f"encoder.{kind}_rel_pos_table_list.{layer}.weight"] for kind in ("image", "token"))
            for i in range(len(x)):
                for j in range(len(x)):
                    if i < n and j < n:
                        bias[:, i, j] += far[self.image_bucket(patch[i], patch[j])]
                    elif i >= n and j >= n:
                        bias[:, i, j] += near[self.text_bucket(i - j)]
            mask = np.tile(visible, (len(x), 1))
            first = c.encoder_normalize_before

            def attend(y: Array, at: str = at, bias: Array = bias, mask: Array = mask) -> Array:
                return self.norm(f"{at}.self_attn_mid_layer_norm", self.attention(f"{at}.self_attn", y, y, bias, mask))

            x = self.added(x, f"{at}.self_attn_layer_norm", first, attend)
            x = self.added(x, f"{at}.final_layer_norm", first, lambda y, at=at: self.feed(at, y))
        return self.norm("encoder.layer_norm", x), position, visible

    def decode(
        self, ids: list[int], encoded: tuple[Array, Array, Array], keep: list[int] | None = None, code: bool = False
    ) -> Array:
        """Logits [L, V]."""
        c, w, (states, source, visible) = self.c, self.w, encoded
        side, window = c.image_bucket_size, c.code_image_size // 8
        places = [0] + [y * side + x + 1 for y in range(window) for x in range(window)] + [1024] * 768
        scale = math.sqrt(c.d_model) if c.scale_embedding else 1.0
        norm = "decoder.code_layernorm_embedding"
        if not code or f"{norm}.weight" not in w or not c.layernorm_embedding:  # then there is no norm at all
            norm = "decoder.layernorm_embedding"
        x = self.norm(norm, w["decoder.embed_tokens.weight"][ids] * scale)
        if code:
            place = self.norm("decoder.image_pos_ln", w["decoder.embed_image_positions.weight"][places[: len(ids)]])
        else:
            place = self.norm("decoder.pos_ln", w["decoder.embed_positions.weight"][: len(ids)])
        heads, first = c.decoder_attention_heads, c.decoder_normalize_before
        shared = self.absolute(place, place, "decoder.self_pos_q_linear", "decoder.self_pos_k_linear", heads)
        across = self.absolute(place, source, "decoder.cross_pos_q_linear", "decoder.cross_pos_k_linear", heads)
        mask = np.tril(np.ones((len(ids), len(ids)), bool)) & (np.array(keep or [1] * len(ids)) == 1)
        every = np.tile(visible, (len(ids), 1))
        for layer in range(c.decoder_layers):
            bias, at = shared.copy(), f"decoder.layers.{layer}"
            far, near = (w[f"decoder.{kind}_rel_pos_table_list.{layer}.weight"] for kind in ("image", "token"))
            for i in range(len(ids)):
                for j in range(len(ids)):
                    if code:
                        bias[:, i, j] += far[self.image_bucket(places[i], places[j])]
                    else:
                        bias[:, i, j] += near[self.text_bucket(i - j)]

            def attend(y: Array, at: str = at, bias: Array = bias) -> Array:
                return self.norm(f"{at}.self_attn_mid_layer_norm", self.attention(f"{at}.self_attn", y, y, bias, mask))

            def look(y: Array, at: str = at) -> Array:
                found = self.attention(f"{at}.cross_attn", y, states, across, every)
                return self.norm(f"{at}.cross_attn_mid_layer_norm", found)

            x = self.added(x, f"{at}.self_attn_layer_norm", first, attend)
            x = self.added(x, f"{at}.cross_attn_layer_norm", first, look)
            x = self.added(x, f"{at}.final_layer_norm", first, lambda y, at=at: self.feed(at, y))
        return self.linear("decoder.output_projection", self.norm("decoder.layer_norm", x))


# -- search over a function prefix -> log-probabilities ---------------------------------

Next = Callable[[list[int]], list[float]]
Found = list[tuple[list[int], float]]


def without_repeats(logs: list[float], prefix: list[int], n: int) -> list[float]:
    banned = set()
    if n:
        tail = prefix[len(prefix) - n + 1 :] if n > 1 else []
        for i in range(len(prefix) - n + 1):
            if len(prefix) >= n and prefix[i : i + n - 1] == tail:
                banned.add(prefix[i + n - 1])
    return [-math.inf if token in banned else value for token, value in enumerate(logs)]


def fairseq(following: Next, k: int, max_len: int, min_len: int, lenpen: float, normalize: bool, ngram: int) -> Found:
    """Best first."""
    beams: Found = [([0], 0.0)]
    finished: Found = []
    for t in range(max_len + 1):
        candidates = []
        for prefix, score in beams:
            logs = list(following(prefix))
            logs[1] = -math.inf
            if t < min_len:
                logs[2] = -math.inf
            if t == max_len:
                logs = [value if token == 2 else -math.inf for token, value in enumerate(logs)]
            logs = without_repeats(logs, prefix, ngram)
            candidates += [(score + value, [*prefix, token]) for token, value in enumerate(logs)]
        candidates = sorted(candidates, key=lambda c: -c[0])[: 2 * k]
        for total, ids in candidates[:k]:
            if ids[-1] == 2 and total > -math.inf and len(finished) < k:
                finished.append((ids[1:], total / (t + 1) ** lenpen if normalize else total))
        if len(finished) == k:
            break
        beams = [(ids, total) for total, ids in candidates if ids[-1] != 2][:k]
    return sorted(finished, key=lambda f: -f[1])


def hugging_face(following: Next, k: int, max_length: int, min_length: int, penalty: float, ngram: int) -> Found:
    """Best first; lengths count begin and end."""
    beams: Found = [([0], 0.0)] + [([0], -1e9)] * (k - 1)
    stored: Found = []
    while True:
        length = len(beams[0][0])
        candidates = []
        for prefix, score in beams:
            logs = without_repeats(list(following(prefix)), prefix, ngram)
            if length < min_length:
                logs[2] = -math.inf
            if length == max_length - 1:
                logs = [0.0 if token == 2 else -math.inf for token in range(len(logs))]
            candidates += [(score + value, [*prefix, token]) for token, value in enumerate(logs)]
        candidates = sorted(candidates, key=lambda c: -c[0])[: 2 * k]
        beams = []
        for rank, (total, ids) in enumerate(candidates):
            if ids[-1] != 2:
                beams.append((ids, total))
            elif rank < k:
                value = total / length**penalty
                if len(stored) < k or value > min(s for _, s in stored):
                    stored.append((ids[1:], value))
                    stored = sorted(stored, key=lambda f: -f[1])[:k]
            if len(beams) == k:
                break
        if len(stored) == k and stored[-1][1] >= candidates[0][0] / length**penalty:
            return stored
        if length + 1 == max_length:
            return stored
