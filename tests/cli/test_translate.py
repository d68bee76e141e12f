"""`tamis translate`: a filter of another system in, a predicate and verdicts out."""

from __future__ import annotations

import base64
import io
import json

import pytest

from tamis.cli.main import main
from tamis.protocol import dialects
from tamis.protocol.residual import in_words, read_program


def lines(monkeypatch, capsys, *forms: object, options: tuple[str, ...] = ()) -> tuple[int, list[object]]:
    text = "".join(f"{form if isinstance(form, str) else json.dumps(form)}\n" for form in forms)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code = main(["translate", "--jsonl", *options])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_an_exact_filter(capsys) -> None:
    assert main(["translate", "--from", "nats", "a.*.c"]) == 0
    assert capsys.readouterr() == ('subject/1 = "a" and subject/3 = "c" and not exists subject/4\nexact\n', "")


def test_one_that_is_wider_says_what_is_not_decided(capsys) -> None:
    assert main(["translate", "--from", "amqp-topic", "#.a.*.b.#"]) == 1
    assert capsys.readouterr().out == "true\nwider: not decided are words between two `#`\n"


def test_one_that_a_program_decides(capsys) -> None:
    assert main(["translate", "--from", "amqp-topic", "a.#.b.#"]) == 0
    assert capsys.readouterr().out == 'key/1 = "a"\nwider; a program decides words between two `#`\n'
    assert main(["translate", "--from", "jms", "price * qty > 1000", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["exact"], form["decided"]) == (False, True)
    assert in_words(read_program(base64.b64decode(form["residual"]))) == "price * qty > 1000"


def test_one_json_object(capsys) -> None:
    assert main(["translate", "--from", "mqtt", "a/#", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert form == {
        "dialect": "mqtt",
        "filter": "a/#",
        "predicate": 'topic = "a" or topic prefix "a/"',
        "filters": [[["topic", "=", "a"]], [["topic", "prefix", "a/"]]],
        "exact": True,
        "needs": [],
        "decided": True,
        "indexed": None,
        "residual": None,
        "warnings": [],
    }


def test_one_that_ignores_case_has_a_predicate_for_the_index(capsys) -> None:
    pattern = '{"source": [{"equals-ignore-case": "Aws.EC2"}]}'
    assert main(["translate", "--from", "eventbridge", pattern, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["predicate"], form["indexed"]) == ('source prefix ""', '`source~` = "aws.ec2"')


def test_a_mistake_has_its_place(capsys) -> None:
    assert main(["translate", "--from", "mqtt", "a/b#"]) == 2
    said = (
        "Error: filter, line 1, column 4: `#` must be a whole level\na/b#\n   ^\nwrite `/#`, or the text of the level\n"
    )
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    ("words", "said"), [(["--from", "mqt", "a"], "did you mean mqtt"), (["--from", "jms"], "write FILTER")]
)
def test_misuse(words, said, capsys) -> None:
    assert main(["translate", *words]) == 2
    assert said in capsys.readouterr().err


def test_without_a_dialect_a_text_is_of_the_language_itself(capsys) -> None:
    assert main(["translate", 'sym = "A" and price * qty > 1000']) == 0
    index_part, rest = capsys.readouterr().out.splitlines()
    assert index_part == 'exists price and exists qty and sym = "A"'
    assert rest == "wider; a program decides arithmetic at column 27"


def test_the_dialects_are_listed(capsys) -> None:
    assert main(["translate", "--from", "help"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(dialects.names())


def test_verdicts_of_lines(monkeypatch, capsys) -> None:
    code, answers = lines(
        monkeypatch,
        capsys,
        {"dialect": "mqtt", "filter": "a/+", "events": ["a/b", "a", {"topic": "a/b", "unit": "C"}]},
        {"dialect": "amqp-topic", "filter": "a.#.*.b.#.c.*.d.#", "events": ["a.b", "b"]},
        {"dialect": "jms", "filter": "a < b", "events": [{"a": 1, "b": 2}, {"a": 2, "b": 2}, {"a": 1}]},
        {"dialect": "cloudevents", "filter": {"exact": {"type": "a"}}, "events": [{"type": "a"}, {"type": None}]},
    )
    assert code == 0
    assert answers == [
        {"verdicts": [True, False, True], "exact": True, "error": None},
        {"verdicts": [None, False], "exact": False, "error": None},
        {"verdicts": [True, False, False], "exact": False, "error": None},
        {"verdicts": [True, False], "exact": True, "error": None},
    ]


def test_what_is_wrong_in_a_line_is_said_in_its_answer(monkeypatch, capsys) -> None:
    code, answers = lines(
        monkeypatch,
        capsys,
        {"filter": "#/a", "events": ["a"]},
        {"filter": "a", "events": ["a", "+", 5, {"topic": "a", "": 1}]},
        {"dialect": "none", "filter": "a", "events": []},
        {"filter": "a"},
        "[",
        {"filter": "a", "events": ["a"]},
        options=("--from", "mqtt"),
    )
    assert code == 1
    assert [answer["verdicts"] for answer in answers] == [[], [True, None, None, None], [], [], [], [True]]
    assert [answer["error"] is None for answer in answers] == [False] * 5 + [True]
    assert "column 1: `#` must be the last level" in answers[0]["error"]
    assert "event 1: '+' is not a topic" in answers[1]["error"]
    assert "event 2: " in answers[1]["error"]
    assert "event 3: an attribute name" in answers[1]["error"]
    assert "there is no dialect 'none'" in answers[2]["error"]
