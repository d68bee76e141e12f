"""The model of a topology file.

Law: this model and those of its sections (`sections/`) are the manual: every key, with its unit, bounds, default and
meaning. The JSON schema and docs/reference/topology.md are printed from them, so a key is described only here. A
Topology is always valid: its ids are known, its addresses distinct, its network connected. Instances are frozen; treat
the mappings inside them as read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from tamis.configs import choices, wiring
from tamis.configs.address import Address, joined
from tamis.configs.choices import OneOf
from tamis.configs.fields import File, Folder, Id, Version
from tamis.configs.sections.access import AccessOrFile
from tamis.configs.sections.connections import Keepalive, SlowConsumer, Tls
from tamis.configs.sections.durable import DurableByDefault, DurableOrOff, DurableSettings
from tamis.configs.sections.engine import EngineOrName, EngineSettings
from tamis.configs.sections.limits import Limits
from tamis.configs.sections.link import LinkConfig, LinkOrEnds
from tamis.configs.sections.logs import Logging
from tamis.configs.sections.metrics import MetricsSettings
from tamis.configs.sections.records import RecordSettings
from tamis.configs.sections.router import RouterConfig
from tamis.configs.sections.section import ConfigSection
from tamis.configs.sections.spaces import SpaceConfig, SpaceName
from tamis.configs.sections.strategy import StrategyOrName, StrategySettings
from tamis.configs.sections.unmatched import UnmatchedSettings
from tamis.configs.settings import Entrance, LinkSettings, RouterSettings
from tamis.protocol import limits as bounds
from tamis.protocol.spaces import SpaceSet
from tamis.protocol.spaces.space import NAMING
from tamis.protocol.wire.numbers import stable_number

S = TypeVar("S", bound=BaseModel)


class Topology(ConfigSection):
    """A network of routers."""

    version: Version = Field(default=1, description="Version of this format.")
    name: Id = Field(default="tamis", description="Name of the network, shown in logs and status.")
    routers: dict[Id, RouterConfig] = Field(min_length=1, description="The routers by id.")
    links: tuple[LinkOrEnds, ...] = Field(default=(), description="Which routers are neighbours.")
    broadcast: Annotated[str, OneOf(choices.BROADCASTS)] = Field(
        default="source-trees",
        description="Trees of messages: one per source, one for all sources, or the reverse path.",
    )
    strategy: StrategyOrName = Field(default=StrategySettings(), description="How routers share the filtering.")
    engine: EngineOrName = Field(default=EngineSettings(), description="How each router matches.")
    data: Folder | None = Field(
        default=None,
        description="Folder with one folder per router, named by its id; a router's own `data` takes precedence.",
    )
    tokens: File | None = Field(
        default=None,
        description="File of the clients' tokens, mode 0600: a name (or `*` for any) and a token per line. "
        "Without it, every client of the router's own machine is accepted, and no other.",
    )
    access: AccessOrFile | None = Field(
        default=None,
        description="[Who may do what](access.md): a mapping with `roles` and `principals`, or the path of a file with "
        "them, mode 0640. In place of `tokens`: clients prove themselves to be principals.",
    )
    tls: Tls | None = Field(default=None, description="Certificate and key of the routers' client listeners.")
    keepalive: Keepalive = Field(default=Keepalive(), description="When a silent client is disconnected.")
    slow_consumer: SlowConsumer = Field(
        default=SlowConsumer(), description="What happens to a client that cannot keep up."
    )
    limits: Limits = Field(default=Limits(), description="Limits of every router.")
    logging: Logging = Field(default=Logging(), description="Log settings of every router.")
    records: RecordSettings | None = Field(
        default=None, description="Records of every router, for `tamis records` and `tamis analyze`."
    )
    unmatched: UnmatchedSettings = Field(
        default=UnmatchedSettings(), description="Unmatched messages that every router stores for `tamis unmatched`."
    )
    durable: DurableOrOff | None = Field(
        default=None,
        description="The log of durable subscriptions. Without it every router that has a data folder stores messages "
        "within the limits below, from the first durable subscription on; `false`: no router stores messages.",
    )
    metrics: MetricsSettings = Field(default=MetricsSettings(), description="The metrics that every router exposes.")

    spaces: dict[SpaceName, SpaceConfig] = Field(
        default={},
        max_length=bounds.SPACES_MAX,
        description="Kinds of messages whose attributes are declared, and checked where a message enters.",
    )
    space_attribute: str = Field(
        default=NAMING,
        min_length=1,
        max_length=bounds.NAME_BYTES_MAX,
        description="The attribute of a message whose value names its space.",
    )
    space_unknown: Annotated[str, OneOf(choices.SPACE_UNKNOWN)] = Field(
        default="allow", description="Treatment of a message that names no declared space."
    )

    @model_validator(mode="after")
    def _check_spaces(self) -> Topology:
        _ = self.space_set
        return self

    @cached_property
    def space_set(self) -> SpaceSet:
        """All spaces, and the rule for messages that name none of them."""
        spaces = {name: config.as_space(name) for name, config in self.spaces.items()}
        return SpaceSet(spaces, self.space_attribute, self.space_unknown == "refuse")

    @model_validator(mode="after")
    def _check_layer(self) -> Topology:
        if "broadcast" in self.model_fields_set and self.broadcast != self.layer:
            what = wiring.other_layer(self.strategy.name, self.broadcast)
            raise PydanticCustomError("wiring", "{what}", {"what": what})
        return self

    @model_validator(mode="after")
    def _check_wiring(self) -> Topology:
        problems = [problem.what for problem in wiring.problems(self)]
        if problems:
            raise PydanticCustomError("wiring", "{what}", {"what": "; ".join(problems)})
        return self

    def router(self, router_id: str) -> RouterSettings:
        """Return the settings of one router; raise KeyError for an unknown id."""
        own = self.routers[router_id]
        return RouterSettings(
            router_id,
            own.clients,
            own.neighbours,
            own.dial,
            own.admin,
            own.admin_token,
            own.admin_names,
            self._data_of(router_id),
            own.machine,
            own.engine or self.engine,
            own.tokens or self.tokens,
            own.tls or self.tls,
            own.neighbour_tls,
            _overridden(self.keepalive, own.keepalive),
            _overridden(self.slow_consumer, own.slow_consumer),
            _overridden(self.limits, own.limits),
            _overridden(self.logging, own.logging),
            own.records if self.records is None else _overridden(self.records, own.records),
            _overridden(self.unmatched, own.unmatched),
            tuple(sorted(self._links_of(router_id), key=lambda link: link.neighbour)),
            self.layer,
            self.strategy,
            self.space_set,
            _overridden(self.metrics, own.metrics),
            self._durable_of(router_id),
            has_access=self.access is not None,
            others=tuple(sorted(self.routers.keys() - {router_id})),
            domain=self._domain_of(router_id),
        )

    def _domain_of(self, router_id: str) -> tuple[str, ...]:
        """Return the other routers that are reached over links without a border."""
        neighbours: dict[str, list[str]] = {each: [] for each in self.routers}
        for link in self.links:
            if link.trust != "partner" and not link.behind:
                one, other = link.ends
                neighbours[one].append(other)
                neighbours[other].append(one)
        reached = {router_id: None}
        ways = [router_id]
        while ways:
            fresh = [each for each in neighbours[ways.pop()] if each not in reached]
            reached |= dict.fromkeys(fresh)
            ways += fresh
        return tuple(sorted(reached.keys() - {router_id}))

    def entrances(self, besides: str) -> tuple[Entrance, ...]:
        """Return the client addresses of all routers but `besides`, as far as the file alone is enough to dial them:
        over TCP, with a host and a port."""
        return tuple(
            Entrance(router_id, found)
            for router_id, router in self.routers.items()
            if router_id != besides and (found := self._entrance(router.clients, is_tls=bool(router.tls or self.tls)))
        )

    @staticmethod
    def _entrance(addresses: Iterable[Address], *, is_tls: bool) -> tuple[str, ...]:
        scheme = "tamis+tls" if is_tls else "tamis"
        return tuple(f"{scheme}://{each}" for each in addresses if each.kind == "tcp" and each.dialable)

    def _durable_of(self, router_id: str) -> DurableSettings | None:
        """Return the settings of the log of a router; None if it stores nothing."""
        data, said = self._data_of(router_id), self.routers[router_id].durable
        own, general = said or None, self.durable or None
        if said is False or (own is None and (self.durable is False or (general is None and data is None))):
            return None
        chosen = _overridden(general, own) if general else own or DurableByDefault()
        if own is not None and own.folder is not None:
            return chosen
        folder = joined(chosen.folder, router_id) if chosen.folder else joined(data, "log") if data else None
        return chosen.model_copy(update={"folder": folder})

    def _data_of(self, router_id: str) -> str | None:
        return self.routers[router_id].data or (joined(self.data, router_id) if self.data else None)

    @property
    def layer(self) -> str:
        """The broadcast layer: that of the strategy if it has one, else `broadcast`."""
        return self.strategy.facts.layer or self.broadcast

    def _links_of(self, router_id: str) -> Iterator[LinkSettings]:
        for link in self.links:
            if router_id in link.ends:
                neighbour = link.ends[link.ends[0] == router_id]
                dial = self.routers[neighbour].dial if self.dialler(link) == router_id else None
                yield LinkSettings(
                    *(neighbour, link.cost, dial, link.secret, link.keepalive),
                    behind=link.speaks_for(neighbour),
                    speaks_for=link.speaks_for(router_id),
                    is_partner=link.trust == "partner",
                    came=link.passes.get(neighbour),
                    leaves=link.passes.get(router_id),
                )

    def dialler(self, link: LinkConfig) -> str:
        """Return the end of `link` that connects to the other: the one with the smaller number, unless the other one
        cannot be dialled."""
        smaller, larger = sorted(link.ends, key=stable_number)
        return larger if self.routers[larger].dial is None else smaller

    @cached_property
    def edges(self) -> tuple[tuple[str, str, int], ...]:
        """Every link once, as (smaller id, larger id, cost), sorted."""
        return tuple(sorted((min(link.ends), max(link.ends), link.cost) for link in self.links))

    @cached_property
    def _neighbours(self) -> dict[str, list[tuple[str, int]]]:
        table: dict[str, list[tuple[str, int]]] = {router_id: [] for router_id in self.routers}
        for a, b, cost in self.edges:
            table[a].append((b, cost))
            table[b].append((a, cost))
        return {router_id: sorted(pairs) for router_id, pairs in table.items()}

    def neighbours(self, router_id: str) -> list[tuple[str, int]]:
        """Return the neighbours of one router as (id, cost), sorted; raise KeyError for an unknown id."""
        return list(self._neighbours[router_id])

    def durable_by_router(self) -> dict[str, DurableSettings]:
        """Return the settings of the logs of all routers that store messages, by router id."""
        found = {router_id: self._durable_of(router_id) for router_id in self.routers}
        return {router_id: log for router_id, log in found.items() if log is not None}

    def summary(self) -> dict[str, object]:
        """Return the fields that `tamis check` shows of a valid file."""
        everyone = [self.router(router_id) for router_id in self.routers]
        return {
            "name": self.name,
            "routers": len(self.routers),
            "links": len(self.links),
            "redundant_links": len(self.links) - len(self.routers) + 1,
            "most_neighbours": max(len(pairs) for pairs in self._neighbours.values()),
            "machines": len({router.machine for router in everyone}),
            "client_addresses": sum(len(router.clients) for router in everyone),
            "admin_addresses": sum(router.admin is not None for router in everyone),
            "broadcast": self.layer,
            "strategy": self.strategy.facts.name,
            "reuse": self.strategy.reuse,
            "classes": len(self.strategy.classes),
            "roots": self.strategy.roots_by_class(),
            "spaces": len(self.spaces),
            "engines": sorted({router.engine.name for router in everyone}),
        }


def _overridden(general: S, own: S | None) -> S:
    if own is None:
        return general
    return general.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})
