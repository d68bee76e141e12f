"""A neighbour that lies about durable subscriptions with several homes."""

from __future__ import annotations

import secrets
import struct
from pathlib import Path
from typing import Any

import msgpack
import pytest

from tests.attack.custody import TAKES_DIRECTED, Liar
from tests.stranger import frames
from tests.stranger.client import Stranger
from tests.stranger.frames import frame
from tests.stranger.predicates import number, packed
from tests.stranger.routers import Network, Router, until

pytestmark = pytest.mark.slow
EVERYTHING = packed([["x", frames.EXISTS]])


def make(router: Router) -> None:
    with Stranger(*router.clients, "maker") as client:
        request = client.request()
        policy: list[Any] = [[EVERYTHING], 0, 1 << 20, 0]
        client.send(frame(frames.CREATE_DURABLE, [request, "orders", policy, 0, 0, 0, 0, ["a", "c"]]))
        while client.expect(frames.ACK)[:2] != [5, request]:
            pass


def depth(router: Router) -> int:
    return sum(int(each["depth"]) for each in router.page("/durables")["durables"])


def test_who_does_not_get_the_answers_is_not_believed(tmp_path: Path) -> None:
    """a ----- c ----- b: a and c are homes of `orders`; b knows their logs, and not the token of c for a."""
    with Network(tmp_path, "ac", ["ac", "bc"], elsewhere="b", of={at: {"durable": {}} for at in "ac"}) as net:
        net.until_linked("ac")
        make(net["a"])
        until(lambda: all(net[at].page("/durables")["durables"] for at in "ac"))
        liar = Liar(net["c"].neighbours, is_trusted=True).join()
        liar.ask_for_durables()
        until(lambda: liar.log_of("a") and liar.log_of("c"))
        with Stranger(*net["c"].clients, "writer") as writer:
            counter = writer.publish({"x": 1}, flags=frames.CONFIRM | frames.DURABLE)
            writer.confirmation(counter)
            until(lambda: depth(net["a"]) == depth(net["c"]) == 1)
            ends = number("a"), liar.log_of("a"), number("c"), liar.log_of("c")
            ranges = struct.pack("<QQI", writer.number, counter, 1)
            for token in (0, 1, *(secrets.randbits(64) for _ in range(50))):
                liar.send(frame(frames.FINISHED, [*ends, "orders", 5, token, ranges, 255]))
            liar.send(frame(frames.FINISHED, [*ends, "orders", 2**64 - 1, secrets.randbits(64), b"", 255]))
            writer.confirmation(writer.publish({"x": 2}, flags=frames.CONFIRM | frames.DURABLE))
            until(lambda: depth(net["a"]) == depth(net["c"]) == 2)
        assert net["c"].tracebacks == 0, net["c"].first_traceback
        liar.close()


def test_a_copy_that_no_client_could_ask_for_is_not_made(tmp_path: Path) -> None:
    """b states a copy of which its dead letters go to itself, with a home of a; and another one, which a makes."""
    with Network(tmp_path, "ac", ["ac", "ab"], elsewhere="b", of={at: {"durable": {}} for at in "ac"}) as net:
        net.until_linked("ac")
        liar = Liar(net["a"].neighbours, is_trusted=True).join()
        policy: list[Any] = [[EVERYTHING], 0, 1 << 20, 0, 0, 0, 30_000, 5, []]
        stated = {
            n: msgpack.packb([name, "", [EVERYTHING], TAKES_DIRECTED, 0, 0, [[["a", "b"], 1, [*policy, dead], []]]])
            for n, (name, dead) in enumerate((("bad", "bad"), ("good", "")), 1)
        }
        liar.state_all(stated)
        until(lambda: [each["durable"] for each in net["a"].page("/durables")["durables"]] == ["good"])
        until(lambda: liar.is_held("a"))
        assert net["a"].tracebacks == 0, net["a"].first_traceback
        liar.close()
