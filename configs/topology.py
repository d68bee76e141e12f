"""The models of a topology file: every key, with its unit, bounds, default and meaning.

Law: these models are the manual. The JSON schema and docs/reference/topology.md are printed from them, so a key is
described here or nowhere. A Topology that exists is sound: ids are known, addresses free, the network in one piece.
Instances are frozen; treat the mappings inside them as read-only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator
from pydantic import field_validator as check_field
from pydantic_core import PydanticCustomError

from tamis.configs import choices, wiring
from tamis.configs.address import Address, joined
from tamis.configs.choices import OneOf
from tamis.configs.fields import (
    Addresses,
    File,
    Folder,
    HostNames,
    Id,
    IdText,
    OneAddress,
    Pair,
    Version,
    named,
    with_ends,
)
from tamis.configs.records import RecordSettings
from tamis.configs.spaces import SpaceConfig, SpaceName
from tamis.configs.unmatched import UnmatchedSettings
from tamis.native import DEFAULT_ENGINE, ENGINES, engines_with
from tamis.protocol import limits as bounds
from tamis.protocol.spaces import SpaceSet
from tamis.protocol.spaces.space import NAMING
from tamis.protocol.strategies import STRATEGIES, StrategyFacts, chosen, exists, options_of, takes
from tamis.protocol.wire.numbers import stable_number

_ROUNDS = ENGINES["sff"].options["rounds"]
_INTERVAL = ENGINES["interval"].options
_PST = ENGINES["pst"].options
COST_MAX = 2**32 - 1
"""A cost travels as 32 bits; sums of costs are 64 bits wide and cannot overflow."""
MIB = 1024 * 1024


class ConfigSection(BaseModel):
    """What all parts of the file have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)


S = TypeVar("S", bound=BaseModel)


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
    destinations_max: int = Field(
        default=bounds.ROUTE_ROUTERS,
        ge=1,
        le=bounds.ROUTE_ROUTERS_MAX,
        description="Strategy `match-first`: a message lists up to so many routers; one for more is matched by each "
        "router on its way. A router takes lists of any length.",
    )

    @check_field("mode", "reuse", "prune", "destinations_max")
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
    tree_bytes: int | None = Field(
        default=None,
        ge=_INTERVAL["tree_bytes"].least,
        le=_INTERVAL["tree_bytes"].most,
        description="Bytes that the tree of one structure may take before it begins anew; without it, "
        f"{_INTERVAL['tree_bytes'].standard}.",
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


class Limits(ConfigSection):
    """Bounds a router keeps. They may be stricter than the protocol's own, never looser."""

    connections: int = Field(
        default=10_000, ge=1, le=1_000_000, description="Open client connections; more are refused."
    )
    client_series: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="Clients that have metrics of their own, by name: the first so many to come; the rest are summed "
        "up under the name `others`. 0: no metrics by client.",
    )
    filters_per_client: int = Field(
        default=bounds.FILTERS_PER_CLIENT,
        ge=1,
        le=bounds.ENTRIES_MAX,
        description="Filters one client may hold.",
    )
    table_bytes_per_client: int | None = Field(
        default=None,
        ge=bounds.TABLE_BYTES_PER_CLIENT_MIN,
        le=2**40,
        description="Bytes of table that one client's filters may take; without it, a tenth of what a table may.",
    )
    frame_bytes: int = Field(
        default=bounds.FRAME_BYTES_MAX,
        ge=4_096,
        le=bounds.FRAME_BYTES_MAX,
        description="Size of a frame, header and payload included, in bytes; a larger one ends its connection.",
    )
    connection_queue_bytes: int = Field(
        default=8 * MIB,
        ge=MIB,
        le=1024 * MIB,
        description="Bytes waiting to be sent on one connection; at least the largest frame.",
    )
    memory_bytes: int = Field(
        default=1024 * MIB,
        ge=16 * MIB,
        le=2**40,
        description="Memory for what others cause, in bytes: half for tables, half for queues and buffers.",
    )
    match_steps: int = Field(
        default=bounds.MATCH_STEPS,
        ge=bounds.MATCH_STEPS_MIN,
        le=bounds.MATCH_STEPS_MAX,
        description="Steps that matching one message may take, some ten nanoseconds each; past them it is dropped.",
    )
    publishers: int = Field(
        default=100_000, ge=1, le=16_777_216, description="Publishers whose messages are known when they come twice."
    )
    credit_frames: int = Field(
        default=10_000, ge=1, le=2**32 - 1, description="Messages a client may publish ahead of the router."
    )
    credit_bytes: int = Field(
        default=8 * MIB,
        ge=MIB,
        le=1024 * MIB,
        description="Bytes a client may publish ahead of the router; at least the largest frame.",
    )
    traces_per_s: int = Field(
        default=50, ge=1, le=1_000_000, description="Traces and dry runs a client may ask for in a second."
    )
    traces_burst: int = Field(
        default=500, ge=1, le=1_000_000, description="And at once; past both, messages go on untraced."
    )
    greeting_ms: int = Field(
        default=2_000, ge=100, le=60_000, description="Time from connecting to HELLO, and from there to AUTH, in ms."
    )
    drain_ms: int = Field(
        default=10_000, ge=0, le=3_600_000, description="Time that queues have to empty when the router stops, in ms."
    )


class Keepalive(ConfigSection):
    """How a connection whose other end is gone is found."""

    hold_ms: int = Field(
        default=30_000,
        ge=100,
        le=3_600_000,
        description="A client from which nothing came for so long, in ms, is disconnected.",
    )
    ping_ms: int = Field(
        default=10_000,
        ge=50,
        le=3_600_000,
        description="A PING goes to a client after so long in silence, in ms; sooner where its own hold time asks.",
    )


class LinkKeepalive(ConfigSection):
    """How a neighbour that is gone is found."""

    hold_ms: int = Field(
        default=1_000,
        ge=100,
        le=3_600_000,
        description="A neighbour from which nothing came for so long, in ms, is given up, and connected again.",
    )
    ping_ms: int = Field(
        default=300,
        ge=50,
        le=3_600_000,
        description="A PING goes to it after so long in silence, in ms; sooner where its own hold time asks.",
    )


class SlowConsumer(ConfigSection):
    """What happens when the queue of a client (`limits.connection_queue_bytes`) is full."""

    policy: Annotated[str, OneOf(choices.SLOW_POLICIES)] = Field(
        default="drop-newest",
        description="Drop what comes, drop what waits longest, disconnect, or make publishers wait and then drop.",
    )
    block_ms: int = Field(
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


class Logging(ConfigSection):
    """What a router writes to standard error."""

    level: Annotated[str, OneOf(choices.LOG_LEVELS)] = Field(
        default="info", description="The least important line that is written."
    )
    format: Annotated[str, OneOf(choices.LOG_FORMATS)] = Field(
        default="text", description="`text` for people, `json` for one object a line."
    )


EngineOrName = Annotated[
    EngineSettings,
    BeforeValidator(named, json_schema_input_type=Annotated[str, OneOf(choices.ENGINES)] | EngineSettings),
]
StrategyOrName = Annotated[
    StrategySettings,
    BeforeValidator(named, json_schema_input_type=Annotated[str, OneOf(choices.STRATEGIES)] | StrategySettings),
]


class RouterConfig(ConfigSection):
    """One daemon: where it listens, and what it does otherwise than the rest of the network."""

    clients: Addresses = Field(
        default=(), description="Where clients connect. Port 0 takes a free port, which is logged."
    )
    neighbours: Addresses = Field(
        default=(), description="Where neighbour routers connect. The first that can be dialled is."
    )
    reached_at: OneAddress | None = Field(
        default=None,
        description="What neighbours dial, where that differs from `neighbours`: behind a gateway, or with a wildcard.",
    )
    admin: OneAddress | None = Field(default=None, description="Where status, tables and metrics are served.")
    admin_token: File | None = Field(
        default=None,
        description="File of the token that `admin` asks for, mode 0600: one word of 16 to 1,024 characters. "
        "Without it, `admin` listens on loopback or a Unix socket only.",
    )
    admin_names: HostNames = Field(
        default=(),
        description="What `admin` is called besides its address, `host` or `host:port`: a proxy's name, a service's. "
        "Requests addressed to other names are refused.",
    )
    data: Folder | None = Field(
        default=None,
        description="Folder for what must survive a restart. A relative path starts from this file's folder.",
    )
    machine: Id = Field(
        default="local",
        description="A label for where it runs. Addresses and folders must differ among routers of one machine only.",
    )
    engine: EngineOrName | None = Field(default=None, description="Instead of the network's `engine`.")
    tokens: File | None = Field(default=None, description="Instead of the network's `tokens`.")
    tls: Tls | None = Field(default=None, description="Instead of the network's `tls`.")
    neighbour_tls: NeighbourTls | None = Field(
        default=None, description="Encrypts the router's links over TCP; both ends of such a link have it."
    )
    keepalive: Keepalive | None = Field(
        default=None, description="Times that differ here; the others are the network's."
    )
    slow_consumer: SlowConsumer | None = Field(
        default=None, description="What differs here for slow clients; the rest is the network's."
    )
    limits: Limits | None = Field(default=None, description="Limits that differ here; the others are the network's.")
    logging: Logging | None = Field(
        default=None, description="Log settings that differ here; the others are the network's."
    )
    records: RecordSettings | None = Field(
        default=None, description="What differs here for records; the rest is the network's, or the defaults."
    )
    unmatched: UnmatchedSettings | None = Field(
        default=None, description="What differs here for messages that nobody wanted; the rest is the network's."
    )

    @property
    def dial(self) -> Address | None:
        """The address that neighbours connect to; None if this router cannot be dialled."""
        return self.reached_at or next((address for address in self.neighbours if address.dialable), None)


class LinkConfig(ConfigSection):
    """Two neighbours and the cost of the way between them. A list of the two ids is a link of cost 1."""

    ends: Pair = Field(description="The two router ids, `[a, b]`.")
    cost: int = Field(
        default=1,
        ge=1,
        le=COST_MAX,
        description="Cost of one hop, the same both ways; paths of least total cost are used.",
    )
    secret: File | None = Field(
        default=None, description="File that both ends have, mode 0600, by whose content they prove who they are."
    )
    keepalive: LinkKeepalive = Field(default=LinkKeepalive(), description="When a silent neighbour is given up.")


LinkOrEnds = Annotated[
    LinkConfig, BeforeValidator(with_ends, json_schema_input_type=tuple[IdText, IdText] | LinkConfig)
]


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """A link as one of its ends sees it. `dial` is where this end connects to; None: the neighbour connects."""

    neighbour: str
    cost: int
    dial: Address | None
    secret: str | None
    keepalive: LinkKeepalive


@dataclass(frozen=True, slots=True)
class RouterSettings:
    """All one router needs to start, the network's settings filled in where it has none of its own."""

    id: str
    clients: tuple[Address, ...]
    neighbours: tuple[Address, ...]
    dial: Address | None
    admin: Address | None
    admin_token: str | None
    admin_names: tuple[str, ...]
    data: str | None
    machine: str
    engine: EngineSettings
    tokens: str | None
    tls: Tls | None
    neighbour_tls: NeighbourTls | None
    keepalive: Keepalive
    slow_consumer: SlowConsumer
    limits: Limits
    logging: Logging
    records: RecordSettings | None
    unmatched: UnmatchedSettings
    links: tuple[LinkSettings, ...]
    broadcast: str
    strategy: StrategySettings
    spaces: SpaceSet


class Topology(ConfigSection):
    """A network of routers."""

    version: Version = Field(default=1, description="Version of this format.")
    name: Id = Field(default="tamis", description="Name of the network, shown in logs and status.")
    routers: dict[Id, RouterConfig] = Field(min_length=1, description="The routers by id.")
    links: tuple[LinkOrEnds, ...] = Field(default=(), description="Which routers are neighbours.")
    broadcast: Annotated[str, OneOf(choices.BROADCASTS)] = Field(
        default="source-trees",
        description="Along which trees messages travel: one per source, one for all, or back along the reverse path.",
    )
    strategy: StrategyOrName = Field(default=StrategySettings(), description="How routers share the filtering.")
    engine: EngineOrName = Field(
        default=EngineSettings(),
        description="How each router matches; without it, strategy `link-matching` takes `pst`.",
    )
    data: Folder | None = Field(
        default=None,
        description="Folder with one folder per router, named by its id; a router's own `data` goes first.",
    )
    tokens: File | None = Field(
        default=None,
        description="File of the clients' tokens, mode 0600: a name (or `*` for any) and a token a line. "
        "Without it every client is let in, and only from the router's own machine.",
    )
    tls: Tls | None = Field(default=None, description="Certificate and key of the routers' client listeners.")
    keepalive: Keepalive = Field(default=Keepalive(), description="When a silent client is given up.")
    slow_consumer: SlowConsumer = Field(
        default=SlowConsumer(), description="What happens to a client that cannot keep up."
    )
    limits: Limits = Field(default=Limits(), description="Bounds every router keeps.")
    logging: Logging = Field(default=Logging(), description="What every router logs.")
    records: RecordSettings | None = Field(
        default=None, description="What every router writes down for `tamis records` and `tamis analyze`."
    )
    unmatched: UnmatchedSettings = Field(
        default=UnmatchedSettings(), description="Which messages that nobody wanted every router keeps to be looked at."
    )

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
        default="allow", description="What becomes of a message that names no space, or none that is declared."
    )

    @model_validator(mode="after")
    def _check_spaces(self) -> Topology:
        _ = self.space_set
        return self

    @cached_property
    def space_set(self) -> SpaceSet:
        """All spaces, and what becomes of messages that name none of them."""
        spaces = {name: config.as_space(name) for name, config in self.spaces.items()}
        return SpaceSet(spaces, self.space_attribute, self.space_unknown == "refuse")

    @model_validator(mode="after")
    def _check_wiring(self) -> Topology:
        problems = [problem.what for problem in wiring.problems(self)]
        if problems:
            raise PydanticCustomError("wiring", "{what}", {"what": "; ".join(problems)})
        return self

    def router(self, router_id: str) -> RouterSettings:
        """Return the settings of one router; KeyError for an unknown id."""
        own = self.routers[router_id]
        return RouterSettings(
            router_id,
            own.clients,
            own.neighbours,
            own.dial,
            own.admin,
            own.admin_token,
            own.admin_names,
            own.data or (joined(self.data, router_id) if self.data else None),
            own.machine,
            own.engine or self._usual_engine,
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
            self.broadcast,
            self.strategy,
            self.space_set,
        )

    @property
    def _usual_engine(self) -> EngineSettings:
        """The engine of routers that name none: the network's or, where it names none, its strategy's."""
        own = self.strategy.facts.engine
        return self.engine if own is None or "engine" in self.model_fields_set else EngineSettings(name=own)

    def _links_of(self, router_id: str) -> Iterator[LinkSettings]:
        for link in self.links:
            if router_id in link.ends:
                neighbour = link.ends[link.ends[0] == router_id]
                dial = self.routers[neighbour].dial if self.dialler(link) == router_id else None
                yield LinkSettings(neighbour, link.cost, dial, link.secret, link.keepalive)

    def dialler(self, link: LinkConfig) -> str:
        """Return the end of `link` that connects to the other, so that there is one connection: the one with the
        smaller number, unless only that one can be dialled."""
        smaller, larger = sorted(link.ends, key=stable_number)
        return larger if self.routers[larger].dial is None else smaller

    @cached_property
    def edges(self) -> tuple[tuple[str, str, int], ...]:
        """Return every link once, as (smaller id, larger id, cost), sorted."""
        return tuple(sorted((min(link.ends), max(link.ends), link.cost) for link in self.links))

    @cached_property
    def _neighbours(self) -> dict[str, list[tuple[str, int]]]:
        table: dict[str, list[tuple[str, int]]] = {router_id: [] for router_id in self.routers}
        for a, b, cost in self.edges:
            table[a].append((b, cost))
            table[b].append((a, cost))
        return {router_id: sorted(pairs) for router_id, pairs in table.items()}

    def neighbours(self, router_id: str) -> list[tuple[str, int]]:
        """Return the neighbours of one router as (id, cost), sorted; KeyError for an unknown id."""
        return list(self._neighbours[router_id])

    def summary(self) -> dict[str, object]:
        """Return what `tamis check` shows of a sound file."""
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
            "broadcast": self.broadcast,
            "strategy": self.strategy.name,
            "spaces": len(self.spaces),
            "engines": sorted({router.engine.name for router in everyone}),
        }


def _overridden(general: S, own: S | None) -> S:
    if own is None:
        return general
    return general.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})
