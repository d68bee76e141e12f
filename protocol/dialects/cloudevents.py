"""Filters of the CloudEvents Subscriptions API: exact, prefix, suffix, all, any, not.

    {"all": [{"prefix": {"type": "com.example."}}, {"not": {"exact": {"subject": "a"}}}]}
    [{"exact": {"type": "a"}}, ...]      all of them must hold; [] is every event

Law: two-valued: a condition on an absent attribute is false, and its negation true. Conditions are on texts: an
attribute that is an integer or a boolean is compared by its canonical text, "5" or "true".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tamis.protocol.dialects import json_text
from tamis.protocol.dialects.context import attributes, begins, ends, is_text
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.json_text import FormMistake, Path
from tamis.protocol.dialects.rails import (
    Rail,
    Rails,
    all_of,
    any_of,
    every,
    opposite,
    two_valued,
)
from tamis.protocol.dialects.widen import translated
from tamis.protocol.nearest import nearest

_NAMES: Final = ("exact", "prefix", "suffix", "all", "any", "not", "sql")


def translate(text: str) -> Translated:
    form = json_text.read(text)
    try:
        if isinstance(form, list):
            return translated(all_of(_filter(each, (at,)) for at, each in enumerate(form)))
        return translated(_filter(form, ()))
    except FormMistake as mistake:
        raise json_text.located(text, mistake) from None


def _filter(form: object, path: Path) -> Rails:
    if not isinstance(form, dict) or not form:
        hint = "several filters stand in `all` or `any`" if isinstance(form, list) else ""
        raise FormMistake(path, 'a filter is an object such as {"exact": {"type": "com.example.sent"}}', hint)
    name, *more = form
    if more:
        problem = f"a filter has one dialect, this one {len(form)}: {', '.join(form)}"
        raise FormMistake((*path, more[0]), problem, 'several filters stand in {"all": [...]}', at_name=True)
    inside, within = form[name], (*path, name)
    if name in ("exact", "prefix", "suffix"):
        return two_valued(every(*_conditions(name, inside, within)))
    if name in ("all", "any"):
        parts = list(_nested(inside, within))
        return all_of(parts) if name == "all" else any_of(parts)
    if name == "not":
        return opposite(_filter(inside, within))
    raise _unknown(name, within)


def _nested(form: object, path: Path) -> Iterator[Rails]:
    if not isinstance(form, list) or not form:
        hint = "one filter stands in an array, too: `[...]`" if isinstance(form, dict) else ""
        raise FormMistake(path, f"`{path[-1]}` has an array of at least one filter", hint)
    return (_filter(each, (*path, at)) for at, each in enumerate(form))


def _conditions(dialect: str, form: object, path: Path) -> Iterator[Rail]:
    if not isinstance(form, dict) or not form:
        hint = f'write {{"{dialect}": {{"type": ...}}}}' if isinstance(form, str) else ""
        raise FormMistake(path, f"`{dialect}` has an object of at least one attribute and its text", hint)
    for name, text in form.items():
        if not isinstance(text, str) or not text:
            hint = f'write "{form[name]}"' if type(text) is int else ""
            raise FormMistake((*path, name), f"`{dialect}` compares with a text of at least one character", hint)
        if not name:
            raise FormMistake((*path, name), "the name of an attribute is not empty", at_name=True)
        yield {"exact": is_text, "prefix": begins, "suffix": ends}[dialect](name, text)


def _unknown(name: str, path: Path) -> FormMistake:
    if name == "sql":
        hint = "write its conditions as exact, prefix, suffix, all, any and not"
        return FormMistake(path, "`sql` inside a filter is not translated", hint, at_name=True)
    near = nearest(name, _NAMES[:-1])
    problem = f"there is no dialect `{name}`; a filter is one of {', '.join(_NAMES[:-1])}"
    hint = 'an attribute stands inside one of them: {"exact": {"type": "a"}}'
    return FormMistake(path, problem, f"did you mean `{near}`?" if near else hint, at_name=True)


DIALECT: Final = Dialect("cloudevents", "filters of the CloudEvents Subscriptions API", translate, attributes)
