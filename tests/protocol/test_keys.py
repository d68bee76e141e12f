"""Keys are stable, follow the normal form, and tell different filters apart."""

from __future__ import annotations

import pytest
from hypothesis import given

from tamis.protocol.errors import NeverMatches
from tamis.protocol.json_form import decode_filter
from tamis.protocol.keys import encode_normal, filter_key, normal_key
from tamis.protocol.normal import normalize
from tests.strategies import filters


def key(form: list[list[object]]) -> int:
    return filter_key(decode_filter(form))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ([], 0xD063BDBBC1D4E3EE),
        ([["x", "=", 1]], 0x8B4FF62B64865B07),
        ([["x", "=", True]], 0x1A8286B01EFF9545),
        ([["x", "=", 0.5]], 0x690D0F59312BB196),
        ([["x", "=", "1"]], 0x1F2F9D4BC2FEFCAB),
        ([["symbol", "=", "S1"], ["price", "<", 500], ["venue", "not", "in", ["X", "Y"]]], 0xD07B84E5EFE9E7C5),
        ([["x", "prefix", "é\U0010ffff"], ["y", "not", "exists"]], 0xBB78894960430E10),
    ],
)
def test_frozen(form, expected):
    """A change here is a change of every router's tables: raise keys.FORMAT and say so in the changelog."""
    assert key(form) == expected


def test_encoding_is_as_described():
    one = b"\x01\x01\0\0\0" + b"\x01\0\0\0x" + b"\x01" + b"\x01\0\0\0="
    assert encode_normal(decode_filter([["x", "not", "=", 7]])) == one + b"\x01\0\0\0" + b"i\x07" + bytes(7)
    assert encode_normal(decode_filter([["x", "not", "=", True]])) == one + b"\x01\0\0\0" + b"b\x01"
    assert encode_normal(decode_filter([["x", "not", "=", 0.5]])) == one + b"\x01\0\0\0" + b"f" + bytes(6) + b"\xe0?"
    assert encode_normal(decode_filter([["x", "not", "=", "é"]])) == one + b"\x01\0\0\0" + b"s\x02\0\0\0\xc3\xa9"


def test_same_meaning_same_key():
    assert key([["x", "=", 1.0]]) == key([["x", "in", [1]]]) == key([["x", ">=", 1], ["x", "<=", 1]])
    assert key([["x", "=", -0.0]]) == key([["x", "=", 0]])
    assert key([["x", ">=", ""]]) == key([["x", "contains", ""]])
    assert key([["x", "=", 1], ["y", "=", 2]]) == key([["y", "=", 2], ["x", "=", 1]])


def test_parts_do_not_run_together():
    forms = [
        [["x", "in", ["ab", "c"]]],
        [["x", "in", ["a", "bc"]]],
        [["xa", "in", ["b", "c"]]],
        [["x", "=", 1]],
        [["x", "=", "1"]],
        [["x", "=", True]],
        [["x", "not", "=", 1]],
        [["x", "=", 2**62]],
        [["x", "=", 2.0**64]],
    ]
    assert len({key(form) for form in forms}) == len(forms)


def test_a_filter_that_never_matches_has_no_key():
    with pytest.raises(NeverMatches):
        key([["x", "<", 3], ["x", ">", 5]])


@given(filters(), filters())
def test_keys_are_equal_where_normal_forms_are(a, b):
    try:
        ours, theirs = normalize(a), normalize(b)
    except NeverMatches:
        return
    assert (normal_key(ours) == normal_key(theirs)) == (ours == theirs)
    assert 0 <= filter_key(a) == normal_key(ours) < 2**64
