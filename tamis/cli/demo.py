"""A first look at Tamis, as `make run` shows it: each command, and what it prints.

Law: what is shown is what the command really does. It runs from a checkout, where docs/examples is.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path

from tamis.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
FILTERS = "docs/examples/alerts.filters.jsonl"
MESSAGES = "docs/examples/alerts.messages.jsonl"
PREDICATE = 'severity > 2 and alert-type = "intrusion" or class = "alert" and not (device ^= "web")'


def demo() -> int:
    with contextlib.chdir(ROOT):
        for title, path in (("Who wants what: an interface and its filter", FILTERS), ("Five messages", MESSAGES)):
            print(f"# {title}\n$ cat {path}\n{Path(path).read_text()}")
        _show("For each message, the interfaces it goes to", "match", "--filters", FILTERS, "--messages", MESSAGES)
        _show("Why a message matches", "explain", PREDICATE, "class=alert", "severity=6", "device=web-3")
        _show("What a mistake looks like", "explain", "severity => 2", "severity=6")
    return 0


def _show(title: str, *command: str) -> None:
    print(f"# {title}\n$ tamis {shlex.join(command)}", flush=True)
    main(command)
    print(flush=True)


if __name__ == "__main__":
    sys.stderr = sys.stdout  # the mistake belongs where it is told about
    sys.exit(demo())
