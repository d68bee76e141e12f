"""Large bodies in parts: made whole again, or refused once, in bounded memory."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol import limits
from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.numbers import NO_DIGEST
from tamis.protocol.wire.parts import (
    CHUNK_BYTES_MAX,
    PART_OVERHEAD_BYTES,
    AdvertisementPart,
    Part,
    PartAssembler,
    ReplyPart,
    RequestPart,
    Whole,
    split,
)
from tamis.protocol.wire.routing_bodies import AdvertisedFilter, Known, ReceiverAdvertisement, Scope, SenderRequest
from tests.protocol.wire.frame_strategies import wholes

TINY = PART_OVERHEAD_BYTES + 16


def advertisement(issuer: int = 1, seq: int = 1, count: int = 10) -> ReceiverAdvertisement:
    added = tuple(AdvertisedFilter(number, b"\x90") for number in range(count))
    return ReceiverAdvertisement(issuer, 1, seq, True, 0, added, (), NO_DIGEST, count, False)


def given_to(assembler: PartAssembler, parts: list[Part]) -> list[Whole]:
    return [whole for whole in map(assembler.add, parts) if whole is not None]


def refused(assembler: PartAssembler, part: Part) -> str:
    with pytest.raises(FrameError) as caught:
        assembler.add(part)
    assert caught.value.code == ErrorCode.BAD_PARTS
    return caught.value.problem


@settings(max_examples=settings.default.max_examples // 2)
@given(wholes(), st.integers(PART_OVERHEAD_BYTES + 1, PART_OVERHEAD_BYTES + 60) | st.just(2**20))
def test_a_body_survives_being_parted(whole: Whole, part_bytes: int) -> None:
    assembler = PartAssembler()
    frames = [encode(part) for part in split(whole, part_bytes)]
    assert all(len(frame) <= part_bytes for frame in frames)
    assert given_to(assembler, [decode(frame) for frame in frames]) == [whole]
    assert assembler.bytes_held == 0


def test_a_whole_part_frame_fits_its_bound() -> None:
    last = 2**64 - 1
    part = ReplyPart(last, last, last, 65_536, 65_536, bytes(CHUNK_BYTES_MAX))
    assert len(encode(part)) <= limits.CONTROL_PART_BYTES_MAX
    with pytest.raises(Refused):
        encode(dataclasses.replace(part, chunk=bytes(CHUNK_BYTES_MAX + 1)))


@pytest.mark.parametrize(("k", "n"), [(2, 1), (1, 65_537), (65_537, 65_537)])
def test_a_part_is_one_of_its_number(k: int, n: int) -> None:
    with pytest.raises(Refused):
        AdvertisementPart(1, 1, 1, k, n, b"x")


def test_bodies_of_different_origins_and_kinds_interleave() -> None:
    bodies: list[Whole] = [advertisement(issuer) for issuer in (1, 2)]
    bodies.append(SenderRequest(1, 1, 1, Scope.TREE, b"", tuple(Known(i, 1, 1, NO_DIGEST) for i in range(5))))
    assembler = PartAssembler()
    rows = [split(body, TINY) for body in bodies]
    turns = [part for turn in range(30) for row in rows for part in row[turn : turn + 1]]
    found = given_to(assembler, turns)
    assert sorted(map(repr, found)) == sorted(map(repr, bodies))
    assert assembler.bytes_held == 0


def test_a_fresher_body_replaces_an_unfinished_one_whose_late_parts_are_dropped() -> None:
    assembler = PartAssembler()
    old, new = split(advertisement(seq=1), TINY), split(advertisement(seq=2), TINY)
    assert given_to(assembler, [*old[:2], new[0], *old[2:], *new[1:]]) == [advertisement(seq=2)]
    assert assembler.bytes_held == 0


def test_an_epoch_counts_before_a_seq() -> None:
    assembler = PartAssembler()
    newer = dataclasses.replace(advertisement(seq=1), epoch=2)
    old, new = split(advertisement(seq=9), TINY), split(newer, TINY)
    assert given_to(assembler, [old[0], new[0], *old[1:], *new[1:]]) == [newer]


def test_a_finished_body_may_come_again() -> None:
    assembler = PartAssembler()
    parts = split(advertisement(), TINY)
    assert given_to(assembler, parts * 2) == [advertisement()] * 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda parts: [parts[0], parts[0]],
        lambda parts: [parts[0], parts[2]],
        lambda parts: [parts[1]],
        lambda parts: [parts[0], dataclasses.replace(parts[1], n=parts[1].n + 1)],
    ],
)
def test_contradictory_parts_are_refused_once_and_cost_their_body(spoil: object) -> None:
    assembler = PartAssembler()
    parts = split(advertisement(), TINY)
    *good, bad = spoil(parts)
    assert given_to(assembler, good) == []
    assert "expected part" in refused(assembler, bad)
    assert assembler.bytes_held == 0
    assert given_to(assembler, parts[3:]) == []
    assert given_to(assembler, split(advertisement(seq=2), TINY)) == [advertisement(seq=2)]


def test_a_body_may_be_sent_again_after_its_refused_parts_are_through() -> None:
    assembler = PartAssembler()
    parts = split(advertisement(), TINY)
    refused(assembler, parts[1])
    assert given_to(assembler, parts[2:]) == []
    assert given_to(assembler, parts) == [advertisement()]


def test_what_is_unfinished_is_bounded_in_bytes() -> None:
    assembler = PartAssembler(bytes_max=100)
    assembler.add(AdvertisementPart(1, 1, 1, 1, 9, bytes(60)))
    assembler.add(AdvertisementPart(2, 1, 1, 1, 9, bytes(40)))
    assert "at most 100 bytes" in refused(assembler, AdvertisementPart(2, 1, 1, 2, 9, b"x"))
    assert assembler.bytes_held == 60
    assert assembler.add(AdvertisementPart(2, 1, 1, 3, 9, bytes(99))) is None
    assert assembler.add(AdvertisementPart(1, 1, 1, 2, 9, bytes(40))) is None
    assert assembler.bytes_held == 100


def test_unfinished_bodies_are_bounded_in_number() -> None:
    assembler = PartAssembler()
    for origin in range(limits.ASSEMBLY_STREAMS_MAX):
        assembler.add(AdvertisementPart(origin, 1, 1, 1, 2, b"x"))
    assert "unfinished" in refused(assembler, RequestPart(1, 1, 1, 1, 2, b"x"))
    refused(assembler, AdvertisementPart(7, 1, 1, 2, 2, b"x"))
    assert given_to(assembler, split(advertisement(7_000))) == [advertisement(7_000)]


@pytest.mark.parametrize("body", [b"\x90", b"\xc1", b"\xdd\xff\xff\xff\xff", b"\x91" * 1_000])
def test_a_body_that_does_not_decode_costs_no_connection(body: bytes) -> None:
    assembler = PartAssembler()
    refused(assembler, ReplyPart(1, 1, 1, 1, 1, body))
    assert assembler.bytes_held == 0


def test_a_body_says_the_same_as_its_parts() -> None:
    [part] = split(advertisement(issuer=1))
    for change in {"origin": 2}, {"epoch": 2}, {"seq": 2}:
        assert "the body has the ticket" in refused(PartAssembler(), dataclasses.replace(part, **change))
    assert "bytes after the end" in refused(PartAssembler(), dataclasses.replace(part, chunk=part.chunk + b"\0"))
