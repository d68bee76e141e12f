"""Alerts and dashboard against what routers export: every name, label and reason that they ask for is there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tamis.blocking import connect
from tamis.cli.reach.admin_http import asked
from tamis.native.switch_figures import DROP_REASONS
from tamis.router.connections.admissions import Reason
from tamis.router.connections.certificate_watch import SOON
from tests.router.connections.test_certificate import made
from tests.routers import running_line

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "configs" / "prometheus"
DASHBOARD = json.loads((ROOT / "configs" / "grafana" / "dashboards" / "tamis.json").read_text())
ALERTS = [
    rule for group in yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"] for rule in group["rules"]
]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
REASONS = {*DROP_REASONS, *Reason}
OF_RULES = {
    "tamis_access_refused_total": {"verb", "role"},
    "tamis_access_messages_refused_total": {"at"},
    "tamis_access_quota_refused_total": {"quota", "what"},
    "tamis_quota_used_ratio": {"name", "what"},
}
"""Metrics of routers with access rules, whose clients need tokens, with their labels (tests/router/access)."""
TARGET_LABELS = {"job", "instance", "router"}
"""Those that configs/prometheus/prometheus.yml gives to all series."""
SERIES = re.compile(r"\b((?:tamis|process)_\w+|up)\b(?:\{([^}]*)\})?")
GROUPING = re.compile(r"\b(?:by|on|without|ignoring|group_left|group_right) \(([^)]*)\)")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')

MORE = (
    "limits: {client_series: 1}\nspaces: {trades: {open: true}}\nstrategy: rendezvous\n"
    "durable: {folder: kept, segment_bytes: 1048576}\nrecords: {folder: records}\n"
    "tls: {certificate: ec-30.pem, key: key.pem}"
)
"""What routers say more where there is more to count. Their clients come by Unix sockets, so the certificate is only
counted."""

needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool (Debian: prometheus) is missing")


def queries() -> list[str]:
    return [target["expr"] for panel in PANELS for target in panel["targets"]]


@pytest.fixture(name="pages", scope="module")
def _pages(tmp_path_factory) -> Iterator[list[str]]:
    """The metrics of two routers that are linked, those by client, by space, by root and by keep included."""
    if shutil.which("openssl") is None:
        pytest.skip("certificates are made with openssl")
    folder = tmp_path_factory.mktemp("line")
    made(folder, 30)
    with running_line(folder, "ab", MORE, over_tcp=True) as routers:
        while any(b'"named": true' not in asked(router.admin, "GET", "/status", None)[1] for router in routers):
            pass
        for router, name in zip(routers, ("jobs", "others"), strict=True):
            with connect(router.client) as client:
                client.durable(name, "n > 0")
        yield [asked(router.admin, "GET", "/metrics", None)[1].decode() for router in routers]


@pytest.fixture(name="exported", scope="module")
def _exported(pages) -> dict[str, set[str]]:
    """Series by name, with their labels; `up` is what Prometheus itself adds."""
    found: dict[str, set[str]] = defaultdict(set, OF_RULES)
    found["up"] = set()
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", "\n".join(pages), re.MULTILINE):
        found[name] |= {label for label, _ in MATCHER.findall(labels)}
    return found


def mistakes(query: str, exported: dict[str, set[str]], legend: str = "") -> Iterator[str]:
    known = set(TARGET_LABELS)
    for name, matchers in SERIES.findall(query):
        if name not in exported:
            yield f"{name} is exported by nobody"
            continue
        known |= exported[name]
        for label, value in MATCHER.findall(matchers):
            if label not in exported[name] | TARGET_LABELS:
                yield f"{name} has no label {label}"
            if label == "reason" and (unknown := set(value.split("|")) - REASONS):
                yield f"{unknown} are no reasons"
    used = {label for group in GROUPING.findall(query) for label in re.findall(r"\w+", group)}
    used |= set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", legend))
    yield from (f"{label} is a label of nothing here" for label in used - known)


def test_mistakes_are_found():
    exported = {"tamis_a": {"x", "reason"}, "up": set()}
    assert list(mistakes('rate(tamis_a{x="1", reason="memory|hops"}[5m]) + on (router) up', exported)) == []
    assert len(list(mistakes('tamis_b + tamis_a{y="1"}', exported))) == 2
    assert len(list(mistakes('sum by (z) (tamis_a{reason=~"memory|none"})', exported, "{{x}} {{q}}"))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_there_is(rule, exported):
    assert SERIES.search(rule["expr"])
    summary = rule["annotations"]["summary"].replace("{{ $value }}", "")
    assert list(mistakes(rule["expr"], exported, summary)) == []


@pytest.mark.slow
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_asks_for_what_there_is(panel, exported):
    assert panel["targets"]
    for target in panel["targets"]:
        assert SERIES.search(target["expr"])
        assert list(mistakes(target["expr"], exported, target["legendFormat"])) == []


def test_a_dashboard_that_can_be_loaded():
    source, router = DASHBOARD["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("source", "datasource", "prometheus")
    assert router["query"] == "label_values(tamis_ready, router)"
    asked = [router, *PANELS, *(target for panel in PANELS for target in panel["targets"])]
    assert {each["datasource"]["uid"] for each in asked} == {"${source}"}, "whoever imports it chooses the Prometheus"
    [given] = yaml.safe_load((ROOT / "configs/grafana/provisioning/datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    assert (given["type"], given["isDefault"]) == ("prometheus", True)
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.slow
def test_the_reference_names_every_metric(pages):
    """Those of which there is nothing to tell yet, too."""
    page = (ROOT / "docs" / "reference" / "daemon.md").read_text()
    section = page.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`((?:tamis|process)_\w+)`", section))
    assert named > OF_RULES.keys()
    assert named - OF_RULES.keys() == set(re.findall(r"^# TYPE (\w+) ", "\n".join(pages), re.MULTILINE))


def test_the_guide_explains_every_alert():
    guide = (ROOT / "docs" / "how-to" / "monitor.md").read_text()
    assert set(re.findall(r"`(Tamis\w+)`", guide)) == {rule["alert"] for rule in ALERTS}


def test_the_guide_adds_an_address_to_every_alert():
    guide = (ROOT / "docs" / "how-to" / "monitor.md").read_text()
    [line] = re.findall(r"^    \$ (sed .+) > alerts\.yml$", guide, re.MULTILINE)
    done = subprocess.run(shlex.split(line), cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - as the page has it
    found = [rule["annotations"] for group in yaml.safe_load(done.stdout)["groups"] for rule in group["rules"]]
    address = {"runbook_url": "https://wiki.example/tamis/monitor#alerts"}
    assert found == [address | rule["annotations"] for rule in ALERTS]


def test_every_router_of_the_ring_is_scraped_and_every_alert_is_tried():
    [job] = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"{router}:7600" for router in "abcde"]}]
    tried = {case["name"] for case in yaml.safe_load((PROMETHEUS / "alerts.test.yml").read_text())["tests"]}
    assert tried == {rule["alert"] for rule in ALERTS} | {"all is well"}


def test_the_alert_for_certificates_comes_when_status_speaks_of_them():
    [rule] = [rule for rule in ALERTS if rule["alert"] == "TamisCertificateExpires"]
    assert rule["expr"].endswith(f"< {SOON.days} * 86400")


def promtool(*words: str | Path, text: str | None = None) -> None:
    command = ["promtool", *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_prometheus_takes_the_configuration():
    promtool("check", "config", PROMETHEUS / "prometheus.yml")


@needs_promtool
def test_each_alert_fires_and_none_without_a_reason():
    promtool("test", "rules", PROMETHEUS / "alerts.test.yml")


@needs_promtool
def test_prometheus_can_read_every_query(tmp_path):
    filled = [query.replace("$__rate_interval", "1m").replace("$router", ".*") for query in queries()]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(filled)]
    (tmp_path / "queries.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", tmp_path / "queries.yml")


@needs_promtool
@pytest.mark.slow
def test_prometheus_finds_nothing_against_our_names(pages):
    for page in pages:
        promtool("check", "metrics", text=page)
