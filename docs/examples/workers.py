"""Questions, and two workers that share them.

    python workers.py serve tamis://127.0.0.1:7400 0
    python workers.py serve tamis://127.0.0.1:7400 1
    python workers.py ask tamis://127.0.0.1:7400 20

Content says who works: each question belongs to a part, and each worker takes the questions of its part. If nobody
answers for a part, its worker is away: the question is asked again, of the other part. An answer is computed twice then
if the first one was only late, which is no harm here.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

import tamis

PARTS = 2
ANSWER_S = 1.0


async def serve(address: str, part: int) -> None:
    async with (
        tamis.connect(address, patience_s=10) as client,
        client.respond(f'do = "square" and part = {part}') as questions,
    ):
        print("ready", flush=True)
        async for question in questions:
            number = int(question["number"])
            await question.answer({"worker": part}, json=number * number)


async def ask(address: str, count: int) -> None:
    async with tamis.connect(address, patience_s=10) as client:
        for number in range(count):
            answer = await ask_one(client, number)
            print(f"{number}: {answer.json()} by worker {answer['worker']}", flush=True)


async def ask_one(client: tamis.Client, number: int) -> tamis.Message:
    for part in range(number, number + PARTS):  # its own part first
        with contextlib.suppress(tamis.Unanswered):
            return await client.request({"do": "square", "number": number, "part": part % PARTS}, timeout_s=ANSWER_S)
    raise tamis.Unanswered(f"none of {PARTS} workers answers")


if __name__ == "__main__":
    command, address, number = sys.argv[1:]
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(address, int(number)) if command == "serve" else ask(address, int(number)))
