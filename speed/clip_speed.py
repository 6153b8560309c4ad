"""CLIP, random weights: pictures a second as a share of the machine's peak; whole runs beside the released recipe.

    python speed/clip_speed.py [--architecture ViT-L-14-336-quickgelu] [--device cuda] [--precision bf16]

The recipe as released with Hessel et al. 2023: fp32, batches of 32 instances from a DataLoader of 4 workers that read,
decode and transform each instance's picture, and every instance's own captions encoded at 77 tokens. Ours:
`clip_predict`. Both crop, so that in fp32 both give the same letters, save where two captions are as good as equal.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from clip_workload import INSTANCES, LETTERS, pictures, write_corpus
from open_clip.transform import image_transform
from PIL import Image
from torch.nn.functional import normalize
from torch.utils.data import DataLoader, Dataset

from humor_tasks import clip_predict
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.clip.model import DTYPES, pick_device
from humor_tasks.models.pictures import Source, ahead
from humor_tasks.rows.media.picture import Picture


def main() -> None:
    device = pick_device("auto").type
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=device)
    parser.add_argument("--architecture", help="a ViT; default: ViT-L-14-336-quickgelu on a GPU, ViT-B-32 on a CPU")
    parser.add_argument("--precision", choices=tuple(DTYPES), help="ours; default: bf16 on a GPU, fp32 on a CPU")
    parser.add_argument("--pictures", type=int, help="to embed; default: 4096 on a GPU, 64 on a CPU")
    parser.add_argument("--instances", type=int, help=f"to answer; default: {INSTANCES} on a GPU, 96 on a CPU")
    parser.add_argument("--compile", action="store_true", help="ours")
    given = parser.parse_args()
    gpu = given.device.startswith("cuda")
    architecture = given.architecture or ("ViT-L-14-336-quickgelu" if gpu else "ViT-B-32")
    precision = given.precision or ("bf16" if gpu else "fp32")

    def config(precision: str, compiled: bool) -> ClipConfig:
        name = f"{architecture}/random"
        return ClipConfig(name, fit="crop", prefix="", precision=precision, device=given.device, compile=compiled)

    ours, theirs = config(precision, given.compile), config("fp32", False)

    name = torch.cuda.get_device_name(given.device) if gpu else f"{torch.get_num_threads()} threads"
    print(f"{architecture}, {given.device} ({name}), torch {torch.__version__}\n")
    embedding(Clip.load(ours), given.pictures or (4096 if gpu else 64))
    with tempfile.TemporaryDirectory() as folder:
        instances = given.instances or (INSTANCES if gpu else 96)
        whole_runs(write_corpus(Path(folder) / "data", instances), ours, theirs)


# ---- pictures a second --------------------------------------------------------------------------


def embedding(clip: Clip, count: int) -> None:
    """Files in memory to vectors, beside the model alone and the reading threads alone: the slower one decides."""
    dtype = DTYPES[clip.precision]
    peak = matrix_peak(clip.device, dtype)
    size = clip.pixels.size
    batch = clip._batch["picture"]
    ready = torch.rand(min(batch, count), 3, size, size).to(clip.device, dtype).to(memory_format=torch.channels_last)
    flops = flop(clip)
    files = pictures(count)
    clip.embed_images(files[: 2 * batch])  # warm
    clip.forget()
    rates = {"files to vectors": rate(count, lambda: clip.embed_images(files))}
    passes = max(1, count // len(ready))
    with torch.inference_mode():
        rates["the model alone"] = rate(passes * len(ready), lambda: [clip._encode_image(ready) for _ in range(passes)])

    def read(picture: Picture) -> None:
        source = Source(picture, "")
        source.content()
        source.pixels(clip.pixels)

    rates["reading alone"] = rate(count, lambda: list(ahead(read, files, clip._workers, 2 * batch)))
    print(f"peak of a {clip.precision} matrix product: {peak / 1e12:.3f} TFLOP/s; a picture: {flops / 1e9:.1f} GFLOP")
    print(f"{'':24}{'pictures/s':>12}{'TFLOP/s':>10}{'of peak':>9}")
    for what, found in rates.items():
        work = "" if "reading" in what else f"{found * flops / 1e12:10.3f}{found * flops / peak:9.0%}"
        print(f"{what:24}{found:12.1f}{work}")
    if clip.device.type == "cuda":
        print("goal: from files to vectors at least 60% of the peak")


def flop(clip: Clip) -> float:
    """Of one picture: two a multiplication in patches, layers and projection; norms and activations not counted.

    Not torch's counter, which overlooks some forms of attention.
    """
    look = clip._loaded.model_config["vision_cfg"]
    layers, width, patch, grown = look["layers"], look["width"], look["patch_size"], look.get("mlp_ratio", 4)
    n = (clip.pixels.size // patch) ** 2 + 1
    layer = 2 * n * width**2 * (4 + 2 * grown) + 4 * n**2 * width
    ends = 6 * (n - 1) * patch**2 * width + 2 * width * clip._loaded.model_config["embed_dim"]
    return float(layers * layer + ends)


def matrix_peak(device: torch.device, dtype: torch.dtype) -> float:
    """FLOP/s of the best of five products of square matrices."""
    n = 8192 if device.type == "cuda" else 2048
    a, b = (torch.randn(n, n, device=device).to(dtype) for _ in range(2))
    a @ b
    return max(rate(2 * n**3, lambda: a @ b) for _ in range(5))


def rate(items: float, run: Any) -> float:
    """Items a second of one call, the device's work included."""
    synchronise()
    start = time.perf_counter()
    run()
    synchronise()
    return items / (time.perf_counter() - start)


def synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


# ---- whole runs ---------------------------------------------------------------------------------


class Instances(Dataset[Any]):
    """A transformed picture, its tokens [5, 77] and the id of each instance, made anew whenever it is asked for."""

    def __init__(self, folder: Path, clip: Clip) -> None:
        self.folder = folder
        self.rows = [json.loads(line) for line in (folder / "matching.jsonl").read_text().splitlines()]
        look = clip.pixels
        self.transform = image_transform(look.size, is_train=False, mean=look.mean, std=look.std)
        self.tokenize = clip._loaded.tokenizer

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor, str]:
        row = self.rows[i]
        with Image.open(self.folder / row["image"]) as image:
            picture = self.transform(image.convert("RGB"))
        return picture, self.tokenize(row["caption_choices"]), row["instance_id"]


def released(folder: Path, clip: Clip) -> dict[str, str]:
    """As the code released with the paper goes about it."""
    letters, model = {}, clip.model
    with torch.no_grad():
        for images, captions, names in DataLoader(Instances(folder, clip), batch_size=32, num_workers=4):
            vectors = normalize(model.encode_image(images.to(clip.device)), dim=-1)
            texts = normalize(model.encode_text(captions.flatten(0, 1).to(clip.device)), dim=-1)
            cosines = texts.view(len(names), -1, texts.shape[1]) @ vectors[:, :, None]
            letters |= {name: LETTERS[i] for name, i in zip(names, cosines.argmax(dim=1).flatten(), strict=True)}
    return letters


def whole_runs(data: str, ours: ClipConfig, theirs: ClipConfig) -> None:
    """Seconds of both for the same instances, models loaded; from the dataset folder to letters."""
    clip, plain = Clip.load(ours), Clip.load(theirs)
    for model in (clip, plain):  # wakes the device
        model.score(pictures(1), [["a caption"]])
    clip.forget()
    seconds, letters = {}, {}
    runs = {
        "released recipe": lambda: released(Path(data), plain),
        "clip_predict": lambda: clip_predict(data, clip=clip),
    }
    for what, run in runs.items():
        start, spent = time.perf_counter(), processor()
        letters[what] = run()
        seconds[what] = time.perf_counter() - start, processor() - spent
    one, other = letters.values()
    same = sum(one[name] == other[name] for name in one) / len(one)
    title = f"{len(one):,} instances"
    print(f"\n{title:24}{'seconds':>12}{'a second':>10}{'processors, s':>15}")
    for what, (took, busy) in seconds.items():
        print(f"{what:24}{took:12.1f}{len(one) / took:10.1f}{busy:15.1f}")
    by_clock, by_processor = (a / b for a, b in zip(*seconds.values(), strict=True))
    goal = 5 if clip.device.type == "cuda" else 2
    print(f"{by_clock:.1f} times as fast, {by_processor:.1f} times by processor time (goal: at least {goal})")
    print(f"the same letter for {same:.1%}")


def processor() -> float:
    """Seconds that processors have spent on this process and on those it started and saw end."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
