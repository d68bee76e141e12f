from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.native import Batch


@given(items=st.lists(st.binary(max_size=5)))
def test_a_batch_gives_back_its_items(items: list[bytes]) -> None:
    batch = Batch.of(items)
    assert len(batch) == len(items)
    assert [batch[i] for i in range(len(batch))] == items
    with pytest.raises(IndexError):
        batch[len(items)]


@pytest.mark.parametrize(
    "offsets",
    [array("Q"), array("Q", [0, 4]), array("Q", [2, 1]), array("I", [0, 3])],
    ids=["none", "past the end", "falling", "narrow"],
)
def test_offsets_that_c_could_not_trust_are_refused(offsets: array[int]) -> None:
    with pytest.raises(ValueError, match="offsets of a batch"):
        Batch(b"abc", offsets)
