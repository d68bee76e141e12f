"""The options and words by which commands connect to a router as clients: addresses, name, token, certificate.

Law: a word that begins like an address is an address, in any position; such an attribute or predicate has to be written
differently. Missing values come from variables and the context in use (contexts.py). Errors are printed as sentences;
the exit code is 2 for mistakes on the command line, 1 for failures.
"""

from __future__ import annotations

import contextlib
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tamis.cli.reach import contexts
from tamis.cli.reach.clients_at import clients_at
from tamis.cli.reach.guesses import guesses
from tamis.cli.reach.other_address import ADMIN_SCHEMES, SCHEMES
from tamis.protocol.errors import DialectError, MessageTextError, PredicateError, Refused, SyntaxRefused, TamisError
from tamis.protocol.limits import CREDENTIAL_BYTES_MAX
from tamis.protocol.shown import shown

if TYPE_CHECKING:
    import ssl

    import tamis.blocking
    from tamis.protocol.spaces import SpaceSet

DEFAULT_ADDRESS: Final = "tamis://127.0.0.1:7400"
_BEGINS: Final = "an address begins with tamis://, tamis+tls:// or tamis+unix:"
_LIKE_AN_ADDRESS: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://\S+|[\w.-]+:[0-9]{1,5}|\[[0-9a-f:.]+\]:[0-9]{1,5}", re.IGNORECASE
)
_WHAT: Final[dict[type[SyntaxRefused], str]] = {
    PredicateError: "predicate",
    MessageTextError: "message",
    DialectError: "filter",
}

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Access:
    """The arguments for `tamis.connect`."""

    addresses: tuple[str, ...]
    name: str | None
    token: bytes | None
    tls: ssl.SSLContext | None

    def client(self, spaces: SpaceSet | None = None) -> tamis.Client:
        import tamis

        return tamis.connect(*self.addresses, spaces=spaces, **self._options)

    def blocking_client(self, spaces: SpaceSet | None = None) -> tamis.blocking.Client:
        import tamis.blocking

        return tamis.blocking.connect(*self.addresses, spaces=spaces, **self._options)

    @property
    def _options(self) -> dict[str, Any]:
        return {"name": self.name, "token": self.token, "tls": self.tls}


def access_options(command: Command) -> Command:
    """Add the options that `access` uses."""
    file = click.Path(exists=True, dir_okay=False)
    for option in (
        click.option("--ca", type=file, metavar="FILE", help="Certificates to trust for tamis+tls://; also TAMIS_CA."),
        click.option(
            "--token-file", type=file, metavar="FILE", help="A file with the token, mode 0600; also TAMIS_TOKEN_FILE."
        ),
        click.option("--name", metavar="NAME", help="The client's name; also TAMIS_NAME. Default: a unique name."),
    ):
        command = option(command)
    return command


def is_like_an_address(word: str) -> bool:
    return word.startswith((*SCHEMES, *ADMIN_SCHEMES)) or _LIKE_AN_ADDRESS.fullmatch(word) is not None


def split_addresses(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the addresses among the words, or those of TAMIS_URL, of the context in use, or the default; and the other
    words.

    A router that is named by its administration is queried for its addresses for clients.
    """
    addresses: list[str] = []
    others = []
    for word in words:
        if word.startswith(SCHEMES):
            addresses.append(word)
        elif word.startswith(ADMIN_SCHEMES):
            addresses += clients_at(word)
        elif word.startswith(("tamis:", "tamis+")):
            raise click.UsageError(f"{word!r}: {_BEGINS}")
        elif _LIKE_AN_ADDRESS.fullmatch(word):
            meant = f"tamis://{word.rpartition('://')[2]}"
            name, colon, value = word.partition(":")
            attribute = f" An attribute is written {name}={value}." if value.isdecimal() and colon else ""
            raise click.UsageError(f"{word!r}: {_BEGINS}; did you mean {meant}?{attribute}")
        else:
            others.append(word)
    return tuple(addresses) or contexts.urls() or (DEFAULT_ADDRESS,), tuple(others)


def access(
    addresses: tuple[str, ...], name: str | None, token_file: str | None, ca: str | None, is_named: bool = True
) -> Access:
    """Return the arguments for a client of these addresses, from options and defaults. Without `is_named` each client
    has a unique name, whatever the context sets."""
    besides = contexts.for_addresses(addresses)
    token_file, ca = token_file or besides.token_file, ca or besides.ca
    name = name if name is not None or not is_named else besides.name
    token = None if token_file is None else token_in(Path(token_file))
    return Access(addresses, name, token, None if ca is None else certificates_in(ca))


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Turn errors of Tamis into sentences with an exit code."""
    try:
        yield
    except SyntaxRefused as error:
        raise _Misuse(f"{_WHAT[type(error)]}, {error}") from None
    except Refused as error:
        raise _Misuse(str(error)) from None
    except TamisError as error:
        text = "\n".join([str(error), *guesses(str(error))])
        raise click.ClickException(shown(text, keep="\n")) from None


class _Misuse(click.ClickException):
    """A usage error without the usage line: the caret line is more helpful."""

    exit_code = 2


def token_in(path: Path) -> bytes:
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise click.UsageError(f"{path}: readable by others; the token must be private: chmod 600 {path}")
        token = path.read_bytes().strip()
    except OSError as error:
        raise click.UsageError(f"{path}: the token cannot be read: {error.strerror}") from None
    if not token or b"\n" in token:
        has = "several" if token else "none"
        raise click.UsageError(f"{path}: a token file holds one token on one line, this one has {has}")
    if len(token.split()) > 1:
        raise click.UsageError(
            f"{path}: a token file holds one word, the token, this one has more; is it the `tokens` file of a router, "
            "with a name before each token?"
        )
    if len(token) > CREDENTIAL_BYTES_MAX:
        raise click.UsageError(f"{path}: a token has at most {CREDENTIAL_BYTES_MAX:,} bytes, not {len(token):,}")
    return token


def certificates_in(ca: str | Path) -> ssl.SSLContext:
    import ssl

    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        raise click.UsageError(f"{ca}: no readable certificate in PEM (-----BEGIN CERTIFICATE-----)") from None
    except OSError as error:
        raise click.UsageError(f"{ca}: the certificates cannot be read: {error.strerror}") from None
