"""The small parts: how long to wait, secrets in files, parts that come in."""

from __future__ import annotations

import pytest

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.parts import split
from tamis.router.connections.work import SlicedWork
from tamis.router.links import incoming as module
from tamis.router.links.backoff import Backoff
from tamis.router.links.incoming import Incoming
from tamis.router.links.secret import read_secret
from tamis.serving.cannot_start import CannotStart
from tests.router.links.test_outgoing import Turns, advertisement


def test_waiting_doubles_to_a_second_and_begins_anew():
    backoff = Backoff(lambda: 0.0)
    assert [backoff.next_s() for _ in range(7)] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    backoff.reset()
    assert backoff.next_s() == 0.05
    assert Backoff(lambda: 1.0).next_s() == pytest.approx(0.0625)


def test_a_secret_is_read_without_the_line_end(tmp_path):
    file = tmp_path / "secret"
    file.write_bytes(b"sixteen bytes, or more\n")
    file.chmod(0o600)
    assert read_secret(str(file)) == b"sixteen bytes, or more"


@pytest.mark.parametrize(
    ("content", "mode", "problem"),
    [(b"sixteen bytes, or more", 0o640, "others may read it"), (b"short", 0o600, "a secret has 16 to 4,096 bytes")],
)
def test_what_is_no_secret(tmp_path, content, mode, problem):
    file = tmp_path / "secret"
    file.write_bytes(content)
    file.chmod(mode)
    with pytest.raises(CannotStart, match=problem):
        read_secret(str(file))
    with pytest.raises(CannotStart, match="No such file"):
        read_secret(str(tmp_path / "none"))


class Source:
    def __init__(self) -> None:
        self.heard, self.refused, self.paused = [], [], []
        self.sizes = []
        self.turns = Turns()
        self.incoming = Incoming(SlicedWork(self.turns), self.hear, self.refused.append, self.paused.append)

    def hear(self, body, size: int) -> None:
        self.heard.append(body)
        self.sizes.append(size)

    def post(self, body) -> None:
        for part in split(body):
            self.incoming.add(part, len(part.chunk))


def test_a_short_body_is_heard_at_once():
    source = Source()
    source.post(advertisement(1, 1))
    assert source.heard == [advertisement(1, 1)]


def test_what_follows_a_long_body_waits_for_it():
    source = Source()
    source.post(advertisement(1, 1, 3_000))
    source.post(advertisement(2, 1))
    assert source.heard == []
    source.turns.all()
    assert [body.issuer for body in source.heard] == [1, 2]
    assert source.sizes == [
        sum(len(part.chunk) for part in split(advertisement(issuer, 1, count)))
        for issuer, count in ((1, 3_000), (2, 1))
    ]


def test_a_body_that_is_none_costs_itself_alone():
    source = Source()
    whole = advertisement(1, 1, 3_000)
    parts = split(whole)
    for part in parts[:-1]:
        source.incoming.add(part, 1)
    source.incoming.add(type(parts[-1])(*whole.ticket, parts[-1].k, parts[-1].n, b"\xff" * len(parts[-1].chunk)), 1)
    source.post(advertisement(2, 1))
    source.turns.all()
    assert [body.issuer for body in source.heard] == [2]
    assert len(source.refused) == 1
    [short] = split(advertisement(3, 1))
    with pytest.raises(FrameError, match="expected part 1 of 2"):
        source.incoming.add(type(short)(3, 1, 1, 2, 2, short.chunk), 1)


def test_too_much_that_waits_stops_the_reading(monkeypatch):
    monkeypatch.setattr(module, "WAITING_BYTES_MAX", 300_000)
    source = Source()
    source.post(advertisement(1, 1, 2_000))
    assert source.paused == []
    source.post(advertisement(2, 1, 2_000))
    assert source.paused == [True]
    source.turns.all()
    assert source.paused[-1] is False
    assert len(source.heard) == 2


def test_after_the_end_nothing_is_heard():
    source = Source()
    source.post(advertisement(1, 1, 3_000))
    source.post(advertisement(2, 1))
    source.incoming.close()
    source.turns.all()
    assert [body.issuer for body in source.heard] == [1]  # whoever asked to close does not listen any more
