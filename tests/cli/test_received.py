"""How `tamis sub` writes messages and gaps."""

from __future__ import annotations

import json

import pytest

from tamis import Gap, GapReason, Message
from tamis.cli.messages.publications import InputMessages
from tamis.cli.messages.received import gap_form, gap_in_words, writer
from tamis.protocol.errors import Refused
from tamis.protocol.wire.data_frames import encode_publish


def message(attributes: dict[str, object], payload: bytes = b"", time_ns: int = 1_700_000_000_000_000_000) -> Message:
    return Message(encode_publish(10, 3, time_ns, attributes, payload))


ALERT = {"class": "alert", "severity": 6, "ok": True, "odd name": 0.5}


def written(form: str, *args: object) -> bytes:
    return writer(form, {1: "severity > 2"})(message(*args))


def test_text() -> None:
    line = b'class="alert" severity=6 ok=true `odd name`=0.5\n'
    assert written("text", ALERT) == line
    assert written("text", ALERT, b"two\nlines") == line + b"    two\n    lines\n"
    assert written("text", {}, b"\xff\x00\x01") == b"\n    (3 bytes)\n"
    assert written("text", {}, b"\x1b[2J") == b"\n    (4 bytes)\n"


def test_json_is_what_pub_reads(monkeypatch) -> None:
    form = json.loads(written("json", ALERT, b"hello"))
    assert form == {
        "id": "000000000000000a-3",
        "time": "2023-11-14T22:13:20+00:00",
        "matched": [],
        "attributes": ALERT,
        "payload": "hello",
    }
    assert "time" not in json.loads(written("json", ALERT, b"", 0))
    binary = written("json", ALERT, b"\xff")
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(binary)))
    assert [item for batch in InputMessages() for item in batch] == [(ALERT, b"\xff")]


def test_raw() -> None:
    assert written("raw", ALERT, b"a\xffb") == b"a\xffb\n"


@pytest.mark.parametrize(
    ("form", "gives"),
    [
        ("{{severity}} of {{class}}", b"6 of alert\n"),
        ("{{odd name}} {{ok}}", b"0.5 true\n"),
        ("[{{missing}}]", b"[]\n"),
        ("{{.payload}}|{{ .id }}|{{.time}}", b"p\xff|000000000000000a-3|2023-11-14T22:13:20+00:00\n"),
        ("{{.attributes}}", b'class="alert" severity=6 ok=true `odd name`=0.5\n'),
    ],
)
def test_a_template(form, gives) -> None:
    assert written(form, ALERT, b"p\xff") == gives


@pytest.mark.parametrize("form", ["xml", "", "{{.paylod}}", "{{x", "x}}", "{{x}} }}", "{{}}", "{{ }}"])
def test_a_form_that_there_is_not(form) -> None:
    with pytest.raises(Refused):
        writer(form, {})


def test_gaps() -> None:
    lost = Gap(GapReason.QUEUE_FULL, 1234, 99)
    assert gap_in_words(lost) == f"1,234 messages missing: {GapReason.QUEUE_FULL}"
    assert gap_in_words(Gap(GapReason.EXPIRED, 1, 99)) == f"1 message missing: {GapReason.EXPIRED}"
    counted = {"reason": "queue_full", "messages": 1234, "bytes": 99, "span_s": None, "goes_on": False}
    assert gap_form(lost) == {"gap": counted}
    cut = Gap(GapReason.RECONNECTED)
    assert gap_in_words(cut).startswith("messages may be missing: ")
    assert gap_form(cut)["gap"]["messages"] is None
    away = Gap(GapReason.ROUTE_CHANGED, span_s=3.25, goes_on=True)
    assert gap_in_words(away).startswith("messages may be missing of the last 3.2 s: the route between routers")
    assert gap_in_words(away).endswith("messages published there will be missing")
