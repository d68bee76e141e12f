"""Rows of a CSV file, published by one program and stored in SQLite by another.

    python csv_to_sqlite.py store tamis://127.0.0.1:7400 orders.sqlite
    python csv_to_sqlite.py publish tamis://127.0.0.1:7400 orders.csv

The file has the columns id, customer and amount. Each row is published with `retry`, so each is taken by the router,
even where the connection is cut in between; what was taken twice is stored once, as its id is the key. The program
that stores ends after the row that is marked as the last one. If it yielded a gap on the way it says so, and ends with
exit code 1: then publish the file again, and what is missing comes.
"""

from __future__ import annotations

import csv
import itertools
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import tamis

ROWS_A_COMMIT = 2_000
Row = tuple[int, str, float]


def publish(address: str, file: str) -> None:
    with tamis.blocking.connect(address, patience_s=10) as client, Path(file).open(newline="") as rows:
        client.publish_many(
            (
                {"table": "orders", "id": int(row["id"]), "customer": row["customer"], "amount": float(row["amount"])}
                for row in csv.DictReader(rows)
            ),
            retry=True,
        )
        client.publish({"table": "orders", "last": True}, retry=True)


def store(address: str, file: str) -> int:
    database = sqlite3.connect(file)
    database.execute("create table if not exists orders (id integer primary key, customer text, amount real)")
    gaps: list[tamis.Gap] = []
    with tamis.blocking.connect(address, patience_s=10) as client, client.subscribe('table = "orders"') as items:
        print("ready", flush=True)
        rows = orders(items, gaps)
        while some := list(itertools.islice(rows, ROWS_A_COMMIT)):
            with database:  # one transaction
                database.executemany("insert or ignore into orders values (?, ?, ?)", some)
    [(count,)] = database.execute("select count(*) from orders")
    database.close()
    print(f"{count:,} rows", flush=True)
    for gap in gaps:
        print(f"rows may be missing: {gap.reason}", file=sys.stderr)
    return 1 if gaps else 0


def orders(items: tamis.blocking.Subscription, gaps: list[tamis.Gap]) -> Iterator[Row]:
    """Yield rows up to the last one; what may be missing goes into `gaps`."""
    for item in items:
        if isinstance(item, tamis.Gap):
            gaps.append(item)
        elif "last" in item:
            return
        else:
            yield int(item["id"]), str(item["customer"]), float(item["amount"])


if __name__ == "__main__":
    command, address, file = sys.argv[1:]
    if command == "store":
        sys.exit(store(address, file))
    publish(address, file)
