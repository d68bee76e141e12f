"""A filter that is valid, and looks like one of another system, is taken with a warning."""

from __future__ import annotations

import pytest

from tamis.protocol import dialects

WARNED = {
    ("mqtt", "orders/*"): "`*` is a text here, no wildcard: write `+` for one",
    ("mqtt", "orders/>"): "`>` is a text here, no wildcard: write `#` for all that follow",
    ("mqtt", "orders/**"): "`**` is a text here, no wildcard: write `#` for all that follow",
    ("mqtt", "orders.>"): "`orders.>` is a text here, no wildcard: parts are joined by `/`",
    ("mqtt", "orders/a*"): "`a*` is a text here, no wildcard, which stands alone between two `/`",
    ("mqtt", "a/#?unit==C"): "`=C` is the text: write one `=`, and no quotes",
    ("mqtt", 'a/#?unit="C"'): '`"C"` is the text: write one `=`, and no quotes',
    ("nats", "orders/>"): "`orders/>` is a text here, no wildcard: parts are joined by `.`",
    ("nats", "orders.#"): "`#` is a text here, no wildcard: write `>` for all that follow",
    ("nats", "orders.+.eu"): "`+` is a text here, no wildcard: write `*` for one",
    ("nats", "*.b*"): "`b*` is a text here, no wildcard, which stands alone between two `.`",
    ("amqp-topic", "orders/#"): "`orders/#` is a text here, no wildcard: parts are joined by `.`",
    ("amqp-topic", "#.orders.>"): "`>` is a text here, no wildcard: write `#` for all that follow",
    ("azure", 'region = "eu"'): '"eu" is the name of a property: a text stands in single quotes',
    ("azure", "StoreId = 5"): "names have no case: attributes are storeid",
}


@pytest.mark.parametrize(("name", "text"), WARNED, ids=[f"{name}: {text}" for name, text in WARNED])
def test_a_lookalike_is_warned_of(name, text):
    assert dialects.get(name).translate(text).warnings == (WARNED[name, text],)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mqtt", "orders/+/a.b/#?unit=C&n>=5"),
        ("mqtt", "#"),
        ("nats", "orders/eu.*.>"),
        ("amqp-topic", "#.a/b.*"),
        ("azure", "sys.Label = 'a \"b\"' AND [x] = 1"),
    ],
)
def test_others_are_not(name, text):
    assert dialects.get(name).translate(text).warnings == ()
