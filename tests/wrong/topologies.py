"""Wrong topology files: one slip in a file that is sound, or a file that is something else."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tamis.configs.document import Document, FilePlace, read_document
from tests.wrong.case import Case
from tests.wrong.slips import lookalike, misspelt

FILE = "network.yaml"
GOOD = {file.name: file.read_text() for file in sorted((Path(__file__).parent / "good").glob("*.yaml"))}
_NAMED_FREELY = ("routers", "spaces", "classes", "roots", "attributes")
"""Below these keys stand names that the author of the file chooses."""
_TAKE_A_FILE = (
    *(("check", "--text-only", FILE),) * 8,
    ("check", FILE),
    ("up", FILE),
    ("router", "--topology", FILE, "--id", "a"),
    ("compose", FILE),
    ("kubernetes", FILE),
    ("status", FILE),
    ("space", "ls", FILE),
    ("space", "show", "trades", FILE),
    ("sub", "--spaces", FILE, "trades: price < 5"),
    ("simulate", "--topology", FILE, "--ops", "10"),
    ("records", "cat", FILE),
    ("reload", FILE),
)
_Wrong = tuple[str, int, tuple[str, ...]]
"""A wrong text, the line of the mistake, and words of which the answer must have one."""


@dataclass(frozen=True, slots=True)
class _Good:
    """A sound file, and what decides how it is made wrong."""

    rng: Random
    text: str
    document: Document


def drawn(rng: Random) -> Case:
    """Return a topology file with one slip, and a command that reads it."""
    if rng.random() < 0.25:
        return _other_file(rng)
    slip = rng.choice(_SLIPS)
    good = rng.choice(sorted(GOOD.values()))
    text, line, allowed = slip(_Good(rng, good, read_document(good)))
    words = rng.choice(_TAKE_A_FILE)
    name = f"topology: {slip.__name__.removeprefix('_').replace('_', ' ')}"
    return Case(name, words, (f"{FILE}:{line}:", f"line {line}"), allowed, {FILE: text.encode()})


# --- one slip


def _misspelt_key(good: _Good) -> _Wrong:
    key, place = _key(good.rng, good.document)
    return _replaced(good.text, place, key, misspelt(good.rng, key)), place.line, (key, "the keys are")


def _lookalike_key(good: _Good) -> _Wrong:
    key, place = _key(good.rng, good.document)
    other = lookalike(good.rng, key)
    return (
        _replaced(good.text, place, key, misspelt(good.rng, key) if other == key else other),
        place.line,
        (key, "the keys are"),
    )


def _key_twice(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    ends = ("[", "]")
    at = good.rng.choice(
        [i for i, line in enumerate(lines) if ": " in line and not line.lstrip().startswith(("-", *ends))]
    )
    lines.insert(at, lines[at])
    return "\n".join(lines), at + 2, ("twice",)


def _no_value(good: _Good) -> _Wrong:
    _, place = _scalar(good.rng, good.text, good.document)
    lines = good.text.splitlines()
    lines[place.line - 1] = lines[place.line - 1][: place.column - 1].rstrip()
    return "\n".join(lines), place.line, ("has no value",)


def _wrong_value(good: _Good) -> _Wrong:
    _, place = _scalar(good.rng, good.text, good.document)
    wrong = good.rng.choice(
        (
            "[1, 2]",
            "{x: 1}",
            '""',
            "-1",
            "99999999999999999999",
            "1.5.2",
            "5 parsecs",
            "4 GBit",
            "half past",
            "<>",
            "a b",
        )
    )
    return (
        _with_value(good.text, place, wrong),
        place.line,
        ("must be", "is no", "ust", "supported", "called", "names", "has"),
    )


def _wrong_number(good: _Good) -> _Wrong:
    numbers = [path for path, _ in _scalars(good.text, good.document) if _is_amount(str(_value(good.document, path)))]
    path = good.rng.choice(numbers)
    place = good.document.values[path]
    wrong = good.rng.choice(
        ("-5", "many", "1e400", "0x", "1,5", "10 GB", "3 weeks", "99999999999999", "nan", "1/2", "²")
    )
    return _with_value(good.text, place, wrong), place.line, ("must be", "needs", "ust")


def _wrong_address(good: _Good) -> _Wrong:
    paths = [
        path
        for path, _ in _scalars(good.text, good.document)
        if str(path[-1]) in ("clients", "neighbours", "admin", "reached_at")
    ]
    place = good.document.values[good.rng.choice(paths)]
    wrong = good.rng.choice(
        (
            *(
                "127.0.0.1",
                "127.0.0.1:99999",
                "127.0.0.1:74OO",
                "127.0.0.1:",
                ":7400",
                "http://127.0.0.1:7400",
                "1.2.3:80",
            ),
            *(
                '"::1:7400"',
                '"[::1]"',
                "tamis://127.0.0.1:7400",
                "127.0.0.1:7400/x",
                "7400",
                "ho st:80",
                "unix:",
                '"*:7400"',
            ),
            *("\uff1127.0.0.1:7400", "300.1.1.1:80", "unix:" + "long/" * 30, "tamis+tls://h:1", "-:80"),
        )
    )
    return _with_value(good.text, place, wrong), place.line, ("must", "quotes")


def _open_quote(good: _Good) -> _Wrong:
    _, place = _scalar(good.rng, good.text, good.document)
    return _replaced(good.text, place, "", good.rng.choice("\"'")), place.line, ("quote", "YAML")


def _open_bracket(good: _Good) -> _Wrong:
    _, place = _scalar(good.rng, good.text, good.document)
    return _replaced(good.text, place, "", good.rng.choice("[{")), place.line, ("YAML", "bracket", "]", "}")


def _tab(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    at = good.rng.choice([i for i, line in enumerate(lines) if line.startswith("  ")])
    lines[at] = "\t" + lines[at].lstrip()
    return "\n".join(lines), at + 1, ("tab",)


def _no_blank(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    at = good.rng.choice([i for i, line in enumerate(lines) if ": " in line and "{" not in line])
    lines[at] = lines[at].replace(": ", ":", 1)
    return "\n".join(lines), at + 1, ("YAML", "must be", "`key: value`")


def _deeper(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    at = good.rng.choice(
        [i for i, line in enumerate(lines) if i and ": " in line and lines[i - 1].rstrip()[-1:] != ":"]
    )
    lines[at] = "   " + lines[at]
    return "\n".join(lines), at + 1, ("YAML", "indent")


def _special(good: _Good) -> _Wrong:
    _, place = _scalar(good.rng, good.text, good.document)
    mark = good.rng.choice(("&x ", "!!int ", "*x ", "!secret "))
    return _replaced(good.text, place, "", mark), place.line, ("not allowed", "YAML")


def _unknown_router(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    at = good.rng.choice([i for i, line in enumerate(lines) if "[" in line and ("- [" in line or "ends" in line)])
    head, _, rest = lines[at].partition("[")
    lines[at] = f"{head}[z{rest}"
    return "\n".join(lines), at + 1, ("no router is called",)


def _link_again(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    at = next(i for i, line in enumerate(lines) if "- [" in line)
    ends = lines[at].partition("- ")[2]
    wrong = good.rng.choice(
        (ends, "[" + ", ".join(reversed(ends.strip("[]").split(", "))) + "]", "[a]", "[a, b, 3, 4]", "a-b")
    )
    lines.insert(at + 1, f"  - {wrong}")
    return "\n".join(lines), at + 2, ("second time", "must be")


def _address_taken(good: _Good) -> _Wrong:
    paths = [path for path, _ in _scalars(good.text, good.document) if str(path[-1]) in ("clients", "neighbours")]
    first, *others = paths
    place = good.document.values[good.rng.choice(others)]
    return _with_value(good.text, place, str(_value(good.document, first))), place.line, ("taken",)


def _key_gone(good: _Good) -> _Wrong:
    """Rename the one key that no file is without."""
    place = good.document.keys["routers",]
    return (
        _replaced(good.text, place, "routers", good.rng.choice(("nodes", "router", "Routers"))),
        place.line,
        ("routers",),
    )


def _link_lost(good: _Good) -> _Wrong:
    lines = good.text.splitlines()
    at = next(i for i, line in enumerate(lines) if "- [" in line)
    del lines[at]
    line = next((i for i, line in enumerate(lines, 1) if line.startswith("links:")), 0)
    return "\n".join(lines), line, ("in 2 parts", "has no value")


_SLIPS: tuple[Callable[[_Good], _Wrong], ...] = (
    *(_misspelt_key, _misspelt_key, _lookalike_key, _key_twice, _no_value, _wrong_value, _wrong_value, _wrong_number),
    *(_wrong_number, _wrong_address, _open_quote, _open_bracket, _tab, _no_blank, _deeper, _special, _unknown_router),
    *(_link_again, _address_taken, _key_gone, _link_lost),
)


def _key(rng: Random, document: Document) -> tuple[str, FilePlace]:
    """Return a key that the format names, and its place."""
    paths = [path for path in document.keys if len(path) < 2 or path[-2] not in _NAMED_FREELY]
    path = rng.choice([path for path in paths if len(str(path[-1])) > 2])
    return str(path[-1]), document.keys[path]


def _scalars(text: str, document: Document) -> list[tuple[tuple[str | int, ...], FilePlace]]:
    """Return the values that end their line, without those of a list in brackets."""
    lines = text.splitlines()
    found = [(path, place) for path, place in document.values.items() if isinstance(_value(document, path), str)]
    return [(path, place) for path, place in found if "[" not in lines[place.line - 1].replace('"[', "")]


def _scalar(rng: Random, text: str, document: Document) -> tuple[tuple[str | int, ...], FilePlace]:
    free = ("name", "machine", "folder", "data", "space_attribute")
    return rng.choice([(path, place) for path, place in _scalars(text, document) if path[-1] not in free])


def _is_amount(value: str) -> bool:
    return value[:1].isdigit() and "." not in value.replace("0.", "", 1)


def _value(document: Document, path: tuple[str | int, ...]) -> object:
    data = document.data
    for step in path:
        data = data[step]  # type: ignore[index]
    return data


def _replaced(text: str, place: FilePlace, old: str, new: str) -> str:
    lines = text.splitlines()
    line, at = lines[place.line - 1], place.column - 1
    lines[place.line - 1] = line[:at] + new + line[at + len(old) :]
    return "\n".join(lines) + "\n"


def _with_value(text: str, place: FilePlace, value: str) -> str:
    lines = text.splitlines()
    lines[place.line - 1] = lines[place.line - 1][: place.column - 1] + value
    return "\n".join(lines) + "\n"


# --- files that are something else


def _other_file(rng: Random) -> Case:
    kind = rng.choice(sorted(_OTHERS))
    words = rng.choice(_TAKE_A_FILE)
    data = _OTHERS[kind]
    files = {} if data == b"missing" else {FILE: None if data == b"folder" else data}
    return Case(f"topology: {kind}", words, (FILE,), (), files)


_OTHERS = {
    "empty": b"",
    "blanks alone": b"\n\n   \n",
    "a comment alone": b"# nothing\n",
    "binary": bytes(range(256)) * 4,
    "gzip": gzip.compress(GOOD[FILE].encode(), mtime=0),
    "UTF-16": GOOD[FILE].encode("utf-16"),
    "Latin-1": "name: M\xfcnchen\nrouters: {a: {}}\n".encode("latin-1"),
    "too large": b"# " + b"x" * 1_100_000,
    "messages": b"".join(json.dumps({"class": "alert", "n": n}).encode() + b"\n" for n in range(3)),
    "a certificate": b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "tokens": b"press-1 k3J9aaaaaaaaaaaaaaaa\n* 9fQ2bbbbbbbbbbbbbbbb\n",
    "a compose file": b"services:\n  a:\n    image: tamis\n    ports: ['7400:7400']\n",
    "a list": b"- a\n- b\n",
    "JSON of another program": b'{"name": "x", "version": "1.0.0", "dependencies": {}}',
    "two documents": (GOOD[FILE] + "---\n" + GOOD[FILE]).encode(),
    "INI": b"[router a]\nclients = 127.0.0.1:7400\n",
    "cut short": GOOD[FILE].encode()[: GOOD[FILE].index("[b, west]") + 3],
    "deep": b"routers: " + b"[" * 40 + b"]" * 40,
    "missing": b"missing",
    "a folder": b"folder",
}
