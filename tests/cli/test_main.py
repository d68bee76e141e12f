"""The command as a whole: help, misuse, start-up, and how it ends."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tamis.cli.lab import demo
from tamis.cli.main import COMMANDS, main

HEAVY = ("pydantic", "yaml", "lark", "tamis.native", "tamis.configs", "asyncio")


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # noqa: S603


def loaded_by(*argv: str) -> str:
    code = f"import sys; from tamis.cli.main import main; main({list(argv)!r});"
    done = run(sys.executable, "-c", f"{code} print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)")
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.slow
def test_the_version_and_the_help_import_nothing_heavy() -> None:
    assert loaded_by("--version") == "[]"
    assert loaded_by("--help") == "[]"


def test_matching_does_not_load_the_parser(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    assert loaded_by("match", "--engine", "plain", "--filters", str(path), "--messages", str(path)) == "[]"


def test_the_console_script() -> None:
    script = Path(sys.executable).with_name("tamis")
    done = run(str(script), "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"tamis {version('tamis')}\n", "")


def test_help_shows_every_command_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    overview = capsys.readouterr().out
    for name in COMMANDS:
        assert f"  {name}" in overview
        assert main([name, "-h"]) == 0
        out, err = capsys.readouterr()
        assert "Example" in out
        assert f"tamis {name}" in out.partition("Example")[2]
        assert err == ""


def test_help_groups_the_commands_and_says_each_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^(\w.*):$", out.partition("Options:")[2], re.MULTILINE) == [
        *("Run routers and gateways", "Send and receive", "Durable subscriptions", "Look at a network"),
        *("Follow a message", "Write topology files", "Who may do what", "Analyze and measure", "Set up this shell"),
    ]
    assert "..." not in out.partition("Options:")[2]


def test_a_dry_run_takes_no_payload(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "--dry-run", "x=1", "--payload", "p"]) == 2
    assert "--payload cannot be used with --dry-run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "now"),
    [("route", "trace --dry-run"), ("routes", "show routes"), ("keep", "durable create"), ("kept", "durable")],
)
def test_an_old_name_of_a_command_answers_and_names_the_new_one(old: str, now: str, capsys) -> None:
    assert main([old, "--help"]) == 0
    out, err = capsys.readouterr()
    assert f"tamis {now.partition(' --')[0]}" in out
    assert err == f"Warning: `tamis {old}` is now `tamis {now}`; the next version removes the old name\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["mtach"], "no command 'mtach', did you mean match?"),
        (["xyzzy"], "no command 'xyzzy'\n"),
        (["--verison"], "--version"),
        ([], "Usage: tamis"),
        (["match"], "Missing option '--filters'"),
        (["match", "--fliters", "x"], "--filters"),
        (["explain"], "Missing argument 'PREDICATE'"),
        (["check"], "Missing argument 'FILE'"),
        (["completion", "csh"], "'bash', 'zsh', 'fish'"),
    ],
)
def test_misuse(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""


@pytest.mark.parametrize(("words", "same"), [(["help", "pub"], ["pub", "--help"]), (["version"], ["-V"])])
def test_words_that_people_try(words: list[str], same: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    tried = capsys.readouterr().out
    assert main(same) == 0
    assert tried == capsys.readouterr().out != ""


def test_errors_have_one_form(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that is not known, an option, a predicate, something that is not there: each ends a command alike."""
    cases = (["mtach"], ["match"], ["explain", "x => 3"], ["down", "none.yaml"], ["pub", "a=1", "tamis://127.0.0.1:1"])
    for argv in cases:
        assert main(argv) > 0
        first, *rest = capsys.readouterr().err.splitlines()
        assert first.startswith("Error: ")
        assert not any(line.startswith(("Usage:", "Error:")) for line in rest)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_TAMIS_COMPLETE" in capsys.readouterr().out


def test_completion_completes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_TAMIS_COMPLETE", "fish_complete")
    monkeypatch.setenv("COMP_WORDS", "tamis ")
    monkeypatch.setenv("COMP_CWORD", "ma")
    assert main([]) == 0
    assert "match" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_said_in_a_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tamis.cli.main", "explain", "a = 1", "a=1"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    # More output than a pipe or a buffer holds, so that writing fails before the end.
    (tmp_path / "filters").write_text('{"i": "' + "x" * 1000 + '", "f": []}\n')
    (tmp_path / "messages").write_text("{}\n" * 1000)
    command = [sys.executable, "-m", "tamis.cli.main", "match", "--filters", "filters", "--messages", "messages"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_an_argument_that_is_not_utf8_is_a_mistake_like_any_other() -> None:
    done = run(sys.executable, "-m", "tamis.cli.main", "explain", "x = 1", "x=\udcff")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: message, line 1, column 3: this is not valid UTF-8\nx=\\udcff\n  ^\n"


def test_ctrl_c_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(io.BytesIO):
        def read1(self, size: int = -1, /) -> bytes:  # noqa: ARG002 - the signature is io's
            raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Interrupted()))
    assert main(["match", "--filters", "-", "--messages", "/dev/null"]) == 130
    assert capsys.readouterr().err.strip() == ""


@pytest.mark.slow
def test_the_demo_shows_where_messages_go(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.demo(pause_s=0) == 0
    out = capsys.readouterr().out
    assert 'class="alert" severity=6 device="web-3"    -> archive, on-call, web-team\n' in out
    assert 'class="heartbeat" device="web-3"           -> archive\n' in out
    assert "to d by c" in out
    assert "All routers have detected it, and a routes around c\nto b by b, to d by e, to e by e\n" in out
    assert out.count("-> archive, on-call, web-team") == 3, "before, without c, and with it again"
    assert out.rstrip().endswith("e: stopped")


def test_reload_without_a_file_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["reload"]) == 2
    assert "FILE is missing" in capsys.readouterr().err
