"""What a message costs each router of a line of three, beside a router that stands alone: `python -m
tamis.bench.router.transit`.

    alone     publisher -> router -> subscriber
    line      publisher -> entry -> transit -> leaf -> subscriber, each router in a process of its own

Law: the same switch, the same messages of 150 bytes and the same filters on both sides; a router's CPU is that of its
whole process while messages pass. With --callgrind the instructions of a router are counted while frames are fed to it
by hand, which a busy machine cannot move. Every run is bounded in messages and ends by itself.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Final

from tamis.bench import callgrind
from tamis.bench.router.switches import (
    ATTRIBUTES,
    BLOCK_MESSAGES,
    POLL_BUDGET_US,
    PUBLISHER,
    SUBSCRIBER,
    WANTED,
    admit,
    connected,
    consume,
    packed,
    process,
    publish,
    subscribe,
)
from tamis.bench.tables import tell
from tamis.native import Switch, SwitchOptions, Table
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.data_frames import DataFrame, encode_data, encode_publish
from tamis.protocol.wire.header import Transit
from tamis.protocol.wire.kinds import FrameKind

PAYLOAD: Final = b"x" * 4
OTHERS: Final = 'symbol = "S{}" and price < {}'
LINE: Final = (1, 2, 3)
ROLES: Final = ("alone", "entry", "transit", "leaf")
HOPS: Final = 6
Around = Callable[[Switch], contextlib.AbstractContextManager[object]]


class Router:
    """One of the line, or alone; `filters` is how many the subscriber has, the one that matches among them. At most
    `subscribers` subscribe, among them durable subscriptions."""

    forwarding = "wanted"

    def __init__(self, role: str, filters: int, subscribers: int = 4) -> None:
        self.number = {"alone": 1, "entry": 1, "transit": 2, "leaf": 3}[role]
        self.role = role
        options = SwitchOptions(self.number, 1, 4, publishers_max=4, hop_limit=1, subscribers_max=subscribers)
        self.switch = Switch(Table(), options)
        self.wanted = [packed(WANTED), *(packed(OTHERS.format(i, i)) for i in range(100, 99 + filters))]
        if role != "alone":
            self.switch.join(Table(), 8, self.forwarding)
            self._route()

    def _route(self) -> None:
        switch, me = self.switch, self.number
        if self.role != "leaf":
            switch.install(LINE[-1], dict(enumerate(self.wanted)))
        generation = switch.begin_routes(HOPS)
        for source in LINE:
            behind = [other for other in LINE if (other > me) if source <= me] + [
                other for other in LINE if (other < me) if source >= me
            ]
            parent = None if source == me else me - 1 if source < me else me + 1
            switch.route(generation, source, parent, {to: me + 1 if to > me else me - 1 for to in behind})
        switch.commit(0)

    def ends(self, came_from: int, goes_to: int) -> tuple[int, int]:
        """Admit both ends; who subscribes does."""
        first = self.role in ("alone", "entry")
        last = self.role in ("alone", "leaf")
        source = admit(self.switch, PUBLISHER if first else self.number - 1, came_from, is_link=not first)
        sink = admit(self.switch, SUBSCRIBER if last else self.number + 1, goes_to, is_link=not last)
        if last:
            subscribe(self.switch, sink, self.wanted)
        return source, sink

    @property
    def passed(self) -> int:
        figures = self.switch.figures()
        return figures.deliveries + figures.forwarded if not figures.queued_bytes else 0


# --- through sockets -------------------------------------------------------------------------------------------------


def _serve(
    role: str, filters: int, messages: int, came_from: socket.socket, goes_to: socket.socket, around: Around
) -> tuple[float, float]:
    """Microseconds of CPU a message: of the thread that serves, and of those beside it."""
    router = Router(role, filters)
    router.ends(came_from.detach(), goes_to.detach())
    ready = select.epoll()
    ready.register(router.switch.descriptor, select.EPOLLIN)
    served_s, all_s = time.thread_time(), time.process_time()
    with around(router.switch):
        while router.passed < messages:
            ready.poll(0.1)
            router.switch.poll(POLL_BUDGET_US)
        served_s = time.thread_time() - served_s
    beside_s = time.process_time() - all_s - served_s
    return served_s * 1e6 / messages, beside_s * 1e6 / messages


def _forked(serve: Callable[[], tuple[float, float]]) -> int:
    """A pipe out of which what `serve` found will come."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, json.dumps(serve()).encode())
        os._exit(0)
    os.close(writer)
    return reader


def measure(
    roles: tuple[str, ...], filters: int, messages: int, around: Around = contextlib.nullcontext
) -> dict[str, float]:
    """CPU of each router, and messages a second through all of them; `around` is entered while messages pass, and what
    its threads take is `beside`, of all routers."""
    pairs = [connected("tcp") for _ in range(len(roles) - 1)]
    with process(consume, "tcp", messages) as subscriber, process(publish, "tcp", messages) as publisher:
        started = time.perf_counter()
        ins = [publisher, *(theirs for _, theirs in pairs)]
        outs = [*(ours for ours, _ in pairs), subscriber]
        for end in (*ins, *outs):
            end.setblocking(False)
        pipes = []
        for role, came_from, goes_to in zip(roles, ins, outs, strict=True):
            serve = lambda r=role, a=came_from, b=goes_to: _serve(r, filters, messages, a, b, around)  # noqa: E731
            pipes.append(_forked(serve))
        for end in (*ins, *outs):
            end.close()
        told = [json.loads(os.read(pipe, 256)) for pipe in pipes]
        elapsed = time.perf_counter() - started
    for pipe in pipes:
        os.close(pipe)
        os.wait()
    served = {role: us for role, (us, _) in zip(roles, told, strict=True)}
    return served | {"beside": sum(us for _, us in told), "msgs_per_s": messages / elapsed}


# --- by hand, counted ------------------------------------------------------------------------------------------------


def _frame(role: str, counter: int) -> bytes:
    if role in ("alone", "entry"):
        return encode_publish(PUBLISHER, counter, 0, ATTRIBUTES, PAYLOAD)
    body = Message(ATTRIBUTES, PAYLOAD, MessageId(PUBLISHER, counter))
    return encode_data(DataFrame(FrameKind.PUBLISH, body, hop_limit=HOPS, transit=Transit(LINE[0], 1, counter)))


def fed(router: Router, messages: int, around: Around = contextlib.nullcontext) -> float:
    """Microseconds of CPU a message of the thread that feeds a router, bytes in and out by hand."""
    source, sink = router.ends(-1, -1)
    spent_s = 0.0
    with around(router.switch):
        for start in range(1, messages, BLOCK_MESSAGES):
            block = b"".join(_frame(router.role, start + i) for i in range(BLOCK_MESSAGES))
            before = time.thread_time()
            router.switch.feed(source, block)
            spent_s += time.thread_time() - before
            while router.switch.output(sink, 1 << 28) or router.switch.output(source, 1 << 28):
                pass
    if router.passed < messages // BLOCK_MESSAGES * BLOCK_MESSAGES:
        raise RuntimeError(f"{router.role} forwarded {router.passed} of {messages} messages")
    return spent_s * 1e6 / messages


def instructions(program: str, fed: str, filters: int, messages: int) -> float:
    """Instructions a message, inside tm_switch_feed, what the first ones cost more included; `program --fed` feeds."""
    asked = ("--fed", fed, "--filters", str(filters), "--messages", str(messages))
    return callgrind.counted("tm_switch_feed", program, *asked) / messages


# --- telling ---------------------------------------------------------------------------------------------------------


def _counted(filters: int, messages: int, as_json: bool) -> None:
    found = {role: instructions("tamis.bench.router.transit", role, filters, messages) for role in ROLES}
    mean = statistics.mean(found[role] for role in ROLES[1:])
    tell({"what": "instructions a message", "filters": str(filters), **found, "ratio": mean / found["alone"]}, as_json)


def _timed(filters: int, messages: int, rounds: int, as_json: bool) -> None:
    alone = [measure(("alone",), filters, messages) for _ in range(rounds)]
    line = [measure(ROLES[1:], filters, messages) for _ in range(rounds)]
    found = {"alone": min(run["alone"] for run in alone)}
    found |= {role: min(run[role] for run in line) for role in ROLES[1:]}
    ratio = statistics.mean(found[role] for role in ROLES[1:]) / found["alone"]
    rates = {"alone_per_s": max(r["msgs_per_s"] for r in alone), "line_per_s": max(r["msgs_per_s"] for r in line)}
    tell({"what": "us of CPU a message, sockets", "filters": str(filters), **found, "ratio": ratio, **rates}, as_json)


def run_command(
    program: str,
    about: str,
    choices: Sequence[str],
    fed: Callable[[str, int, int], float],
    counted: Callable[[int, int, bool], None],
    timed: Callable[[int, int, int, bool], None] | None = None,
    filters: int = 1_000,
) -> None:
    """The command line of a bench of routers: one router that is fed, instructions, or through sockets. Without `timed`
    instructions are counted where nothing is said. `counted` is given filters, messages and whether to print JSON,
    `timed` rounds besides."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=about.splitlines()[0])
    messages = 10 * BLOCK_MESSAGES if timed is None else 400_000
    parser.add_argument("--messages", type=int, default=messages, help="messages of each run (default: %(default)s)")
    parser.add_argument("--filters", type=int, default=filters, help="number of filters (default: %(default)s)")
    if timed is not None:
        parser.add_argument("--rounds", type=int, default=5, help="runs of each side (5)")
        parser.add_argument("--callgrind", action="store_true", help="count instructions, over 4,000 messages")
    parser.add_argument("--fed", choices=choices, help="feed one router directly and print CPU us per message")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    arguments = parser.parse_args()
    messages = arguments.messages // BLOCK_MESSAGES * BLOCK_MESSAGES
    if arguments.fed:
        tell({"what": arguments.fed, "us": fed(arguments.fed, arguments.filters, messages)}, arguments.json)
    elif timed is not None and not arguments.callgrind:
        timed(arguments.filters, messages, arguments.rounds, arguments.json)
    elif not callgrind.is_installed():
        parser.error("valgrind is not installed")
    else:
        counted(arguments.filters, 10 * BLOCK_MESSAGES if timed else messages, arguments.json)


def _fed(role: str, filters: int, messages: int) -> float:
    return fed(Router(role, filters), messages)


def main() -> None:
    run_command("tamis.bench.router.transit", __doc__, ROLES, _fed, _counted, _timed)


if __name__ == "__main__":
    main()
