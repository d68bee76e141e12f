"""`tamis explain`: what it prints, in text and as JSON."""

from __future__ import annotations

import json

import pytest

from tamis.cli.main import main
from tamis.protocol import dialects

PREDICATE = 'severity > 2 and class = "alert" or device ^= "web"'


def test_why_it_matches(capsys) -> None:
    assert main(["explain", PREDICATE, "class=alert", "severity=6"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (
        "match: yes\n"
        'yes  class = "alert" and severity > 2\n'
        '     yes  class = "alert"  class is "alert"\n'
        "     yes  severity > 2     severity is 6\n"
        'no   device prefix "web"\n'
        '     no   device prefix "web"  device is absent\n'
    )


def test_why_it_does_not(capsys) -> None:
    assert main(["explain", PREDICATE, '{"class": "alert", "severity": "6"}']) == 0
    out = capsys.readouterr().out
    assert out.startswith("match: no\nno ")
    assert '     no   severity > 2     severity is the string "6"\n' in out


def test_json(capsys) -> None:
    assert main(["explain", "--json", "x > 2 or exists y", "x=6"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "match": True,
        "filters": [
            {
                "match": True,
                "filter": [["x", ">", 2]],
                "text": "x > 2",
                "constraints": [
                    {"holds": True, "constraint": ["x", ">", 2], "text": "x > 2", "seen": "x is 6", "value": 6}
                ],
            },
            {
                "match": False,
                "filter": [["y", "exists"]],
                "text": "exists y",
                "constraints": [
                    {"holds": False, "constraint": ["y", "exists"], "text": "exists y", "seen": "y is absent"}
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    ("predicate", "printed"),
    [("true", "match: yes\nyes  true\n"), ("false", "match: no\n`false` matches no message\n")],
)
def test_everything_and_nothing(predicate: str, printed: str, capsys) -> None:
    assert main(["explain", predicate]) == 0
    assert capsys.readouterr().out == printed


def test_a_dropped_alternative_is_told(capsys) -> None:
    assert main(["explain", "x = 1 or y = 1 and y = 2", "x=1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("match: yes\n")
    assert err.startswith("dropped y = 1 and y = 2: ")


def test_a_filter_and_an_event_of_a_dialect(capsys) -> None:
    assert main(["explain", "--dialect", "mqtt", "hall/+", "topic=hall/temperature"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("match: yes\n")
    assert '     yes  topic/1 = "hall"' in out
    for event in ("hall/temperature", '"hall/temperature"', '{"topic": "hall/temperature"}'):
        assert main(["explain", "--dialect", "mqtt", "hall/+", event]) == 0
        assert capsys.readouterr().out == out


OF_JMS = ["explain", "--dialect", "jms", "price * qty > 1000 AND sym = 'A'"]


@pytest.mark.parametrize(
    ("words", "match", "said"),
    [
        (["sym=A", "price=300", "qty=4"], "yes", "price is 300, qty is 4: true"),
        (["sym=A", "price=3", "qty=4"], "no", "price is 3, qty is 4: false"),
        (["sym=A", "price=x", "qty=4"], "no", 'price is "x", qty is 4: unknown'),
        (["sym=A", "price=3"], "no", "price is 3, qty is absent: unknown"),
    ],
)
def test_a_program_decides_behind_the_predicate(words, match, said, capsys) -> None:
    assert main([*OF_JMS, *words]) == 0
    first, *rest, program, one, two = capsys.readouterr().out.splitlines()
    assert first == f"match: {match}"
    assert rest[0].endswith('  exists price and exists qty and sym = "A"')
    verdict = said.rpartition(" ")[2]
    assert program == f'{match:<3}  sym = "A" and price * qty > 1000  a program decides: {verdict}'
    assert one == '     yes  sym = "A"           sym is "A": true'
    assert two == f"     {match:<3}  price * qty > 1000  {said}"


def test_a_program_as_json(capsys) -> None:
    assert main([*OF_JMS, "--json", "sym=A", "price=3"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form["match"] is False
    assert [each["match"] for each in form["filters"]] == [False]
    parts = form["program"].pop("conditions")
    assert [(part["text"], part["verdict"]) for part in parts] == [
        ('sym = "A"', "true"),
        ("price * qty > 1000", "unknown"),
    ]
    assert form["program"] == {
        "match": False,
        "verdict": "unknown",
        "text": 'sym = "A" and price * qty > 1000',
        "needs": ["arithmetic at column 13"],
        "values": {"sym": "A", "price": 3, "qty": None},
    }


def test_a_program_with_jumps_is_named_by_what_it_decides(capsys) -> None:
    pattern = '{"detail": {"state": ["ok"]}}'
    assert main(["explain", "--dialect", "eventbridge", pattern, '{"detail": {"state": ["no", "ok"]}}']) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "match: yes"
    assert last.startswith("yes  the values of detail.state in an array  a program decides: `detail.state[]` is 2, ")
    assert last.endswith(", and 2 others: true")


def test_the_language_itself_has_parts_that_a_program_decides(capsys) -> None:
    assert main(["explain", "not (price * qty > 1000) and sym = 'A'", "sym=A", "price=3"]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "match: yes"
    assert last == "yes  not price * qty > 1000 or unknown  a program decides: price is 3, qty is absent: true"


def test_an_error_and_a_warning_of_a_filter_are_told(capsys) -> None:
    assert main(["explain", "--dialect", "cesql", "NOT (hop < ttl)", "hop=1", "ttl=x"]) == 0
    out, err = capsys.readouterr()
    assert (out.splitlines()[0], err) == ("match: no", "")
    assert out.splitlines()[-1].endswith('  a program decides: hop is 1, ttl is "x": an error')
    assert main(["explain", "--dialect", "cesql", "NOT type = 'a'", "type=a"]) == 0
    assert "write" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (
            ["--dialect", "mqtt", "a/b+", "topic=a"],
            "Error: filter, line 1, column 4: `+` must be a whole level\na/b+\n",
        ),
        (["--dialect", "mqtt", "a/b", "x=1"], "Error: an event is a text, or an object with the text 'topic'"),
        (
            ["--dialect", "amqp-topic", "#.a.*.b.#", "key=a"],
            "Error: no predicate and no residual program can say all of this filter of amqp-topic: not decided",
        ),
        (["--dialect", "jmss", "a = 1", "a=1"], "Error: there is no dialect 'jmss', did you mean jms?"),
        (["--dialect", "sns", "{}", "{x"], "Error: not JSON: "),
        (["--dialect", "jms", "--das", "a = 1", "a=1"], "Error: --das and --dialect contradict each other: omit one"),
        (
            ["x => 3"],
            "Error: predicate, line 1, column 3: there is no operator `=>`\nx => 3\n  ^\ndid you mean `>=`?\n",
        ),
        (["x = 1 and x = 2"], "Error: predicate, line 1, column 11: this can never match: "),
        (["x = 1", "x"], "message, line 1, column 2: expected `=`"),
        (["x = 1", "{}}"], "message, line 1, column 3: not JSON"),
    ],
)
def test_mistakes(argv: list[str], said: str, capsys) -> None:
    assert main(["explain", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_both_halves_of_a_subscription_at_a_router(monkeypatch, capsys) -> None:
    program = dialects.get("jms").decided("sym = 'A' AND price * qty > 1000").residual
    item = {"client": "desk", "subscription": 1, "handle": 0, "program": program.pack().hex()}
    item["filter"] = 'sym = "A" and exists price'
    answer = {
        "filters": [],
        "denied_filters": [item],
        "denied": 1,
        "matching_filters": 1,
        "clients": [],
        "complete": True,
    }
    monkeypatch.setattr("tamis.cli.reach.admin_http.asked", lambda *_: (200, json.dumps(answer).encode()))
    assert main(["explain", "--router", "127.0.0.1:7600", "sym=A", "price=3"]) == 0
    assert capsys.readouterr().out.splitlines()[-5:] == [
        'not for desk, subscription 1, by its program: sym = "A" and exists price',
        "     yes  exists price  price is 3",
        '     yes  sym = "A"     sym is "A"',
        '     yes  sym = "A"           sym is "A": true',
        "     no   price * qty > 1000  price is 3, qty is absent: unknown",
    ]


def test_an_event_with_more_values_than_a_message_is_explained_by_those_that_the_filter_uses(capsys) -> None:
    event = json.dumps({"detail": {f"n{number}": number for number in range(80)}})
    assert main(["explain", "--dialect", "eventbridge", '{"detail": {"n79": [79]}}', event]) == 0
    out, err = capsys.readouterr()
    assert (out.splitlines()[0], err) == ("match: yes", "a message has no room for 17 values of the event\n")
