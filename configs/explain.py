"""Errors of pydantic in plain words, at paths of the file.

Law: no message has terms of pydantic. Short forms (a link as a list, an engine as a name) are not visible either: a
path has the keys that the author wrote, without the steps that a model added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tamis.configs import choices
from tamis.configs.mistakes import Path, Problem, quoted
from tamis.configs.topology import Topology

_OUT_OF_RANGE = ("greater_than_equal", "less_than_equal", "multiple_of")
_MAPPING = "must be a mapping, `key: value`"
_TRUTH = "must be true or false"
_LIST = "must be a list"


def _whole(ctx: dict[str, Any]) -> str:
    return f"must be a whole number{ctx['range']}"


def _decimal(ctx: dict[str, Any]) -> str:
    return f"must be a number{ctx['range']}"


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "missing": lambda _: "is missing",
    "model_type": lambda _: _MAPPING,
    "dict_type": lambda _: _MAPPING,
    "tuple_type": lambda _: _LIST,
    "list_type": lambda _: _LIST,
    "too_long": lambda ctx: f"must have at most {ctx['max_length']}",
    "string_type": lambda _: "must be text",
    "int_type": _whole,
    "int_parsing": _whole,
    "float_type": _decimal,
    "float_parsing": _decimal,
    "finite_number": _decimal,
    "bool_type": lambda _: _TRUTH,
    "bool_parsing": lambda _: _TRUTH,
    "int_parsing_size": _whole,
    "int_from_float": _whole,
    "literal_error": lambda ctx: f"must be {ctx['expected']}",
    "too_short": lambda _: "must name at least one router",
    **dict.fromkeys(_OUT_OF_RANGE, lambda ctx: f"must be{ctx['range']}"),
    "value_error": lambda ctx: str(ctx["error"]),
    "choice": lambda ctx: str(ctx["what"]),
    "planned": lambda ctx: str(ctx["what"]),
}
_SAY_ALL = frozenset({"missing", "too_short", "too_long", "choice", "planned"})
"""Kinds of errors whose text needs no "got" and value."""
_NOT_HERE = "wiring"
"""The kind of errors that wiring.py reports with places of their own."""


@dataclass(frozen=True, slots=True)
class FileForm:
    """A kind of file: its models by pattern of paths, and the keys that a later release accepts. `later` is what the
    error about one of those begins with."""

    sections: dict[tuple[str, ...], type[BaseModel]]
    planned: dict[str, str]
    later: str = "is not supported yet"

    def section_at(self, path: Path) -> type[BaseModel]:
        steps = [str(step) for step in path]
        found = (model for pattern, model in self.sections.items() if choices.matches(pattern, steps))
        return next(found, self.sections[()])


def explained(errors: list[ErrorDetails], data: object, form: FileForm | None = None) -> Iterator[Problem]:
    """Yield a problem for each error of the validation of `data`, a topology file or a file of this form."""
    for error in errors:
        if error["type"] != _NOT_HERE:
            yield _problem(error, data, form or _TOPOLOGY)


def sections(model: type[BaseModel] = Topology, at: tuple[str, ...] = ()) -> dict[tuple[str, ...], type[BaseModel]]:
    """Return pattern of paths to model, for every model of the file; `*` is any id or index."""
    found = {at: model}
    for name, field in model.model_fields.items():
        inner = _model_within(field.annotation)
        if inner:
            many = get_origin(field.annotation) in (dict, tuple)
            found |= sections(inner, (*at, name, "*") if many else (*at, name))
    return found


def _model_within(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_within(part))), None)


def _problem(error: ErrorDetails, data: object, form: FileForm) -> Problem:
    kind, ctx = error["type"], error.get("ctx", {})
    path, is_key = _written_path(error["loc"], data)
    if kind == "extra_forbidden":
        return _unknown_key(path, form)
    what = _WORDS[kind](ctx | {"range": _range(path, form)}) if kind in _WORDS else error["msg"]
    if kind == "missing":
        return Problem((*path, *error["loc"][-1:]), what)
    got = "" if kind in _SAY_ALL or ", got " in what else f", got {_shown(error['input'])}"
    return Problem(path, what + got, ctx.get("word", ""), ctx.get("known", ()), at_key=is_key)


def _unknown_key(path: Path, form: FileForm) -> Problem:
    purpose = choices.planned_key(path, form.planned)
    if purpose:
        return Problem(path, f"{form.later} ({purpose})", at_key=True)
    fields = form.section_at(path[:-1]).model_fields
    known = [field.alias or name for name, field in fields.items()]
    word = str(path[-1])
    return Problem(path, "unknown key", word, known, at_key=True, lists_known=True)


def _range(path: Path, form: FileForm) -> str:
    """Return the end of a sentence with the bounds and the divisor of the number at `path`; "" if it has none."""
    field = form.section_at(path[:-1]).model_fields.get(str(path[-1])) if path else None
    metadata = [*field.metadata, *_metadata_within(field.annotation)] if field else []
    ends = [getattr(bound, end) for bound in metadata for end in ("ge", "le") if getattr(bound, end, None) is not None]
    divisors = [bound.multiple_of for bound in metadata if getattr(bound, "multiple_of", None) is not None]
    between = f" from {min(ends):,} to {max(ends):,}" if ends else ""
    return between + "".join(f", a multiple of {divisor}" for divisor in divisors)


def _metadata_within(annotation: object) -> Iterator[Any]:
    """Yield the annotations inside a union, such as the bounds of an optional number."""
    for part in get_args(annotation):
        for each in getattr(part, "__metadata__", ()):
            yield from getattr(each, "metadata", ()) or (each,)


_TOPOLOGY = FileForm(sections(), choices.PLANNED_KEYS)


def _written_path(loc: Path, data: object) -> tuple[Path, bool]:
    """Return the steps of `loc` that the author wrote, and whether the error is in the last key itself."""
    path: list[str | int] = []
    for step in loc:
        inner = _inside(data, step)
        if inner is not None:
            path.append(step)
            data = inner
    return tuple(path), loc[-1:] == ("[key]",)


def _inside(data: object, step: str | int) -> object:
    if isinstance(data, list):
        return data[step] if isinstance(step, int) and step < len(data) else None
    return data.get(step) if isinstance(data, dict) else None


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return quoted(value) if isinstance(value, str) else str(value)
