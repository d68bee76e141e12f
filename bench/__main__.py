"""`make bench QUESTION=...`: everything that answers one question, one measurement after the other.

    python -m tamis.bench QUESTION        matching, router, gateway, networks, logs, durable, custody
    python -m tamis.bench                 every engine side by side in one table

Law: each measurement is a process of its own, so that none warms the next one's caches; one that fails stops no other,
and the exit code is 1 then.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Final

QUESTIONS: Final[dict[str, tuple[str, ...]]] = {
    "matching": (
        *("matching.table", "matching.gallery", "matching.sweep", "matching.builds", "matching.adversary"),
        "matching.cover_index",
    ),
    "router": (
        *("router.brokers", "router.shapes", "router.large", "router.filtering", "router.access"),
        *("router.moving", "router.transit", "router.flooding", "router.reuse", "router.records", "router.client"),
        *("router.residual", "router.translating", "router.http_requests", "router.codecs"),
    ),
    "gateway": ("gateway.http",),
    "networks": (
        "networks.growth",
        "networks.strategies",
        "networks.merging",
        "networks.chaos",
        "networks.rolling_restart",
    ),
    "logs": ("logs.analysis", "logs.whole", "logs.increments", "logs.columns", "logs.advice"),
    "durable": ("durable", "durable.log", "durable.others", "durable.start", "durable.many", "durable.consumer"),
    "custody": ("custody", "custody.stated"),
}
"""The modules that answer each, as `python -m tamis.bench.MODULE` runs them."""


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; the exit code."""
    if not arguments:
        return _run("matching.table")
    if arguments[0] not in QUESTIONS or len(arguments) > 1:
        print(f"unknown question {' '.join(arguments)!r}; allowed: {', '.join(QUESTIONS)}", file=sys.stderr)
        print("options belong to one measurement: python -m tamis.bench.MODULE --help", file=sys.stderr)
        return 2
    codes = [_run(module) for module in QUESTIONS[arguments[0]]]
    return int(any(codes))


def _run(module: str) -> int:
    """Run one measurement in a process of its own; its exit code."""
    print(f"# python -m tamis.bench.{module}", file=sys.stderr, flush=True)
    return subprocess.run([sys.executable, "-m", f"tamis.bench.{module}"], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
