"""Lines of records come back from columns as they were, whatever they are."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from tamis.protocol import record_columns
from tamis.protocol.record_columns import LINE, is_known, lines_of, rows_in, schema_of, table_of
from tamis.protocol.records import COMMON, KINDS
from tests.record_samples import STRANGE, line, lines, meaning, record


def stored(texts: list[bytes], family: str, groups: int = 1) -> bytes:
    """A file of these lines."""
    file = io.BytesIO()
    with record_columns.writer(file, family) as writer:
        size = -(-len(texts) // groups) or 1
        for at in range(0, len(texts), size):
            writer.write_table(table_of(b"".join(text + b"\n" for text in texts[at : at + size]), family))
    return file.getvalue()


def read(data: bytes, skipped: int = 0) -> list[bytes]:
    return [text for batch in rows_in(io.BytesIO(data), skipped) for text in lines_of(batch)]


@pytest.mark.parametrize("family", ["messages", "events"])
@pytest.mark.parametrize("seed", range(20))
def test_lines_come_back_in_their_order_with_all_that_they_say(family: str, seed: int) -> None:
    random = Random(f"{family} {seed}")
    texts = lines(random, family, random.randrange(60), strange=random.choice((0.0, 0.1)))
    found = read(stored(texts, family, groups=random.randrange(1, 4)))
    assert list(map(meaning, found)) == list(map(meaning, texts))


@pytest.mark.parametrize("kind", KINDS)
def test_each_record_of_the_table_is_in_columns(kind: str) -> None:
    random, family = Random(kind), KINDS[kind].family
    found = [record(random, kind, n) for n in range(20)]
    table = table_of(b"\n".join(line(random, each) for each in found), family)
    assert table.column(LINE).null_count == len(found)
    counts = [field.name for field in KINDS[kind].fields if field.type == "counts"]
    for row, each in zip(table.to_pylist(), found, strict=True):
        body = {name: value for name, value in row[kind].items() if value is not None}
        body |= {name: dict(body[name]) for name in counts if name in body}
        assert {field.name: row[field.name] for field in COMMON} | body == each
        assert [name for name in KINDS if row.get(name) is not None] == [kind]


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("around", [0, 3])
def test_a_line_that_columns_cannot_hold_is_kept_byte_for_byte(strange: bytes, around: int) -> None:
    """Alone, and between records that Arrow's parser reads."""
    texts = [line(Random(n), record(Random(n), "message", n)) for n in range(2 * around)]
    texts.insert(around, strange)
    table = table_of(b"\n".join(texts), "messages")
    assert table.column(LINE).to_pylist() == [None] * around + [strange] + [None] * around


def test_columns_have_names_of_their_own() -> None:
    for family in ("messages", "events"):
        names = schema_of(family).names
        assert len(set(names)) == len(names)
        assert names[: len(COMMON)] == [field.name for field in COMMON]


@pytest.mark.parametrize("skipped", [0, 1, 9, 10, 11, 25, 29, 30, 31])
def test_rows_are_skipped_across_row_groups(skipped: int) -> None:
    texts = [line(Random(n), record(Random(n), "message", n)) for n in range(30)]
    found = read(stored(texts, "messages", groups=3), skipped)
    assert [meaning(text)["n"] for text in found] == list(range(skipped, 30))  # type: ignore[index]


def test_a_file_that_is_cut_anywhere_is_refused() -> None:
    data = stored(lines(Random(1), "messages", 200, strange=0.1), "messages", groups=3)
    for size in (*range(0, len(data), 97), len(data) - 1):
        with pytest.raises(OSError, match="it was cut or is damaged"):
            read(data[:size])


def test_a_damaged_page_is_refused_or_read_right() -> None:
    """Pages have checksums; the headers between them have none, so a change there is refused or has no effect."""
    texts = lines(Random(2), "messages", 400)
    data, wanted, refused = stored(texts, "messages"), list(map(meaning, texts)), 0
    groups = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    chunk = next(groups.column(at) for at in range(groups.num_columns) if groups.column(at).path_in_schema == "n")
    for at in range(
        chunk.data_page_offset + chunk.total_compressed_size // 2, chunk.data_page_offset + chunk.total_compressed_size
    ):
        broken = bytearray(data)
        broken[at] ^= 0x10
        try:
            assert list(map(meaning, read(bytes(broken)))) == wanted
        except OSError:
            refused += 1
    assert refused


def test_other_parquet_is_no_file_of_records() -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"x": [1]}), file)
    with pytest.raises(OSError, match="it is Parquet, but not of records: those have the columns v, kind, t_us"):
        read(file.getvalue())


def of_a_later_version(path: Path) -> list[dict[str, object]]:
    """A file with a kind, a field of a kind and a column that this version does not know, and what its lines say."""
    texts = [line(Random(n), record(Random(n), "message", n)) for n in range(4)]
    table = table_of(b"\n".join(texts), "messages")
    body = table.column("message").combine_chunks()
    hues = pa.array(["red", None, "blue", None])
    body = pa.StructArray.from_arrays(
        [*body.flatten(), hues], [*(field.name for field in body.type), "hue"], mask=pa.array([False] * 3 + [True])
    )
    table = table.set_column(table.schema.get_field_index("message"), "message", body)
    weather = pa.array([None, None, None, {"rain": 5}], pa.struct([("rain", pa.int64())]))
    pq.write_table(table.append_column("weather", weather).append_column("zone", pa.array([1, None, None, None])), path)
    said: list[dict[str, object]] = [dict(meaning(text)) for text in texts]  # type: ignore[call-overload]
    said[0] |= {"hue": "red", "zone": 1}
    said[2] |= {"hue": "blue"}
    said[3] = {name: said[3][name] for name in ("v", "kind", "t_us", "router", "epoch", "n")} | {"rain": 5}
    return said


def test_columns_of_a_later_version_are_read_with_all_that_they_have(tmp_path: Path) -> None:
    said = of_a_later_version(tmp_path / "later.parquet")
    data = (tmp_path / "later.parquet").read_bytes()
    assert list(map(meaning, read(data))) == said
    assert is_known(pq.ParquetFile(io.BytesIO(data)).schema_arrow, "messages")


def test_a_field_that_has_another_type_is_not_known() -> None:
    for name, type_ in (("t_us", pa.string()), ("message", pa.int64()), ("message", pa.struct([("hop", pa.string())]))):
        schema = schema_of("messages")
        schema = schema.set(schema.get_field_index(name), pa.field(name, type_))
        assert not is_known(schema, "messages")
    assert is_known(schema_of("messages").remove(6), "messages")
