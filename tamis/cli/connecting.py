"""How commands reach a router as its clients: addresses, name, token, certificate.

Law: words that begin as an address does are addresses, wherever they stand; an attribute or predicate that does must be
put otherwise. What goes wrong is said in a sentence; exit code 2 is for what we were told, 1 for what happened.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tamis.protocol.errors import MessageTextError, PredicateError, Refused, SyntaxRefused, TamisError
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    import ssl

    import tamis.blocking

DEFAULT_ADDRESS: Final = "tamis://127.0.0.1:7400"
_SCHEMES: Final = ("tamis://", "tamis+tls://", "tamis+unix:")
_WHAT: Final[dict[type[SyntaxRefused], str]] = {PredicateError: "predicate", MessageTextError: "message"}

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Access:
    """What `tamis.connect` is told."""

    addresses: tuple[str, ...]
    name: str | None
    token: bytes | None
    tls: ssl.SSLContext | None

    def client(self) -> tamis.Client:
        import tamis

        return tamis.connect(*self.addresses, **self._options)

    def blocking_client(self) -> tamis.blocking.Client:
        import tamis.blocking

        return tamis.blocking.connect(*self.addresses, **self._options)

    @property
    def _options(self) -> dict[str, Any]:
        return {"name": self.name, "token": self.token, "tls": self.tls}


def access_options(command: Command) -> Command:
    """Adds the options that `access` takes."""
    file = click.Path(exists=True, dir_okay=False)
    for option in (
        click.option("--ca", type=file, metavar="FILE", help="Certificates to trust for tamis+tls://."),
        click.option("--token-file", type=file, metavar="FILE", help="Holds the token to show, mode 0600."),
        click.option("--name", metavar="NAME", help="The client's name; without it, one that nobody else has."),
    ):
        command = option(command)
    return command


def split_addresses(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The addresses among the words, or those of TAMIS_URL, or the default; and the other words."""
    addresses = tuple(word for word in words if word.startswith(_SCHEMES))
    others = tuple(word for word in words if not word.startswith(_SCHEMES))
    return addresses or tuple(os.environ.get("TAMIS_URL", "").split()) or (DEFAULT_ADDRESS,), others


def access(addresses: tuple[str, ...], name: str | None, token_file: str | None, ca: str | None) -> Access:
    token = None if token_file is None else _token(Path(token_file))
    return Access(addresses, name, token, None if ca is None else _context(ca))


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Errors of Tamis as sentences with an exit code."""
    try:
        yield
    except SyntaxRefused as error:
        raise _Misuse(f"{_WHAT[type(error)]}, {error}") from None
    except Refused as error:
        raise _Misuse(str(error)) from None
    except TamisError as error:
        raise click.ClickException(shown(str(error), keep="\n")) from None


class _Misuse(click.ClickException):
    """As a usage error, without the usage: the caret line is what helps."""

    exit_code = 2

    def show(self, file: Any = None) -> None:  # noqa: ANN401 - the signature is click's
        click.echo(self.format_message(), file=file, err=True)


def _token(path: Path) -> bytes:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise click.UsageError(f"{path}: others can read this token: chmod 600 {path}")
    token = path.read_bytes().strip()
    if not token or b"\n" in token:
        raise click.UsageError(f"{path}: a token file holds one token on one line")
    return token


def _context(ca: str) -> ssl.SSLContext:
    import ssl

    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError as error:
        raise click.UsageError(f"{ca}: no PEM certificates: {error}") from None
