"""Three parsers of lines agree: C, which reads what routers write, Arrow, and Python's, line by line."""

from __future__ import annotations

import json
from random import Random

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa

from tamis.analysis.records import lines
from tamis.protocol.record_columns import by_arrow, typed
from tamis.protocol.records import COMMON, KINDS
from tests.record_samples import HEAD, STRANGE, record

MESSAGE = (*COMMON, *KINDS["message"].fields)
PIECES = (b'"', b"\\", b",", b":", b"[]", b"{}", b"null", b"0", b"-", b"\xff", b"\n", b"e1", b"")


def written(found: dict[str, object]) -> bytes:
    """A line as routers write it, but for control characters that have no short escape."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n"
    return text.replace("\\u0000", "").encode()


def judged(block: bytes) -> pa.Table | None:
    """What C reads, if anything: it is what Arrow and Python read."""
    found = lines._by_c(block, MESSAGE)
    if found is not None:
        found.validate(full=True)
        plain = by_arrow(block, MESSAGE, lines.count(block), others="ignore")
        assert plain is not None
        assert found.equals(plain)
        rows = [typed(json.loads(line), MESSAGE) for line in block.decode().split("\n") if line]
        assert all(is_right for _, is_right in rows)
        assert found.to_pylist() == [row for row, _ in rows]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_c_reads_all_that_routers_write(seed: int) -> None:
    random = Random(seed)
    kinds = ("message", "kept") if seed % 2 else ("message",)
    block = b"".join(written(record(random, random.choice(kinds), n)) for n in range(random.randrange(1, 200)))
    assert judged(block) is not None
    assert judged(block[:-1]) is not None, "without the newline at the end"


@pytest.mark.parametrize("seed", range(20))
def test_what_c_reads_of_changed_bytes_is_what_others_read(seed: int) -> None:
    random, read = Random(seed), 0
    block = b"".join(written(record(random, "message", n)) for n in range(2))
    for _ in range(200):
        changed = bytearray(block)
        for _ in range(random.choice((1, 1, 2))):
            at = random.randrange(len(changed))
            what = random.choice(
                (b'"', b"\\", b",", b":", b"[]", b"{}", b"null", b"0", b"-", b"\xff", b"\n", b"e1", b"")
            )
            changed[at : at + random.randrange(3)] = what
        read += judged(bytes(changed)) is not None
    assert read, "no changed line was read by C"


@pytest.mark.parametrize("strange", [*STRANGE, (HEAD + ', "hop":1}').encode(), (HEAD + ',"hop":01}').encode()])
def test_c_leaves_other_lines_to_others(strange: bytes) -> None:
    sound = HEAD.encode() + b"}\n"
    for block in (strange + b"\n", sound + strange + b"\n", strange + b"\n" + sound):
        judged(block)
    is_later_version = any(mark in strange for mark in (b'"hue"', b'"weather"'))
    is_without_router = strange == HEAD.replace('"router":"a",', "").encode() + b"}"
    is_null = b'"n":null' in strange
    assert (lines._by_c(strange, MESSAGE) is not None) is (is_later_version or is_without_router or is_null)


def test_fields_of_other_types_are_not_for_c() -> None:
    assert lines._by_c(HEAD.encode() + b"}\n", (*COMMON, *KINDS["kept"].fields)) is None
