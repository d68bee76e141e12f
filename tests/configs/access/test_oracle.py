"""Random files of rules, decided by the rules and by an oracle of sets: no difference, and planted breaks are found."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tamis.configs.access.load import parse_access
from tamis.protocol.access.decision import Verb
from tamis.protocol.access.judge import judged
from tamis.protocol.access.principals import PrincipalTable
from tamis.protocol.access.rights import ClassRights, DurableTerms
from tamis.protocol.access.role import AdminLevel
from tamis.protocol.access.rule import AccessRule
from tamis.protocol.access.rules import Classes
from tamis.protocol.language import parse
from tests.configs.access.oracle import (
    AGES,
    COUNT,
    DURABLES,
    NAMES,
    World,
    as_attributes,
    has,
    messages_of,
    possible_tree,
)

ASKED_OF_A_FILE = 120


def differences(seed: int) -> Iterator[str]:
    """Yield what the rules of one random file and the oracle decide differently."""
    rng = random.Random(seed)
    world = World(rng)
    rules = parse_access(world.text()).rules
    for _ in range(ASKED_OF_A_FILE):
        name = rng.choice(NAMES)
        principal = rules.of(name)
        if (principal is None) is not (world.roles_of(name) is None):
            yield f"{seed}: {name} is {principal}"
        if principal is not None:
            for what, mine, theirs in decided(rng, world, principal.rights, name):
                if bool(mine) is not theirs:
                    yield f"{seed}: {what} by {name}: {mine}, the oracle says {theirs}\n{world.text()}"


def decided(rng: random.Random, world: World, rights: ClassRights, name: str) -> Iterator[tuple[str, object, bool]]:
    """Yield what was asked, the decision of the rules, and that of the oracle, for one question of each kind."""
    number, durable, age = rng.randrange(COUNT), rng.choice(DURABLES), rng.choice(AGES)
    message = as_attributes(number, name)
    yield f"publish {message}", rights.publish(name, message), world.may_publish(name, number)
    yield f"sees {message}", rights.sees(name, message), has(world.seen(name), number)
    of = rights.sees_of(durable, name, message)
    yield f"sees {message} of {durable}", of, has(world.seen(name, durable), number)
    again = rights.sees_again(name, message, age)
    yield f"replay {message} of {age}", again, has(world.seen_again(name, age), number)
    yield f"group {durable}", rights.group(name, durable), world.may_name(name, "groups", durable)
    consumed = world.may_name(name, "consume", durable)
    yield f"consume {durable}", rights.consume(name, durable, is_owner=False), consumed
    own = consumed or world.may_name(name, "durable", durable)
    yield f"consume own {durable}", rights.consume(name, durable, is_owner=True), own
    yield f"skip {durable}", rights.skip(name, durable, is_owner=False), world.may_skip(name, durable)
    inspected = world.may_name(name, "inspect", durable)
    yield f"inspect {durable}", rights.inspect(name, durable, is_owner=False), inspected
    removed = world.may_name(name, "remove", durable)
    yield f"remove {durable}", rights.remove(name, durable, is_owner=False), removed
    yield f"remove own {durable}", rights.remove(name, durable, is_owner=True), True
    level = rng.choice(list(AdminLevel))
    yield f"admin {level}", rights.admin(level), world.level(name) >= level
    yield f"refuse {message}", rights.refuse(durable, name, message), has(world.refusable(name, durable), number)
    if rng.random() < 0.1:
        yield from wanted(rng, world, rights, name, durable)


def wanted(
    rng: random.Random, world: World, rights: ClassRights, name: str, durable: str
) -> Iterator[tuple[str, object, bool]]:
    """Yield questions about whole predicates."""
    tree = possible_tree(rng)
    text = tree.text.replace("${name}", name)
    roles = world.roles_of(name) or []
    allows = [role.allows["subscribe"] for role in roles if "subscribe" in role.allows]
    decision = rights.subscribe(name, parse(text))
    yield f"subscribe {text}", decision, world.subscribable(name, tree, allows)
    if decision and not decision.narrowed:
        yield f"all of {text}", True, not messages_of(tree, name) & ~world.seen(name)
    octets, refuses = rng.choice((0, 1, 1000, 1001)), rng.random() < 0.5
    terms = DurableTerms(durable, parse(text), octets, refuses)
    made = world.makeable(name, durable, tree, octets, refuses)
    yield f"make {terms}", rights.make(name, terms), made


def test_rules_and_sets_agree() -> None:
    assert [each for seed in range(2) for each in differences(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000, 3_000, 500))
def test_rules_and_sets_agree_on_thousands_of_files(first: int) -> None:
    assert [each for seed in range(first, first + 500) for each in differences(seed)] == []


# --- planted breaks ---------------------------------------------------------------------------------------------------


def forget_denials(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClassRights, "denying", lambda _rights, _verb: [])


def forget_denials_in_replay(patch: pytest.MonkeyPatch) -> None:
    whole = ClassRights.denying
    patch.setattr(ClassRights, "denying", lambda rights, verb: [] if verb is Verb.REPLAY else whole(rights, verb))


def bind_no_name(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AccessRule, "bound", lambda rule, _name: rule.predicate)


def believe_stamps(patch: pytest.MonkeyPatch) -> None:
    def publish(rights: ClassRights, own: str, attributes: dict[str, object]) -> object:
        stamped = rights.stamped(own, {}) | attributes
        return judged(Verb.PUBLISH, own, stamped, rights.allowing(Verb.PUBLISH), rights.denying(Verb.PUBLISH))

    patch.setattr(ClassRights, "publish", publish)


def match_prefixes_by_character(patch: pytest.MonkeyPatch) -> None:
    def resolved(table: PrincipalTable, name: str) -> int | None:
        found = (table._find(name[:end].encode()) for end in range(len(name), 0, -1))
        return next((at for at in found if at is not None), None)

    patch.setattr(PrincipalTable, "_resolved", resolved)


def share_memo(patch: pytest.MonkeyPatch) -> None:
    whole = Classes.number
    patch.setattr(Classes, "number", lambda classes, names: min(whole(classes, names), 1))


def mix_rights_of_roles(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ClassRights, "skip", ClassRights.consume)


@pytest.mark.parametrize(
    "plant",
    [
        *(forget_denials, forget_denials_in_replay, bind_no_name, believe_stamps, match_prefixes_by_character),
        *(share_memo, mix_rights_of_roles),
    ],
)
def test_a_planted_break_is_found(plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert next((each for seed in range(40) for each in differences(seed)), None)
