"""Random files of rules through a real router, as many as wanted: what test_oracle*.py do for a few.

    python -m tests.router.access.many_files --files 2000 --publishes 450
    python -m tests.router.access.many_files --files 2000 --stored
    python -m tests.router.access.many_files --files 300 --publishes 450 --across

Law: prints one object with counts; exit code 1 and the differences where there are some.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.router.access.test_oracle import Judged, open_rules
from tests.router.access.test_oracle_across import JudgedPair
from tests.router.access.test_oracle_stored import KEYS, JudgedStore, all_open
from tests.router.conftest import Inside
from tests.router.wire_client import close_all

REPORT_EACH = 100
DIFFERENCES_MAX = 5


async def judge(what: str, publishes: int, folder: Path) -> Judged | JudgedStore | JudgedPair:
    if what == "across":
        return await JudgedPair.started(folder, publishes)
    if what == "stored":
        return JudgedStore(Inside(folder, KEYS, f"data: {folder / 'data'}", all_open()))
    return Judged(Inside(folder, "", "", open_rules()), publishes)


async def run(files: int, seed: int, publishes: int, folder: Path, what: str) -> dict[str, object]:
    """Return the counts, with the differences."""
    judged = await judge(what, publishes, folder)
    differing: list[str] = []
    began_s = time.monotonic()
    for number in range(files):
        differing += [each async for each in judged.differences(seed + number)]
        if len(differing) >= DIFFERENCES_MAX:
            break
        if (number + 1) % REPORT_EACH == 0:
            print(f"{number + 1} files, {judged.decisions:,} decisions", file=sys.stderr, flush=True)
    await close_all()
    await (judged if isinstance(judged, JudgedPair) else judged.router).close()
    took_s = round(time.monotonic() - began_s)
    counts = {"files": number + 1, "decisions": judged.decisions, "seconds": took_s}
    return counts | {"judged": what, "differences": differing}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.router.access.many_files", description=__doc__)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--publishes", type=int, default=450, help="a file; without --stored")
    parser.add_argument("--seed", type=int, default=100_000)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--stored", dest="what", action="store_const", const="stored", help="two files, and a log")
    kinds.add_argument("--across", dest="what", action="store_const", const="across", help="two linked routers")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        job = run(options.files, options.seed, options.publishes, Path(folder), options.what or "live")
        report = asyncio.run(job)
    print(json.dumps(report))
    return int(bool(report["differences"]))


if __name__ == "__main__":
    sys.exit(main())
