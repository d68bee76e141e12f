"""`tamis match`: lines in, lines out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tamis.cli import progress
from tamis.cli.lab import match, native_engine
from tamis.cli.lab.engines import engine_names
from tamis.cli.main import main
from tamis.native import ENGINES
from tamis.protocol import limits

FILTERS = """\
{"i": 7, "f": [["price", "<", 500], ["dest", "=", "MXP"]]}
{"i": "b", "f": []}

{"i": "a", "f": [["price", "exists"]]}
{"i": 10, "f": [["dest", "not", "in", ["MXP"]]]}
{"i": 7, "f": [["price", "=", 1000]]}
{"i": 10, "f": [["dest", "prefix", "M"]]}
"""
MESSAGES = """\
{"price": 300, "dest": "MXP"}

{"price": 1000}
   \t
{}
"""
EXPECTED = '[7, 10, "a", "b"]\n[7, 10, "a", "b"]\n[10, "b"]\n'


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    filters, messages = tmp_path / "filters.jsonl", tmp_path / "messages.jsonl"
    filters.write_text(FILTERS)
    messages.write_text(MESSAGES)
    return filters, messages


def run(filters: object, messages: object, *options: str) -> int:
    return main(["match", "--filters", str(filters), "--messages", str(messages), *options])


@pytest.mark.parametrize("options", [[], ["--json"], *(["--engine", name] for name in engine_names())])
def test_each_message_gets_the_sorted_list_of_its_interfaces(files, options, capsys) -> None:
    assert run(*files, *options) == 0
    assert capsys.readouterr() == (EXPECTED, "")


@pytest.mark.parametrize("from_stdin", [0, 1])
def test_either_file_may_be_stdin(files, from_stdin, monkeypatch, capsys) -> None:
    text = files[from_stdin].read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert run(*("-" if number == from_stdin else path for number, path in enumerate(files))) == 0
    assert capsys.readouterr() == (EXPECTED, "")


def test_not_both(capsys) -> None:
    assert run("-", "-") == 2
    assert "only one of" in capsys.readouterr().err


def test_every_mistake_of_the_filters_is_reported_before_anything_is_matched(files, capsys) -> None:
    filters, messages = files
    filters.write_bytes(b'{"i": 1}\n\n{"i": 1, "f": []}\n{"i": 1, "f": [["x", "~", 1]]}\n\xff\n')
    assert run(filters, messages) == 2
    out, err = capsys.readouterr()
    assert out == ""
    reported = err.splitlines()
    assert len(reported) == 3
    assert reported[0] == f'{filters}:1: a filter line is {{"i": INTERFACE, "f": [CONSTRAINT, ...]}}'
    assert reported[1].startswith(f'{filters}:4: constraint ["x", "~", 1]: no operator "~"')
    assert reported[2] == f"{filters}:5: not UTF-8 at byte 1"


def test_a_message_that_cannot_be_read_keeps_its_line(files, capsys) -> None:
    filters, messages = files
    messages.write_bytes(b'{"price": 1000}\n{"price": NaN}\n\n{"dest": "\xe9"}\n{}')
    assert run(filters, messages) == 1
    out, err = capsys.readouterr()
    assert [json.loads(line) for line in out.splitlines()] == [[7, 10, "a", "b"], None, None, [10, "b"]]
    assert err.splitlines() == [
        f"{messages}:2: a float must be finite, not NaN",
        f"{messages}:4: not UTF-8 at byte 11",
    ]


def test_stdin_has_a_name_in_a_report(files, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{")))
    assert run(files[0], "-") == 1
    assert capsys.readouterr().err.startswith("<stdin>:1: not JSON")


def test_files_and_engines_that_do_not_exist(files, tmp_path, capsys) -> None:
    assert run(files[0], tmp_path / "none") == 2
    assert "does not exist" in capsys.readouterr().err
    assert run(files[0], tmp_path) == 2
    assert "is a directory" in capsys.readouterr().err
    assert run(*files, "--engine", "plian") == 2
    assert f"no engine 'plian'; one of {', '.join(engine_names())}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("pst:depth=3", "engine pst has no option 'depth'; its options: order, annotate, delay"),
        ("pst:delay=99", "delay is 99; from 0 to 32"),
        ("interval:form=trees", "form is 'trees'; one of lists, tree, whole"),
        ("counting:each", "'each' is not option=value"),
        ("plain:rounds=3", "engine plain has no options"),
    ],
)
def test_an_option_that_an_engine_does_not_have_is_refused_with_what_is_allowed(asked, why, files, capsys) -> None:
    assert run(*files, "--engine", asked) == 2
    out, err = capsys.readouterr()
    assert (out, why in err) == ("", True)


@pytest.mark.parametrize(
    "spelled", sorted(f"{name}:{o.name}={o.spelled}" for name, e in ENGINES.items() for o in e.options.values())
)
def test_every_option_of_every_engine_can_be_given(spelled, files, capsys) -> None:
    assert run(*files, "--engine", spelled) == 0
    assert capsys.readouterr().out == EXPECTED


def test_help_in_place_of_an_engine_lists_engines_and_options(capsys) -> None:
    assert main(["match", "--engine", "help"]) == 0
    told = capsys.readouterr().out
    assert main(["bench", "match", "--engine", "help"]) == 0
    assert capsys.readouterr().out == told
    lines = told.splitlines()
    for name in engine_names():
        assert any(line.startswith(f"{name}: ") for line in lines)
    for engine in ENGINES.values():
        for option in engine.options.values():
            assert f"  {option.name} = {option.allowed}; {option.spelled} if not given" in lines


@pytest.mark.parametrize("engine", [*ENGINES, "pst:delay=8,order=names"])
def test_stats_are_equal_for_equal_runs(engine, files, capsys) -> None:
    told = []
    for _ in range(2):
        assert run(*files, "--engine", engine, "--stats") == 0
        out, err = capsys.readouterr()
        assert out == EXPECTED
        told.append(json.loads(err))
    assert told[0] == told[1]
    assert (told[0]["engine"], told[0]["filters"], told[0]["messages"]) == (engine, 6, 3)
    assert told[0]["constraints"] == 6
    assert told[0]["steps"] > 0


def test_stats_of_the_plain_engine_have_no_steps(files, capsys) -> None:
    assert run(*files, "--engine", "plain", "--stats") == 0
    assert json.loads(capsys.readouterr().err) == {"engine": "plain", "filters": 6, "messages": 3}


class Reads(io.BytesIO):
    """Input that arrives in pieces, as through a pipe; notes what has been printed when more is asked for."""

    def __init__(self, pieces: list[bytes], printed: Callable[[], str] = str) -> None:
        super().__init__()
        self.pieces, self.printed = pieces, printed
        self.seen: list[str] = []

    def read1(self, size: int = -1, /) -> bytes:
        self.seen.append(self.printed())
        piece = self.pieces.pop(0) if self.pieces else b""
        assert len(piece) <= size
        return piece


@pytest.mark.parametrize("engine", engine_names())
def test_no_answer_waits_for_more_input(engine, files, monkeypatch, capsys) -> None:
    reads = Reads([b"{}\n", b'{}\n{"pri', b'ce"', b": 1}\n\n{", b"}"], lambda: capsys.readouterr().out)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(reads))
    assert run(files[0], "-", "--engine", engine) == 0
    one, priced = '[10, "b"]\n', '[10, "a", "b"]\n'
    assert [*reads.seen, capsys.readouterr().out] == ["", one, one, "", priced, "", one]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_where_input_is_cut_means_nothing(size, files, monkeypatch, capsys) -> None:
    data = b'{"price": 1000}\n{"price": NaN}\r\n\n{"dest": "\xe9"}\n\n{"dest": "M"}'
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Reads(pieces)))
    assert run(files[0], "-") == 1
    out, err = capsys.readouterr()
    assert [json.loads(line) for line in out.splitlines()] == [[7, 10, "a", "b"], None, None, [10, "b"]]
    assert [line.split(":")[1] for line in err.splitlines()] == ["2", "4"]


@pytest.mark.parametrize("rows_max", [8, 1_000_000])
def test_batches_of_any_size_keep_the_order(rows_max, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(native_engine, "_ANSWER_ROWS_MAX", rows_max)
    (tmp_path / "f").write_text("".join(f'{{"i": {i}, "f": [["x", "=", {i}]]}}\n' for i in range(4)))
    numbers = [n % 5 for n in range(8_000)]  # two reads long
    (tmp_path / "m").write_text("".join(f'{{"x": {n}}}\n' for n in numbers))
    assert run(tmp_path / "f", tmp_path / "m") == 0
    assert capsys.readouterr().out == "".join("[]\n" if n == 4 else f"[{n}]\n" for n in numbers)


@pytest.mark.parametrize("engine", engine_names())
def test_a_filter_that_an_engine_cannot_take_is_a_mistake_like_any_other(engine, tmp_path, files, capsys) -> None:
    values = [f"{n:0{limits.OPERAND_BYTES_MAX}}" for n in range(limits.IN_VALUES_MAX)]
    large = json.dumps({"i": 1, "f": [["x", "in", values]]})
    (tmp_path / "f").write_text(f'{{"i": 1, "f": []}}\n{large}\n{{}}\n')
    code = run(tmp_path / "f", files[1], "--engine", engine)
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    mistakes = [f"{tmp_path / 'f'}:3: a filter line is"]
    if engine != "plain":  # the twin keeps filters as they are
        mistakes.insert(
            0, f"{tmp_path / 'f'}:2: a packed filter has at most {limits.FILTER_BYTES_MAX} bytes, this one "
        )
    assert len(err.splitlines()) == len(mistakes)
    assert all(line.startswith(said) for line, said in zip(err.splitlines(), mistakes, strict=True))


def test_no_interfaces_and_no_filters(tmp_path, files, capsys) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert run(empty, files[1]) == 0
    assert capsys.readouterr().out == "[]\n[]\n[]\n"


def test_an_interface_is_printed_as_it_was_written(tmp_path, capsys) -> None:
    (tmp_path / "f").write_text('{"i": "\\u00e9", "f": []}\n{"i": -1, "f": []}\n{"i": "1", "f": []}\n')
    (tmp_path / "m").write_text("{}")
    assert run(tmp_path / "f", tmp_path / "m") == 0
    assert json.loads(capsys.readouterr().out) == [-1, "1", "é"]


def test_integers_come_before_strings() -> None:
    assert match.in_order(["b", 10, "10", -1, 9]) == [-1, 9, 10, "10", "b"]


def test_progress_is_for_terminals_and_for_long_runs(files, monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "INTERVAL_S", 0.0)
    assert run(*files) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run(*files) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "3 messages matched"
    monkeypatch.setattr(progress, "INTERVAL_S", 60.0)
    assert run(*files) == 0
    assert capsys.readouterr().err == ""


def of_dialect(tmp_path: Path, filters: str, messages: str, *options: str) -> int:
    (tmp_path / "filters").write_text(filters)
    (tmp_path / "events").write_text(messages)
    return run(tmp_path / "filters", tmp_path / "events", *options)


def test_filters_and_events_of_another_system(tmp_path, capsys) -> None:
    filters = '{"i": 1, "f": "a/#"}\n{"i": 2, "f": "+/b"}\n{"i": 3, "f": "a"}\n'
    assert of_dialect(tmp_path, filters, '"a"\n{"topic": "a/b"}\n"+"\n', "--dialect", "mqtt", "--stats") == 1
    out, err = capsys.readouterr()
    assert out == "[1, 3]\n[1, 2]\nnull\n"
    assert "events:3: '+' is not a topic" in err
    assert json.loads(err.splitlines()[-1])["filters"] == 4
    filters = '{"i": 1, "f": {"prefix": {"type": "a"}}}\n'
    assert of_dialect(tmp_path, filters, '{"type": "ab"}\n', "--dialect", "cloudevents") == 0
    assert capsys.readouterr().out == "[1]\n"


SELECTORS = """\
{"i": 1, "f": "price * qty > 1000"}
{"i": 1, "f": "price * qty < 10"}
{"i": 1, "f": "sym = 'B'"}
{"i": "a", "f": "price < qty OR sym LIKE 'A_C'"}
{"i": 2, "f": "sym = 'A'"}
"""
PRICES = """\
{"price": 300, "qty": 4, "sym": "A"}
{"price": 3, "qty": 4, "sym": "B"}
{"price": 3, "qty": 3}
{"price": 30, "qty": 3}
{"price": 30, "sym": "ABC"}
{"price": "30", "qty": 300}
"""


@pytest.mark.parametrize("engine", engine_names())
def test_a_program_decides_for_each_filter_of_an_interface(engine, tmp_path, capsys) -> None:
    assert of_dialect(tmp_path, SELECTORS, PRICES, "--dialect", "jms", "--engine", engine, "--stats") == 0
    out, err = capsys.readouterr()
    assert out == '[1, 2]\n[1, "a"]\n[1]\n[]\n["a"]\n[]\n'
    assert json.loads(err)["filters"] == 6


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"i": 1, "f": "#.a.*.b.#"}', "wider than the filter, and no program decides: words between two `#`"),
        ('{"i": 1, "f": "' + "a" * 300 + '"}', "column 1: a binding key has at most 255 bytes"),
        ('{"i": true, "f": "a"}', "a line is"),
        ("[", "not JSON"),
    ],
)
def test_a_filter_of_another_system_that_is_not_decided_is_a_mistake(line, said, tmp_path, capsys) -> None:
    assert of_dialect(tmp_path, line, '"a"\n', "--dialect", "amqp-topic") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_an_unknown_dialect_is_misuse(tmp_path, capsys) -> None:
    assert of_dialect(tmp_path, "", "", "--dialect", "natts") == 2
    assert "did you mean nats" in capsys.readouterr().err


def test_an_event_with_more_values_than_a_message_is_matched_or_refused(tmp_path, capsys) -> None:
    filters = '{"i": 1, "f": {"detail": {"n79": [79]}}}\n{"i": 2, "f": {"detail": {"a": [9]}}}\n'
    large = {f"n{number}": number for number in range(80)}
    events = "".join(json.dumps({"detail": each}) + "\n" for each in (large, {"a": [9]}, {"a": [*range(10)]}))
    assert of_dialect(tmp_path, filters, events, "--dialect", "eventbridge") == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == ["[1]", "[2]", "null"]
    assert "an array of the event has more elements than a message has of it" in err
