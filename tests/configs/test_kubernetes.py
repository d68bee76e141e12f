"""The manifests of a topology: valid by the schemas of the API, confined, and such that the routers find each other."""

from __future__ import annotations

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tamis.cli.main import main
from tamis.configs import load_topology, parse_topology
from tamis.configs.kubernetes import manifests

TOPOLOGIES = sorted((Path(__file__).parents[2] / "configs" / "topologies").glob("*.yaml"))
RING = next(path for path in TOPOLOGIES if path.name == "ring5.yaml")
VERSIONS = ("1.29", "1.33")


def of(text: str) -> list[dict]:
    return list(yaml.safe_load_all(text))


def by_kind(found: list[dict], kind: str) -> dict[str, dict]:
    return {each["metadata"]["name"]: each for each in found if each["kind"] == kind}


@pytest.fixture(name="secured")
def _secured(tmp_path):
    for name in ("tokens", "word", "key.pem", "cert.pem", "link.secret"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o600)
    file = tmp_path / "net.yaml"
    file.write_text(
        "name: Shop\ntokens: tokens\ntls: {certificate: cert.pem, key: key.pem}\nrouters:\n"
        "  A: {clients: '0.0.0.0:7400', admin: '127.0.0.1:7600', admin_token: word}\n"
        "  B: {clients: '0.0.0.0:7401', admin: '127.0.0.1:7601', neighbours: '127.0.0.1:7501'}\n"
        "links:\n  - {ends: [A, B], secret: link.secret}\n"
    )
    return file


@pytest.mark.slow
@pytest.mark.parametrize("file", TOPOLOGIES, ids=lambda path: path.stem)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_topology_gives_valid_manifests(file, version):
    for manifest in of(manifests(load_topology(file), "tamis")):
        kubernetes_validate.validate(manifest, version, strict=True)


def test_files_come_from_a_secret_and_are_copied_for_their_reader_alone(secured):
    text = manifests(load_topology(secured), "tamis:1")
    assert "kubectl create secret generic shop-a-files --from-file=tokens=" in text
    assert "--from-file=links.0.secret=" in text
    for manifest in of(text):
        kubernetes_validate.validate(manifest, VERSIONS[0], strict=True)
    [pod] = [each["spec"]["template"]["spec"] for each in by_kind(of(text), "StatefulSet").values()][:1]
    [copier] = pod["initContainers"]
    assert copier["command"][2].startswith("install -m 0400 /etc/tamis-given/tokens ")
    assert {volume["name"] for volume in pod["volumes"]} == {"topology", "files", "given"}
    policy = by_kind(of(text), "NetworkPolicy")["shop"]["spec"]
    assert "from" not in policy["ingress"][0], "clients are asked for tokens"


def test_without_tokens_clients_need_a_label():
    found = of(manifests(load_topology(RING), "tamis"))
    rules = by_kind(found, "NetworkPolicy")["ring5"]["spec"]["ingress"]
    assert [rule["ports"][0]["port"] for rule in rules] == [7400, 7500, 7600]
    assert all(rule["from"] for rule in rules)


def test_routers_find_each_other_by_their_services():
    found = of(manifests(load_topology(RING), "tamis"))
    inside = parse_topology(by_kind(found, "ConfigMap")["ring5-topology"]["data"]["network.yaml"])
    services = by_kind(found, "Service")
    sets = by_kind(found, "StatefulSet")
    for id_ in inside.routers:
        for link in inside.router(id_).links:
            if link.dial:
                assert link.dial.host in services
    assert set(sets) == set(services) - {"ring5"}
    for name, each in sets.items():
        labels = each["spec"]["template"]["metadata"]["labels"]
        assert services[name]["spec"]["selector"].items() <= labels.items()
        assert services["ring5"]["spec"]["selector"].items() <= labels.items()
        assert services[name]["spec"]["publishNotReadyAddresses"]
        assert each["spec"]["template"]["spec"]["containers"][0]["args"][4] in inside.routers


def test_pods_meet_the_restricted_level():
    for each in by_kind(of(manifests(load_topology(RING), "tamis")), "StatefulSet").values():
        pod = each["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in [*pod["containers"], *pod.get("initContainers", ())]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_the_command_prints_and_writes(tmp_path, capsys):
    assert main(["kubernetes", str(RING), "--image", "here/tamis:2"]) == 0
    printed = capsys.readouterr().out
    assert main(["kubernetes", str(RING), "--image", "here/tamis:2", "-o", str(tmp_path / "out.yaml")]) == 0
    assert (tmp_path / "out.yaml").read_text() == printed
    images = {
        each["spec"]["template"]["spec"]["containers"][0]["image"]
        for each in of(printed)
        if each["kind"] == "StatefulSet"
    }
    assert images == {"here/tamis:2"}


def test_mistakes_are_those_of_check(tmp_path, capsys):
    file = tmp_path / "network.yaml"
    file.write_text("routers:\n  a: {}\nnmae: x\n")
    assert main(["check", str(file)]) == 1
    expected = capsys.readouterr().err
    assert main(["kubernetes", str(file)]) == 1
    assert capsys.readouterr() == ("", expected)
