"""docs/table2.md: its rows are those of `reproduce`, and its figures are the products that it says they are."""

from __future__ import annotations

import re

import pytest
from standins.paths import REPOSITORY

from humor_tasks.models.ofa import OfaConfig
from humor_tasks.results.reproduce.rows import rows

PAGE = (REPOSITORY / "docs" / "table2.md").read_text(encoding="utf-8")


def test_each_row_that_is_neither_hosted_nor_people_has_its_command() -> None:
    own = {name for name, row in rows().items() if name.startswith("matching-") and not row.retired}
    assert own - {"matching-human"} == set(re.findall(r"reproduce (matching-[\w-]+)", PAGE))


def test_bytes_a_weight_give_the_gigabytes() -> None:
    found = re.findall(r"\| (\d+) \+ (\d+) \+ (\d+) = (\d+) \| (\d+) \|", PAGE)
    assert len(found) == 5
    for *parts, together, gigabytes in found:
        assert sum(map(int, parts)) == int(together)
        assert round(11.3 * int(together)) == int(gigabytes)


@pytest.mark.parametrize(("weights", "size"), [(0.428, "6.8"), (0.929, "14.9"), (0.738, "11.8")])
def test_sixteen_bytes_a_weight(weights: float, size: str) -> None:
    assert f"| {weights * 1000:.0f}M | {size} |" in PAGE
    assert f"{16 * weights:.1f}" == size


def test_ofa_huge_has_the_layers_that_are_counted() -> None:
    huge = OfaConfig.named("huge")
    assert (huge.encoder_layers, huge.encoder_attention_heads, (480 // 16) ** 2 + 7) == (24, 16, 907)
