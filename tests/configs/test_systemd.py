"""The unit of a router: what it may do, as systemd itself judges it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tamis.configs.topology import Limits

UNIT = Path(__file__).parents[2] / "configs" / "systemd" / "tamis-router@.service"
EXPOSURE_MAX = 2.0

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


def analyzed(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    unit = tmp_path / "tamis-router@a.service"
    unit.write_text(UNIT.read_text())
    command = ["systemd-analyze", *words, str(unit)]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own


@needs_systemd
def test_the_unit_exposes_little(tmp_path):
    done = analyzed(tmp_path, "security", "--offline=true", "--no-pager")
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at a file alone")
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    assert float(found[1]) < EXPOSURE_MAX


@needs_systemd
def test_the_unit_has_no_mistakes(tmp_path):
    done = analyzed(tmp_path, "verify", "--man=no")
    assert "tamis-router@a.service:" not in done.stderr, done.stderr


def test_the_unit_leaves_room_for_the_default_limits():
    keys = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line and line[0] != "#")
    assert int(keys["TimeoutStopSec"]) * 1_000 > Limits().drain_ms
    assert int(keys["LimitNOFILE"]) > Limits().connections
    assert int(keys["MemoryMax"].removesuffix("G")) * 2**30 >= 2 * Limits().memory_bytes
