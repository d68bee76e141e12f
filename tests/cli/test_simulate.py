from __future__ import annotations

import json

import pytest

from tamis.cli.main import main


@pytest.mark.slow
def test_a_clean_run_prints_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--topology", "ring:4", "--ops", "12", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    assert "4 routers, 12 operations" in out
    assert "missing 0" in out


@pytest.mark.slow
def test_a_violation_is_printed_with_the_command_that_shows_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--break", "R11", "--ops", "40", "--json"]) == 1
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert told["violations"][0]["invariant"] == 2
    assert told["replay"] in captured.err
    assert "seed 1; repeat: tamis simulate" in captured.err
    assert main(told["replay"].split()[1:]) == 1


@pytest.mark.slow
def test_a_topology_file_and_single_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--topology", "configs/topologies/diamond.yaml", "--ops", "10", "--faults", "cut,add", "--json"]
    assert main(["simulate", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["operations"] == 10
    assert told["violations"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--topology", "blob:4"], "no kind of network"),
        (["--topology", "nowhere.yaml"], "nowhere.yaml"),
        (["--faults", "rain"], "no kind of fault"),
        (["--only", "1,x"], "--only: expected numbers joined by commas, or none, not '1,x'"),
        (["--strategy", "profile", "--broadcast", "reverse-path"], "--broadcast: strategy profile uses shared-tree"),
        (["--break", "R99"], "--break R99: it takes R1"),
        (["--break", "R1", "--strategy", "paper"], "--break R1: it takes R1"),
    ],
)
def test_misuse_is_refused_in_a_sentence(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *arguments]) == 2
    assert words in capsys.readouterr().err
