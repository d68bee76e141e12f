"""Loads rules: returns them with their warnings, or raises every mistake of the file.

Law: as with a topology, one pass reports all mistakes of one file. Tests of the file are run at each load, and one that
fails is a mistake; principals of `principals_file` and tests are looked at only if the rest of the file has none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import ValidationError

from tamis.configs import choices
from tamis.configs.access import wiring
from tamis.configs.access.checks import warnings
from tamis.configs.access.compile import compiled_issuer, compiled_role
from tamis.configs.access.principals_file import PrincipalsFile
from tamis.configs.access.private import check_private
from tamis.configs.access.section import AccessSection, RuleTest
from tamis.configs.address import joined
from tamis.configs.document import Document, read_document
from tamis.configs.explain import FileForm, explained, sections
from tamis.configs.load import placed, read_source
from tamis.configs.mistakes import MISTAKES_MAX, Mistake, Path, Problem, lines, quoted
from tamis.protocol.access.principals import Certificates, PrincipalLine, PrincipalTable
from tamis.protocol.access.questions import ask
from tamis.protocol.access.rights import ClassRights
from tamis.protocol.access.role import AccessRole
from tamis.protocol.access.rules import AccessMode, AccessRules, Classes
from tamis.protocol.errors import ConfigError, Refused

ACCESS_FORM: Final = FileForm(sections(AccessSection), choices.PLANNED_ACCESS_KEYS, "comes later")
_SECTION: Final = "access"
DIGEST_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class LoadedAccess:
    """Valid rules. `file`: the file that holds them; `warnings`: lines, as of mistakes."""

    rules: AccessRules
    file: str
    warnings: tuple[str, ...] = ()
    tests: int = 0


def load_access(path: str | os.PathLike[str]) -> LoadedAccess:
    """Return the rules of a topology file, of the file that it names under `access`, or of a file of rules. Raise
    ConfigError for mistakes."""
    file = FilePath(path)
    document = _document(file)
    data = document.data
    if not isinstance(data, dict) or "routers" not in data:
        _check_private(file)
        return _loaded(document, file, data, (), ())
    routers = data["routers"] if isinstance(data["routers"], dict) else ()
    section = data.get(_SECTION)
    if section is None:
        raise ConfigError([f"{file}: has no section `access`: every client may publish and subscribe to anything"])
    if not isinstance(section, str):
        return _loaded(document, file, section, (_SECTION,), routers)
    named = FilePath(joined(str(file.parent), section))
    if not named.exists():
        what = f"there is no file {named}; `access` is a mapping with `roles`, or the path of a file with them"
        raise ConfigError(lines(placed([Problem((_SECTION,), what)], document), str(file)))
    _check_private(named)
    rules = _document(named)
    return _loaded(rules, named, rules.data, (), routers)


def parse_access(text: str | bytes, name: str = "<text>") -> LoadedAccess:
    """Return the rules in `text`, a file of rules; relative paths in it stay as they are. Raise ConfigError for
    mistakes."""
    document = read_document(text, "set of rules", "roles")
    if not document.sound:
        raise ConfigError(lines(document.mistakes, name))
    return _Loading(document, name, "", document.data, (), ()).loaded()


def _document(file: FilePath) -> Document:
    document = read_document(read_source(file), "set of rules", "roles")
    if not document.sound:
        raise ConfigError(lines(document.mistakes, str(file)))
    return document


def _check_private(file: FilePath) -> None:
    with file.open("rb") as opened:
        check_private(str(file), opened.fileno())


def _loaded(document: Document, file: FilePath, data: object, at: Path, routers: Collection[str]) -> LoadedAccess:
    return _Loading(document, str(file), str(file.parent), data, at, routers).loaded()


class _Loading:
    """One load. `data` is the section, at the path `at` of the document."""

    def __init__(
        self,
        document: Document,
        name: str,
        folder: str,
        data: Any,  # noqa: ANN401 - data of a file, which models validate
        at: Path,
        routers: Collection[str],
    ) -> None:
        self._document = document
        self._name = name
        self._folder = folder
        self._data = data
        self._at = at
        self._routers = routers

    def loaded(self) -> LoadedAccess:
        section = self._section()
        roles = {name: compiled_role(name, config) for name, config in section.roles.items()}
        classes = Classes(roles)
        try:
            principals, roleless = self._principals(section, classes)
            certificates = Certificates(
                (name, classes.number(each.roles)) for name, each in section.principals.items() if each.certificate
            )
        except Refused as error:
            raise self._error([Problem(("principals",), str(error), at_key=True)]) from None
        issuers = tuple(compiled_issuer(name, config) for name, config in section.issuers.items())
        rules = AccessRules(AccessMode(section.mode), roles, classes, principals, certificates, issuers)
        rules = replace(rules, audits=section.audit, is_strict=section.strict, digest=_digest(self._data, principals))
        self._refuse(_failures(section.tests, rules))
        doubts = [*_roleless(section), *map(self._as_written, warnings(rules))]
        found = (*lines(self._placed(doubts), self._name), *roleless)
        return LoadedAccess(rules, self._name, found, len(section.tests))

    def _section(self) -> AccessSection:
        """Return the valid section; raise ConfigError for its mistakes."""
        section: AccessSection | None = None
        found: list[Problem] = []
        try:
            section = AccessSection.model_validate(self._data, context={"folder": self._folder})
        except ValidationError as error:
            found += explained(error.errors(include_url=False), self._data, ACCESS_FORM)
        found += wiring.problems(self._data, self._routers)
        self._refuse(found)
        assert section is not None  # noqa: S101 - an error is a problem
        return section

    def _principals(self, section: AccessSection, classes: Classes) -> tuple[PrincipalTable, list[str]]:
        """Return the principals of the section and of its file, and warnings about those of the file."""
        own = (
            PrincipalLine(name.encode(), classes.number(each.roles), _digests(each.token))
            for name, each in section.principals.items()
            if each.token
        )
        if section.principals_file is None:
            return PrincipalTable(own), []
        file = PrincipalsFile(section.principals_file, lambda names: _class_of(names, classes, self._data["roles"]))
        table = PrincipalTable(chain(own, file.lines()))
        in_both = (name.encode() for name in section.principals if table.has_token(name))
        wanted = dict.fromkeys(islice(table.repeated(), MISTAKES_MAX), 2) | dict.fromkeys(in_both, 1)
        places = file.places_of(wanted)
        if places:
            what = "the principal {} is written twice"
            found = [Mistake(place, Problem((), what.format(name.decode()))) for name, place in places.items()]
            raise ConfigError(lines(found, section.principals_file))
        what = "a principal without a role may do nothing"
        doubts = [Mistake(place, Problem((), what)) for place in file.roleless]
        return table, lines(doubts, section.principals_file)

    def _refuse(self, problems: list[Problem] | Iterator[Problem]) -> None:
        """Raise ConfigError if there are problems, or mistakes of the text."""
        found = list(problems)
        if found or self._document.mistakes:
            raise self._error(found)

    def _error(self, problems: list[Problem]) -> ConfigError:
        return ConfigError(lines(self._document.mistakes + self._placed(problems), self._name))

    def _placed(self, problems: list[Problem]) -> list[Mistake]:
        return placed((replace(each, path=(*self._at, *each.path)) for each in problems), self._document)

    def _as_written(self, problem: Problem) -> Problem:
        """Return the problem at the path that its author wrote: `publish` where `publish.allow` is a short form."""
        path = problem.path
        while path and (*self._at, *path) not in self._document.values:
            path = path[:-1]
        return replace(problem, path=path)


def _class_of(names: list[str], classes: Classes, roles: dict[str, object]) -> int:
    for name in names:
        if name not in roles:
            raise Refused(f"no role is called {quoted(name)}{wiring.known_roles(name, roles)}")
    what = wiring.conflict(names, roles)
    if what:
        raise Refused(what)
    return classes.number(names)


def _digest(data: object, principals: PrincipalTable) -> str:
    written = json.dumps(data, sort_keys=True, default=str).encode()
    return hashlib.blake2b(written + principals.digest, digest_size=DIGEST_BYTES).hexdigest()


def _digests(token: tuple[str, ...]) -> bytes:
    return b"".join(bytes.fromhex(digest.removeprefix("sha256:")) for digest in token)


def _roleless(section: AccessSection) -> Iterator[Problem]:
    for name, principal in section.principals.items():
        if not principal.roles:
            yield Problem(("principals", name), "a principal without a role may do nothing", at_key=True)


def _failures(tests: tuple[RuleTest, ...], rules: AccessRules) -> Iterator[Problem]:
    """Yield a problem for each test of the file that fails."""
    for index, test in enumerate(tests):
        rights = _rights(test, rules)
        if rights is None:
            known = [name for name, _ in islice(chain(rules.principals, rules.certificates), MISTAKES_MAX)]
            what = f"no principal is called {test.as_}; a test of another name has its `roles`"
            yield Problem(("tests", index, "as"), what, word=test.as_, known=known)
            continue
        decision = ask(rights, test.as_, test.question)
        answer = "allowed" if decision.allowed else "denied"
        if answer != test.expect:
            verb = decision.verb.value
            yield Problem(("tests", index), f"the test fails: {verb} is {answer}, not {test.expect}: {decision.reason}")


def _rights(test: RuleTest, rules: AccessRules) -> ClassRights | None:
    if test.roles:
        roles: dict[str, AccessRole] = dict(rules.roles)
        return ClassRights(roles[name] for name in test.roles)
    principal = rules.of(test.as_)
    return None if principal is None else principal.rights
