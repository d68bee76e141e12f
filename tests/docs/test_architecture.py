"""The table of folders on the page of the architecture says what `tests/test_imports.py` holds."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_imports import ARROWS

PAGE = (Path(__file__).parents[2] / "docs" / "design" / "architecture.md").read_text()


def test_what_a_folder_may_import_is_what_the_test_of_imports_allows() -> None:
    rows = re.findall(r"^\| `(\w+)/` \| [^|]+ \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert {folder: set(re.findall(r"`(\w+)`", allowed)) for folder, allowed in rows} == ARROWS
