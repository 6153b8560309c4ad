"""Bad inputs end in one clear message: no traceback of ours, no silent use, no half-written file. See bad_inputs/."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_inputs import CASES
from bad_inputs.case import Bad, ended


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{room}: {case.name}") for room, case in CASES])
def test_a_bad_input_is_told_clearly(case: Bad, tmp_path: Path) -> None:
    found = ended(case, tmp_path / "here")
    assert found.kind == "clear", f"{found.kind}: {found.output}"
