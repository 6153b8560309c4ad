"""Settings of `humor-tasks build newyorker`: each is declared once, as a benchmark's parameters are, and is a flag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from humor_tasks.contract.options import Declared, parameter, required
from humor_tasks.errors import BadInput
from humor_tasks.rows.contests.dates import last_until, read_date


@dataclass(frozen=True, kw_only=True)
class Settings(Declared):
    """The files of a build, and what its rows depend on besides them. Raises BadInput naming an invalid value."""

    annotations: Path | None = parameter(None, "JSON with finalists and descriptions by contest.")
    crowd: Path = required("Folder with NUMBER.csv: captions, with or without ratings.")
    images: Path | None = parameter(None, "Folder with NUMBER.jpg or .png, for the settings from pixels.")
    explanations: Path | None = parameter(None, "JSON lines with contest_number, caption and explanation.")
    embedding: str = parameter(
        "sentence-transformers/paraphrase-MiniLM-L6-v2",
        "sentence-transformers model or folder; the default is the paper's.",
    )
    quality: Path | None = parameter(None, "Folder of a trained quality model. Default: one is trained.")
    quality_model: str | None = parameter(
        None,
        "Text model of transformers to train as the quality model, two by contest parity; google-t5/t5-large is the "
        "paper's. Default: a linear discriminant.",
    )
    since: str | None = parameter(
        None, "Only contests after this number or day (2023-09-30, or 2023-09 for that month on).", also=int
    )
    seed: int = parameter(1234, "Seed of folds, letters and wrong captions.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quality and self.quality_model:
            raise BadInput("--quality is a trained model and --quality-model trains one; give one of them.")
        try:
            _ = self.after
        except BadInput as problem:
            raise BadInput(f"--since: {problem} A contest's number is possible, too.") from None

    @property
    def after(self) -> int | None:
        """The last contest that gets no rows, and only trains the quality model; None where all get some."""
        if self.since is None or self.since.isdecimal():
            return None if self.since is None else int(self.since)
        return last_until(read_date(self.since))
