"""A replay by predicate is what a look at every record finds, whatever names its messages have, one after the other."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.native import Table
from tamis.native.log import Log
from tamis.protocol.errors import TamisError
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.filters import Predicate
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.data_frames import encode_publish
from tests.strategies import attributes, attributes_near, predicates

SMALL = {"bytes_max": 1 << 21, "segment_bytes": 1 << 16, "ring_bytes": 1 << 17}


@st.composite
def frames(draw: st.DrawFn, predicate: Predicate) -> list[bytes]:
    """Runs of messages with the same names, and what stands between them; some have a byte changed."""
    found: list[bytes] = []
    for _ in range(draw(st.integers(1, 12))):
        shape = draw(attributes_near(*predicate.filters) | attributes())
        for i in range(draw(st.sampled_from([1, 1, 3, 30]))):
            message = shape if draw(st.booleans()) else dict(reversed(shape.items()))
            frame = bytearray(encode_publish(9, i + 1, 0, message, draw(st.sampled_from([b"", b"payload"]))))
            if draw(st.sampled_from([False, False, False, True])):
                at = 64 + draw(st.integers(0, 200)) % (len(frame) - 64)
                frame[at] ^= draw(st.integers(1, 255))
            found.append(bytes(frame))
    return found


def is_found(predicate: Predicate, frame: bytes) -> bool:
    """By the evaluator; what is no message satisfies nothing."""
    try:
        message = decode_attributes(frame[64 : 64 + int.from_bytes(frame[60:64], "little")])
    except TamisError:
        return False
    return predicate_matches(predicate, message)


@given(st.data(), predicates())
@settings(max_examples=settings.default.max_examples * 5 // 10, deadline=None)
def test_a_replay_is_a_look_at_every_record(data: st.DataObject, predicate: Predicate) -> None:
    bodies = data.draw(frames(predicate))
    with tempfile.TemporaryDirectory() as folder, Table() as table, Log(Path(folder) / "log", **SMALL) as log:
        for filter_ in predicate.filters:
            table.add(filter_, 0)
        log.wait(log.append_messages(bodies, [1]))
        found = [record.body for record in log.replay(table)]
        assert found == [body for body in bodies if is_found(predicate, body)]
