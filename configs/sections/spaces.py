"""The models of `spaces`: the attributes of messages of one kind, and their values.

Law: `protocol/spaces` validates domains; this file has the keys and their descriptions. A section is always a valid
space.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.sections.section import ConfigSection
from tamis.protocol import limits
from tamis.protocol.spaces import Space, SpaceAttribute
from tamis.protocol.spaces.mapping import attribute_from
from tamis.protocol.spaces.space import check_space_name
from tamis.protocol.values import check_name


class SpaceAttributeConfig(ConfigSection):
    """The values that an attribute may have: one of `kind`, `integer`, `fixed` and `one_of`. A word is a `kind`."""

    kind: Annotated[str, OneOf(choices.SPACE_KINDS)] | None = Field(
        default=None, description="Any string, any boolean or any number."
    )
    integer: tuple[int, int] | None = Field(default=None, description="The integers from one bound to the other.")
    fixed: tuple[int | float, int | float] | None = Field(
        default=None, description="The decimal numbers of `digits` digits from one bound to the other."
    )
    digits: int | None = Field(
        default=None,
        ge=0,
        le=limits.SPACE_DIGITS_MAX,
        description="With `fixed`: the most digits after the decimal point.",
    )
    one_of: tuple[Annotated[str, Field(max_length=limits.OPERAND_BYTES_MAX)], ...] | None = Field(
        default=None,
        min_length=1,
        max_length=limits.SPACE_VALUES_MAX,
        description="One of these strings; their order is the order of `<` and `>` in predicates.",
    )
    optional: bool = Field(default=False, description="Whether a message may lack the attribute.")

    @model_validator(mode="after")
    def _is_a_domain(self) -> SpaceAttributeConfig:
        self.as_attribute()
        return self

    def as_attribute(self) -> SpaceAttribute:
        given = {key: value for key, value in self.model_dump().items() if value is not None}
        return attribute_from(given)


def _worded(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


AttributeOrKind = Annotated[
    SpaceAttributeConfig,
    BeforeValidator(_worded, json_schema_input_type=Annotated[str, OneOf(choices.SPACE_KINDS)] | SpaceAttributeConfig),
]
AttributeName = Annotated[str, AfterValidator(check_name)]


class SpaceConfig(ConfigSection):
    """The messages of one kind: those whose `space_attribute` has the name of the space."""

    version: int = Field(
        default=1, ge=1, le=limits.INT_MAX, description="Version of the space; the highest one is in force."
    )
    open: bool = Field(default=False, description="Whether messages may have attributes that are not declared here.")
    attributes: dict[AttributeName, AttributeOrKind] = Field(
        default={},
        max_length=limits.SPACE_ATTRIBUTES_MAX,
        description="Attributes of a message, by name; those that are not `optional` are required.",
    )

    def as_space(self, name: str) -> Space:
        attributes = {key: said.as_attribute() for key, said in self.attributes.items()}
        return Space(name, attributes, self.open, self.version)


SpaceName = Annotated[
    str,
    Field(max_length=limits.SPACE_NAME_BYTES_MAX),
    AfterValidator(check_space_name),
]


class SpacesFile(BaseModel):
    """A file with spaces, such as a topology file; its other keys are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    spaces: dict[SpaceName, SpaceConfig] = Field(min_length=1, max_length=limits.SPACES_MAX)
