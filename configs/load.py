"""Loads a topology file: returns a Topology, or raises every mistake of the file.

Law: one pass reports all mistakes. YAML that cannot be read to its end is reported alone, because other mistakes may
follow from it; otherwise the problems of the text, of each value and between the parts are reported together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path as FilePath

from pydantic import ValidationError

from tamis.configs import wiring
from tamis.configs.document import FILE_BYTES_MAX, Document, read_document
from tamis.configs.explain import explained
from tamis.configs.mistakes import Mistake, Path, Problem, lines
from tamis.configs.old_keys import outdated
from tamis.configs.sections.spaces import SpaceConfig, SpacesFile
from tamis.configs.topology import Topology
from tamis.protocol.errors import ConfigError

Warn = Callable[[str], object]
"""Called with a line for each outdated key of a valid file."""


def load_topology(path: str | os.PathLike[str], warn: Warn | None = None) -> Topology:
    """Return the topology in the file `path`; relative paths in it start from its folder. Raise ConfigError for
    mistakes; call `warn` for outdated keys."""
    file = FilePath(path)
    return _topology(read_source(file), str(file), str(file.parent), warn)


def parse_topology(text: str | bytes, name: str = "<text>") -> Topology:
    """Return the topology in `text`, with relative paths unchanged. Raise ConfigError for mistakes. `name`: name of the
    file in errors."""
    return _topology(text, name, "")


def load_spaces(path: str | os.PathLike[str]) -> dict[str, SpaceConfig]:
    """Return the spaces in the file `path`; the rest of it is not validated. Raise ConfigError for mistakes."""
    file = FilePath(path)
    document = read_document(read_source(file))
    if document.sound and not document.mistakes:
        try:
            return SpacesFile.model_validate(document.data).spaces
        except ValidationError as error:
            problems = explained(error.errors(include_url=False), document.data)
            document.mistakes += placed(problems, document)
    raise ConfigError(lines(document.mistakes, str(file)))


class PlacesInFile:
    """The places of the keys of a valid topology file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._name = str(path)
        self._document = read_document(read_source(FilePath(path)))

    def of(self, router_id: str, keys: Path) -> str:
        """Return `file:line:column` of `keys` of the router, or of the network if the router has none. After `links`
        the next key is the id of a neighbour."""
        path = self._link(router_id, keys) if keys[:1] == ("links",) else ("routers", router_id, *keys)
        values = self._document.values
        if path not in values and keys in values:
            path = keys
        place = self._document.place(path)
        return f"{self._name}:{place.line}:{place.column}"

    def _link(self, router_id: str, keys: Path) -> Path:
        data = self._document.data
        links = data.get("links") if isinstance(data, dict) else None
        for index, link in enumerate(links if isinstance(links, list) else ()):
            ends = link.get("ends") if isinstance(link, dict) else link
            if isinstance(ends, list) and set(ends) == {router_id, keys[1]}:
                return ("links", index, *keys[2:])
        return ("links",)


def read_source(file: FilePath) -> bytes:
    """Return the bytes of a file, and one more than allowed of one that is too large."""
    try:
        with file.open("rb") as stream:
            return stream.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError([f"{file}: cannot be read: {error.strerror}"]) from error


def _topology(source: str | bytes, name: str, folder: str, warn: Warn | None = None) -> Topology:
    document = read_document(source)
    if not document.sound:
        raise ConfigError(lines(document.mistakes, name))
    topology: Topology | None = None
    try:
        topology = Topology.model_validate(document.data, context={"folder": folder})
        problems: list[Problem] = []
    except ValidationError as error:
        errors = error.errors(include_url=False)
        problems = [*explained(errors, document.data), *wiring.problems(document.data, folder)]
        problems = problems or [Problem((), each["msg"]) for each in errors]  # the data alone may look sound
    mistakes = document.mistakes + placed(problems, document)
    if mistakes or topology is None:
        raise ConfigError(lines(mistakes, name))
    if warn is not None:
        for line in lines(placed([*document.renamed, *outdated(document.data)], document), name):
            warn(line)
    return topology


def placed(problems: Iterable[Problem], document: Document) -> list[Mistake]:
    """Return the problems with their places, the first of each path only, because others follow from it."""
    seen = {mistake.problem.path for mistake in document.mistakes}
    found = []
    for problem in problems:
        if problem.path not in seen:
            seen.add(problem.path)
            found.append(Mistake(document.place(problem.path, problem.at_key), problem))
    return found
