"""A first look at Tamis, as `make run` shows it: a router, three subscribers, and where each message goes.

Law: what is shown is what happens: the router is started by `tamis up`, and each line is printed when its message has
arrived wherever it goes. It needs no network, no fixed port and no home, and leaves nothing behind, however it ends.
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

import tamis
from tamis.cli.main import main
from tamis.protocol.message_text import format_attributes, parse_message_text

PAUSE_S = 0.5
"""Between two messages: long enough to read a line."""

FILE = "demo.yaml"
TOPOLOGY = 'routers: {demo: {clients: "127.0.0.1:0", admin: "127.0.0.1:0"}}\n'
SUBSCRIBERS = {
    "on-call": 'severity > 4 and class = "alert"',
    "web-team": 'device ^= "web" and not (class = "heartbeat")',
    "archive": "true",
}
MESSAGES = (
    "class=alert severity=6 device=web-3",
    "class=alert severity=3 device=web-1",
    "class=heartbeat device=web-3",
    "class=alert severity=9 device=db-1",
    "class=order price=120 device=shop-2",
    "class=order price=80 device=web-2",
    "class=heartbeat device=db-1",
    "class=alert severity=5 site=MXP",
)


def demo(pause_s: float = PAUSE_S) -> int:
    with _place_of_its_own():
        code = _run("A router starts", "up", "--detach", FILE)
        try:
            if code == 0:
                asyncio.run(_show_routing(pause_s))
        finally:
            _run("The router stops", "down", FILE)
    return code


async def _show_routing(pause_s: float) -> None:
    """Publish the messages one by one, print who received each, and ask the router about the first."""
    address = _address()
    arrived: list[str] = []
    print("# Three subscribers connect, and say what they want")
    async with contextlib.AsyncExitStack() as stack:
        subscribers = [await stack.enter_async_context(tamis.connect(address, name=name)) for name in SUBSCRIBERS]
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        for subscriber, predicate in zip(subscribers, SUBSCRIBERS.values(), strict=True):
            print(f"{subscriber.name:<10} {predicate}")
            items = await stack.enter_async_context(subscriber.subscribe(predicate))
            tasks.create_task(_note(subscriber.name, items, arrived))
        print("\n# A publisher sends messages, and each goes to those whom it concerns")
        publisher = await stack.enter_async_context(tamis.connect(address, name="publisher"))
        for text in MESSAGES:
            await publisher.publish(parse_message_text(text), confirm=True)
            for subscriber in subscribers:
                await _all_read(subscriber)
            print(f"{format_attributes(parse_message_text(text)):<42} -> {', '.join(sorted(arrived))}", flush=True)
            arrived.clear()
            await asyncio.sleep(pause_s)
        print()
        why = ("explain", "--router", FILE, *MESSAGES[0].split())
        await asyncio.to_thread(_run, "Why did the first message go there? The router answers by its table", *why)
        await asyncio.to_thread(_run, "How is the router?", "status", FILE)


async def _note(name: str, items: tamis.Subscription, arrived: list[str]) -> None:
    async for _ in items:
        arrived.append(name)  # noqa: PERF401 - one by one is the point


async def _all_read(client: tamis.Client) -> None:
    """An answer stands behind what was sent before it: when it is here, so are the messages."""
    async with client.subscribe("exists `nothing has this name`"):
        pass


def _address() -> str:
    from tamis.router.supervisor.state import StateFolder

    state = StateFolder.of(FILE).read()
    assert state is not None  # noqa: S101 - `tamis up` has just written it
    return state.routers["demo"].clients[0]


def _run(title: str, *command: str) -> int:
    print(f"# {title}\n$ tamis {shlex.join(command)}", flush=True)
    code = main(command)
    print(flush=True)
    return code


@contextlib.contextmanager
def _place_of_its_own() -> Iterator[None]:
    """A folder for the file, and for the state that `tamis up` keeps."""
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder, contextlib.chdir(folder):
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        Path(FILE).write_text(TOPOLOGY)
        try:
            yield
        finally:
            os.environ.pop("XDG_STATE_HOME")
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # both stop the router first
    sys.stderr = sys.stdout  # what a command says besides belongs where it is told about
    sys.exit(demo())
