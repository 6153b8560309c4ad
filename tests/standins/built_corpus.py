"""A small caption contest corpus as `humor-tasks build newyorker` writes it, from invented captions."""

from __future__ import annotations

from pathlib import Path

from standins.corpus import noise_png

from humor_tasks.lab.corpora.newyorker.card import Provenance, card
from humor_tasks.lab.corpora.newyorker.folder import Contents, contents_of, write_folder
from humor_tasks.lab.corpora.newyorker.ranking import Pair
from humor_tasks.lab.corpora.newyorker.rows import Instances, Reference, make_instances
from humor_tasks.rows.contests.annotations import Annotated, Scene

CONTESTS = range(501, 531)
CAPTIONS = 3
WORDS = ("teapot", "ladder", "penguin", "lawyer", "umbrella", "volcano", "dentist")


def captions_of(contest: int, kind: str = "good") -> list[tuple[str, str]]:
    texts = [f"The {kind} {WORDS[contest % 7]} says {k}, {'really ' * k}in {contest}." for k in range(CAPTIONS)]
    return [(text, f"{kind}{k}{contest}") for k, text in enumerate(texts)]


def scene(contest: int, i: int = 1, j: int = 1) -> Scene:
    link = f"https://en.wikipedia.org/wiki/Thing_{contest}_{j}"
    return Scene(f"place {contest} {j}", f"Picture {contest}, {i}.", f"It is odd {i}.", (link,), (f"Why {i}?",))


def annotations(contests: range = CONTESTS) -> dict[int, Annotated]:
    found = {}
    for contest in contests:
        scenes = tuple(scene(contest, i, j) for i in range(3) for j in range(2))
        found[contest] = Annotated(contest, (), scenes, scene(contest))
    return found


def instances(contests: range = CONTESTS, seed: str = "1", explained: bool = True) -> Instances:
    pairs = {
        c: [
            Pair(c, good, okay, "crowd_winner" if k else "official_winner", [], [], 0.0)
            for k, ((good, _), (okay, _)) in enumerate(zip(captions_of(c), captions_of(c, "okay"), strict=True))
        ]
        for c in contests
    }
    references = [Reference(c, captions_of(c)[0][0], f"It is funny in {c}.") for c in contests] if explained else []
    return make_instances({c: captions_of(c) for c in contests}, pairs, references, seed)


def pictures(folder: Path, contests: range = CONTESTS) -> dict[int, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for contest in contests:
        (folder / f"{contest}.png").write_bytes(noise_png(contest, 16))
    return {contest: folder / f"{contest}.png" for contest in contests}


PROVENANCE = Provenance(
    {"annotations.json": "ab" * 32}, {"seed": 1}, {"embedding": "a | model"}, {"pool": {"okay captions": 1200}}
)


def write(out: Path, images: Path | None, seed: str = "1", contents: Contents | None = None) -> Path:
    shown = pictures(images) if images else {}
    contents = contents or contents_of(instances(seed=seed), annotations(), shown, seed)
    write_folder(out, contents, shown, card(contents, PROVENANCE), PROVENANCE.as_json())
    return out
