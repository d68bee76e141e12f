"""What each client has made, beside the sum over all keeps."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from tamis.client.durable.policy import durable_of
from tamis.router.durable.owners import Owners

POLICY = durable_of("name", "n > 0").policy
MADE = st.tuples(st.sampled_from("abc"), st.integers(1, 9), st.lists(st.binary(max_size=5), max_size=3).map(tuple))


@given(st.lists(MADE), st.data())
def test_what_is_owned_is_the_sum_over_the_durables_that_are_there(made, data):
    owners = Owners()
    policy = [(owner, dataclasses.replace(POLICY, bytes=size, filters=filters)) for owner, size, filters in made]
    for owner, each in policy:
        owners.add(owner, each)
    left = data.draw(st.permutations(policy))
    while left:
        owners.remove(*left.pop())
        for owner in "abc":
            own = [each for name, each in left if name == owner]
            found = owners.of(owner)
            assert (found.count, found.bytes) == (len(own), sum(each.bytes for each in own))
            assert found.filters == sum(len(each.filters) for each in own)
            assert found.filter_bytes == sum(len(packed) for each in own for packed in each.filters)
