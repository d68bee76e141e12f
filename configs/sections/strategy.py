"""The model of `strategy`: how routers share the work of filtering.

Law: an option stands beside its strategy; beside another one it is refused, with the names of those that have it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo
from pydantic import field_validator as check_field

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import named
from tamis.configs.sections.section import ConfigSection
from tamis.protocol import limits as bounds
from tamis.protocol.strategies import STRATEGIES, StrategyFacts, chosen, exists, options_of, takes


class StrategySettings(ConfigSection):
    """How routers share the work of filtering."""

    name: Annotated[str, OneOf(choices.STRATEGIES)] = Field(
        default="advertise", description="Which strategy all routers follow."
    )
    mode: Annotated[str, OneOf(choices.ADVERTISE_MODES)] = Field(
        default="versioned",
        description="Strategy `advertise`: `paper` is paper 004 to the letter, which loses messages; `paper-bytes` the "
        "same with filters compared byte by byte where advertisements are pruned; for experiments.",
    )
    predicates: Annotated[str, OneOf(choices.PREDICATE_FORMS)] = Field(
        default="exact",
        description="Broadcast `source-trees`: what lies behind a link is known exactly for each source, or `coarse`, "
        "the same for all sources, which costs less to compute and sends a few messages in vain.",
    )

    reuse: Annotated[str, OneOf(choices.REUSES)] = Field(
        default="never",
        description="Strategies `advertise` and `link-matching`: with `destinations` a message carries the set of "
        "routers that want it, and those on its way ask only the tables of their own clients; `never`: each matches.",
    )
    prune: bool = Field(
        default=True,
        description="Strategy `flood`: messages go only to routers that have a client with a subscription; "
        "`false`: to every router, as in paper 003.",
    )
    storing: Annotated[str, OneOf(choices.STORINGS)] = Field(
        default="optimistic",
        description="Strategy `profile`: filters that another one covers are not said to a neighbour until that one "
        "goes; `preventive`: they are said, too.",
    )
    destinations_max: int = Field(
        default=bounds.ROUTE_ROUTERS,
        ge=1,
        le=bounds.ROUTE_ROUTERS_MAX,
        description="Strategy `match-first`: a message lists up to so many routers; one for more is matched by each "
        "router on its way. A router takes lists of any length.",
    )

    @check_field("mode", "reuse", "prune", "storing", "destinations_max")
    @classmethod
    def _is_an_option_of_the_strategy(cls, value: str | bool | int, info: ValidationInfo) -> str | bool | int:
        """`value`, unless the strategy that is named has no such option."""
        name, option = info.data.get("name"), str(info.field_name)
        if name is not None and not takes(name, option):
            owners = dict.fromkeys(facts.key for facts in STRATEGIES if takes(facts.key, option))
            raise ValueError(f"is a setting of strategy {' and '.join(owners)}, not of {name}")
        given = {option: value} | {each: info.data.get(each) for each in options_of(str(name)) if each in info.data}
        if given.keys() == options_of(str(name)).keys() and not exists(str(name), given):
            others = ", ".join(f"{each}: {what}" for each, what in given.items() if each != option)
            raise ValueError(f"{value} does not go with {others}")
        return value

    @property
    def facts(self) -> StrategyFacts:
        return chosen(self.name, {option: getattr(self, option) for option in options_of(self.name)})


StrategyOrName = Annotated[
    StrategySettings,
    BeforeValidator(named, json_schema_input_type=Annotated[str, OneOf(choices.STRATEGIES)] | StrategySettings),
]
