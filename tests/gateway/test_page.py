"""The commands of docs/how-to/http.md do what the page says."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest

from tests.gateway.conftest import WAIT_S, Caller

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "http.md").read_text()
COMMANDS = [found for found in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "curl" in found]

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")


def in_shell(ask: Caller, command: str) -> list[str]:
    here = command.replace("localhost:8080", ask.gateway.addresses[0]).replace("curl ", "curl -sS ")
    return ["sh", "-c", f"exec {here}" if "|" not in here else here]


async def said(ask: Caller, command: str) -> str:
    done = await asyncio.to_thread(
        subprocess.run, in_shell(ask, command), capture_output=True, text=True, timeout=WAIT_S, check=True
    )
    return done.stdout


def line_with(stream: IO[str], text: str) -> str:
    return next(line for line in stream if text in line)


async def test_each_command_does_what_is_shown(ask: Caller) -> None:
    body, in_json, lines, events, one_line = COMMANDS
    with ExitStack() as stack:
        streams = []
        for command in (events, one_line):
            process = stack.enter_context(
                subprocess.Popen(in_shell(ask, command), stdout=subprocess.PIPE, text=True)  # noqa: S603
            )
            stack.callback(process.kill)
            assert process.stdout
            streams.append(process.stdout)
            assert await asyncio.to_thread(line_with, process.stdout, "subscribed")
        for command in (body, in_json):
            assert re.fullmatch(r'\{"id": "\d+-\d+"\}\n', await said(ask, command))
        form = json.loads(await said(ask, lines))
        assert (form["published"], [each["line"] for each in form["refused"]]) == (1, [2])
        assert form["refused"][0]["problem"]["type"] == "urn:tamis:problem:json"
        event_stream, line_stream = streams
        for _ in range(2):
            line = await asyncio.to_thread(line_with, event_stream, "disk full")
            assert '"attributes":{"class":"alert","severity":6}' in line
        [line] = await asyncio.to_thread(line_stream.readlines)
        assert json.loads(line)["payload"] == "disk full"
