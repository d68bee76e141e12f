"""Binding keys of a topic exchange of AMQP 0-9-1.

    a.b    key = "a.b"                     a.#  key = "a" or key ^= "a."
    a.#.b  key/1 = "a" and key/-1 = "b"    *.b  key/2 = "b" and no key/3

Law: `*` stands for one word, `#` for any number, none included, anywhere. Words are counted from both ends: key/-1 is
the last one. The empty key has no word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tamis.protocol import limits
from tamis.protocol.dialects.dialect import Dialect, Translated
from tamis.protocol.dialects.events import named_text
from tamis.protocol.dialects.patterns import Wild
from tamis.protocol.dialects.topics import levels, whole
from tamis.protocol.dialects.topics.lookalikes import warned
from tamis.protocol.errors import Refused
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language.mistake import SyntaxMistake
from tamis.protocol.values import Value

KEY: Final = "key"
KEY_BYTES_MAX: Final = 255
"""AMQP's bound of a short string."""
_ALL: Final = Predicate((Filter((levels.exists(KEY),)),))
_EMPTY: Final = Predicate((Filter((levels.equal(KEY, ""),)),))


def translate(text: str) -> Translated:
    if not levels.is_short(text, KEY_BYTES_MAX):
        raise SyntaxMistake(0, f"a binding key has at most {KEY_BYTES_MAX} bytes, this one has {len(text.encode())}")
    if text == "":
        return Translated(_EMPTY)
    words = text.split(".")
    if "*" not in words and "#" not in words:
        return warned(levels.whole(KEY, text), text, ".", "*", "#")
    parts = _tidy(words)
    found = warned(_by_words(parts), text, ".", "*", "#")
    if found.exact:
        return found
    return whole.decided(found, KEY, [{"*": Wild.ONE, "#": Wild.ANY}.get(part, part) for part in parts], ".")


def _by_words(parts: list[str]) -> Translated:
    if parts == ["#"]:
        return Translated(_ALL)
    if "#" not in parts:
        return levels.by_levels(KEY, [_level(part) for part in parts], open_end=False)
    first = parts.index("#")
    head, tail = parts[:first], parts[first + 1 :]
    if "#" in tail:
        return _around(parts)
    if not tail and "*" not in head:
        return levels.branch(KEY, ".".join(head), ".", itself=True)
    return _from_both_ends(head, tail)


def attributes(event: str | Mapping[str, Any]) -> dict[str, Value]:
    """Return the attributes of a routing key, or of an event with one and with headers: {"key": ..., ...}."""
    key, others = named_text(event, KEY)
    if not levels.is_short(key, KEY_BYTES_MAX):
        raise Refused(f"a routing key has at most {KEY_BYTES_MAX} bytes, this one has {len(key.encode())}")
    words = key.split(".") if key else []
    from_end = {f"{KEY}/-{number}": word for number, word in enumerate(words[: -levels.LEVELS_MAX - 1 : -1], 1)}
    return {**others, KEY: key, **levels.attributes_of(KEY, words), **from_end}


def _level(part: str) -> str | None:
    return None if part == "*" else part


def _tidy(words: list[str]) -> list[str]:
    """Return the words with each run of wildcards in one form, as their order within it has no meaning: its `*` first,
    then one `#` if it has any."""
    found: list[str] = []
    stars, hashes = 0, False
    for word in [*words, None]:
        if word in ("*", "#"):
            stars, hashes = stars + (word == "*"), hashes or word == "#"
            continue
        found += ["*"] * stars + ["#"] * hashes
        stars, hashes = 0, False
        if word is not None:
            found.append(word)
    return found


def _from_both_ends(head: list[str], tail: list[str]) -> Translated:
    """Return what matches keys that begin with `head`, end with `tail`, and have room for both."""
    size = levels.LEVELS_MAX
    found = [levels.equal(f"{KEY}/{at}", word) for at, word in enumerate(head[:size], 1) if word != "*"]
    found += [levels.equal(f"{KEY}/-{at}", word) for at, word in enumerate(tail[: -size - 1 : -1], 1) if word != "*"]
    count = len(head) + len(tail)
    if count <= size and count > max(_farthest(head), _farthest(tail[::-1])):
        found.append(levels.exists(f"{KEY}/{count}"))
    found.sort(key=lambda constraint: constraint.identity)
    return Translated(Predicate((Filter(tuple(found)),)), () if count <= size else (levels.DEEPER,))


def _farthest(words: list[str]) -> int:
    """Return how many words the last one that is no wildcard implies."""
    return max((at for at, word in enumerate(words, 1) if word != "*"), default=0)


def _around(parts: list[str]) -> Translated:
    """Return what matches keys with words between two `#`: exact if they stand alone, as in `#.error.#`."""
    words = parts[1:-1]
    inner = ".".join(words)
    is_plain = inner != "" and "*" not in words and "#" not in words
    if parts[0] == parts[-1] == "#" and is_plain and levels.is_short(inner, _PATTERN_MAX):
        ops = ((Op.EQ, inner), (Op.PREFIX, f"{inner}."), (Op.SUFFIX, f".{inner}"), (Op.CONTAINS, f".{inner}."))
        return Translated(Predicate(tuple(Filter((Constraint(KEY, op, (operand,)),)) for op, operand in ops)))
    first, last = parts.index("#"), len(parts) - 1 - parts[::-1].index("#")
    ends = _from_both_ends(parts[:first], parts[last + 1 :])
    return Translated(ends.predicate, (*ends.needs, "words between two `#`"))


_PATTERN_MAX: Final = limits.PATTERN_BYTES_MAX - 2
DIALECT: Final = Dialect("amqp-topic", "topic exchanges of AMQP 0-9-1", translate, attributes)
