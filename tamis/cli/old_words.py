"""Words of the command line of the previous version: this one accepts them with a warning.

Law: this file is removed with the next version, which refuses these words.
"""

from __future__ import annotations

from typing import Final

import click

_COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "keep": ("durable", "create"),
    "kept": ("durable",),
    "route": ("trace", "--dry-run"),
    "routes": ("show", "routes"),
}
_OPTIONS: Final[dict[str, dict[tuple[str, ...], tuple[str, ...]]]] = {
    "sub": {("--kept",): ("--durable",)},
    "pub": {("--confirm", "kept"): ("--confirm", "stored"), ("--confirm=kept",): ("--confirm=stored",)},
    "analyze": {
        ("--only", "kept"): ("--only", "durable"),
        ("--only=kept",): ("--only=durable",),
        ("--fail-on", "kept"): ("--fail-on", "durable"),
        ("--fail-on=kept",): ("--fail-on=durable",),
    },
}
"""By command: old options, alone or with their values, and the new ones."""


def renewed(words: list[str]) -> list[str]:
    """Return the words of a command line with the present names, and print a warning for each that is replaced."""
    if words[:1] and words[0] in _COMMANDS:
        now = _COMMANDS[words[0]]
        _warn(f"tamis {words[0]}", f"tamis {' '.join(now)}")
        return [*now, *words[1:]]
    for old, new in _OPTIONS.get(words[0] if words else "", {}).items():
        words = _replaced(words, old, new)
    return words


def _replaced(words: list[str], old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    end = words.index("--") if "--" in words else len(words)
    for at in range(1, end):
        found = tuple(words[at : at + len(old)])
        if found == old:
            _warn(" ".join(old), " ".join(new))
            return [*words[:at], *new, *words[at + len(old) :]]
        if len(old) == 1 and found[0].startswith(f"{old[0]}=") and old[0].startswith("--"):
            _warn(old[0], new[0])
            return [*words[:at], new[0] + found[0][len(old[0]) :], *words[at + 1 :]]
    return words


def _warn(old: str, new: str) -> None:
    click.echo(f"Warning: `{old}` is now `{new}`; the next version removes the old name", err=True)
