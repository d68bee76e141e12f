"""Chains of custody in a log, through the binding, and the versions of its folder."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from tamis.configs.sections.durable import DurableSettings
from tamis.native.log import Log, LogChain, LogFailed
from tamis.protocol.errors import Refused
from tamis.router.durable.open_log import open_log
from tamis.serving.cannot_start import CannotStartNow
from tests.native.test_log_old import FOLDER, SMALL
from tests.native.test_log_summaries import crc32c

HOME, ENTRY = 0x2222, 0x1111
OF_ENTRY = LogChain(ENTRY, 5, 6, 7, 8, 9, is_home=False)
OF_HOME = LogChain(HOME, 4, 0, 3, 0, 0, is_home=True)
HEAD_BYTES, CRC_AT = 72, 68


def versions(folder: Path) -> set[str]:
    files = [*folder.glob("segment-*"), folder / "checkpoint"]
    return {file.read_bytes()[7:8].decode() for file in files}


def without_n(chains: list[LogChain]) -> list[tuple[object, ...]]:
    return [(c.router, c.log, c.life, c.have, c.lost, c.doubts, c.is_home) for c in chains]


def test_chains_and_what_waits_for_homes_outlive_a_restart(tmp_path: Path) -> None:
    with Log(tmp_path, **SMALL) as log:
        kept = log.append(b"kept", homes=[(HOME, 0)])
        given_up = [log.append(b"given up", homes=[(HOME, kept)]) for _ in range(3)]
        gap = log.give_up(HOME, [(given_up[0], given_up[-1])], 3, b"numbers")
        log.set_chain(OF_ENTRY)
        log.append(b"moves it", [1], source=(ENTRY, 20))
        log.set_chain(OF_HOME)
    for _ in range(2):
        with Log(tmp_path, **SMALL) as log:
            assert [record.n for record in log.read(HOME, is_home=True)] == [kept, gap]
            moved = (ENTRY, 5, 6, 20, 8, 9, False)
            assert without_n(log.chains()) == [moved, (HOME, 4, 0, 3, 0, 0, True)]
    with Log(tmp_path, **SMALL) as log:
        log.set_chain(LogChain(HOME, 4, 0, kept, 0, 0, is_home=True))
        log.wait(log.forget_entry(ENTRY))
        assert [record.n for record in log.read(HOME, is_home=True)] == [gap]
        assert [chain.router for chain in log.chains()] == [HOME]
        log.wait(log.forget(HOME, is_home=True))
        assert log.chains() == []


def test_a_life_names_the_one_before(tmp_path: Path) -> None:
    lives = [0]
    for _ in range(3):
        with Log(tmp_path, **SMALL) as log:
            state = log.state()
            assert state["life_before"] == lives[-1] < state["life"] == log.next_number >> 40
            lives.append(state["life"])


def test_an_old_folder_becomes_newer_with_custody_alone(tmp_path: Path) -> None:
    with tarfile.open(FOLDER) as packed:
        packed.extractall(tmp_path, filter="data")
    folder = tmp_path / "old_log"
    with Log(folder, **SMALL) as log:
        log.wait(log.append(b"plain", [2]))
        read = [record.body for record in log.read(2)]
    assert versions(folder) == {"2"}
    with Log(folder, **SMALL) as log:
        log.wait(log.set_chain(OF_ENTRY))
    assert versions(folder) == {"2", "3"}
    with Log(folder, **SMALL) as log:
        assert [record.body for record in log.read(2)] == read
        assert without_n(log.chains()) == without_n([OF_ENTRY])


def test_a_router_does_not_start_on_a_later_folder(tmp_path: Path) -> None:
    with Log(tmp_path, **SMALL) as log:
        log.wait(log.set_chain(OF_ENTRY))
    segment = next(file for file in tmp_path.glob("segment-*") if file.read_bytes()[7:8] == b"3")
    head = bytearray(segment.read_bytes()[:HEAD_BYTES])
    assert crc32c(bytes(head[:CRC_AT])) == int.from_bytes(head[CRC_AT:], "little")
    head[7:8] = b"4"
    head[CRC_AT:] = crc32c(bytes(head[:CRC_AT])).to_bytes(4, "little")
    segment.write_bytes(head + segment.read_bytes()[HEAD_BYTES:])
    before = zlib.crc32(segment.read_bytes())
    with pytest.raises(LogFailed, match=r"^a later version of Tamis .* \(it reads 2 and 3\): start"):
        Log(tmp_path, **SMALL)
    with pytest.raises(CannotStartNow, match=rf"durable\.folder {tmp_path}: .* a later version of Tamis"):
        open_log(DurableSettings(folder=str(tmp_path)))
    assert zlib.crc32(segment.read_bytes()) == before


def test_ids_of_new_logs_rise(tmp_path: Path) -> None:
    ids = []
    for name in ("first", "second"):
        with Log(tmp_path / name, **SMALL) as log:
            ids.append(log.state()["log_id"] >> 20)
    assert (0xFFF << 32) < ids[0] <= ids[1]


@pytest.mark.parametrize("wrong", [{"router": 2**64}, {"have": -1}, {"doubts": 2**32}])
def test_a_chain_beyond_its_fields_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    fields = {"router": 1, "log": 1, "life": 1, "have": 1, "lost": 0, "doubts": 0, "is_home": False} | wrong
    with Log(tmp_path, **SMALL) as log:
        with pytest.raises((OverflowError, Refused)):
            log.set_chain(LogChain(**fields))
        assert log.chains() == []
