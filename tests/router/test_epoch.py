"""The epoch of a router grows with every start."""

from __future__ import annotations

import time

import pytest

from tamis.router.epoch import Epoch
from tamis.router.settings import CannotStart


def test_it_is_the_time_and_grows_though_the_clock_is_set_back(tmp_path, monkeypatch):
    before = time.time_ns() // 1_000_000
    first = Epoch(str(tmp_path / "data")).next()
    assert first >= before
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000)
    assert Epoch(str(tmp_path / "data")).next() == first + 1
    assert Epoch(None).next() == 1


def test_a_raised_epoch_is_kept(tmp_path):
    epoch = Epoch(str(tmp_path))
    epoch.raise_to(2**63)
    assert Epoch(str(tmp_path)).next() == 2**63 + 1
    assert [file.name for file in tmp_path.iterdir()] == ["epoch"]


def test_what_cannot_be_read_or_written_stops_the_start(tmp_path):
    (tmp_path / "epoch").write_text("seven")
    with pytest.raises(CannotStart, match="holds no epoch"):
        Epoch(str(tmp_path)).next()
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="epoch"):
        Epoch(str(tmp_path / "file")).next()
