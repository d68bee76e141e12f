"""The cases of the dialects, written from their specifications: cases/NAME.txt.

# RULE              a sentence of the specification that the next filters keep, or what they are about
FILTER              at the margin
  yes EVENT         the filter wants it; an event is JSON if it begins with `{`, else a text
  no  EVENT
  open              the predicate is wider than the filter, and a program decides the rest
  undecided         the predicate is wider than the filter, and no program decides the rest
  refused SENTENCE  how the mistake begins
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "cases"


class Case(NamedTuple):
    filter: str
    events: list[tuple[bool, object]]
    width: str
    refused: str


def rules_of(dialect):
    """The filters behind each rule of a table."""
    found = {}
    for line in (FOLDER / f"{dialect}.txt").read_text().splitlines():
        if line.startswith("# "):
            found[line[2:]] = []
        elif line and not line.startswith("  ") and found:
            found[[*found][-1]].append(line)
    return found


def cases_of(dialect):
    found = []
    for line in (FOLDER / f"{dialect}.txt").read_text().splitlines():
        if not line or line.startswith("# "):
            continue
        if not line.startswith("  "):
            found.append(Case(line, [], "", ""))
            continue
        word, _, rest = line[2:].partition(" ")
        if word in ("open", "undecided"):
            found[-1] = found[-1]._replace(width=word)
        elif word == "refused":
            found[-1] = found[-1]._replace(refused=rest)
        else:
            assert word in ("yes", "no"), line
            rest = rest.strip()
            found[-1].events.append((word == "yes", json.loads(rest) if rest.startswith("{") else rest))
    return found
