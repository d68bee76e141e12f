"""From the models of a section to the rules that decide.

Law: a valid section compiles; this file has no errors of its own.
"""

from __future__ import annotations

from tamis.configs.access.roles import DurableConfig, PermissionConfig, QuotaConfig, RoleConfig
from tamis.configs.access.section import IssuerConfig
from tamis.protocol.access.issuers import Issuer
from tamis.protocol.access.role import (
    AccessRole,
    AdminLevel,
    ConsumeRight,
    DurableRight,
    Permission,
    Quota,
    Rate,
)


def compiled_role(name: str, config: RoleConfig) -> AccessRole:
    """Return the role that a model describes."""
    rate, consume = config.rate, config.consume
    return AccessRole(
        name,
        publish=_permission(config.publish),
        stamp=config.stamp,
        rate=None if rate is None else Rate(rate.messages_s, rate.burst or rate.messages_s, rate.bytes_s),
        subscribe=_permission(config.subscribe),
        groups=config.groups,
        requests=config.requests,
        durable=None if config.durable is None else _durable(config.durable),
        consume=None if consume is None else ConsumeRight(consume.names, consume.skip),
        inspect=config.inspect,
        remove=config.remove,
        replay=_permission(config.replay),
        replay_since_s=config.replay_since,
        admin=None if config.admin is None else AdminLevel[config.admin.upper()],
        quotas=_quota(config.quotas),
        totals=_quota(config.totals),
    )


def compiled_issuer(name: str, config: IssuerConfig) -> Issuer:
    """Return the issuer that a model describes."""
    return Issuer(
        name,
        config.issuer,
        config.audience,
        config.keys,
        config.algorithms,
        config.names,
        config.roles,
        config.roles_from,
    )


def _permission(config: PermissionConfig) -> Permission:
    return Permission(config.allow, config.deny)


def _durable(config: DurableConfig) -> DurableRight:
    return DurableRight(config.names, config.of, config.bytes, config.refuse, config.idle_max)


def _quota(config: QuotaConfig) -> Quota:
    part, size = (config.log, None) if isinstance(config.log, float) else (None, config.log)
    return Quota(config.connections, config.durables, config.filters, part, size)
