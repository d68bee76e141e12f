"""The table as Markdown: a section for each layout, count of subscriptions and coverable share.

Law: the page is made of cells alone; a cell that was left out has its reason in the place of figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tamis.bench.cells import Cell
from tamis.bench.networks.strategies.cells import Cells, Setup
from tamis.bench.tables import markdown, percent, short

HEAD: Final = (
    *("strategy", "engine", "control frames", "control kB", "frames, one added", "bytes, one added"),
    *(
        "frames, one removed",
        "bytes, one removed",
        "frames, a cover removed",
        "bytes, a cover removed",
        "copies of a filter",
    ),
    *("memory, mean MB", "most MB", "of it C", "frames an event", "bytes an event"),
    *("us entry", "us transit", "us leaf", "us an event", "±"),
    *("steps entry", "steps transit", "steps leaf", "steps an event", "cut ms", "cut frames", "masks", "missing"),
)
ROLES: Final = ("entry", "transit", "leaf")


def page(setups: Sequence[Setup], cells: Cells) -> str:
    sections = [_section(setup, cells.group(setup)) for setup in setups if cells.group(setup)]
    return "\n\n".join(sections)


def _section(setup: Setup, rows: Sequence[Cell]) -> str:
    title = f"## {setup.layout}, {setup.subscriptions:,} subscriptions, {setup.coverable} % coverable"
    able = [row for row in rows if "skipped" not in row]
    told = [title]
    if able:
        told.append(markdown(list(HEAD), [_cells(row) for row in able]))
    told += [f"Left out: {row['strategy']} with {row['engine']}, {row['skipped']}." for row in rows if "skipped" in row]
    return "\n\n".join(told)


def _said(said: Mapping[str, float] | None) -> tuple[float | None, float | None]:
    return (said["frames"], said["bytes"]) if said else (None, None)


def _cells(row: Cell) -> list[str]:
    memory, cut = row["memory"], row["cut"]
    return [
        *(row["strategy"], row["engine"], f"{row['control']['frames']:,}", short(row["control"]["bytes"] / 1e3)),
        *(short(each) for what in ("comes", "goes", "uncovers") for each in _said(row[what])),
        short(row["stored"]),
        *(short((memory["c_mean"] + memory["core_mean"]) / 1e6), short((memory["c_most"] + memory["core_most"]) / 1e6)),
        *(percent(memory["c_mean"] / (memory["c_mean"] + memory["core_mean"])), short(row["frames"])),
        *(short(row["bytes"]), *(short(row["us"].get(role)) for role in ROLES)),
        *(short(row["us_event"]), percent(row["spread"]), *(short(row["steps"].get(role)) for role in ROLES)),
        *(short(row["steps_event"]), short(cut["ms"]), short(cut["frames"]), str(row["masks"])),
        str(row["missing"] or ""),
    ]
