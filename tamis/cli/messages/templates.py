"""Templates: texts with placeholders that are filled in for each message.

    {{count}}             1 for the first message, then 2, 3, ...
    {{random 1 100}}      a number from the first to the second, both included; with a point in one, a float
    {{pick a b c}}        one of the words
    {{time}}              the time in seconds since 1970, as a float

Law: a template is checked when it is parsed, so it cannot fail during a run. A placeholder yields text; its position
determines its meaning (a number, or a part of a string).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tamis.protocol.errors import Refused

_PLACE = re.compile(r"\{\{(.*?)\}\}")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Moment:
    """The data of a message that placeholders use."""

    count: int
    time_s: float
    random: Random


Fill = Callable[[Moment], str]


class Template:
    """A parsed template; Refused names the invalid placeholder."""

    def __init__(self, text: str) -> None:
        pieces = _PLACE.split(text)
        self._texts = pieces[::2]
        self._fills = [_fill(inside) for inside in pieces[1::2]]
        if any("{{" in piece for piece in self._texts):
            raise Refused(f"template {text!r}: a placeholder opens with {{{{ and closes with }}}}")

    @property
    def is_constant(self) -> bool:
        return not self._fills

    def render(self, moment: Moment) -> str:
        first, *rest = self._texts
        return first + "".join(fill(moment) + text for fill, text in zip(self._fills, rest, strict=True))


def _fill(inside: str) -> Fill:
    word, *given = inside.split() or [""]
    if word not in _FILLS:
        raise Refused(f"template {{{{{inside}}}}}: no placeholder {word!r}; use one of {', '.join(_FILLS)}")
    try:
        return _FILLS[word](given)
    except ValueError as error:
        raise Refused(f"template {{{{{inside}}}}}: {error}") from None


def _count(given: list[str]) -> Fill:
    _check_nothing(given)
    return lambda moment: str(moment.count)


def _time(given: list[str]) -> Fill:
    _check_nothing(given)
    return lambda moment: f"{moment.time_s:.6f}"


def _pick(given: list[str]) -> Fill:
    if not given:
        raise ValueError("pick needs at least one word")
    return lambda moment: moment.random.choice(given)


def _random(given: list[str]) -> Fill:
    if len(given) != 2 or not all(map(_NUMBER.fullmatch, given)) or float(given[0]) > float(given[1]):
        raise ValueError("random needs two numbers, the smaller one first")
    if "." in given[0] + given[1]:
        low, high = map(float, given)
        return lambda moment: f"{moment.random.uniform(low, high):.6f}"
    least, most = map(int, given)
    return lambda moment: str(moment.random.randint(least, most))


def _check_nothing(given: list[str]) -> None:
    if given:
        raise ValueError("this word takes no arguments")


_FILLS: dict[str, Callable[[list[str]], Fill]] = {"count": _count, "random": _random, "pick": _pick, "time": _time}
