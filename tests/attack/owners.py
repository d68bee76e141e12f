"""Durable subscriptions of others: seven deeds of a stranger, a message that kills its consumers, names and rings.

Law: a deed counts as done by what the owner sees afterwards or by the router's answer, whichever is worse.
"""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from typing import Any

from tests.attack.figure import Figure
from tests.stranger import frames
from tests.stranger.client import Ended, Stranger
from tests.stranger.predicates import packed
from tests.stranger.routers import Network, Router

DURABLE_KEYS = "durable: {bytes: 268435456, segment_bytes: 1048576}"
OF = {frames.CREATE_DURABLE: 5, frames.CONSUME: 6, frames.REMOVE_DURABLE: 8}
"""What an ACK is of, by the kind that it answers."""
DELIVERIES_MAX = 5
DEATHS = 12
TOP = 2**64 - 1
ID = 7
ALL = packed([["n", frames.EXISTS]])


def ask(client: Stranger, kind: int, *body: object) -> tuple[int, str]:
    """Ask something about a durable subscription: the code of the refusal and its reason; 0: it is done."""
    request = client.request()
    client.send(frames.frame(kind, [request, *body]))
    while True:
        of, answered, _, *more = client.expect(frames.ACK)
        if (of, answered) == (OF[kind], request):
            refusals = more[0] if more else []
            return (refusals[0][1], refusals[0][2]) if refusals else (0, "")


def policy(*, count: int = 0, for_ms: int = 0, dead_letter: str = "") -> list[Any]:
    return [[ALL], for_ms, 1 << 20, count, 0, 0, 30_000, DELIVERIES_MAX, [0], dead_letter]


def publish(client: Stranger, n: int) -> None:
    number = client.publish({"n": n}, flags=frames.CONFIRM | frames.DURABLE)
    client.confirmation(number)


def taken(client: Stranger) -> list[int]:
    """What comes until nothing does, acknowledged."""
    found = []
    while not client.is_silent(0.5):
        kind = frames.kind_of(client.waiting[0])
        if kind != frames.DELIVER:
            client.waiting.popleft()
            continue
        message = client.message()
        (position,) = struct.unpack("<Q", message.extensions[frames.LOG_POSITION])
        client.send(frames.frame(frames.ACK, [4, 0, [[position, position]], [], 0, ID, 0, ""]))
        found.append(message.attributes["n"])
    return found


def deeds(folder: Path, _scale: float) -> list[Figure]:
    """What a stranger does to the durable subscription of another client, over the wire."""
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("owner of-the-owner\nother of-the-other\n* of-anybody\n")
    with (
        Network(folder, "r", keys=f"tokens: tokens\n{DURABLE_KEYS}") as net,
        Stranger(*net["r"].clients, "owner", "of-the-owner") as owner,
        Stranger(*net["r"].clients, "other", "of-the-other") as other,
        Stranger(*net["r"].clients, "owner/x", "of-anybody") as longer,
        Stranger(*net["r"].clients, "client-0123456789abcdef", "of-anybody") as made_up,
    ):
        for name in ("jobs", "skipped", "ended", "forgotten"):
            assert ask(owner, frames.CREATE_DURABLE, name, policy(count=77)) == (0, "")
        assert ask(owner, frames.CREATE_DURABLE, "history", policy(for_ms=3_600_000)) == (0, "")
        assert ask(owner, frames.CONSUME, ID, "history", 100) == (0, "")
        for n in range(10):
            publish(owner, n)
        assert taken(owner) == list(range(10))
        learnt = ask(other, frames.CREATE_DURABLE, "jobs", policy(count=77))
        changed = ask(other, frames.CREATE_DURABLE, "jobs", policy(count=1))
        done = {
            "removes it": not ask(other, frames.REMOVE_DURABLE, "forgotten")[0],
            "passes over what waits": not ask(other, frames.CONSUME, ID, "skipped", 0, TOP)[0],
            "changes its policy": not changed[0],
            "reads its policy": learnt != changed or "count" in changed[1],
            "ends it under a name that begins with the owner's": not ask(longer, frames.REMOVE_DURABLE, "ended")[0],
            "holds a name under a name that was made up": not ask(made_up, frames.CREATE_DURABLE, "squatted", policy())[
                0
            ],
        }
        assert ask(other, frames.CONSUME, ID + 1, "history", 0, 0, True) == (0, "")
        publish(owner, 10)
        done["holds up others with history that it does not take"] = taken(owner) != [10]
        got = [_taken_of(net["r"], name) for name in ("jobs", "skipped", "ended", "forgotten")]
    said = ", ".join(deed for deed, is_done in done.items() if is_done)
    shape = "a durable subscription of another"
    return [
        Figure(shape, f"of 7 deeds done: {said or 'none'}", "6 (at 020733f2)", sum(done.values()), 0),
        Figure(shape, "of 44 messages that the owner gets", "12 (at 020733f2)", sum(map(len, got)), 44, is_least=True),
    ]


def _taken_of(router: Router, name: str) -> list[int]:
    """What the owner gets that comes again."""
    with Stranger(*router.clients, "owner", "of-the-owner") as again:
        return taken(again) if ask(again, frames.CONSUME, ID, name, 100) == (0, "") else []


def poison(folder: Path, _scale: float) -> list[Figure]:
    """A message of which each consumer dies, before it acknowledges anything."""
    given, behind = 0, 0
    with Network(folder, "r", keys=DURABLE_KEYS) as net, Stranger(*net["r"].clients, "maker") as maker:
        assert ask(maker, frames.CREATE_DURABLE, "jobs", policy()) == (0, "")
        for n in range(3):
            publish(maker, n)
        for death in range(DEATHS):
            consumer = Stranger(*net["r"].clients, f"consumer {death}", patience_s=3)
            assert ask(consumer, frames.CONSUME, ID, "jobs", 100) == (0, "")
            first = consumer.message().attributes["n"]
            given += first == 0
            if first:
                behind = len({first, *taken(consumer)})
                consumer.close()
                break
            consumer.abort()
    shape = "a message that kills its consumers"
    return [
        Figure(shape, f"of {DEATHS} consumers that get it", f"{DEATHS} (at 020733f2)", given, DELIVERIES_MAX),
        Figure(shape, "of 2 behind it delivered", "0 (at 020733f2)", behind, 2, is_least=True),
    ]


def lookalikes(folder: Path, _scale: float) -> list[Figure]:
    """Names that look like another, and dead letters that would come back."""
    names = ["desk ", " desk", "de\u0301sk", "de\u034fsk", "de\ufe0fsk"]
    rings = 0
    with Network(folder, "r", keys=DURABLE_KEYS) as net, Stranger(*net["r"].clients, "maker") as maker:
        made = sum(not ask(maker, frames.CREATE_DURABLE, name, policy())[0] for name in names)
        for name in names:
            with contextlib.suppress(Ended, OSError), Stranger(*net["r"].clients, name):
                made += 1
        assert ask(maker, frames.CREATE_DURABLE, "a", policy(dead_letter="b")) == (0, "")
        assert ask(maker, frames.CREATE_DURABLE, "b", policy(dead_letter="c")) == (0, "")
        rings += not ask(maker, frames.CREATE_DURABLE, "c", policy(dead_letter="a"))[0]
    return [
        Figure("names that look alike", "of 10 let in beside `desk`", "10 (at 020733f2)", made, 0),
        Figure("dead letters", "rings made", "1 (at 020733f2)", rings, 0),
    ]
