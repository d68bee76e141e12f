"""Messages in JSON: what C makes of a text, beside its twin and beside Python's own reader of JSON."""

from __future__ import annotations

import json
import math
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.client.messages.published import TTL_MS_MAX
from tamis.native._tm import lib
from tamis.native.codecs import JsonMessage, JsonReader
from tamis.native.json_refusals import _SENTENCES, JsonCode, JsonRefused
from tamis.protocol.limits import DELIVERABLE_BYTES_MAX
from tamis.protocol.wire.data_frames import decode_data, encode_publish
from tests.native.codecs.json_draw import PIECES, mutated, objects
from tests.native.codecs.json_twin import TwinMessage, TwinRefused, place_of, read_message
from tests.strategies import wide_names, wide_values

NUMBERS = (9933345172075899469, 7, 1_700_000_000_123_456_789)
READERS = {is_socket: JsonReader(is_socket=is_socket) for is_socket in (False, True)}


def said(text: bytes, is_socket: bool = False) -> JsonMessage | tuple[JsonCode, int]:
    """Return what C says, once it is what the twin says."""
    try:
        expected: TwinMessage | TwinRefused = read_message(text, *NUMBERS, is_socket=is_socket)
    except TwinRefused as error:
        expected = error
    try:
        made = READERS[is_socket].read(text, *NUMBERS)
    except JsonRefused as error:
        found = error.refusal
        assert isinstance(expected, TwinRefused), (text, found)
        assert (found.code, found.position) == (expected.code, expected.position), text
        assert (found.line, found.column) == place_of(text, found.position)
        if len(expected.name.encode()) < lib.TM_JSON_NAME_SHOWN:
            assert found.name == expected.name
        else:
            assert expected.name.startswith(found.name)
            assert len(found.name.encode()) > lib.TM_JSON_NAME_SHOWN - 4
        return found.code, found.position
    assert isinstance(expected, TwinMessage), (text, expected)
    assert made == (expected.frame, expected.flags, expected.n, expected.binary)
    return made


@pytest.mark.slow
@given(objects(), st.booleans())
def test_c_and_its_twin_say_the_same_of_objects(text: bytes, is_socket: bool) -> None:
    said(text, is_socket)


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.booleans())
@example(b'{"attributes":{"\\u0061":1,"a":2}}', False)
@example(b'{"attributes":{"a":"\xed\xa0\x80"}}', False)
def test_c_and_its_twin_say_the_same_of_pieces(text: bytes, is_socket: bool) -> None:
    said(text, is_socket)


@pytest.mark.slow
def test_c_and_its_twin_say_the_same_of_mutated_messages() -> None:
    random = Random(42)
    codes = set()
    for _ in range(6_000):
        found = said(mutated(random), random.random() < 0.5)
        codes.add(0 if isinstance(found, JsonMessage) else found[0])
    rare = {JsonCode.NUMBER_LONG, JsonCode.STRING_SIZE, JsonCode.TOO_MANY, JsonCode.NAME_SIZE}
    assert {0, *JsonCode} - codes <= rare | {JsonCode.TOO_LARGE, JsonCode.LINE_LONG}


@pytest.mark.slow
@given(st.dictionaries(wide_names(), wide_values(), max_size=20), st.text(max_size=50), st.booleans())
def test_what_is_written_by_json_is_the_frame_of_a_client(attributes, payload: str, is_ascii: bool) -> None:
    text = json.dumps({"attributes": attributes, "payload": payload}, ensure_ascii=is_ascii).encode()
    made = said(text)
    assert isinstance(made, JsonMessage)
    assert made.frame == encode_publish(*NUMBERS, attributes, payload.encode())


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("twice")
    return dict(pairs)


@pytest.mark.slow
def test_json_of_the_standard_library_accepts_what_c_accepts() -> None:
    random = Random(7)
    accepted = 0
    for _ in range(4_000):
        text = mutated(random)
        made = said(text)
        try:
            form = json.loads(text.decode(), object_pairs_hook=distinct)
        except (ValueError, RecursionError):
            assert not isinstance(made, JsonMessage), text  # also where `json` is laxer: see below
            continue
        if not isinstance(made, JsonMessage):
            assert made[0] >= JsonCode.UTF8 or made[0] in (JsonCode.NOT_OBJECT, *LAX), text
            continue
        accepted += 1
        expected = {
            name: int(value["integer"]) if isinstance(value, dict) else value
            for name, value in form["attributes"].items()
        }
        found = dict(decode_data(made.frame).message.attributes)
        if "space" in form:
            expected.setdefault("type", form["space"])
        assert [(name, type(value), value) for name, value in found.items()] == [
            (name, type(value), value) for name, value in expected.items()
        ]
    assert accepted > 500


LAX = (JsonCode.SURROGATE, JsonCode.NO_VALUE)
"""`json` reads lone surrogates, and NaN and Infinity, which RFC 8259 does not know."""


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ('{"attributes":{"x":NaN}}', JsonCode.NO_VALUE, 19),
        ('{"attributes":{"x":Infinity}}', JsonCode.NO_VALUE, 19),
        ('{"attributes":{"x":-Infinity}}', JsonCode.NUMBER, 19),
        ('{"attributes":{"x":01}}', JsonCode.NUMBER, 19),
        ('{"attributes":{"x":1.}}', JsonCode.NUMBER, 19),
        ('{"attributes":{"x":9223372036854775808}}', JsonCode.INTEGER_RANGE, 19),
        ('{"attributes":{"x":-9223372036854775809}}', JsonCode.INTEGER_RANGE, 19),
        ('{"attributes":{"x":{"integer":"9223372036854775808"}}}', JsonCode.INTEGER_RANGE, 30),
        ('{"attributes":{"x":{"integer":5}}}', JsonCode.INTEGER_TEXT, 30),
        ('{"attributes":{"x":{"integer":"5","a":1}}}', JsonCode.INTEGER_TEXT, 33),
        ('{"attributes":{"x":{"a":{"b":1}}}}', JsonCode.OBJECT, 19),
        ('{"attributes":{"x":[1]}}', JsonCode.ARRAY, 19),
        ('{"attributes":{"x":null}}', JsonCode.NULL, 19),
        ('{"attributes":{"x":1e999}}', JsonCode.FLOAT_RANGE, 19),
        ('{"attributes":{"x":' + "1" * 1_025 + "}}", JsonCode.NUMBER_LONG, 19),
        ('{"attributes":{"x":1,"\\u0078":2}}', JsonCode.NAME_TWICE, 21),
        ('{"attributes":{"":1}}', JsonCode.NAME_SIZE, 15),
        ('{"attributes":{"' + "é" * 129 + '":1}}', JsonCode.NAME_SIZE, 15),
        ('{"attributes":{"x":"' + "y" * 65_537 + '"}}', JsonCode.STRING_SIZE, 19),
        ('{"attributes":{"x":"a\\ud800b"}}', JsonCode.SURROGATE, 21),
        ('{"attributes":{"x":"a\tb"}}', JsonCode.CONTROL, 21),
        ('{"attributes":{"x":"a\\x"}}', JsonCode.ESCAPE, 21),
        ('{"attributes":{},}', JsonCode.NO_KEY, 17),
        ('{"attributes":{}} {', JsonCode.TRAILING, 18),
        ('{"attributes":{},"payload":"a","payload_base64":"YQ=="}', JsonCode.TWO_PAYLOADS, 31),
        ('{"attributes":{},"payload_base64":"YQ="}', JsonCode.BASE64, 34),
        ('{"attributes":{},"payload":5}', JsonCode.KEY_KIND, 27),
        ('{"attributes":{},"ttl_s":0}', JsonCode.TTL, 25),
        ('{"attributes":{"type":"b"},"space":"a"}', JsonCode.SPACE_DIFFERS, 35),
        ('{"payload":"a"}', JsonCode.NO_ATTRIBUTES, 0),
        ('{"attributes":{},"n":1}', JsonCode.UNKNOWN_KEY, 17),
        ("\ufeff{}", JsonCode.NOT_OBJECT, 0),
        ("[" * 100_000, JsonCode.NOT_OBJECT, 0),
        ('{"attributes":{"x":' + "[" * 100_000, JsonCode.ARRAY, 19),
    ],
    ids=lambda part: ascii(part)[:40],
)
def test_refusals(text: str, code: JsonCode, position: int) -> None:
    assert said(text.encode()) == (code, position)


@pytest.mark.slow
def test_the_limits_of_a_message() -> None:
    many = json.dumps({"attributes": {f"a{n}": 1.5 for n in range(65)}}).encode()
    assert said(many) == (JsonCode.TOO_MANY, many.index(b'"a64"'))
    assert isinstance(said(json.dumps({"attributes": {f"a{n}": 1.5 for n in range(64)}}).encode()), JsonMessage)
    full = {"space": "s", "attributes": {f"a{n}": 1.5 for n in range(64)}}
    assert said(json.dumps(full).encode()) == (JsonCode.TOO_MANY, 10)
    most = DELIVERABLE_BYTES_MAX - 64 - len(b"\x81\xa1x\x01")
    for further, is_taken in ((0, True), (1, False)):
        text = json.dumps({"payload": "p" * (most + further), "attributes": {"x": 1}}).encode()
        assert isinstance(said(text), JsonMessage) is is_taken
        assert is_taken or said(text) == (JsonCode.TOO_LARGE, 0)
    assert isinstance(said(json.dumps({"attributes": {"n" * 256: "é" * 32_768}}).encode()), JsonMessage)


def test_every_prefix_of_a_message_ends_inside_of_it() -> None:
    text = b'{ "attributes" : {"a":"x\\n\xc3\xa9","b":{"integer":"5"},"c":true} , "payload" : "p" }'
    assert isinstance(said(text), JsonMessage)
    for size in range(len(text)):
        found = said(text[:size])
        assert found[0] in (JsonCode.ENDS, JsonCode.NO_VALUE), size


def test_a_level_of_a_socket_sets_the_flags() -> None:
    for level, flags in (("accepted", 1), ("stored", 5), ("none", 0)):
        text = json.dumps({"op": "publish", "n": 2**63 - 1, "attributes": {}, "confirm": level, "binary": True})
        made = said(text.encode(), is_socket=True)
        assert isinstance(made, JsonMessage)
        assert (made.flags, made.n, made.binary, made.frame[5]) == (flags, 2**63 - 1, True, flags)


def test_every_code_has_a_sentence_and_the_number_of_c() -> None:
    assert set(_SENTENCES) == set(JsonCode)
    assert all(getattr(lib, f"TM_JSON_{code.name}") == code for code in JsonCode)
    assert lib.TM_JSON_TTL_S_MAX * 1_000 == TTL_MS_MAX
    with pytest.raises(JsonRefused, match=r"line 2, column 8: 'é': half of a surrogate pair is no character"):
        READERS[False].read('{"attributes":\n {"é":"\\ud800"}}'.encode(), *NUMBERS)


@pytest.mark.slow
def test_floats_are_read_as_python_reads_them() -> None:
    random = Random(3)
    hard = ["4.9406564584124654e-324", "2.4703282292062327e-324", "1.7976931348623158e308", "1e-400", "0e999"]
    hard += [
        "9007199254740993.0",
        "9007199254740992.9999999999999999999",
        "1" + "0" * 400 + "e-400",
        "0." + "0" * 400 + "1e401",
    ]
    hard += [f"{random.getrandbits(64)}e{random.randint(-345, 300)}" for _ in range(3_000)]
    hard += [f"{random.getrandbits(53)}.{random.getrandbits(90)}e{random.randint(-330, 280)}" for _ in range(1_000)]
    hard += [f"{math.ldexp(random.getrandbits(53) * 2 + 1, random.randint(-60, 20)):.60f}" for _ in range(1_000)]
    for text in hard:
        made = said(b'{"attributes":{"x":%b}}' % text.encode())
        if isinstance(made, JsonMessage):
            assert decode_data(made.frame).message.attributes["x"] == float(text)
        else:
            assert math.isinf(float(text))
            assert made[0] is JsonCode.FLOAT_RANGE
