"""`python -m tests.attack [SHAPE...] [--scale S] [--json]`: every attack, what it cost then, what it costs now.

Law: results to stdout, progress to stderr; exit 1 where something is past its bound. `--scale 1` is the size of the
attacks at commit da1168e, whose figures stand beside as they were written down then.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
import traceback
from dataclasses import asdict
from pathlib import Path

from tests.attack.attacks import ATTACKS
from tests.attack.figure import Figure


def run(name: str, scale: float) -> tuple[list[Figure], str]:
    """Its figures; or why there are none."""
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        try:
            return ATTACKS[name](Path(folder), scale), ""
        except Exception:
            return [], traceback.format_exc(limit=-2)


def shown(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


def table(figures: list[Figure]) -> str:
    head = ["shape", "what", "at da1168e", "now", "bound", "verdict"]
    rows = [
        [
            *(each.shape, each.what, each.before, shown(each.now)),
            f"at {'least' if each.is_least else 'most'} {shown(each.bound)}",
            "holds" if each.holds() else "BROKEN",
        ]
        for each in figures
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description="Attack real routers on loopback.")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(ATTACKS)}; all if none is named")
    parser.add_argument("--scale", type=float, default=1.0, help="1 is the size of the first attacks")
    parser.add_argument("--json", action="store_true", help="one object")
    options = parser.parse_args()
    for unknown in set(options.shapes) - set(ATTACKS):
        parser.error(f"no attack is called {unknown}; there are {', '.join(ATTACKS)}")
    figures: list[Figure] = []
    failed: dict[str, str] = {}
    for name in options.shapes or ATTACKS:
        began_s = time.monotonic()
        found, why = run(name, options.scale)
        figures += found
        failed |= {name: why} if why else {}
        broken = sum(not each.holds() for each in found)
        verdict = f"did not end: {why}" if why else f"{broken} of {len(found)} figures past their bound"
        print(f"{name}: {time.monotonic() - began_s:.0f} s, {verdict}", file=sys.stderr, flush=True)
    if options.json:
        said = [asdict(each) | {"now": shown(each.now), "holds": each.holds()} for each in figures]
        print(json.dumps({"scale": options.scale, "figures": said, "failed": failed}))
    else:
        print(table(figures))
        for name, why in failed.items():
            print(f"\n{name} did not end:\n{why}")
    return int(bool(failed) or not all(each.holds() for each in figures))


if __name__ == "__main__":
    sys.exit(main())
