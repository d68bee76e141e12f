"""Changes the digests of one principal in a file of rules, and leaves every other byte of it unchanged.

Law: the file is replaced in one step, and keeps its mode. The changed rules are loaded, with their tests; if they are
not valid, the file is again what it was.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import yaml

from tamis.configs.access.load import load_access
from tamis.configs.address import joined
from tamis.configs.edit import edited
from tamis.protocol.errors import Refused

Digests = list[str]
Change = Callable[[Digests], Digests]


def change_tokens(file: str, name: str, change: Change) -> FilePath:
    """Give the principal with exactly this name the digests that `change` returns for those that it has; return the
    file that has been changed. Raise Refused, or ConfigError for mistakes of the rules."""
    rules = FilePath(load_access(file).file)
    text = rules.read_text()
    data = yaml.safe_load(text)
    is_section = "routers" in data
    section: dict[str, Any] = data["access"] if is_section else data
    held = (section.get("principals") or {}).get(name)
    if isinstance(held, dict):
        if not held.get("token"):
            raise Refused(f"{name} is proven by a certificate; it has no token")
        was = held["token"]
        digests = change([was] if isinstance(was, str) else list(was))
        path = (*(("access",) if is_section else ()), "principals", name, "token")
        _replace(rules, edited(text, {path: digests[0] if len(digests) == 1 else digests}), file)
        return rules
    listed = section.get("principals_file")
    if listed is None:
        raise Refused(f"no principal of {rules} is called {name}")
    lines = FilePath(joined(str(rules.parent), listed))
    _replace(lines, _with_line(lines, name, change), file)
    return lines


def _with_line(file: FilePath, name: str, change: Change) -> str:
    """Return the text of a file of principals with the changed line."""
    found = file.read_text().splitlines(keepends=True)
    for at, line in enumerate(found):
        words = line.split()
        if words and words[0] == name:
            roles, *digests = words[1:]
            start = line[: line.index(digests[0], line.index(roles, len(name)) + len(roles))]
            end = line[len(line.rstrip()) :]
            found[at] = start + " ".join(change(digests)) + end
            return "".join(found)
    raise Refused(f"no principal of {file} is called {name}")


def _replace(changed: FilePath, text: str, file: str) -> None:
    """Let `text` take the place of the file `changed`, which the rules in `file` consist of, if they stay valid."""
    before = changed.read_bytes()
    mode = changed.stat().st_mode & 0o777
    _write(changed, text.encode(), mode)
    try:
        load_access(file)
    except BaseException:
        _write(changed, before, mode)
        raise


def _write(file: FilePath, data: bytes, mode: int) -> None:
    """Replace a file in one step."""
    descriptor, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as out:
            os.fchmod(out.fileno(), mode)
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        FilePath(beside).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            FilePath(beside).unlink()
        raise
