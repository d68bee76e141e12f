"""The figures of all papers, by paper and name.

Law: a figure is listed once, here, in the order in which pages have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tamis.papers.reproduce import paper000, paper001, paper002, paper003, paper004
from tamis.papers.reproduce.figure import PaperFigure

PAPERS: Final = ("000", "001", "002", "003", "004")
FIGURES: Final[tuple[PaperFigure, ...]] = (
    *paper000.FIGURES,
    *paper001.FIGURES,
    *paper002.FIGURES,
    *paper003.FIGURES,
    *paper004.FIGURES,
)


def figures_of(paper: str, ids: Sequence[str] = ()) -> list[PaperFigure]:
    """The figures of a paper, or of all; with `ids` those alone. ValueError for an id that no such paper has."""
    own = [figure for figure in FIGURES if paper in ("all", figure.paper)]
    unknown = [each for each in ids if each not in {figure.id for figure in own}]
    if unknown:
        known = ", ".join(dict.fromkeys(figure.id for figure in own)) or "none"
        raise ValueError(f"paper {paper} has no figure {unknown[0]!r}; it has {known}")
    return [figure for figure in own if not ids or figure.id in ids]
