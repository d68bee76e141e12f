"""Tables of the names and keys of the topology file, supported and planned.

Law: a name or key without effect in this release is refused with "not supported yet", never ignored. The release that
implements it changes it here; models, error texts, schema and reference page follow from these tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from tamis.configs.mistakes import Path, one_of, quoted
from tamis.native import engines
from tamis.protocol import strategies

SUPPORTED = True
PLANNED = False

BROADCASTS = {
    "source-trees": SUPPORTED,
    "shared-tree": SUPPORTED,
    "reverse-path": SUPPORTED,
}
STRATEGIES = {facts.key: SUPPORTED for facts in strategies.STRATEGIES} | dict.fromkeys(strategies.PLANNED, PLANNED)
ENGINES = {
    **dict.fromkeys(engines.ENGINES, SUPPORTED),
    "plain": SUPPORTED,
}
ADVERTISE_MODES = {
    str(facts.options["mode"]): SUPPORTED for facts in strategies.STRATEGIES if facts.key == strategies.DEFAULT.key
}
REUSES = {str(facts.options["reuse"]): SUPPORTED for facts in strategies.STRATEGIES if "reuse" in facts.options}
STORINGS = {str(facts.options["storing"]): SUPPORTED for facts in strategies.STRATEGIES if "storing" in facts.options}
PREDICATE_FORMS = {"exact": SUPPORTED, "coarse": SUPPORTED}
LOG_LEVELS = {"debug": SUPPORTED, "info": SUPPORTED, "warning": SUPPORTED, "error": SUPPORTED}
SLOW_POLICIES = {"drop-newest": SUPPORTED, "drop-oldest": SUPPORTED, "disconnect": SUPPORTED, "block": SUPPORTED}
SPACE_KINDS = {"string": SUPPORTED, "boolean": SUPPORTED, "number": SUPPORTED}
SPACE_UNKNOWN = {"allow": SUPPORTED, "refuse": SUPPORTED}
CLIENT_CERTIFICATES = {"none": SUPPORTED, "optional": SUPPORTED, "required": SUPPORTED}
ACCESS_MODES = {"observe": SUPPORTED, "enforce": SUPPORTED}
ADMIN_LEVELS = {"viewer": SUPPORTED, "operator": SUPPORTED, "admin": SUPPORTED}
TOKEN_ALGORITHMS = {"EdDSA": SUPPORTED, "ES256": SUPPORTED, "ES384": SUPPORTED, "RS256": SUPPORTED, "PS256": SUPPORTED}
TRUSTS = {"network": SUPPORTED, "partner": SUPPORTED}
EXPECTATIONS = {"allowed": SUPPORTED, "denied": SUPPORTED}
RECORD_FORMATS = {"jsonl": SUPPORTED, "parquet": SUPPORTED}
LOG_FORMATS = {"text": SUPPORTED, "json": SUPPORTED}

PLANNED_KEYS = {
    "areas": "border routers that summarise an area for the others",
    "logging.file": "a log file beside standard error",
    "routers.*.area": "the area a router belongs to",
}
"""Dotted path of a planned key (`*` is any id or index) to what it is going to set."""
PLANNED_ACCESS_KEYS = {
    "tenants": "several tenants in one network",
    "share": "messages that one tenant gives to another",
    "principals.*.tenant": "several tenants in one network",
    "issuers.*.tenant": "several tenants in one network",
}
"""Planned keys of the rules of access, likewise."""


def supported(choices: dict[str, bool]) -> list[str]:
    return [name for name, is_supported in choices.items() if is_supported]


@dataclass(frozen=True, slots=True, eq=False)
class OneOf:
    """Marks a field of a model as a choice from one of the tables of this file."""

    choices: dict[str, bool]

    def check(self, value: str) -> str:
        """Return `value` if this release supports it; raise PydanticCustomError otherwise."""
        if self.choices.get(value) is SUPPORTED:
            return value
        names = supported(self.choices)
        if value in self.choices:
            what = f"{quoted(value)} is not supported yet; choose {one_of(names)}"
            raise PydanticCustomError("planned", "{what}", {"what": what})
        what = f"must be {one_of(names)}, got {quoted(value)}"
        raise PydanticCustomError("choice", "{what}", {"what": what, "word": value, "known": names})

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "enum": supported(self.choices)}


def planned_key(path: Path, planned: dict[str, str] = PLANNED_KEYS) -> str:
    """Return what the planned key at `path` is going to set; "" if no such key is planned."""
    steps = [str(step) for step in path]
    return next((purpose for key, purpose in planned.items() if matches(tuple(key.split(".")), steps)), "")


def matches(pattern: tuple[str, ...], steps: list[str]) -> bool:
    """Return whether `steps` match `pattern` one by one; `*` matches any step."""
    return len(pattern) == len(steps) and all(want in ("*", step) for want, step in zip(pattern, steps, strict=True))
