"""Pairs of power cuts by the thousand: `python -m tests.power.pairs --pairs 1000 --runs 20 --ledger FILE`.

Each run is a line of the ledger once it is judged; what is there is not run again, so it can be stopped at any time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.power.pairs.pairs import cut_pairs


def main(arguments: Sequence[str]) -> int:
    """Print a line for each run; 1: something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000, help="of all runs (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=20, help="recorded runs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (default: %(default)s)")
    parser.add_argument("--ledger", type=Path, default=Path("power-pairs.jsonl"), help="default: %(default)s")
    parser.add_argument("--without-sync", action="store_true", help="fdatasync does nothing: something must be wrong")
    asked = parser.parse_args(arguments)
    lines = asked.ledger.read_text().splitlines() if asked.ledger.exists() else []
    done = {line["seed"]: line for line in map(json.loads, lines)}
    for seed in range(asked.seed, asked.seed + asked.runs):
        if seed not in done:
            start = time.monotonic()
            found = asyncio.run(cut_pairs(seed, asked.pairs // asked.runs, has_sync=not asked.without_sync))
            done[seed] = {"seed": seed, **asdict(found), "seconds": round(time.monotonic() - start, 1)}
            with asked.ledger.open("a") as file:
                file.write(json.dumps(done[seed]) + "\n")
        print(f"seed {seed}: {done[seed]['pairs']} pairs, {len(done[seed]['wrong'])} wrong", file=sys.stderr)
    pairs, due, missing = (sum(line[key] for line in done.values()) for key in ("pairs", "due", "missing"))
    wrong = [what for line in done.values() for what in line["wrong"]]
    print(f"{pairs:,} pairs of {len(done)} runs, {due:,} messages due, {missing:,} missing, {len(wrong)} wrong")
    for what in wrong[:20]:
        print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
