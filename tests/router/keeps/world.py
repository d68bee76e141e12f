"""A router's keeps with a disk that can lose what was not committed, publishers, consumers and clocks; all is judged.

Law: everything passes through the judge. A consumer remembers what it was given in this life of the router, so that it
can acknowledge late, twice, or what another one has.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from tamis.protocol.language import parse
from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.client_bodies import AckVerdict, Range, ranges_of
from tamis.protocol.wire.keep_bodies import Attach, Keep, KeepTerms, Overflow, StartAt
from tamis.protocol.wire.packed_filters import encode_filter
from tamis.router.keeps import events as e
from tamis.router.keeps import records as r
from tamis.router.keeps.keeps import Keeps
from tamis.router.keeps.living import KeepQuotas
from tests.router.keeps.oracle import Judge, MessageKey, Wanted, recount


def packed(predicate: str) -> tuple[bytes, ...]:
    return tuple(encode_filter(filter_) for filter_ in parse(predicate).filters)


def is_kind(*kinds: str) -> Callable[[dict[str, object]], bool]:
    return lambda attributes: attributes["kind"] in kinds


NAMES = ("plain", "ordered", "small", "full", "latest", "aged", "dead")
TERMS = {
    "plain": KeepTerms(packed('kind = "a"'), deliveries_max=3, dead_letter="dead", unacked_max=3, idle_ms=60_000),
    "ordered": KeepTerms(packed("exists kind"), order_by="v", deliveries_max=0, unacked_max=4, idle_ms=0),
    "small": KeepTerms(packed('kind = "b"'), count=3, deliveries_max=2, backoff_ms=(), idle_ms=0),
    "full": KeepTerms(packed('kind = "c"'), count=4, overflow=Overflow.REFUSE, deliveries_max=0, idle_ms=0),
    "latest": KeepTerms(packed('kind = "a"'), latest_by="v", idle_ms=0, deliveries_max=0),
    "aged": KeepTerms(packed('kind = "c"'), for_ms=60_000, idle_ms=0, deliveries_max=0, bytes=1_000),
    "dead": KeepTerms(packed('kind = "a" and v = 0'), deliveries_max=0, idle_ms=0),
}
WANTED = {
    "plain": Wanted(is_kind("a"), 30_000, dead_letter="dead", attempts=3),
    "ordered": Wanted(is_kind("a", "b", "c"), 30_000, order_by="v"),
    "small": Wanted(is_kind("b"), 30_000, lets_go=True, attempts=2),
    "full": Wanted(is_kind("c"), 30_000),
    "latest": Wanted(is_kind("a"), 30_000, latest_by="v", lets_go=True),
    "aged": Wanted(is_kind("c"), 30_000, lets_go=True),
    "dead": Wanted(lambda attributes: attributes["kind"] == "a" and attributes["v"] == 0, 30_000),
}
ENOUGH = 10**6


def is_plain(key: MessageKey) -> bool:
    """Return whether the message asks for no disk: where a keep has no room for it, that counts a loss."""
    return key[1] % 7 == 0


class World:
    def __init__(self, make: type[Keeps] = Keeps, *, lives_are_counted: bool = True) -> None:
        self.judge = Judge()
        self._make, self._lives_are_counted = make, lives_are_counted
        self.steady, self.wall, self.life = 0, 1_700_000_000_000, 1
        self.disk: list[tuple[int, r.LogRecord]] = []
        self.pending: list[tuple[int, r.LogRecord]] = []
        self.keeps = make(1, [], KeepQuotas(), self._now)
        self._tokens, self._members, self._counters = count(1), count(1), count(1)
        self._waiting: dict[int, Callable[[], None]] = {}
        self.got: dict[int, dict[int, MessageKey]] = {}
        self.of: dict[int, str] = {}
        self.credit: dict[int, int] = {}
        self.forgetting = ""
        self._numbers: dict[str, int] = {}

    @property
    def _now(self) -> e.Clocks:
        return e.Clocks(self.steady, self.wall)

    # ---- what happens ----

    def keep(self, name: str, start: StartAt = StartAt.NEW) -> None:
        if not self.is_kept(name):
            self.judge.keep_asked(name, WANTED[name])
        if start is not StartAt.NEW and name in self.judge.keeps:
            seen = self.judge.keeps[name]
            seen.offered |= {key for key, attributes in self.judge.sent.items() if seen.wanted.wants(attributes)}
        asked = Keep(1, name, TERMS[name], start)
        self.do(e.KeepAsked(self._token(lambda: self.judge.keep_confirmed(name)), "maker", asked))
        self._numbers[name] = self._number(name)

    def forget(self, name: str) -> None:
        self.forgetting = name
        self.do(e.ForgetAsked(0, name))
        self.forgetting = ""

    def attach(self, name: str, credit: int, *, latest: bool = False, after: int = 0) -> int:
        member = next(self._members)
        asked = Attach(1, 1, name, credit, after=after, latest=latest)
        self.judge.attached(member, name, after)
        self.got[member], self.of[member], self.credit[member] = {}, name, credit
        commands = self.do(e.AttachAsked(self._token(lambda: None), member, asked))
        if any(isinstance(command, e.AnswerRefused) for command in commands):
            self._drop(member)
        return member

    def detach(self, member: int, *, is_lost: bool = False) -> None:
        if member in self.of:
            self.judge.left(member, is_lost=is_lost)
            del self.of[member]
            self.do(e.MemberGone(member, is_lost))

    def add_credit(self, member: int, more: int) -> None:
        if member in self.of:
            self.credit[member] += more
            self.do(e.MemberCredit(member, self.credit[member]))

    def publish(
        self, kind: str, value: int, *, origin: int = 1, ttl_ms: int = 0, again: MessageKey | None = None
    ) -> None:
        key = again or (origin, next(self._counters))
        attributes = self.judge.sent.get(key, {"kind": kind, "v": value})
        self.judge.published(key, attributes)
        message = Message(attributes, b"", MessageId(*key))
        wanted = tuple(n for n, keep in self.keeps.ledger.keeps.items() if WANTED[keep.made.name].wants(attributes))
        token = 0 if is_plain(key) else self._token(lambda: self.judge.publish_confirmed(key))
        expires = self.wall + ttl_ms if ttl_ms else 0
        self.do(e.MessageCame(token, message, 100, wanted, expires, again is not None))

    def ack(self, member: int, positions: list[int], verdict: AckVerdict, *, delay_ms: int = 0) -> None:
        self.ack_ranges(member, ranges_of(positions), positions, verdict, delay_ms=delay_ms)

    def ack_ranges(
        self, member: int, ranges: tuple[Range, ...], positions: list[int], verdict: AckVerdict, *, delay_ms: int = 0
    ) -> None:
        """`positions`: those that the member may mean with `ranges`."""
        if member not in self.of:
            return
        name, got, seen = self.of[member], dict(self.got[member]), self.judge.keeps[self.of[member]]
        mine = [p for p in positions if seen.last_holder.get(p) == member]
        rejected = [got[p] for p in mine if verdict is AckVerdict.REJECT and p not in seen.done]
        self.judge.acked(member, positions, verdict.name.lower())
        making = self.judge.makings[name]

        def confirmed() -> None:
            if self.judge.makings[name] == making and verdict is AckVerdict.DONE:
                self.judge.ack_confirmed(name, mine, got)
            if self.judge.makings[name] == making and verdict is AckVerdict.REJECT:
                self.judge.reject_confirmed(name, rejected)

        self.do(e.MemberAcked(member, ranges, verdict, delay_ms, "", self._token(confirmed)))

    def commit(self, records: int) -> None:
        """The disk takes that many records more."""
        done, self.pending = self.pending[:records], self.pending[records:]
        if done:
            self.disk += done
            self.do(e.LogCommitted(done[-1][0]))

    def crash(self) -> None:
        self.judge.crashed()
        self.pending, self._waiting, self.of, self.got = [], {}, {}, {}
        self.life += self._lives_are_counted
        self.steady += 1
        self.judge.time_is(self.steady)
        self.keeps = self._make(self.life, self.disk, KeepQuotas(), self._now)
        for name in NAMES:
            if self._number(name) != self._numbers.get(name):  # one that was forgotten may be there again
                self.judge.keep_gone(name)
                self._numbers[name] = self._number(name)
            if not self.is_kept(name):
                self.judge.keep_gone(name)
            elif name not in self.judge.keeps:
                self.judge.keep_asked(name, WANTED[name])
                offered = {key for key, a in self.judge.sent.items() if WANTED[name].wants(a)}
                self.judge.keeps[name].offered |= offered
        self._compare_with_disk()
        self.do(e.TimePassed())

    def pass_time(self, steady_ms: int, wall_ms: int) -> None:
        """The wall's clock may jump, in both directions."""
        self.steady, self.wall = self.steady + steady_ms, self.wall + wall_ms
        self.judge.time_is(self.steady)
        self.do(e.TimePassed())

    def is_kept(self, name: str) -> bool:
        return self.keeps.ledger.named(name) is not None

    def _number(self, name: str) -> int:
        found = self.keeps.ledger.named(name)
        return 0 if found is None else found.number

    # ---- what comes out ----

    def do(self, event: e.KeepEvent) -> list[e.KeepCommand]:
        commands = self.keeps.handle(event, self._now)
        for command in commands:
            self._take(command)
        for keep in self.keeps.ledger.keeps.values():
            left = {how.value: n for how, n in keep.left.items()}
            self.judge.figures(keep.made.name, keep.appended, left, len(keep.open))
        return commands

    def _take(self, command: e.KeepCommand) -> None:
        match command:
            case e.AppendRecord(n, record):
                self._written(n, record)
            case e.DeliverKept(member, position, message, deliveries, replayed, maybe, dead):
                key = (message.id.origin, message.id.counter)
                self.judge.given(member, position, key, deliveries, replayed=replayed, maybe=maybe, dead=dead)
                if not replayed:
                    self.got[member][position] = key
            case e.TellLost(member, how, in_all):
                self.judge.told_lost(member, how.value, in_all)
            case e.CutMember(member):
                self.judge.cut(member, self.forgetting)
                self._drop(member)
            case e.AnswerDone(token):
                self._waiting.pop(token)()
            case e.AnswerRefused(token):
                del self._waiting[token]

    def _written(self, n: int, record: r.LogRecord) -> None:
        self.judge.appended(n)
        self.pending.append((n, record))
        if isinstance(record, r.KeepForgotten):
            for name in NAMES:
                if not self.is_kept(name):
                    self.judge.keep_gone(name)

    def _drop(self, member: int) -> None:
        if member in self.of:
            self.judge.left(member)
            del self.of[member]

    def _token(self, then: Callable[[], None]) -> int:
        token = next(self._tokens)
        self._waiting[token] = then
        return token

    def _compare_with_disk(self) -> None:
        """What the router has after a start is what the records on disk say, by a count of another kind."""
        has = {n: (keep.appended, len(keep.open)) for n, keep in self.keeps.ledger.keeps.items()}
        assert has == {n: figures[:2] for n, figures in self._recount().items()}, (
            "D10: a start has not what the disk has"
        )

    def _recount(self) -> dict[int, tuple[int, int, int]]:
        plain: list[tuple[object, ...]] = []
        for n, record in self.disk:
            match record:
                case r.KeepMade(taken=taken):
                    plain.append(("made", n, taken))
                case r.MessageKept(keeps=keeps):
                    plain.append(("kept", n, keeps))
                case r.MessagesLeft(keep, positions, how):
                    plain.append(("left", keep, positions, how in r.LOSSES))
                case r.MessageUnstored(keep):
                    plain.append(("unstored", keep))
                case r.LetterMoved(keep, position, to):
                    plain.append(("moved", n, keep, position, to))
                case r.KeepForgotten(keep):
                    plain.append(("forgotten", keep))
        return recount(plain)

    # ---- the end ----

    def settle(self) -> None:
        """Everybody leaves, the disk takes all, and one consumer of each keep acknowledges until there is no more."""
        for member in list(self.of):
            self.detach(member)
        self.commit(len(self.pending))
        last = {name: self.attach(name, ENOUGH) for name in NAMES if self.is_kept(name)}
        for _ in range(200):
            for member in last.values():
                seen = self.judge.keeps.get(self.of.get(member, ""))
                if seen is not None:
                    self.ack(
                        member, [p for p, (holder, _) in seen.holders.items() if holder == member], AckVerdict.DONE
                    )
            self.commit(len(self.pending))
            if not any(keep.open for keep in self.keeps.ledger.keeps.values()):
                break
            self.pass_time(31_000, 1)
        recorded = self._recount()
        for keep in self.keeps.ledger.keeps.values():
            self.judge.at_rest(keep.made.name, len(keep.open), recorded[keep.number][2])
