"""The first demonstration of Tamis, which `make run` shows: five routers, three subscribers, where each message goes,
and the effect of a router's death.

Law: the output shows real events: `tamis up` starts the routers, one is killed by a signal, and each line is printed
when its message has arrived everywhere. The demonstration needs no network, no fixed port and no home directory, and
leaves nothing behind, however it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tamis
from tamis.cli.main import main
from tamis.cli.network.linked import wait_until_linked
from tamis.protocol.evaluate import predicate_matches
from tamis.protocol.language import parse
from tamis.protocol.message_text import format_attributes, parse_message_text

if TYPE_CHECKING:
    from tamis.router.supervisor.state import RouterState

PAUSE_S: Final = 0.5
"""Seconds between two messages: enough to read a line."""
ARRIVAL_S: Final = 5.0
"""Seconds after which a message is shown with the arrivals so far."""

FILE: Final = "ring.yaml"
ROUTERS: Final = "abcde"
LINKS: Final = "[a, b], [b, c], [c, d], [d, e], [e, a], [a, c]"
PICTURE: Final = """\
        a            Five routers in a ring, with a chord from a to c.
      / | \\          Messages are published at a, and the subscribers
     e  |  b         are at b, d and e.
     |  | /
     d--c"""
SUBSCRIBERS: Final = {
    "on-call": ("d", 'severity > 4 and class = "alert"'),
    "web-team": ("e", 'device ^= "web" and not (class = "heartbeat")'),
    "archive": ("b", "true"),
}
MESSAGES: Final = (
    "class=alert severity=6 device=web-3",
    "class=alert severity=3 device=web-1",
    "class=heartbeat device=web-3",
    "class=alert severity=9 device=db-1",
    "class=order price=80 device=web-2",
)
VICTIM: Final = "c"
"""The router to kill, which is on the route from a to d."""


def demo(pause_s: float = PAUSE_S, lasts: bool = False) -> int:
    """Run the demonstration. `lasts`: continue to publish at the end, until Ctrl-C."""
    with _place_of_its_own():
        print(PICTURE, end="\n\n")
        code = _run("Five routers start", "up", "--detach", FILE)
        try:
            if code == 0:
                asyncio.run(_show(pause_s, lasts))
        except KeyboardInterrupt:
            print()
        finally:
            _run("The routers stop", "down", FILE)
    return code


class Feed:
    """Publishes messages, and prints which subscribers received each."""

    def __init__(self, publisher: tamis.Client) -> None:
        self._publisher = publisher
        self._arrived: list[str] = []
        self._changed = asyncio.Event()

    async def note(self, name: str, items: tamis.Subscription) -> None:
        async for item in items:
            if isinstance(item, tamis.Message):
                self._arrived.append(name)
                self._changed.set()

    async def show(self, text: str) -> None:
        attributes = parse_message_text(text)
        due = [name for name, (_, asked) in SUBSCRIBERS.items() if predicate_matches(parse(asked), attributes)]
        self._arrived.clear()
        await self._publisher.publish(attributes, confirm=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ARRIVAL_S):
                while len(self._arrived) < len(due):
                    self._changed.clear()
                    await self._changed.wait()
        print(
            f"{format_attributes(attributes):<42} -> {', '.join(sorted(self._arrived)) or 'no subscriber'}", flush=True
        )


async def _show(pause_s: float, lasts: bool) -> None:
    async with contextlib.AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        feed = Feed(await stack.enter_async_context(tamis.connect(_state()["a"].clients[0], name="publisher")))
        print("# Three subscribers connect; each subscription is complete when all routers have it")
        for name, (router, predicate) in SUBSCRIBERS.items():
            client = await stack.enter_async_context(tamis.connect(_state()[router].clients[0], name=name))
            items = await stack.enter_async_context(client.subscribe(predicate, wait="network"))
            print(f"{name:<10} at {router}: {predicate}")
            tasks.create_task(feed.note(name, items))
        print("\n# A publisher at a sends messages; each goes to the matching subscribers")
        await _publish(feed, pause_s)
        await _ways("The next hop of a to each router")
        process = _state()[VICTIM].pid or 0
        print(f"# Router {VICTIM} is killed, as from another terminal\n$ kill -9 {process}\n")
        os.kill(process, signal.SIGKILL)
        await _until_missed(VICTIM)
        await _ways(f"All routers have detected it, and a routes around {VICTIM}")
        await _publish(feed, pause_s)
        await asyncio.to_thread(wait_until_linked, FILE, ROUTERS, 10 * ARRIVAL_S)
        await _ways(f"{VICTIM} has been restarted, and is a next hop again")
        await _publish(feed, pause_s)
        while lasts:
            print(f"# Kill any router but a from another terminal: {_processes()}. Ctrl-C ends this.")
            await _publish(feed, 2 * pause_s)


async def _publish(feed: Feed, pause_s: float) -> None:
    for text in MESSAGES:
        await feed.show(text)
        await asyncio.sleep(pause_s)
    print(flush=True)


# --- reports of routers


async def _hops(of: str = "a") -> dict[str, str]:
    """Return, by router, the neighbour towards it."""
    from tamis.cli.reach.admin import AdminTarget

    address = _state()[of].admin[0].removeprefix("http://")
    form = await asyncio.to_thread(AdminTarget(of, address).ask, "/routes")
    return {row["router"]: row["next_hop"] for row in form["routers"] if row["next_hop"]}


async def _ways(title: str) -> None:
    hops = await _hops()
    print(f"# {title}\n" + ", ".join(f"to {router} by {hops[router]}" for router in sorted(hops)) + "\n", flush=True)


async def _until_missed(router: str) -> None:
    """Wait until all other routers have noticed the death: a message that overtakes the news of a change may be
    lost."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10 * ARRIVAL_S):
            for other in ROUTERS.replace(router, ""):
                while router in await _hops(other):
                    await asyncio.sleep(0.05)


def _state() -> dict[str, RouterState]:
    from tamis.router.supervisor.state import StateFolder

    state = StateFolder.of(FILE).read()
    assert state is not None  # noqa: S101 - `tamis up` has just written it
    return state.routers


def _processes() -> str:
    return ", ".join(f"{name} is {state.pid}" for name, state in sorted(_state().items()) if name != "a" and state.pid)


def _run(title: str, *command: str) -> int:
    print(f"# {title}\n$ tamis {shlex.join(command)}", flush=True)
    code = main(command)
    print(flush=True)
    return code


@contextlib.contextmanager
def _place_of_its_own() -> Iterator[None]:
    """Return a folder for the topology file and for the state of `tamis up`."""
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder, contextlib.chdir(folder):
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        Path(FILE).write_text(_topology())
        try:
            yield
        finally:
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def _topology() -> str:
    """Return a topology whose neighbours connect by Unix sockets, so that no port has to be free."""
    routers = [
        f'  {name}: {{clients: "127.0.0.1:0", neighbours: "unix:{name}.sock", admin: "127.0.0.1:0"}}'
        for name in ROUTERS
    ]
    return "\n".join(["routers:", *routers, f"links: [{LINKS}]", ""])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both signals stop the router first
    sys.stderr = sys.stdout  # messages of a command belong beside the text about them
    sys.exit(demo(lasts=sys.stdin.isatty() and sys.stdout.isatty()))
