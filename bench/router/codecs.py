"""What a message costs the codecs of a gateway: `python -m tamis.bench.router.codecs`.

JSON in is one call for each message, as a POST is; lines come in pieces of 64 KiB, and deliveries as runs of 64 KiB,
which is what one read of a socket brings. Shapes: a short alert, a reading with floats of full precision, a log line
with quotes, backslashes and newlines, an order of 20 attributes, and a payload of 4 KiB that is not text.

Law: what is written is read back by the standard library's `json` and compared, and frames with those of a client,
before a time is printed. Rounds of all shapes alternate; the least is printed, and how far the median is above it.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from random import Random
from statistics import median
from typing import Final, NamedTuple

import click

from tamis.bench.tables import tell
from tamis.native.codecs import EventFields, EventForm, EventWriter, JsonReader, JsonStream
from tamis.protocol.json_form import encode_publication
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.extensions import Extensions, ExtensionType
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind

ORIGIN: Final = 9933345172075899469
NOW: Final = 1_700_000_000_123_456_789
PIECE: Final = 65_536
MANY: Final = 2**62
FIELDS: Final = int(EventFields.ID | EventFields.TIME | EventFields.MATCHED)
Attributes = dict[str, Value]


class Shape(NamedTuple):
    attributes: list[Attributes]
    payload: bytes


def shapes(random: Random, count: int) -> dict[str, Shape]:
    """Return messages of each shape."""
    trace = 'File "C:\\app\\main.py", line 7\n\traise ValueError("no such <key>")\n' * 4
    places = [(random.uniform(-90, 90), random.uniform(-180, 180)) for _ in range(count)]
    return {
        "alert": Shape([{"class": "alert", "severity": n % 10} for n in range(count)], b"disk full"),
        "reading": Shape(
            [
                {"sensor": f"berlin-{n:05}", "lat": lat, "lon": lon, "t": 21.5, "ok": True}
                for n, (lat, lon) in enumerate(places)
            ],
            b"",
        ),
        "log line": Shape(
            [{"level": "error", "service": "billing", "line": n * 1_000_003} for n in range(count)], trace.encode()
        ),
        "order": Shape(
            [{f"field_{i}": f"wörter {n}" if i % 3 else n * i for i in range(20)} for n in range(count)], b"{}"
        ),
        "picture": Shape([{"type": "image/png", "size": 4_096} for _ in range(count)], random.randbytes(4_096)),
    }


def text_of(attributes: Mapping[str, Value], payload: bytes) -> bytes:
    return json.dumps(encode_publication(attributes, payload), ensure_ascii=False).encode()


def delivered(attributes: Attributes, payload: bytes, counter: int) -> bytes:
    message = Message(attributes, payload, MessageId(ORIGIN, counter))
    extensions: Extensions = {ExtensionType.SATISFIED: (1,)}
    return encode_data(DataFrame(FrameKind.DELIVER, message, 0, 8, Transit(1, 2, 3), NOW, extensions))


def must(is_so: bool) -> None:
    if not is_so:
        raise SystemExit("the codecs give another message")


class Case:
    """One shape, with the texts and frames that the codecs are given."""

    def __init__(self, shape: Shape) -> None:
        self.count = len(shape.attributes)
        self.texts = [text_of(attributes, shape.payload) for attributes in shape.attributes]
        self.lines = b"\n".join(self.texts) + b"\n"
        self.frames = [
            encode_publish(ORIGIN, n, NOW, each, shape.payload) for n, each in enumerate(shape.attributes, 1)
        ]
        self.run = b"".join(delivered(each, shape.payload, n) for n, each in enumerate(shape.attributes, 1))
        self.reader = JsonReader()
        self.writers = {form: EventWriter(form, FIELDS) for form in EventForm}
        self.writers[EventForm.SOCKET].name(1, "a")
        self.check()

    def check(self) -> None:
        must(list(self.json_in()) == self.frames)
        must(b"".join(self.lines_in()) == b"".join(self.frames))
        read = [json.loads(line) for line in b"".join(self.out(EventForm.NDJSON)).splitlines()]
        kept = [{name: one[name] for name in one if name not in ("id", "time", "matched")} for one in read]
        given = [json.loads(text) for text in self.texts]
        must(kept == [one if len(one) > 1 else one | {"payload": ""} for one in given])
        must(b"".join(self.out(EventForm.SSE)).count(b"\n\n") == self.count)

    def json_in(self) -> Iterator[bytes]:
        read = self.reader.read
        return (read(text, ORIGIN, n, NOW).frame for n, text in enumerate(self.texts, 1))

    def lines_in(self) -> Iterator[bytes]:
        stream, at = JsonStream(ORIGIN, 1), 0
        stream.grant(MANY, MANY)
        while at < len(self.lines):
            read = stream.feed(self.lines[at : at + PIECE], NOW)
            at += read.consumed
            yield read.frames

    def out(self, form: EventForm) -> Iterator[bytes]:
        writer, at = self.writers[form], 0
        while at < len(self.run):
            written = writer.write(self.run[at : at + PIECE])
            at += written.consumed
            yield written.text


def spent_ns(work: Callable[[], Iterator[bytes]], count: int) -> float:
    start = time.process_time_ns()
    deque(work(), 0)
    return (time.process_time_ns() - start) / count


@click.command(help=__doc__)
@click.option("--messages", default=4_000, show_default=True, help="Of each shape, in a round.")
@click.option("--rounds", default=15, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def main(messages: int, rounds: int, as_json: bool) -> None:
    cases = {name: Case(shape) for name, shape in shapes(Random(1), messages).items()}
    works: dict[tuple[str, str], Callable[[], Iterator[bytes]]] = {}
    for name, case in cases.items():
        works[name, "JSON in"] = case.json_in
        works[name, "NDJSON in"] = case.lines_in
        for form in EventForm:
            works[name, f"{form.name} out"] = lambda case=case, form=form: case.out(form)  # type: ignore[misc]
    spent: dict[tuple[str, str], list[float]] = {key: [] for key in works}
    for _ in range(rounds):
        for key, work in works.items():
            spent[key].append(spent_ns(work, messages))
    for (name, what), each in spent.items():
        case, least = cases[name], min(each)
        row = {
            "shape": name,
            "what": what,
            "text bytes": len(case.lines) // messages,
            "ns": round(least),
            "a second": round(1e9 / least),
            "median above it": f"{median(each) / least - 1:.0%}",
        }
        tell(row, as_json)


if __name__ == "__main__":
    main()
