"""The frozen vectors: bytes that peers in the field send, and what they mean, for ever."""

from __future__ import annotations

from collections import Counter

import pytest

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.frames import decode, encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.parts import PartAssembler
from tests.protocol.wire import make_vectors
from tests.protocol.wire.json_forms import json_form
from tests.protocol.wire.vectors import BY_NAME, DATA_VECTORS, VECTORS, Vector


def test_there_are_two_of_every_kind() -> None:
    counts = Counter(vector.kind for vector in VECTORS)
    assert all(counts[kind] >= 2 for kind in FrameKind), counts
    assert len(BY_NAME) == len(VECTORS)


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_a_vector_means_what_it_meant(vector: Vector) -> None:
    frame = decode(vector.data)
    assert repr(json_form(frame)) == repr(vector.frame)
    assert encode(frame) == vector.data


def test_the_maker_agrees_with_the_frozen_bytes() -> None:
    made = {name: encode(frame) for name, frame in make_vectors.frames().items()}
    assert made == {vector.name: vector.data for vector in VECTORS if vector.name in made}


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_a_frame_cut_short_or_followed_by_more_is_refused(vector: Vector) -> None:
    for end in range(len(vector.data)):
        with pytest.raises(FrameError):
            decode(vector.data[:end])
    with pytest.raises(FrameError):
        decode(vector.data + b"\0")


@pytest.mark.parametrize("vector", DATA_VECTORS, ids=str)
def test_a_view_reads_the_same_from_bytes_and_memory(vector: Vector) -> None:
    for view in DeliverView(vector.data), DeliverView(memoryview(vector.data)):
        read = decode(vector.data)
        assert (view.kind, view.flags, view.hop_limit) == (read.kind, read.flags, read.hop_limit)
        assert (view.id, view.transit, view.publish_time_ns) == (read.message.id, read.transit, read.publish_time_ns)
        assert repr(view.attributes) == repr(dict(read.message.attributes))
        assert view.payload == read.message.payload
        assert dict(view.extensions) == dict(read.extensions)
        assert view.satisfied == read.extensions.get(5, ())


def test_the_parts_of_a_vector_make_its_whole() -> None:
    whole = PartAssembler().add(decode(BY_NAME["ra, full"].data))
    assembler = PartAssembler()
    split = [vector for vector in VECTORS if vector.name.startswith("ra, part")]
    assert len(split) > 1
    assert [assembler.add(decode(vector.data)) for vector in split] == [None] * (len(split) - 1) + [whole]
