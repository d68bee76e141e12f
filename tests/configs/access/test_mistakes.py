"""Wrong files of rules: each mistake at its line and column, what is there, and what is expected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.configs.access import principals_file
from tamis.configs.access.load import load_access, parse_access
from tamis.protocol.errors import ConfigError

D = "'sha256:" + "0" * 64 + "'"
E = "'sha256:" + "1" * 64 + "'"
A = "roles: {a: {publish: 'kind = 1'}}\n"


def mistakes(text: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        parse_access(text, "rules.yaml")
    return [line.removeprefix("rules.yaml:") for line in error.value.mistakes]


def wrong_rules() -> Iterator[tuple[str, str]]:
    """The files of wrong_rules.txt, each with the line that is printed of it."""
    for block in (Path(__file__).parent / "wrong_rules.txt").read_text().split("\n\n"):
        text, _, line = block.rpartition("=> ")
        yield text.replace("DIGEST_2", E).replace("DIGEST", D).removesuffix("\n"), line.strip()


WRONG = list(wrong_rules())


@pytest.mark.parametrize(("text", "line"), WRONG)
def test_one_mistake(text: str, line: str) -> None:
    assert mistakes(text) == [line]


def test_there_are_forty_of_them() -> None:
    assert len({text for text, _ in WRONG}) >= 40
    assert principals_file.FORM.endswith("one or two digests: press-1 sensor sha256:...")


def test_all_mistakes_of_a_file_at_once() -> None:
    text = "mode: hold\nroles:\n  a: {publish: 'x ='}\nprincipals:\n  p: {roles: b, token: geheim}\n  q: {roles: a}\n"
    assert [line.partition(": ")[0] for line in mistakes(text)] == ["1:7", "3:16", "5:14", "5:24", "6:6"]


# --- files ----------------------------------------------------------------------------------------------------------


def write(path: Path, text: str, mode: int = 0o640) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as error:
        load_access(path)
    return str(error.value).replace(f"{path.parent}/", "")


def test_a_file_that_others_may_change_is_refused(tmp_path: Path) -> None:
    for mode in (0o644, 0o660, 0o642):
        said = refused(write(tmp_path / "rules.yaml", A, mode))
        assert said == f"rules.yaml: mode {mode:04o} lets other users read or change it; run chmod 640 rules.yaml"
    for mode in (0o640, 0o600, 0o440):
        assert load_access(write(tmp_path / "rules.yaml", A, mode)).rules.roles


def test_a_topology_names_its_rules(tmp_path: Path) -> None:
    net = write(tmp_path / "net.yaml", "routers: {r: {}}\naccess: rules.yaml\n", 0o644)
    assert refused(net).startswith("net.yaml:2:9: access: there is no file rules.yaml; `access` is a mapping")
    write(tmp_path / "rules.yaml", A + f"principals: {{r: {{roles: a, token: {D}}}}}\n")
    said = "rules.yaml:2:14: principals.r: is the name of a router, which no client may have"
    assert refused(net) == said
    write(tmp_path / "rules.yaml", A)
    assert load_access(net).file == str(tmp_path / "rules.yaml")


def test_a_section_has_its_places_in_the_topology(tmp_path: Path) -> None:
    net = write(tmp_path / "net.yaml", "routers: {r: {}}\naccess:\n  roles: {a: {publsh: x}}\n", 0o644)
    assert refused(net) == "net.yaml:3:15: access.roles.a.publsh: unknown key, did you mean publish?"


def test_a_topology_without_rules_says_what_that_means(tmp_path: Path) -> None:
    net = write(tmp_path / "net.yaml", "routers: {r: {}}\n")
    assert refused(net) == "net.yaml: has no section `access`: every client may publish and subscribe to anything"


LINES = [
    (
        "p a",
        "1:1: a line has a name, its roles with commas between them, and one or two digests: press-1 sensor sha256:...",
    ),
    ("p b " + D[1:-1], '1:3: no role is called "b"; the roles are a'),
    ("bab b " + D[1:-1], '1:5: no role is called "b"; the roles are a'),
    ("p a,aa " + D[1:-1], '1:3: no role is called "aa", did you mean a?'),
    ("# x\n\n  p a sha256:12", '3:7: must be sha256: and 64 hexadecimal digits in lower case, got "sha256:12"'),
    ("*.x a " + D[1:-1], "1:1: names with a star are proven by certificates, and stand under `principals`"),
    (
        "p\u200b a " + D[1:-1],
        "1:1: a name is printable text, and this one has an invisible character that formats or turns text, \\u200b",
    ),
    (f"p a {D[1:-1]}\nq a {D[1:-1]}\np a {E[1:-1]}", "3:1: the principal p is written twice"),
    (f"own a {D[1:-1]}", "1:1: the principal own is written twice"),
    ("p a " + "x" * 5_000, "1:1: a line has at most 4,096 bytes"),
]


@pytest.mark.parametrize(("text", "line"), LINES)
def test_a_line_of_the_file_of_principals(tmp_path: Path, text: str, line: str) -> None:
    write(tmp_path / "p.txt", text + "\n")
    own = f"principals: {{own: {{roles: a, token: {D}}}}}\nprincipals_file: p.txt\n"
    assert refused(write(tmp_path / "rules.yaml", A + own)) == f"p.txt:{line}"


def test_the_file_of_principals_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(principals_file, "PRINCIPALS_MAX", 2)
    write(tmp_path / "p.txt", "".join(f"p{at} a {D[1:-1]}\n" for at in range(4)))
    rules = write(tmp_path / "rules.yaml", A + "principals_file: p.txt\n")
    assert refused(rules) == "p.txt:3:1: the file has more than 2 principals"


def test_a_file_of_principals_that_is_missing_or_open_to_others(tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.yaml", A + "principals_file: p.txt\n")
    assert refused(rules) == "p.txt: cannot be read: No such file or directory"
    write(tmp_path / "p.txt", "", 0o644)
    assert refused(rules) == "p.txt: mode 0644 lets other users read or change it; run chmod 640 p.txt"


def test_too_many_sets_of_roles_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.protocol.access.rules.CLASSES_MAX", 3)
    principals = {f"p{at}": {"roles": names, "token": D[1:-1]} for at, names in enumerate(["a", "b", "ab", "ba", "c"])}
    text = json.dumps({"roles": {name: {} for name in "abc"}, "principals": principals})
    said = "principals have at most 3 different sets of roles"
    assert mistakes(text.replace('"ab"', '["a", "b"]').replace('"ba"', '["b", "a"]')) == [f"1:40: principals: {said}"]
