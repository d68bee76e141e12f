"""What keeps cost a message that none of them wants: `python -m tamis.bench.kept.others`.

    nobody    a publisher, a subscriber with `--filters` filters
    client    and a client that is connected and has as many filters, none of which matches
    keeps     and as many filters of keeps in its place

Law: instructions inside tm_switch_feed, counted by callgrind, which a busy machine cannot move. No
keep gets a message, so the log stays empty but for the keeps.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Final

from tamis.bench.router.moving import BLOCK_MESSAGES
from tamis.bench.router.transit import Router, fed, instructions, tell
from tamis.native import Admission, SubscribeFrame
from tamis.native.keeps import SwitchKeeps
from tamis.native.log import Log
from tamis.protocol.language import parse
from tamis.protocol.wire.client_bodies import Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.keep_bodies import KeepTerms
from tamis.protocol.wire.packed_filters import encode_filter

WHO: Final = ("nobody", "client", "keeps")
A_KEEP: Final = 10
"""Filters of one keep."""
RING_BYTES: Final = 4 << 20


def unwanted(filters: int) -> list[bytes]:
    """Filters of the same names as those of the subscriber, which match none of the messages."""
    return [encode_filter(parse(f'symbol = "K{i}" and price < {i}').filters[0]) for i in range(filters)]


def subscribe(router: Router, packed: list[bytes]) -> None:
    connection = router.switch.open()
    if connection is None:
        raise RuntimeError("no room for a connection")
    router.switch.admit(connection, Admission(79, 1 << 28, 1 << 28, 1 << 20, 1 << 20, 100_000))
    items = tuple(SubscriptionItem(i, (filter_,)) for i, filter_ in enumerate(packed))
    frame = SubscribeFrame(encode(Subscribe(1, items, False, Reach.HOME, False)))
    if router.switch.subscribe(router.switch.subscriber_of(connection), frame, 100_000):
        raise RuntimeError("a subscription was refused")
    while router.switch.output(connection, 1 << 20):
        pass


def feed(who: str, filters: int, messages: int) -> float:
    """Microseconds of CPU a message."""
    router = Router("alone", filters, 4 + filters)
    if who == "client":
        subscribe(router, unwanted(filters))
    if who != "keeps":
        return fed(router, messages)
    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder), bytes_max=1 << 26, segment_bytes=1 << 22, ring_bytes=RING_BYTES)
        with SwitchKeeps(router.switch, log, ring_bytes=RING_BYTES) as keeps:
            packed = unwanted(filters)
            for number, start in enumerate(range(0, filters, A_KEEP), 1):
                keeps.open(number, KeepTerms(tuple(packed[start : start + A_KEEP])))
            us = fed(router, messages)
        log.close()
    return us


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tamis.bench.kept.others", description="What keeps cost others.")
    parser.add_argument("--messages", type=int, default=10 * BLOCK_MESSAGES, help="for each run (4,000)")
    parser.add_argument("--filters", type=int, default=1_000, help="of each (1,000)")
    parser.add_argument("--fed", choices=WHO, help="one of them, fed by hand: us of CPU a message")
    parser.add_argument("--json", action="store_true", help="one object a line")
    arguments = parser.parse_args()
    messages = arguments.messages // BLOCK_MESSAGES * BLOCK_MESSAGES
    if arguments.fed:
        tell({"what": arguments.fed, "us": feed(arguments.fed, arguments.filters, messages)}, arguments.json)
        return
    if shutil.which("valgrind") is None:
        parser.error("valgrind is not installed")
    found = {who: instructions("tamis.bench.kept.others", who, arguments.filters, messages) for who in WHO}
    tell({"what": "instructions a message", "filters": str(arguments.filters), **found}, arguments.json)


if __name__ == "__main__":
    main()
