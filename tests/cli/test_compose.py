"""`tamis compose`: a compose file for a sound topology, the mistakes of another."""

from __future__ import annotations

from pathlib import Path

import yaml

from tamis.cli.main import main

LINE3 = str(Path(__file__).parents[2] / "configs" / "topologies" / "line3.yaml")


def test_on_stdout(capsys) -> None:
    assert main(["compose", LINE3]) == 0
    out, err = capsys.readouterr()
    assert list(yaml.safe_load(out)["services"]) == ["a", "b", "c"]
    assert "docker-compose.topology.yaml" in err


def test_into_files(tmp_path: Path, capsys) -> None:
    out = tmp_path / "net.yml"
    assert main(["compose", LINE3, "-o", str(out), "--build", ".."]) == 0
    assert capsys.readouterr().out == ""
    assert yaml.safe_load(out.read_text())["services"]["a"]["build"] == ".."
    assert list(yaml.safe_load((tmp_path / "net.topology.yaml").read_text())["routers"]) == ["a", "b", "c"]
    assert main(["check", str(tmp_path / "net.topology.yaml")]) == 0


def test_mistakes_are_those_of_check(tmp_path: Path, capsys) -> None:
    file = tmp_path / "network.yaml"
    file.write_text("routers:\n  a: {}\nlinks:\n  - [a, b]\nnmae: x\n")
    assert main(["check", str(file)]) == 1
    expected = capsys.readouterr().err
    assert main(["compose", str(file), "-o", str(tmp_path / "out.yml")]) == 1
    assert capsys.readouterr() == ("", expected)
    assert not (tmp_path / "out.yml").exists()
