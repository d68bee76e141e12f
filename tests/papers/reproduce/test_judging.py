"""Readings of a claim, and verdicts on times: what a wide spread leaves open."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install -e '.[reproduce]'")

from tamis.papers.reproduce import claims, outputs, running
from tamis.papers.reproduce.figure import Criterion, Judgement, PaperFigure, PlotSpec, Reading, Ruling, Scale
from tamis.papers.reproduce.judging import every, exceeds, read, ruled, ruled_by_time, under

HOLDS, DIFFERS, OPEN = Ruling.HOLDS, Ruling.DIFFERS, Ruling.OPEN
SO, NOT_SO = ruled(True, "9", ""), ruled(False, "1", "too few")


def test_a_timed_value_is_over_a_bound_only_beyond_twice_the_spread() -> None:
    """Against the definition, which divides: the effect is the larger of two times over the smaller, less one."""
    rng = random.Random(36)
    for _ in range(2_000):
        value, bound, spread = (rng.uniform(0.01, 3) for _ in range(3))
        effect = max(value, bound) / min(value, bound) - 1
        expected = OPEN if effect <= 2 * spread else HOLDS if value > bound else DIFFERS
        assert exceeds(value, bound, spread) is expected
        assert under(value, bound, spread) is (expected if expected is OPEN else HOLDS if value < bound else DIFFERS)
    assert exceeds(2.0, 1.0, 0.0) is HOLDS
    assert exceeds(1.0, 1.0, 0.0) is OPEN


def test_one_part_that_differs_decides_and_then_one_that_is_open() -> None:
    assert every(HOLDS, OPEN, DIFFERS) is DIFFERS
    assert every(HOLDS, OPEN) is OPEN
    assert every(HOLDS, HOLDS) is HOLDS
    assert ruled_by_time(OPEN, 0.4, "7 us", "slow").why == "the effect is not larger than twice the spread"
    assert ruled_by_time(DIFFERS, 0.1, "7 us", "slow") == Judgement(DIFFERS, "7 us; spread 10%", "slow")


@pytest.mark.parametrize(
    ("readings", "ruling"),
    [
        ([Reading("a", SO, is_suggested=True), Reading("b", NOT_SO)], HOLDS),
        ([Reading("a", SO), Reading("b", NOT_SO, is_suggested=True)], DIFFERS),
        ([Reading("a", NOT_SO), Reading("b", SO)], HOLDS),
        ([Reading("a", NOT_SO), Reading("b", NOT_SO)], DIFFERS),
    ],
)
def test_a_claim_is_judged_by_the_suggested_reading_or_else_holds_in_one(
    readings: list[Reading], ruling: Ruling
) -> None:
    judged = read(*readings)
    assert judged.ruling is ruling
    assert judged.readings == tuple(readings)
    assert (judged.ours, judged.why) in {(each.judged.ours, each.judged.why) for each in readings}


def test_a_paper_suggests_one_reading() -> None:
    with pytest.raises(ValueError, match="one reading, not a, b"):
        read(Reading("a", SO, is_suggested=True), Reading("b", SO, is_suggested=True))


def with_readings() -> PaperFigure:
    by_count, by_time = Reading("by counted <updates>", SO, is_suggested=True), Reading("by times", NOT_SO)
    return PaperFigure(
        paper="000",
        id="example",
        title="Two readings",
        shows="a number",
        chosen="",
        settings={scale: {} for scale in Scale},
        measure=lambda _run: [{"x": 1, "y": 1}, {"x": 2, "y": 9}],
        criteria=(Criterion("000-read", "It grows", "9", lambda _rows: read(by_count, by_time)),),
        plots=(PlotSpec("Numbers", "x", "y", "none", "a number", "another number"),),
    )


@pytest.mark.slow
def test_readings_are_in_the_verdicts_the_page_the_picture_and_the_table(tmp_path: Path) -> None:
    running.run([with_readings()], Scale.SMALL, 1, tmp_path)
    (verdict,) = json.loads((tmp_path / outputs.VERDICTS).read_text())
    assert [(each["name"], each["verdict"], each["suggested"]) for each in verdict["readings"]] == [
        ("by counted <updates>", "holds", True),
        ("by times", "differs", False),
    ]
    page = (tmp_path / outputs.INDEX).read_text()
    assert "by counted &lt;updates&gt; (as the paper's figures suggest)" in page
    assert "in 1 of 2 readings" in page
    assert "read by counted" in (tmp_path / "000" / "example.plot1.svg").read_text()
    row = "| 000 | example | It grows | holds | by counted <updates>*: holds; by times: differs |  |"
    assert row in claims.section([verdict]), "a claim that holds in some readings alone is listed"
    in_all = replace(Reading("by times", SO)).judged
    assert "It grows" not in claims.section([verdict | {"verdict": in_all.ruling, "readings": []}])
