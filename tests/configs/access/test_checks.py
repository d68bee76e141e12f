"""Warnings about rules that are valid: each at its place, with the rules that a careful author writes beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tamis.configs.access.load import load_access, parse_access
from tamis.protocol.access.rule import compile_rule
from tamis.protocol.access.witness import witness
from tamis.protocol.evaluate import filter_matches
from tamis.protocol.language import parse
from tamis.protocol.message_text import parse_message_text

D = "'sha256:" + "0" * 64 + "'"


def rules(roles: str, principals: str = "") -> str:
    return f"roles:\n{roles}\nprincipals: {{p: {{roles: [a], token: {D}}}, {principals}}}\n"


def warned(roles: str, principals: str = "") -> list[str]:
    found = parse_access(rules(roles, principals), "r").warnings
    return [line.removeprefix("r:") for line in found]


LEFT_OUT = "is passed without class"
MENDED = "is allowed; stamp class, or let each rule that publishes list its values, as in `class in {...}`"
WARNED = [
    # nothing satisfies it
    ("  a: {publish: 'false'}", "2:16: roles.a.publish: allows no message"),
    (
        "  a: {publish: {allow: 'kind = 1', deny: 'exists kind'}}",
        "2:24: roles.a.publish.allow: no message satisfies `kind = 1`: `exists kind` denies all of it",
    ),
    (
        "  a: {publish: 'kind = 1 or kind = 2', stamp: {kind: 2}}",
        "2:16: roles.a.publish: no message satisfies `kind = 1`: kind is stamped kind=2",
    ),
    (
        "  a: {subscribe: 'kind = \"${name}\" and kind = 3'}",
        (
            '2:18: roles.a.subscribe: no message satisfies `kind = "${name}" and kind = 3`: '
            'kind = "some-name" and kind = 3 can never both hold'
        ),
    ),
    # covered
    (
        "  a: {subscribe: 'kind = 1 or kind > 0'}",
        "2:18: roles.a.subscribe: `kind = 1` is needless: `kind > 0` covers it",
    ),
    (
        "  a: {subscribe: 'kind = 1'}\n  b: {subscribe: 'exists kind'}",
        "2:18: roles.a.subscribe: is needless: role b covers it, and all who have a have it",
    ),
    # slips
    (
        "  a: {subscribe: {allow: 'kind = 1', deny: 'class = \"secret\"'}}",
        f"2:44: roles.a.subscribe.deny: {LEFT_OUT}: `kind=1` {MENDED}",
    ),
    (
        "  a: {subscribe: {allow: 'true', deny: 'class = \"secret\"'}}",
        f"2:40: roles.a.subscribe.deny: {LEFT_OUT}: a message without attributes {MENDED}",
    ),
    (
        "  a: {replay: {allow: 'true', deny: 'kind = 1 and class in {1, 2} and not exists kind2'}}",
        f"2:37: roles.a.replay.deny: {LEFT_OUT}: `kind=1` {MENDED}",
    ),
    (
        "  a: {publish: 'kind = 1 and not (class = \"secret\")'}",
        f"2:16: roles.a.publish: {LEFT_OUT}: `kind=1` {MENDED}",
    ),
    (
        "  a: {subscribe: {allow: 'exists class', deny: 'class = \"secret\"'}, publish: 'exists class'}",
        f"2:48: roles.a.subscribe.deny: is passed with class of another kind: `class=1` {MENDED}",
    ),
    # names
    ("  a: {consume: 'x-*'}", "2:16: roles.a.consume: no role makes durable subscriptions called x-*"),
    (
        "  a: {inspect: [y, '*'], durable: {names: 'x-*'}}",
        "2:16: roles.a.inspect: no role makes durable subscriptions called y",
    ),
    ("  a: {remove: 'x'}", "2:15: roles.a.remove: no role makes durable subscriptions called x"),
]


@pytest.mark.parametrize(("roles", "line"), WARNED)
def test_what_is_doubtful_is_told(roles: str, line: str) -> None:
    principals = f"q: {{roles: [a, b], token: {D}}}" if "  b:" in roles else ""
    text = rules(roles, principals).replace("[a], token", "[a, b], token", 1) if principals else rules(roles)
    found = [each.removeprefix("r:") for each in parse_access(text, "r").warnings]
    assert line in found
    assert len(found) == 1 or "kind = 1 and class in" in roles, found


SOUND = [
    "  a: {publish: 'kind = 1'}",
    "  a: {subscribe: {allow: 'true', deny: 'class = \"secret\"'}, publish: 'class in {\"open\", \"secret\"}'}",
    "  a: {publish: {allow: 'class in {1, 2}', deny: 'class = 2 and kind = 1 and exists kind'}, stamp: {kind: 1}}",
    "  a: {subscribe: {allow: 'true', deny: 'class = \"secret\"'}, publish: 'kind = 1', stamp: {class: open}}",
    "  a: {subscribe: {allow: 'true', deny: 'exists salary'}}",
    "  a: {subscribe: {allow: 'true', deny: 'not exists class'}}",
    "  a: {publish: 'class != \"secret\"'}",
    "  a: {publish: 'exists class and not (class = \"secret\")'}",
    "  a: {publish: 'device = \"press-7\"', stamp: {device: '${name}'}}",
    '  a: {subscribe: \'device = "${name}" and device = "x"\'}',
    "  a: {consume: '${name}-*', durable: {names: 'x-*'}}",
    "  a: {subscribe: 'kind = 1'}\n  b: {subscribe: 'exists kind'}",
]


@pytest.mark.parametrize("roles", SOUND)
def test_what_is_meant_is_not(roles: str) -> None:
    assert warned(roles) == []


def test_a_role_that_only_denies_is_judged_with_the_roles_beside_it() -> None:
    text = rules("  a: {subscribe: 'true'}\n  b: {subscribe: {deny: 'class = \"secret\"'}}")
    for principals in ("roles: [b]", "roles: [a, b]"):
        found = parse_access(text.replace("{p:", f"{{q: {{{principals}, token: {D}}}, p:"), "r").warnings
        assert len(found) == (principals == "roles: [a, b]")


def test_of_two_roles_that_allow_alike_one_is_needless() -> None:
    text = rules("  a: {subscribe: 'kind = 1'}\n  b: {subscribe: 'kind in {1}'}").replace("[a]", "[a, b]")
    assert parse_access(text, "r").warnings == (
        "r:3:18: roles.b.subscribe: is needless: role a covers it, and all who have b have it",
    )


def test_a_principal_without_a_role_is_told(tmp_path: Path) -> None:
    assert warned("  a: {}", f"q: {{token: {D}}}") == ["3:113: principals.q: a principal without a role may do nothing"]
    (tmp_path / "p.txt").write_text(f"# devices\nx a {D[1:-1]}\ny - {D[1:-1]}\n")
    path = tmp_path / "rules.yaml"
    path.write_text("roles: {a: {}}\nprincipals_file: p.txt\n")
    for file in (path, tmp_path / "p.txt"):
        file.chmod(0o600)
    assert load_access(path).warnings == (f"{tmp_path}/p.txt:3:1: a principal without a role may do nothing",)


@pytest.mark.parametrize(
    "roles", [text for text, line in WARNED if LEFT_OUT in line and "without attributes" not in line]
)
def test_the_message_that_slips_through_does(roles: str) -> None:
    """Judged here by the predicates of the file alone."""
    [line] = [each for each in warned(roles) if LEFT_OUT in each][:1]
    message = parse_message_text(re.search(r": `(.*?)` is allowed", line)[1])
    rights = parse_access(rules(roles)).rules.of("p").rights
    what = re.search(r"roles\.a\.(\w+)", line)[1]
    ask = {"publish": rights.publish, "subscribe": rights.sees, "replay": rights.sees_again}[what]
    assert ask("p", message)
    assert "class" not in message
    assert not ask("p", message | {"class": "secret" if what != "replay" else 1})


@pytest.mark.parametrize(
    "text",
    [
        *("a = 1 and b > 2", 'a prefix "x" and a contains "yy" and a suffix "z"', "not exists a", "exists a"),
        *("a > 2 and a < 3", 'a != "x" and not (b = 1)', 'a between "b" and "c"', "a = true", 'not (a prefix "")'),
    ],
)
def test_an_example_satisfies_what_it_is_for(text: str) -> None:
    [filter_] = parse(text).filters
    found = witness(filter_.constraints)
    assert found is not None
    assert filter_matches(filter_, found)


def test_no_example_is_given_of_what_nothing_satisfies() -> None:
    [filter_] = compile_rule('a = "${name}" and a = "x"').predicate.filters
    assert witness(filter_.constraints) is None
