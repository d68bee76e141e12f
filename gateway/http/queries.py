"""The query of a request, checked: unknown keys, doubled keys and values of no use are refused by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from tamis.protocol.nearest import did_you_mean
from tamis.serving.problem import refused
from tamis.serving.request import Request

PAIRS_MAX: Final = 128


def pairs_of(request: Request) -> list[tuple[str, str]]:
    """Return the query as pairs. Raise RequestRefused if it is no UTF-8, or has too many."""
    try:
        return parse_qsl(
            request.query, keep_blank_values=True, strict_parsing=bool(request.query), errors="strict",
            max_num_fields=PAIRS_MAX,
        )  # fmt: skip
    except ValueError as error:
        raise refused("query", 400, f"the query is not `name=value` joined by `&`, in UTF-8: {error}") from None


class Query:
    """The values of a query by key; `many`: keys that may stand more than once."""

    def __init__(self, request: Request, keys: Collection[str], many: Collection[str] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for key, value in pairs_of(request):
            if key not in keys:
                known = ", ".join(sorted(keys))
                raise refused("query", 400, f"there is no `{key}`{did_you_mean(key, keys)}; there are {known}")
            found = self._values.setdefault(key, [])
            if found and key not in many:
                raise refused("query", 400, f"`{key}` stands twice")
            found.append(value)

    def all(self, key: str) -> Sequence[str]:
        return self._values.get(key, ())

    def text(self, key: str, default: str | None = None) -> str | None:
        found = self._values.get(key)
        return found[0] if found else default

    def choice(self, key: str, choices: Mapping[str, object], default: str) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise refused("query", 400, f"`{key}` is {' or '.join(choices)}, not {value!r}")
        return str(value)

    def flag(self, key: str) -> bool:
        return self.choice(key, {"0": False, "1": True}, "0") == "1"

    def number(self, key: str, least: int, most: int) -> int | None:
        value = self.text(key)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and len(value) < 20 and least <= int(value) <= most):
            raise refused("query", 400, f"`{key}` is a whole number from {least} to {most}, not {value!r}")
        return int(value)
