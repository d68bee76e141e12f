"""What residual programs cost a match: `python -m tamis.bench.router.residual`.

10,000 filters that one client has: `symbol = 'SYMi' AND price * qty < N` of JMS, beside `symbol = 'SYMi' AND price <
N`, which a predicate says exactly, and `symbol ~= "Symi" and price < N`, whose symbols the router indexes in any case.
Each message has one of the symbols, so one program runs. Half of the programs let their message pass; half of the exact
filters match.

Law: a switch in this process is fed by hand. The rounds of both alternate; a round is timed as a whole, and the least
is printed, with how far the median is above it. `match` is of the messages that the switch times itself, one in 256.
"""

from __future__ import annotations

import time
from contextlib import closing
from random import Random
from statistics import median
from typing import Final

import click

from tamis.bench.router.switches import PUBLISHER, SUBSCRIBER, admit, subscribe_items
from tamis.bench.tables import tell
from tamis.native import Switch, SwitchOptions, Table
from tamis.protocol import dialects
from tamis.protocol.wire.client_bodies import SubscriptionItem
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.packed_filters import encode_filter

SELECTORS: Final = {
    "exact": ("jms", "symbol = 'SYM{}' AND price < {}"),
    "residual": ("jms", "symbol = 'SYM{}' AND price * qty < {}"),
    "any case": ("tamis", 'symbol ~= "Sym{}" and price < {}'),
}
BLOCK: Final = 512


class Fed:
    """A switch with one client that has all selectors, and one that publishes."""

    def __init__(self, dialect: str, selector: str, filters: int) -> None:
        self.table = Table()
        options = SwitchOptions(number=1, epoch=2, connections_max=3, publishers_max=10, hop_limit=9)
        self.switch = Switch(self.table, options)
        self.publisher, self.subscriber = admit(self.switch, PUBLISHER), admit(self.switch, SUBSCRIBER)
        self.counter = 0
        items = [
            _item(number, dialect, selector.format(number, 1_000 if number % 2 else 0)) for number in range(filters)
        ]
        subscribe_items(self.switch, self.subscriber, items)

    def round(self, messages: int, random: Random, filters: int) -> float:
        """Return the nanoseconds of a message."""
        spent = 0
        for _ in range(0, messages, BLOCK):
            frames = b"".join(self._frame(random.randrange(filters)) for _ in range(BLOCK))
            start = time.perf_counter_ns()
            self.switch.feed(self.publisher, frames)
            spent += time.perf_counter_ns() - start
            while self.switch.output(self.subscriber, 1 << 20):
                pass
        return spent / (-(-messages // BLOCK) * BLOCK)

    def _frame(self, symbol: int) -> bytes:
        self.counter += 1
        return encode_publish(PUBLISHER, self.counter, 0, {"symbol": f"SYM{symbol}", "price": 7, "qty": 11})


def _item(number: int, dialect: str, selector: str) -> SubscriptionItem:
    found = dialects.get(dialect).decided(selector)
    packed = tuple(encode_filter(each) for each in found.predicate.filters)
    indexed = () if found.indexed is None else tuple(encode_filter(each) for each in found.indexed.filters)
    return SubscriptionItem(number, packed, b"" if found.residual is None else found.residual.pack(), indexed)


@click.command(help=__doc__)
@click.option("--filters", default=10_000, show_default=True, help="Selectors of the client.")
@click.option("--messages", default=100_000, show_default=True, help="Messages of a round.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def main(filters: int, messages: int, rounds: int, as_json: bool) -> None:
    random = Random(1)
    fed = {name: Fed(*each, filters) for name, each in SELECTORS.items()}
    spent: dict[str, list[float]] = {name: [] for name in fed}
    for _ in range(rounds):
        for name, each in fed.items():
            spent[name].append(each.round(messages, random, filters))
    for name, each in fed.items():
        with closing(each.table), closing(each.switch):
            figures = each.switch.figures()
            least = min(spent[name])
            row = {
                "what": name,
                "filters": filters,
                "messages": figures.messages_in,
                "delivered": figures.deliveries,
                "programs run": figures.residual_candidates,
                "message ns": round(least),
                "median above it": f"{median(spent[name]) / least - 1:.0%}",
                "match ns": round(figures.match_ns_sum / figures.matches_timed),
            }
            tell(row, as_json)


if __name__ == "__main__":
    main()
