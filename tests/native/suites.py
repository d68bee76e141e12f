"""The suites that every engine passes, in one list: whoever adds an engine to the registry has it in all of them.

    in Python    a test that takes the fixture `engine`: each engine of the registry, and those with other options once
                 more with others (conftest.py)
    in C         a program that walks the registry by number, under the address and undefined-behaviour sanitizers
    fuzzed       a libFuzzer target that asks every engine (docs/how-to/fuzz.md)

Law: no suite names an engine; test_suites.py holds them to that.
"""

from __future__ import annotations

from typing import Final

IN_PYTHON: Final = {
    "the twin, every form of question": ("test_engines", "test_every_answer_is_the_twins"),
    "stateful: any sequence of operations": ("test_machine", "test_any_sequence_of_operations"),
    "stateful, long": ("test_machine", "test_many_sequences_of_operations"),
    "filters that Python and C take alike": ("test_hostile", "test_c_takes_exactly_the_filters_that_python_takes"),
    "spellings of one filter": ("test_hostile", "test_every_spelling_of_a_filter_is_that_filter"),
    "the largest filter": ("test_hostile", "test_the_largest_filter"),
    "long values": ("test_hostile", "test_64_kib_of_one_dead_letter"),
    "strings that no filter has": ("test_hostile", "test_many_unseen_strings_do_not_grow_the_table"),
    "allocations that fail in an add": ("test_hostile", "test_an_add_survives_each_allocation_that_fails"),
    "allocations that fail in a removal": ("test_hostile", "test_a_removal_survives_each_allocation_that_fails"),
    "allocations that fail in a match": ("test_hostile", "test_a_match_does_not_mind_an_allocation_that_fails"),
    "a bound on memory": ("test_hostile", "test_memory_has_a_bound_and_comes_back"),
    "a budget of steps": ("test_budget", "test_what_costs_is_counted"),
    "equal steps in equal runs": ("test_engine_options", "test_equal_runs_take_equal_steps_and_every_match_takes_some"),
    "keys that collide": ("test_collisions", "test_names_and_values_spread"),
    "views that end": ("test_views", "test_a_view_goes_with_its_table"),
}
"""What it tries -> module and function of tests/native."""

IN_C: Final = {
    "the twin, filters that come and go": "test_engines",
    "every allocation fails in turn": "test_allocation",
    "the far ends: numbers, links, strings": "test_limits",
    "filters that crowd one value": "test_crowds",
}
FUZZED: Final = {
    "any bytes as a filter": "fuzz_filter",
    "any bytes as a message": "fuzz_matching",
}
