"""Write the blocking faces of the client, `tamis/client/blocking/`, from those for asyncio: signatures, types and
docstrings stand once by hand.

    python -m tests.client.generate

A face that awaits becomes one that waits: `async` and `await` go, names of asyncio become those of a program without
it, and what a shell does (`tamis/client/shells/`) is done by the file beside it that is called `blocking_`. A statement
of which the first line ends with `# asyncio only` is left out.

Law: every line that is generated has its line in the face for asyncio; what cannot be said by both is in a shell.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from textwrap import fill
from typing import Final

import tamis.client

CLIENT: Final = Path(tamis.client.__file__).parent
WIDTH: Final = 117
"""Columns of a docstring; three more are for its quotes."""
FACES: Final = ("client", "consumer", "durables", "responder", "subscription")
SHELLS: Final = tuple(path.stem.removeprefix("blocking_") for path in (CLIENT / "shells").glob("blocking_*.py"))
HEADER: Final = '''"""Generated from tamis/client/{face}.py by `python -m tests.client.generate`; do not edit."""

# ruff: noqa: A002, PLW0108
'''
NAMES: Final = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "AsyncIterator": "Iterator",
    "StopAsyncIteration": "StopIteration",
    "Confirmation": "None",  # a blocking verb waits where `confirm=` says so
}
SAID: Final = {
    r"\s+\(or\s+`await[^`]*`\)": "",
    r"`await\s+connect\(\.\.\.\)`": "`connect(...).open()`",
    r"`await message\.ack\(\)`": "`message.ack(confirm=True)`",
    r"\b(async|await)\s+": "",
    r"StopAsyncIteration": "StopIteration",
    r"\btamis\.connect\(": "tamis.blocking.connect(",
    r"<tamis\.": "<tamis.blocking.",
    r"the tasks of one event loop": "the threads of one program",
    r"in the loop's thread": "in the client's own thread, where nothing may wait",
}
"""What texts say of asyncio, as regular expressions, and what they say instead."""


class WithoutAsyncio(ast.NodeTransformer):
    """Turns the syntax tree of a face for asyncio into that of its blocking twin."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines()
        self._names = dict(NAMES)

    def visit(self, node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.stmt) and self._lines[node.lineno - 1].endswith("# asyncio only"):
            return None
        visited: ast.AST | None = super().visit(node)
        return visited

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        room, _, file = (node.module or "").rpartition(".")
        if room == "tamis.client" and file in FACES:
            node.module = f"{room}.blocking.{file}"
        elif room == "tamis.client.shells" and file in SHELLS:
            node.module = f"{room}.blocking_{file}"
            node.names = [each for each in node.names if each.name not in NAMES]
            self._names |= {each.name: f"Blocking{each.name}" for each in node.names}
        for each in node.names:
            each.name = self._names.get(each.name, each.name)
        node.names.sort(key=lambda each: (not each.name.isupper(), each.name.islower(), each.name.lower()))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        if node.name == "__aiter__":  # yields as `__anext__` does, faster
            node.body = ast.parse("return self").body
        self.generic_visit(node)
        name = NAMES.get(node.name, node.name)
        return ast.FunctionDef(name, node.args, node.body, node.decorator_list, node.returns, None, lineno=node.lineno)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return None if node.name == "__await__" else self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        self.generic_visit(node)
        return ast.For(node.target, node.iter, node.body, node.orelse, lineno=node.lineno)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        awaited: ast.AST = self.visit(node.value)
        return awaited

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        return node.slice if isinstance(node.value, ast.Name) and node.value.id == "Awaitable" else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            node.value = _said(node.value, " " * node.col_offset)
        return node


def _said(text: str, indent: str) -> str:
    """Return what a text says without asyncio; where that is another and has several lines, they are filled again."""
    said = text
    for pattern, instead in SAID.items():
        said = re.sub(pattern, instead, said)
    if said == text or "\n" not in text:
        return said
    paragraphs = (
        fill(" ".join(each.split()), WIDTH, initial_indent=indent, subsequent_indent=indent).strip()
        for each in said.split("\n\n")
    )
    end = f"\n{indent}" if text.endswith(f"\n{indent}") else ""
    return f"\n\n{indent}".join(paragraphs) + end


def blocking(face: str) -> str:
    """Return the blocking twin of `tamis/client/{face}.py`, as `ast` writes it."""
    source = (CLIENT / f"{face}.py").read_text()
    tree = WithoutAsyncio(source).visit(ast.parse(source))
    body = tree.body[1:]  # without the docstring
    used = {node.id for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in body if node not in imports]
    for node in imports:
        node.names = [each for each in node.names if (each.asname or each.name) in {*used, "annotations"}]
    tree.body = sorted((node for node in imports if node.names), key=_place) + rest
    return HEADER.format(face=face) + ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _place(node: ast.Import | ast.ImportFrom) -> tuple[bool, bool, bool, str]:
    """Where an import stands, as ruff sorts them."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
    return module != "__future__", module.startswith("tamis"), isinstance(node, ast.ImportFrom), module


def path_of(face: str) -> Path:
    return CLIENT / "blocking" / f"{face}.py"


if __name__ == "__main__":
    for each in FACES:
        path_of(each).write_text(blocking(each))
    folder = str(CLIENT / "blocking")
    for task in (["format", "-q"], ["check", "-q", "--fix"], ["format", "-q"]):
        subprocess.run([sys.executable, "-m", "ruff", *task, folder], check=True)  # noqa: S603
