"""docs/reference/wire.md is enough to write a client."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from pathlib import Path

STRANGER = Path(__file__).with_name("stranger.py")


async def test_a_client_written_from_the_page_alone_publishes_and_subscribes(inside):
    net = inside()
    path = net.where.removeprefix("unix:")
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, str(STRANGER), path), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await program.communicate()
    assert [json.loads(line) for line in out.splitlines()] == [
        [{"n": 2, "by": "hand"}, "payload 2", [42]],
        [{"n": 3, "by": "hand"}, "payload 3", [42]],
    ], errors.decode()


def test_it_imports_nothing_of_ours():
    imported = {
        alias.name
        for node in ast.walk(ast.parse(STRANGER.read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported - set(sys.stdlib_module_names) == {"msgpack"}
    assert "ImportFrom" not in ast.dump(ast.parse(STRANGER.read_text()))
