"""The spaces by which one router validates messages: their sources, and the rules of their changes.

    topology file ──┐                                                      ┌──> the switch
    data folder ────┼── statements ──> known spaces, the newest of each ───┤
    administration ─┤                    ^ neighbours, if there are any    └──> data folder
    (tamis space)   │                    │ (core/statements/spaces.py)
                    └────────────────────┘

Law: versions alone decide which statement is in force, whatever its source. A requested change is made whole or not at
all; a narrowing, after which a message or a predicate that was valid may be refused, is made only if it is forced.
Statements of neighbours need no consent: their change was decided elsewhere. Statements beyond the topology file are
stored in the data folder.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tamis.native.results import OutOfMemory
from tamis.native.switch import Switch
from tamis.protocol import limits
from tamis.protocol.errors import Refused
from tamis.protocol.spaces import ChangeKind, Space, SpaceSet, compare, pack
from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.router.core.known_spaces import KnownSpaces
from tamis.router.daemon.health import Health
from tamis.router.daemon.logs import fields
from tamis.router.daemon.stored_spaces import StoredSpaces

KEEP_S: Final = 1.0
"""Seconds after which statements of neighbours are written to disk: many changes in succession make one write."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WantedSpace:
    """A requested change of a space. `space` None: it is withdrawn. `version` None: the version after the one in
    force."""

    name: str
    space: Space | None
    version: int | None = None


class SpacesInForce:
    def __init__(
        self,
        switch: Switch,
        declared: SpaceSet,
        kept: StoredSpaces,
        health: Health,
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        """`declared` has the spaces of the topology file; `later(seconds, function)` calls a function after a delay."""
        self._switch, self._declared, self._kept, self._health, self._later = switch, declared, kept, health, later
        self.known = KnownSpaces()
        self.set = SpaceSet({}, declared.naming, declared.refuses_unknown)
        """The spaces by which messages are validated now."""
        self._state: Callable[[tuple[SpaceStatement, ...]], None] = self._hold
        self._is_to_keep = False
        self._hold((*_statements(declared), *kept.read()))
        for statement in _statements(declared):
            self._tell_of_older(statement)

    def join(self, known: KnownSpaces, state: Callable[[tuple[SpaceStatement, ...]], None]) -> None:
        """Join a network, which holds the known spaces from here on, in `known`. `state` passes it the statements of
        this router's sources, and it calls `check_by` at each change."""
        statements = tuple(self.known.statements)
        self.known, self._state = known, state
        state(statements)

    def _hold(self, statements: Iterable[SpaceStatement]) -> None:
        """Hold statements, in a router without a network."""
        for statement in statements:
            if self.known.is_newer(statement) and self.known.has_room_for(statement):
                self.known.hold(statement)
        self.check_by(self.known.in_force)

    def _tell_of_older(self, statement: SpaceStatement) -> None:
        """Log a difference between the topology file and the statement in force about a space."""
        held = self.known.held[statement.name].statement
        if held.packed != statement.packed:
            about = fields(space=statement.name, version=statement.version, holds=held.version)
            _log.warning("the topology file has an older version of a space: raise its `version` there", extra=about)

    def check_by(self, spaces: Mapping[str, Space]) -> None:
        """Validate messages by `spaces` from now on. A space that this router cannot use, as it declares the attribute
        which names spaces here, is left out with an alarm."""
        naming = self._declared.naming
        for name in [name for name, space in spaces.items() if naming in space.attributes]:
            self._health.alarm_once(
                f"space {name}",
                f"space {name} is not enforced: it declares {naming}, the attribute that names spaces here",
            )
        fitting = {name: space for name, space in spaces.items() if naming not in space.attributes}
        self._use(SpaceSet(fitting, naming, self._declared.refuses_unknown))
        if not self._is_to_keep:
            self._is_to_keep = True
            self._later(KEEP_S, self.keep)

    def _use(self, spaces: SpaceSet) -> None:
        try:
            self._switch.know_spaces(spaces)
        except OutOfMemory:
            self._health.alarm_once(
                "spaces", "there is no memory for the newest spaces: the previous ones stay in force"
            )
            return
        self.set = spaces

    def keep(self) -> None:
        """Write the statements beyond the topology file to disk, if they may have changed."""
        if self._is_to_keep:
            self._is_to_keep = False
            of_file = {statement.name: statement for statement in _statements(self._declared)}
            beyond = [each for each in self.known.statements if of_file.get(each.name) != each]
            try:
                self._kept.write(beyond)
            except OSError as error:
                self._health.alarm_once(
                    "spaces kept", f"spaces cannot be stored in {self._kept.file}: {error.strerror}"
                )

    # --- requested changes
    # ---------------------------------------------------------------------------------------------

    def change(self, wanted: Sequence[WantedSpace], is_forced: bool) -> list[WantedSpace]:
        """Make these changes, and write them to disk; return those that changed something, with their versions. Refused
        lists all reasons against them; in that case no change is made."""
        changes = self._asked(wanted, self.set, is_forced)
        if changes:
            self._state(tuple(map(_statement, changes)))
            self.keep()
        for each in changes:
            what = "withdrawn" if each.space is None else "changed"
            _log.info(f"space {what}", extra=fields(space=each.name, version=each.version, forced=is_forced))
        return changes

    def plan_reload(self, declared: SpaceSet) -> Callable[[], None]:
        """Return a function that puts a reloaded topology file into force. Refused if the file narrows a space.

        A changed space gets the version of the file, or the next version if that is not higher than the one in force. A
        space that is no longer in the file is withdrawn."""
        before = self._declared.spaces
        wanted = [
            WantedSpace(name, space, self._version_after(name, space))
            for name, space in declared.spaces.items()
            if name not in before or before[name] != space or before[name].version != space.version
        ]
        wanted += [WantedSpace(name, None) for name in before if name not in declared.spaces]
        changes = self._asked(wanted, declared, is_forced=False)

        def take() -> None:
            self._declared = declared
            self._state(tuple(map(_statement, changes)))
            self.check_by(self.known.in_force)

        return take

    def _version_after(self, name: str, space: Space) -> int | None:
        held = self.known.held.get(name)
        is_higher = held is None or space.version > held.statement.version
        return space.version if is_higher else None

    def _asked(self, wanted: Sequence[WantedSpace], around: SpaceSet, is_forced: bool) -> list[WantedSpace]:
        """Return the effective changes of `wanted`, with their versions; `around` has the general settings of
        spaces."""
        changes: list[WantedSpace] = []
        problems: list[str] = []
        for each in wanted:
            try:
                change = self._with_version(each)
                if change is None:
                    continue
                changes.append(change)
                if change.space is not None and around.naming in change.space.attributes:
                    problems.append(
                        f"space {change.name}: attribute {around.naming} is reserved: it names the space of a message"
                    )
                problems += () if is_forced else narrowings(self.set.spaces.get(each.name), each, around)
            except Refused as error:
                problems.append(str(error))
        if not self.known.has_room_for(*map(_statement, changes)):
            most = f"{limits.SPACES_MAX} spaces of {limits.SPACES_BYTES_MAX:,} bytes together"
            problems.append(f"the limit is {most}, including withdrawn ones")
        if problems:
            raise Refused("; ".join(problems))
        return changes

    def _with_version(self, wanted: WantedSpace) -> WantedSpace | None:
        """Return the change with its version; None: it changes nothing."""
        name, held = wanted.name, self.known.held.get(wanted.name)
        if held is None:
            return None if wanted.space is None else WantedSpace(name, wanted.space, wanted.version or 1)
        is_same = held.statement.packed == (b"" if wanted.space is None else pack(wanted.space))
        if is_same and (wanted.version is None or wanted.version <= held.statement.version):
            return None
        version = held.statement.version + 1 if wanted.version is None else wanted.version
        if version <= held.statement.version:
            raise Refused(
                f"space {name}: version {held.statement.version} is in force, and {version} is not higher; "
                "raise the version, or leave it out"
            )
        if version > limits.INT_MAX:
            raise Refused(f"space {name}: its version is the highest possible, so it cannot be changed")
        return WantedSpace(name, wanted.space, version)


def narrowings(present: Space | None, wanted: WantedSpace, around: SpaceSet) -> Iterator[str]:
    """Yield a sentence for each kind of message or predicate that is refused only after the change."""
    if present is None:
        return
    if wanted.space is None:
        if around.refuses_unknown:
            yield f"space {wanted.name}: its messages would be refused, because space_unknown is `refuse`"
        return
    found = compare(present, wanted.space)
    if found.kind is ChangeKind.NARROWING:
        yield from (f"space {wanted.name}: {reason}" for reason in found.reasons)


def _statements(declared: SpaceSet) -> Iterator[SpaceStatement]:
    for name, space in declared.spaces.items():
        yield SpaceStatement(name, space.version, pack(space))


def _statement(change: WantedSpace) -> SpaceStatement:
    packed = b"" if change.space is None else pack(change.space)
    return SpaceStatement(change.name, change.version or 1, packed)
