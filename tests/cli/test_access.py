"""`tamis access` and `tamis token`: what they print, in text and as JSON, and their exit codes. A topology file with
rules is refused where routers would ignore them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tamis.cli.main import main
from tamis.configs.access.load import load_access

D = "'sha256:" + "0" * 64 + "'"
RULES = f"""\
roles:
  sensor: {{publish: 'kind = "reading" and plant = "rome"', stamp: {{device: '${{name}}'}}}}
  dash: {{subscribe: {{allow: 'exists kind', deny: 'exists salary'}}}}
  worker: {{durable: {{names: 'orders-*'}}, consume: 'orders-*', subscribe: 'device = "${{name}}"'}}
principals:
  press-1: {{roles: sensor, token: {D}}}
  press-2: {{roles: [sensor, dash], token: {D}}}
  fleet: {{roles: worker, token: {D}}}
  '*.plant.example': {{roles: sensor, certificate: true}}
tests:
  - {{as: press-1, publish: {{kind: reading, plant: oslo}}, expect: denied}}
"""


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "rules.yaml"
    path.write_text(RULES)
    path.chmod(0o640)
    return str(path)


def test_check(rules: str, capsys) -> None:
    assert main(["access", "check", rules]) == 0
    assert capsys.readouterr() == (f"{rules}: mode enforce, 3 roles, 4 principals in 3 classes, 1 test passed\n", "")
    assert main(["access", "check", rules, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": rules,
        "sound": True,
        "warnings": [],
        "mode": "enforce",
        "roles": 3,
        "principals": 4,
        "classes": 3,
        "tests": 1,
    }


def test_check_of_a_wrong_file(rules: str, capsys) -> None:
    Path(rules).write_text(RULES.replace("expect: denied", "expect: allowed"))
    assert main(["access", "check", rules, "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == {"file": rules, "sound": False, "mistakes": err.splitlines()}
    said = "tests.0: the test fails: publish is denied, not allowed: role sensor allows publish where "
    assert err.startswith(f"{rules}:11:5: {said}")
    for command in (["who", rules], ["why", "press-1", rules]):
        assert main(["access", *command, "--admin", "viewer"]) == 1
        assert capsys.readouterr() == ("", err)


def test_check_prints_warnings_and_passes(rules: str, capsys) -> None:
    Path(rules).write_text("roles: {a: {publish: 'false'}}\n")
    assert main(["access", "check", rules]) == 0
    out, err = capsys.readouterr()
    assert out == f"{rules}: mode enforce, 1 role, 0 principals in 0 classes, 0 tests passed\n"
    assert err == f"{rules}:1:22: roles.a.publish: allows no message\n"


def test_who(rules: str, capsys) -> None:
    assert main(["access", "who", rules, "--publish", "kind=reading plant=rome"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in out] == [
        *(["principal", "role"], ["press-1", "sensor"], ["press-2", "sensor"], ["*.plant.example", "sensor"])
    ]
    assert main(["access", "who", rules, "--consume", "orders-eu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "verb": "consume",
        "principals": [
            {"principal": "fleet", "role": "worker", "reason": "role worker allows consume of orders-*"},
        ],
    }


def test_who_asks_each_name_where_rules_are_about_names(rules: str, capsys) -> None:
    assert main(["access", "who", rules, "--sees", "device=fleet", "--json"]) == 0
    assert [each["principal"] for each in json.loads(capsys.readouterr().out)["principals"]] == ["fleet"]
    assert main(["access", "who", rules, "--sees", "device=fleet/7"]) == 0
    assert capsys.readouterr() == ("", "no principal of the file may\n")


def test_why_not(rules: str, capsys) -> None:
    assert main(["access", "why", "press-2/x", rules, "--publish", "kind=reading plant=oslo"]) == 0
    assert capsys.readouterr().out == (
        "allowed: no\n"
        "principal press-2, roles: dash, sensor\n"
        'role sensor allows publish where kind = "reading" and plant = "rome", and plant is "oslo"\n'
        'no   role sensor allows kind = "reading" and plant = "rome"\n'
        '     yes  kind = "reading"  kind is "reading"\n'
        '     no   plant = "rome"    plant is "oslo"\n'
    )


def test_why_a_denial_wins(rules: str, capsys) -> None:
    assert main(["access", "why", "press-2", rules, "--sees", '{"kind": 1, "salary": 3}']) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "allowed: no\nprincipal press-2, roles: dash, sensor\nrole dash denies it where exists salary\n"
    )
    assert "yes  role dash denies exists salary\n" in out
    assert "yes  role dash allows exists kind\n" in out


def test_why_as_json(rules: str, capsys) -> None:
    assert main(["access", "why", "fleet/7", rules, "--subscribe", "exists device", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "allowed": True,
        "verb": "subscribe",
        "name": "fleet/7",
        "principal": "fleet",
        "roles": ["worker"],
        "role": "worker",
        "reason": "role worker allows a part of it",
        "narrowed": True,
    }


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["why", "pres-1", "FILE", "--admin", "viewer"], 1, "has the name pres-1, did you mean press-1?"),
        (["who", "FILE"], 2, "give one of --publish, --sees,"),
        (["who", "FILE", "--make", "a", "--group", "b"], 2, "--admin, not 2"),
        (["who", "FILE", "--publish", "kind"], 2, "expected `=` directly after the name"),
        (["who", "FILE", "--subscribe", "kind ="], 2, "expected a value"),
        (["who", "FILE", "--admin", "root"], 2, "is not one of 'viewer', 'operator', 'admin'"),
        (["check", "nowhere.yaml"], 2, "does not exist"),
    ],
)
def test_misuse(rules: str, words: list[str], code: int, said: str, capsys) -> None:
    assert main(["access", *(word.replace("FILE", rules) for word in words)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_a_new_token_is_printed_once_with_its_digest(tmp_path: Path, capsys) -> None:
    assert main(["token", "new", "press-1"]) == 0
    first, line = capsys.readouterr().out.splitlines()
    token = first.removeprefix("token of press-1, shown only now: ")
    assert len(token) == 43
    principal = line.removeprefix("line for `principals` of the rules: ")
    path = tmp_path / "rules.yaml"
    path.write_text(f"roles: {{}}\nprincipals:\n  {principal}\n")
    path.chmod(0o600)
    principals = load_access(path).rules.principals
    assert principals.shows("press-1", token.encode())
    assert not principals.shows("press-1", token[:-1].encode())


@pytest.mark.parametrize("name", ["a b", "köln", "no", "7", "x: y", "fleet/1"])
def test_the_line_of_a_new_token_is_yaml_for_any_name(name: str, tmp_path: Path, capsys) -> None:
    assert main(["token", "new", name]) == 0
    line = capsys.readouterr().out.splitlines()[1].removeprefix("line for `principals` of the rules: ")
    path = tmp_path / "rules.yaml"
    path.write_text(f"roles: {{}}\nprincipals:\n  {line}\n", encoding="utf-8")
    path.chmod(0o600)
    assert [each for each, _ in load_access(path).rules.lines()] == [name]


def test_a_new_token_as_json_and_of_no_name(capsys) -> None:
    assert main(["token", "new", "press-1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["digest"] == f"sha256:{hashlib.sha256(told['token'].encode()).hexdigest()}"
    assert main(["token", "new", "press-1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["token"] != told["token"]
    assert main(["token", "new", "press\n1"]) == 2
    assert "a control character" in capsys.readouterr().err


@pytest.mark.parametrize("written", ["rules.yaml", "{roles: {a: {publish: 'kind ='}}}"])
@pytest.mark.parametrize(
    ("words", "code"),
    [(["check"], 1), (["check", "--text-only"], 1), (["up"], 1), (["router", "--id", "a", "--topology"], 2)],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_mistakes_of_rules_are_mistakes_of_the_topology_that_has_them(
    words: list[str], code: int, written: str, tmp_path: Path, capsys
) -> None:
    net = tmp_path / "net.yaml"
    rules = tmp_path / "rules.yaml"
    rules.write_text("{roles: {a: {publish: 'kind ='}}}")
    rules.chmod(0o640)
    net.write_text(f"routers: {{a: {{clients: 127.0.0.1:0}}}}\naccess: {written}\n")
    is_read = "--text-only" not in words or written != "rules.yaml"
    assert main([*words, str(net)]) == (code if is_read else 0)
    said = capsys.readouterr().err
    if not is_read:
        return
    assert "roles.a.publish: is no predicate" in said
    assert ("rules.yaml:1:" in said) is (written == "rules.yaml")
