"""Equal small numbers of several issuers are one object, and nothing else changes."""

from __future__ import annotations

from tamis.router.core.statements.shared_numbers import SHARED_MAX, shared


def test_pairs_are_those_of_a_dict_in_their_order():
    pairs = [(int(text), text.encode()) for text in ("7", "300", "5", "70000", "300", str(2**64 - 1), "65535", "65536")]
    assert list(shared(pairs).items()) == list(dict(pairs).items())


def test_small_numbers_of_two_issuers_are_one_object():
    first, second = (shared([(int(text), b"")]) for text in ("4321", "4321"))
    assert next(iter(first)) is next(iter(second))
    first, second = (shared([(int(text), b"")]) for text in (str(SHARED_MAX), str(SHARED_MAX)))
    assert next(iter(first)) is not next(iter(second))
