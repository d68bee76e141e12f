"""Texts that are messages in JSON, or nearly."""

from __future__ import annotations

import json
from random import Random
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.strategies import wide_names, wide_values

PIECES: Final = (
    *(
        b'{"attributes":{',
        b'"a":1',
        b'"b":"x"',
        b"}",
        b"{",
        b",",
        b":",
        b'"',
        b"\\",
        b"\n",
        b" ",
        b"1",
        b"-0.5e3",
        b"0",
    ),
    *(b'"payload":"p"', b'"payload_base64":"AAEC"', b'"ttl_s":1.5', b'"space":"s"', b'"op":"publish"', b'"n":7'),
    *(b'"confirm":"stored"', b'"binary":true', b'{"integer":"5"}', b'"\\u0061"', b'"\\ud83d\\ude00"', b"true", b"null"),
    *(
        b"[1]",
        b"\xc3\xa9",
        b"\xe2\x80\xa8",
        b"\xff",
        b"\x00",
        b'"type":"s"',
        b'"attributes":{}',
        b"99999999999999999999",
    ),
)
_SEEDS: Final = (
    b'{"attributes":{"class":"alert","severity":6,"ok":true,"ratio":0.5},"payload":"disk full"}',
    b'{"payload_base64":"AAEC/w==","ttl_s":1.5,"attributes":{"a":-5,"b":{"integer":"9007199254740993"}},"space":"s"}',
    b' { "attributes" : { "\\u00e9\\ud83d\\ude00" : "x\\n\\t\\"" , "n" : 1e22 } , "payload" : "\xe2\x80\xa8\\u2029" } ',
    b'{"payload":"p"}',
    b'{"attributes":{"a":1},"payload":"p","payload":"q"}',
    b'{"op":"publish","n":12,"confirm":"accepted","attributes":{"x":1,"type":"s"},"space":"s","binary":false}',
)
_BYTES: Final = b'{}[],:"\\ \n\t0123456789.eE+-abcdefnrtu/\x00\x1f\x7f\xc3\xa9\xe2\x80\xa8\xf0\xff'


def mutated(random: Random) -> bytes:
    """Return a message, in four of five cases with some bytes, or pieces, that are others."""
    text = bytearray(random.choice(_SEEDS))
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        at = random.randrange(len(text) + 1)
        kind = random.randrange(5)
        if kind == 0 and text:
            text[min(at, len(text) - 1)] = random.choice(_BYTES)
        elif kind == 1:
            del text[at : at + random.randint(1, 3)]
        elif kind == 2:
            text[at:at] = bytes([random.choice(_BYTES)])
        elif kind == 3:
            text[at:at] = random.choice(PIECES)
        else:
            _replace_value(random, text)
    return bytes(text)


_VALUES: Final = (
    *(b"1", b"-0", b"0.1", b"1e999", b"[]", b"{}", b"null", b"false", b'"stored"', b'""', b'"s"', b'"other"', b"1e-7"),
    *(b'{"integer":"x"}', b'{"integer":"-0"}', b"12345678901234567890", b'"' + b"s" * 65 + b'"', b'"\\ud800"', b"-1"),
)


def _replace_value(random: Random, text: bytearray) -> None:
    """Replace what stands behind a colon, up to the next comma or brace."""
    colons = [at for at, byte in enumerate(text) if byte == ord(":")]
    if colons:
        first = end = random.choice(colons) + 1
        while end < len(text) and text[end] not in b",}":
            end += 1
        text[first:end] = random.choice(_VALUES)


def objects() -> SearchStrategy[bytes]:
    """Objects with the keys of a message, whose values are mostly of their kinds, in any order, in any spelling."""
    integers = st.integers(-(2**70), 2**70)
    values = wide_values() | integers | st.none() | st.just([1]) | integers.map(lambda n: {"integer": str(n)})
    keys = {
        "attributes": st.dictionaries(wide_names() | st.just("type"), values, max_size=20),
        "payload": st.text(max_size=40),
        "payload_base64": st.text("AQg=/", max_size=8),
        "ttl_s": st.floats(-1, 1e10) | st.integers(-1, 10**12),
        "space": st.text(max_size=70),
        "op": st.sampled_from(["publish", "subscribe"]),
        "n": st.integers(-1, 2**64),
        "confirm": st.sampled_from(["accepted", "stored", "none", "kept"]),
        "binary": st.booleans(),
        "other": st.none(),
    }
    wrong = st.sampled_from([None, 1, "x", [], {}, True, 1.5])
    picked = st.lists(st.sampled_from(sorted(keys)), max_size=5, unique=True)
    common = picked.map(lambda names: [*names, "attributes"] if "attributes" not in names else names)
    forms = common.flatmap(
        lambda names: st.fixed_dictionaries(
            {name: st.integers(0, 9).flatmap(lambda n, name=name: wrong if n == 0 else keys[name]) for name in names}
        )  # type: ignore[misc]
    )
    spelled = st.tuples(forms, st.booleans(), st.sampled_from([None, 1]))
    return spelled.map(lambda it: json.dumps(it[0], ensure_ascii=it[1], indent=it[2]).encode(errors="surrogatepass"))
