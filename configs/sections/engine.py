"""The model of `engine`: how a router evaluates its table.

Law: an option stands beside its engine; beside another one it is refused, with the names of those that have it. Bounds
and standards are the engines' own.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo
from pydantic import field_validator as check_field

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import Octets, named
from tamis.configs.sections.section import ConfigSection
from tamis.native import DEFAULT_ENGINE, ENGINES, engines_with

_ROUNDS = ENGINES["sff"].options["rounds"]
_INTERVAL = ENGINES["interval"].options
_PST = ENGINES["pst"].options


class EngineSettings(ConfigSection):
    """How one router evaluates its table."""

    name: Annotated[str, OneOf(choices.ENGINES)] = Field(
        default=DEFAULT_ENGINE, description="Which engine matches messages."
    )
    rounds: int | None = Field(
        default=None,
        ge=_ROUNDS.least,
        le=_ROUNDS.most,
        description="Engine `sff` only: rows of the selectivity table tried before counting; "
        f"without it, {_ROUNDS.standard}.",
    )

    circuit: Annotated[str, OneOf(choices.ENGINE_OPTIONS["circuit"])] | None = Field(
        default=None,
        description="Engines `counting` and `sff` only: when a match asks whether an interface has matched already; "
        "without it, `at-full`. For experiments, as the next two.",
    )
    counters: Annotated[str, OneOf(choices.ENGINE_OPTIONS["counters"])] | None = Field(
        default=None,
        description="Engines `counting` and `sff` only: where the counts of a message are kept; without it, `flat`.",
    )
    determinants: Annotated[str, OneOf(choices.ENGINE_OPTIONS["determinants"])] | None = Field(
        default=None,
        description="Engine `sff` only: what a row of the selectivity table is about; without it, `name`.",
    )
    form: Annotated[str, OneOf(choices.ENGINE_OPTIONS["form"])] | None = Field(
        default=None,
        description="Engine `interval` only, as the six that follow: the sets of all attributes are intersected, or "
        "what that found is remembered as a tree, on demand (`tree`) or made ahead (`whole`); without it, `lists`.",
    )
    dense_from: int | None = Field(
        default=None,
        ge=_INTERVAL["dense_from"].least,
        le=_INTERVAL["dense_from"].most,
        description="Share of the filters from which on a set is a list of bits and not of pointers, in thousandths of "
        "a per cent; 100001 is never. Without it, 3125: both take the same memory there.",
    )
    reorder: Annotated[str, OneOf(choices.ENGINE_OPTIONS["reorder"])] | None = Field(
        default=None,
        description="Whether the attribute that leaves the fewest filters is looked at first, by the filters or by "
        "what messages brought; without it, `filters`.",
    )
    partition: Annotated[str, OneOf(choices.ENGINE_OPTIONS["partition"])] | None = Field(
        default=None,
        description="One structure for each string that the attribute `type` has to be, or `off`: one for all; "
        "without it, `type`.",
    )
    grow_percent: int | None = Field(
        default=None,
        ge=_INTERVAL["grow_percent"].least,
        le=_INTERVAL["grow_percent"].most,
        description=f"Per cent by which an array grows; without it, {_INTERVAL['grow_percent'].standard}.",
    )
    spare_percent: int | None = Field(
        default=None,
        ge=_INTERVAL["spare_percent"].least,
        le=_INTERVAL["spare_percent"].most,
        description="Per cent of an array that may be empty before it is made smaller; without it, "
        f"{_INTERVAL['spare_percent'].standard}.",
    )
    tree_bytes: Annotated[Octets, Field(ge=_INTERVAL["tree_bytes"].least, le=_INTERVAL["tree_bytes"].most)] | None = (
        Field(
            default=None,
            description="Bytes that the tree of one structure may take before it begins anew; without it, "
            f"{_INTERVAL['tree_bytes'].standard}.",
        )
    )

    order: Annotated[str, OneOf(choices.ENGINE_OPTIONS["order"])] | None = Field(
        default=None,
        description="Engine `pst` only, as the next two: names that most filters speak of are tested first (`auto`), "
        "or names by the alphabet (`names`); without it, `auto`.",
    )
    annotate: Annotated[str, OneOf(choices.ENGINE_OPTIONS["annotate"])] | None = Field(
        default=None,
        description="Whether each node knows the interfaces below it, so that a match passes over nodes of none in "
        "question; without it, `on`.",
    )
    delay: int | None = Field(
        default=None,
        ge=_PST["delay"].least,
        le=_PST["delay"].most,
        description="Hubs that are followed together, so that a name is tested once for all of them, for tables that "
        "seldom change; 0 is each by itself. Without it, 0.",
    )

    @check_field(
        *("rounds", "circuit", "counters", "determinants", "order", "annotate", "delay"),
        *("form", "dense_from", "reorder", "partition", "grow_percent", "spare_percent", "tree_bytes"),
    )
    @classmethod
    def _is_an_option_of_the_engine(cls, value: int | str | None, info: ValidationInfo) -> int | str | None:
        """`value`, unless the engine that is named has no such option."""
        name, known = info.data.get("name"), engines_with(str(info.field_name))
        if value is not None and name is not None and name not in known:
            raise ValueError(f"is a setting of engine {' and '.join(known)}, not of {name}")
        return value

    @property
    def options(self) -> dict[str, int | str]:
        """What the engine is given, by the names of its options."""
        given = ((option, getattr(self, option)) for option in type(self).model_fields if option != "name")
        return {option: value for option, value in given if value is not None}


EngineOrName = Annotated[
    EngineSettings,
    BeforeValidator(named, json_schema_input_type=Annotated[str, OneOf(choices.ENGINES)] | EngineSettings),
]
