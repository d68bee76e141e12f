"""A wide spread leaves every timed claim open, and moves no counted one: the rule of `judging.py`, in every figure."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[reproduce]'")

from tamis.papers.reproduce import running
from tamis.papers.reproduce.figure import PaperFigure, ResultRow, Ruling, Scalar, Scale, Settings
from tamis.papers.reproduce.paper000 import performance as paper000
from tamis.papers.reproduce.paper001 import fleet, unitcosts
from tamis.papers.reproduce.paper004 import network
from tamis.papers.reproduce.paper004 import performance as paper004

TIMED = ("us", "way_us", "central_ratio", "assumed_ratio", "advantage", "total us", "source us", "other us")
WIDE = 1_000.0
FEW = {"messages": 6, "passes": 1}
OF_000: Settings = {"filters": (1_000, 2_000, 4_000), "flat": (8_000, 16_000), "worst": (32_000,), **FEW}
FIGURES: dict[str, tuple[PaperFigure, Settings, tuple[ModuleType, dict[str, object]]]] = {
    "000-9": (paper000.FIGURE_9, OF_000, (paper000, {"_REACHED": 1, "_LARGEST": 1})),
    "000-12": (paper000.FIGURE_12, {**OF_000, "largest": (32_000,)}, (paper000, {"_REACHED": 1, "_LARGEST": 1})),
    "000-circuit": (paper000.CIRCUIT, {"filters": (2_000, 4_000), "counted": (8_000,), **FEW}, (paper000, {})),
    "001-table-1": (unitcosts.TABLE_1, FEW, (unitcosts, {})),
    "001-fleet": (
        fleet.FLEET,
        {"routers": 3, "subscriptions": 60, "events": 12, "densities": (0.01, 0.2)},
        (fleet, {}),
    ),
    "004-8": (paper004.FIGURE_8, {"filters": (2_000, 4_000, 12_000), **FEW}, (paper004, {"_PAPERS_LEAST": 1})),
    "004-9": (paper004.FIGURE_9, {"filters": (2_000, 4_000, 8_000), **FEW}, (paper004, {"_LARGEST": 1})),
    "004-10": (paper004.FIGURE_10, {"filters": 10_000, "ratios": (1, 100, 1_000), **FEW}, (paper004, {})),
    "004-11": (paper004.FIGURE_11, {"filters": (2_000,), "rounds": (0, 5, 100, 200), **FEW}, (paper004, {})),
    "004-network": (
        network.NETWORK,
        {"filters": (500, 1_000), "fans": (20,), "messages": 6},
        (network, {"_CENTRE": 1}),
    ),
}


def rulings(figure: PaperFigure, rows: list[ResultRow]) -> dict[tuple[str, str], Ruling]:
    """The ruling of each claim, or of each of its readings."""
    found = {}
    for criterion in figure.criteria:
        judged = criterion.judge(rows)
        named = [(reading.name, reading.judged) for reading in judged.readings] or [("", judged)]
        found |= {(criterion.name, name): each.ruling for name, each in named}
    return found


def _moved(rng: random.Random, name: str, value: Scalar) -> Scalar:
    """Another time in place of a measured one; an advantage is a percentage of a time."""
    if name == "advantage":
        return rng.uniform(-300, 99)
    return value * rng.uniform(0.2, 5) if name in TIMED and isinstance(value, float) else value


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_wide_spread_leaves_timed_claims_open(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure, settings, (module, constants) = FIGURES[name]
    for constant, value in constants.items():
        monkeypatch.setattr(module, constant, value)
    tiny = replace(figure, settings=dict.fromkeys(Scale, settings))
    rows = [dict(row) for row in running.run([tiny], Scale.SMALL, 1, tmp_path)[0].rows]
    plain = rulings(figure, [{**row, "spread": 0.0} if "spread" in row else row for row in rows])
    rng = random.Random(36)
    timed = set()
    for _ in range(40):
        moved: list[ResultRow] = [
            {key: _moved(rng, key, value) for key, value in row.items()} | ({"spread": WIDE} if "spread" in row else {})
            for row in rows
        ]
        for claim, ruling in rulings(figure, moved).items():
            assert ruling in (Ruling.OPEN, plain[claim]), f"{claim} is {ruling} by times that mean nothing"
            if ruling is not plain[claim]:
                timed.add(claim)
    assert timed, "without a spread none of these claims is judged by times: this test would see nothing"
