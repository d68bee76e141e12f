"""Spaces in administration: those in force, and changes of them.

Law: the body of a change is a JSON object `{"spaces": [...], "force": false}`. Each of `spaces` has the form that
`/spaces` shows (`name`, `open`, `attributes`, and `version` if it is not the next one), or `name` and `"withdrawn":
true`. Either all changes are made or none, and then the answer has the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.filters import Constraint, Filter, Op
from tamis.protocol.language import format_filter
from tamis.protocol.residual.cases import FOLDED_MARK
from tamis.protocol.spaces import Space, digest, space_from, space_to_mapping
from tamis.protocol.spaces.filters import asks_in_vain
from tamis.protocol.wire.packed_filters import decode_filter
from tamis.router.admin.answers import BadRequest, Budget, json_answer
from tamis.router.admin.view import RouterView
from tamis.router.daemon.spaces_in_force import WantedSpace
from tamis.serving.answers import Answer

CONFLICT: Final = 409
NAMED_MAX: Final = 3
"""Most filters named in a refusal."""


def space_form(space: Space) -> dict[str, object]:
    return {"name": space.name, **space_to_mapping(space), "digest": digest(space).hex()}


def put_spaces(body: bytes, running: RouterView) -> Answer:
    """Make the changes in `body`. Raise BadRequest if it is malformed or the changes are refused."""
    wanted, is_forced = _asked(body)
    try:
        changed = running.connections.spaces.change(wanted, is_forced)
    except Refused as error:
        touched = "".join(f"; {text}" for text in _touched(wanted, running))
        raise BadRequest(CONFLICT, f"{error}{touched}") from None
    forms = [{"name": each.name, "version": each.version, "withdrawn": each.space is None} for each in changed]
    return json_answer({"changed": forms})


def _asked(body: bytes) -> tuple[list[WantedSpace], bool]:
    try:
        said = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise BadRequest(400, f"the body must be one JSON object: {error}") from None
    if not isinstance(said, dict) or not isinstance(said.get("spaces"), list) or not said.keys() <= {"spaces", "force"}:
        raise BadRequest(400, 'the body must be {"spaces": [...], "force": true or false}')
    is_forced = said.get("force", False)
    if not isinstance(is_forced, bool):
        raise BadRequest(400, "force must be true or false")
    try:
        wanted = [_wanted(each) for each in said["spaces"]]
    except Refused as error:
        raise BadRequest(400, str(error)) from None
    names = [each.name for each in wanted]
    if len({*names}) < len(names):
        raise BadRequest(400, "spaces: a name occurs twice")
    return wanted, is_forced


def _wanted(said: Any) -> WantedSpace:  # noqa: ANN401 - what JSON gives
    if not isinstance(said, Mapping):
        raise Refused("spaces: each must be a JSON object")
    rest = {key: value for key, value in said.items() if key not in ("name", "digest", "withdrawn")}
    space = space_from(said.get("name", ""), rest)
    if said.get("withdrawn", False) is not False:
        if rest or said["withdrawn"] is not True:
            raise Refused(f"space {space.name}: a withdrawn space has no other key, and `withdrawn` must be true")
        return WantedSpace(space.name, None)
    return WantedSpace(space.name, space, space.version if "version" in rest else None)


def _touched(wanted: list[WantedSpace], running: RouterView) -> Iterator[str]:
    """Yield a sentence for each change after which filters of clients here would match nothing; filters are checked
    within the time of one page."""
    naming, budget = running.connections.spaces.set.naming, Budget()
    spaces = [each.space for each in wanted if each.space is not None]
    found: dict[str, list[str]] = {}
    for filter_ in _filters(running, budget):
        for space in spaces:
            if asks_in_vain(filter_, space, naming):
                found.setdefault(space.name, []).append(format_filter(filter_))
    for name, texts in found.items():
        named = ", ".join(texts[:NAMED_MAX])
        yield f"space {name}: {len(texts)} filters of clients here would match nothing, such as {named}"


def _filters(running: RouterView, budget: Budget) -> Iterator[Filter]:
    handle = 0
    while not budget.is_spent and (found := running.connections.switch.subscribed(handle)) is not None:
        handle = found.handle + 1
        try:
            filter_ = decode_filter(found.filter)
            yield _of_attributes(filter_) if found.is_folded else filter_
        except FrameError:  # a filter of a later release
            continue


def _of_attributes(filter_: Filter) -> Filter:
    """Return a filter of the index without conditions on folded texts: their attributes exist."""
    return Filter(
        tuple(
            Constraint(each.name.removesuffix(FOLDED_MARK), Op.EXISTS) if each.name.endswith(FOLDED_MARK) else each
            for each in filter_.constraints
        )
    )
