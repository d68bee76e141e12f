"""The unit of a router: what it may do, as systemd itself judges it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.configs.sections.limits import Limits
from tamis.router.daemon.exit_codes import CANNOT_START

UNIT = Path(__file__).parents[2] / "configs" / "systemd" / "tamis-router@.service"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "systemd.md"
EXPOSURE_MAX = 2.0

needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


def analyzed(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    unit = tmp_path / "tamis-router@a.service"
    here = unit.read_text() if unit.exists() else UNIT.read_text()
    unit.write_text(here.replace("/opt/tamis/bin/tamis", str(Path(sys.executable).with_name("tamis"))))
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


@needs_systemd
def test_a_mistake_in_the_unit_would_be_found(tmp_path):
    unit = tmp_path / "tamis-router@a.service"
    unit.write_text(UNIT.read_text().replace("Restart=on-failure", "Restart=perhaps"))
    assert "tamis-router@a.service:" in analyzed(tmp_path, "verify", "--man=no").stderr


def test_the_page_and_the_unit_speak_of_the_same_places(tmp_path, capsys):
    """What the page says to paste is what the unit needs, and its topology is sound."""
    unit, page = UNIT.read_text(), PAGE.read_text()
    for place in ("/opt/tamis/bin/", "/etc/tamis/network.yaml", "/var/lib/tamis"):
        assert place in unit
        assert place in page
    assert "useradd --system --home-dir /var/lib/tamis" in page
    assert "User=tamis" in unit
    assert f"RestartPreventExitStatus={CANNOT_START}" in unit
    [topology] = re.findall(r"<<'END'\n(.*?)^END$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "network.yaml").write_text(topology)
    assert main(["check", "--text-only", str(tmp_path / "network.yaml")]) == 0
    (tmp_path / "tokens").write_text("press-1 secret\n")
    (tmp_path / "tokens").chmod(0o600)
    assert main(["check", str(tmp_path / "network.yaml")]) == 0
    assert main(["example", "systemd"]) == 0
    assert capsys.readouterr().out.endswith(unit)


def test_the_unit_leaves_room_for_the_default_limits():
    keys = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line and line[0] != "#")
    assert int(keys["TimeoutStopSec"]) * 1_000 > Limits().stop_ms
    assert int(keys["LimitNOFILE"]) > Limits().connections
    assert int(keys["MemoryMax"].removesuffix("G")) * 2**30 >= 2 * Limits().memory_bytes
