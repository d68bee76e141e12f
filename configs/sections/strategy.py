"""The model of `strategy`: how routers share the work of filtering.

Law: an option is accepted only with a strategy that has it; with another one it is refused, with the names of those
that have it.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo
from pydantic import field_validator as check_field

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import Id, IdText, is_off, named
from tamis.configs.sections.records import read_predicate
from tamis.configs.sections.section import ConfigSection
from tamis.protocol import limits as bounds
from tamis.protocol.strategies import KEYS, STRATEGIES, StrategyFacts, chosen, exists, options_of, takes

OF_A_SPACE: Final = "space"
"""Value in place of a class's predicate: the class has the messages of the declared space with its name."""
BY_HASH: Final = "hash"
"""Value in place of a list of roots: each part of the network chooses its root by a hash."""


def _read_class(value: object) -> object:
    return value if value == OF_A_SPACE else read_predicate(value)


def _read_roots(value: object) -> object:
    if value == BY_HASH:
        return ()
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"must be {BY_HASH} or a list of router ids")
    return value


def _read_limit(value: object) -> object:
    if value is False or (isinstance(value, str) and value != "0" and is_off(value)):
        return None
    return value


MERGE_MAX: Final = 0.9
MergeLimit = Annotated[
    Annotated[float, Field(ge=0.0, le=MERGE_MAX)] | None,
    BeforeValidator(_read_limit, json_schema_input_type=Annotated[float, Field(ge=0.0, le=MERGE_MAX)] | Literal[False]),
]
ClassName = Annotated[str, Field(min_length=1, max_length=bounds.NAME_BYTES_MAX)]
ClassPredicate = Annotated[str, BeforeValidator(_read_class)]
RootIds = Annotated[
    tuple[Id, ...],
    Field(max_length=bounds.ROOTS_MAX),
    BeforeValidator(_read_roots, json_schema_input_type=Literal["hash"] | list[IdText]),
    PlainSerializer(lambda ids: list(ids) or BY_HASH),
]


class StrategySettings(ConfigSection):
    """The strategy by which routers share the work of filtering."""

    name: Annotated[str, OneOf(choices.STRATEGIES)] = Field(
        default="advertise", description="Which strategy all routers follow."
    )
    mode: Annotated[str, OneOf(choices.ADVERTISE_MODES)] = Field(
        default="versioned",
        description="Strategy `advertise`: `paper` is paper 004 to the letter, which loses messages; `paper-bytes` is "
        "`paper` with pruning of advertisements by filters compared as bytes. Both are for experiments.",
    )
    predicates: Annotated[str, OneOf(choices.PREDICATE_FORMS)] = Field(
        default="exact",
        description="Broadcast `source-trees`: `exact` computes the routers behind a link for each source, `coarse` "
        "once for all sources, which costs less and sends a few messages that no router needs.",
    )

    reuse: Annotated[str, OneOf(choices.REUSES)] = Field(
        default="never",
        description="Strategies `advertise` and `link-matching`: with `destinations` a message carries the set of "
        "interested routers, and routers on its path match it for their own clients only; with `keys` its copies carry "
        "keys of matching filters, and routers look these up (paper 001); `never`: each matches it.",
    )
    prune: bool = Field(
        default=True,
        description="Strategy `flood`: messages go only to routers that have a client with a subscription; "
        "`false`: to every router, as in paper 003.",
    )
    storing: Annotated[str, OneOf(choices.STORINGS)] = Field(
        default="optimistic",
        description="Strategies `profile` and `rendezvous`: `optimistic` sends a filter that another one covers only "
        "after that one is removed; `preventive` sends it at once.",
    )
    destinations_max: int = Field(
        default=bounds.ROUTE_ROUTERS,
        ge=1,
        le=bounds.ROUTE_ROUTERS_MAX,
        description="Strategy `match-first`: the most routers that a message lists; a message for more routers is "
        "matched by each router on its path. A router accepts lists of any length.",
    )

    keys_max: int = Field(
        default=bounds.ROUTE_KEYS,
        ge=1,
        le=bounds.ROUTE_KEYS_MAX,
        description="With `reuse: keys`: the most keys of matching filters that a copy carries, of 4 bytes each. A "
        "router matches for that many filters of each link, which the engine must support.",
    )

    merge: MergeLimit = Field(
        default=None,
        description="Strategies `advertise`, `match-first`, `profile` and `rendezvous`: a router states one filter in "
        "place of several of its clients where at most this share of what it matches is wanted by none of them, if "
        "messages are spread evenly; 0: where nothing else matches; `false`: never.",
    )

    classes: dict[ClassName, ClassPredicate] = Field(
        default={},
        max_length=bounds.CLASSES_MAX,
        description="Strategy `rendezvous`: kinds of messages that have a root of their own, by name: a predicate, or "
        "`space` for the messages of the declared space of that name. A message is in the first class that it "
        "satisfies.",
    )
    roots: dict[ClassName, RootIds] = Field(
        default={},
        description="Strategy `rendezvous`: the roots of each class, the preferred first. `hash`, or no entry: a "
        "reachable router, chosen by a hash of the name.",
    )
    others: RootIds = Field(
        default=(),
        description="Strategy `rendezvous`: the roots of messages that are in no class, likewise.",
    )

    @check_field(
        "mode", "reuse", "prune", "storing", "destinations_max", "keys_max", "merge", "classes", "roots", "others"
    )
    @classmethod
    def _is_an_option_of_the_strategy(cls, value: object, info: ValidationInfo) -> object:
        """Return `value`; raise an error if the strategy has no such option."""
        name, option = info.data.get("name"), str(info.field_name)
        if name is not None and not takes(name, option):
            owners = dict.fromkeys(facts.key for facts in STRATEGIES if takes(facts.key, option))
            raise ValueError(f"is a setting of strategy {' and '.join(owners)}, not of {name}")
        given = {option: value} | {each: info.data.get(each) for each in options_of(str(name)) if each in info.data}
        if given.keys() == options_of(str(name)).keys() and not exists(str(name), given):
            others = ", ".join(f"{each}: {what}" for each, what in given.items() if each != option)
            raise ValueError(f"{value} cannot be combined with {others}")
        return value

    @check_field("merge")
    @classmethod
    def _is_of_a_strategy_that_merges(cls, value: float | None, info: ValidationInfo) -> float | None:
        """Return `value`; raise an error if the strategy states or needs every filter of its clients."""
        name = info.data.get("name")
        if value is None or name is None or not takes(name, "merge"):
            return value
        given = {option: info.data[option] for option in options_of(name) if option in info.data}
        if exists(name, given) and not chosen(name, given).merges:
            raise ValueError(f"does not go with {', '.join(f'{option}: {what}' for option, what in given.items())}")
        return value

    @check_field("keys_max")
    @classmethod
    def _goes_with_keys(cls, value: int, info: ValidationInfo) -> int:
        """Return `value`; raise an error if messages carry no keys."""
        reuse = info.data.get("reuse", KEYS)
        if reuse != KEYS:
            raise ValueError(f"needs reuse: {KEYS}, not {reuse}")
        return value

    @check_field("roots")
    @classmethod
    def _are_of_classes(cls, value: dict[str, object], info: ValidationInfo) -> dict[str, object]:
        """Return `value`; raise an error if it names an unknown class."""
        classes = info.data.get("classes", {})
        unknown = [name for name in value if name not in classes]
        if unknown and "classes" in info.data:
            known = ", ".join(classes) or "none"
            raise ValueError(f"names {unknown[0]}, which is no class; classes are: {known}")
        return value

    @property
    def facts(self) -> StrategyFacts:
        return chosen(self.name, {option: getattr(self, option) for option in options_of(self.name)})

    def roots_by_class(self) -> list[tuple[str | None, tuple[str, ...]]]:
        """Return each class with the candidates for its root, the preferred one first, or none if a hash chooses; None
        is the class of all other messages. A strategy without roots has no entries."""
        if not self.facts.has_roots:
            return []
        return [(name, self.roots.get(name, ())) for name in self.classes] + [(None, self.others)]


StrategyOrName = Annotated[
    StrategySettings,
    BeforeValidator(named, json_schema_input_type=Annotated[str, OneOf(choices.STRATEGIES)] | StrategySettings),
]
