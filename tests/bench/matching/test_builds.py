"""Two builds side by side answer alike; one that answers otherwise, or does not run, ends the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tamis.bench.matching import builds

ROOT = Path(__file__).parents[3]
_FEW = ["--filters", "60", "--interfaces", "F,5", "--passes", "2", "--json"]


def run(*options: str) -> Result:
    return CliRunner().invoke(builds.main, [*_FEW, *options])


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder in which `tamis` is this checkout, but `tamis.native` a package of its own."""
    package = tmp_path / "tamis"
    package.mkdir()
    for entry in [*(ROOT / "tamis").iterdir(), ROOT / "protocol"]:
        (package / entry.name).symlink_to(entry)
    (package / "native").mkdir()
    for entry in (ROOT / "native").iterdir():
        (package / "native" / entry.name).symlink_to(entry)
    return tmp_path


@pytest.mark.slow
def test_a_build_beside_itself(other: Path) -> None:
    result = run("--other", str(other))
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.output.splitlines()]
    assert [row["interfaces"] for row in rows] == [None, 5]
    for row in rows:
        assert row["times"] == pytest.approx(row["other_us"] / row["us"], abs=0.1)
        assert row["bytes_per_constraint"] > 0
        assert row["bytes_per_constraint"] == pytest.approx(row["other_bytes_per_constraint"], rel=0.05)


@pytest.mark.slow
def test_one_build_alone() -> None:
    result = run()
    assert result.exit_code == 0, result.output
    assert all("times" not in json.loads(line) for line in result.output.splitlines())


@pytest.mark.slow
def test_a_build_that_answers_otherwise_ends_the_run(other: Path) -> None:
    table = other / "tamis" / "native" / "table.py"
    text = table.read_text().replace("checksum[0]", "checksum[0] ^ 1")
    table.unlink()
    table.write_text(text)
    result = run("--other", str(other))
    assert result.exit_code == 1
    assert "the builds disagree" in result.output


@pytest.mark.slow
def test_a_build_that_ends_is_named(other: Path) -> None:
    (other / "tamis" / "native" / "table.py").unlink()
    result = run("--other", str(other))
    assert result.exit_code == 1
    assert "the process of build other ended with exit code 1" in result.output


@pytest.mark.slow
def test_a_folder_without_a_build_is_named(tmp_path: Path) -> None:
    """Python would take the build that is installed."""
    result = run("--other", str(tmp_path))
    assert result.exit_code == 1
    assert f"--other {tmp_path} has no built tamis" in result.output
