"""Documents as attributes, and the programs that decide patterns."""

from __future__ import annotations

import json
import time
from collections import Counter
from random import Random

import pytest

from tamis.protocol import dialects, limits
from tamis.protocol.dialects.json_patterns.documents import attributes_of, windows_of
from tamis.protocol.dialects.json_patterns.pattern import PRODUCT_MAX
from tamis.protocol.dialects.verdict import verdict, verdict_on
from tamis.protocol.errors import Refused
from tamis.protocol.residual import read_program
from tests.protocol.dialects.judges.json_patterns import eventbridge as judge
from tests.protocol.dialects.tables import cases_of

NAMES = [name for name in dialects.names() if name in ("eventbridge", "sns")]
ROWS = {"a.b[0]": 1, "a[]": 0, "a.c[]": 2}


@pytest.mark.parametrize(
    ("document", "attributes"),
    [
        ({"a": {"b": 1, "c": None}, "d.e": "x"}, {"a.b": 1, "a.c?null": True, "d.e": "x"}),
        ({"a": ["x", ["y"]], "b": []}, {"a[0]": "x", "a[1]": "y", "a[]": 2, "b[]": 0}),
        ({"a": [None, 1]}, {"a[0]?null": True, "a[1]": 1, "a[]": 2, "a[]?null": True}),
        ({"a": [{"b": 1, "c": 2}, {"c": 3}]}, ROWS | {"a.c[0]": 2, "a.c[1]": 3, "a.b[]": 1}),
        ({"a": [{"b": [1, 2], "c": 3}]}, ROWS | {"a.b[1]": 2, "a.c[0]": 3, "a.c[1]": 3, "a.b[]": 2}),
        ({"a": [{"b": [], "c": 3}, {}]}, {"a.c[0]": 3, "a[]": 0, "a.c[]": 1}),
        ({"a": {}}, {}),
    ],
)  # fmt: skip
def test_a_document_is_its_values(document, attributes):
    assert attributes_of(document) == attributes


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([1], "an event is an object"),
        ({"a": {"b": 1}, "a.b": 2}, "two values of the event have the name 'a.b'"),
        ({"a": [{"b": {"c": 1}, "b.c": 2}]}, "two values of the event have the name 'a.b.c'"),
        ({"a": [{"b": 1}], "a.b": 2}, "the array 'a' and the value 'a.b' share a name"),
        ({"a": [{"b": 1}], "a.c": [2]}, "the array 'a' and the value 'a.c' share a name"),
        ({"a": [{"b": 1}], "a.c": None}, "the array 'a' and the value 'a.c' share a name"),
        ({"a": list(range(1_025))}, "the array 'a' has more than 1,024 elements"),
        ({"a": [{"b": [1] * 33, "c": [1] * 32}]}, "the arrays in 'a' have more than 1,024 combinations"),
        ({"a": [*range(9)], "left-out": 1}, "two values of the event have the name 'left-out'"),
        ({"a": [1, {"b": 2}]}, "the array 'a' has objects beside other values"),
        ({"a[0]": 1}, r"the name 'a\[0\]' ends with `\]`"),
        ({"a": [{"b?null": 1}]}, r"the name 'a.b\?null' ends with"),
        (json.loads('{"a":' * 33 + "1" + "}" * 33), "an event nests at most 32 deep"),
        (json.loads('{"a":' + "[" * 33 + "1" + "]" * 33 + "}"), "an event nests at most 32 deep"),
    ],
)
def test_a_document_without_such_a_form_is_refused(document, reason):
    with pytest.raises(Refused, match=reason):
        attributes_of(document)


@pytest.mark.parametrize(
    "event",
    [{"source": 5}, {"id": None}, {"resources": "a"}, {"resources": [1]}, {"detail": [1]}, {"detail": "a"}],
)
def test_the_envelope_of_an_event_of_eventbridge_is_checked(event):
    with pytest.raises(Refused, match="of an event is"):
        dialects.get("eventbridge").attributes(event)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ([], "an event is an object"),
        ({"MessageAttributes": []}, "'MessageAttributes' of a message is an object"),
        ({"MessageAttributes": {"a": "x"}}, "the attribute 'a' has no type"),
        ({"a": {"Type": "Number", "Value": "x"}}, "the attribute 'a' is no number"),
        ({"a": {"Type": "Number", "Value": True}}, "the attribute 'a' has no type of SNS, or no value"),
        ({"a": {"Type": "String", "Value": 5}}, "the attribute 'a' has no type of SNS, or no value"),
        ({"a": {"Type": "String.Array", "Value": "x"}}, "the attribute 'a' is no array"),
        ({"a": {"Type": "String.Array", "Value": "[[1]]"}}, "the attribute 'a' is no array"),
        ({"MessageAttributes": {"Message": {"Type": "String", "Value": "x"}}}, "an attribute has the name of the body"),
    ],
)
def test_a_message_of_sns_is_checked(event, reason):
    with pytest.raises(Refused, match=reason):
        dialects.get("sns").attributes(event)


@pytest.mark.parametrize("name", NAMES)
def test_each_case_is_decided(name):
    dialect = dialects.get(name)
    for case in cases_of(name):
        if not case.refused:
            found = dialect.translate(case.filter)
            assert found.decided, case.filter
            assert found.residual is None or read_program(found.residual.pack()) == found.residual
            for wanted, event in case.events:
                assert verdict(found, dialect.attributes(event)) is wanted, (case.filter, event)


def pattern(count, condition):
    return json.dumps({"detail": {f"n{number}": [condition] for number in range(count)}})


def test_a_pattern_that_is_too_large_for_a_program_is_wider_and_says_so():
    dialect = dialects.get("eventbridge")
    assert dialect.translate(pattern(5, "a")).decided
    for form in (pattern(7, "a"), pattern(200, "a"), pattern(3, {"prefix": "a" * 1_025}), pattern(1, {"cidr": "::/0"})):
        found = dialect.translate(form)
        assert found.needs
        event = dialect.attributes({"detail": {f"n{number}": ["a" * 1_025, "a", "::"] for number in range(7)}})
        assert verdict(found, event) in (True, None) or "199" in form


def nested(depth):
    inner = {"x": [1], "y": [2]}
    for number in range(depth):
        inner = {f"a{number}": inner, f"b{number}": ["b"], "$or": [{f"c{number}": ["c"]}, {f"d{number}": [None]}]}
    return json.dumps(inner)


DOTS = json.dumps({f"{'a.' * 15_000}{last}": [1] for last in "bc"})
LARGE = [pattern(3_000, "a"), pattern(1_900, {"anything-but": "a"}), nested(3), nested(25), DOTS]


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [pattern(3_000, "a"), pattern(1_900, {"anything-but": "a"}), nested(3), nested(25), DOTS]
)
def test_a_large_pattern_takes_bounded_time(form):
    started = time.process_time()
    assert len(dialects.get("eventbridge").translate(form).predicate.filters) <= limits.DISJUNCTS_MAX
    assert time.process_time() - started < 10


def test_many_fields_have_few_alternatives():
    for count in range(1, 7):
        found = dialects.get("eventbridge").translate(pattern(count, "a"))
        assert len(found.predicate.filters) == (2**count if count <= PRODUCT_MAX else 1 + count)
        assert found.decided is (count < 7)


def test_conditions_that_need_rows_share_the_code_of_nested_objects():
    found = dialects.get("eventbridge").translate('{"a": {"b": {"c": {"x": [1], "y": [2]}}}}')
    assert found.residual is not None
    assert len(found.residual.code) < 130


def large_events():
    """Events whose arrays have more elements than attributes have, each beside a pattern."""
    random = Random(5)
    fields = ("a", "b", "c.d", "c.e")
    for _ in range(300):
        detail = {
            "a": random.choices(["x", "y", 1, None], [50, 2, 50, 2], k=random.randrange(40)),
            "b": [[random.choice("xy")] for _ in range(random.randrange(12))],
            "c": [
                {"d": random.choice("uv"), "e": random.choices((1, 2, 3), (9, 9, 1))[0]}
                for _ in range(random.randrange(30))
            ],
        }
        asked = random.sample(fields, random.randrange(1, 4))
        pattern = {}
        for path in asked:
            at = pattern
            *steps, last = path.split(".")
            for step in steps:
                at = at.setdefault(step, {})
            conditions = (
                ["y"],
                ["u", {"exists": False}],
                [3, None],
                [{"anything-but": ["x", "u"]}],
                [{"exists": True}],
            )
            at[last] = random.choice(conditions)
        yield json.dumps({"detail": pattern}), {"detail": detail}


def test_verdicts_on_whole_events_know_every_element():
    dialect, seen = dialects.get("eventbridge"), Counter()
    for text, event in large_events():
        wanted, found = judge(text, event), dialect.translate(text)
        if not found.decided:
            continue
        assert verdict_on(found, dialect, event) is wanted, (text, event)
        attributes = dialect.attributes(event)
        by_message = verdict(found, attributes)
        assert by_message is wanted or "left-out" in attributes
        seen[wanted, by_message] += 1
    assert min(seen[True, True], seen[False, False], seen[True, False]) > 3
    assert not seen[False, True]  # a message never says more than its event


def test_an_event_of_more_than_64_values_keeps_those_that_filters_use():
    event = {"detail": {f"n{number:02}": number for number in range(100)}}
    dialect = dialects.get("eventbridge")
    first = dialect.attributes(event)
    assert (len(first), first["left-out"]) == (64, 37)
    assert "detail.n62" in first
    assert "detail.n63" not in first
    wanted = dialect.attributes(event, {"detail.n99", "detail.n80", "other"})
    assert (wanted["detail.n99"], wanted["detail.n80"], wanted["left-out"], len(wanted)) == (99, 80, 37, 64)
    assert "detail.n61" not in wanted
    assert "left-out" not in dialect.attributes({"detail": {f"n{number}": number for number in range(64)}})
    assert verdict_on(dialect.translate('{"detail": {"n99": [99]}}'), dialect, event) is True


def test_what_does_not_fit_in_arrays_is_counted_with_the_rest():
    event = {"detail": {"a": [*range(20)]} | {f"n{number:02}": number for number in range(60)}}
    found = dialects.get("eventbridge").attributes(event, ("detail.a[]",))
    assert (len(found), found["detail.a[]"], found["left-out"]) == (64, 20, 12 + 60 + 9 - 63)
    with pytest.raises(Refused, match="more than 256 combinations of 8 elements"):
        next(windows_of({"a": [*range(200)], "b": [*range(200)]}))
