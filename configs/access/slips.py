"""Denials that slip: messages that pass a denial, or a negated constraint, because they lack an attribute or have it of
another kind.

Law: a message that is told is allowed by the rules of principals that there are. An attribute is sure to be there if it
is stamped, or if each rule that lets a message in demands it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tamis.configs.mistakes import Path, Problem
from tamis.protocol.access.decision import Decision
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AccessRole, Permission
from tamis.protocol.access.rule import AccessRule, bound_filter
from tamis.protocol.access.rules import AccessRules
from tamis.protocol.access.witness import witness
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.language.literals import write_name
from tamis.protocol.message_text import format_attributes
from tamis.protocol.values import Value, ValueKind, kind_of

CLASSES_TRIED_MAX: Final = 64
"""Classes of principals for which a message that slips through is searched."""
_SOME_NAME: Final = "some-name"

Message = dict[str, Value]


def slips(path: Path, what: str, role: AccessRole, held: list[ClassRights], rules: AccessRules) -> Iterator[Problem]:
    permission: Permission = getattr(role, what)
    for filter_ in permission.deny.predicate.filters if permission.deny is not None else ():
        for constraint in filter_.constraints:
            if constraint.op is not Op.EXISTS:
                yield from _told((*path, "deny"), constraint, _past_denial(what, held, rules, filter_, constraint))
    for filter_ in permission.allow.predicate.filters if permission.allow is not None else ():
        for constraint in filter_.constraints:
            if _is_open(constraint, filter_):
                yield from _told((*path, "allow"), constraint, _past_negation(what, held, rules, filter_, constraint))


def _is_open(constraint: Constraint, filter_: Filter) -> bool:
    """Return whether a constraint excludes values of an attribute that the alternative does not demand."""
    demanded = any(each.name == constraint.name and not each.negated for each in filter_.constraints)
    return constraint.negated and constraint.op is not Op.EXISTS and not demanded


def _past_denial(
    what: str, held: list[ClassRights], rules: AccessRules, denied: Filter, constraint: Constraint
) -> Message | None:
    """Return a message that is allowed, and would be denied with another value of one attribute, which it lacks or has
    of another kind; None if none is found."""
    other = "x" if kind_of(constraint.operands[0]) is not ValueKind.STRING else 1
    for rights in held[:CLASSES_TRIED_MAX]:
        if _is_sure(constraint.name, what, rights, rules, by_kind=True):
            continue
        for filter_ in _allowed_by(rights, what):
            both = _constraints(filter_, denied)
            message = witness(each for each in both if each.name != constraint.name)
            if message is None or witness(both) is None:
                continue
            for tried in (message, message | {constraint.name: other}):
                if _decision(what, rights, tried):
                    return tried
    return None


def _past_negation(
    what: str, held: list[ClassRights], rules: AccessRules, filter_: Filter, constraint: Constraint
) -> Message | None:
    """Return a message that is allowed because it lacks the attribute of a negated constraint; None if none is
    found."""
    others = Filter(tuple(each for each in filter_.constraints if each.name != constraint.name))
    message = witness(_constraints(others))
    for rights in held[:CLASSES_TRIED_MAX] if message is not None else ():
        if not _is_sure(constraint.name, what, rights, rules, by_kind=False) and _decision(what, rights, message or {}):
            return message
    return None


def _is_sure(attribute: str, what: str, rights: ClassRights, rules: AccessRules, *, by_kind: bool) -> bool:
    """Return whether each message has the attribute, and `by_kind` a value of a kind that a rule names: the messages of
    this class at the door, those of all roles at a hand."""
    if what == "publish" and attribute in rights.stamp:
        return True
    publishers: Iterable[AccessRole] = rights.roles if what == "publish" else rules.roles.values()
    allows = [(role, role.publish.allow) for role in publishers if role.publish.allow is not None]
    return bool(allows) and all(
        attribute in role.stamp or _demands(allow, attribute, by_kind) for role, allow in allows
    )


def _demands(rule: AccessRule, attribute: str, by_kind: bool) -> bool:
    """Return whether each alternative of a rule has a constraint that demands the attribute."""

    def is_demand(constraint: Constraint) -> bool:
        is_of_it = constraint.name == attribute and not constraint.negated
        return is_of_it and not (by_kind and constraint.op is Op.EXISTS)

    return all(any(map(is_demand, filter_.constraints)) for filter_ in rule.predicate.filters)


def _allowed_by(rights: ClassRights, what: str) -> Iterator[Filter]:
    for role in rights.roles:
        allow = getattr(role, what).allow
        yield from allow.predicate.filters if allow is not None else ()


def _constraints(*filters: Filter) -> list[Constraint]:
    return [each for filter_ in filters for each in bound_filter(filter_, _SOME_NAME).constraints]


def _decision(what: str, rights: ClassRights, message: Message) -> Decision:
    if what == "publish":
        return rights.publish(_SOME_NAME, {name: value for name, value in message.items() if name not in rights.stamp})
    ask = rights.sees_again if what == "replay" else rights.sees
    return ask(_SOME_NAME, message)


def _told(path: Path, constraint: Constraint, message: Message | None) -> Iterator[Problem]:
    if message is None:
        return
    name = write_name(constraint.name)
    how = f"with {name} of another kind" if constraint.name in message else f"without {name}"
    passes = f"`{format_attributes(message)}`" if message else "a message without attributes"
    advice = f"stamp {name}, or let each rule that publishes list its values, as in `{name} in {{...}}`"
    yield Problem(path, f"is passed {how}: {passes} is allowed; {advice}")
