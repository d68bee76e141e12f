"""How many filters a second a client translates: `python -m tamis.bench.router.translating`.

For each dialect filters as people write them, all of them distinct; with `--cases FOLDER` those of its tables of cases,
too. `calls` are the calls of functions that one filter takes, which a busy machine does not change.

Law: one thread translates, and the time is that of its core. The rounds of all dialects alternate; the fastest is
printed, with how far the median is below it, and whether it reaches what is wanted: 50,000 topics a second, and 3,000
filters of a dialect with a grammar.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Final

import click

from tamis.bench.tables import tell
from tamis.protocol import dialects
from tamis.protocol.errors import DialectError

_SQL: Final = (
    "symbol = 'SYM$n' AND price * qty < 1000",
    "symbol = 'SYM$n' AND price < $n",
    "(color = 'red$n' OR color = 'blue') AND NOT weight > 2500",
)
FILTERS: Final[dict[str, tuple[str, ...]]] = {
    "tamis": (
        'symbol = "SYM$n" and price * qty < 1000',
        'symbol ~= "Sym$n" and price < $n',
        'path like "/var/%/web$n.log" or not (price < $n)',
        'region in {"eu", "us$n"} and severity > 2 and class = "alert"',
    ),
    "jms": (*_SQL, "type LIKE 'order.$n.%' AND region IN ('eu', 'us') AND amount BETWEEN 10 AND $n"),
    "amqp-sql": (*_SQL, "properties.subject LIKE 'order.$n.%' AND header.priority > 4 AND region IN ('eu', 'us')"),
    "azure": (*_SQL, "sys.Label LIKE 'order.$n.%' AND region IN ('eu', 'us') AND amount >= 10"),
    "cesql": (
        *_SQL[:2],
        "type LIKE 'com.example.order$n.%' AND region IN ('eu', 'us') AND EXISTS subject",
        "(color = 'red$n' OR color = 'blue') AND NOT (weight > 2500)",
    ),
    "cel": (
        'symbol == "SYM$n" && price * qty < 1000',
        'symbol == "SYM$n" && price < $n',
        'subject.startsWith("order.$n.") && region in ["eu", "us"] && amount >= 10',
        '(color == "red$n" || color == "blue") && !(weight > 2500)',
    ),
    "pubsub": (
        'attributes.symbol = "SYM$n" AND attributes.side = "buy"',
        'hasPrefix(attributes.type, "order.$n.") AND NOT attributes:test',
        '(attributes.color = "red$n" OR attributes.color = "blue") AND attributes.region != "eu"',
    ),
    "cloudevents": (
        '{"exact": {"type": "com.example.order$n"}}',
        '{"all": [{"prefix": {"type": "com.example.$n"}}, {"exact": {"source": "shop"}}]}',
        '{"any": [{"suffix": {"subject": ".png"}}, {"not": {"exact": {"type": "t$n"}}}]}',
    ),
    "eventbridge": (
        '{"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change"], "detail": {"state": ["running$n"]}}',
        '{"detail": {"symbol": ["SYM$n"], "price": [{"numeric": ["<", 1000]}]}}',
        '{"source": [{"prefix": "o.$n."}], "detail": {"region": [{"anything-but": ["eu", "us"]}], "price": [1, 2]}}',
        '{"source": ["a$n"], "$or": [{"detail": {"x": [{"exists": true}]}}, {"detail": {"y": [{"suffix": ".png"}]}}]}',
    ),
    "sns": (
        '{"symbol": ["SYM$n"], "price": [{"numeric": ["<", 1000]}]}',
        '{"store": ["shop$n"], "event": [{"anything-but": "cancelled"}], "interests": ["rugby", "football"]}',
        '{"subject": [{"prefix": "order.$n."}], "amount": [{"numeric": [">=", 10, "<", 5000]}]}',
        '{"test": [{"exists": false}], "store": ["shop$n"]}',
    ),
    "mqtt": ("sensors/$n/+/temperature", "site/$n/#"),
    "nats": ("sensors.$n.*.temperature", "site.$n.>"),
    "amqp-topic": ("sensors.$n.*.temperature", "site.$n.#"),
}
TOPICS: Final = ("mqtt", "nats", "amqp-topic")
WANTED: Final = 3_000
WANTED_TOPICS: Final = 50_000


def distinct(dialect: str, first: int, count: int) -> list[str]:
    """Return filters of a dialect that have the numbers from `first` on."""
    forms = FILTERS[dialect]
    return [forms[number % len(forms)].replace("$n", str(number)) for number in range(first, first + count)]


def cases(folder: Path, dialect: str) -> list[str]:
    """Return the filters of a table of cases that are not refused."""
    lines = folder.joinpath(f"{dialect}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith(("# ", "  ")) and _is_filter(dialect, line)]


def _is_filter(dialect: str, text: str) -> bool:
    try:
        dialects.get(dialect).translate(text)
    except DialectError:
        return False
    return True


def seconds_of(dialect: str, texts: list[str]) -> float:
    """Return the seconds of one filter."""
    translate = dialects.get(dialect).translate
    start = time.thread_time()
    for text in texts:
        translate(text)
    return (time.thread_time() - start) / len(texts)


def calls_of(dialect: str, texts: list[str]) -> int:
    """Return the calls of functions of one filter, those in C included."""
    translate, calls = dialects.get(dialect).translate, 0
    translate(texts[0])  # which makes the parser

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for text in texts:
            translate(text)
    finally:
        sys.setprofile(None)
    return round(calls / len(texts))


def _tell(dialect: str, what: str, spent: list[float], calls: int, as_json: bool) -> None:
    wanted, rate = WANTED_TOPICS if dialect in TOPICS else WANTED, 1 / min(spent)
    row = {
        "dialect": dialect,
        "filters": what,
        "a second": round(rate),
        "median below it": f"{1 - min(spent) / median(spent):.0%}",
        "calls": calls,
        "reached": "yes" if rate >= wanted else f"no, {wanted:,} are wanted",
    }
    tell(row, as_json)


@click.command(help=__doc__)
@click.option("--dialects", "names", default=",".join(FILTERS), help="Names with commas; all that have filters here.")
@click.option("--filters", default=200, show_default=True, help="Filters of a dialect in a round.")
@click.option("--rounds", default=15, show_default=True)
@click.option("--cases", "folder", type=click.Path(exists=True, path_type=Path), help="Tables of cases, NAME.txt.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def main(names: str, filters: int, rounds: int, folder: Path | None, as_json: bool) -> None:
    chosen = names.split(",")
    tables = {name: cases(folder, name) for name in chosen} if folder else {}
    written: dict[str, list[float]] = {name: [] for name in chosen}
    tabled: dict[str, list[float]] = {name: [] for name in tables}
    for name in chosen:
        seconds_of(name, distinct(name, 1, 1))  # which makes the parser
    for number in range(1, rounds + 1):
        for name in chosen:
            written[name].append(seconds_of(name, distinct(name, 1_000 + number * filters, filters)))
        for name, texts in tables.items():
            tabled[name].append(seconds_of(name, texts))
    for name in chosen:
        _tell(name, "distinct", written[name], calls_of(name, distinct(name, 1_000, filters)), as_json)
        if name in tables:
            _tell(name, "of the cases", tabled[name], calls_of(name, tables[name]), as_json)


if __name__ == "__main__":
    main()
