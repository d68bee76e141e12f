"""The models of a connection's settings: keepalive, slow consumers, encryption.

Law: clients and links have models of their own, because their defaults and their authentication differ.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from tamis.configs import choices
from tamis.configs.choices import OneOf
from tamis.configs.fields import File, Milliseconds
from tamis.configs.sections.section import ConfigSection


class _Times(ConfigSection):
    """Times of silence until a PING is sent, and until the peer is disconnected."""

    hold_ms: int
    ping_ms: int

    @model_validator(mode="after")
    def _check_ping(self) -> Self:
        if {"hold_ms", "ping_ms"} <= self.model_fields_set and self.ping_ms > self.hold_ms:
            got = f"got ping_ms {self.ping_ms} and hold_ms {self.hold_ms}"
            raise ValueError(f"needs a ping_ms of at most hold_ms, {got}")
        return self


class Keepalive(_Times):
    """How a connection whose other end is gone is found."""

    hold_ms: Milliseconds = Field(
        default=30_000,
        ge=100,
        le=3_600_000,
        description="A client from which nothing came for so long, in ms, is disconnected.",
    )
    ping_ms: Milliseconds = Field(
        default=10_000,
        ge=50,
        le=3_600_000,
        description="A PING goes to a client after so long in silence, in ms; at most a third of either hold time.",
    )


class LinkKeepalive(_Times):
    """How a neighbour that is gone is found."""

    hold_ms: Milliseconds = Field(
        default=1_000,
        ge=100,
        le=3_600_000,
        description="A neighbour from which nothing came for so long, in ms, is given up, and connected again.",
    )
    ping_ms: Milliseconds = Field(
        default=300,
        ge=50,
        le=3_600_000,
        description="A PING goes to it after so long in silence, in ms; at most a third of either hold time.",
    )


class SlowConsumer(ConfigSection):
    """What happens when the queue of a client (`limits.connection_queue_bytes`) is full."""

    policy: Annotated[str, OneOf(choices.SLOW_POLICIES)] = Field(
        default="drop-newest",
        description="Drop what comes, drop what waits longest, disconnect, or make publishers wait and then drop.",
    )
    block_ms: Milliseconds = Field(
        default=1_000, ge=1, le=60_000, description="Policy `block` only: how long publishers wait at most, in ms."
    )


class Tls(ConfigSection):
    """Encryption of client connections over TCP, by TLS 1.3. Unix sockets stay as they are."""

    certificate: File = Field(description="PEM file: the router's certificate, then those between it and the root.")
    key: File = Field(description="PEM file: the certificate's private key, without a passphrase.")


class NeighbourTls(ConfigSection):
    """Encryption of a router's links over TCP, by TLS 1.3. Each end proves its id by its certificate."""

    certificate: File = Field(
        description="PEM file: the router's certificate, for its id as a name, then those between it and the root."
    )
    key: File = Field(description="PEM file: the certificate's private key, without a passphrase.")
    ca: File = Field(description="PEM file: the roots that neighbours' certificates must lead to.")
