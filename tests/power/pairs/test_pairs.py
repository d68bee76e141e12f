"""A few power cuts of an entry and a home at one moment: nothing that was confirmed as stored is missing at the home;
without fdatasync something is.

A thousand of them: `python -m tests.power.pairs`.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from tests.power.pairs.folders import CUT, GROW, NEW, RENAME, SYNC, WRITE, Change, RecordedFolder
from tests.power.pairs.pairs import cut_pairs

needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None, reason="the recorder needs a C compiler")


def cut(changes: list[tuple[bytes, str, str, int, bytes]], into: Path, seed: int) -> dict[str, bytes]:
    """Return what a cut leaves after these changes, by name."""
    folder = RecordedFolder(into / "none")
    for tick, change in enumerate(changes, 1):
        folder.take(Change(tick, *change))
    folder.cut(into / str(seed), Random(seed))
    return {path.name: path.read_bytes() for path in (into / str(seed)).iterdir()}


def test_a_cut_loses_of_what_is_not_synced_any_sector_and_no_other(tmp_path: Path) -> None:
    old, new = b"a" * 1024, b"b" * 1024
    changes = [(NEW, "f", "", 0, b""), (WRITE, "f", "", 0, old), (SYNC, "f", "", 3, b""), (SYNC, "", "", 4, b"")]
    left = [cut([*changes, (WRITE, "f", "", 0, new)], tmp_path, seed)["f"] for seed in range(60)]
    assert {*left} == {old, new, old[:512] + new[512:], new[:512] + old[512:]}


def test_a_sync_covers_what_was_done_before_it_began(tmp_path: Path) -> None:
    changes = [(NEW, "f", "", 0, b""), (SYNC, "", "", 2, b""), (GROW, "f", "", 9, b""), (WRITE, "f", "", 0, b"late")]
    left = [cut([*changes, (SYNC, "f", "", 4, b"")], tmp_path, seed)["f"] for seed in range(20)]
    assert b"" not in left
    assert b"late" + bytes(5) in left


def test_a_cut_takes_names_back_in_their_order(tmp_path: Path) -> None:
    changes = [(NEW, "f", "", 0, b""), (RENAME, "f", "g", 0, b""), (CUT, "g", "", 0, b""), (NEW, "h", "", 0, b"")]
    left = {frozenset(cut(changes, tmp_path, seed)) for seed in range(60)}
    assert frozenset({"g", "h"}) in left
    assert frozenset() in left
    assert frozenset({"h"}) not in left


@needs_compiler
@pytest.mark.slow
async def test_both_ends_of_a_chain_lose_their_power_and_nothing_that_was_confirmed() -> None:
    found = await cut_pairs(1, 10)
    assert found.pairs == 10
    assert found.due > 10
    assert found.wrong == []


@needs_compiler
@pytest.mark.slow
async def test_without_fdatasync_it_is_lost() -> None:
    found = await cut_pairs(2, 6, has_sync=False)
    assert found.missing > 0
