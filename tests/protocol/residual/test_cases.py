"""The tables of upper and lower case: those of Unicode 14, and the same in Python and in C."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from tamis.protocol.residual.cases import folded, lower, upper
from tests.protocol.residual import make_cases

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
NEEDS_14 = pytest.mark.skipif(
    unicodedata.unidata_version != make_cases.UNIDATA, reason="this Python has another Unicode"
)


@NEEDS_14
def test_the_tables_are_those_of_unicode() -> None:
    for character in CHARACTERS:
        found = (folded(character), lower(character), upper(character))
        assert found == tuple(mapping(character) for mapping in make_cases.MAPPINGS.values()), character


@NEEDS_14
def test_the_files_are_written_from_one_reading() -> None:
    assert make_cases.PYTHON.read_text() == make_cases.python_text()
    assert "".join(make_cases.C.read_text().split()) == "".join(make_cases.c_text().split())


def test_folding_again_changes_nothing() -> None:
    text = "".join(CHARACTERS)
    assert folded(folded(text)) == folded(text)
    assert folded("ΑΣς ÄK") == "\u03b1\u03c3\u03c3 äk"
