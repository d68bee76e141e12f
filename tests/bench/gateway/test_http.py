"""The bench of the gateway for HTTP counts every message."""

from __future__ import annotations

import json

from click.testing import CliRunner

from tamis.bench.gateway import http


def test_each_row_has_what_was_measured() -> None:
    done = CliRunner().invoke(http.main, ["--scale", "0.01", "--rounds", "1", "--json"], catch_exceptions=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["what"], row["clients"]) for row in rows] == [
        ("lines", 1),
        ("events", 1),
        ("events", 100),
        ("posts", 64),
        ("idle", 10),
    ]
    assert all(row["a second"] > 0 and row["cpu us"] >= 0 for row in rows)
