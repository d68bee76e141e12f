"""`tamis access init` and `tamis token rotate`: drafts from running routers, and tokens that are changed."""

from __future__ import annotations

import hashlib
import json
import random
import stat
from pathlib import Path

import pytest

import tamis.blocking
from tamis.cli.main import main
from tamis.configs.access.draft import Seen, draft, line_of
from tamis.configs.access.load import load_access, parse_access
from tamis.protocol.access.rights import DurableTerms
from tamis.protocol.language import parse
from tests.router.conftest import Process


def digest(token: str) -> str:
    return f"sha256:{hashlib.sha256(token.encode()).hexdigest()}"


@pytest.fixture
def process(tmp_path: Path):
    made = []

    def make(topology: str) -> Process:
        made.append(Process(tmp_path, topology))
        assert made[-1].ready, made[-1].errors
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_draft_allows_what_is_connected_and_nothing_else(process, tmp_path: Path, capsys) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch(0o600)
    tokens.write_text("board one\nfleet two\nfleet/special three\n* any\n")
    topology = {"routers": {"a": {"clients": "127.0.0.1:0", "admin": "unix:admin"}}, "tokens": "tokens", "data": "data"}
    router = process(json.dumps(topology))

    def connected(name: str | None, token: str) -> tamis.blocking.Client:
        return tamis.blocking.connect(router.where, name=name, token=token)

    with (
        connected("board", "one") as board,
        connected("squad/1", "any") as squad,
        connected("fleet/special", "three") as special,
        connected(None, "any"),
        connected("worker", "any") as worker,
    ):
        board.subscribe('kind = "reading" and plant = "rome"').start()
        board.subscribe("level > 3 or urgent = true").start()
        squad.subscribe("squad = true", group="dash").start()
        special.subscribe('x = "a\\"b\'c"').start()
        worker.durable("orders-eu", 'kind = "order"')
        out = tmp_path / "rules.yaml"
        file = str(tmp_path / "net.yaml")
        assert main(["access", "init", file, "--out", str(out)]) == 0
        said, errors = capsys.readouterr()
        assert said == f"{out}: 5 principals of 1 router; read it, narrow it, and name it under `access`\n"
        assert not errors, "all have tokens in the file"
        assert main(["access", "init", file, "--out", str(out)]) == 1, "it exists"
        assert "File exists" in capsys.readouterr().err
        assert main(["access", "init", file]) == 0
        assert capsys.readouterr().out == out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert main(["access", "check", str(out)]) == 0
    rules = load_access(out).rules
    assert {line for line, _ in rules.lines()} == {"board", "fleet", "fleet/special", "squad", "worker"}
    assert rules.principals.shows("squad/7", b"any")
    assert rules.principals.shows("fleet", b"two")
    assert rules.principals.shows("worker", b"any")

    def whole(name: str, text: str) -> bool:
        found = rules.of(name).rights.subscribe(name, parse(text))
        return found.allowed and not found.narrowed

    assert whole("board", 'kind = "reading" and plant = "rome"')
    assert whole("board", "urgent = true")
    assert not whole("board", 'kind = "reading"')
    assert whole("squad/1", "squad = true")
    assert not whole("fleet/special", "squad = true")
    assert whole("fleet/special", 'x = "a\\"b\'c"')
    assert rules.of("squad/1").rights.group("squad/1", "dash").allowed
    assert not rules.of("board").rights.group("board", "dash").allowed
    make = rules.of("worker").rights.make
    assert make("worker", DurableTerms("orders-eu", parse('kind = "order"'), 1, idle_s=60)).allowed
    assert not make("worker", DurableTerms("orders-us", parse('kind = "order"'), 1, idle_s=60)).allowed


def test_without_a_file_of_tokens_new_ones_are_printed_once(process, tmp_path: Path, capsys) -> None:
    router = process(json.dumps({"routers": {"a": {"clients": "127.0.0.1:0", "admin": "unix:admin"}}}))
    with tamis.blocking.connect(router.where, name="board"):
        assert main(["access", "init", str(tmp_path / "net.yaml")]) == 0
    out, errors = capsys.readouterr()
    name, token = errors.removeprefix("token of ").strip().split(", shown only now: ")
    assert name == "board"
    assert parse_access(out).rules.principals.shows("board", token.encode())
    assert token not in out


def test_a_router_that_does_not_answer_is_named(tmp_path: Path, capsys) -> None:
    (tmp_path / "net.yaml").write_text("routers: {a: {clients: '127.0.0.1:1', admin: 'unix:nothing'}}")
    assert main(["access", "init", str(tmp_path / "net.yaml")]) == 1
    out, errors = capsys.readouterr()
    assert "a: " in errors
    assert "does not answer" in errors
    assert parse_access(out).rules.count == 0


def test_every_draft_is_valid() -> None:
    chance = random.Random(3)
    names = [
        "a",
        "A",
        "true",
        "a b",
        "1",
        "ünï",
        "a/b",
        ":",
        "- x",
        "{",
        "'",
        '"',
        "#",
        "x" * 250,
        "*.x",
        "${name}",
        "null",
    ]
    texts = ["true", "a = 1", 'a = "x: #\\"{"', "not (exists b)", "`a b` > 2", 'c prefix "\\\\"']
    for _ in range(40):
        seen = {}
        for name in chance.sample(names, chance.randint(0, len(names))):
            if "*" in name:
                continue
            held = seen[name] = Seen([digest(name)])
            held.filters |= set(chance.sample(texts, chance.randint(0, 3)))
            held.groups |= set(chance.sample(names, chance.randint(0, 2)))
            held.asks = chance.random() < 0.3
            held.durables |= {each: {chance.choice(texts)} for each in chance.sample(names, chance.randint(0, 2))}
        rules = parse_access(draft(seen)).rules
        assert {line for line, _ in rules.lines()} == set(seen)
    many = {f"p{n}": Seen([digest("x")], {f"a = {n}"}) for n in range(1_100)}
    assert parse_access(draft(many)).rules.count == 1_100
    assert parse_access(draft({"p": Seen([digest("x")], {f"a = {n}" for n in range(100)})})).rules.count == 1
    assert [line_of(name) for name in ("a", "a/b/c", "/x")] == ["a", "a", "/x"]


RULES = """\
# who
roles: {r: {publish: true}}
principals:
  press-1:   {roles: r, token: 'DIGEST'}   # the press
  board:
    token: 'DIGEST'
    roles: r
  cert: {roles: r, certificate: true}
""".replace("DIGEST", digest("old"))


def rotated(capsys, *words: str) -> str:
    """The token that a rotation prints."""
    assert main(["token", "rotate", *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["tokens"] == (1 if "--end" in words else 2)
    return said.get("token", "")


@pytest.mark.parametrize("name", ["press-1", "board"])
def test_a_token_is_changed_by_way_of_two(tmp_path: Path, capsys, name: str) -> None:
    rules = tmp_path / "rules.yaml"
    rules.touch(0o640)
    rules.write_text(RULES)

    def shows(token: str) -> bool:
        return load_access(rules).rules.principals.shows(name, token.encode())

    new = rotated(capsys, name, str(rules))
    assert (shows("old"), shows(new)) == (True, True)
    assert main(["token", "rotate", name, str(rules)]) == 1
    assert "has two tokens" in capsys.readouterr().err
    rotated(capsys, name, str(rules), "--end")
    assert (shows("old"), shows(new)) == (False, True)
    assert main(["token", "rotate", name, str(rules), "--end"]) == 1
    assert "has one token" in capsys.readouterr().err
    assert new not in rules.read_text()
    lines = [now for now, was in zip(rules.read_text().splitlines(), RULES.splitlines(), strict=True) if now != was]
    assert len(lines) == 1
    assert digest(new) in lines[0]
    assert stat.S_IMODE(rules.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_tokens_of_a_topology_of_a_named_file_and_of_a_file_of_principals(tmp_path: Path, capsys) -> None:
    topology, rules, listed = tmp_path / "net.yaml", tmp_path / "rules.yaml", tmp_path / "p"
    listed.touch(0o600)
    listed.write_text(f"# all\nfleet  r   {digest('old')}  \nfleet2 r {digest('x')}\n")
    rules.touch(0o600)
    rules.write_text(RULES.replace("press-1:", "press-2:") + "principals_file: p\n")
    topology.write_text("routers: {a: {}}\naccess: rules.yaml\n")
    new = rotated(capsys, "fleet", str(topology))
    assert listed.read_text().splitlines()[1] == f"fleet  r   {digest('old')} {digest(new)}  "
    assert load_access(topology).rules.principals.shows("fleet/3", new.encode())
    rotated(capsys, "press-2", str(topology))
    assert main(["token", "rotate", "fleet/3", str(topology)]) == 1
    assert "no principal of" in capsys.readouterr().err
    assert main(["token", "rotate", "cert", str(topology)]) == 1
    assert "proven by a certificate" in capsys.readouterr().err
    topology.write_text(
        f"routers: {{a: {{}}}}\naccess:\n  roles: {{}}\n  principals: {{b: {{token: '{digest('o')}'}}}}\n"
    )
    new = rotated(capsys, "b", str(topology))
    assert load_access(topology).rules.principals.shows("b", new.encode())


def test_a_rotation_that_makes_the_rules_invalid_changes_nothing(tmp_path: Path, monkeypatch, capsys) -> None:
    rules = tmp_path / "rules.yaml"
    rules.touch(0o600)
    rules.write_text(RULES)
    monkeypatch.setattr("tamis.cli.access.token.made_token", lambda: ("t", "no digest"))
    assert main(["token", "rotate", "press-1", str(rules)]) == 1
    assert "must be sha256:" in capsys.readouterr().err
    assert rules.read_text() == RULES
