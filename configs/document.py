"""Reads YAML text into plain data, with the place of every key and value.

Law: the data consists of dicts, lists and strings. A scalar stays the text that its author wrote, so a router may be
called `no`, `1e3` or `007`; the models convert text into numbers. Anchors, aliases and tags are refused: a topology
needs none, and they can expand a small file to a large one. Size, depth and number of nodes are bounded while events
arrive, before data is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from tamis.configs.mistakes import FilePlace, Mistake, Path, Problem, quoted
from tamis.configs.old_keys import new_key
from tamis.configs.syntax import syntax_mistake

FILE_BYTES_MAX = 1_048_576
"""Bytes of the largest file: enough for 5,000 routers; reading it takes about a second."""
DEPTH_MAX = 16
"""Deepest nesting, which bounds recursion; the models need 5."""
NODES_MAX = 200_000
"""Most keys and values in one file, about as many as a real file of FILE_BYTES_MAX has."""

# With libyaml, if PyYAML was built with it, events are read about ten times as fast.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# Characters that YAML forbids, and three more line breaks that editors do not count as lines. The pattern has no large
# range, because `re` visits each character of a range at compile time: that took 5 % of the start of a router.
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# Directives are refused because libyaml compares each with all before it: a file of directives would take minutes.
_DIRECTIVE = re.compile("(?:^|[\r\n])%")


@dataclass(slots=True)
class Document:
    """A YAML document. `data` is None if nothing could be read; `sound` is False if reading stopped early."""

    data: object = None
    sound: bool = True
    keys: dict[Path, FilePlace] = field(default_factory=dict)
    values: dict[Path, FilePlace] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)
    renamed: list[Problem] = field(default_factory=list)
    """Keys of the previous version; `data` and all paths have their new names."""

    def place(self, path: Path, at_key: bool = False) -> FilePlace:
        """Return the place of `path`, or of the nearest key or value around it."""
        while path:
            first, second = (self.keys, self.values) if at_key else (self.values, self.keys)
            place = first.get(path) or second.get(path)
            if place:
                return place
            path, at_key = path[:-1], True
        return FilePlace(1, 1)


class _Stop(Exception):
    """Raised when reading cannot continue; the document then has one mistake, the reason."""


def read_document(source: str | bytes, noun: str = "topology", needed: str = "routers") -> Document:
    """Read one YAML document. It never raises: errors are in `mistakes`. `noun`, what a file holds, and the key that it
    needs are named in errors."""
    document = Document()
    try:
        text = _checked_text(source, document)
        _Composer(document, noun, needed).compose(text)
    except _Stop:
        document.sound = False
    return document


def _checked_text(source: str | bytes, document: Document) -> str:
    if len(source) > FILE_BYTES_MAX:
        _fail(document, FilePlace(1, 1), f"the file has more than {FILE_BYTES_MAX:,} bytes")
    text = _decoded(source, document) if isinstance(source, bytes) else source
    text = text.removeprefix("\ufeff")
    bad = _FORBIDDEN.search(text)
    if bad:
        place = _place_of(text[: bad.start()])
        _fail(document, place, f"character U+{ord(bad[0]):04X} is not allowed in a text file")
    directive = _DIRECTIVE.search(text)
    if directive:
        _fail(
            document,
            _place_of(text[: directive.end() - 1]),
            "no line may begin with %: YAML directives are not allowed",
        )
    return text


def _decoded(source: bytes, document: Document) -> str:
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        place = _place_of(source[: error.start].decode())
        _fail(document, place, f"the file must be UTF-8 text; byte 0x{source[error.start]:02X} is not")


def _place_of(before: str) -> FilePlace:
    return FilePlace(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _fail(document: Document, place: FilePlace, what: str) -> NoReturn:
    document.mistakes = [Mistake(place, Problem((), what))]
    raise _Stop


class _Composer:
    """Builds the data of one document from its events."""

    def __init__(self, document: Document, noun: str, needed: str) -> None:
        self._document = document
        self._noun = noun
        self._needed = needed
        self._events: Iterator[yaml.Event] = iter(())
        self._nodes = 0

    def compose(self, text: str) -> None:
        self._events = _events(text, self._document)
        event = next(self._events)
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent) or _is_empty(event):
            _fail(self._document, FilePlace(1, 1), f"the file is empty; a {self._noun} has at least `{self._needed}`")
        self._document.data = self._value((), event)
        next(self._events)
        after = next(self._events)
        if isinstance(after, yaml.DocumentStartEvent):
            self._report(after, (), f"a second document begins here; a file holds one {self._noun}")

    def _value(self, path: Path, event: yaml.Event) -> object:
        """Return the data of the node that `event` opens; after a mistake that leaves none, "", which no model
        accepts."""
        self._count(event, path)
        self._document.values[path] = _place(event)
        refusal = _refusal(event)
        if refusal:
            self._report(event, path, refusal)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        if refusal or not isinstance(event, yaml.ScalarEvent):
            return ""
        if _is_empty(event):
            self._report(event, path, "has no value: write one, or remove the key")
            return ""
        return event.value

    def _mapping(self, path: Path) -> dict[str, object]:
        data: dict[str, object] = {}
        for event in self._until(yaml.MappingEndEvent):
            key = self._new_key(self._key(event, path), path)
            if key in data:
                self._repeated(event, (*path, key))
                self._skip(next(self._events), path)
                continue
            self._document.keys[(*path, key)] = _place(event)
            data[key] = self._value((*path, key), next(self._events))
        return data

    def _sequence(self, path: Path) -> list[object]:
        data: list[object] = []
        for event in self._until(yaml.SequenceEndEvent):
            data.append(self._value((*path, len(data)), event))
        return data

    def _key(self, event: yaml.Event, path: Path) -> str:
        self._count(event, path)
        if not isinstance(event, yaml.ScalarEvent):
            _fail(self._document, _place(event), "a key must be plain text")
        refusal = _refusal(event)
        if refusal:
            self._report(event, (*path, event.value), refusal)
        return str(event.value)

    def _new_key(self, key: str, path: Path) -> str:
        new = new_key(path, key)
        if new != key:
            what = f"`{key}` is called `{new}` now; the next version refuses the old name"
            self._document.renamed.append(Problem((*path, new), what, at_key=True))
        return new

    def _repeated(self, event: yaml.Event, path: Path) -> None:
        first = self._document.keys[path].line
        self._report(event, path, f"is written twice (first in line {first})")

    def _skip(self, event: yaml.Event, path: Path) -> None:
        depth = 0
        while True:
            self._count(event, path)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth == 0:
                return
            event = next(self._events)

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        event = next(self._events)
        while not isinstance(event, end):
            yield event
            event = next(self._events)

    def _count(self, event: yaml.Event, path: Path) -> None:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            _fail(self._document, _place(event), f"the file has more than {NODES_MAX:,} keys and values")
        if len(path) > DEPTH_MAX:
            _fail(self._document, _place(event), f"nested more than {DEPTH_MAX} deep")

    def _report(self, event: yaml.Event, path: Path, what: str) -> None:
        self._document.mistakes.append(Mistake(_place(event), Problem(path, what)))


def _events(text: str, document: Document) -> Iterator[yaml.Event]:
    event: yaml.Event | None = None
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            yield event
    except yaml.MarkedYAMLError as error:
        _fail(document, *syntax_mistake(text, error, event))
    except (yaml.YAMLError, ValueError) as error:  # PyYAML's own escapes and version numbers may raise ValueError
        _fail(document, FilePlace(1, 1), f"is not YAML: {quoted(str(error))}")


def _place(event: yaml.Event) -> FilePlace:
    mark = event.start_mark
    return FilePlace(mark.line + 1, mark.column + 1) if mark else FilePlace(1, 1)


def _is_empty(event: yaml.Event) -> bool:
    return isinstance(event, yaml.ScalarEvent) and not event.style and event.value in _NULLS


def _refusal(event: yaml.Event) -> str:
    if isinstance(event, yaml.AliasEvent):
        return f"YAML aliases (*{event.anchor}) are not allowed; write the value out"
    anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
    if anchor is not None:
        return f"YAML anchors (&{anchor}) are not allowed; write the value out where it is used"
    if tag is not None:
        return f"YAML tags ({quoted(tag)}) are not allowed; write the plain value"
    return ""
