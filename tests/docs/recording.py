"""The session in the terminal that README.md shows, made by running it:

    python -m tests.docs.recording            print it
    python -m tests.docs.recording --write    put it into README.md

Law: what stands there has been printed by the commands that stand there; addresses are those of the page.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs.commands import ROOT
from tests.docs.sandbox import Sandbox

COMMANDS = (
    "tamis up --detach network.yaml",
    "tamis sub tamis://127.0.0.1:7402 'severity > 2 and class = \"alert\"' --name desk --count 1 &",
    "tamis trace --dry-run tamis://127.0.0.1:7400 class=alert severity=6 --router network.yaml",
    "tamis pub tamis://127.0.0.1:7400 class=alert severity=6 device=web-3 --payload 'disk full' --name press-1",
    "tamis pub tamis://127.0.0.1:7400 clas=alert severity=6 --name press-1",
    "tamis unmatched network.yaml",
    "tamis down network.yaml",
)
BEGIN, END = "<!-- made by tests/docs/recording.py -->\n\n```text\n", "```\n"


def recording(folder: Path) -> str:
    """Run the session in `folder`; the commands, each with what it printed. What one in the background prints stands
    where it came."""
    sandbox = Sandbox(folder)
    lines: list[str] = []
    behind: subprocess.Popen[str] | None = None
    try:
        for command in COMMANDS:
            lines.append(f"$ {command}\n")
            if command.endswith("&"):
                behind = sandbox.begin(command.removesuffix("&"))
                assert behind.stdout
                lines.append(behind.stdout.readline())
                continue
            code, out = sandbox.run(command)
            assert code == 0, f"{command}: {out}"
            lines.append(out)
            if behind is not None and command.startswith("tamis pub"):
                lines.append(behind.communicate(timeout=30)[0])
                behind = None
    finally:
        sandbox.run("tamis down network.yaml")
    return sandbox.shown("".join(lines))


def in_page(page: str) -> str:
    """The session that stands in a page."""
    return page.partition(BEGIN)[2].partition(END)[0]


def main(words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = recording(Path(folder))
    print(made, end="")
    if words == ["--write"]:
        page = (ROOT / "README.md").read_text()
        (ROOT / "README.md").write_text(page.replace(BEGIN + in_page(page) + END, BEGIN + made + END))


if __name__ == "__main__":
    main(sys.argv[1:])
