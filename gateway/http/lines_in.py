"""POST /v1/messages with application/x-ndjson: a message a line, published while they come.

Law: without credit of the router the body is not read. Each line is told of once: it is published, refused, or unknown
after a cut; of the first LinesOutbox.REFUSALS_MAX refusals the reason is told.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from time import time_ns
from typing import Final, cast

from tamis.gateway.http.messages import ANSWER_S, LEVELS, flags_of, json_problem
from tamis.gateway.http.queries import Query
from tamis.gateway.lines import REFUSALS_MAX, LinesOutbox, new_lines_outbox
from tamis.gateway.upstream import Caller, Upstream, Upstreams, drawn
from tamis.native.codecs import JsonStream, LinesStopped
from tamis.serving.answers import Answer
from tamis.serving.problem import Problem, refused
from tamis.serving.request import Request

STREAMS_MAX: Final = 256
"""Streams at a time: each may hold a line of 2 MiB that is not whole."""
OF_ONE_MAX: Final = 64
"""Those of one name."""
CREDIT_S: Final = 60.0
"""Seconds that the router may take to grant credit."""


async def publish_lines(request: Request, caller: Caller, shared: Upstreams) -> Answer:
    level = Query(request, ("confirm",)).choice("confirm", LEVELS, "accepted")
    if shared.lines[caller.name] >= OF_ONE_MAX or shared.lines.total() >= STREAMS_MAX:
        raise refused("slow-down", 429, "too many streams of lines are being read", (("Retry-After", "1"),))
    upstream = Upstream(shared, caller, f"lines-{drawn()}", new_lines_outbox)
    shared.lines[caller.name] += 1
    try:
        await upstream.connect()
        lines = _Lines(upstream, level)
        async for piece in request.body():
            await lines.feed(piece)
        await lines.feed(b"", is_last=True)
        await lines.answered()
        return lines.answer()
    finally:
        shared.lines[caller.name] -= 1
        shared.lines += Counter()  # without names that have none
        await upstream.close()


class _Lines:
    """One stream."""

    def __init__(self, upstream: Upstream, level: str) -> None:
        self._pump = upstream.pump
        self._outbox = cast("LinesOutbox", upstream.pump.outbox)
        id_ = self._outbox.next_id
        most = upstream.pump.core.line.frame_bytes_max
        self._stream = JsonStream(
            id_.origin, id_.counter, flags=flags_of(level), frame_bytes_max=most, output=upstream.shared.output
        )
        self._is_answered = LEVELS[level]
        self._refused: list[tuple[int, Problem]] = []
        self._refused_count = 0

    async def feed(self, data: bytes, *, is_last: bool = False) -> None:
        rest = memoryview(data)
        while True:
            if self._outbox.is_cut:
                return
            self._outbox.changed.clear()
            window = self._outbox.window()
            self._stream.grant(window.frames_total, window.bytes_total)
            read = self._stream.feed(rest, time_ns(), is_last=is_last)
            rest = rest[read.consumed :]
            if read.messages:
                self._outbox.send_made(read.frames, read.messages)
                self._pump.flush()
            self._refused_count += len(read.refused)
            for refusal in read.refused[: REFUSALS_MAX - len(self._refused)]:
                self._refused.append((refusal.line, replace(json_problem(refusal, b""), caret="")))
            if read.stopped is LinesStopped.ALL:
                return
            if read.stopped is LinesStopped.CREDIT:
                await self._change(CREDIT_S)

    async def answered(self) -> None:
        """Return when the router has answered for all messages, or its connection is cut."""
        while self._is_answered and self._outbox.unanswered_count and not self._outbox.is_cut:
            self._outbox.changed.clear()
            await self._change(ANSWER_S)
        if not self._is_answered and not self._outbox.is_cut:
            await self._pump.ask(lambda waiter: self._pump.core.drain(waiter, 0), timeout_s=ANSWER_S)

    async def _change(self, within_s: float) -> None:
        try:
            async with asyncio.timeout(within_s):
                await self._outbox.changed.wait()
        except TimeoutError:
            raise refused("unknown", 504, f"the router has not answered in {within_s:g} s") from None

    def answer(self) -> Answer:
        outbox = self._outbox
        said = [{"line": line, "problem": problem.form()} for line, problem in self._refused]
        said += [{"message": number, "problem": {"detail": why}} for number, why in outbox.refusals]
        published = outbox.accepted if self._is_answered else outbox.sent
        form: dict[str, object] = {
            "published": published,
            "refused_count": self._refused_count + outbox.refused,
            "refused": said[:REFUSALS_MAX],
        }
        if outbox.is_cut:
            form["unknown"] = outbox.unanswered_count if self._is_answered else outbox.sent
            form["published"] = outbox.accepted
        body = json.dumps(form, ensure_ascii=False).encode() + b"\n"
        return Answer(body, 200 if not outbox.is_cut else 504)
