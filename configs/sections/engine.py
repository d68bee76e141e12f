"""The model of `engine`: how a router evaluates its table.

Law: names, bounds and defaults of options come from the registry of engines; this file has no copy of them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, WithJsonSchema
from pydantic import field_validator as check_field
from pydantic_core import InitErrorDetails, PydanticCustomError

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import SIZE_FORM, named, read_octets
from tamis.configs.old_keys import with_options
from tamis.configs.sections.section import ConfigSection
from tamis.native.engines import DEFAULT_ENGINE, ENGINES, EngineOption


def _form(option: EngineOption) -> dict[str, Any]:
    """Return the JSON schema of an option."""
    form: dict[str, Any] = {"type": "integer", "minimum": option.least, "maximum": option.most}
    if option.values:
        form = {"type": "string", "enum": list(option.values)}
    elif _is_size(option):
        form = {"anyOf": [form, {"type": "string", "pattern": SIZE_FORM}]}
    default = option.spelled if option.values else option.standard
    return form | {"default": default, "description": option.about}


def _is_size(option: EngineOption) -> bool:
    return option.name.endswith("_bytes")


_FORMS = [
    {
        "type": "object",
        "description": engine.about,
        "properties": {option.name: _form(option) for option in engine.options.values()},
        "additionalProperties": False,
    }
    for engine in ENGINES.values()
    if engine.options
]


def _checked(engine: str, name: str, given: object) -> int | str:
    """Return the value of an option in the form of the engine; raise an error if it is invalid."""
    options = ENGINES[engine].options if engine in ENGINES else {}
    option = options.get(name)
    if option is None:
        has = f"its options are {', '.join(options)}" if options else "it has none"
        what = f"is no option of engine {engine}; {has}"
        raise PydanticCustomError("choice", "{what}", {"what": what, "word": name, "known": list(options)})
    try:
        value = read_octets(given) if _is_size(option) else given
        number = option.value(value if isinstance(value, int) else str(value))
    except ValueError:
        what = f"must be {option.allowed}"
        about = {"error": what, "word": given if isinstance(given, str) else "", "known": option.values}
        raise PydanticCustomError("value_error", "{error}", about) from None
    return option.values[number - option.least] if option.values else number


class EngineSettings(ConfigSection):
    """The engine by which a router matches messages."""

    name: Annotated[str, OneOf(choices.ENGINES)] = Field(
        default=DEFAULT_ENGINE, description="Which engine matches messages."
    )
    options: Annotated[dict[str, int | str], WithJsonSchema({"anyOf": _FORMS})] = Field(
        default={}, description="Options of this engine; an option that is not set has the default below."
    )

    @check_field("options", mode="before")
    @classmethod
    def _are_of_the_engine(cls, given: object, info: ValidationInfo) -> object:
        """Return the options in the form of the engine; report all invalid ones together."""
        if not isinstance(given, dict):
            return given
        taken: dict[str, int | str] = {}
        wrong: list[InitErrorDetails] = []
        for name, value in given.items() if "name" in info.data else ():
            try:
                taken[name] = _checked(info.data["name"], name, value)
            except PydanticCustomError as error:
                at = (name, "[key]") if error.type == "choice" else (name,)
                wrong.append(InitErrorDetails(type=error, loc=at, input=value))
        if wrong:
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        return taken


def _section(given: object) -> object:
    return with_options(named(given))


EngineOrName = Annotated[
    EngineSettings,
    BeforeValidator(_section, json_schema_input_type=Annotated[str, OneOf(choices.ENGINES)] | EngineSettings),
]
