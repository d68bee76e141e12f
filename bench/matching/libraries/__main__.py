"""The child of `contest.py`: python -m tamis.bench.matching.libraries JOB ANSWER. Both files are ours."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from tamis.bench.matching.libraries.contest import play

if __name__ == "__main__":
    job = pickle.loads(Path(sys.argv[1]).read_bytes())  # noqa: S301
    Path(sys.argv[2]).write_bytes(pickle.dumps(play(job)))
