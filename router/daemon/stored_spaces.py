"""The statements about spaces beyond the topology file, on disk: the file `spaces` in the data folder of a router.

Law: a line is one statement, [name, version, content]. The file is replaced whole or not at all. An unreadable file
prevents no start: the log shows the reason, and the neighbours send their statements again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tamis.protocol.errors import TamisError
from tamis.protocol.limits import SPACES_BYTES_MAX
from tamis.protocol.wire.routing_bodies import SpaceStatement
from tamis.protocol.wire.schema import record_of
from tamis.router.daemon.files import replace
from tamis.router.daemon.logs import fields

_FILE: Final = "spaces"
_BYTES_MAX: Final = 4 * SPACES_BYTES_MAX
"""Bytes of the largest file that is read: all statements within the limits, as JSON in JSON."""

_log = logging.getLogger(__name__)


class StoredSpaces:
    """The file in the folder `data`, which is created on demand; None: nothing is stored."""

    def __init__(self, data: str | None) -> None:
        self.file = Path(data) / _FILE if data else None
        self._written: list[SpaceStatement] = []

    def read(self) -> list[SpaceStatement]:
        """Return the statements on disk; none if the file does not exist or is invalid."""
        if self.file is None:
            return []
        try:
            with self.file.open("rb") as stream:
                text = stream.read(_BYTES_MAX + 1)
            if len(text) > _BYTES_MAX:
                raise ValueError(f"it has more than {_BYTES_MAX:,} bytes")
            self._written = [_statement(json.loads(line)) for line in text.splitlines()]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError, TamisError) as error:
            _log.warning("the file of spaces is not used", extra=fields(file=str(self.file), because=str(error)))
        return self._written

    def write(self, statements: Iterable[SpaceStatement]) -> None:
        """Replace the statements on disk by `statements`; OSError if that fails."""
        statements = list(statements)
        if self.file is None or statements == self._written:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace(self.file, "".join(map(_line, statements)))
        self._written = statements


def _line(statement: SpaceStatement) -> str:
    said = statement.packed.decode(errors="surrogateescape")
    return json.dumps([statement.name, statement.version, said]) + "\n"


def _statement(said: object) -> SpaceStatement:
    if not isinstance(said, list) or len(said) != 3 or not isinstance(said[2], str):
        raise ValueError("a line must be [name, version, content]")
    statement = SpaceStatement(said[0], said[1], said[2].encode(errors="surrogateescape"))
    record_of(SpaceStatement).plain(statement)  # Refused where the wire would refuse it
    return statement
