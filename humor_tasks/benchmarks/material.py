"""Whose humour a corpus is, and what to know of people and content before its rows are used.

The fields are the questions of BetterBench (Reuel et al., NeurIPS 2024, arXiv 2411.12990) on data and annotation. Each
corpus answers them once, in its own `material.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Material:
    """Whose humour the rows of a corpus are, and what to know of people and content before they are used.

    card: the folder of the corpus's dataset card. humour: who wrote the jokes, for whom, and who judged them.
    coverage: how far the rows are representative, and of what. annotation: who annotated what, how it was checked, and
    how far annotators agree. privacy: personal data in rows. consent: what writers and annotators agreed to.
    sensitive: what may offend in rows. outputs: what may offend in replies. Each text is whole sentences with the
    place in the paper.
    """

    card: str = ""
    humour: str = ""
    coverage: str = ""
    annotation: str = ""
    privacy: str = ""
    consent: str = ""
    sensitive: str = ""
    outputs: str = ""

    @property
    def told(self) -> dict[str, str]:
        """Label -> text, without empty ones and without `coverage`, which is a limitation."""
        told = {
            "Whose humour": self.humour,
            "Annotation": self.annotation,
            "Personal data": self.privacy,
            "Consent": self.consent,
            "Sensitive content in items": self.sensitive,
            "Sensitive content in replies": self.outputs,
        }
        return {label: text for label, text in told.items() if text}
