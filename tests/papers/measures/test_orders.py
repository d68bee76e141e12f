"""The orders of section 3.5 of paper 003, judged by cells of the bench of strategies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tamis.native import DEFAULT_ENGINE
from tamis.papers.measures import orders


def row(strategy: str, stored: float, said: float | None) -> dict[str, object]:
    uncovers = None if said is None else {"bytes": said}
    return {"strategy": strategy, "engine": DEFAULT_ENGINE, "stored": stored, "uncovers": uncovers}


def rows_with(profile_stored: float, profile_said: float | None) -> list[dict[str, object]]:
    return [
        row("flood-everywhere", 1, 0),
        row("profile", profile_stored, profile_said),
        row("profile-preventive", 4, None if profile_said is None else 400),
        row("link-matching", 4, 450),
    ]


@pytest.mark.parametrize(("stored", "said", "hold"), [(2, 500, [1, 1]), (5, 500, [0, 1]), (2, 300, [1, 0])])
def test_an_order_of_the_paper_holds_or_does_not(stored: float, said: float, hold: list[int]) -> None:
    told = orders.told(rows_with(stored, said))
    assert [each.endswith(" holds.") for each in told] == hold
    assert [each.endswith(" does not hold.") for each in told] == [not each for each in hold]


def test_an_order_is_not_judged_before_all_of_it_is_measured() -> None:
    assert len(orders.told(rows_with(2, None))) == 1
    assert orders.told([each for each in rows_with(2, 500) if each["strategy"] != "profile"]) == []
    left_out = [each | ({"skipped": "slow"} if each["strategy"] == "profile" else {}) for each in rows_with(2, 500)]
    assert orders.told(left_out) == []


def test_each_group_of_a_file_is_judged_by_its_latest_cells(tmp_path: Path) -> None:
    lines = [
        {**each, "key": f"{group} {each['strategy']}", "group": group}
        for group, stored in (("a", 5), ("b", 2), ("a", 3))
        for each in rows_with(stored, None)
    ]
    file = tmp_path / "cells.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    first, second = CliRunner().invoke(orders.main, [str(file)]).stdout.splitlines()
    assert first.startswith("a: ")
    assert second.startswith("b: ")
    assert "3.00" in first
    assert first.endswith(" holds.")
