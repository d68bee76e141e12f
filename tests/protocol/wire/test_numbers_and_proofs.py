"""What every implementation must compute alike: numbers of names, digests, proofs."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.protocol.errors import Refused
from tamis.protocol.wire.numbers import (
    NO_DIGEST,
    add,
    entry_digest,
    filter_digest,
    of_classes_digest,
    predicate_digest,
    routers_digest,
    stable_number,
    subtract,
)
from tamis.protocol.wire.proofs import Prover, proof, proves

ENTRIES = st.dictionaries(st.integers(0, 2**64 - 1), st.binary(max_size=8), max_size=6)


FROZEN_NUMBERS = [6328193737269431470, 9933345172075899469, 3394012004367669963]


def test_a_name_has_the_number_it_had() -> None:
    assert stable_number("rome") == int.from_bytes(hashlib.blake2b(b"rome", digest_size=8).digest(), "little")
    assert [stable_number(name) for name in ("rome", "alice", "é")] == FROZEN_NUMBERS


@pytest.mark.parametrize("name", ["", "a" * 257, "\ud800"])
def test_what_is_no_name_has_no_number(name: str) -> None:
    with pytest.raises(Refused):
        stable_number(name)


def test_the_digest_of_an_edge_is_what_the_page_says() -> None:
    numbers = [2**64 - 1, 1, 6328193737269431470]
    data = b"behind" + b"".join(number.to_bytes(8, "little") for number in sorted(numbers))
    behind = hashlib.blake2b(data, digest_size=16).digest()
    assert routers_digest(numbers) == routers_digest(reversed(numbers)) == behind
    assert behind.hex() == "99a0c4b6cc30642ea89aa32a5023be37"
    of_all, of_two = (of_classes_digest(behind, classes) for classes in (2**65 - 1, 0b101))
    for digest, classes in ((of_all, 2**65 - 1), (of_two, 0b101)):
        data = b"classes" + behind + classes.to_bytes(16, "little")
        assert digest == hashlib.blake2b(data, digest_size=16).digest()
    assert of_two.hex() == "54b150b13d874ef3736a5fd563ae5cea"


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(ENTRIES, st.data())
def test_a_digest_follows_every_change_and_forgets_the_order(filters: dict[int, bytes], data: st.DataObject) -> None:
    whole = predicate_digest(filters.items())
    assert predicate_digest(data.draw(st.permutations(list(filters.items())))) == whole
    built = NO_DIGEST
    for filter_id, packed in filters.items():
        built = add(built, filter_digest(filter_id, packed))
    assert built == whole
    for filter_id, packed in filters.items():
        built = subtract(built, filter_digest(filter_id, packed))
    assert built == NO_DIGEST


def test_a_digest_tells_neighbours_apart() -> None:
    digests = {filter_digest(1, b"\x90"), filter_digest(2, b"\x90"), filter_digest(1, b"\x91")}
    digests |= {entry_digest(1, 1, 1, NO_DIGEST), entry_digest(1, 1, 2, NO_DIGEST), entry_digest(1, 2, 1, NO_DIGEST)}
    assert len(digests) == 6
    assert all(len(digest) == 16 for digest in digests)


def test_a_proof_is_an_hmac_of_label_and_greeting() -> None:
    expected = hmac.new(b"secret", b"tamis 1 connector" + b"HELLO" + b"WELCOME", hashlib.sha256).digest()
    assert proof(b"secret", Prover.CONNECTOR, b"HELLO", b"WELCOME") == expected


@pytest.mark.parametrize(
    "other",
    [
        (b"Secret", Prover.CONNECTOR, b"HELLO", b"WELCOME"),
        (b"secret", Prover.ACCEPTOR, b"HELLO", b"WELCOME"),
        (b"secret", Prover.CONNECTOR, b"hELLO", b"WELCOME"),
        (b"secret", Prover.CONNECTOR, b"HELLO", b"WELCOMe"),
    ],
)
def test_a_proof_proves_one_thing(other: tuple[bytes, Prover, bytes, bytes]) -> None:
    ours = (b"secret", Prover.CONNECTOR, b"HELLO", b"WELCOME")
    assert proves(proof(*ours), *ours)
    assert not proves(proof(*other), *ours)
    assert not proves(b"", *ours)
