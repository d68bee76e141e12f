"""The cost of durable subscriptions for a message that matches none of them: `python -m tamis.bench.durable.others`.

    nobody    a publisher, a subscriber with `--filters` filters
    log       and a log, without durable subscriptions
    client    and a connected client with as many filters, none of which matches
    durable   as many filters of durable subscriptions instead
    home      as many filters of durable subscriptions of another router, for which messages are stored here

Law: instructions inside tm_switch_feed, counted by callgrind, which a busy machine cannot move. No
subscription gets a message, so the log holds only the subscriptions.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from tamis.bench.router.switches import admit, packed, subscribe
from tamis.bench.router.transit import Router, fed, instructions, run_command
from tamis.bench.tables import tell
from tamis.native.custody import SwitchHomes
from tamis.native.durables import SwitchDurables
from tamis.native.log import Log
from tamis.protocol.wire.durable_bodies import DurablePolicy

PROGRAM: Final = "tamis.bench.durable.others"
CLIENT: Final = 79
WHO: Final = ("nobody", "log", "client", "durable", "home")
HOME: Final = 7
A_DURABLE: Final = 10
"""Filters of one durable subscription."""
RING_BYTES: Final = 4 << 20


def unwanted(filters: int) -> list[bytes]:
    """Filters of the same names as those of the subscriber, which match none of the messages."""
    return [packed(f'symbol = "K{i}" and price < {i}') for i in range(filters)]


def feed(who: str, filters: int, messages: int) -> float:
    """Microseconds of CPU a message."""
    router = Router("alone", filters, 4 + filters)
    if who == "client":
        connection = admit(router.switch, CLIENT)
        subscribe(router.switch, connection, unwanted(filters))
        while router.switch.output(connection, 1 << 20):
            pass
    if who in ("nobody", "client"):
        return fed(router, messages)
    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder), bytes_max=1 << 26, segment_bytes=1 << 22, ring_bytes=RING_BYTES)
        with SwitchDurables(router.switch, log, ring_bytes=RING_BYTES) as durables:
            homes = SwitchHomes(durables, log)
            if who == "home":
                homes.open(HOME)
            wanted = unwanted(filters if who != "log" else 0)
            for number, start in enumerate(range(0, len(wanted), A_DURABLE), 1):
                some = tuple(wanted[start : start + A_DURABLE])
                if who == "durable":
                    durables.open(number, DurablePolicy(some))
                else:
                    homes.want(HOME, number, some)
            us = fed(router, messages)
        log.close()
    return us


def _counted(filters: int, messages: int, as_json: bool) -> None:
    found = {who: instructions(PROGRAM, who, filters, messages) for who in WHO}
    tell({"what": "instructions a message", "filters": str(filters), **found}, as_json)


def main() -> None:
    run_command(PROGRAM, __doc__, WHO, feed, _counted)


if __name__ == "__main__":
    main()
