"""R2: what others ask for, against plain dicts of each version that an issuer ever had."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.protocol.limits import FILTER_OVERHEAD_BYTES, STATEMENT_BYTES_MAX
from tamis.protocol.wire.numbers import (
    NO_DIGEST,
    add,
    entry_digest,
    filter_digest,
    predicate_digest,
    stable_number,
    subtract,
)
from tamis.protocol.wire.routing_bodies import AdvertisedFilter
from tamis.router.core.statements import rib as module
from tamis.router.core.statements.freshness import Verdict, Version
from tamis.router.core.statements.rib import PENDING_MAX, AppliedChange, MissingBase, Rib
from tests.router.core.bodies import change, entry
from tests.router.core.graphs import checks

A = stable_number("a")
ONE, TWO = {1: b"one", 2: b"two"}, {2: b"two", 3: b"three"}
PREDICATES = st.dictionaries(st.integers(1, 6), st.sampled_from([b"p", b"q", b"r"]), max_size=5)


def holding(filters: dict[int, bytes], seq: int = 1) -> Rib:
    rib = Rib()
    rib.replace(A, Version(1, seq), predicate_digest(filters.items()), dict(filters))
    return rib


def carried_out(table: dict[int, bytes], done: AppliedChange) -> dict[int, bytes]:
    return {id_: packed for id_, packed in {**table, **done.added}.items() if id_ not in done.removed}


@checks
@given(st.lists(PREDICATES, min_size=1, max_size=8), st.data())
def test_changes_lead_to_the_predicate_that_the_issuer_has(versions, data):
    rib, table = Rib(), {}
    before = versions[0]
    table = carried_out(table, rib.replace(A, Version(1, 1), predicate_digest(before.items()), dict(before)))
    for seq, wanted in enumerate(versions[1:], 2):
        after = {id_: packed for id_, packed in wanted.items() if before.get(id_, packed) == packed}
        if data.draw(st.booleans()):
            after = wanted
            digest = predicate_digest(after.items())
            done = rib.replace(A, Version(1, seq), digest, dict(after))
        else:
            done = rib.apply(change("a", seq - 1, seq, before, after))
        table = carried_out(table, done)
        held = rib.entries[A]
        assert table == held.filters == after
        assert held.digest == predicate_digest(after.items())
        assert held.version == rib.version(A) == Version(1, seq)
        assert rib.digest == rib.weight(A) == entry_digest(A, 1, seq, held.digest)
        before = after


def test_the_sum_over_all_entries_follows_each_of_them():
    rib, b = holding(ONE), stable_number("b")
    rib.replace(b, Version(1, 1), NO_DIGEST, {})
    rib.restate(A, Version(2, 1), predicate_digest(TWO.items()), 0)
    assert rib.digest == add(NO_DIGEST, rib.weight(A), rib.weight(b))
    assert rib.weight(A) == entry_digest(A, 2, 1, predicate_digest(TWO.items()))
    rib.forget(b)
    rib.forget(b)
    assert (rib.digest, rib.weight(b)) == (rib.weight(A), NO_DIGEST)


@pytest.mark.parametrize(
    "bad",
    [
        change("b", 1, 2, ONE, TWO),
        change("a", 2, 3, ONE, TWO),
        change("a", 1, 2, ONE, TWO, epoch=2),
        replace(change("a", 1, 2, ONE, TWO), digest=NO_DIGEST),
        replace(change("a", 1, 2, ONE, TWO), digest=b"\xff" * len(NO_DIGEST)),
        replace(change("a", 1, 2, ONE, TWO), count=3),
        replace(change("a", 1, 2, ONE, TWO), count=1),
        change("a", 1, 2, {9: b"not held", **ONE}, TWO),
        change("a", 1, 2, {2: b"two"}, {**ONE, 3: b"three"}),
    ],
    ids=[
        "unknown",
        "base",
        "epoch",
        "digest",
        "a larger digest",
        "count",
        "a smaller count",
        "removes nothing",
        "adds again",
    ],
)
def test_a_change_that_does_not_fit_is_a_gap_and_changes_nothing(bad):
    rib = holding(ONE)
    with pytest.raises(MissingBase):
        rib.apply(bad)
    assert rib.entries[A].filters == ONE
    assert rib.entries[A].version == Version(1, 1)
    assert rib.entries[A].digest == predicate_digest(ONE.items())


def test_a_change_that_names_a_filter_twice_is_a_gap_though_its_digest_agrees():
    rib, held = holding(ONE), predicate_digest(ONE.items())
    removes = replace(change("a", 1, 2, ONE, {2: b"two"}), removed=(1, 1), count=0)
    removes = replace(removes, digest=subtract(held, *(filter_digest(1, b"one"),) * 2))
    adds = replace(change("a", 1, 2, ONE, {**ONE, 3: b"3"}), added=(AdvertisedFilter(3, b"3"),) * 2, count=4)
    adds = replace(adds, digest=add(held, *(filter_digest(3, b"3"),) * 2))
    for bad in (removes, adds):
        with pytest.raises(MissingBase):
            rib.apply(bad)
        assert rib.entries[A].filters == ONE


def test_a_change_may_be_large():
    many = dict.fromkeys(range(1000), b"")
    rib = holding(many)
    rib.apply(change("a", 1, 2, many, dict.fromkeys(range(500, 2000), b"")))
    assert len(rib.entries[A].filters) == 1_500


def test_a_whole_predicate_says_what_is_new_and_what_is_gone():
    rib = holding({1: b"one", 2: b"two", 4: b"four"})
    done = rib.replace(A, Version(1, 2), NO_DIGEST, {1: b"one", 2: b"other", 3: b"three"})
    assert done == AppliedChange({2: b"other", 3: b"three"}, (4,))


def test_a_statement_is_judged_by_what_is_held_of_its_issuer():
    rib = holding(ONE, seq=5)
    digest = predicate_digest(ONE.items())
    assert rib.judge(A, Version(1, 5), digest) is Verdict.SAME
    assert rib.judge(A, Version(1, 5), NO_DIGEST) is Verdict.CONFLICT
    assert rib.judge(A, Version(1, 4), digest) is Verdict.OLDER
    assert rib.judge(A, Version(1, 6), digest) is Verdict.NEWER
    assert rib.judge(A + 1, Version(0, 0), digest) is Verdict.NEWER
    assert rib.version(A + 1) is None


def test_what_is_held_is_told_as_an_entry():
    assert holding(ONE, seq=5).entries[A].as_entry(A) == entry("a", 5, ONE)


def test_a_change_that_came_before_its_base_waits_for_it():
    rib, chain = Rib(), [{}, {1: b"1"}, {1: b"1", 2: b"2"}, {2: b"2"}]
    steps = [change("a", seq - 1, seq, chain[seq - 2], chain[seq - 1]) for seq in (2, 3, 4)]
    for step in reversed(steps):
        rib.put_off(step)
    assert rib.waits(A)
    assert rib.next_pending(A) is None
    rib.replace(A, Version(1, 1), NO_DIGEST, {})
    came = []
    while (step := rib.next_pending(A)) is not None:
        rib.apply(step)
        came.append(step)
    assert came == steps
    assert not rib.waits(A)


def test_what_waits_and_is_too_old_by_now_is_dropped():
    rib = holding(ONE, seq=3)
    rib.put_off(change("a", 1, 2, ONE, TWO))
    rib.put_off(change("a", 2, 3, ONE, TWO))
    rib.put_off(change("a", 7, 8, ONE, TWO))
    assert rib.next_pending(A) is None
    assert rib.waits(A)
    rib.replace(A, Version(1, 8), NO_DIGEST, {})
    assert rib.next_pending(A) is None
    assert not rib.waits(A)


@pytest.mark.slow
def test_a_change_that_comes_by_several_links_waits_once_and_the_earliest_are_kept():
    rib = Rib()
    for seq in reversed(range(2, 2 * PENDING_MAX)):
        for _ in range(3):
            rib.put_off(change("a", seq - 1, seq, {}, {}))
    rib.replace(A, Version(1, 1), NO_DIGEST, {})
    while (step := rib.next_pending(A)) is not None:
        rib.apply(step)
    assert rib.version(A) == Version(1, 1 + PENDING_MAX)


def test_of_an_issuer_that_is_forgotten_nothing_is_left():
    rib = holding(ONE)
    rib.put_off(change("a", 7, 8, ONE, TWO))
    assert rib.forget(A) == (1, 2)
    assert rib.forget(A) == ()
    assert rib.version(A) is None
    assert not rib.waits(A)


def test_changes_wait_within_a_limit_in_bytes_where_a_removal_counts_16(monkeypatch):
    before, after = dict.fromkeys(range(3), b""), {7: b"seven", 8: b"eight"}
    size = 2 * (FILTER_OVERHEAD_BYTES + 5) + 3 * 16
    for room, counts in ((size - 1, (0, 0)), (size, (1, 1)), (2 * size - 1, (1, 1)), (2 * size, (1, 2))):
        monkeypatch.setattr(module, "PENDING_BYTES_MAX", room)
        rib = Rib()
        for seq, count in zip((3, 5), counts, strict=True):
            rib.put_off(change("a", seq - 1, seq, before, after))
            assert rib._pending_bytes == count * size
    rib.replace(A, Version(1, 2), NO_DIGEST, {})
    assert rib.next_pending(A) is not None
    assert rib._pending_bytes == size
    rib.drop_pending(A)
    assert rib._pending_bytes == 0


def test_a_filter_that_is_equal_to_the_one_held_is_not_put_into_the_table_again():
    long = b"long " * 100
    rib = holding({1: long})
    assert rib.replace(A, Version(1, 2), NO_DIGEST, {1: bytes(bytearray(long))}) == AppliedChange({}, ())


def test_a_predicate_of_many_filters_is_stated_in_pieces_that_follow_each_other():
    filters = {id_: b"%06d" % id_ for id_ in range(12_000)}
    pieces = list(holding(filters).entries[A].as_pieces(A))
    assert len(pieces) == 3
    assert [piece.first for piece in pieces] == [0, *accumulate(len(piece.filters) for piece in pieces[:-1])]
    assert {(piece.total, piece.digest) for piece in pieces} == {(12_000, predicate_digest(filters.items()))}
    assert dict(filter_ for piece in pieces for filter_ in piece.filters) == filters


def test_what_is_scrapped_is_emptied_in_slices_one_after_the_other(monkeypatch):
    monkeypatch.setattr(module, "EMPTIED_PER_SLICE", 4)
    rib, first, second = Rib(), dict.fromkeys(range(9), b""), {1: b""}
    rib.scrap(first)
    rib.scrap(second)
    sizes = []
    while rib.has_scraps:
        rib.tidy()
        sizes.append((len(first), len(second)))
    assert sizes == [(5, 1), (1, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize(("size", "is_scrapped"), [(STATEMENT_BYTES_MAX, False), (STATEMENT_BYTES_MAX + 1, True)])
def test_only_a_large_predicate_is_emptied_in_slices_when_it_is_held_no_more(size, is_scrapped):
    for let_go in (lambda rib: rib.forget(A), lambda rib: rib.replace(A, Version(1, 2), NO_DIGEST, {})):
        rib = holding(ONE)
        rib.entries[A].size = size
        let_go(rib)
        assert rib.has_scraps is is_scrapped


def test_the_size_of_what_is_held_follows_each_change():
    rib = holding(ONE)
    assert rib.entries[A].size == 2 * FILTER_OVERHEAD_BYTES + len(b"onetwo")
    rib.apply(change("a", 1, 2, ONE, TWO))
    assert rib.entries[A].size == 2 * FILTER_OVERHEAD_BYTES + len(b"twothree")
    rib.apply(change("a", 2, 3, TWO, {}))
    assert rib.entries[A].size == 0
