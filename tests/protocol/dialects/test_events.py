"""Events of Service Bus and of CEL as attributes."""

from __future__ import annotations

import pytest

from tamis.protocol import dialects
from tamis.protocol.errors import Refused


def test_properties_of_service_bus_are_in_lower_case():
    event = {"Color": "red", "user": {"Size": 5}, "sys": {"Subject": "a", "ReplyTo": None}, "gone": None}
    assert dialects.get("azure").attributes(event) == {"color": "red", "size": 5, "sys.label": "a"}


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({"Color": 1, "color": 2}, "two properties have the name 'color'"),
        ({"Color": None, "color": 2, "user": {"COLOR": 3}}, "two properties have the name 'color'"),
        ({"sys": {"Label": "a", "Subject": "b"}}, "two properties have the name 'sys.label'"),
        ({"sys": {"Size": 5}}, "the broker makes `Size`"),
        ({"sys.lable": "a"}, "there is no system property `lable`, did you mean Label"),
        ("a", "an event is an object"),
    ],
)
def test_what_is_no_event_of_service_bus_is_refused(event, problem):
    with pytest.raises(Refused, match=problem):
        dialects.get("azure").attributes(event)


def test_events_of_cel_tell_what_is_an_object():
    event = {"a": {"b": [1, {"c": None}], "d": {}}, "e": 5}
    assert dialects.get("cel").attributes(event) == {
        "a{}": 2,
        "a.b[]": 2,
        "a.b[0]": 1,
        "a.b[1]{}": 1,
        "a.b[1].c?null": True,
        "a.d{}": 0,
        "e": 5,
    }
    with pytest.raises(Refused, match="an event is an object"):
        dialects.get("cel").attributes([1])
