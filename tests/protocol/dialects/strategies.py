"""Random filters and events of each dialect, small enough that they often meet."""

from __future__ import annotations

from hypothesis import strategies as st

LEVEL = st.sampled_from(["a", "b", "ab", ""])
WORD = st.sampled_from(["a", "b", "ab", "$a"])


def joined(parts, separator, sizes=(1, 10)):
    return st.lists(parts, min_size=sizes[0], max_size=sizes[1]).map(separator.join)


def short_or_long(parts, separator):
    return joined(parts, separator, (1, 4)) | joined(parts, separator)


VALUE = st.sampled_from(["x", "25", "true", 25, 26, 0.5, True])


@st.composite
def mqtt_filters(draw):
    levels = draw(
        st.lists(st.sampled_from(["a", "b", "ab", "", "+", "+"]), min_size=1, max_size=draw(st.integers(1, 10)))
    )
    text = "/".join([*levels, *(["#"] if draw(st.booleans()) else [])]) or "#"
    condition = st.sampled_from(["n>25", "n<=25.5", "n=25", "k=x", "k=true", "k=25", "n=x", "n>=25"])
    return "?".join(
        [text, *(["&".join(draw(st.lists(condition, min_size=1, max_size=3)))] if draw(st.booleans()) else [])]
    )


def with_properties(name, topics):
    return topics | st.fixed_dictionaries({name: topics}, optional={"n": VALUE, "k": VALUE})


NATS_TOKEN = st.sampled_from(["a", "b", "a*", "*", "*"])
NATS_FILTER = st.tuples(short_or_long(NATS_TOKEN, "."), st.sampled_from(["", ".>"])).map("".join) | st.just(">")

FILTERS = {
    "mqtt": mqtt_filters(),
    "nats": NATS_FILTER,
    "amqp-topic": short_or_long(st.sampled_from(["a", "b", "*", "#"]), ".") | st.just(""),
}
EVENTS = {
    "mqtt": with_properties("topic", short_or_long(st.sampled_from(["a", "b", "ab", "", "$a"]), "/").filter(bool)),
    "nats": with_properties("subject", short_or_long(st.sampled_from(["a", "b", "a*"]), ".")),
    "amqp-topic": with_properties("key", short_or_long(st.sampled_from(["a", "b", ""]), ".") | st.just("")),
}
