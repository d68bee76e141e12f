"""Keeps in C through random histories: consumers that acknowledge late, never, twice or what another has; crashes that
lose what was not on disk; clocks that jump. The judge is that of the keeps in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.native.keeps import SwitchKeeps
from tests.native.keeps_world import NativeWorld
from tests.router.keeps.oracle import Wrong
from tests.router.keeps.walks import walk


def walked(folder: Path, seeds: range) -> None:
    for seed in seeds:
        (folder / str(seed)).mkdir()
        world = NativeWorld(folder / str(seed))
        walk(world, seed)
        world.close()


def test_random_walks_break_no_rule(tmp_path: Path) -> None:
    walked(tmp_path, range(8))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(8, 30), *(range(first, first + 100) for first in (400, 500, 600))], ids=str)
def test_many_random_walks_break_no_rule(tmp_path: Path, seeds: range) -> None:
    walked(tmp_path, seeds)


def test_a_message_is_lost_once(tmp_path: Path) -> None:
    walked(tmp_path, range(303, 304))


def test_a_start_that_does_not_fill_keeps_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SwitchKeeps.open
    monkeypatch.setattr(SwitchKeeps, "open", lambda self, number, terms, **_: real(self, number, terms))
    with pytest.raises((Wrong, AssertionError, KeyError)):
        walked(tmp_path, range(20))
