"""Deliveries as events, lines and frames of a WebSocket, beside their twin and readers of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.native._tm import ffi, lib
from tamis.native.codecs import OUTPUT_BYTES, EventFields, EventForm, EventsStopped, EventWriter, JsonReader
from tamis.native.results import OutOfMemory
from tamis.protocol.errors import Refused
from tamis.protocol.wire.client_bodies import Credit
from tamis.protocol.wire.data_frames import decode_data, encode_publish
from tamis.protocol.wire.extensions import DeliveryCount
from tamis.protocol.wire.frames import encode
from tests.native.codecs.deliveries import deliver, deliveries, random_run
from tests.native.codecs.events_twin import frames_of, write_ndjson, write_socket, write_sse

NAMES = {1: "a", 2: 'the "second"', 2**32 - 1: "é\u2028</"}
ALL_FIELDS = int(EventFields.ID | EventFields.TIME | EventFields.MATCHED | EventFields.STORED)


def twin(form: EventForm, data: bytes, fields: int, joined_bytes_max: int) -> bytes:
    if form is EventForm.SOCKET:
        return write_socket(data, fields, NAMES, joined_bytes_max)
    return (write_sse if form is EventForm.SSE else write_ndjson)(data, fields)


def writer(form: EventForm, fields: int, joined_bytes_max: int = 65_535) -> EventWriter:
    made = EventWriter(form, fields, joined_bytes_max=joined_bytes_max)
    for id_, name in NAMES.items():
        made.name(id_, name)
    return made


@pytest.mark.slow
@given(
    st.lists(deliveries(), max_size=4).map(b"".join),
    st.sampled_from(EventForm),
    st.integers(0, 63),
    st.integers(0, 400),
)
def test_c_writes_what_its_twin_writes(data: bytes, form: EventForm, fields: int, joined: int) -> None:
    written = writer(form, fields, joined).write(data)
    assert written.text == twin(form, data, fields, joined)
    assert (written.consumed, written.stopped) == (len(data), EventsStopped.ALL)
    if written.messages:
        last = decode_data(list(frames_of(data))[-1])
        assert written.last == tuple(last.message.id)
        assert written.messages == len(list(frames_of(data)))


@pytest.mark.slow
@pytest.mark.parametrize("form", EventForm)
@pytest.mark.parametrize("joined", [0, 300, 65_535])
def test_long_runs(form: EventForm, joined: int) -> None:
    random = Random(1)
    made = writer(form, ALL_FIELDS, joined)
    for _ in range(10):
        data = random_run(random, 60)
        text, rest = b"", data
        while rest:
            written = made.write(rest)
            assert written.messages
            assert written.text == twin(form, rest[: written.consumed], ALL_FIELDS, joined)
            text += written.text
            rest = rest[written.consumed :]


@pytest.mark.slow
def test_a_run_that_is_cut_at_any_byte() -> None:
    data = random_run(Random(2), 3)
    ends = [0]
    for frame in frames_of(data):
        ends.append(ends[-1] + len(frame))
    made = writer(EventForm.NDJSON, ALL_FIELDS)
    for size in range(len(data) + 1):
        written = made.write(data[:size])
        end = max(end for end in ends if end <= size)
        assert (written.consumed, written.messages) == (end, ends.index(end))
        assert written.stopped is (EventsStopped.ALL if end == size else EventsStopped.PARTIAL)
        assert written.text == write_ndjson(data[:end], ALL_FIELDS)


@pytest.mark.slow
@pytest.mark.parametrize("form", EventForm)
def test_an_output_of_any_size(form: EventForm) -> None:
    """Whole messages are written, and `needed` bytes are enough for the next one."""
    data = random_run(Random(9), 4)
    made = writer(form, ALL_FIELDS, 0)
    whole = len(made.write(data).text)
    expected = {0: b""}
    for count, end in enumerate(accumulate(len(frame) for frame in frames_of(data)), 1):
        expected[count] = twin(form, data[:end], ALL_FIELDS, 0)
    said = ffi.new("tm_events_said *")
    seen = set()
    for capacity in range(0, whole + 200, 7):
        out = ffi.new("uint8_t[]", capacity + 16)
        out[capacity : capacity + 16] = b"\xaa" * 16
        assert lib.tm_events_write(made._events, ffi.from_buffer(data), len(data), out, capacity, said) == lib.TM_OK
        assert bytes(ffi.buffer(out)[capacity:]) == b"\xaa" * 16
        assert bytes(ffi.buffer(out, said.written)) == expected[said.messages]
        seen.add(said.messages)
        if said.stopped == lib.TM_EVENTS_ROOM:
            rest, needed = data[said.consumed :], int(said.needed)
            further = ffi.new("uint8_t[]", needed)
            lib.tm_events_write(made._events, ffi.from_buffer(rest), len(rest), further, needed, said)
            assert said.messages >= 1
    assert seen == {0, 1, 2, 3, 4}


def test_it_stops_before_another_frame() -> None:
    data = deliver({"a": 1}) + encode(Credit(5, 6)) + deliver({"a": 2})
    written = writer(EventForm.NDJSON, 0).write(data)
    assert (written.messages, written.stopped) == (1, EventsStopped.OTHER)
    assert data[written.consumed :].startswith(encode(Credit(5, 6)))
    assert writer(EventForm.NDJSON, 0).write(data[written.consumed :]).stopped is EventsStopped.OTHER


@pytest.mark.slow
def test_the_largest_message_of_the_worst_bytes() -> None:
    data = deliver({"a": "\x01" * 65_536}, b"\x02" * (1_048_576 - 64 - 8 - 65_600))
    for form in EventForm:
        written = writer(form, ALL_FIELDS).write(data)
        assert written.text == twin(form, data, ALL_FIELDS, 65_535)
        assert OUTPUT_BYTES < len(written.text) < lib.TM_EVENTS_ONE_BYTES_MAX


def test_a_message_of_a_durable_subscription() -> None:
    data = deliver({"a": 1}, b"x", ids=(3,), stored=(17, DeliveryCount(2, False, True, False)))
    written = writer(EventForm.SSE, int(EventFields.STORED | EventFields.BY_POSITION)).write(data)
    assert written.position == 17
    assert written.text == (
        b'id: 17\ndata: {"attributes":{"a":1},"payload":"x","position":17,"deliveries":2,"maybe_duplicate":true}\n\n'
    )


@pytest.mark.slow
@given(st.lists(deliveries(), min_size=1, max_size=3))
def test_a_message_that_is_read_back_is_the_same_frame(frames: list[bytes]) -> None:
    """DELIVER, JSON, PUBLISH."""
    for fields in (0, int(EventFields.INTEGERS)):
        lines = writer(EventForm.NDJSON, fields).write(b"".join(frames)).text.splitlines()
        for frame, line in zip(frames, lines, strict=True):
            message = decode_data(frame).message
            made = JsonReader().read(line, 7, 8, 9)
            assert made.frame == encode_publish(7, 8, 9, dict(message.attributes), message.payload)


def texts_of(data: bytes) -> Iterator[str]:
    """Yield the texts of whole frames that are not masked, each with a length in its shortest form (RFC 6455, 5.2)."""
    while data:
        assert data[0] == 0x81
        head, size = 2, data[1]
        if size >= 126:
            head, least = (4, 126) if size == 126 else (10, 65_536)
            size = int.from_bytes(data[2:head], "big")
            assert size >= least
        assert len(data) >= head + size
        yield data[head : head + size].decode()
        data = data[head + size :]


@pytest.mark.slow
@given(st.lists(deliveries(), min_size=1, max_size=6), st.sampled_from([0, 124, 500, 65_535]))
def test_frames_of_a_socket_hold_whole_lines(frames: list[bytes], joined: int) -> None:
    texts = list(texts_of(writer(EventForm.SOCKET, ALL_FIELDS, joined).write(b"".join(frames)).text))
    lines = [line for text in texts for line in text.split("\n")]
    assert [json.loads(line)["message"]["id"] for line in lines] == [
        "{}-{}".format(*decode_data(frame).message.id) for frame in frames
    ]
    assert all(len(text.encode()) <= joined or "\n" not in text for text in texts)


def test_frames_that_are_not_sound_are_refused() -> None:
    sound = deliver({"a": 1}, b"x")
    made = writer(EventForm.SSE, ALL_FIELDS)
    for at, byte in (
        (5, 0x20),
        (7, 1),
        (58, 1),
        (60, 200),
        (56, 7),
        (64, 9),
        (72, 0x90),
        (73, 0xC0),
        (75, 0xC0),
        (3, 1),
    ):
        broken = bytearray(sound)
        broken[at] = byte
        if at == 64:
            continue  # an extension that is not known here
        with pytest.raises(Refused, match="no sound DELIVER frame at byte 0"):
            made.write(bytes(broken))
    for attributes in (
        b"\x82\xa1a\x01\xa1a\x02",
        b"\x81\xa1\xff\x01",
        b"\x81\xa0\x01",
        b"\x81\xa1a\xa1\xff",
        b"\x81\xa1a\xcb\x7f\xf0" + bytes(6),
        b"\xdf\xff\xff\xff\xff",
    ):
        frame = sound[:60] + len(attributes).to_bytes(4, "little") + sound[64:72] + attributes
        with pytest.raises(Refused, match="no sound DELIVER"):
            made.write(len(frame).to_bytes(4, "little") + frame[4:])


def test_names_of_subscriptions() -> None:
    made = EventWriter(EventForm.SOCKET)
    for id_ in Random(4).sample(range(1_000), 300):
        made.name(id_, f"s{id_}")
    before = lib.tm_events_bytes(made._events)
    made.name(1_000, "x" * 256)
    made.name(1_000, "y")
    made.name(1_000, "")
    made.name(1_000, "")
    assert lib.tm_events_bytes(made._events) <= before + 100 * 16
    for name in ("x" * 257,):
        with pytest.raises(Refused):
            made.name(1, name)
    assert lib.tm_events_name(made._events, 1, b"\xff", 1) == lib.TM_MALFORMED
    for id_ in range(10_000 - 300):
        made.name(2_000 + id_, "n")
    with pytest.raises(Refused):
        made.name(90_000, "n")


def test_without_memory_a_name_changes_nothing() -> None:
    made = EventWriter(EventForm.SOCKET)
    made.name(1, "a")
    for n in (1, 2):
        lib.tm_events_fail(made._events, n)
        try:
            made.name(2, "b")
        except OutOfMemory:
            pass
        else:
            made.name(2, "")
        lib.tm_events_fail(made._events, 0)
        assert made.write(deliver({}, ids=(1, 2))).text.endswith(b'"for":["a",2]}')
