"""Power cuts by the thousand: `python -m tests.power --cuts 10000 --runs 200 --ledger FILE`.

Each run is a line of the ledger once it is judged; what is there is not run again, so it can be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.power.cuts import cut_run
from tests.power.device import what_is_not_here


def main(arguments: Sequence[str]) -> int:
    """Print a line for each run; 1: something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cuts", type=int, default=10_000, help="of all runs (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=200, help="recorded runs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (default: %(default)s)")
    parser.add_argument("--ledger", type=Path, default=Path("power-cuts.jsonl"), help="default: %(default)s")
    parser.add_argument("--scratch", type=Path, help="where runs are recorded (default: in memory)")
    parser.add_argument("--without-sync", action="store_true", help="fdatasync does nothing: something must be wrong")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what is mounted is unmounted
    if (lack := what_is_not_here()) is not None:
        print(f"no power cuts here: {lack}", file=sys.stderr)
        return 2
    lines = asked.ledger.read_text().splitlines() if asked.ledger.exists() else []
    done = {line["seed"]: line for line in map(json.loads, lines)}
    for seed in range(asked.seed, asked.seed + asked.runs):
        if seed not in done:
            start = time.monotonic()
            cuts = asked.cuts // asked.runs
            found = cut_run(seed, cuts, has_sync=not asked.without_sync, scratch=asked.scratch)
            done[seed] = {"seed": seed, **asdict(found), "seconds": round(time.monotonic() - start, 1)}
            with asked.ledger.open("a") as file:
                file.write(json.dumps(done[seed]) + "\n")
        print(f"seed {seed}: {done[seed]['cuts']} cuts, {len(done[seed]['wrong'])} wrong", file=sys.stderr)
    all_cuts, wrong = (
        sum(line["cuts"] for line in done.values()),
        [what for line in done.values() for what in line["wrong"]],
    )
    gone = sum(line["unmountable"] for line in done.values())
    print(f"{all_cuts} cuts of {len(done)} runs, {gone} file systems past mending, {len(wrong)} wrong")
    for what in wrong[:20]:
        print(what)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
