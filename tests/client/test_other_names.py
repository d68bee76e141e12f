"""Arguments of other libraries are named in the error, and what there is for them."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import tamis
import tamis.blocking
from tamis.client.shells.other_names import OTHERS

COLOURS = (tamis, tamis.blocking)


def call_of(colour: Any, name: str) -> Callable[..., object]:
    client = colour.connect("tamis+unix:/none", name="alice")
    return colour.connect if name == "connect" else getattr(client, name)


def parameters_of(name: str) -> set[str]:
    return set(inspect.signature(call_of(tamis, name)).parameters)


@pytest.mark.parametrize("colour", COLOURS, ids=["asyncio", "blocking"])
@pytest.mark.parametrize(("name", "word"), [(name, word) for name, words in OTHERS.items() for word in words])
def test_each_is_named_with_what_there_is(colour: object, name: str, word: str) -> None:
    with pytest.raises(TypeError) as caught:
        awaited(call_of(colour, name)(**{word: "x"}))
    assert str(caught.value) == f"{name}() takes no {word}=: {OTHERS[name][word]}"


@pytest.mark.parametrize("name", OTHERS)
def test_none_of_them_is_an_argument_here_and_what_is_named_is_one(name: str) -> None:
    assert not OTHERS[name].keys() & parameters_of(name)
    known = set().union(*map(parameters_of, OTHERS))
    for sentence in OTHERS[name].values():
        assert set(re.findall(r"\b([a-z_]+)=", sentence)) <= known, sentence


@pytest.mark.parametrize("colour", COLOURS, ids=["asyncio", "blocking"])
def test_calls_as_other_libraries_have_them(colour: Any) -> None:
    client = colour.connect("tamis+unix:/none", name="alice")
    with pytest.raises(TypeError) as caught:
        awaited(client.publish(topic="prices", payload=b"1", qos=1))
    assert str(caught.value) == (
        'publish() takes no topic=: a message has attributes instead of a topic: {"topic": "prices", '
        '"symbol": "X"}; publish() takes no qos=: confirm=True waits for the router, confirm="stored" for its disk; '
        "retry=True sends again after a cut"
    )
    with pytest.raises(TypeError, match=r"^connect\(\) takes no host= and no port=: a router is given by its address"):
        colour.connect(host="x", port=1883)
    with pytest.raises(TypeError, match=r"^subscribe\(\) takes no own_message=: did you mean own_messages=\?$"):
        client.subscribe("true", own_message=True)


@pytest.mark.parametrize("colour", COLOURS, ids=["asyncio", "blocking"])
def test_other_mistakes_are_told_as_ever(colour: Any) -> None:
    client = colour.connect("tamis+unix:/none", name="alice")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'attributes'"):
        client.request(payload=b"")
    with pytest.raises(TypeError, match="positional argument"):
        client.publish({}, b"", 1)
    with pytest.raises(TypeError, match=r"^publish\(\) takes no nonsense=: see help\(\) of the method"):
        awaited(client.publish({}, nonsense=1))


def awaited(called: object) -> object:
    """What a call gives that may be a coroutine."""
    return asyncio.run(called) if inspect.iscoroutine(called) else called


async def test_what_is_published_without_attributes_is_refused(address: str) -> None:
    async with tamis.connect(address, name="alice") as client:
        with pytest.raises(tamis.Refused, match="attributes are a mapping of names to values, not NoneType"):
            await client.publish()  # type: ignore[call-arg]
