"""Addresses, tokens and certificates on the command line."""

from __future__ import annotations

import pytest

from tamis.cli.connecting import split_addresses
from tamis.cli.main import main


def test_addresses_are_known_by_how_they_begin(monkeypatch) -> None:
    monkeypatch.delenv("TAMIS_URL", raising=False)
    words = ("a=1", "tamis://h:1", "b=tamis://x", "tamis+unix:/run/s", "tamis+tls://h:2")
    assert split_addresses(words) == (("tamis://h:1", "tamis+unix:/run/s", "tamis+tls://h:2"), ("a=1", "b=tamis://x"))
    assert split_addresses(("a=1",)) == (("tamis://127.0.0.1:7400",), ("a=1",))
    monkeypatch.setenv("TAMIS_URL", "tamis://one:1 tamis://two:2")
    assert split_addresses(()) == (("tamis://one:1", "tamis://two:2"), ())
    assert split_addresses(("tamis://h:1",)) == (("tamis://h:1",), ())


@pytest.mark.parametrize("command", [["pub", "a=1"], ["sub", "true"], ["bench", "pub"], ["bench", "route"]])
def test_a_token_is_a_secret_of_one_line(command, tmp_path, capsys) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    token.chmod(0o644)
    assert main([*command, "--token-file", str(token)]) == 2
    assert f"chmod 600 {token}" in capsys.readouterr().err
    token.write_text("one\ntwo\n")
    token.chmod(0o600)
    assert main([*command, "--token-file", str(token)]) == 2
    assert "one token on one line" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["pub", "a"], "message, line 1, column 2"),
        (["pub", "a={{x}}"], "there is no 'x'"),
        (["pub", "--payload", "x"], "a payload needs attributes"),
        (["pub", "a=1", "--payload", "x", "--payload-file", "-"], "not by both"),
        (["pub", "tamis://host", "a=1"], "a host and a port"),
        (["pub", "a=1", "--count", "-1"], "--count"),
        (["pub", "a=1", "--rate", "0"], "--rate"),
        (["sub"], "Missing argument 'PREDICATE'"),
        (["sub", "x >> 1"], "predicate, line 1, column 3"),
        (["sub", "true", "--format", "xml"], "--format is text, json, raw"),
        (["sub", "true", "--format", "raw", "--json"], "--json is --format json"),
        (["sub", "true", "--ca", __file__], "no PEM certificates"),
        (["bench", "sub", "true", "false"], "one predicate"),
        (["bench", "route", "127.0.0.1:7400"], "an address begins with"),
        (["bench", "route", "--name", "x"], "leave --name out"),
    ],
)
def test_misuse_is_said_before_anything_is_sent(argv, said, monkeypatch, capsys) -> None:
    monkeypatch.setenv("TAMIS_URL", "tamis://127.0.0.1:1")
    code = main(argv)
    out, err = capsys.readouterr()
    assert said in err
    assert (code, out) == (2, "")


@pytest.mark.parametrize(
    "command", [["pub", "a=1"], ["sub", "true"], ["bench", "pub"], ["bench", "sub"], ["bench", "route"]]
)
def test_nobody_there(command, capsys) -> None:
    assert main([*command, "tamis://127.0.0.1:1"]) == 1
    out, err = capsys.readouterr()
    assert "tamis://127.0.0.1:1" in err
    assert out == ""
