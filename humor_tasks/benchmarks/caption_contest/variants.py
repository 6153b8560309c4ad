"""The contest's tasks in lm-eval: `nyc_matching`, `nyc_ranking` and `nyc_explanation`, their variants and groups."""

from __future__ import annotations

from humor_tasks.benchmarks.options import Group, OutputType, Variant, variants

SETTINGS = {
    "": {},
    "_pixels": {"setting": "pixels"},
    "_caption_only": {"setting": "caption_only"},
    "_crossval": {"fold": "all"},
}
GROUPS = {
    "": Group("nyc", "The three benchmarks of fold 0, letters by log-likelihood."),
    "_gen": Group("nyc_gen", "The three benchmarks of fold 0, replies generated."),
    "_crossval": Group("nyc_crossval", "The five folds: every metric is their unweighted mean, as in the paper."),
    "_crossval_gen": Group("nyc_crossval_gen", "As nyc_crossval, replies generated."),
}


def in_lm_eval(base: str, likelihood: OutputType) -> tuple[Variant, ...]:
    """The tasks of one benchmark, by log-likelihoods and by written replies."""
    return variants(base, likelihood, "generate_until", settings=SETTINGS, groups=GROUPS)
