"""Figures of paper 003 that need what is not there, or not run by them yet. Law: they are listed, and never a pass."""

from __future__ import annotations

from typing import Final

from tamis.bench.reproduce.figure import Criterion, FigureRun, PaperFigure, ResultRow, Scale
from tamis.bench.reproduce.judging import missing

_STRATEGIES: Final = "no figure runs strategy `profile` (PF) yet, and `rendezvous` (RN) is not there"
_MODEL: Final = "the model of the classification (`das_costs`) is not run by this figure yet"
_SHOWN: Final = {
    "8": ("events a second over pe", "PF is fastest at small pe and falls steeply, EF falls little, RN lies between"),
    "9": ("events a second over pp", "a higher sigma is faster, most for PF, hardly for EF"),
    "12": (
        "scalability over brokers",
        "PF with few matching events gains much from brokers, EF falls, RN is nearly flat",
    ),
    "14": ("events a second over sigma, by pe", "efficiency falls with sigma, most for PF"),
    "15": ("events a second over sigma, by pp", "efficiency rises with sigma, most for PF, EF is flat"),
    "17": (
        "events a second over event types",
        "RN gains up to three types, and loses from four on; PF and EF hardly change",
    ),
    "18": ("duplication and load over event types", "PF 9, EF 1, RN between, falling and then rising"),
    "19": ("events a second over locality", "PF gains 2 to 3.5 times, RN 1.25 times, EF nothing"),
    "21": ("events a second over profiles", "PF is best until memory is full, then EF"),
    "table-1": ("a classification of 17 algorithms", "orders of traffic, memory and load between them"),
}


def _nothing(_run: FigureRun) -> list[ResultRow]:
    return []


def _waiting(id_: str, title: str, claim: str) -> PaperFigure:
    why = _MODEL if id_ == "table-1" else _STRATEGIES
    return PaperFigure(
        paper="003",
        id=id_,
        title=title if id_[0].isdigit() else f"Table 1: {title}",
        shows=f"{claim}.",
        chosen="",
        settings={Scale.SMALL: {}, Scale.PAPER: {}},
        measure=_nothing,
        criteria=(
            Criterion(f"003-{id_}", claim[0].upper() + claim[1:], "orders, no numbers in the text", missing(why)),
        ),
        seconds={Scale.SMALL: 0.1, Scale.PAPER: 0.1},
        is_exact=True,
    )


WAITING: Final = tuple(_waiting(id_, *told) for id_, told in _SHOWN.items())
