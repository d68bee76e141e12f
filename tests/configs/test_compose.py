"""The compose file: what both versions of compose take, and what stays of it when it is printed again."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tamis.configs import containers, load_topology, parse_topology
from tamis.configs.compose import OWN_SERVICES, beside, compose_files, write_files
from tamis.protocol.errors import ConfigError

ROOT = Path(__file__).parents[2]
RING = "configs/topologies/ring5.yaml"
# Of services, by the compose specification; each of them is known to docker-compose 1.29 without a top-level `version`.
KEYS = {
    *(
        "build",
        "cap_drop",
        "command",
        "cpus",
        "depends_on",
        "entrypoint",
        "environment",
        "healthcheck",
        "image",
        "init",
    ),
    *("logging", "mem_limit", "pids_limit", "ports", "profiles", "read_only", "restart", "security_opt"),
    *("stop_grace_period", "tmpfs", "ulimits", "user", "volumes"),
}
OURS = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
needs_compose = pytest.mark.skipif(not shutil.which("docker-compose"), reason="docker-compose is not installed")


def is_valid(file: Path, *profiles: str) -> None:
    chosen = [word for profile in profiles for word in ("--profile", profile)]
    command = ["docker-compose", *chosen, "-f", str(file), "config", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert (done.returncode, done.stderr) == (0, "")


def test_the_ring_is_printed_from_its_topology():
    files = compose_files(load_topology(ROOT / RING), RING, Path("docker-compose.yml"), ".")
    assert (ROOT / "docker-compose.topology.yaml").read_text() == files.topology
    assert (ROOT / "docker-compose.yml").read_text().startswith(files.compose), (
        f"run tamis compose {RING} --build . -o docker-compose.yml"
    )


def test_the_ring_is_written_for_both_versions_of_compose():
    assert {key for key in OURS if not key.startswith("x-")} == {"services", "volumes"}
    assert set().union(*OURS["services"].values()) <= KEYS


@pytest.mark.parametrize("kept", ["data: data\nkept: {}", "durable: {folder: /big}"])
def test_what_is_kept_is_in_a_volume(kept: str):
    files = compose_files(parse_topology(f"{kept}\nrouters: {{a: {{}}}}"), "x.yaml", Path("out.yml"))
    form = yaml.safe_load(files.compose)
    assert "kept:/var/spool/tamis" in form["services"]["a"]["volumes"]
    assert "kept" in form["volumes"]
    assert parse_topology(files.topology).router("a").durable.folder == "/var/spool/tamis/a"


@pytest.mark.parametrize("kept", ["{}, data: data", "{folder: /big}"])
def test_one_router_may_keep_and_others_not(kept: str):
    text = f'routers: {{a: {{durable: {kept}}}, b: {{neighbours: "unix:b"}}}}\nlinks: [[a, b]]'
    files = compose_files(parse_topology(text), "x.yaml", Path("out.yml"))
    routers = parse_topology(files.topology)
    assert routers.router("a").durable.folder == "/var/spool/tamis/a"
    assert routers.router("b").durable.is_by_default
    assert routers.router("b").durable.folder == "/var/lib/tamis/b/log"


@pytest.mark.parametrize(("keys", "a"), [("", "{data: data}"), ("durable: false", "{}"), ("", "{durable: false}")])
def test_what_is_kept_by_default_or_not_at_all_has_no_volume(keys: str, a: str):
    files = compose_files(parse_topology(f"{keys}\nrouters: {{a: {a}}}"), "x.yaml", Path("out.yml"))
    assert "kept" not in yaml.safe_load(files.compose)["volumes"]
    kept = parse_topology(files.topology).router("a").durable
    assert kept is None if "false" in keys + a else kept.is_by_default


def test_every_container_is_confined():
    for name, service in OURS["services"].items():
        assert (service["init"], service["read_only"], service["cap_drop"]) == (True, True, ["ALL"]), name
        assert service["mem_limit"], name
        assert service["cpus"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name


def test_all_that_is_mounted_from_here_is_here():
    mounts = [mount for service in OURS["services"].values() for mount in service.get("volumes", ())]
    here = [mount.split(":")[0] for mount in mounts if mount.startswith("./")]
    assert here
    assert [path for path in here if not (ROOT / path).exists()] == []
    assert {mount.split(":")[0] for mount in mounts if not mount.startswith("./")} <= set(OURS["volumes"])


def test_profiles():
    profiles = {name: tuple(service.get("profiles", ())) for name, service in OURS["services"].items()}
    assert {name for name, chosen in profiles.items() if not chosen} == {*"abcde", "publisher", "on-call", "web-team"}
    assert {name for name, chosen in profiles.items() if chosen == ("metrics",)} == {"prometheus", "grafana"}
    assert {name for name, chosen in profiles.items() if chosen == ("spark",)} == {
        *("spark-master", "spark-worker", "analyze"),
    }


@needs_compose
@pytest.mark.slow
@pytest.mark.parametrize("profiles", [(), ("metrics", "spark")])
def test_compose_takes_the_ring(profiles):
    is_valid(ROOT / "docker-compose.yml", *profiles)


@needs_compose
@pytest.mark.slow
@pytest.mark.parametrize("file", sorted((ROOT / "configs" / "topologies").glob("*.yaml")), ids=lambda file: file.stem)
def test_compose_takes_every_example(file, tmp_path):
    out = tmp_path / "compose.yml"
    write_files(compose_files(load_topology(file), file.name, out), out)
    is_valid(out)
    assert beside(out).name == "compose.topology.yaml"
    assert load_topology(beside(out)).edges == load_topology(file).edges


def test_limits_follow_the_topology(tmp_path):
    topology = parse_topology(
        "limits: {connections: 20, memory_bytes: 16777216, drain_ms: 1500, handover_ms: 2s}\n"
        "routers: {A: {limits: {connections: 50}}}"
    )
    made = yaml.safe_load(compose_files(topology, "x.yaml", tmp_path / "out.yml").compose)["services"]["a"]
    assert (made["mem_limit"], made["stop_grace_period"]) == ("272m", "8s")
    assert made["ulimits"]["nofile"] == {"soft": 306, "hard": 306}
    assert made["command"][-3:] == ["--id", "A", "--insecure"]
    assert "build" not in made
    assert "ports" not in made


@pytest.mark.slow
def test_many_routers_are_asked_less_often(tmp_path):
    for example, interval in (("ring5", "5s"), ("tree100", "25s")):
        topology = load_topology(ROOT / "configs" / "topologies" / f"{example}.yaml")
        services = yaml.safe_load(compose_files(topology, example, tmp_path / "out.yml").compose)["services"]
        assert {service["healthcheck"]["interval"] for service in services.values()} == {interval}


def test_a_mounted_path_is_from_the_compose_files_folder(tmp_path, monkeypatch):
    (tmp_path / "ca$h.pem").touch()
    tls = "{certificate: 'ca$h.pem', key: k, ca: c}"
    text = f"routers: {{a: {{neighbour_tls: {tls}}}}}"
    (tmp_path / "n.yaml").write_text(text)
    monkeypatch.setattr(containers, "_owner", lambda _: "7:7")
    (tmp_path / "sub").mkdir()
    made = yaml.safe_load(
        compose_files(load_topology(tmp_path / "n.yaml"), "n.yaml", tmp_path / "sub" / "o.yml").compose
    )["services"]["a"]
    assert "../ca$$h.pem:/etc/tamis/neighbour_tls.certificate:ro" in made["volumes"]
    assert made["user"] == "7:7"


def test_own_services_stay_and_other_files_are_safe(tmp_path):
    out, single = tmp_path / "compose.yml", parse_topology("routers: {a: {}}")
    write_files(compose_files(single, "x.yaml", out), out)
    with out.open("a") as file:
        file.write("  mine: {image: mine}\n")
    write_files(compose_files(parse_topology("routers: {b: {}}"), "x.yaml", out), out)
    assert list(yaml.safe_load(out.read_text())["services"]) == ["b", "mine"]
    assert out.read_text().count(OWN_SERVICES) == 1
    out.write_text("services: {}\n")
    with pytest.raises(ConfigError, match="was not written by tamis compose"):
        write_files(compose_files(single, "x.yaml", out), out)
