"""The claims in docs/design/papers.md, made of the verdicts that are kept: `python -m tamis.papers.reproduce.claims`
renews them.

Law: the page counts the kept verdicts, and lists each claim that differs, cannot be judged or does not hold in all of
its readings, with its reason, in the order of the verdicts. A test holds the page to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tamis.papers.reproduce.outputs import VERDICTS

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = ROOT / "bench" / "results" / "reproduce" / VERDICTS
"""Of every claim, at scale small."""
KEPT_PAPER: Final = KEPT.with_name("verdicts-paper.json")
"""Of the claims whose figures were run at scale paper: the table has these."""
PAGE: Final = ROOT / "docs" / "design" / "papers.md"
BEGIN: Final = "<!-- made by python -m tamis.papers.reproduce.claims -->"
END: Final = "<!-- end of the claims -->"

KeptVerdict = Mapping[str, Any]
NAMES: Final = ("holds", "differs", "cannot be judged")
OTHERS: Final = ("paper", "figure", "claim", "verdict", "readings", "why")


def kept() -> list[KeptVerdict]:
    """The verdict of every claim, by the larger scale at which it was run."""
    small, large = (json.loads(file.read_text()) for file in (KEPT, KEPT_PAPER))
    larger = {each["id"]: each for each in large}
    return [larger.get(each["id"], each) for each in small]


def section(verdicts: Sequence[KeptVerdict]) -> str:
    """The part of the page between its marks: how many claims of each paper hold, and why the others do not."""
    papers = dict.fromkeys(verdict["paper"] for verdict in verdicts)
    counts = [_counts(paper, [each for each in verdicts if each["paper"] == paper]) for paper in papers]
    told = [{**each, "readings": _readings(each)} for each in verdicts if _is_listed(each)]
    others = [_row(*(each[name] for name in OTHERS)) for each in told]
    heads = _head("paper", "claims", *NAMES), _head(*OTHERS)
    return "\n\n".join("\n".join([head, *rows]) for head, rows in zip(heads, (counts, others), strict=True))


def _is_listed(verdict: KeptVerdict) -> bool:
    return any(each["verdict"] != "holds" for each in (verdict, *verdict["readings"]))


def _readings(verdict: KeptVerdict) -> str:
    """For which readings it holds; a star marks the one that the paper's own figures suggest."""
    return "; ".join(
        f"{each['name']}{'*' if each['suggested'] else ''}: {each['verdict']}" for each in verdict["readings"]
    )


def _counts(paper: str, verdicts: Sequence[KeptVerdict]) -> str:
    numbers = (sum(each["verdict"] == name for each in verdicts) for name in NAMES)
    return _row(paper, str(len(verdicts)), *map(str, numbers))


def _head(*names: str) -> str:
    return f"{_row(*names)}\n|{'---|' * len(names)}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def renewed(page: str, verdicts: Sequence[KeptVerdict]) -> str:
    """The page with its table of claims as the verdicts say."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or END not in rest:
        raise ValueError(f"{PAGE.name} has no place for claims: {BEGIN} ... {END}")
    return f"{before}{BEGIN}\n\n{section(verdicts)}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(), kept()))
