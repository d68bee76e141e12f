"""Conditions between the parts of the rules: roles exist, names with a star are proven by certificates, stamps agree.

Law: the input is the data of a file, whose malformed parts are skipped, since the models report them; all mistakes of a
file are thus reported together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tamis.configs.mistakes import WORD_CHARACTERS_MAX, Path, Problem, quoted
from tamis.protocol.nearest import did_you_mean

ROLES_SHOWN = 8
_STAR = "*"
_NO_STAR = "one star may stand for a whole label of the name of a certificate, as in *.plant.example"


def problems(section: object, routers: Collection[str]) -> Iterator[Problem]:
    """Yield all problems between the parts of a section. `routers`: the ids of routers, which no principal may have."""
    roles = _mapping(section, "roles")
    for name, principal in _mapping(section, "principals").items():
        path: Path = ("principals", name)
        yield from _names(path, name, principal, routers)
        yield from _unknown((*path, "roles"), _part(principal, "roles"), roles)
        yield from _stamps((*path, "roles"), _texts(_part(principal, "roles")), roles)
    for name, issuer in _mapping(section, "issuers").items():
        yield from _unknown(("issuers", name, "roles"), _part(issuer, "roles"), roles)
    tests = _part(section, "tests")
    for index, test in enumerate(tests if isinstance(tests, list) else ()):
        yield from _unknown(("tests", index, "roles"), _part(test, "roles"), roles)


def conflict(names: Collection[str], roles: Mapping[str, object]) -> str:
    """Return why these roles cannot be held together; "" if they can. `roles`: data of the file, by name."""
    stamped: dict[str, tuple[str, object]] = {}
    for name in names:
        for attribute, value in _mapping(roles.get(name), "stamp").items():
            other, before = stamped.setdefault(attribute, (name, value))
            if before != value:
                return f"roles {other} and {name} stamp {quoted(attribute)} with two values; a message gets one"
    return ""


def known_roles(name: str, roles: Collection[str]) -> str:
    """Return the end of a sentence about an unknown role: the one that may be meant, or some of those there are."""
    shown = [role for role in roles if len(role) <= WORD_CHARACTERS_MAX][:ROLES_SHOWN]
    more = f" and {len(roles) - len(shown)} more" if len(roles) > len(shown) else ""
    return did_you_mean(name, roles) or f"; the roles are {', '.join(shown) or 'none'}{more}"


def _names(path: Path, name: str, principal: object, routers: Collection[str]) -> Iterator[Problem]:
    if name in routers:
        yield Problem(path, "is the name of a router, which no client may have", at_key=True)
    if _STAR not in name:
        return
    if name == _STAR:
        yield Problem(path, f"every principal has a name of its own; {_NO_STAR}", at_key=True)
    elif name.count(_STAR) > 1 or _STAR not in _labels(name):
        yield Problem(path, _NO_STAR, at_key=True)
    elif _part(principal, "token") is not None:
        yield Problem((*path, "token"), "proves one name, and this is a pattern; only `certificate: true` proves it")


def _unknown(path: Path, written: object, roles: Collection[str]) -> Iterator[Problem]:
    for index, name in enumerate(_texts(written)):
        if name not in roles:
            at: Path = (*path, index) if isinstance(written, list) else path
            yield Problem(at, f"no role is called {quoted(name)}{known_roles(name, roles)}")


def _stamps(path: Path, names: Collection[str], roles: Mapping[str, object]) -> Iterator[Problem]:
    what = conflict(names, roles)
    if what:
        yield Problem(path, what)


def _labels(name: str) -> list[str]:
    return name.split("/") if "://" in name else name.split(".")


def _part(section: object, key: str) -> object:
    return section.get(key) if isinstance(section, Mapping) else None


def _mapping(section: object, key: str) -> Mapping[str, object]:
    found = _part(section, key)
    return found if isinstance(found, Mapping) else {}


def _texts(written: object) -> list[str]:
    if isinstance(written, str):
        return [written]
    return [each for each in written if isinstance(each, str)] if isinstance(written, list) else []
