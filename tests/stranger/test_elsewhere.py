"""Requests of strangers about a durable subscription of another router."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.stranger import frames
from tests.stranger.client import Stranger
from tests.stranger.frames import frame
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router, until

pytestmark = pytest.mark.slow


def is_accepted(client: Stranger, of: int, kind: int, *body: object) -> bool:
    request = client.request()
    client.send(frame(kind, [request, *body]))
    while (answer := client.expect(frames.ACK))[:2] != [of, request]:
        pass
    refusals = answer[3:4]
    return not any(refusals)


def knows(router: Router, name: str) -> bool:
    with Stranger(*router.clients, "asker") as client:
        return is_accepted(client, 6, frames.CONSUME, 1, name, 10)


def test_a_connection_ends_before_its_request_is_handled(tmp_path: Path) -> None:
    """The switch notices the end when it answers the PING behind the request: a local socket says so at once."""
    path = f"unix:{tmp_path / 'a'}"
    keys = {"a": {"durable": {}, "clients": path}, "b": {"durable": {}}}
    with Network(tmp_path, "ab", ["ab"], of=keys) as net:
        net["a"].clients = (path, 0)
        net.until_linked("ab")
        with Stranger(*net["b"].clients, "maker") as maker:
            policy = [[packed([["x", frames.EXISTS]])], 0, 1 << 20, 0]
            assert is_accepted(maker, 5, frames.CREATE_DURABLE, "orders", policy)
        until(lambda: knows(net["a"], "orders"))
        with Stranger(*net["a"].clients, "hasty") as client:
            net["a"].send_signal(signal.SIGSTOP)
            consume = frame(frames.CONSUME, [client.request(), 1, "orders", 10])
            client.send(consume + frame(frames.PING, [1]))
        net["a"].send_signal(signal.SIGCONT)
        assert knows(net["a"], "orders")
        assert net["a"].tracebacks == 0, net["a"].first_traceback
