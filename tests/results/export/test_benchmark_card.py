"""A benchmark's card as a BenchmarkCard: the fields of the published cards, none empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from standins.commands import humor_tasks, refused

from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
from humor_tasks.results.export.benchmark_card import benchmark_card

FIELDS = {
    "benchmark_details": "name overview data_type domains* languages* similar_benchmarks* resources*",
    "purpose_and_intended_users": "goal audience* tasks* limitations out_of_scope_uses*",
    "data": "source size format annotation",
    "methodology": "methods* metrics* calculation interpretation baseline_results validation",
    "targeted_risks": "risk_categories* atlas_risks demographic_analysis harm*",
    "ethical_and_legal_considerations": (
        "privacy_and_anonymity data_licensing consent_procedures compliance_with_regulations"
    ),
}
"""Section -> fields of the cards in BenchmarkCards_JSON/ of SokolAnn/BenchmarkCards; * is a list."""


def unstated(card: dict[str, dict[str, Any]]) -> set[str]:
    """The fields that say why they are not filled."""
    fields = {name: value for section in card.values() for name, value in section.items()}
    return {name for name, value in fields.items() if str(value).strip("['").startswith("Not stated: ")}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_field_of_the_template_is_filled_or_says_why_not(name: str) -> None:
    card = benchmark_card(find_benchmark(name))
    assert {section: list(fields) for section, fields in card.items()} == {
        section: fields.replace("*", "").split() for section, fields in FIELDS.items()
    }
    for section, fields in FIELDS.items():
        for field in fields.split():
            value = card[section][field.strip("*")]
            if field == "atlas_risks":
                assert value == {"risks": []}
            elif field.endswith("*"):
                assert value
                assert all(isinstance(text, str) and text.strip() for text in value)
            else:
                assert isinstance(value, str)
                assert value.strip()
    assert unstated(card) <= {"compliance_with_regulations", "validation", "format", "resources"}


def test_the_command_writes_what_the_card_says(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    humor_tasks("export", "benchmark-card", "mock_matching", "-o", path)
    card = json.loads(path.read_text(encoding="utf-8"))
    assert card == benchmark_card(find_benchmark("mock_matching"))
    details = card["benchmark_details"]
    assert (details["data_type"], details["languages"]) == ("text, images, video", ["English", "Hindi"])
    assert card["data"]["format"] == "Multiple choice of 4"
    said = refused("export", "benchmark-card", "matchin", "-o", tmp_path / "none.json")
    assert "matching" in said
    assert not (tmp_path / "none.json").exists()
