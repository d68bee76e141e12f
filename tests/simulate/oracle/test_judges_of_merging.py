"""The judge of merged filters: it is shown what must not be stated, and what may."""

from __future__ import annotations

import pytest

from tamis.simulate.oracle.merged import MergedStatements
from tests.simulate.oracle.court import C, Court

CONTENTS = {b"0": 0b11, b"1": 0b1000, b"both": 0b1011, b"hull": 0b1111, b"wide": 0b11111, b"other": 0b100000}
"""Client 1 at C wants 0; each content has its number as its level."""


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ([b"0", b"1"], []),
        ([b"both"], []),
        ([b"hull"], []),
        ([b"wide"], [4]),
        ([b"0"], [5]),
        ([b"0", b"both"], [4]),
        ([b"0", b"1", b"other"], [4]),
    ],
)
def test_a_merged_filter_stands_for_two_and_is_no_wider_than_they_are(
    court: Court, stated: list[bytes], found: list[int]
) -> None:
    court.truth.wanted(2, 1, C, 1, CONTENTS[b"1"])
    packed = {0: b"0", 1: b"1"}
    judge = MergedStatements(court.truth, range(6), packed.__getitem__, CONTENTS.__getitem__, court.report)
    judge.judge(C, stated)
    assert court.found == found


def test_what_is_stated_in_vain_is_counted(court: Court) -> None:
    court.truth.wanted(2, 1, C, 1, CONTENTS[b"1"])
    packed = {0: b"0", 1: b"1"}
    judge = MergedStatements(court.truth, range(6), packed.__getitem__, CONTENTS.__getitem__, court.report)
    judge.judge(C, [b"hull"])
    assert (judge.merged, judge.parts, judge.wanted, judge.vain) == (1, 2, 3, 1)
