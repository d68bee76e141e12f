"""The texts that take a translation longest: of the largest size, long in one way each."""

from __future__ import annotations

import json

from tamis.protocol import limits

SIZE = limits.PREDICATE_BYTES_MAX


def _filled(join, part, before="", after=""):
    """Return as many parts as fit into the largest text; `part` makes each of its number."""
    found, size, number = [], len((before + after).encode()), 0
    while (size := size + len((join + part(number)).encode())) <= SIZE:
        found.append(part(number))
        number += 1
    return before + join.join(found) + after


def _nested(opening, inside, closing):
    times = (SIZE - len(inside)) // len(opening + closing)
    return opening * times + inside + closing * times


def _list(word, value, more=""):
    return _filled(", ", value, f"x {word} (", f"){more}")


def _half(text):
    return text[: text.rfind(",", 0, SIZE // 2 - 8)] + ")"


def _of_sql(unequal):
    return {
        "many texts": _list("IN", lambda at: f"'a{at}'"),
        "many texts left out": _list("NOT IN", lambda at: f"'a{at}'"),
        "descending numbers left out": _list("NOT IN", lambda at: f"{30_000 - at}"),
        "numbers left out at an end": _list("NOT IN", lambda at: f"{at}", " AND x >= 0 AND x < 30000"),
        "short texts left out": _list("NOT IN", lambda at: f"'{chr(0x4E00 + at)}'"),
        "prefixes left out": _filled(" AND ", lambda at: f"NOT x LIKE 'a{at}%'"),
        "patterns left out": _filled(" AND ", lambda at: f"x NOT LIKE '%a{at}%'"),
        "one of many lists": _filled(" OR ", lambda at: f"x{at % 9} NOT IN ('a{at}', 'b', 'c')"),
        "all of many lists": _filled(" AND ", lambda at: f"x{at % 9} NOT IN ('a{at}', 'b', 'c')"),
        "values in and out": _half(_list("IN", lambda at: f"'a{at}'"))
        + " AND "
        + _half(_list("NOT IN", lambda at: f"'a{9_000 - at}'")),
        "a list of two attributes": _half(_list("NOT IN", lambda at: f"'a{at}'"))
        + " OR "
        + _half(_list("NOT IN", lambda at: f"'a{at}'")).replace("x", "y"),
        "negation of many lists": _filled(" OR ", lambda at: f"x IN ('a{at}', 'b{at}')", "NOT (", ")"),
        "products of lists": _filled(
            " AND ",
            lambda at: f"(x IN ({', '.join(map(str, range(at * 300, at * 300 + 300)))}) OR NOT y IN (1, {at}))",
        ),
        "products of lists left out": _filled(
            " AND ",
            lambda at: f"(x NOT IN ({', '.join(map(str, range(at * 300, at * 300 + 300)))}) OR NOT y IN (1, {at}))",
        ),
        "unequal values": _filled(" AND ", lambda at: f"x {unequal} {at}"),
        "some unequal values": _filled(" OR ", lambda at: f"x {unequal} {at}"),
        "many attributes": _filled(" OR ", lambda at: f"a{at} = {at}"),
        "products": _filled(" AND ", lambda at: f"(a{at} = 1 OR b{at} = 2)"),
        "products of one": _filled(" AND ", lambda at: f"(x = {at} OR y = {at})"),
        "contradictions": _filled(" OR ", lambda at: f"(a = {at} AND NOT a = {at})"),
        "patterns": _filled(" OR ", lambda at: f"x LIKE 'a{at}%b_%c'"),
        "negated groups": _filled(" OR ", lambda at: f"NOT (a{at % 20} = 1 AND b{at} = 2)"),
        "parentheses": _nested("(", "x", ")"),
        "negations": "NOT " * (SIZE // 4 - 1) + "x",
        "a long number": "x = " + "9" * (SIZE - 4),
        "a long fraction": "x = 0." + "1" * (SIZE - 6),
        "a long sum": _filled(" + ", lambda _: "1", "x = "),
        "a sum of attributes": _filled(" + ", lambda at: f"a{at}", "x = "),
        "many wildcards": "x LIKE '" + "%a" * (SIZE // 2 - 10) + "'",
        "single wildcards": "x LIKE '" + "_" * (SIZE - 9) + "'",
        "a long text": "x = '" + "é" * (SIZE // 2 - 10) + "'",
        "a long name": "a" * (SIZE - 4) + " = 1",
        "comparisons in a row": _filled(" = ", lambda at: f"a{at}"),
    }


def _of_fields():
    return {
        "many values": _filled(", ", lambda at: f'"a{at}"', '{"source": [', "]}"),
        "many values left out": _filled(", ", lambda at: f'"a{at}"', '{"source": [{"anything-but": [', "]}]}"),
        "values left out of a field": _filled(
            ", ", lambda at: f'"a{at}"', '{"detail": {"x": [{"anything-but": [', "]}]}}"
        ),
        "numbers left out of a field": _filled(", ", str, '{"detail": {"x": [{"anything-but": [', "]}]}}"),
        "prefixes left out": _filled(
            ", ", lambda at: f'"a{at}"', '{"detail": {"x": [{"anything-but": {"prefix": [', "]}}]}}"
        ),
        "alternatives left out": _filled(", ", lambda at: f'{{"anything-but": "a{at}"}}', '{"detail": {"x": [', "]}}"),
        "many patterns": _filled(", ", lambda at: f'{{"wildcard": "a*{at}*c"}}', '{"detail": {"x": [', "]}}"),
        "many ranges": _filled(
            ", ", lambda at: f'{{"numeric": [">", {at}, "<", {at + 1}]}}', '{"detail": {"x": [', "]}}"
        ),
        "many networks": _filled(
            ", ", lambda at: f'{{"cidr": "{at // 250 % 250}.{at % 250}.0.0/17"}}', '{"detail": {"x": [', "]}}"
        ),
        "many fields": _filled(", ", lambda at: f'"a{at}": ["x", {{"prefix": "y"}}]', '{"detail": {', "}}"),
        "many fields left out": _filled(", ", lambda at: f'"a{at}": [{{"anything-but": ["x"]}}]', '{"detail": {', "}}"),
        "absent fields": _filled(", ", lambda at: f'"a{at}": [{{"exists": false}}, "b"]', '{"detail": {', "}}"),
        "alternatives of fields": _filled(", ", lambda at: f'{{"a{at}": ["x", 1]}}', '{"$or": [', "]}"),
        "nested alternatives": _filled(
            ", ", lambda at: f'"k{at}": {{"$or": [{{"a": [1]}}, {{"b": [2]}}]}}', '{"detail": {', "}}"
        ),
        "nested objects": _nested('{"a":', '["x"]', "}"),
        "nested arrays": _nested("[", "1", "]"),
        "a long pattern": '{"source": [{"wildcard": "' + "*a" * (SIZE // 2 - 20) + '"}]}',
        "a long number": '{"n": [' + "9" * (SIZE - 9) + "]}",
        "a long text": '{"source": ["' + "a" * (SIZE - 16) + '"]}',
        "a long name": '{"' + "a" * (SIZE - 12) + '": [1]}',
        "a name twice": _filled(", ", lambda at: f'"a{at}": [1]', "{", ', "b": [1], "b": [1]}'),
    }


def _of_sns(text):
    return text[len('{"detail": ') : -1] if text.startswith('{"detail": ') else text


_PUBSUB = {
    "many alternatives": _filled(" OR ", lambda at: f'attributes.x = "a{at}"'),
    "values left out": _filled(" AND ", lambda at: f'attributes.x != "a{at}"'),
    "alternatives left out": _filled(" OR ", lambda at: f'attributes.x{at % 9} != "a{at}"'),
    "prefixes left out": _filled(" AND ", lambda at: f'NOT hasPrefix(attributes.x, "a{at}")'),
    "products": _filled(" AND ", lambda at: f'(attributes.a{at} = "b" OR attributes:b{at})'),
    "products left out": _filled(" AND ", lambda at: f'(attributes.a{at} != "b" OR attributes.x != "{at}")'),
    "contradictions": _filled(" OR ", lambda at: f"(attributes:a{at} AND -attributes:a{at})"),
    "parentheses": _nested("(", "attributes:a", ")"),
    "negations": "NOT " * (SIZE // 4 - 4) + "attributes:a",
    "signs": "-" * (SIZE - 12) + "attributes:a",
    "a long text": 'attributes.a = "' + "é" * (SIZE // 2 - 10) + '"',
    "a long name": "attributes:" + "a" * (SIZE - 11),
}

_CLOUDEVENTS = {
    "many alternatives": _filled(", ", lambda at: f'{{"prefix": {{"a{at}": "5"}}}}', '{"any": [', "]}"),
    "values left out": _filled(", ", lambda at: f'{{"not": {{"exact": {{"x": "a{at}"}}}}}}', "[", "]"),
    "numbers left out": _filled(", ", lambda at: f'{{"not": {{"exact": {{"x": "{at}"}}}}}}', "[", "]"),
    "suffixes of numbers": _filled(", ", lambda at: f'{{"suffix": {{"x": "{at}"}}}}', '{"any": [', "]}"),
    "prefixes of numbers": _filled(", ", lambda at: f'{{"prefix": {{"x": "{at}"}}}}', '{"any": [', "]}"),
    "prefixes of numbers left out": _filled(
        ", ", lambda at: f'{{"not": {{"prefix": {{"x": "{at}"}}}}}}', '{"all": [', "]}"
    ),
    "negation of alternatives": _filled(
        ", ", lambda at: f'{{"suffix": {{"x{at % 9}": "{at}"}}}}', '{"not": {"any": [', "]}}"
    ),
    "products": _filled(
        ", ", lambda at: f'{{"any": [{{"exact": {{"a": "{at}", "b": "1"}}}}, {{"suffix": {{"c": "{at}"}}}}]}}', "[", "]"
    ),
    "negations": _nested('{"not":', '{"exact":{"a":"b"}}', "}"),
    "arrays": _nested('{"all":[', '{"exact":{"a":"b"}}', "]}"),
    "many attributes": _filled(", ", lambda at: f'"a{at}": "{at}"', '{"exact": {', "}}"),
    "a long text": '{"exact": {"a": "' + "5" * (SIZE - 20) + '"}}',
    "a long prefix": '{"prefix": {"a": "' + "5" * (SIZE - 21) + '"}}',
}

_HEADERS = {
    "many headers": _filled(", ", lambda at: f'"a{at}": {at}', "{", "}"),
    "many alternatives": _filled(", ", lambda at: f'"a{at}": null', '{"x-match": "any", ', "}"),
    "nested tables": _nested('{"a":', "1", "}"),
    "nested arrays": _nested("[", "1", "]"),
    "a long number": '{"a": ' + "9" * (SIZE - 7) + "}",
    "a long fraction": '{"a": 0.' + "1" * (SIZE - 9) + "}",
    "a long text": json.dumps({"a": "b" * (SIZE - 9)}),
}

_MQTT = {
    "levels": "a/" * (SIZE // 2 - 1) + "#",
    "wildcards": "+/" * (SIZE // 2 - 1) + "#",
    "both": "+/a/" * (SIZE // 4 - 1) + "#",
    "conditions": _filled("&", lambda at: f"k{at}=1", "a/#?"),
    "conditions on one": _filled("&", lambda at: f"k>{at}", "a/#?"),
    "contrary conditions": _filled("&", lambda at: f"k={at}", "+/a/#?"),
    "marks": "a?" + "?" * (SIZE - 2),
    "signs": "a?" + "&=" * (SIZE // 2 - 2),
    "percents": "a?k=" + "%" * (SIZE - 4),
    "a long number": "a?k=" + "9" * (SIZE - 4),
    "a long bound": "a?k>" + "9" * (SIZE - 4),
    "a long fraction": "a?k>0." + "1" * (SIZE - 6),
    "a long level": "é" * (SIZE // 2),
}

_NATS = {
    "tokens": "a." * (SIZE // 2 - 1) + ">",
    "wildcards": "*." * (SIZE // 2 - 1) + ">",
    "both": "*.a." * (SIZE // 4 - 1) + ">",
    "a long token": "é" * (SIZE // 2),
}

_AMQP_TOPIC = {
    "words": "a." * (SIZE // 2 - 1) + "#",
    "many words": "#." * (SIZE // 2 - 1) + "#",
    "wildcards": "*." * (SIZE // 2 - 1) + "#",
    "words between": "#.a." * (SIZE // 4 - 1) + "#",
    "wildcards between": "#.*.a." * (SIZE // 6 - 1) + "#",
    "few wildcards between": "#.*.a." * 100 + "#",
    "empty words": "." * SIZE,
    "a long word": "é" * (SIZE // 2),
}

_SUM = " + ".join("(" + " + ".join(f"b{at}" for at in range(60)) + ")" for _ in range(60))
_AZURE = {
    "lists of attributes": _list("IN", lambda at: f"a{at}"),
    "nested lists": "x IN (" + "(" * (SIZE // 2 - 10) + "1" + ")" * (SIZE // 2 - 10) + ")",
    "sums of many in a list": (_SUM + f" IN ({', '.join(f'a{at}' for at in range(5_000))})").ljust(SIZE - 1_000),
    "existing": _filled(" OR ", lambda at: f"EXISTS(user.a{at})"),
    "names": _filled(" OR ", lambda at: f"X{at} = 1"),
    "a correlation": _filled(", ", lambda at: f'"A{at}": {at}', '{"properties": {', "}}"),
}

_CHOICES = "".join(f" ? b{at} : c{at})" for at in range(30))
_CEL = {
    "many texts": _filled(", ", lambda at: f"'a{at}'", "x in [", "]"),
    "many texts left out": _filled(", ", lambda at: f"'a{at}'", "!(x in [", "])"),
    "descending numbers left out": _filled(", ", lambda at: f"{30_000 - at}", "!(x in [", "])"),
    "unequal values": _filled(" && ", lambda at: f"x != {at}"),
    "prefixes left out": _filled(" && ", lambda at: f"!x.startsWith('a{at}')"),
    "products": _filled(" && ", lambda at: f"(a{at} == 1 || b{at} == 2)"),
    "products of presence": _filled(" && ", lambda at: f"has(a.b{at})"),
    "nulls left out": _filled(" && ", lambda at: f"a{at} != null"),
    "contradictions": _filled(" || ", lambda at: f"(a == {at} && !(a == {at}))"),
    "choices": _filled(" || ", lambda at: f"(a{at} ? b == {at} : c)"),
    "a chain of choices": _filled("", lambda at: f"a{at} ? b : ", "", "c"),
    "nested choices": "(" * 30 + "a" + _CHOICES + " " * (SIZE - 1_000),
    "nested values": "x == " + "(" * 30 + "a" + _CHOICES + " " * (SIZE - 1_000),
    "comparisons of choices": _filled(" && ", lambda at: f"(a{at} ? b : c) == (d ? {at} : e)"),
    "sizes": _filled(" && ", lambda at: f"size(a{at}) > {at}"),
    "parentheses": _nested("(", "x", ")"),
    "negations": "!" * (SIZE - 1) + "x",
    "signs": "x == " + "-" * (SIZE - 6) + "1",
    "a sum": _filled(" + ", lambda at: f"a{at}", "x == "),
    "a path": _filled(".", lambda at: f"a{at}", "", " == 1"),
    "indexes": "x" + "[0]" * (SIZE // 3 - 4) + " == 1",
    "a long text": "x == '" + "é" * (SIZE // 2 - 10) + "'",
    "escapes": "x == '" + "\\x41" * (SIZE // 4 - 10) + "'",
    "a comment": "x //" + "/" * (SIZE - 4),
    "open texts": 'x == """' + "\\'" * (SIZE // 2 - 10),
    "a long number": "x == " + "9" * (SIZE - 5),
    "comparisons in a row": _filled(" == ", lambda at: f"a{at}"),
}

_CESQL = {
    "exclusive": _filled(" XOR ", lambda at: f"a{at} = 'x'"),
    "exclusive nesting": _nested("(a XOR ", "b", ")"),
    "casts": _filled(" AND ", lambda at: f"INT(a{at}) = {at}"),
    "functions": _nested("LOWER(", "x", ")"),
    "conditions compared": _nested("(", "a", " = 'b') = TRUE"),
    "alternating": _filled(" ", lambda at: f"{'AND' if at % 2 else 'OR'} a{at} = {at}", "x "),
}

_TAMIS = {
    "many values": _filled(", ", str, "x not in {", "} and a < b"),
    "comparisons of attributes": _filled(" and ", lambda at: f"a{at} < b{at}"),
    "alternatives of attributes": _filled(" or ", lambda at: f"a{at} < b{at}"),
    "negated comparisons": _filled(" or ", lambda at: f"not (a{at % 9} < b{at})"),
    "products": _filled(" and ", lambda at: f"(a{at} = 1 or b{at} < c)"),
    "products of one": _filled(" and ", lambda at: f"(x = {at} or y < z)"),
    "contradictions": _filled(" or ", lambda at: f"(a = {at} and not a = {at} and b < c)"),
    "a sum": _filled(" + ", lambda at: f"a{at}", "x = "),
    "a sum of numbers": _filled(" + ", str, "x = "),
    "a product of numbers": _filled(" * ", lambda at: f"{at + 1}.5", "x = "),
    "a deep sum": "(" * 10_900 + "a" + " + 1)" * 10_900 + " = 1",
    "parentheses": _nested("(", "a < b", ")"),
    "parentheses around a value": "(" * 32_700 + "a" + ")" * 32_700 + " < b",
    "negations": "not " * (SIZE // 4 - 2) + "a < b",
    "signs": "- " * (SIZE // 2 - 4) + "a < b",
    "functions": "lower(" * 9_300 + "x" + ")" * 9_300 + ' = "a"',
    "sums in functions": _filled(" and ", lambda at: f"length(concat(a{at}, trim(b))) + {at} > c"),
    "patterns": _filled(" or ", lambda at: f'x like "a{at}%b_%c"'),
    "many wildcards": 'x like "' + "%a" * (SIZE // 2 - 10) + '"',
    "single wildcards": 'x like "' + "_" * (SIZE - 10) + '"',
    "a beginning and an end": 'x like "' + "a" * (SIZE // 2 - 10) + "%" + "a" * (SIZE // 2 - 10) + '"',
    "escapes": 'x like "' + "!%" * (SIZE // 2 - 20) + '%_" escape "!"',
    "networks": _filled(" or ", lambda at: f"x in 10.{at // 250 % 250}.{at % 250}.0/23"),
    "texts in any case": _filled(" or ", lambda at: f'x ~= "a{at}"'),
    "a long text in any case": 'x ~= "' + "é" * (SIZE // 2 - 10) + '"',
    "a long number": "a < b + " + "9" * (SIZE - 8),
    "comparisons in a row": _filled(" < ", lambda at: f"a{at}"),
}

WORST = {
    "tamis": _TAMIS,
    "mqtt": _MQTT,
    "nats": _NATS,
    "amqp-topic": _AMQP_TOPIC,
    "amqp-headers": _HEADERS,
    "cloudevents": _CLOUDEVENTS,
    "cesql": {**_of_sql("<>"), **_CESQL},
    "jms": {**_of_sql("<>"), "a product": _filled(" * ", lambda at: f"a{at}", "x < ")},
    "amqp-sql": {**_of_sql("!="), "existing": _filled(" OR ", lambda at: f"EXISTS(a{at})")},
    "azure": {**_of_sql("!="), **_AZURE},
    "cel": _CEL,
    "pubsub": _PUBSUB,
    "eventbridge": _of_fields(),
    "sns": {way: _of_sns(text) for way, text in _of_fields().items()},
}
