"""Examples and the schema, as they are printed to be saved."""

from __future__ import annotations

import json
from pathlib import Path

from tamis.cli.main import main
from tamis.configs import load_topology

TOPOLOGIES = Path(__file__).parents[2] / "configs" / "topologies"


def test_each_example_is_listed_and_sound(tmp_path, capsys) -> None:
    assert main(["example"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert set(names) == {file.stem for file in TOPOLOGIES.glob("*.yaml")} | {"systemd"}
    assert names[0] == "single"
    for name in names[:4]:
        assert main(["example", name]) == 0
        text = capsys.readouterr().out
        assert text.startswith("# yaml-language-server: $schema=topology.schema.json\n")
        (tmp_path / "net.yaml").write_text(text)
        assert load_topology(tmp_path / "net.yaml").routers


def test_an_example_that_is_not_there(capsys) -> None:
    assert main(["example", "ring"]) == 2
    assert "no example 'ring', did you mean ring5?" in capsys.readouterr().err


def test_the_schema(capsys) -> None:
    assert main(["schema"]) == 0
    assert "routers" in json.loads(capsys.readouterr().out)["properties"]
