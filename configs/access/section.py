"""The models of principals, issuers, tests, and of the section `access` as a whole.

Law: as in roles.py. Conditions between the parts (a principal has roles that exist) are in wiring.py.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic import field_validator as check_field

from tamis.configs import choices
from tamis.configs.access.roles import RoleConfig, RuleSection
from tamis.configs.access.values import (
    Digest,
    MessageAttributes,
    Patterns,
    PrincipalName,
    RuleText,
    Text,
    WrittenDigest,
    mistake,
)
from tamis.configs.choices import OneOf
from tamis.configs.fields import File
from tamis.protocol.access.decision import Verb
from tamis.protocol.access.principals import DIGESTS_MAX, ROLES_PER_PRINCIPAL_MAX
from tamis.protocol.access.questions import Ask
from tamis.protocol.access.role import AdminLevel

ROLES_MAX: Final = 1_000
TESTS_MAX: Final = 10_000
ISSUERS_MAX: Final = 16
ROLE_FORM: Final = r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$"
_URL: Final = re.compile(r"https://[^\s/?#]+[^\s?#]*")


def _role_name(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(ROLE_FORM, value):
        raise ValueError("must be 1 to 64 letters, digits, `.`, `_` or `-`, beginning with a letter, digit or `_`")
    return value


def _listed(value: object, form: str) -> object:
    if not isinstance(value, str | list | tuple):
        raise ValueError(f"must be {form}")
    return [value] if isinstance(value, str) else value


def _roles(value: object) -> object:
    return _listed(value, "a role, or a list of roles")


def _digests(value: object) -> object:
    listed = _listed(value, "a digest, or a list of two")
    if isinstance(listed, list) and len(listed) > DIGESTS_MAX:
        raise ValueError("must be a digest, or a list of two while a token is changed")
    return listed


def _issuer(value: object) -> object:
    if not isinstance(value, str) or not _URL.fullmatch(value):
        raise ValueError("must be the issuer's address exactly as in its tokens, https://host/path")
    return value


WrittenRole = Annotated[str, Field(json_schema_extra={"format": "role", "pattern": ROLE_FORM})]
RoleName = Annotated[str, BeforeValidator(_role_name, json_schema_input_type=WrittenRole)]
RoleNames = Annotated[
    tuple[RoleName, ...],
    Field(max_length=ROLES_PER_PRINCIPAL_MAX),
    BeforeValidator(_roles, json_schema_input_type=WrittenRole | list[WrittenRole]),
]


class PrincipalConfig(RuleSection):
    """A name that may come in, and how it is proven: by a token, a certificate, or either. A client `name/anything`
    that shows the token of `name` has its rights."""

    roles: RoleNames = Field(default=(), description="Its roles: one, or a list.")
    token: Annotated[
        tuple[Digest, ...],
        Field(max_length=DIGESTS_MAX),
        BeforeValidator(_digests, json_schema_input_type=WrittenDigest | list[WrittenDigest]),
    ] = Field(
        default=(),
        description="The digest of its token, which `tamis token new` prints; two while it is being changed.",
    )
    certificate: bool = Field(
        default=False,
        description="Whether a certificate with this name (SAN, DNS or URI) proves it. Such a name may have one star "
        "in place of one label: `*.plant.example`.",
    )

    @model_validator(mode="after")
    def _can_come_in(self) -> PrincipalConfig:
        if not self.token and not self.certificate:
            raise mistake("needs `token`, `certificate: true`, or both: nothing else proves it")
        return self


class IssuerConfig(RuleSection):
    """An issuer of signed tokens (JWT) whose subjects are principals."""

    issuer: Annotated[Text, BeforeValidator(_issuer, json_schema_input_type=Text)] = Field(
        description="Its name in tokens (`iss`), compared exactly."
    )
    audience: Text = Field(description="What tokens must be for (`aud`).")
    keys: File = Field(description="File of its public keys (JWKS).")
    algorithms: tuple[Annotated[str, OneOf(choices.TOKEN_ALGORITHMS)], ...] = Field(
        description="Algorithms of its signatures; a token with another one is refused."
    )
    names: Patterns = Field(description="Names (`sub`) that it may give: patterns.")
    roles: RoleNames = Field(default=(), description="Roles of all of its principals.")
    roles_from: Text | None = Field(default=None, description="The claim that lists further roles by their names.")

    @check_field("algorithms")
    @classmethod
    def _has_algorithms(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise mistake(f"must list at least one of {', '.join(choices.TOKEN_ALGORITHMS)}")
        return value

    @model_validator(mode="after")
    def _gives_roles(self) -> IssuerConfig:
        if not self.roles and self.roles_from is None:
            raise mistake("needs `roles`, `roles_from`, or both: its principals have no rights")
        return self


class RuleTest(RuleSection):
    """A question with its expected answer; one that fails makes the file invalid. It has one of the keys from
    `publish` to `admin`."""

    model_config = ConfigDict(populate_by_name=False)

    as_: PrincipalName = Field(alias="as", description="Name of the client that asks.")
    roles: RoleNames = Field(
        default=(), description="Its roles, if it is no principal of the file, as with an issuer's names."
    )
    publish: MessageAttributes | None = Field(default=None, description="A message that it publishes.")
    sees: MessageAttributes | None = Field(default=None, description="A message that it would receive.")
    replay: MessageAttributes | None = Field(default=None, description="A stored message that it would receive.")
    subscribe: RuleText | None = Field(default=None, description="A predicate that it subscribes to.")
    group: Text | None = Field(default=None, description="A worker group that it joins.")
    make: Text | None = Field(default=None, description="A durable subscription that it makes.")
    consume: Text | None = Field(default=None, description="A durable subscription of another that it consumes.")
    skip: Text | None = Field(default=None, description="Likewise, beginning behind what waits in it.")
    inspect: Text | None = Field(default=None, description="A durable subscription of another that it looks at.")
    remove: Text | None = Field(default=None, description="A durable subscription of another that it removes.")
    admin: Annotated[str, OneOf(choices.ADMIN_LEVELS)] | None = Field(
        default=None, description="A level of administration."
    )
    expect: Annotated[str, OneOf(choices.EXPECTATIONS)] = Field(description="The answer.")

    @model_validator(mode="after")
    def _asks_one_thing(self) -> RuleTest:
        if len(asked := self._asked) != 1:
            verbs = ", ".join(verb.value for verb in _VERBS)
            got = " and ".join(verb.value for verb in asked) or "none"
            raise ValueError(f"must have one of {verbs}, got {got}")
        return self

    @property
    def _asked(self) -> list[Verb]:
        return [verb for verb in _VERBS if getattr(self, verb.value) is not None]

    @property
    def question(self) -> Ask:
        [verb] = self._asked
        about: Any = getattr(self, verb.value)
        if verb is Verb.SUBSCRIBE:
            about = about.bound(self.as_)
        return Ask(verb, AdminLevel[about.upper()] if verb is Verb.ADMIN else about)


_VERBS = tuple(verb for verb in Verb if verb.value in RuleTest.model_fields)


class AccessSection(RuleSection):
    """Who may do what: the section `access` of a topology file, or a file of its own that the section names."""

    mode: Annotated[str, OneOf(choices.ACCESS_MODES)] = Field(
        default="enforce",
        description="`observe`: decide, record, and let everything pass; `enforce`: refuse what is not allowed.",
    )
    roles: dict[RoleName, RoleConfig] = Field(max_length=ROLES_MAX, description="Roles by name.")
    principals: dict[PrincipalName, PrincipalConfig] = Field(
        default={}, description="Principals by name: who comes in, and in which roles."
    )
    principals_file: File | None = Field(
        default=None, description="[A file](#a-file-of-principals) of further principals, a line for each."
    )
    issuers: dict[RoleName, IssuerConfig] = Field(
        default={}, max_length=ISSUERS_MAX, description="Issuers of signed tokens, by a name for this file."
    )
    audit: bool = Field(
        default=True,
        description="Whether each router that has a `data` folder writes what the rules decided into `audit/` in it, "
        "[verified](../access.md#the-audit-log) by `tamis audit verify`.",
    )
    strict: bool = Field(
        default=False,
        description="Whether a router has no link to a neighbour with other rules than its own. Otherwise other rules "
        "are an alarm, and a line of `tamis status`.",
    )
    tests: tuple[RuleTest, ...] = Field(
        default=(), max_length=TESTS_MAX, description="Tests of these rules, run whenever they are loaded."
    )
