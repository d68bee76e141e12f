"""Single points over TCP: daemons send what the fleet and a model say, and one that is wrong ends the run."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tamis.cli.main import main
from tamis.papers.reproduce.figure import Disagreement
from tamis.papers.reproduce.live import compared
from tamis.papers.reproduce.paper003.brokers import BrokersAsked
from tamis.papers.reproduce.paper003.live import live_point
from tamis.papers.reproduce.paper003.load import network
from tamis.papers.reproduce.papers import FIGURES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "more"),
    [
        (BrokersAsked(network("bus4"), "PF", Fraction(3, 10), 2), 0),
        (BrokersAsked(network("bus4"), "RN", Fraction(3, 10), 2, kinds=2), 0),
        (BrokersAsked(network("bus4"), "EF", Fraction(3, 10), 2), 1),
    ],
    ids=str,
)
def test_frames_of_daemons_are_those_of_the_model(point: BrokersAsked, more: int) -> None:
    asked, frames = live_point(point, 4)
    if more:
        with pytest.raises(Disagreement, match="daemons, fleet and model differ"):
            compared(asked, frames + more)
    else:
        row = compared(asked, frames)
        assert row["daemons"] == row["fleet"] == frames > 0


def test_figures_that_start_daemons_run_where_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(
        "tamis.papers.reproduce.running.run",
        lambda figures, *_rest: asked.append([each.name for each in figures]) or [],
    )
    for more in ([], ["--live"]):
        assert main(["reproduce", "all", *more]) == 0, capsys.readouterr().err
    daemons = {figure.name for figure in FIGURES if figure.needs_daemons}
    assert daemons
    assert daemons.isdisjoint(asked[0])
    assert set(asked[1]) - set(asked[0]) == daemons
