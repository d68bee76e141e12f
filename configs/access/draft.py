"""A draft of rules that allows what is seen in a network now, for a person to narrow.

Law: the draft is valid. It allows each principal what its clients hold, and to publish anything, because what a client
publishes leaves no trace in a router; its mode is `observe`, so that nothing is refused before it has been read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tamis.configs.access.section import ROLES_MAX
from tamis.configs.access.values import PATTERNS_MAX
from tamis.protocol.access.principals import SUB_NAMES_BEGIN
from tamis.protocol.limits import DISJUNCTS_MAX

_NO_ROLE: Final = re.compile(r"[^A-Za-z0-9._-]")
_HEAD: Final = """\
# A draft, from what was connected when it was made. It refuses nothing until `mode` is `enforce`.
# `publish: true` is not observed: say what each role publishes.
mode: observe
"""


@dataclass
class Seen:
    """What clients of one principal hold. `digests`: of its tokens."""

    digests: list[str] = field(default_factory=list)
    filters: set[str] = field(default_factory=set)
    asks: bool = False
    """Whether it waits for answers to questions."""
    groups: set[str] = field(default_factory=set)
    durables: dict[str, set[str]] = field(default_factory=dict)
    """Names of durable subscriptions, with their filters."""

    @property
    def rights(self) -> tuple[object, ...]:
        wanted = (tuple(sorted(filters)) for _, filters in sorted(self.durables.items()))
        held = tuple(sorted(self.filters)), tuple(sorted(self.groups))
        return *held, self.asks, tuple(sorted(self.durables)), tuple(wanted)


def line_of(name: str) -> str:
    """Return the name of the principal for a client: what stands before the first `/`."""
    return name.partition(SUB_NAMES_BEGIN)[0] or name


def draft(seen: Mapping[str, Seen]) -> str:
    """Return the text of rules for these principals, which have a digest each. Principals that hold equal filters,
    groups and durable subscriptions have one role."""
    by_rights: dict[tuple[object, ...], list[str]] = {}
    for line in sorted(seen):
        by_rights.setdefault(seen[line].rights, []).append(line)
    if len(by_rights) > ROLES_MAX:  # what they hold in common is for a person to find
        by_rights = {(): sorted(seen)}
    roles: dict[str, str] = {}
    parts = ["roles:"] if seen else ["roles: {}"]
    for lines in by_rights.values():
        role = _role_name(lines, roles.values())
        roles |= dict.fromkeys(lines, role)
        parts += [f"  {_text(role)}:", "    publish: true"]
        parts += _rights(seen[lines[0]]) if len(by_rights) > 1 or len(lines) == 1 else _rights(_all(seen, lines))
    parts += ["principals:"] if seen else ["principals: {}"]
    for line in sorted(seen):
        tokens = ", ".join(f"'{digest}'" for digest in seen[line].digests)
        shown = f"[{tokens}]" if len(seen[line].digests) > 1 else tokens
        parts.append(f"  {_text(line)}: {{roles: {_text(roles[line])}, token: {shown}}}")
    return _HEAD + "\n".join(parts) + "\n"


def _all(seen: Mapping[str, Seen], lines: list[str]) -> Seen:
    found = Seen()
    for line in lines:
        found.filters |= seen[line].filters
        found.groups |= seen[line].groups
        found.asks |= seen[line].asks
        found.durables |= seen[line].durables
    return found


def _rights(seen: Seen) -> Iterator[str]:
    if seen.filters:
        yield f"    subscribe: {_predicate(seen.filters)}"
    if seen.asks:
        yield "    requests: true"
    if seen.groups:
        yield f"    groups: {_names(seen.groups)}"
    if seen.durables:
        wanted = {each for filters in seen.durables.values() for each in filters}
        yield f"    durable: {{names: {_names(set(seen.durables))}, of: {_predicate(wanted)}}}"


def _predicate(filters: set[str]) -> str:
    """Return a predicate of all filters; of too many the predicate that is always true."""
    return _text(" or ".join(sorted(filters))) if 0 < len(filters) <= DISJUNCTS_MAX else "true"


def _names(names: set[str]) -> str:
    """Return names as a list; too many, and such as a pattern cannot say, as the pattern of all."""
    is_sayable = len(names) <= PATTERNS_MAX and not any("*" in name or "${" in name for name in names)
    return "[" + ", ".join(map(_text, sorted(names))) + "]" if is_sayable else "'*'"


def _role_name(lines: list[str], taken: Collection[str]) -> str:
    plain = _NO_ROLE.sub("-", lines[0]).lstrip(".-")[:48] or "role"
    name = first = plain if len(lines) == 1 else f"like-{plain}"
    number = 1
    while name in taken:
        number += 1
        name = f"{first}-{number}"
    return name


def _text(text: str) -> str:
    """Return text in double quotes, which YAML reads as JSON does."""
    return json.dumps(text, ensure_ascii=False)
