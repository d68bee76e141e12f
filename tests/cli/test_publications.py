"""What `tamis pub` publishes: recipes, and lines of stdin."""

from __future__ import annotations

import io
import json
from random import Random

import pytest

from tamis.cli.lines import REPORTED_MAX
from tamis.cli.main import main
from tamis.cli.messages.publications import InputMessages, Made, Recipe
from tamis.protocol.errors import MessageTextError, Refused


def recipe(*words: str, payload: str | bytes = b"") -> Recipe:
    return Recipe(words, payload, Random(1))


def test_what_is_filled_in_is_read_as_the_value_that_it_is() -> None:
    made = recipe(
        "n={{count}}", "label=item-{{count}}", 'text="{{count}}"', "big={{random 5 5}}.5", payload="p{{count}}"
    )
    assert made.message(3) == ({"n": 3, "label": "item-3", "text": "3", "big": 5.5}, b"p3")


def test_without_templates_every_message_is_the_same() -> None:
    made = recipe("a=1", payload=b"\xff{{count}}")
    assert made.message(1) == made.message(2) == ({"a": 1}, b"\xff{{count}}")


def test_a_json_object_is_a_recipe_too() -> None:
    assert recipe('{"a": {{count}}, "b": "x"}').message(2)[0] == {"a": 2, "b": "x"}
    assert recipe("{}").message(1) == ({}, b"")


@pytest.mark.parametrize(
    ("dialect", "words", "attributes"),
    [
        ("nats", ("a.{{count}}",), {"subject": "a.2", "subject/1": "a", "subject/2": "2"}),
        ("nats", ('"a"',), {"subject": "a", "subject/1": "a"}),
        ("mqtt", ("topic=a", "unit=C"), {"topic": "a", "topic/1": "a", "unit": "C"}),
        ("eventbridge", ('{"detail": {"n": {{count}}}}',), {"detail.n": 2}),
    ],
)
def test_an_event_of_another_system_has_its_attributes(dialect, words, attributes) -> None:
    made = Recipe(words, "{{count}}", Random(1), dialect=dialect)
    assert made.message(2) == (attributes, b"2")


def test_events_of_another_system_on_stdin(monkeypatch, capsys) -> None:
    text = b'"a/b"\n{"topic": "a", "n": 5}\n"+"\na/b\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    messages = InputMessages(dialect="mqtt")
    assert [message for batch in messages for message in batch] == [
        ({"topic": "a/b", "topic/1": "a", "topic/2": "b"}, b""),
        ({"topic": "a", "topic/1": "a", "n": 5}, b""),
    ]
    assert messages.refused == 2
    err = capsys.readouterr().err
    assert "<stdin>:3: '+' is not a topic" in err
    assert "<stdin>:4: not JSON: " in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dialect", "mqtt", "--space", "trades", "a"], "an event of a dialect is of no space: omit --space"),
        (["--dialect", "mqt"], "there is no dialect 'mqt', did you mean mqtt?"),
        (["--dialect", "mqtt", "a/+"], "'a/+' is not a topic"),
    ],
)
def test_an_event_that_is_none_is_refused(words, said, capsys) -> None:
    assert main(["pub", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("word", "error"), [("a", MessageTextError), ("a={{x}}", Refused)])
def test_a_bad_recipe_is_refused_at_once(word, error) -> None:
    with pytest.raises(error):
        recipe(word)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600])
def test_so_many_are_made(count) -> None:
    made = [message for batch in Made(recipe("n={{count}}"), count) for message in batch]
    assert [attributes["n"] for attributes, _ in made] == list(range(1, count + 1))


def test_without_end() -> None:
    batches = iter(Made(recipe("n={{count}}"), 0))
    assert [next(batches)[0][0]["n"] for _ in range(3)] == [1, 257, 513]


def test_lines_of_stdin(monkeypatch, capsys) -> None:
    text = (
        b'{"a": 1}\n\n{"a": nul}\n{"attributes": {"a": 2}, "payload": "x", "id": "mine"}\n'
        b'{"attributes": {}, "payload_base64": "/w=="}\n{"attributes": "an attribute"}\n'
        b'{"attributes": {"a": 1}, "payload": 5}\n{"attributes": {}, "payload_base64": "?"}\n'
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    lines = InputMessages()
    assert [message for batch in lines for message in batch] == [
        ({"a": 1}, b""),
        ({"a": 2}, b"x"),
        ({}, b"\xff"),
        ({"attributes": "an attribute"}, b""),
    ]
    assert lines.refused == 3
    assert [line.split(": ")[0] for line in capsys.readouterr().err.splitlines()] == [
        "<stdin>:3",
        "<stdin>:7",
        "<stdin>:8",
    ]


def test_a_line_that_is_too_large_is_refused_as_other_bad_lines_are(monkeypatch, capsys) -> None:
    large = json.dumps({"attributes": {"n": 2}, "payload": "x" * 1_100_000})
    text = f'{{"n": 1}}\n{large}\n{{"n": 3}}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    source = InputMessages()
    assert [attributes for batch in source for attributes, _ in batch] == [{"n": 1}, {"n": 3}]
    assert source.refused == 1
    assert capsys.readouterr().err.startswith(
        "<stdin>:2: a message has at most 1,048,576 bytes with its payload, this one has 1,100,0"
    )


def test_of_many_bad_lines_the_first_are_said(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x\n" * 500 + b"{}\n")))
    source = InputMessages()
    assert sum(len(batch) for batch in source) == 1
    assert source.refused == 500
    said = capsys.readouterr().err.splitlines()
    assert len(said) == REPORTED_MAX + 1
    assert said[-1] == "<stdin>: further refused lines are not shown"
