"""`tamis check --predicates`: a file with a predicate a line, and its mistakes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tamis.cli.main import main

SELECTORS = """\
sym = 'A'
price * qty > 1000

x LIKE 5
sym = 'B'
"""


def check(tmp_path: Path, text: str | bytes, *options: str) -> tuple[int, str]:
    path = tmp_path / "subs.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return main(["check", "--predicates", str(path), *options]), str(path)


def test_sound_predicates(tmp_path, capsys) -> None:
    code, path = check(tmp_path, 'x > 1\r\n\ny ^= "a"')
    assert code == 0
    assert capsys.readouterr() == (f"{path}: 2 predicates\n", "")
    code, path = check(tmp_path, "x > 1", "--json")
    assert code == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": path,
        "sound": True,
        "predicates": 1,
        "invalid": 0,
        "by_program": 0,
        "mistakes": [],
        "warnings": [],
    }


def test_predicates_that_a_program_decides_are_counted(tmp_path, capsys) -> None:
    lines = 'a < b\nx like "a%"\nclass = alert\n'
    code, path = check(tmp_path, lines)
    assert code == 0
    out, err = capsys.readouterr()
    assert out == f"{path}: 3 predicates, 2 decided by a program\n"
    assert err == f"{path}:3: `alert` is an attribute here; a string stands in quotes\n"


def test_every_mistake_has_its_line_and_column_and_a_caret(tmp_path, capsys) -> None:
    lines = b"x => 3\nx = 1\n\n  y >\n\xff\nx = 1 and x = 2\nx = 1 or y = 1 and y = 2\n" + b"x => 4\n" * 30
    code, path = check(tmp_path, lines)
    assert code == 1
    out, err = capsys.readouterr()
    assert out == f"{path}: 36 predicates, 34 invalid\n"
    assert err.startswith(f"{path}:7: dropped y = 1 and y = 2: ")
    said = err.partition("\n")[2]
    assert said.startswith(f"{path}:1:3: there is no operator `=>`\nx => 3\n  ^\ndid you mean `>=`?\n{path}:4:")
    assert f"\n  y >\n     ^\n{path}:5: not UTF-8 at byte 1\n{path}:6:11: this can never match: " in said
    assert said.count("there is no operator") == 31


def test_filters_of_another_system_are_counted_by_what_decides_them(tmp_path, capsys) -> None:
    code, path = check(tmp_path, SELECTORS, "--dialect", "jms")
    assert code == 1
    out, err = capsys.readouterr()
    assert out == f"{path}: 4 filters of jms: 2 exact, 1 decided by a program, 0 not decided, 1 invalid\n"
    assert err.startswith(f"{path}:4:8: ")
    assert "\nx LIKE 5\n       ^\n" in err
    code, path = check(tmp_path, "#.a.*.b.#\n", "--dialect", "amqp-topic")
    assert code == 1
    out, err = capsys.readouterr()
    assert out == f"{path}: 1 filter of amqp-topic: 0 exact, 0 decided by a program, 1 not decided\n"
    assert err == f"{path}:1: no predicate and no program decides words between two `#`\n"


def test_filters_of_another_system_as_json(tmp_path, capsys) -> None:
    code, path = check(tmp_path, SELECTORS, "--dialect", "jms", "--json")
    assert code == 1
    form = json.loads(capsys.readouterr().out)
    (mistake,) = form.pop("mistakes")
    assert form == {
        "file": path,
        "sound": False,
        "predicates": 4,
        "invalid": 1,
        "dialect": "jms",
        "exact": 2,
        "by_program": 1,
        "undecided": 0,
        "warnings": [],
    }
    assert (mistake["line"], mistake["column"]) == (4, 8)
    assert sorted(mistake) == ["column", "hint", "line", "problem"]


@pytest.mark.parametrize("text", ["", "\n  \n"])
def test_a_file_without_predicates_is_a_mistake(text, tmp_path, capsys) -> None:
    code, path = check(tmp_path, text)
    assert code == 1
    assert capsys.readouterr() == ("", f"{path}: there is no predicate in it\n")
    code, path = check(tmp_path, text, "--json")
    assert code == 1
    assert json.loads(capsys.readouterr().out)["sound"] is False


def test_the_dialect_may_be_named_by_the_environment(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TAMIS_DIALECT", "nats")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a.>\n")))
    assert main(["check", "--predicates", "-"]) == 0
    assert capsys.readouterr().out.startswith("<stdin>: 1 filter of nats: 1 exact, ")
    network = tmp_path / "network.yaml"
    network.write_text("routers: {a: {}}\n")
    assert main(["check", "--text-only", str(network)]) == 0


def test_predicates_of_a_space(tmp_path, capsys) -> None:
    network = tmp_path / "network.yaml"
    network.write_text("routers: {a: {}}\nspaces: {trades: {attributes: {side: {one_of: [buy, sell]}}}}\n")
    assert check(tmp_path, 'trades: side = "buy"\n', "--spaces", str(network))[0] == 0
    code, path = check(tmp_path, 'trades: side = "bye"\n', "--spaces", str(network))
    assert code == 1
    assert f"{path}:1:16: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing argument 'FILE', or --predicates FILE"),
        (["--predicates", "-", "--dialect", "jmss"], "there is no dialect 'jmss', did you mean jms?"),
        (["--predicates", "-", "--insecure"], "--insecure cannot be used with --predicates"),
        (["--predicates", "-", __file__], "FILE cannot be used with --predicates"),
        ([__file__, "--dialect", "jms"], "--dialect needs --predicates"),
        ([__file__, "--spaces", "a"], "--spaces needs --predicates"),
    ],
)
def test_misuse(words, said, capsys) -> None:
    assert main(["check", *words]) == 2
    assert said in capsys.readouterr().err
