"""`tamis check`: the summary of a sound topology, the mistakes of another."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tamis.cli.main import main

LINE3 = str(Path(__file__).parents[2] / "configs" / "topologies" / "line3.yaml")


def test_a_sound_file(capsys) -> None:
    assert main(["check", LINE3]) == 0
    assert capsys.readouterr() == (f"{LINE3}: 3 routers, 2 links, strategy advertise, engine tamis\n", "")


def test_a_sound_file_as_json(capsys) -> None:
    assert main(["check", "--json", LINE3]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["sound"], summary["file"], summary["routers"], summary["links"]) == (True, LINE3, 3, 2)


def test_every_mistake_is_reported(tmp_path: Path, capsys) -> None:
    path = tmp_path / "network.yaml"
    path.write_text("routers:\n  a: {}\nlinks:\n  - [a, b]\nnmae: x\n")
    assert main(["check", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) >= 2
    assert all(line.startswith(f"{path}:") for line in err.splitlines())
    assert main(["check", "--json", str(path)]) == 1
    out, again = capsys.readouterr()
    assert json.loads(out) == {"file": str(path), "sound": False, "mistakes": err.splitlines()}
    assert again == err


def test_a_file_that_is_not_there(tmp_path: Path, capsys) -> None:
    assert main(["check", str(tmp_path / "none.yaml")]) == 2
    assert "does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["pydantic", "yaml"])
def test_without_the_extra_it_says_what_to_install(missing: str, monkeypatch, capsys) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == missing or name.startswith("tamis.configs"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["check", LINE3]) == 1
    assert capsys.readouterr().err == f"Error: topology files need {missing}: pip install 'tamis[router]'\n"
