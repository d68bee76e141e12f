"""One page for people: the tables of all questions, what they mean, and plots; nothing is loaded from elsewhere.

Law: the page is made of the Parquet tables alone, so it can be made again without Spark. What the logs lack stands
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.parquet as pq

from tamis.analysis import plots
from tamis.analysis.remarks import remarks

ROWS_MAX: Final = 100
OPEN_ROWS_MAX: Final = 24
"""Rows of a table that is shown open; a longer one is folded up."""
Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
"""`question/table` -> rows."""


class ReportSection(NamedTuple):
    question: str
    title: str
    words: str


SECTIONS: Final = (
    ReportSection(
        "delivery",
        "Deliveries",
        "Each recorded message against the subscriptions that were in force, decided anew. "
        "Faults are listed one by one. What is undecided is so for the reason given: "
        "within the spans below, clock errors included.",
    ),
    ReportSection(
        "traffic", "Traffic", "What crossed the interfaces, by their counters; sources by the recorded messages."
    ),
    ReportSection("latency", "Latency", "Times on one clock; no better than the errors of the clocks below."),
    ReportSection(
        "control",
        "Control plane",
        "What routers told each other, how long it took to spread, and changes of the topology.",
    ),
    ReportSection(
        "content",
        "Content",
        "What was published, and which filters it satisfied. pe: share of messages that anybody wanted; pp: "
        "subscriptions satisfied by a message on average; sigma = pp / pe; density: share of all subscriptions "
        "in force.",
    ),
    ReportSection(
        "advice",
        "Advice",
        "What the topology file should say for this traffic, with the evidence and the figure it is promised to bring. "
        "Engines were timed where this page was made; only their ratios count.",
    ),
    ReportSection("logs", "The logs", "What was read, the lives of routers, holes in their records, and their clocks."),
)


def read(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Return every table in `out`. Folders whose names begin with a dot are no answers: records lie there while answers
    are made."""
    folders = sorted(path for path in out.glob("[!.]*/*") if path.is_dir() and any(path.glob("*.parquet")))
    return {f"{path.parent.name}/{path.name}": pq.read_table(path).to_pylist() for path in folders}


def page(tables: Tables) -> str:
    asked = {name.partition("/")[0] for name in tables}
    body = [_remarks(remarks(tables))]
    for section in SECTIONS:
        if section.question in asked:
            body.append(f'<h2 id="{section.question}">{escape(section.title)}</h2><p>{escape(section.words)}</p>')
            body += [f"<figure>{drawn}</figure>" for drawn in plots.of(section.question, tables)]
            body += [_table(name, rows) for name, rows in tables.items() if name.startswith(f"{section.question}/")]
    links = " ".join(
        f'<a href="#{each.question}">{escape(each.title)}</a>' for each in SECTIONS if each.question in asked
    )
    return _PAGE.format(links=links, body="\n".join(body))


def _remarks(found: Iterable[str]) -> str:
    lines = "".join(f"<li>{escape(each)}</li>" for each in found)
    return f"<h2>In short</h2><ul>{lines}</ul>"


def _table(name: str, rows: Sequence[Row]) -> str:
    title = escape(name.partition("/")[2].replace("_", " "))
    if not rows:
        return f"<h3>{title}</h3><p>nothing</p>"
    columns = [column for column in rows[0] if any(row[column] is not None for row in rows)]
    head = "".join(f"<th>{escape(_heading(column))}</th>" for column in columns)
    lines = "".join(f"<tr>{''.join(_cell(column, row[column]) for column in columns)}</tr>" for row in rows[:ROWS_MAX])
    more = f"<p>{len(rows) - ROWS_MAX:,} more in the Parquet table</p>" if len(rows) > ROWS_MAX else ""
    table = f"<div><table><tr>{head}</tr>{lines}</table></div>{more}"
    if len(rows) <= OPEN_ROWS_MAX:
        return f"<h3>{title}</h3>{table}"
    return f"<details><summary><h3>{title}</h3> {len(rows):,} rows</summary>{table}</details>"


def _heading(column: str) -> str:
    """Return a column's heading; a column that is shown as dates has no unit."""
    return (column.removesuffix("_us") if column in _MOMENTS else column).replace("_", " ")


def _cell(column: str, value: Any) -> str:  # noqa: ANN401 - what Parquet holds
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    style = ' class="moment"' if column in _MOMENTS else ' class="number"' if is_number else ""
    return f"<td{style}>{escape(shown(column, value))}</td>"


def shown(column: str, value: Any) -> str:  # noqa: ANN401 - what Parquet holds
    """Return `value` as the page shows it: moments as dates, thousands set apart, four digits of measurements."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int) and column in _MOMENTS:
        return moment(value)
    if isinstance(value, bool) or column in _NAMES:
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


def moment(at_us: int) -> str:
    if abs(at_us) >= 1 << 61:
        return "the beginning"
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


_NAMES = frozenset({"epoch", "number", "connection", "filter", "seq", "issuer_epoch", "rank", "hop"})
_MOMENTS = frozenset({"at_us", "from_us", "to_us", "first_us", "last_us", "changed_us", "settled_us", "got_us"})
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>What the routers wrote</title><style>
body {{ font: 15px/1.5 sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; color: #222 }}
h2 {{ border-bottom: 2px solid #1b6ca8; margin-top: 2em }}
h3 {{ margin-bottom: .3em }}
div {{ overflow-x: auto }}
table {{ border-collapse: collapse; font-size: 13px }}
td, th {{ border-bottom: 1px solid #ddd; padding: 2px 10px; text-align: left; vertical-align: top }}
tr:nth-child(even) {{ background: #f6f8fa }}
.number {{ text-align: right; font-variant-numeric: tabular-nums }}
.moment {{ white-space: nowrap; font-variant-numeric: tabular-nums }}
nav a {{ margin-right: 1em }}
summary {{ cursor: pointer; margin: 1em 0 .3em }}
summary h3 {{ display: inline }}
figure {{ margin: 1em 0; max-width: 760px }}
</style></head><body><h1>What the routers wrote</h1><nav>{links}</nav>
{body}
</body></html>
"""
