"""The table of claims in docs/design/papers.md, made of the verdicts that are kept: `python -m
tamis.papers.reproduce.claims` renews it.

Law: the table says what the kept verdicts say, in their order; a claim that differs, or cannot be judged, is in it like
any other. A test holds the page to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tamis.papers.reproduce.outputs import VERDICTS

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / "bench" / "results" / "reproduce" / VERDICTS
"""Of every claim, at scale small."""
KEPT_PAPER: Final = KEPT.with_name("verdicts-paper.json")
"""Of the claims whose figures were run at scale paper: the table has these."""
PAGE: Final = ROOT / "docs" / "design" / "papers.md"
BEGIN: Final = "<!-- made by python -m tamis.papers.reproduce.claims -->"
END: Final = "<!-- end of the claims -->"

KeptVerdict = Mapping[str, str]


def kept() -> list[KeptVerdict]:
    """The verdict of every claim, by the larger scale at which it was run."""
    small, large = (json.loads(file.read_text()) for file in (KEPT, KEPT_PAPER))
    larger = {each["id"]: each for each in large}
    return [larger.get(each["id"], each) for each in small]


def section(verdicts: Sequence[KeptVerdict]) -> str:
    """The part of the page between its marks."""
    parts = []
    for paper in dict.fromkeys(verdict["paper"] for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict["paper"] == paper]
        head = "| figure | claim | the paper | scale | verdict | ours | why |\n|---|---|---|---|---|---|---|"
        parts.append(f"### Claims of {paper}\n\n{head}\n" + "\n".join(map(_line, own)))
    counts = {
        name: sum(each["verdict"] == name for each in verdicts) for name in ("holds", "differs", "cannot be judged")
    }
    told = ", ".join(f"{count} {_many(name)}" for name, count in counts.items())
    first = f"{len(verdicts)} claims: {told}. Figures of times are of one run on a machine with other work."
    return "\n\n".join([first, *parts])


def _many(verdict: str) -> str:
    return {"holds": "hold", "differs": "differ"}.get(verdict, verdict)


def _line(verdict: KeptVerdict) -> str:
    names = ("figure", "claim", "paper_says", "scale", "verdict", "ours", "why")
    return "| " + " | ".join(verdict[name].replace("|", "\\|") for name in names) + " |"


def renewed(page: str, verdicts: Sequence[KeptVerdict]) -> str:
    """The page with its table of claims as the verdicts say."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or END not in rest:
        raise ValueError(f"{PAGE.name} has no place for claims: {BEGIN} ... {END}")
    return f"{before}{BEGIN}\n\n{section(verdicts)}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(), kept()))
