"""A table of the answers in readable form: headings in words, figures with units, filters as predicates.

Law: the exact value of a rounded cell is in its `title`; its table and column are in `data-table` and `data-column`.
Equal faults are one row; long tables are folded, and end at a stated number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple

from tamis.analysis.page import formatting
from tamis.analysis.page.folding import folded

Row = Mapping[str, Any]
ROWS_MAX: Final = 100
OPEN_ROWS_MAX: Final = 24
"""Rows of a table that is shown open; a longer one is folded."""

FEW_COLUMNS_MAX: Final = 8
STACKED_COLUMNS_MIN: Final = 3
"""The number of columns from which each row of a table becomes a list of headings and values on a phone
(`style.py`)."""

MOMENTS: Final = frozenset({"at_us", "from_us", "to_us", "first_us", "last_us", "changed_us", "settled_us", "got_us"})
_NAMES: Final = frozenset(
    {
        "epoch",
        "number",
        "position",
        "durable",
        "connection",
        "filter",
        "covered_by",
        "seq",
        "issuer_epoch",
        "rank",
        "hop",
    }
)
_SHARES: Final = frozenset({"share", "selectivity", "pe", "density"})
_BYTES: Final = frozenset({"cut_bytes", "queued_bytes_max", "bytes", "bytes_in", "bytes_out", "bytes_in_vain"})
_PREDICATES: Final = frozenset({"form", "covered_by_form"})
_CODE: Final = _PREDICATES | {"attributes", "message"}
_HEADINGS: Final = {
    "form": "predicate",
    "covered_by_form": "covered by predicate",
    "hop": "links",
    "message": "example message",
    "group": "worker group",
    "about": "object",
    "is_same": "the same rules",
    "times": "times delivered",
    "seen_at": "routers that had it",
    "got_us": "delivered at",
    "at_us": "when",
    "due": "surely due",
    "whats": "what changed",
    "ways": "paths affected",
    "of": "paths in all",
    "filters_from": "filters from",
    "messages_in": "messages in",
    "queued_bytes_max": "maximum queued",
    "again": "redelivered",
    "given": "delivered",
    "open": "depth now",
    "depth_max": "maximum depth",
    "oldest_us_max": "maximum age",
    "oldest_us": "age of the oldest",
    "lag_p50_us": "time to acknowledge, p50",
    "lag_p90_us": "p90",
    "lag_p99_us": "p99",
    "pe": "matched by any subscription (pe)",
    "pp": "subscriptions per message (pp)",
    "sigma": "subscriptions per matched message (sigma)",
}
TITLES: Final = {
    "delivery/faults": "Faults, equal ones together",
    "delivery/counts": "Deliveries by verdict",
    "delivery/by_client": "Deliveries by client",
    "delivery/undecidable": "Times of changes, in which deliveries between routers are not judged",
    "delivery/in_vain": "Frames that reached routers without a matching subscription",
    "traffic/by_link": "By link",
    "traffic/by_router": "By router",
    "traffic/by_source": "By source router",
    "traffic/drops": "Dropped and refused messages, by reason",
    "traffic/over_time": "Over time",
    "latency/by_link": "By link",
    "latency/by_length": "From source to router, by number of links",
    "latency/matching": "Matching, by filters in the table",
    "durable/faults": "Faults of stored messages, equal ones together",
    "durable/fates": "Outcomes of stored messages",
    "durable/subscriptions": "Durable subscriptions",
    "durable/over_time": "Depth over time",
    "durable/custody": "Messages that routers stored for others",
    "control/frames": "Frames between routers",
    "control/statements": "Statements, and the routers that they reached",
    "control/convergence": "Time that the network took to settle",
    "control/storms": "Seconds in which a router received ten times its usual control traffic",
    "content/attributes": "Attributes",
    "content/values": "Most frequent values",
    "content/filters": "Filters, and the share of messages that match",
    "content/constraints": "Operators in filters",
    "content/covered": "Filters that another filter covers",
    "content/densities": "Share of messages that match",
    "access/requests": "Requests that rules refused, and allowed ones that change something",
    "access/constraints": "Refused requests, by what refused them",
    "access/not_admitted": "Clients that were not admitted, by address",
    "access/admitted": "Clients that were admitted",
    "access/in_force": "Times in which all routers had the same rules, and in which they had not",
    "access/rules": "Rules that came into force",
    "access/lines": "Lines of audit logs",
    "access/unwritten": "Lines that were only counted",
    "access/logs": "Audit logs, and whether each is one chain",
    "logs/changes": "Changes of links and routers",
    "logs/lines": "Lines read",
    "logs/lives": "Lives of routers",
    "logs/holes": "Holes in the records",
    "logs/clocks": "Clocks",
}
"""Titles of tables; the title of another table is its name."""
_ORDER: Final = {
    "delivery/faults": ("verdict", "cases", "client", "group", "router", "source", "attributes", "seen_at", "times"),
    "durable/faults": ("fault", "cases", "name", "router"),
    "access/requests": ("requests", "outcome", "principal", "verb", "about", "role"),
    "access/constraints": ("requests", "outcome", "verb", "role", "constraint", "principals"),
    "access/not_admitted": ("attempts", "address", "why", "method"),
    "content/filters": ("form", "subscriptions", "matches", "selectivity", "filter"),
    "content/covered": ("form", "covered_by_form"),
}
"""Columns that come first; the others follow."""
_OPEN: Final = "delivery/faults"
"""This table is never folded."""
_UNITS: Final = ("_us", "_ns")


class ShownCell(NamedTuple):
    text: str
    exact: str = ""
    """The exact value of rounded text, with its unit; empty if the text is exact."""


def heading(column: str) -> str:
    if column in _HEADINGS:
        return _HEADINGS[column]
    for unit in _UNITS:
        column = column.removesuffix(unit).replace(f"{unit}_", "_")
    return column.replace("_", " ")


def shown(column: str, value: Any) -> ShownCell:  # noqa: ANN401 - what Parquet holds
    if value is None:
        return ShownCell("")
    if isinstance(value, bool) or (column in _NAMES and isinstance(value, int)):
        return ShownCell(str(value))
    if isinstance(value, list):
        return ShownCell(_changes(value) if column == "whats" else ", ".join(map(str, value)))
    if isinstance(value, int | float):
        return _figure(column, value)
    if column == "attributes":
        return ShownCell(formatting.attributes(value))
    return ShownCell(formatting.predicate(value) if column in _PREDICATES else str(value))


def _figure(column: str, value: float) -> ShownCell:
    if column in MOMENTS:
        return ShownCell(formatting.moment(int(value)))
    if column.endswith("_us"):
        return _rounded(formatting.duration(value), f"{value:,} µs")
    if "_ns" in column:
        return _rounded(formatting.duration(value / 1e3), f"{value:,} ns")
    if column in _BYTES:
        return _rounded(formatting.volume(value), f"{value:,} B")
    if column in _SHARES:
        return _rounded(formatting.share(value), f"{value:.17g}")
    if isinstance(value, int):
        return ShownCell(f"{value:,}")
    return _rounded(formatting.digits(value), f"{value:.17g}")


def _rounded(text: str, exact: str) -> ShownCell:
    return ShownCell(text, "" if text == exact else exact)


def _changes(whats: Sequence[str]) -> str:
    """Return `b link up`, `a link up`, `a life` as `link up: a, b; life: a`."""
    routers: dict[str, list[str]] = {}
    for each in whats:
        router, _, what = each.partition(" ")
        routers.setdefault(what, []).append(router)
    return "; ".join(f"{what}: {', '.join(sorted(each))}" for what, each in routers.items())


def table(name: str, rows: Sequence[Row]) -> str:
    """Return the table called `name`, `question/table`, with its title above."""
    rows = folded(name, rows)
    title = escape(TITLES.get(name, name.partition("/")[2].replace("_", " ")))
    if not rows:
        return f'<div class="answer"><h3>{title}</h3><p class="soft">nothing</p></div>'
    order = dict.fromkeys((*_ORDER.get(name, ()), *rows[0]))
    columns = [column for column in order if any(row.get(column) is not None for row in rows)]
    numbers = {column for column in columns if _is_number(column, rows)}
    head = "".join(
        f'<th scope="col" data-column="{column}"{_style(column, numbers)}>{escape(heading(column))}</th>'
        for column in columns
    )
    lines = "".join(f"<tr>{_cells(columns, numbers, row)}</tr>" for row in rows[:ROWS_MAX])
    more = f'<p class="soft">{len(rows) - ROWS_MAX:,} more in the Parquet table</p>' if len(rows) > ROWS_MAX else ""
    whole = (
        f'<div class="frame" role="region" tabindex="0" aria-label="{title}">'
        f'<table class="{_styles(columns)}" data-table="{name}"><caption>{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>{more}"
    )
    if len(rows) > OPEN_ROWS_MAX and name != _OPEN:
        summary = f'<h3>{title}</h3> <span class="soft">{len(rows):,} rows</span>'
        whole = f"<details><summary>{summary}</summary>{whole}</details>"
    return f'<div class="answer">{whole}</div>'


def _styles(columns: Sequence[str]) -> str:
    """Return the styles of a table: of few columns or of many, which are narrower, and its form on a phone."""
    width = "many" if len(columns) > FEW_COLUMNS_MAX else "few"
    return f"{width} stacks" if len(columns) >= STACKED_COLUMNS_MIN else width


def _cells(columns: Sequence[str], numbers: set[str], row: Row) -> str:
    """Return the cells of a row; the first one is its heading."""
    each = []
    is_stacked = len(columns) >= STACKED_COLUMNS_MIN
    for place, column in enumerate(columns):
        cell = shown(column, row[column])
        text = f"<code>{escape(cell.text)}</code>" if column in _CODE and cell.text else escape(cell.text)
        tag = 'th scope="row"' if place == 0 else "td"
        exact = f' title="{escape(cell.exact)}"' if cell.exact else ""
        label = f' data-label="{escape(heading(column))}"' if is_stacked else ""
        each.append(f"<{tag}{_style(column, numbers)}{label}{exact}>{text}</{tag.partition(' ')[0]}>")
    return "".join(each)


def _is_number(column: str, rows: Sequence[Row]) -> bool:
    value = next(row[column] for row in rows if row[column] is not None)
    return isinstance(value, int | float) and not isinstance(value, bool) and column not in MOMENTS


def _style(column: str, numbers: set[str]) -> str:
    kind = "moment" if column in MOMENTS else "number" if column in numbers else "wide" if column in _CODE else ""
    return f' class="{kind}"' if kind else ""
