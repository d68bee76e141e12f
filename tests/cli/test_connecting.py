"""Addresses, tokens and certificates on the command line."""

from __future__ import annotations

import pytest

from tamis.cli.main import main
from tamis.cli.reach.connecting import split_addresses
from tamis.testing import blocking, free_port


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
        (["pub", "a={{x}}"], "no placeholder 'x'"),
        (["pub", "--payload", "x"], "a payload option needs attributes"),
        (["pub", "a=1", "--payload", "x", "--payload-file", "-"], "not both"),
        (["pub", "tamis://host", "a=1"], "a host and a port"),
        (["pub", "a=1", "--count", "-1"], "--count"),
        (["pub", "a=1", "--rate", "0"], "--rate"),
        (["sub"], "Missing argument 'PREDICATE'"),
        (["sub", "x >> 1"], "predicate, line 1, column 3"),
        (["sub", "true", "--format", "xml"], "--format is text, json, raw"),
        (["sub", "true", "--format", "raw", "--json"], "--json and --format raw contradict"),
        (["sub", "true", "--ca", __file__], "no readable certificate in PEM"),
        (["bench", "sub", "true", "false"], "give one PREDICATE"),
        (["durable", "create", "jobs"], "not 1 word\n"),
        (["durable", "create", "jobs", "n", "=", "1"], "not 4 words\n"),
        (["durable", "info", "a.yaml", "b", "c"], "not 3 words\n"),
        (["durable", "replay"], "not 0 words\n"),
        (["durable", "rm"], "not 0 words\n"),
        (["bench", "route", "127.0.0.1:7400"], "an address begins with"),
        (["bench", "route", "--name", "x"], "omit --name"),
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


def test_where_nothing_listens_on_this_machine_it_is_said_what_starts_a_router(tmp_path, capsys) -> None:
    port, path = free_port(), tmp_path / "clients"
    for address in (f"tamis://127.0.0.1:{port}", f"tamis://localhost:{port}", f"tamis+unix:{path}"):
        assert main(["pub", address, "a=1"]) == 1
        last = capsys.readouterr().err.splitlines()[-1]
        assert last == f"nothing listens at {address}: `tamis up` starts a router on this machine"


def test_who_is_not_let_in_is_told_what_to_show(tmp_path, capsys) -> None:
    (tmp_path / "tokens").write_text("press secret")
    (tmp_path / "token").write_text("secret")
    for secret in ("tokens", "token"):
        (tmp_path / secret).chmod(0o600)
    file = tmp_path / "net.yaml"
    file.write_text(f"tokens: tokens\nrouters: {{a: {{clients: '127.0.0.1:{free_port()}'}}}}\n")
    with blocking.started(file, "a") as router:
        assert main(["pub", router.address, "a=1"]) == 1
        said = capsys.readouterr().err
        assert said.startswith('Error: router "a" requires a token\ngive the token by --token-file or TAMIS_TOKEN_FILE')
        token = ["--token-file", str(tmp_path / "token")]
        assert main(["pub", router.address, "a=1", *token]) == 1
        said = capsys.readouterr().err
        assert "this token is not valid for this name" in said
        assert said.endswith("a token belongs to a name: give it by --name or TAMIS_NAME\n")
        assert main(["pub", router.address, "a=1", "--name", "press", *token]) == 0


def test_a_file_that_is_not_there_has_nothing_to_stop(tmp_path, capsys) -> None:
    file = str(tmp_path / "nosuch.yaml")
    assert main(["down", file]) == 1
    assert capsys.readouterr().err.startswith(f"Error: {file}: no such file, and none of its routers")
