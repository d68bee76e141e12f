"""R2, R3: which statement is the newer, and which is passed on."""

from __future__ import annotations

import pytest

from tamis.router.core.statements.flood import Flood
from tamis.router.core.statements.freshness import Verdict, Version, judge


@pytest.mark.parametrize(
    ("heard", "digest", "verdict"),
    [
        (Version(1, 6), b"b", Verdict.NEWER),
        (Version(2, 1), b"b", Verdict.NEWER),
        (Version(1, 4), b"a", Verdict.OLDER),
        (Version(0, 9), b"b", Verdict.OLDER),
        (Version(1, 5), b"a", Verdict.SAME),
        (Version(1, 5), b"b", Verdict.CONFLICT),
    ],
)
def test_freshness_is_epoch_then_seq_and_what_is_as_fresh_must_be_the_same(heard, digest, verdict):
    assert judge(heard, digest, Version(1, 5), b"a") is verdict


def test_against_nothing_held_anything_is_newer():
    assert judge(Version(0, 0), b"", None, b"") is Verdict.NEWER


def test_a_version_is_passed_on_once_and_never_one_before_it():
    flood = Flood()
    versions = [Version(1, 2), Version(1, 2), Version(1, 1), Version(1, 4), Version(1, 3), Version(2, 0)]
    assert [flood.is_fresh(7, version) for version in versions] == [True, False, False, True, False, True]
    assert flood.newest(7) == Version(2, 0)


def test_issuers_are_passed_on_each_for_itself():
    flood = Flood()
    assert flood.is_fresh(7, Version(9, 9))
    assert flood.newest(8) is None
    assert flood.is_fresh(8, Version(1, 1))
    assert len(flood) == 2


def test_of_an_issuer_that_is_forgotten_nothing_is_left():
    flood = Flood()
    flood.is_fresh(7, Version(1, 1))
    flood.forget(7)
    flood.forget(8)
    assert len(flood) == 0
    assert flood.is_fresh(7, Version(1, 1))
