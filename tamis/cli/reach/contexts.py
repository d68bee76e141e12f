"""Contexts: the addresses of a network and the credentials for it, under a name; and the variables that override them.

    ~/.config/tamis/contexts/NAME.json      one context (or below XDG_CONFIG_HOME)
    ~/.config/tamis/context                 the name of the one in use

Law: an option on the command line overrides a variable, and a variable overrides the context in use. The token,
certificates and name of a context are sent only to the routers of that context: they are not used with an address from
elsewhere. Contexts hold paths of secrets, never secrets.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import click

VARIABLE: Final = "TAMIS_CONTEXT"
VARIABLES: Final = {
    "url": "TAMIS_URL",
    "admin": "TAMIS_ADMIN",
    "token_file": "TAMIS_TOKEN_FILE",
    "ca": "TAMIS_CA",
    "name": "TAMIS_NAME",
    "admin_token_file": "TAMIS_ADMIN_TOKEN_FILE",
}
"""By field of a context: the variable that overrides it."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_BETWEEN: Final = re.compile(r"\s+|,(?=tamis)")
"""The separator of addresses: blanks, or a comma."""


@dataclass(frozen=True, slots=True)
class Context:
    """One context. `url` has addresses for clients, `admin` is a target as for `tamis status`; None if not set."""

    url: tuple[str, ...] = ()
    admin: str | None = None
    token_file: str | None = None
    ca: str | None = None
    name: str | None = None
    admin_token_file: str | None = None

    def form(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value}


# --- saved contexts


def home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "tamis"


def saved() -> dict[str, Context]:
    """Return all contexts by name."""
    return {file.stem: load(file.stem) for file in sorted((home() / "contexts").glob("*.json"))}


def load(name: str) -> Context:
    """Return one context; a usage error if it does not exist."""
    try:
        form = json.loads(_file(name).read_text())
        known = {field.name for field in fields(Context)}
        kept = {key: value for key, value in form.items() if key in known}
        return Context(**kept | {"url": tuple(kept.get("url", ()))})
    except FileNotFoundError:
        names = ", ".join(file.stem for file in sorted((home() / "contexts").glob("*.json")))
        hint = f"the contexts are {names}" if names else "create one by `tamis context add`"
        raise click.UsageError(f"no context {name!r}; {hint}") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise click.ClickException(f"{_file(name)} is not a context: {error}") from None


def save(name: str, context: Context) -> None:
    _write(_file(name), json.dumps(context.form(), indent=1) + "\n")


def use(name: str) -> None:
    load(name)
    _write(home() / "context", f"{name}\n")


def remove(name: str) -> None:
    load(name)
    if in_use() == name:
        (home() / "context").unlink(missing_ok=True)
    _file(name).unlink()


def in_use() -> str | None:
    """Return the name of the context in use; None if there is none."""
    told = os.environ.get(VARIABLE, "").strip()
    try:
        return told or (home() / "context").read_text().strip() or None
    except FileNotFoundError:
        return None


def _file(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise click.UsageError(f"a context's name has 1 to 64 letters, digits, `.`, `_` and `-`, not {name!r}")
    return home() / "contexts" / f"{name}.json"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(file)


# --- defaults of a command


def present() -> Context:
    """Return the context in use; an empty one if there is none."""
    name = in_use()
    return Context() if name is None else load(name)


def variable(field: str) -> str | None:
    """Return the value of the variable of a field; None if it is not set."""
    return os.environ.get(VARIABLES[field], "").strip() or None


def urls() -> tuple[str, ...]:
    """Return the addresses of the variable, else of the context in use; none if neither has any."""
    told = variable("url")
    return split(told) if told is not None else present().url


def split(text: str) -> tuple[str, ...]:
    return tuple(word for word in _BETWEEN.split(text) if word)


def is_of(context: Context, addresses: Sequence[str]) -> bool:
    """Return whether these addresses belong to the network of a context. A context without addresses matches any."""
    return not context.url or set(addresses) <= set(context.url)


def for_addresses(addresses: Sequence[str]) -> Context:
    """Return the defaults for a client of these addresses: for each field the variable, else the context in use if it
    is of their network."""
    context = present()
    if not is_of(context, addresses):
        context = Context()
    return Context(
        token_file=variable("token_file") or context.token_file,
        ca=variable("ca") or context.ca,
        name=variable("name") or context.name,
    )
