"""What a wrong filter is told, word for word: mistakes.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.protocol import dialects
from tamis.protocol.errors import DialectError


def _mistakes():
    _head, *blocks = (Path(__file__).parent / "mistakes.txt").read_text().strip().split("\n\n")
    for block in blocks:
        first, *error = block.splitlines()
        yield *first.split(": ", 1), "\n".join(line.removeprefix("  ") for line in error)


MISTAKES = list(_mistakes())


@pytest.mark.parametrize(("name", "text", "error"), MISTAKES, ids=[f"{name}: {text}" for name, text, _ in MISTAKES])
def test_a_mistake_is_told_with_place_and_hint(name, text, error):
    with pytest.raises(DialectError) as caught:
        dialects.get(name).translate(text)
    assert str(caught.value) == error
    assert error.splitlines()[2].strip() == "^"


def test_every_dialect_has_mistakes():
    assert {name for name, _, _ in MISTAKES} == {*dialects.names()}
    assert len(MISTAKES) >= 60
