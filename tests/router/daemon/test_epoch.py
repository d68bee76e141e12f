"""The epoch of a router grows with every start, whatever its file holds."""

from __future__ import annotations

import time

import pytest

from tamis.router.core.epochs import DAY_MS
from tamis.router.daemon.epoch import Epoch, unix_ms
from tamis.serving.cannot_start import CannotStart


def test_it_is_the_time_and_grows_though_the_clock_is_set_back(tmp_path, monkeypatch):
    before = unix_ms()
    first = Epoch(str(tmp_path / "data")).next()
    assert first >= before
    monkeypatch.setattr(time, "time_ns", lambda: (before - DAY_MS + 60_000) * 1_000_000)
    assert Epoch(str(tmp_path / "data")).next() == first + 1
    assert Epoch(None).next() == before - DAY_MS + 60_000


def test_one_that_was_raised_or_lowered_is_kept(tmp_path):
    kept = unix_ms() + DAY_MS - 60_000
    assert Epoch(str(tmp_path)).keep(kept) == kept
    assert Epoch(str(tmp_path)).next() == kept + 1
    assert [file.name for file in tmp_path.iterdir()] == ["epoch"]


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        (b"", ""),
        (b"seven\n", "seven\\n"),
        (b"-5\n", "-5\\n"),
        (b"1_000", "1_000"),
        (b"\xff\x1b[2J", "\\xff\\x1b[2J"),
        (b"9" * 1_000_000, "9" * 64),
        *((b"%d\n" % number, f"{number}\\n") for number in (2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**90)),
    ],
)
def test_a_file_that_holds_nothing_sane_heals_and_says_so(tmp_path, caplog, held, shown):
    (tmp_path / "epoch").write_bytes(held)
    before = unix_ms()
    epoch = Epoch(str(tmp_path)).next()
    assert before <= epoch <= unix_ms()
    assert (tmp_path / "epoch").read_text() == f"{epoch}\n"
    [record] = caplog.records
    assert (record.levelname, record.fields["held"]) == ("WARNING", shown)


def test_more_than_a_day_ahead_of_the_clock_is_not_sane(tmp_path, caplog):
    Epoch(str(tmp_path)).keep(unix_ms() + DAY_MS + 60_000)
    assert Epoch(str(tmp_path)).next() <= unix_ms()
    assert "more than a day ahead" in caplog.records[0].fields["because"]


def test_what_cannot_be_read_or_written_stops_the_start(tmp_path):
    (tmp_path / "epoch").mkdir()
    with pytest.raises(CannotStart, match="epoch: Is a directory"):
        Epoch(str(tmp_path)).next()
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="epoch"):
        Epoch(str(tmp_path / "file")).next()
