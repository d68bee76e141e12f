"""The chains of this router, an entry, to the homes of others: C stores and sends messages (native/custody.py), and all
else is here.

    statements of homes ──> state ──────┐                    ┌── records, messages ──> C
    links ── CUSTODY_ACK ─> acknowledge ┼─> DepartingChains ─┤
    links ── CUSTODY_ASK ─> ask ────────┤                    └── GAP ──> links
    log ──> answered, time ──> tick ────┘

Law: a home is heard of its chain if it names the log of this router, and the log that the home states. What it has not
acknowledged in time is sent again from the log, as is what it asks for (C3). What is given up at a bound of its
messages is told by a GAP before what follows (C7); what it had acknowledged and asks for again, by a doubt (C10). What
the log does not take, or cannot read now, is done at a later tick.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from tamis.native.custody import HomeAnswer, HomeChain, Tell, Traffic
from tamis.native.log import LogBusy, LogFailed, LogFull
from tamis.protocol.limits import GAP_NUMBERS_MAX
from tamis.protocol.wire.custody_bodies import ChainGap, ChainRange, CustodyAck, CustodyAsk, LogLife
from tamis.protocol.wire.home_bodies import read_durable
from tamis.router.core.custody.chain import ASKED_EVERY_US, RESEND_MAX_US, RESEND_US
from tamis.router.core.custody.commands import PassedOver
from tamis.router.core.custody.entry import COUNTER_BITS
from tamis.router.durable.copies import counted_copy
from tamis.router.durable.custody_log import given_up_numbers
from tamis.router.durable.pace import CatchUpPace

BYTES_MAX: Final = 1 << 30
"""Bytes of messages that are stored for one home, until the oldest are given up."""
ALL_BYTES_MAX: Final = 1 << 63
"""Bytes of messages that are stored for all homes: those for which something is stored have equal parts of it."""
AGE_MS: Final = 72 * 3_600_000
"""For how long a message waits for a home, until it is given up."""


class SwitchDepartures(Protocol):
    """The part of SwitchHomes that is used."""

    def follow(self, before: int) -> None: ...

    def bound(self, bytes_max: int, age_ms: int, *, refuses: bool) -> None: ...

    def open(self, router: int) -> None: ...

    def want(self, router: int, number: int, filters: Iterable[bytes]) -> None: ...

    def unwant(self, router: int, number: int) -> None: ...

    def copy(self, router: int, number: int, copies: int, copies_min: int) -> None: ...

    def chain_of(self, router: int) -> HomeChain | None: ...

    def acknowledged(self, router: int, log: int, have: int, window: int) -> None: ...

    def lacks(self, router: int, numbers: ChainRange) -> None: ...

    def go_back(self, router: int, have: int) -> None: ...

    def sent_gap(self, router: int, n: int) -> None: ...

    def catch_up(self, router: int, size: int) -> int: ...

    def traffic(self) -> Traffic: ...

    def make_room(self, router: int) -> None: ...

    def answered(self, tell: Tell) -> Iterator[HomeAnswer]: ...


@dataclass(slots=True)
class _Departing:
    """The chain to a home whose log is `log`, as it states."""

    log: int
    token: int = 0
    """That of the home's last request."""
    doubt: int | None = None
    """What the home asked to follow, having acknowledged more; None: it has asked for no such thing since."""
    ask_us: int = 0
    due_us: int = 0
    """When what is on the way is sent again; 0: nothing is."""
    read_us: int = 0
    """When the log is read again; it was read, and nothing could be sent."""
    patience_us: int = RESEND_US
    waits_us: int = 0
    """Since when messages wait and the home has acknowledged none of them; 0: none wait."""

    def hurry(self) -> None:
        self.due_us = self.read_us = 0
        self.patience_us = RESEND_US

    def wait(self, now_us: int) -> int:
        """Return until when to wait, which is longer each time."""
        until_us = now_us + self.patience_us
        self.patience_us = min(2 * self.patience_us, RESEND_MAX_US)
        return until_us


class HomeStanding(NamedTuple):
    """What is stored for a home: bytes, as a part of their bound as well; how many messages were given up in this run,
    and how many of these as they had waited for too long. `silent_s`: how long messages have waited without an
    acknowledgement of any of them; 0: none wait. `refused`: messages that had no room, where that is refused."""

    home: int
    bytes: int
    full: float
    silent_s: float
    given_up: int
    given_up_old: int
    refused: int


class DepartingChains:
    """`written` is the present life of this router's log. `send` sends a GAP towards its home; it may be lost."""

    def __init__(
        self,
        me: int,
        written: LogLife,
        homes: SwitchDepartures,
        send: Callable[[ChainGap], None],
        bytes_max: int = BYTES_MAX,
        all_bytes_max: int = ALL_BYTES_MAX,
        age_ms: int = AGE_MS,
        *,
        refuses: bool = False,
    ) -> None:
        self._me, self._written, self._homes, self._send = me, written, homes, send
        self._bounds, self._age_ms, self._refuses = (bytes_max, all_bytes_max), age_ms, refuses
        self._bytes_max = 0
        self._chains: dict[int, _Departing] = {}
        self._pace, self._paused, self._now_us = CatchUpPace(), dict[int, None](), 0
        self.passed_over: Counter[PassedOver] = Counter()
        """Frames of homes without effect."""
        homes.follow(written.before)
        self._bound(0)

    # --- statements ---------------------------------------------------------------------------------------------------

    def state(self, home: int, log: int, added: Mapping[int, bytes], removed: Iterable[int]) -> None:
        """Take what `home` states: its log, and changes of its durable subscriptions, by number and as packed bytes.
        Raise FrameError for bytes that do not decode, and the exceptions of `SwitchHomes.open` and `want`: what the
        statement adds is then not stored, and must not be confirmed."""
        if home not in self._chains:
            self._homes.open(home)
            self._chains[home] = _Departing(log)
        gone = tuple(removed)
        for number in (*gone, *added):
            with suppress(KeyError):  # it is new
                self._homes.unwant(home, number)
        for number in gone:
            self._homes.copy(home, number, 0, 0)
        for number, packed in added.items():
            stated = read_durable(packed)
            self._homes.copy(home, number, *counted_copy(home, stated))
            self._homes.want(home, number, stated.filters)
        self._chains[home].log = log
        chain = self._homes.chain_of(home)
        if chain is not None and chain.log < log:
            self._acknowledge(chain, log, 0, chain.window)

    def reachable(self, home: int) -> None:
        """Send what waits for a home at once, as there is a way to it again."""
        if home in self._chains:
            self._chains[home].hurry()
            self._catch_up(home)

    def standings(self, now_us: int) -> Iterator[HomeStanding]:
        """Yield how each home stands."""
        for home, departing in self._chains.items():
            chain = self._homes.chain_of(home)
            if chain is not None:
                silent_us = now_us - departing.waits_us if departing.waits_us else 0
                full = chain.bytes / self._bytes_max
                yield HomeStanding(home, chain.bytes, full, silent_us / 1e6, chain.gone, chain.gone_old, chain.refused)

    # --- links --------------------------------------------------------------------------------------------------------

    def acknowledge(self, frame: CustodyAck) -> None:
        """Take an acknowledgement; one of less than before is late. Publishers of what a durable subscription there
        lacks are refused before."""
        chain = self._chain_of(frame)
        if chain is not None and (frame.home_log != chain.log or frame.have >= chain.have):
            have = chain.have if frame.home_log == chain.log else 0
            for numbers in (ChainRange(have + 1, frame.lacking_since), *frame.lacking):
                if have < numbers.last <= chain.last:
                    self._homes.lacks(frame.home, numbers)
            self._acknowledge(chain, frame.home_log, frame.have, frame.window)

    def ask(self, frame: CustodyAsk, now_us: int) -> None:
        """Send again what follows `have`, after a doubt if the home has acknowledged more."""
        chain = self._chain_of(frame)
        if chain is None or frame.home_log != chain.log:
            return
        departing = self._chains[frame.home]
        if now_us < departing.ask_us:
            self.passed_over[PassedOver.TOO_SOON] += 1
            return
        departing.hurry()
        departing.ask_us, departing.token = now_us + ASKED_EVERY_US, frame.token
        departing.doubt = frame.have if frame.have < chain.have else None
        self._go_back(chain, departing, frame.have)

    def _chain_of(self, frame: CustodyAck | CustodyAsk) -> HomeChain | None:
        """Return the chain that a frame is about; None if it can be about none. Of an earlier life the home may have
        numbers that this router has lost."""
        departing, chain = self._chains.get(frame.home), self._homes.chain_of(frame.home)
        if departing is None or chain is None:
            self.passed_over[PassedOver.UNKNOWN] += 1
        elif frame.entry_log != self._written.log or not frame.home_log == departing.log >= chain.log:
            self.passed_over[PassedOver.OTHER_LOG] += 1
        elif frame.have > max(chain.last, self._written.life << COUNTER_BITS):
            self.passed_over[PassedOver.NEVER_GIVEN] += 1
        else:
            return chain
        return None

    def _acknowledge(self, chain: HomeChain, log: int, have: int, window: int) -> None:
        try:
            self._homes.acknowledged(chain.router, log, have, window)
        except (LogFull, LogBusy, LogFailed):
            return  # the home repeats it
        except ValueError:  # of an earlier life, it is past all that was ever given
            self.passed_over[PassedOver.NEVER_GIVEN] += 1
            return
        departing = self._chains[chain.router]
        if log != chain.log or have > chain.have:
            departing.hurry()
            departing.waits_us = 0
        if log != chain.log or have >= chain.have:
            departing.doubt = None
        self._catch_up(chain.router)

    # --- sending again ------------------------------------------------------------------------------------------------

    def answered(self, now_us: int) -> int:
        """Take what the log has answered; to be called when its descriptor is readable. Return after how many us to
        call it again without that; 0: never."""
        self._now_us = now_us
        with suppress(LogFailed):
            for chain, has_moved in self._homes.answered(self._tell):
                if chain.is_behind and has_moved:
                    self._catch_up(chain.router)
                elif chain.is_behind:
                    self._chains[chain.router].read_us = now_us + RESEND_US
                if chain.is_past and has_moved:
                    self._homes.make_room(chain.router)
        while self._paused and not self._pace.wait_us(now_us):
            home = next(iter(self._paused))
            del self._paused[home]
            self._catch_up(home)
        return self._pace.wait_us(now_us) if self._paused else 0

    def _catch_up(self, home: int) -> None:
        """Read what a home is behind by, or have `answered` do so once it may be read."""
        if self._pace.wait_us(self._now_us):
            self._paused[home] = None
        else:
            self._pace.spend(self._homes.catch_up(home, self._pace.read_bytes), self._now_us)

    def tick(self, now_us: int) -> None:
        """Send again what should have been acknowledged, and what finds a way now; hold homes to their bounds."""
        self.answered(now_us)
        holding = behind = 0
        for home, departing in self._chains.items():
            chain = self._homes.chain_of(home)
            if chain is None:
                continue
            holding += chain.bytes > 0
            behind += chain.is_behind
            departing.waits_us = (departing.waits_us or now_us) if chain.bytes else 0
            is_on_the_way = chain.sent > chain.have or departing.doubt is not None
            if not is_on_the_way:
                departing.due_us = 0
            elif departing.due_us == 0:
                departing.due_us = departing.wait(now_us)
            elif now_us >= departing.due_us:
                departing.due_us = departing.wait(now_us)
                self._go_back(chain, departing, chain.have)
            if chain.is_behind and now_us >= departing.read_us:
                self._catch_up(home)
            if chain.is_past:
                self._homes.make_room(home)
        self._bound(holding)
        if behind:
            self._pace.hear(self._homes.traffic(), behind, now_us)

    def _bound(self, holding: int) -> None:
        """Bound what is stored for each home, while something is stored for `holding` of them."""
        each, in_all = self._bounds
        bytes_max = min(each, in_all // max(1, holding))
        if bytes_max != self._bytes_max:
            self._bytes_max = bytes_max
            self._homes.bound(bytes_max, self._age_ms, refuses=self._refuses)

    def _go_back(self, chain: HomeChain, departing: _Departing, have: int) -> None:
        """Send again what the home does not have, after the doubt that is due."""
        if departing.doubt is None:
            self._homes.go_back(chain.router, have)
        else:
            self._homes.go_back(chain.router, departing.doubt)
            self._gap(chain, departing.doubt, chain.have, ())
            self._homes.sent_gap(chain.router, chain.have)
        self._catch_up(chain.router)

    def _tell(self, chain: HomeChain, n: int, body: bytes) -> None:
        """Send what a record gives up, or a doubt up to `n`, and go on behind it."""
        previous = chain.sent
        numbers = tuple(number for number in given_up_numbers(body) if number > previous) if body else ()
        for start in range(0, len(numbers), GAP_NUMBERS_MAX):
            some = numbers[start : start + GAP_NUMBERS_MAX]
            self._gap(chain, previous, some[-1], some)
            previous = some[-1]
        if not numbers:
            self._gap(chain, previous, n, ())
        self._homes.sent_gap(chain.router, numbers[-1] if numbers else n)

    def _gap(self, chain: HomeChain, previous: int, n: int, numbers: tuple[int, ...]) -> None:
        token = self._chains[chain.router].token
        self._send(ChainGap(self._me, self._written, chain.router, chain.log, n, previous, numbers, token=token))
