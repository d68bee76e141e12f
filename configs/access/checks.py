"""Warnings about rules that are valid, and probably not what their author means.

    nothing satisfies   an alternative that stamps or denials leave no message
    covered             an alternative, or a role's rule, that another one makes needless
    slips               a denial that a message passes that lacks an attribute, or has it of another kind
    no role             a principal that may do nothing
    no owner            a pattern of durable subscriptions that no role makes

Law: a warning is about a path of the file, and a message that it prints is judged by the rules before it is printed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tamis.configs.access.slips import slips
from tamis.configs.mistakes import Path, Problem
from tamis.protocol.access.patterns import NamePattern
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AccessRole, Permission
from tamis.protocol.access.rule import NAME, AccessRule, bound_filter
from tamis.protocol.access.rules import AccessRules
from tamis.protocol.covering.covers import covers, predicate_covers
from tamis.protocol.errors import NeverMatches
from tamis.protocol.evaluate import constraint_holds
from tamis.protocol.filters import Filter
from tamis.protocol.language.format import format_filter
from tamis.protocol.language.literals import write_name
from tamis.protocol.message_text import format_attributes
from tamis.protocol.normal import normalize

_PERMISSIONS = ("publish", "subscribe", "replay")
_SOME_NAME = "some-name"


def warnings(rules: AccessRules) -> Iterator[Problem]:
    """Yield a problem for each doubtful part of the roles."""
    for role in rules.roles.values():
        held = [rights for rights in rules.classes.rights if role.name in rights.names]
        for what in _PERMISSIONS:
            path: Path = ("roles", role.name, what)
            permission: Permission = getattr(role, what)
            yield from _vain(path, role, permission)
            yield from _covered((*path, "allow"), permission.allow)
            yield from _covered_by_others(path, what, role, held)
            yield from slips(path, what, role, held or [ClassRights([role])], rules)
        yield from _not_made(role, rules)


# --- what nothing satisfies ------------------------------------------------------------------------------------------


def _vain(path: Path, role: AccessRole, permission: Permission) -> Iterator[Problem]:
    if permission.allow is None:
        return
    if not permission.allow.predicate.filters:
        yield Problem((*path, "allow"), "allows no message")
    for filter_ in permission.allow.predicate.filters:
        reason = _why_never(filter_, role if path[-1] == "publish" else None, permission.deny)
        if reason:
            yield Problem((*path, "allow"), f"no message satisfies `{format_filter(filter_)}`: {reason}")


def _why_never(filter_: Filter, role: AccessRole | None, deny: AccessRule | None) -> str:
    """Return why no message of any client passes an alternative; "" if one may. `role`: whose stamps apply."""
    names = {value for each in filter_.constraints for value in each.operands if isinstance(value, str)}
    found = [_why_not(bound_filter(filter_, own), own, role, deny) for own in (*sorted(names - {NAME}), _SOME_NAME)]
    return found[-1] if all(found) else ""


def _why_not(filter_: Filter, own: str, role: AccessRole | None, deny: AccessRule | None) -> str:
    try:
        normalize(filter_)
    except NeverMatches as error:
        return str(error)
    for name, value in role.stamp.items() if role is not None else ():
        stamped = {name: own if value == NAME else value}
        if not all(constraint_holds(each, stamped) for each in filter_.constraints if each.name == name):
            return f"{write_name(name)} is stamped {format_attributes(stamped)}"
    denied = deny.bound(own).filters if deny is not None else ()
    wide = next((each for each in denied if covers(each, filter_)), None)
    return "" if wide is None else f"`{format_filter(wide)}` denies all of it"


# --- what is covered -------------------------------------------------------------------------------------------------


def _covered(path: Path, rule: AccessRule | None) -> Iterator[Problem]:
    filters = rule.predicate.filters if rule is not None else ()
    for at, narrow in enumerate(filters):
        for wide in (*filters[:at], *filters[at + 1 :]):
            if covers(wide, narrow):
                yield Problem(path, f"`{format_filter(narrow)}` is needless: `{format_filter(wide)}` covers it")
                break


def _covered_by_others(path: Path, what: str, role: AccessRole, held: list[ClassRights]) -> Iterator[Problem]:
    """Yield a problem if each principal that has the role has another one that allows all that it does."""
    allow = getattr(role, what).allow
    if allow is None or not allow.predicate.filters or not held:
        return
    wider = set.intersection(*({each.name for each in rights.roles if _is_wider(each, role, what)} for rights in held))
    if wider:
        other = min(wider)
        yield Problem((*path, "allow"), f"is needless: role {other} covers it, and all who have {role.name} have it")


def _is_wider(other: AccessRole, role: AccessRole, what: str) -> bool:
    wide, narrow = getattr(other, what).allow, getattr(role, what).allow
    if other.name == role.name or wide is None or not predicate_covers(wide.predicate, narrow.predicate):
        return False
    return other.name < role.name or not predicate_covers(narrow.predicate, wide.predicate)


# --- names -----------------------------------------------------------------------------------------------------------


def _not_made(role: AccessRole, rules: AccessRules) -> Iterator[Problem]:
    consumed = role.consume.names if role.consume is not None else ()
    made = [name for other in rules.roles.values() if other.durable is not None for name in other.durable.names]
    for key, patterns in (("consume", consumed), ("inspect", role.inspect), ("remove", role.remove)):
        for pattern in patterns:
            if not _is_made(pattern, made):
                what = f"no role makes durable subscriptions called {pattern.text}"
                yield Problem(("roles", role.name, key), what)


def _is_made(pattern: NamePattern, made: list[NamePattern]) -> bool:
    return any(pattern.may_share(other) for other in made)
