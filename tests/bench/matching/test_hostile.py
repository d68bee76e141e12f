"""The values that were made to hurt are matched right, whatever they cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tamis.bench.matching import hostile
from tamis.bench.matching.contenders import EnginesDisagree
from tamis.native import Measurement, Table


@pytest.mark.parametrize(("kind", "patterns", "matched"), [("hits", 8, 8), ("misses", 8, 0), ("both", 16, 8)])
def test_every_pattern_of_a_holds_and_none_with_an_end(kind: str, patterns: int, matched: int) -> None:
    told = hostile.cost(kind, 8, Table.engines(), value_bytes=200)
    assert (told.patterns, told.matched) == (patterns, matched)
    assert told.ns_per_byte.keys() == set(Table.engines())
    assert min(told.ns_per_byte.values()) > 0


def test_the_longest_patterns_are_within_bounds() -> None:
    assert hostile.cost("both", max(hostile.LENGTHS), ["tamis"], value_bytes=200).patterns == 2 * max(hostile.LENGTHS)


def test_a_wrong_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Table.measure

    def measure(self: Table, *arguments: object) -> Measurement:
        told = honest(self, *arguments)  # type: ignore[arg-type]
        return replace(told, matched=told.matched + (self.engine == "tamis"))

    monkeypatch.setattr(Table, "measure", measure)
    with pytest.raises(EnginesDisagree, match="engines disagree on 50 bytes"):
        hostile.cost("hits", 2, ["sff", "tamis"], value_bytes=50)
