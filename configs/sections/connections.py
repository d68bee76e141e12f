"""The models of a connection's settings: keepalive, slow consumers, encryption.

Law: clients and links have models of their own, because their defaults and their authentication differ.
"""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import File, Milliseconds
from tamis.configs.sections.section import ConfigSection


class _Times(ConfigSection):
    """The times of silence after which a PING is sent, and the peer is disconnected."""

    hold_ms: int
    ping_ms: int

    @model_validator(mode="after")
    def _check_ping(self) -> Self:
        if {"hold_ms", "ping_ms"} <= self.model_fields_set and self.ping_ms > self.hold_ms:
            got = f"got ping_ms {self.ping_ms} and hold_ms {self.hold_ms}"
            raise ValueError(f"needs a ping_ms of at most hold_ms, {got}")
        return self


class Keepalive(_Times):
    """Detection of clients that are gone."""

    hold_ms: Milliseconds = Field(
        default=30_000,
        ge=100,
        le=3_600_000,
        description="Disconnect a client that has sent nothing for this time, in ms.",
    )
    ping_ms: Milliseconds = Field(
        default=10_000,
        ge=50,
        le=3_600_000,
        description="Send a client a PING after this time of silence, in ms; at most a third of either hold time.",
    )


class LinkKeepalive(_Times):
    """Detection of neighbours that are gone."""

    hold_ms: Milliseconds = Field(
        default=1_000,
        ge=100,
        le=3_600_000,
        description="End the link to a neighbour that has sent nothing for this time, in ms, and connect again.",
    )
    ping_ms: Milliseconds = Field(
        default=300,
        ge=50,
        le=3_600_000,
        description="Send a neighbour a PING after this time of silence, in ms; at most a third of either hold time.",
    )


class SlowConsumer(ConfigSection):
    """The treatment of a client whose queue (`limits.connection_queue_bytes`) is full."""

    policy: Annotated[str, OneOf(choices.SLOW_POLICIES)] = Field(
        default="drop-newest",
        description="Drop the new message, drop the oldest, disconnect the client, or delay publishers and then drop.",
    )
    block_ms: Milliseconds = Field(
        default=1_000, ge=1, le=60_000, description="Policy `block` only: the longest delay of publishers, in ms."
    )


_REVOKED: Final = Field(
    default=None,
    description="PEM or DER file: the [lists of revoked certificates](../access.md#certificates) (CRL), one of each "
    "authority in `ca`. Needs `pip install 'tamis[jwt]'`.",
)


class Tls(ConfigSection):
    """Encryption of client connections over TCP, by TLS 1.3. Unix sockets are not encrypted."""

    certificate: File = Field(description="PEM file: the router's certificate, then the intermediate certificates.")
    key: File = Field(description="PEM file: the certificate's private key, without a passphrase.")
    clients: Annotated[str, OneOf(choices.CLIENT_CERTIFICATES)] = Field(
        default="none",
        description="Certificates of clients: not asked for, accepted, or required of each. One proves its names (SAN) "
        "to the rules of [access](../access.md#certificates).",
    )
    ca: File | None = Field(
        default=None, description="PEM file: the root certificates by which those of clients are verified."
    )
    revoked: File | None = _REVOKED

    @model_validator(mode="after")
    def _check_ca(self) -> Self:
        if (self.clients == "none") is not (self.ca is None):
            raise ValueError("needs both `ca` and `clients: required` or `clients: optional`, or none of them")
        if self.revoked is not None and self.ca is None:
            raise ValueError("needs `ca`, whose authorities sign what `revoked` has")
        return self


class NeighbourTls(ConfigSection):
    """Encryption of a router's links over TCP, by TLS 1.3. Each end proves its id by its certificate."""

    certificate: File = Field(
        description="PEM file: the router's certificate, with its id as a name, then the intermediate certificates."
    )
    key: File = Field(description="PEM file: the certificate's private key, without a passphrase.")
    ca: File = Field(description="PEM file: the root certificates by which those of neighbours are verified.")
    revoked: File | None = _REVOKED
