"""Keys of the previous version, accepted with a warning in this one: those with other names, and options of an engine
beside its `name`.

Law: this file is removed with the next version, which refuses these keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from tamis.configs.mistakes import Path, Problem
from tamis.native.engines import engines_with

_ROOT: Final = {"kept": "durable"}
_DURABLE: Final = {
    "keeps": "subscriptions",
    "keeps_per_client": "subscriptions_per_client",
    "members_per_keep": "consumers_per_subscription",
    "keep_series": "series",
}
_BESIDE: Final = "belongs in the `options` beside it; write it there alone"


def new_key(path: Path, key: str) -> str:
    """Return the present name of a key in the mapping at `path`."""
    inside = path[2:] if path[:1] == ("routers",) and len(path) > 1 else path
    names = _ROOT if inside == () else _DURABLE if inside == ("durable",) else {}
    return names.get(key, key)


def with_options(engine: object) -> object:
    """Return a section `engine` of a file with the options beside its `name` moved to `options`. Raise ValidationError
    if `options` exist already with other values."""
    old = _old_options(engine)
    if not old or not isinstance(engine, dict):
        return engine
    section = {key: value for key, value in engine.items() if key not in old}
    options = section.setdefault("options", old)
    wrong = [
        InitErrorDetails(type=PydanticCustomError("choice", "{what}", {"what": _BESIDE}), loc=(key,), input=value)
        for key, value in old.items()
        if not isinstance(options, dict) or options.get(key) != value
    ]
    if wrong:
        raise ValidationError.from_exception_data("engine", wrong)
    return section


def outdated(file: Any) -> Iterator[Problem]:  # noqa: ANN401 - data of a valid file, whose parts have their types
    """Yield a problem for each old key in the data of a valid file."""
    owners: dict[Path, dict[str, object]] = {(): file}
    owners |= {("routers", name): router for name, router in file["routers"].items()}
    for path, owner in owners.items():
        for key, value in _old_options(owner.get("engine")).items():
            what = f"stands in `options: {{{key}: {value}}}` now; the next version refuses it beside `name`"
            yield Problem((*path, "engine", key), what, at_key=True)


def _old_options(engine: object) -> dict[str, object]:
    return {key: engine[key] for key in engine if engines_with(key)} if isinstance(engine, dict) else {}
