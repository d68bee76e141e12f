"""`python -m tests.long.soak --minutes 60 --seed 1 --folder FOLDER`: a soak of custody, and its verdict as JSON.

The faults of an hour are 600 SIGKILLs, 150 cuts, 150 SIGSTOPs, 30 full disks and 10 lost disks. A soak that was ended
goes on behind its last fault when it is started again in its folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.long.soak.soak import SoakPlan, soaked


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.long.soak", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=SoakPlan().minutes, help="of faults (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SoakPlan().seed, help="default: %(default)s")
    parser.add_argument("--folder", type=Path, help="where it runs, and is resumed (default: one that is removed)")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no process is left
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        plan = SoakPlan(asked.minutes, asked.seed)
        verdict = asyncio.run(
            soaked(asked.folder or Path(scratch), plan, lambda line: print(line, file=sys.stderr, flush=True))
        )
    print(json.dumps(asdict(verdict), indent=2))
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
