"""The reference page of records is the one that their table prints now."""

from __future__ import annotations

from pathlib import Path

from tamis.router.records import reference

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "records.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == reference.page(), "run python -m tamis.router.records.reference"
