"""The file of principals, for many of them: a line for each, with its name, its roles and the digest of its token.

    # name    roles            digest of its token, two while it is being changed
    press-1   sensor           sha256:9f86d0...
    press-2   sensor,operator  sha256:60303a... sha256:fd61a0...

Law: the file is read line by line, and a principal takes its name and some 40 bytes, so that memory is bounded by
PRINCIPALS_MAX. A name has no blanks here. `-` stands for no role. Lines that are blank or begin with `#` are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import BinaryIO, Final, TypeVar

from tamis.configs.access.private import check_private
from tamis.configs.mistakes import MISTAKES_MAX, FilePlace, Mistake, Problem, lines, quoted
from tamis.protocol.access.principals import DIGESTS_MAX, PRINCIPALS_MAX, PrincipalLine
from tamis.protocol.errors import ConfigError, Refused
from tamis.protocol.peer_names import check_peer_name

LINE_BYTES_MAX: Final = 4_096
NO_ROLE: Final = b"-"
_DIGEST: Final = re.compile(rb"sha256:([0-9a-f]{64})")
_PLAIN_NAME: Final = re.compile(rb"[A-Za-z0-9_./:-]{1,256}")
"""Names that need no look at each character."""
FORM: Final = "a line has a name, its roles with commas between them, and one or two digests: press-1 sensor sha256:..."


class PrincipalsFile:
    """Reads one file. `class_of`: returns the class of a list of roles; it raises Refused, with a sentence, if a role
    does not exist."""

    def __init__(self, path: str, class_of: Callable[[list[str]], int]) -> None:
        self._path = path
        self._class_of = class_of
        self._classes: dict[bytes, int] = {}
        self._mistakes: list[Mistake] = []
        self.roleless: list[FilePlace] = []

    def lines(self) -> Iterator[PrincipalLine]:
        """Yield the principals in the order of the file. Raise ConfigError behind the last of them if the file has
        mistakes, and at once if it cannot be read or others may."""
        try:
            with FilePath(self._path).open("rb") as file:
                check_private(self._path, file.fileno())
                yield from self._read(file)
        except OSError as error:
            raise ConfigError([f"{self._path}: cannot be read: {error.strerror}"]) from error
        if self._mistakes:
            raise ConfigError(lines(self._mistakes, self._path))

    def _read(self, file: BinaryIO) -> Iterator[PrincipalLine]:
        count = 0
        for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES_MAX + 1), b""), 1):
            try:
                found = self._line(number, line)
                count += found is not None
                if count > PRINCIPALS_MAX:
                    raise _Wrong(line, 0, f"the file has more than {PRINCIPALS_MAX:,} principals", ends=True)
            except _Wrong as wrong:
                self._mistakes.append(Mistake(FilePlace(number, wrong.column), Problem((), wrong.what)))
                if wrong.ends or len(self._mistakes) > MISTAKES_MAX:
                    return
            else:
                if found is not None:
                    yield found

    def places_of(self, wanted: dict[bytes, int]) -> dict[bytes, FilePlace]:
        """Return the place of each wanted name: of its first line, its second, and so on, as its number says."""
        places, seen = {}, dict.fromkeys(wanted, 0)
        with FilePath(self._path).open("rb") as file:
            for number, line in enumerate(file, 1):
                name = next(iter(line.split(None, 1)), b"")
                if name in seen:
                    seen[name] += 1
                    if seen[name] == wanted[name]:
                        places[name] = FilePlace(number, line.index(name) + 1)
        return places

    def _line(self, number: int, line: bytes) -> PrincipalLine | None:
        """Return the principal in a line; None if it has none."""
        words = line.split()
        if len(line) > LINE_BYTES_MAX:
            raise _Wrong(line, 0, f"a line has at most {LINE_BYTES_MAX:,} bytes", ends=True)
        if not words or words[0].startswith(b"#"):
            return None
        if not 3 <= len(words) <= 2 + DIGESTS_MAX:
            raise _Wrong(line, 0, FORM)
        name, roles, *digests = words
        if _PLAIN_NAME.fullmatch(name) is None:
            _check(_check_name, line, 0)
        class_number = self._classes.get(roles)
        if class_number is None:
            class_number = self._classes[roles] = _check(self._class_of_roles, line, 1)
        if roles == NO_ROLE and len(self.roleless) <= MISTAKES_MAX:
            self.roleless.append(FilePlace(number, 1))
        return PrincipalLine(
            name, class_number, b"".join([_digest(line, word, at) for at, word in enumerate(digests, 2)])
        )

    def _class_of_roles(self, roles: str) -> int:
        return self._class_of([] if roles == NO_ROLE.decode() else [name for name in roles.split(",") if name])


class _Wrong(Exception):
    """A mistake at the word number `at` of a line. `ends`: nothing behind it is read."""

    def __init__(self, line: bytes, at: int, what: str, *, ends: bool = False) -> None:
        super().__init__(what)
        start = end = 0
        for word in line.split()[: at + 1]:
            start = line.index(word, end)
            end = start + len(word)
        self.column = len(line[:start].decode(errors="replace")) + 1
        self.what = what
        self.ends = ends


T = TypeVar("T")


def _check(read: Callable[[str], T], line: bytes, at: int) -> T:
    """Return what `read` makes of a word of a line; raise _Wrong with what it refuses."""
    try:
        return read(line.split()[at].decode())
    except UnicodeDecodeError:
        raise _Wrong(line, at, "the file must be UTF-8 text") from None
    except Refused as error:
        raise _Wrong(line, at, str(error)) from None


def _digest(line: bytes, word: bytes, at: int) -> bytes:
    found = _DIGEST.fullmatch(word)
    if found is None:
        shown = quoted(word.decode(errors="replace"))
        raise _Wrong(line, at, f"must be sha256: and 64 hexadecimal digits in lower case, got {shown}")
    return bytes.fromhex(found[1].decode())


def _check_name(name: str) -> str:
    if "*" in name:
        raise Refused("names with a star are proven by certificates, and stand under `principals`")
    return check_peer_name(name)
