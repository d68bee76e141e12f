"""What paper 003 states in section 3.5 of memory and of unsubscriptions, held against what routers did.

    python -m tamis.bench.networks.strategies --scale brokers --json FILE
    python -m tamis.papers.measures.orders FILE

    memory         EF <= PF8 <= PF5 <= PF1: a broker that filters for its own clients alone keeps least, one that
                   filters every profile most; storing covered profiles (PF5) takes more than leaving them out (PF8)
    unsubscribing  PF8 >= PF5: where covered profiles are not stored, they are said as the one that covers them goes

Law: counts decide, of filters and of bytes said, and no time. `papers/models/das.py` has the algorithms, of which the
strategies below are those that routers follow. An order whose strategies have not all been measured is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

import click

from tamis.bench.cells import Cell, cells_in
from tamis.bench.tables import short
from tamis.native import DEFAULT_ENGINE

FOLLOWED: Final = {"EF": "flood-everywhere", "PF8": "profile", "PF5": "profile-preventive", "PF1": "link-matching"}
"""The strategy of ours that keeps and says what an algorithm of the paper does."""
MEMORY: Final = ("EF", "PF8", "PF5", "PF1")
UNSUBSCRIBING: Final = ("PF5", "PF8")


def told(rows: Sequence[Cell]) -> list[str]:
    """Return a sentence for each order that the cells of a group can judge."""
    by_strategy = {row["strategy"]: row for row in rows if "skipped" not in row and row["engine"] == DEFAULT_ENGINE}
    found = {name: by_strategy[strategy] for name, strategy in FOLLOWED.items() if strategy in by_strategy}
    return list(_sentences(found))


def _sentences(found: dict[str, Cell]) -> Iterator[str]:
    if found.keys() >= set(MEMORY):
        stored = {name: found[name]["stored"] for name in MEMORY}
        yield f"Paper 003, 3.5, copies of a filter that brokers keep: {_judged(stored)}."
    if found.keys() >= set(UNSUBSCRIBING) and found["PF8"]["uncovers"]:
        said = {name: found[name]["uncovers"]["bytes"] for name in UNSUBSCRIBING}
        yield f"Paper 003, 3.5, bytes said as a filter goes that covers others: {_judged(said)}."


def _judged(rising: dict[str, float]) -> str:
    listed = " <= ".join(f"{name} (`{FOLLOWED[name]}`) {short(figure)}" for name, figure in rising.items())
    holds = all(one <= other for one, other in pairwise(rising.values()))
    return f"{listed} {'holds' if holds else 'does not hold'}"


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(file: Path) -> None:
    """Print what the cells of the bench of strategies say of each order, group by group."""
    latest = {row["key"]: row for row in cells_in(file)}
    for group, rows in groupby(sorted(latest.values(), key=lambda row: str(row["group"])), lambda row: row["group"]):
        for sentence in told(list(rows)):
            click.echo(f"{group}: {sentence}")


if __name__ == "__main__":
    main()
