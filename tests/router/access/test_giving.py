"""`tamis durable give`: another owner, by whom it may be changed, what that changes, and that it survives a restart."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from click import ClickException
from click.testing import CliRunner

import tamis
from tamis.blocking import connect
from tamis.cli.durable.durable import command
from tamis.testing import blocking, free_port

PATIENCE_S = 20.0
pytestmark = pytest.mark.slow
ROLES = {
    "worker": {"durable": {"names": "*", "of": "kind = 1"}, "subscribe": "kind = 1", "quotas": {"durables": 1}},
    "other": {"durable": {"names": "*", "of": "kind = 2"}, "subscribe": "kind = 2"},
    "boss": {"admin": "admin", "inspect": "*"},
    "maker": {"publish": "true"},
}
LINES = {"ann": "worker", "bob": "other", "cid": "worker", "boss": "boss", "maker": "maker"}


def token_of(name: str) -> str:
    return f"the-token-of-{name}"


def rules() -> str:
    lines = {
        name: {"roles": role, "token": f"sha256:{hashlib.sha256(token_of(name).encode()).hexdigest()}"}
        for name, role in LINES.items()
    }
    return json.dumps({"roles": ROLES, "principals": lines})


def run(admin: str, who: str, folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the output of a command of `tamis durable`."""
    token = folder / f"{who}.token"
    token.touch(0o600)
    token.write_text(f"{who}:{token_of(who)}")
    words = (*words[:1], admin, *words[1:], "--admin-token-file", str(token))
    done = CliRunner().invoke(command, words, standalone_mode=False)  # as `tamis` runs it
    if isinstance(done.exception, ClickException):
        return done.exception.exit_code, done.exception.format_message()
    return int(done.return_value), done.output


def test_a_durable_subscription_is_given_by_its_owner_or_an_admin_and_stays_given(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").touch(0o600)
    (tmp_path / "rules.yaml").write_text(rules())
    file = tmp_path / "one.yaml"
    listens = f'clients: "127.0.0.1:{free_port()}", admin: "127.0.0.1:{free_port()}"'
    file.write_text(f"access: rules.yaml\nrouters: {{a: {{{listens}, data: data}}}}\n")
    with blocking.started(file, "a") as one:

        def client(name: str) -> tamis.blocking.Client:
            return connect(one.address, name=name, token=token_of(name), patience_s=PATIENCE_S)

        with client("ann") as ann, client("cid") as cid, client("maker") as maker:
            ann.durable("jobs", "kind > 0")
            cid.durable("more", "kind > 0")
            maker.publish({"kind": 1, "n": 1}, confirm="stored")
            code, output = run(one.admin, "bob", tmp_path, "give", "jobs", "bob")
            assert code == 1, output
            assert "there is no durable subscription" in output
            code, output = run(one.admin, "boss", tmp_path, "give", "jobs", "dan")
            assert (code, "no principal" in output) == (1, True), output
            code, output = run(one.admin, "boss", tmp_path, "give", "jobs", "cid")
            assert (code, "cid may have at most 1 durable" in output) == (1, True), output
            assert run(one.admin, "boss", tmp_path, "give", "jobs", "bob")[0] == 0
            assert run(one.admin, "boss", tmp_path, "give", "jobs", "bob")[0] == 1
            maker.publish({"kind": 1, "n": 2}, confirm="stored")
            maker.publish({"kind": 2, "n": 3}, confirm="stored")
            with pytest.raises(tamis.TamisError):
                ann.remove_durable("jobs")
            ann.durable("mine", "kind > 0")
    with blocking.started(file, "a") as one, client("bob") as bob:
        with bob.consume("jobs") as work:
            found = work.receive(PATIENCE_S)
            assert isinstance(found, tamis.blocking.StoredMessage)
            assert found["n"] == 3  # that of the former owner is held back
            found.ack()
            with pytest.raises(TimeoutError):
                work.receive(0.4)
        code, output = run(one.admin, "cid", tmp_path, "purge", "jobs", "--forbidden")
        assert (code, "there is no durable subscription" in output) == (1, True), output
        code, output = run(one.admin, "bob", tmp_path, "purge", "jobs", "--forbidden")
        assert (code, output) == (0, "removed 1 message of jobs that bob may not have\n")
        code, output = run(one.admin, "boss", tmp_path, "purge", "jobs", "--forbidden")
        assert (code, output) == (1, "removed 0 messages of jobs that bob may not have\n")
        code, output = run(one.admin, "bob", tmp_path, "give", "jobs", "ann")
        assert (code, "ann may have at most 1 durable" in output) == (1, True), output
        bob.remove_durable("jobs")
    with blocking.started(file, "a") as one, client("boss"):
        assert Counter(json.loads(line)["kind"] for line in audited(tmp_path)).keys() >= {"given", "purged"}
        code, output = run(one.admin, "boss", tmp_path, "give", "jobs", "ann")
        assert (code, "there is no durable subscription" in output) == (1, True), output


def audited(folder: Path) -> list[str]:
    return [line for file in (folder / "data" / "audit").iterdir() for line in file.read_text().splitlines()]
