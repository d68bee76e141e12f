"""Routers, links and clients in one virtual time, and the execution of each operation.

Law: every operation on the network is executed here and recorded in the truth. An impossible operation is skipped.
Random choices are seeded by the scenario and by the operation, so leaving one out changes the others as little as
possible.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from tamis.protocol.filters import Filter
from tamis.protocol.wire.numbers import group_number
from tamis.protocol.wire.packed_filters import decode_filter, encode_filter
from tamis.protocol.wire.routing_bodies import group_of
from tamis.router.core.events import SpacesStated
from tamis.router.core.times import Times
from tamis.simulate.account.account import Account
from tamis.simulate.account.log_files import LogLines
from tamis.simulate.account.logbook import Logbook
from tamis.simulate.account.wall import Wall
from tamis.simulate.faults import schemas
from tamis.simulate.faults.faults import MS, PUBLISHERS, WISHES, Args, Operation, Say
from tamis.simulate.faults.programs import with_programs
from tamis.simulate.faults.rules import CLASSES, files_of_rules
from tamis.simulate.faults.topologies import NetworkPlan
from tamis.simulate.faults.workload import CONTENTS, wishes
from tamis.simulate.nodes import view
from tamis.simulate.nodes.clock import Clock
from tamis.simulate.nodes.direction import Line
from tamis.simulate.nodes.link import SimulatedLink
from tamis.simulate.nodes.message import SimulatedMessage, Try
from tamis.simulate.nodes.node import Node
from tamis.simulate.nodes.paths import SharedPaths
from tamis.simulate.nodes.programs import NO_PROGRAMS
from tamis.simulate.nodes.rules import EnforcedRules
from tamis.simulate.nodes.run_parts import RunParts
from tamis.simulate.oracle.access import AccessJudge
from tamis.simulate.oracle.bounds import WaitingLimits
from tamis.simulate.oracle.deliveries import Patience
from tamis.simulate.oracle.expressions import contents_that_hold
from tamis.simulate.oracle.meaning import contents_of
from tamis.simulate.oracle.paths import component, graph_of
from tamis.simulate.oracle.roots import Lanes, SharedTreeLanes
from tamis.simulate.twin.table import Matches
from tamis.simulate.world.byzantine import ByzantinePeer
from tamis.simulate.world.clients import SimulatedClients
from tamis.simulate.world.custody import StoringPublishers
from tamis.simulate.world.durables import SimulatedDurables
from tamis.simulate.world.recorder import RunRecorder, RunRecords
from tamis.simulate.world.waits import Waits

UNIX_MS: Final = 1_700_000_000_000
"""The wall clock of every router when a run begins; jumps are relative to it."""
NEWS_US: Final = 200 * MS
"""The time within which statements cross any network: links are fast enough, as the hold of R5b requires."""
DELAY_MAX_US: Final = 30 * MS
LEAVE_US: Final = Times().tree_hold_us + 250 * MS
"""R5b: the time for which a stopping router forwards: others may send by earlier trees that long."""
FAREWELLS: Final = 20
"""Publications around the moment at which a leaving router is gone."""
STREAM: Final = 60
"""Messages of one publisher, close enough for one to overtake another where paths become shorter."""
STREAM_GAP_US: Final = 8 * MS
STREAM_PUBLISHER: Final = 2_000
STREAM_KINDS: Final = frozenset({"add", "restore", "merge", "return", "leave"})
S_NS: Final = 1_000_000_000
CLOCK_NS: Final = UNIX_MS * 1_000_000
"""The clock of publishers at the beginning. They count from 1 at first, and from their clock after a restart."""
START_NS: Final = S_NS // 100
"""The time between two starts by the clock. No process starts twice within RUN_REACH counters (1.05 ms), even if its
clock is set back each time: the later start would count as a part of the earlier one."""
FILLER_BYTES: Final = 16 * 1024
CLIENTS_RETURN_US: Final = (20 * MS, 500 * MS)


def patience(times: Times) -> Patience:
    """Return the times that the rules allow: a change is damped once, sent to every router, and requested once more if
    it was missed."""
    known_us = times.topology_damp_max_us + times.base_wait_us + times.reroute_every_us + 3 * NEWS_US
    asked_us = times.damp_widen_max_us + times.base_wait_us + NEWS_US
    gone_us = asked_us + times.narrow_hold_us + times.damp_narrow_max_us
    return Patience(known_us, asked_us, times.tree_hold_us, 3, times.way_wait_us, gone_us, times.age_out_us)


class World:
    def __init__(self, network: NetworkPlan, seed: int, kit: RunParts, lines: LogLines | None = None) -> None:
        """Build routers, links and clients. `lines` is the writer of the routers' records; None: they write none."""
        self.network = network
        self.kit = kit
        self._seed = seed
        self.clock = Clock()
        self.records = None if lines is None else self._records(lines, seed)
        is_shared = kit.settings.broadcast == "shared-tree"
        self.lanes = SharedTreeLanes() if is_shared else Lanes(kit.classes.truths)
        self.recorder = RunRecorder(self.clock, patience(kit.settings.times), self.lanes, self.records)
        self.wishes = wishes(WISHES, Random(f"{seed}/wishes"))
        if kit.programs is not NO_PROGRAMS:
            self.wishes = with_programs(self.wishes, Random(f"{seed}/programs"))
        self.contents = [contents_of(wish.plain, CONTENTS) for wish in self.wishes]
        self.decided = [
            bits if wish.expression is None else bits & contents_that_hold(wish.expression, CONTENTS)
            for wish, bits in zip(self.wishes, self.contents, strict=True)
        ]
        self._meanings = {wish.packed: bits for wish, bits in zip(self.wishes, self.contents, strict=True)}
        files = files_of_rules(Random(f"{seed}/rules"))
        self.rules = EnforcedRules(files, len(network.names))
        self.access = AccessJudge(files, CLASSES, CONTENTS, self.recorder.report)
        self.everything = contents_of((), CONTENTS)
        self._meanings[encode_filter(Filter(()))] = self.everything  # a strategy may state it for any clients
        self.messages: list[SimulatedMessage] = []
        """Messages published in this round."""
        self._random = Random(f"{seed}/world")
        self._matches = Matches(CONTENTS)
        paths = SharedPaths(len(network.names))
        self.nodes = [
            Node(name, self.clock, kit, self._matches, paths, self.recorder, self.unix_ms) for name in network.names
        ]
        self.by_number = {node.number: node for node in self.nodes}
        if self.records:
            self.records.catalog.begin(self.nodes, self.wishes)
        self.links = [self._link(a, b, cost) for a, b, cost in network.links]
        self.clients = SimulatedClients(self)
        self.waits = Waits(self)
        self.recorder.on_reached = self.waits.answered
        self.durables = SimulatedDurables(self)
        self.recorder.is_taken = self.clients.takes
        self.recorder.on_filled = self.durables.filled
        self.recorder.on_durables_known = self.durables.answered
        self.recorder.on_durables_stored_at = self.durables.stored_at
        self.storing = StoringPublishers(self)
        self._partition: list[SimulatedLink] = []
        self.byzantine: ByzantinePeer | None = None
        self._counters: dict[int, int] = {}
        self._serial = self._starts = 0

    def begin(self) -> None:
        """Start all routers at about the same time, and give each client a filter or two."""
        for node in self.nodes:
            self.clock.at(self._random.randrange(50 * MS), self._first_start, node)
        for link in self.links:
            link.wake()
        for client in self.clients:
            client.wishes.update(self._random.sample(range(WISHES), self._random.choice((0, 1, 1, 2))))
            self.clients.connect_after(client, self._random.randint(50 * MS, 300 * MS))

    def meaning(self, packed: bytes) -> tuple[int, int]:
        """Return the group of `packed` by its number, 0 for none, and the contents that it matches by the judge;
        KeyError if no client ever subscribed to it and no filters are merged or AND-ed with rules."""
        group = group_of(packed)
        is_changed = self.kit.settings.merge is not None or self.recorder.counts["did reload"]
        if is_changed and bytes(packed) not in self._meanings:
            plain = [
                (each.name, each.op.value, each.operands, each.negated) for each in decode_filter(packed).constraints
            ]
            self._meanings[bytes(packed)] = contents_of(plain, CONTENTS)
        return (group_number(group) if group else 0), self._meanings[bytes(packed)]

    def unix_ms(self) -> int:
        return UNIX_MS + self.clock.now_us // MS

    def reachable(self, node: Node) -> set[int]:
        truth = self.recorder.truth
        return component(graph_of(truth.edges(self.clock.now_us), truth.living()), node.number)

    def leave_for_good(self) -> None:
        """Let the last living router leave for good, if others live."""
        living = [index for index, node in enumerate(self.nodes) if node.alive]
        if len(living) > 1:
            self._crash((living[-1], 0))

    def heal(self) -> None:
        """Let all routers return, with their disks, and restore all links."""
        self._merge(())
        for router in range(len(self.nodes)):
            self._return((router, 1))
        for link in self.links:
            link.restore()

    # Operations.

    def perform(self, operation: Operation) -> None:
        self.recorder.operation = operation.number
        self.recorder.counts["operations"] += 1
        self.recorder.counts[f"did {operation.kind}"] += 1
        self.recorder.trace.note(self.clock.now_us, operation.number)
        self._random.seed(operation.number * 0x9E3779B97F4A7C15)
        _DO[operation.kind](self, operation.args)
        for say in operation.says:
            self.clock.after(say.after_us, self._say, say)
        if operation.kind in STREAM_KINDS:
            self._stream()

    def _subscribe(self, args: Args) -> None:
        client = self.clients[args[0]]
        if self.clients.subscribe(client, args[1]) and args[2]:
            self.waits.begin(client)

    def _unsubscribe(self, args: Args) -> None:
        self.clients.unsubscribe(self.clients[args[0]], args[1])

    def _reconnect(self, args: Args) -> None:
        self.clients.reconnect(self.clients[args[0]], args[1])

    def _move(self, args: Args) -> None:
        self.clients.move(self.clients[args[0]], args[1], args[2])

    def _join(self, args: Args) -> None:
        if self.wishes[args[1]].program is None:  # a worker group needs a filter that is exact
            self.clients.join(self.clients[args[0]], args[2], args[1])

    def _quit(self, args: Args) -> None:
        self.clients.quit(self.clients[args[0]], args[2], args[1])

    def _put(self, args: Args) -> None:
        """Request a change of a space from a router, as its administration does: under the version after its own."""
        node, name, shape = self.nodes[args[0]], schemas.NAMES[args[1]], schemas.SHAPES[args[2]]
        if node.alive and not node.is_leaving:
            held = view.spaces(node)[name]
            statement = schemas.statement(name, shape, held.version + 1)
            if statement.packed != held.packed:
                self.recorder.schemas.stated(statement)
                node.ask(SpacesStated((statement,)))

    def _reload(self, args: Args) -> None:
        """Put another file of rules of access in force at a router."""
        router, file = args
        if self.nodes[router].alive and self.rules.by_router[router] != file:
            self.clients.reload(router, lambda: self.rules.by_router.__setitem__(router, file))

    def _create(self, args: Args) -> None:
        self.durables.create(self.nodes[args[0]], f"d{args[1]}", args[2])

    def _remove(self, args: Args) -> None:
        self.durables.remove(self.nodes[args[0]], args[1])

    def _cut(self, args: Args) -> None:
        link = self._at(args[0])
        if link is not None and link.intact:
            link.cut(silently=bool(args[1]))

    def _restore(self, args: Args) -> None:
        link = self._at(args[0])
        if link is not None and link not in self._partition:
            link.restore()

    def _reset(self, args: Args) -> None:
        link = self._at(args[0])
        if link is not None:
            link.reset()

    def _darken(self, args: Args) -> None:
        link = self._at(args[0])
        for side in (0, 1):
            if link is not None and args[1] >> side & 1:
                link.darken(side)

    def _stall(self, args: Args) -> None:
        link = self._at(args[0])
        if link is not None:
            link.ways[args[1]].stall(self.clock.now_us + args[2])
            self.recorder.unsettled()
            self.clock.after(args[2], self._move_again)

    def _move_again(self, _: None) -> None:
        self.recorder.truth.moves_again()
        self.recorder.unsettled()

    def _lose(self, args: Args) -> None:
        link = self._at(args[0])
        if link is not None:
            link.ways[args[1]].lose_control += args[2]
            link.ways[args[1]].lose_data += args[3]

    def lose_no_more(self) -> None:
        for link in self.links:
            for way in link.ways:
                way.lose_control = way.lose_data = 0

    def _add(self, args: Args) -> None:
        a, b, cost = args
        if self.nodes[b].number not in self.nodes[a].links:
            link = self._link(a, b, cost)
            self.links.append(link)
            link.wake()

    def _crash(self, args: Args) -> None:
        node = self.nodes[args[0]]
        if node.alive:
            node.crash(silently=bool(args[1]), kept=args[2] if len(args) > 2 else 0)
            self.recorder.truth.ended(node.number)
            self.recorder.custody.ended(node.number)
            for client in self.clients.of(args[0]):
                self.clients.lose_connection(client)

    def _leave(self, args: Args) -> None:
        """Stop a router gracefully: its clients leave, others route around it, and then it ends."""
        node = self.nodes[args[0]]
        if not node.alive or node.is_leaving:
            return
        self.recorder.truth.leaves(node.number)
        for client in self.clients.of(args[0]):
            self.clients.disconnect(client)
        node.leave()
        self.clock.after(LEAVE_US, self._left, (args[0], node.life))
        for _ in range(FAREWELLS):
            router, content = self._random.randrange(len(self.nodes)), self._random.randrange(len(CONTENTS))
            after_us = LEAVE_US + self._random.randint(-60 * MS, 60 * MS)
            self.clock.after(after_us, self._say, Say(0, self._random.randrange(PUBLISHERS), router, content, 0, 0))

    def _left(self, what: tuple[int, int]) -> None:
        index, life = what
        if self.nodes[index].alive and self.nodes[index].life == life:
            self._crash((index, 0))

    def _return(self, args: Args) -> None:
        node = self.nodes[args[0]]
        if node.alive and node.is_leaving:
            self.clock.after(LEAVE_US, self._return, args)
        if node.alive:
            return
        if not args[1]:
            node.epoch_file = None
            self.durables.lose_disk(node)
        node.kept_spaces = tuple(view.spaces(node).values()) if args[1] and self.kit.declared else ()
        self._start(node)
        for link, _ in node.links.values():
            link.wake()
        for client in self.clients.of(args[0]):
            self.clients.connect_after(client, self._random.randint(*CLIENTS_RETURN_US))

    def _fill_up(self, args: Args) -> None:
        """Let the disk of a router be full for a while: it takes no messages of other routers."""
        custody = self.nodes[args[0]].custody
        if custody is not None:
            custody.full_until_us = self.clock.now_us + args[1]

    def _back_up(self, args: Args) -> None:
        self.durables.back_up(self.nodes[args[0]])

    def _put_back(self, args: Args) -> None:
        """Crash a router, and put its disk back to the backup."""
        node = self.nodes[args[0]]
        if node.alive and self.durables.has_backup(node):
            self._crash(args)
            self.durables.put_back(node)

    def _part(self, args: Args) -> None:
        if self._partition:
            return
        for link in self.links:
            sides = [args[0] >> self.nodes.index(end) & 1 for end in self._ends(link)]
            if sides[0] != sides[1] and link.intact:
                link.cut(silently=bool(args[1]))
                self._partition.append(link)

    def _merge(self, _: Args) -> None:
        parted, self._partition = self._partition, []
        for link in parted:
            link.restore()

    def _jump(self, args: Args) -> None:
        self.nodes[args[0]].clock_skew_ms += args[1]

    def _set_clock(self, args: Args) -> None:
        self.nodes[args[0]].set_clock(args[1])

    def _set_right(self, args: Args) -> None:
        self.nodes[args[0]].set_clock(0)

    def _forge(self, args: Args) -> None:
        self.byzantine = ByzantinePeer(self, self.nodes[args[0]])
        if self.byzantine.node.alive:
            for _ in range(args[1]):
                self.byzantine.lie(self._random, may_be_believed=bool(args[2]))

    def leave_victims_alone(self) -> None:
        """Reset each open link that is the only one of a victim of the hostile router, so that the next session is
        without lies."""
        if self.byzantine is not None:
            for link in self.links:
                if link.open and any(
                    self.byzantine.owns(end) for end in link.name if end != self.byzantine.node.number
                ):
                    link.reset()

    def _flood(self, args: Args) -> None:
        link = self._at(args[0])
        for _ in range(args[2]):
            if link is not None:
                link.carry(args[1], FILLER_BYTES, None)

    def _rewind(self, args: Args) -> None:
        publisher, seconds = args
        self._starts += 1
        self._counters[publisher] = CLOCK_NS + seconds * S_NS + self._starts * START_NS

    def fill(self, link: SimulatedLink) -> None:
        """Send as much data as the queues of `link` hold, both ways."""
        for side in (0, 1):
            for _ in range(link.line.data_queue_bytes // FILLER_BYTES):
                link.carry(side, FILLER_BYTES, None)

    # Publishing.

    def publish(self, router: int, content: int, publisher: int) -> SimulatedMessage | None:
        """Publish `content` at `router`. Return the message; None if the router is down."""
        node = self.nodes[router]
        if not node.alive or node.is_leaving:
            return None
        counter = self._counters[publisher] = self._counters.get(publisher, 0) + 1
        self._serial += 1
        message = SimulatedMessage(self._serial, content, publisher + 1, counter)
        self.messages.append(message)
        self.recorder.counts["messages"] += 1
        self._enter(router, message)
        return message

    def _enter(self, router: int, message: SimulatedMessage) -> None:
        """Publish a message at a router, if its rules of access let it in."""
        node, publisher, content = self.nodes[router], message.publisher, message.content
        enters = self.rules.enters(router, publisher, content)
        self.access.judge_entry(self.rules.by_router[router], publisher, content, is_refused=not enters)
        if enters:
            node.publish(message)
            if self.kit.custody is not None and not message.is_unfit:
                self.storing.publish(router, message)
        else:
            message.tries.append(Try(node.number, self.clock.now_us, entered=False))

    def _stream(self) -> None:
        """Publish a stream of messages at one router while statements about a change may spread: a link takes up to a
        second to come up."""
        router, content = self._random.randrange(len(self.nodes)), self._random.randrange(len(CONTENTS))
        say = Say(0, STREAM_PUBLISHER + router, router, content, 0, 0)
        begins_us = self._random.randint(0, 800 * MS)
        for number in range(STREAM):
            self.clock.after(begins_us + number * STREAM_GAP_US, self._say, say)

    def _say(self, say: Say) -> None:
        message = self.publish(say.router, say.content, say.publisher)
        if message is not None and say.retry_after_us:
            self.clock.after(say.retry_after_us, self._say_again, (say.retry_router, message))

    def _say_again(self, what: tuple[int, SimulatedMessage]) -> None:
        node = self.nodes[what[0]]
        if node.alive and not node.is_leaving:
            self.recorder.counts["retries"] += 1
            self._enter(*what)

    # Building.

    def _records(self, lines: LogLines, seed: int) -> RunRecords:
        wall = Wall(self.clock, seed, self._name_of)
        catalog = Logbook(wall, lines, self.kit.facts.recorded, self.kit.settings.broadcast)
        return RunRecords(catalog, Account(wall), lambda router: list(view.edges(self.by_number[router])))

    def _name_of(self, router: int) -> str:
        return self.by_number[router].name

    def _first_start(self, node: Node) -> None:
        self._start(node)

    def _start(self, node: Node) -> None:
        self.recorder.truth.began(node.number)
        node.start()
        self.recorder.custody.started(node.number, node.disk.written)
        if node.custody is not None:
            bounds = node.custody.bounds
            self.recorder.bounds.started(node.number, WaitingLimits(bounds.bytes, bounds.age_us, bounds.refuses))
            self.storing.started(node.number)
        on_disk = {home: stored.durables.values() for home, stored in node.disk.others.items()}
        if on_disk:
            self.recorder.durables.started(node.number, on_disk, view.durables(node))

    def _link(self, a: int, b: int, cost: int) -> SimulatedLink:
        """Build the link between two routers. Its delay depends on its ends alone and is equal both ways."""
        ends = self.nodes[a], self.nodes[b]
        slowest = min(DELAY_MAX_US, NEWS_US // len(self.nodes))
        chance = Random(f"{ends[0].name}/{ends[1].name}/{self._seed}")
        line = Line(delay_us=chance.randint(min(500, slowest), slowest))
        link = SimulatedLink(self.clock, ends, cost, line, chance, self.recorder, self.kit.direction)
        ends[0].links[ends[1].number] = (link, 0)
        ends[1].links[ends[0].number] = (link, 1)
        return link

    def _at(self, index: int) -> SimulatedLink | None:
        return self.links[index] if index < len(self.links) else None

    def _ends(self, link: SimulatedLink) -> list[Node]:
        return [self.by_number[number] for number in link.name]


_DO: Final[dict[str, Callable[[World, Args], None]]] = {
    "subscribe": World._subscribe,
    "unsubscribe": World._unsubscribe,
    "reconnect": World._reconnect,
    "move": World._move,
    "cut": World._cut,
    "restore": World._restore,
    "reset": World._reset,
    "darken": World._darken,
    "stall": World._stall,
    "lose": World._lose,
    "add": World._add,
    "crash": World._crash,
    "return": World._return,
    "partition": World._part,
    "merge": World._merge,
    "jump": World._jump,
    "flood": World._flood,
    "leave": World._leave,
    "rewind": World._rewind,
    "clock": World._set_clock,
    "set-right": World._set_right,
    "forge": World._forge,
    "join": World._join,
    "quit": World._quit,
    "put": World._put,
    "create": World._create,
    "remove": World._remove,
    "reload": World._reload,
    "power": World._crash,
    "wake": World._return,
    "fill": World._fill_up,
    "back-up": World._back_up,
    "put-back": World._put_back,
}
