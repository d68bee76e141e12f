"""A second opinion on rules, in another style: messages, names and requests are finite sets, and a rule is a set of
them, built from its disjunctive normal form by unions and intersections.

A set of messages is an integer with a bit for each. It shares no code with what it judges: it writes a file of rules as
text, and has its own picture of what that means.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, reduce
from operator import or_

NAMES = ("n1", "n2", "fleet/1", "fleet/1/x", "fleet/12", "fleet2", "fleet2/1", "fleetx/1", "n1/a", "n", "fleet")
"""Names of clients that ask."""
LINES = ("n1", "n2", "fleet", "fleet/1", "n1/a")
"""Names that may be principals."""
DURABLES = ("orders-1", "orders-2", "orders", "bills", "n1", "n1-x", "fleet/1-x", "n2-x")
PATTERNS = ("orders-*", "orders-1", "*", "bills", "${name}-*", "${name}", "orders*")
ATTRIBUTES = ("kind", "plant", "device")
OPERANDS = ("a", "b", "c", "n1", 1, 2, True, "${name}")
AGES = (0, 50, 200)


def _tagged(value: object) -> tuple[str, object]:
    return type(value).__name__, value


@cache
def world(own: str) -> list[dict[str, object]]:
    """Each message: every operand for the client `own` and one other value of each kind occur; None is an absent
    attribute."""
    named = own if own not in OPERANDS else "another"
    values = (None, "a", "b", "c", "n1", "other", named, 1, 2, 3, True, False)
    return [dict(zip(ATTRIBUTES, chosen, strict=True)) for chosen in itertools.product(values, repeat=3)]


@cache
def numbers(own: str) -> dict[tuple[object, ...], int]:
    return {tuple(map(_tagged, message.values())): number for number, message in enumerate(world(own))}


COUNT = len(world(""))
EVERY = (1 << COUNT) - 1


def has(messages: int, number: int) -> bool:
    return bool(messages >> number & 1)


def union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def as_attributes(number: int, own: str) -> dict[str, object]:
    return {name: value for name, value in world(own)[number].items() if value is not None}


# --- predicates: text, and the set of messages ------------------------------------------------------------------------


@dataclass(frozen=True)
class Atom:
    attribute: str
    op: str
    operands: tuple[object, ...] = ()

    @property
    def text(self) -> str:
        if self.op == "exists":
            return f"exists {self.attribute}"
        written = [json.dumps(each) for each in self.operands]
        operand = "{" + ", ".join(written) + "}" if self.op == "in" else written[0]
        return f"{self.attribute} {self.op} {operand}"

    def messages(self, own: str) -> int:
        """The messages that satisfy it, for a client with this name."""
        found = _KNOWN.get((self.text, own))
        if found is None:
            found = _KNOWN[self.text, own] = union(1 << number for number in self._numbers(own))
        return found

    def _numbers(self, own: str) -> Iterator[int]:
        wanted = [_tagged(own if each == "${name}" else each) for each in self.operands]
        for number, message in enumerate(world(own)):
            value = _tagged(message[self.attribute])
            is_other = self.op == "!=" and value[0] == wanted[0][0] and value != wanted[0]
            is_wanted = self.op in ("=", "in") and value in wanted
            if value[1] is not None and (self.op == "exists" or is_wanted or is_other):
                yield number


_KNOWN: dict[tuple[str, str], int] = {}
_FOUND: dict[tuple[str, str, bool], list[int]] = {}
FOUND_MAX = 1_000


@dataclass(frozen=True)
class Tree:
    """A predicate: an atom, or `and`, `or`, `not` of others."""

    op: str
    parts: tuple[object, ...]

    @property
    def text(self) -> str:
        inner = [part.text for part in self.parts]
        return f"not ({inner[0]})" if self.op == "not" else "(" + f" {self.op} ".join(inner) + ")"


def dnf(tree: Atom | Tree, sign: bool = True) -> list[list[tuple[Atom, bool]]]:
    """Conjunctions of atoms with their signs."""
    if isinstance(tree, Atom):
        return [[(tree, sign)]]
    if tree.op == "not":
        return dnf(tree.parts[0], not sign)
    inner = [dnf(part, sign) for part in tree.parts]
    if (tree.op == "or") is sign:
        return [each for part in inner for each in part]
    return [[atom for part in choice for atom in part] for choice in itertools.product(*inner)]


def apart(tree: Atom | Tree) -> Atom | Tree:
    """A rule, in which `${name}` in a list is an alternative of its own."""
    if isinstance(tree, Tree):
        return Tree(tree.op, tuple(map(apart, tree.parts)))
    others = tuple(each for each in tree.operands if each != "${name}")
    if tree.op != "in" or len(others) == len(tree.operands):
        return tree
    own = Atom(tree.attribute, "=", ("${name}",))
    return Tree("or", (own, Atom(tree.attribute, "in", others))) if others else own


def conjunctions(tree: Atom | Tree, own: str, *, is_rule: bool = False) -> list[int]:
    found = _FOUND.get((tree.text, own, is_rule))  # by the text: to Python `x = 1` and `x = true` are equal trees
    if found is None:
        if len(_FOUND) >= FOUND_MAX:
            _FOUND.clear()
        found = _FOUND[tree.text, own, is_rule] = []
        for conjunction in dnf(apart(tree) if is_rule else tree):
            messages = EVERY
            for atom, sign in conjunction:
                messages &= atom.messages(own) if sign else EVERY & ~atom.messages(own)
            found.append(messages)
    return found


def messages_of(tree: Atom | Tree | None, own: str) -> int:
    return union(conjunctions(tree, own)) if tree is not None else 0


def some_tree(rng: random.Random, depth: int = 2) -> Atom | Tree:
    if depth == 0 or rng.random() < 0.4:
        op = rng.choice(("=", "=", "!=", "in", "exists"))
        count = {"exists": 0, "in": rng.randint(1, 3)}.get(op, 1)
        return Atom(rng.choice(ATTRIBUTES), op, tuple(dict.fromkeys(rng.choices(OPERANDS, k=count))))
    op = rng.choice(("and", "and", "or", "not"))
    parts = 1 if op == "not" else rng.randint(2, 3)
    return Tree(op, tuple(some_tree(rng, depth - 1) for _ in range(parts)))


def possible_tree(rng: random.Random) -> Atom | Tree:
    """One that some message satisfies whatever `${name}` is; others are no predicates."""
    while True:
        tree = some_tree(rng)
        if all(messages_of(tree, own) for own in ("n1", "zz")):
            return tree


# --- roles --------------------------------------------------------------------------------------------------------


@dataclass
class Role:
    name: str
    allows: dict[str, Atom | Tree] = field(default_factory=dict)
    denies: dict[str, Atom | Tree] = field(default_factory=dict)
    stamp: dict[str, object] = field(default_factory=dict)
    since: int | None = None
    patterns: dict[str, list[str]] = field(default_factory=dict)
    skip: bool = False
    of: Atom | Tree | None = None
    bytes: int | None = None
    refuse: Atom | Tree | None = None
    admin: str | None = None

    def yaml(self) -> dict[str, object]:
        data: dict[str, object] = {}
        for what in ("publish", "subscribe", "replay"):
            parts = {"allow": self.allows.get(what), "deny": self.denies.get(what)}
            written = {key: tree.text for key, tree in parts.items() if tree is not None}
            if written:
                data[what] = written["allow"] if list(written) == ["allow"] else written
        for key in ("groups", "inspect", "remove"):
            if key in self.patterns:
                data[key] = self.patterns[key]
        if self.stamp:
            data["stamp"] = {name: _as_text(value) for name, value in self.stamp.items()}
        if self.since is not None:
            data["replay_since"] = self.since
        if "durable" in self.patterns:
            durable = {"names": self.patterns["durable"], "of": self.of and self.of.text, "bytes": self.bytes}
            durable["refuse"] = self.refuse and self.refuse.text
            data["durable"] = {key: value for key, value in durable.items() if value is not None}
        if "consume" in self.patterns:
            data["consume"] = {"names": self.patterns["consume"], "skip": self.skip}
        if self.admin:
            data["admin"] = self.admin
        return data


def _as_text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | int) else str(value)


def some_role(rng: random.Random, name: str, stamp: dict[str, object]) -> Role:
    role = Role(name)
    for what in ("publish", "subscribe", "replay"):
        if rng.random() < 0.6:
            role.allows[what] = possible_tree(rng)
        if rng.random() < 0.4:
            role.denies[what] = possible_tree(rng)
    for key in ("groups", "inspect", "remove", "durable", "consume"):
        if rng.random() < 0.4:
            role.patterns[key] = rng.sample(PATTERNS, rng.randint(1, 2))
    if rng.random() < 0.4:
        role.stamp = stamp
    if rng.random() < 0.4:
        role.since = 100
    role.skip = rng.random() < 0.5
    role.of = possible_tree(rng) if rng.random() < 0.5 else None
    role.bytes = 1000 if rng.random() < 0.3 else None
    role.refuse = possible_tree(rng) if rng.random() < 0.5 else None
    role.admin = rng.choice((None, None, "viewer", "operator", "admin"))
    return role


class World:
    """A random file of rules, and what it means."""

    def __init__(self, rng: random.Random) -> None:
        stamp = rng.choice(({"device": "${name}"}, {"plant": "c"}, {"device": "${name}", "kind": 1}))
        self.roles = {f"r{at}": some_role(rng, f"r{at}", stamp) for at in range(rng.randint(1, 4))}
        lines = rng.sample(LINES, rng.randint(2, len(LINES)))
        self.principals = {line: rng.sample(list(self.roles), rng.randint(0, len(self.roles))) for line in lines}

    def text(self, digest: str = "") -> str:
        """Return the file. `digest`: of the token of all principals; "" for one each."""
        principals = {
            line: {"roles": roles, "token": f"sha256:{digest or format(at, '064x')}"}
            for at, (line, roles) in enumerate(self.principals.items())
        }
        roles = {name: role.yaml() for name, role in self.roles.items()}
        return json.dumps({"roles": roles, "principals": principals})

    def roles_of(self, name: str) -> list[Role] | None:
        """The roles of the principal of a name."""
        line = self.line_of(name)
        return None if line is None else [self.roles[role] for role in sorted(self.principals[line])]

    def line_of(self, name: str) -> str | None:
        """The principal of a name: the most of its segments that are a line."""
        segments = name.split("/")
        lines = ("/".join(segments[:count]) for count in range(len(segments), 0, -1))
        return next((line for line in lines if line in self.principals), None)

    # --- sets of what is allowed --------------------------------------------------------------------------------

    def denied(self, roles: list[Role], own: str, *whats: str) -> int:
        trees = [role.denies[what] for role in roles for what in whats if what in role.denies]
        return union(messages_of(tree, own) for tree in trees)

    def may_publish(self, name: str, number: int) -> bool:
        """Whether a client may send a message, before its stamps."""
        roles = self.roles_of(name) or []
        stamp = {attribute: name if v == "${name}" else v for role in roles for attribute, v in role.stamp.items()}
        allowed = union(messages_of(role.allows.get("publish"), name) for role in roles)
        allowed &= ~self.denied(roles, name, "publish")
        stamped = self._stamped(number, name, stamp)
        return stamped is not None and has(allowed, stamped)

    @staticmethod
    def _stamped(number: int, own: str, stamp: dict[str, object]) -> int | None:
        """The number of a message with its stamps; None if it has one already."""
        message = world(own)[number]
        if any(message[attribute] is not None for attribute in stamp):
            return None
        return numbers(own)[tuple(map(_tagged, (message | stamp).values()))]

    def seen(self, name: str, durable: str = "") -> int:
        roles = self.roles_of(name) or []
        allowed = union(messages_of(role.allows.get("subscribe"), name) for role in roles)
        for role in roles:
            if durable and durable in named(role.patterns.get("durable", ()), name):
                allowed |= messages_of(role.of, name)
        return allowed & ~self.denied(roles, name, "subscribe")

    def seen_again(self, name: str, age: int) -> int:
        roles = self.roles_of(name) or []
        recent = [role for role in roles if role.since is None or role.since >= age]
        allowed = union(messages_of(role.allows.get("replay"), name) for role in recent)
        return allowed & ~self.denied(roles, name, "replay", "subscribe")

    def may_name(self, name: str, key: str, about: str) -> bool:
        return any(about in named(role.patterns.get(key, ()), name) for role in self.roles_of(name) or [])

    def may_join(self, name: str, group: str) -> bool:
        """Whether a client may be in a worker group, of any name."""
        patterns = [each for role in self.roles_of(name) or [] for each in role.patterns.get("groups", ())]
        return any(fnmatch.fnmatchcase(group, each.replace("${name}", name)) for each in patterns)

    def may_skip(self, name: str, about: str) -> bool:
        roles = self.roles_of(name) or []
        return any(role.skip and about in named(role.patterns.get("consume", ()), name) for role in roles)

    def subscribable(self, name: str, wanted: Atom | Tree, allows: list[Atom | Tree]) -> bool:
        """Whether some conjunction of what is wanted meets one of what is allowed, and no single denial has it all."""
        denied = [
            messages
            for role in self.roles_of(name) or []
            if "subscribe" in role.denies
            for messages in conjunctions(role.denies["subscribe"], name, is_rule=True)
        ]
        met = [
            mine & theirs
            for mine in conjunctions(wanted, name)
            for allow in allows
            for theirs in conjunctions(allow, name, is_rule=True)
        ]
        return any(both and not any(both & ~each == 0 for each in denied) for both in met)

    def makeable(self, name: str, durable: str, wanted: Atom | Tree, octets: int, refuses: bool) -> bool:
        roles = self.roles_of(name) or []
        subscribe = [role.allows["subscribe"] for role in roles if "subscribe" in role.allows]
        for role in roles:
            if durable not in named(role.patterns.get("durable", ()), name):
                continue
            if (role.bytes is not None and not 0 < octets <= role.bytes) or (refuses and role.refuse is None):
                continue
            if self.subscribable(name, wanted, subscribe if role.of is None else [role.of]):
                return True
        return False

    def refusable(self, name: str, durable: str) -> int:
        roles = self.roles_of(name) or []
        fitting = [role for role in roles if durable in named(role.patterns.get("durable", ()), name)]
        return union(messages_of(role.refuse, name) for role in fitting)

    def level(self, name: str) -> int:
        levels = ("viewer", "operator", "admin")
        return max((levels.index(role.admin) + 1 for role in self.roles_of(name) or [] if role.admin), default=0)


def named(patterns: list[str] | tuple[str, ...], own: str) -> frozenset[str]:
    """The names of durable subscriptions that patterns have."""
    bound = [pattern.replace("${name}", own) for pattern in patterns]
    return frozenset(name for name in DURABLES for pattern in bound if fnmatch.fnmatchcase(name, pattern))
