"""Questions that nobody can answer are told at once, by real routers; those that somebody can answer never are."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import tamis
import tamis.blocking
from tamis import testing

pytestmark = pytest.mark.slow
PATIENCE_S = 60.0
NEVER_S = 3_600.0
"""A question that is not answered, and not told to be unanswerable, fails its test by PATIENCE_S."""
ROUNDS = 4
NOBODY = "^no subscription matches the message$"


async def told_at_last(asker: tamis.Client, attributes: dict[str, str]) -> str:
    """Ask until the router says that nobody asks for it: it hears in its time that somebody has gone."""
    while True:
        try:
            await asker.request(attributes, timeout_s=0.2)
        except tamis.Unanswered as error:
            if "within" not in str(error):
                return str(error)


async def test_over_several_routers(tmp_path: Path) -> None:
    plan = testing.line("a", "b", "c", data="data", kept={"bytes": 268_435_456})
    async with asyncio.timeout(PATIENCE_S * 2), testing.running(tmp_path, plan) as network:
        await network.until_linked()
        async with (
            tamis.connect(network["a"].address, name="asker") as asker,
            tamis.connect(network["c"].address, name="other") as other,
        ):
            assert await told_at_last(asker, {"do": "nothing"}) == "no subscription matches the message"
            for n in range(ROUNDS):  # nobody does, and from the moment that a responder is there, somebody does
                question = {"do": f"work {n}"}
                with pytest.raises(tamis.Unanswered, match=NOBODY):
                    await asker.request(question, timeout_s=NEVER_S)
                async with other.respond(f'do = "work {n}"') as questions:
                    answering = asyncio.create_task(one_answer(questions))
                    answer = await asker.request(question, timeout_s=NEVER_S)
                    assert answer["is"] == f"work {n}"
                    await answering
                await told_at_last(asker, question)
            async with other.subscribe('do = "listen"', wait="network"):
                with pytest.raises(tamis.Unanswered, match="no answer within"):
                    await asker.request({"do": "listen"}, timeout_s=0.2)
            await told_at_last(asker, {"do": "listen"})
            await other.durable("later", 'do = "keep"')
            async with asyncio.timeout(PATIENCE_S):
                while (await asker.route({"do": "keep"})).reports[-1].durable_count == 0:
                    await asyncio.sleep(0.05)
            with pytest.raises(tamis.Unanswered, match="no answer within"):
                await asker.request({"do": "keep"}, timeout_s=0.2)


async def one_answer(questions: tamis.Responder) -> None:
    question = await questions.receive()
    await question.answer({"is": question["do"]})


def test_without_an_event_loop_and_many_at_once(tmp_path: Path) -> None:
    from tamis.testing import blocking, free_port

    file = tmp_path / "one.yaml"
    file.write_text(f'routers: {{a: {{clients: "127.0.0.1:{free_port()}"}}}}\n')
    with blocking.started(file, "a") as one, tamis.blocking.connect(one.address, patience_s=PATIENCE_S) as asker:
        with asker.respond('do = "work"'):
            with pytest.raises(tamis.Unanswered, match="no answer within"):
                asker.request({"do": "work"}, timeout_s=0.2)
        while True:
            with pytest.raises(tamis.Unanswered) as caught:
                asker.request({"do": "work"}, timeout_s=1.0)
            if "within" not in str(caught.value):
                break


async def test_many_at_once_are_each_told_their_own(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE_S), testing.running(tmp_path, testing.line("a")) as network:
        async with (
            tamis.connect(network["a"].address, name="asker") as asker,
            tamis.connect(network["a"].address, name="other") as other,
            other.respond("is_even = true") as questions,
        ):
            await told_at_last(asker, {"do": "nothing"})
            answering = asyncio.create_task(answers(questions, 50))
            asked = [asker.request({"is_even": n % 2 == 0, "do": n}, timeout_s=NEVER_S) for n in range(100)]
            results = await asyncio.gather(*asked, return_exceptions=True)
            await answering
            for n, result in enumerate(results):
                if n % 2:
                    assert isinstance(result, tamis.Unanswered)
                    assert str(result) == "no subscription matches the message"
                else:
                    assert isinstance(result, tamis.Message)
                    assert result["is"] == n


async def answers(questions: tamis.Responder, count: int) -> None:
    for _ in range(count):
        await one_answer(questions)
