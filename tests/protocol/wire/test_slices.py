"""Large bodies in slices: the same bytes, the same values, the same refusals, and never long without a pause."""

from __future__ import annotations

import dataclasses

import pytest
from msgpack import unpackb

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire._msgpack import pack
from tamis.protocol.wire.body_reader import BodyReader
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, Entry, ReceiverAdvertisement, UpdateReply
from tamis.protocol.wire.schema import record_of
from tamis.protocol.wire.slices import ROWS_PER_SLICE, at_once, packed, read


def advertisement(count: int) -> ReceiverAdvertisement:
    rows = tuple(AdvertisedFilter(number, b"\x90") for number in range(count))
    return ReceiverAdvertisement(1, 2, 3, True, 0, rows, (), bytes(16), count, False)


def reply(entries: int, rows: int) -> UpdateReply:
    return UpdateReply(
        1, 2, 3, tuple(Entry(issuer, 1, 1, bytes(16), advertisement(rows).added) for issuer in range(entries))
    )


@pytest.mark.parametrize("whole", [advertisement(0), advertisement(3 * ROWS_PER_SLICE + 1), reply(3, 5), reply(0, 0)])
def test_slices_change_nothing(whole):
    record = record_of(type(whole))
    body = at_once(packed(record, whole))
    assert body == pack(record.plain(whole))
    reader = BodyReader(body, "it")
    assert at_once(read(record, reader)) == whole
    reader.finish()


@pytest.mark.parametrize(
    ("whole", "pauses"), [(advertisement(1), 0), (advertisement(3 * ROWS_PER_SLICE + 1), 3), (reply(4, 5), 3)]
)
def test_it_pauses_between_slices(whole, pauses):
    record = record_of(type(whole))
    assert sum(1 for _ in packed(record, whole)) == pauses
    assert sum(1 for _ in read(record, BodyReader(at_once(packed(record, whole)), "it"))) == pauses


def test_what_is_refused_names_its_field():
    record = record_of(UpdateReply)
    wrong = UpdateReply(1, 2, 3, (Entry(1, 1, 1, b"short", ()),))
    with pytest.raises(Refused, match="entries of UpdateReply: digest of Entry: expected 16 bytes"):
        at_once(packed(record, wrong))
    body = pack([1, 2, 3, [[1, 1, 1, bytes(16), [[1, "text"]]]]])
    with pytest.raises(FrameError, match="entries of filters of filter of it: expected 1 to 65536 bytes"):
        at_once(read(record, BodyReader(body, "it")))
    with pytest.raises(FrameError, match="elements"):
        at_once(read(record, BodyReader(b"\x94\x01\x02\x03\xdd\xff\xff\xff\xff", "it")))


ROW = ReceiverAdvertisement(1, 2, 3, True, 0, (AdvertisedFilter(1, b"\x90"),), (), bytes(16), 1, False)


@pytest.mark.parametrize(
    "row",
    [[-1, b"\x90"], [2**64 - 1, b""], [1, "text"], [True, b"\x90"], [1], [[1], b"\x90"], 7, [1, bytes(65_537)]],
)
def test_rows_that_are_none_are_refused_as_ever(row):
    record = record_of(ReceiverAdvertisement)
    body = pack([1, 2, 3, True, 0, [[5, b"\x91"], row], [], bytes(16), 2, False])
    with pytest.raises(FrameError) as slow:
        record.read(BodyReader(body, "it"))
    with pytest.raises(FrameError) as fast:
        at_once(read(record, BodyReader(body, "it")))
    assert (fast.value.code, str(fast.value)) == (slow.value.code, str(slow.value))


@pytest.mark.parametrize("extra", [[7], [{"a": [1]}], [[[1]], None]])
def test_rows_of_a_later_version_are_read(extra):
    record = record_of(ReceiverAdvertisement)
    body = pack([1, 2, 3, True, 0, [[1, b"\x90", "", 0, *extra]], [], bytes(16), 1, False, *extra])
    assert at_once(read(record, BodyReader(body, "it"))) == ROW


def test_plain_tuples_are_packed_as_the_records_they_stand_for():
    record = record_of(ReceiverAdvertisement)
    plain = dataclasses.replace(ROW, added=((1, b"\x90"),))
    assert at_once(packed(record, plain)) == at_once(packed(record, ROW))
    assert isinstance(at_once(read(record, BodyReader(at_once(packed(record, ROW)), "it"))).added[0], AdvertisedFilter)
    with pytest.raises(Refused):
        at_once(packed(record, dataclasses.replace(ROW, added=((1, b""),))))


def test_rows_of_groups_stand_beside_others():
    record = record_of(ReceiverAdvertisement)
    rows = (AdvertisedFilter(1, b"\x90"), AdvertisedFilter(2, b"\x90", "workers", 4))
    body = at_once(packed(record, dataclasses.replace(ROW, added=rows, count=2)))
    assert unpackb(body)[5] == [[1, b"\x90"], [2, b"\x90", "workers", 4]]
    plain, shared = at_once(read(record, BodyReader(body, "it"))).added
    assert (plain.group, plain.members) == ("", 0)
    assert (shared.group, shared.members) == ("workers", 4)
    assert plain.filter != shared.filter == rows[1].filter
    assert shared.filter != AdvertisedFilter(2, b"\x90", "others", 4).filter


@pytest.mark.parametrize("row", [[1, b"\x90", "workers"], [1, b"\x90", "", 3], [1, b"\x90", "workers", 0]])
def test_a_group_without_members_is_refused(row):
    body = pack([1, 2, 3, True, 0, [row], [], bytes(16), 1, False])
    with pytest.raises(FrameError, match="a filter has members if and only if"):
        at_once(read(record_of(ReceiverAdvertisement), BodyReader(body, "it")))
