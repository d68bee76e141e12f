"""The report as one page: missing deliveries with reasons, the network, and the tables of all questions with plots.

Law: the page is made of the Parquet tables alone, so it can be made again without Spark. It is one file that loads
nothing else, which its `Content-Security-Policy` enforces. The content of its drawings is also in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.parquet as pq

from tamis.analysis.page import formatting, network_map, plots
from tamis.analysis.page.remarks import remarks, undelivered
from tamis.analysis.page.style import SHEET
from tamis.analysis.page.table_view import table
from tamis.analysis.questions.verdict_counts import FAULTS

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
"""`question/table` -> rows."""


class ReportSection(NamedTuple):
    question: str
    title: str
    words: str
    first: tuple[str, ...] = ()
    """Tables in this order, before the others."""


SECTIONS: Final = (
    ReportSection(
        "delivery",
        "Deliveries",
        "Each recorded message, matched again against the subscriptions in force. "
        "Faults that differ only in the message are one row, with an example. "
        "Undecided deliveries have a reason: "
        "for example, the network was changing (times below, clock errors included).",
        ("faults", "counts", "by_client", "undecidable", "in_vain"),
    ),
    ReportSection(
        "traffic", "Traffic", "Traffic of the interfaces by their counters; sources by the recorded messages."
    ),
    ReportSection("latency", "Latency", "Times on one clock, with the errors of the clocks below."),
    ReportSection(
        "durable",
        "Durable subscriptions",
        "Each recorded message of each durable subscription, followed over crashes: matching messages are stored, "
        "delivered as promised, and leave as the policy allows. Faults that missing records explain are not counted.",
        ("faults", "subscriptions", "fates"),
    ),
    ReportSection(
        "control",
        "Control plane",
        "Control messages between routers, the time they took to spread, and changes of the topology.",
    ),
    ReportSection(
        "content",
        "Content",
        "Published messages and the filters that they satisfied. Density: share of the subscriptions in force that a "
        "message satisfied.",
    ),
    ReportSection(
        "access",
        "Access rules",
        "What access rules decided, by the audit logs of the routers, which write 20 lines of a kind a second and "
        "count the others. A request that rules in mode observe refuse is observed, and served.",
        ("requests", "constraints", "not_admitted", "admitted", "in_force", "rules"),
    ),
    ReportSection(
        "advice",
        "Advice",
        "Changes of the topology file for this traffic, each with its evidence and the promised figure. "
        "Engines were timed where this page was made; only their ratios count.",
        ("advice",),
    ),
    ReportSection(
        "logs",
        "The logs",
        "Lines read, lives of routers, changes of links and routers, holes in the records, and clocks.",
    ),
)
TITLE: Final = "Analysis of the routers' logs"
_TILES: Final = (("delivered", "good"), *((fault, "bad") for fault in FAULTS), ("undecided", "doubt"))


def read(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Return every table in `out`. Folders whose names begin with a dot are no answers: they hold records while answers
    are made."""
    folders = sorted(path for path in out.glob("[!.]*/*") if path.is_dir() and any(path.glob("*.parquet")))
    return {f"{path.parent.name}/{path.name}": pq.read_table(path).to_pylist() for path in folders}


def page(tables: Tables, network: str = "") -> str:
    """Return the page; `network` is the name of the network, empty if it is unknown."""
    title = f"{network}: analysis of the routers' logs" if network else TITLE
    asked = {name.partition("/")[0] for name in tables}
    sections = [section for section in SECTIONS if section.question in asked]
    links = [("short", "In short"), *((section.question, section.title) for section in sections)]
    items = "".join(f'<li><a href="#{place}">{escape(title)}</a></li>' for place, title in links)
    body = [
        _head(tables, title),
        f'<nav aria-label="On this page"><ul>{items}</ul></nav><main id="main">',
        *_short(tables),
        *(part for section in sections for part in _section(section, tables)),
        "</main>",
    ]
    return _PAGE.format(title=escape(title), sheet=SHEET, body="\n".join(body))


def _head(tables: Tables, title: str) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in _facts(tables))
    drawn = network_map.drawing(tables)
    return f'<header><h1>{escape(title)}</h1><div class="head"><dl>{facts}</dl>{drawn}</div></header>'


def _facts(tables: Tables) -> Iterator[tuple[str, str]]:
    lives = tables["logs/lives"]
    if not lives:
        return
    names = sorted({row["router"] for row in lives})
    further = " ..." if len(names) > 24 else ""
    yield "network", f"{formatting.so_many(len(names), 'router')}: {', '.join(names[:24])}{further}"
    begin_us, end_us = min(row["first_us"] for row in lives), max(row["last_us"] for row in lives)
    yield "time", f"{formatting.span(begin_us, end_us)} ({formatting.duration(end_us - begin_us)})"
    published = sum(row["published"] for row in tables.get("traffic/by_source", ()))
    if published:
        rate = f", {formatting.digits(published / (end_us - begin_us) * 1e6)} a second" if end_us > begin_us else ""
        yield "published", f"{formatting.so_many(published, 'message')} recorded{rate}"
    records = {row["family"]: formatting.count(row["lines"]) for row in tables["logs/lines"]}
    yield "records", ", ".join(f"{count} of {family}" for family, count in sorted(records.items(), reverse=True))
    for name in ("strategy", "engine", "sampling", "version"):
        values = sorted({str(row[name]) for row in lives if row.get(name) is not None})
        if values:
            yield name, ", ".join(values)


def _short(tables: Tables) -> Iterator[str]:
    """Yield missing deliveries with reasons, and every other sentence about the tables."""
    yield '<section id="short" aria-labelledby="short-title"><h2 id="short-title">In short</h2>'
    if "delivery/counts" in tables:
        yield _tiles(tables["delivery/counts"])
        why = [f"<li>{escape(each)}</li>" for each in undelivered(tables)]
        words = f'<ul class="short">{"".join(why)}</ul>' if why else "<p>No delivery is missing, and none is wrong.</p>"
        yield f"<h3>Not delivered, by reason</h3>{words}"
    sentences = "".join(f"<li>{escape(each)}</li>" for each in remarks(tables))
    yield f'<h3>The network and its logs</h3><ul class="short" data-sentences="">{sentences}</ul></section>'


def _tiles(counts: Sequence[Row]) -> str:
    sums = {verdict: sum(row["deliveries"] for row in counts if row["verdict"] == verdict) for verdict, _ in _TILES}
    each = (
        f'<li class="{style if sums[verdict] else "none"}" title="{sums[verdict]:,}">'
        f"<strong>{formatting.count(sums[verdict])}</strong> {verdict}</li>"
        for verdict, style in _TILES
    )
    return f'<ul class="tiles" aria-label="deliveries by verdict">{"".join(each)}</ul>'


def _section(section: ReportSection, tables: Tables) -> Iterator[str]:
    place = section.question
    yield f'<section id="{place}" aria-labelledby="{place}-title"><h2 id="{place}-title">{escape(section.title)}</h2>'
    yield f"<p>{escape(section.words)}</p>"
    drawn = "".join(plots.of(place, tables))
    if drawn:
        yield f'<div class="plots">{drawn}</div>'
    names = [name.partition("/")[2] for name in tables if name.startswith(f"{place}/")]
    order = [name for name in section.first if name in names]
    for name in [*order, *(name for name in names if name not in order)]:
        yield table(f"{place}/{name}", tables[f"{place}/{name}"])
    yield "</section>"


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title><style>
{sheet}</style></head><body><a class="skip" href="#main">Skip to the answers</a>
{body}
</body></html>
"""
