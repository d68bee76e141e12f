"""Names to principals: exact lines, sub-names by segments, certificates; tokens; bytes of a table."""

from __future__ import annotations

import hashlib
import random

import pytest

from tamis.protocol.access.principals import Certificates, PrincipalLine, PrincipalTable
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AccessRole
from tamis.protocol.access.rules import AccessMode, AccessRules, Classes
from tamis.protocol.errors import Refused


def digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


TABLE = PrincipalTable(
    [
        PrincipalLine(b"fleet", 0, digest(b"one") + digest(b"two")),
        PrincipalLine(b"a/b", 1, digest(b"ab")),
        PrincipalLine(b"a", 2, digest(b"a")),
        PrincipalLine("köln".encode(), 3, digest(b"k")),
    ]
)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        *(
            ("fleet", "fleet"),
            ("fleet/1", "fleet"),
            ("fleet/1/x", "fleet"),
            ("a/b/c", "a/b"),
            ("a/c", "a"),
            ("a/", "a"),
        ),
        *(("fleet2", None), ("fleet2/1", None), ("flee", None), ("", None), ("/fleet", None), ("köln/1", "köln")),
        *(("b", None), ("a/bc", "a"), ("zz", None)),
    ],
)
def test_the_principal_of_a_name(name: str, line: str | None) -> None:
    found = TABLE.resolve(name)
    assert (found and found[0]) == line


def test_both_tokens_of_a_line_are_taken_and_no_other() -> None:
    for name in ("fleet", "fleet/7"):
        assert TABLE.shows(name, b"one")
        assert TABLE.shows(name, b"two")
        assert not TABLE.shows(name, b"a")
        assert not TABLE.shows(name, b"")
    assert not TABLE.shows("nobody", b"one")
    assert not TABLE.shows("nobody", b"")
    assert not TABLE.shows("a/b", b"a"), "an exact line needs its own token"


def test_a_table_of_any_order_is_sorted() -> None:
    rng = random.Random(3)
    names = [f"n{at:04}" for at in range(500)]
    mixed = rng.sample(names, len(names))
    table = PrincipalTable(PrincipalLine(name.encode(), int(name[1:]) % 64, digest(name.encode())) for name in mixed)
    assert [name for name, _ in table] == names
    assert all(table.resolve(name) == (name, int(name[1:]) % 64) and table.shows(name, name.encode()) for name in names)
    assert list(table.repeated()) == []


def test_names_that_are_written_twice_are_told() -> None:
    table = PrincipalTable([PrincipalLine(b"b", 1), PrincipalLine(b"a", 0), PrincipalLine(b"b", 0)])
    assert list(table.repeated()) == [b"b"]


def test_an_empty_table_knows_no_name() -> None:
    assert PrincipalTable([]).resolve("a") is None
    assert not PrincipalTable([]).shows("a", b"a")


CERTIFICATES = Certificates(
    [("press.plant.example", 0), ("*.plant.example", 1), ("spiffe://plant.example/*/press", 2), ("a.*.example", 3)]
)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("press.plant.example", "press.plant.example"),
        ("saw.plant.example", "*.plant.example"),
        ("a.plant.example", "*.plant.example"),
        ("a.hall.example", "a.*.example"),
        ("x.saw.plant.example", None),
        (".plant.example", None),
        ("plant.example", None),
        ("*.plant.example", None),
        ("spiffe://plant.example/hall-2/press", "spiffe://plant.example/*/press"),
        ("spiffe://plant.example/hall/2/press", None),
    ],
)
def test_a_star_stands_for_one_label(name: str, line: str | None) -> None:
    found = CERTIFICATES.resolve(name)
    assert (found and found[0]) == line


def test_a_class_is_a_set_of_roles() -> None:
    classes = Classes({name: AccessRole(name) for name in "abc"})
    assert classes.number("ab") == classes.number("ba") == classes.number("aab") == 0
    assert classes.number("a") == 1
    assert classes.number("") == 2
    assert [rights.names for rights in classes.rights] == [("a", "b"), ("a",), ()]


def test_classes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.protocol.access.rules.CLASSES_MAX", 2)
    classes = Classes({name: AccessRole(name) for name in "abc"})
    assert (classes.number("a"), classes.number("b"), classes.number("a")) == (0, 1, 0)
    with pytest.raises(Refused, match="at most 2 different sets of roles"):
        classes.number("c")


def test_a_fleet_is_one_class_and_a_stranger_has_none() -> None:
    classes = Classes({"a": AccessRole("a")})
    table = PrincipalTable([PrincipalLine(b"fleet", classes.number("a"), digest(b"t"))])
    rules = AccessRules(AccessMode.ENFORCE, {}, classes, table, Certificates([]))
    found = {id(principal.rights) for at in range(1_000) if (principal := rules.of(f"fleet/device-{at}"))}
    assert len(found) == 1
    assert rules.of("stranger") is None
    assert isinstance(classes.rights[0], ClassRights)
