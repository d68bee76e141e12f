"""Contexts, the variables that go before them, and the address that is found from the other."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.cli.reach import contexts, other_address
from tamis.cli.reach.admin import DEFAULT, AdminTarget, routers
from tamis.cli.reach.connecting import access, split_addresses
from tamis.cli.reach.contexts import Context
from tamis.router.supervisor.identity import ProcessIdentity
from tamis.router.supervisor.state import NetworkState, RouterState, StateFolder

PLANT = "tamis://a.plant:7400"


@pytest.fixture
def token(tmp_path) -> str:
    file = tmp_path / "token"
    file.write_text("secret\n")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def plant(token) -> None:
    contexts.save(
        "plant", Context((PLANT, "tamis://b.plant:7400"), "http://a.plant:7600", token, None, "desk-3", token)
    )
    contexts.use("plant")


def test_contexts_are_kept_used_and_forgotten(token, capsys) -> None:
    add = ["context", "add", "plant", "--url", f"{PLANT},tamis+tls://b.plant:7400", "--token-file", token]
    assert main([*add, "--admin", "a.plant:7600", "--name", "desk-3"]) == 0
    assert main(["context", "add", "lab", "--use"]) == 0
    assert main(["context", "ls"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["context", "url", "admin"],
        ["*", "lab"],
        ["plant", PLANT, "tamis+tls://b.plant:7400", "a.plant:7600"],
    ]
    assert main(["context", "use", "plant"]) == 0
    assert main(["context", "show", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["context"], form["token_file"], form["name"]) == ("plant", token, "desk-3")
    assert main(["context", "rm", "plant"]) == 0
    assert contexts.in_use() is None
    assert main(["context", "use", "plant"]) == 2
    assert "no context 'plant'; the contexts are lab" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["../up"], "a context's name has 1 to 64 letters"),
        (["x", "--url", "localhost:7400"], "an address is tamis://host:port"),
        (["x", "--name", ""], "this one is empty"),
        (["x", "--ca", "none.pem"], "does not exist"),
    ],
)
def test_what_is_no_context(options, said, capsys) -> None:
    assert main(["context", "add", *options]) == 2
    assert said in capsys.readouterr().err
    assert contexts.saved() == {}


@pytest.mark.usefixtures("plant")
def test_what_a_command_is_not_told_comes_from_the_context(monkeypatch) -> None:
    addresses, others = split_addresses(("a=1",))
    assert (addresses, others) == ((PLANT, "tamis://b.plant:7400"), ("a=1",))
    told = access(addresses, None, None, None)
    assert (told.name, told.token) == ("desk-3", b"secret")
    assert access((PLANT,), "mine", None, None).name == "mine"
    assert access((PLANT,), None, None, None, is_named=False).name is None
    assert routers(None) == [AdminTarget("a.plant:7600", "a.plant:7600", "secret")]
    monkeypatch.setenv("TAMIS_NAME", "of-the-variable")
    assert access((PLANT,), None, None, None).name == "of-the-variable"


@pytest.mark.usefixtures("plant")
def test_a_secret_of_a_context_goes_to_its_network_alone(monkeypatch) -> None:
    told = access(("tamis://elsewhere:7400",), None, None, None)
    assert (told.name, told.token) == (None, None)
    monkeypatch.setenv("TAMIS_URL", "tamis://elsewhere:7400")
    assert split_addresses(())[0] == ("tamis://elsewhere:7400",)
    assert routers("elsewhere:7600") == [AdminTarget("elsewhere:7600", "elsewhere:7600", None)]
    monkeypatch.setenv("TAMIS_CONTEXT", "nowhere")
    assert main(["pub", "a=1"]) == 2


def test_no_context_is_the_default(monkeypatch) -> None:
    assert split_addresses(()) == (("tamis://127.0.0.1:7400",), ())
    assert routers(None) == [AdminTarget(DEFAULT, DEFAULT)]
    monkeypatch.setenv("TAMIS_ADMIN", "127.0.0.1:7999")
    assert routers(None) == [AdminTarget("127.0.0.1:7999", "127.0.0.1:7999")]


# --- the other address


@pytest.mark.usefixtures("plant")
def test_administration_is_found_by_the_context() -> None:
    assert routers(PLANT)[0].address == "a.plant:7600"


def test_administration_is_found_by_what_runs_here(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = StateFolder.of(tmp_path / "net.yaml")
    folder.path.mkdir(parents=True)
    us = ProcessIdentity.of(os.getpid())
    assert us
    state = RouterState(clients=["tamis://127.0.0.1:7411"], admin=["http://127.0.0.1:7611"])
    folder.write(NetworkState("net.yaml", us, 1.0, {"a": state}))
    assert routers("tamis://127.0.0.1:7411")[0].address == "127.0.0.1:7611"
    monkeypatch.setenv("TAMIS_URL", "tamis://127.0.0.1:7411")
    assert routers(None)[0].address == "127.0.0.1:7611"
    monkeypatch.setenv("TAMIS_URL", "tamis://10.9.9.9:7400")
    assert main(["status"]) == 2
    assert "tamis://10.9.9.9:7400 is an address for clients; this command needs" in capsys.readouterr().err


def test_clients_are_found_by_asking_administration(monkeypatch, capsys) -> None:
    listening = {"clients": ["tamis://0.0.0.0:7400", "tamis+unix:/run/a.sock"]}
    monkeypatch.setattr(AdminTarget, "ask", lambda _self, _path: {"listening": listening})
    assert split_addresses(("http://10.0.0.5:7600", "a=1")) == (
        ("tamis://10.0.0.5:7400", "tamis+unix:/run/a.sock"),
        ("a=1",),
    )
    monkeypatch.undo()
    assert main(["pub", "http://127.0.0.1:1", "a=1"]) == 1
    assert "is the address of a router's administration, from which" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["localhost:7400", "nats://localhost:7400", "[::1]:7400", "amqp://h"])
def test_what_looks_like_an_address_and_is_none(word, capsys) -> None:
    for command in ("pub", "sub", "trace"):
        assert main([command, word, "a=1"]) == 2
        err = capsys.readouterr().err
        assert f"{word!r}: an address begins with tamis://" in err
        assert f"did you mean tamis://{word.rpartition('://')[2]}?" in err


@pytest.mark.parametrize("word", ["tamis+tls:/h:1", "tamis:h:1", "tamis+udp://h:1"])
def test_a_scheme_that_is_nearly_ours_is_named(word, capsys) -> None:
    for command in ("pub", "sub"):
        assert main([command, word, "a=1"]) == 2
        assert f"{word!r}: an address begins with tamis://" in capsys.readouterr().err


def test_a_router_file_of_tokens_is_no_token(tmp_path: Path, capsys) -> None:
    file = tmp_path / "tokens"
    file.write_text("press-1 secret\n")
    file.chmod(0o600)
    assert main(["pub", "a=1", "--token-file", str(file)]) == 2
    assert "is it the `tokens` file of a router, with a name before each token?" in capsys.readouterr().err


def test_the_schemes_are_those_of_clients() -> None:
    assert all(scheme.startswith("tamis") for scheme in other_address.SCHEMES)
