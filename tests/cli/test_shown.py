"""What strangers have chosen does nothing to the terminal of whom it is shown."""

from __future__ import annotations

import json
import logging

import pytest

from tamis.cli.delivery.explain_live import explain_live
from tamis.cli.main import main
from tamis.cli.messages.received import for_a_terminal
from tamis.cli.network.top import as_text
from tamis.cli.operate.records import shown as log_line
from tamis.cli.tables import columns
from tamis.protocol.language import format_filter, parse
from tamis.protocol.residual import Assembler
from tamis.router.daemon.logs import TextLines, fields

EVIL = "\x1b]0;owned\x07\n\u202egnp\x9b"
"""Sets a title, breaks the line, turns the rest around, and begins another sequence."""


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text) and "\\x1b]0;owned" in text


def test_tables_are_escaped() -> None:
    text = columns(("client", "n"), [(EVIL, 1)])
    assert is_harmless(text)
    assert text.count("\n") == 1


def test_predicates_are_escaped() -> None:
    [filter_] = parse(f"`{EVIL.encode('unicode_escape').decode()}` = 1").filters
    assert is_harmless(format_filter(filter_))


@pytest.mark.parametrize("command", ["filters", "show routes", "status"])
def test_pages_of_routers_are_escaped(command, monkeypatch, capsys) -> None:
    item = {"client": EVIL, "subscription": 1, "filter": EVIL, "peer": EVIL, "error": EVIL}
    answer = json.dumps({"error": EVIL, "filters": [item]}).encode()
    monkeypatch.setattr("tamis.cli.reach.admin_http.asked", lambda *_: (500, answer))
    main(command.split())
    out, err = capsys.readouterr()
    assert is_harmless(out + err)


def test_top_is_escaped() -> None:
    row = dict.fromkeys(("in_s", "out_s", "queued_bytes", "queued_peak", "dropped", "filters", "is_blocked"), 0)
    row |= {"router": "a", "client": EVIL, "peer": EVIL}
    assert is_harmless(as_text({"routers": [{"router": EVIL, "state": "no answer"}], "connections": [row]}))


def test_an_explanation_is_escaped(monkeypatch, capsys) -> None:
    item = {"client": EVIL, "subscription": 1, "filter": "x = 1", "handle": 0}
    made = Assembler()
    made.attribute(EVIL)
    denied = item | {"program": made.program().pack().hex()}
    answer = {"filters": [item], "denied_filters": [denied], "denied": 1}
    answer |= {"matching_filters": 2, "clients": [EVIL], "complete": True}
    monkeypatch.setattr("tamis.cli.reach.admin_http.asked", lambda *_: (200, json.dumps(answer).encode()))
    assert explain_live("127.0.0.1:7600", {"x": 1}, as_json=False) == 0
    assert is_harmless(capsys.readouterr().out)


def test_records_are_escaped() -> None:
    line = log_line({"t_us": 1, "router": EVIL, "kind": "link", "neighbour": EVIL, "counts": {EVIL: 1}, "l": [EVIL]})
    assert is_harmless(line)
    assert "\n" not in line


def test_messages_are_escaped_in_a_terminal() -> None:
    write = for_a_terminal(lambda _: EVIL.encode() + b"\xff\n")
    assert is_harmless(write(None).decode())  # type: ignore[arg-type]


def test_text_logs_are_escaped() -> None:
    record = logging.LogRecord("tamis", logging.INFO, "", 0, "not admitted", None, None)
    record.__dict__.update(fields(name=EVIL, names=[EVIL]))
    line = TextLines().format(record)
    assert line.isprintable()
    assert "u001b]0;owned" in line
