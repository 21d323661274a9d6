"""The files for containers agree with the program that they start."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from bot.health import PrometheusMeter
from bot.platforms import SlackSettings
from bot.settings import Settings, setting_names
from core.domain.telemetry import COUNTED, TIMED

_VERSIONS = ("1.35", "1.36", "1.37")
ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
MANIFEST = DEPLOYMENT, BUDGET, SERVICE, NETWORK = tuple(
    yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))
)
POD = DEPLOYMENT["spec"]["template"]["spec"]
[CONTAINER] = POD["containers"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8").splitlines()


def _named(text: str) -> set[str]:
    words = text.replace("=", " ").replace(":", " ").replace("{", " ").replace("}", " ").split()
    return {word for word in words if word.startswith("GLOSSATOR_")}


def test_every_setting_that_is_named_exists() -> None:
    for file in DEPLOY.iterdir():
        assert _named(file.read_text("utf-8")) <= {*setting_names()}, file.name


def test_what_the_image_is_built_from_exists_and_is_sent_to_the_builder() -> None:
    sent = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").split()
    copied = [
        name
        for line in DOCKERFILE
        if line.startswith("COPY ") and "--from" not in line
        for name in line.split()[1:-1]
    ]
    assert len(copied) >= 10
    for name in copied:
        assert (ROOT / name).exists(), name
        folder = name.partition("/")[0]
        assert {f"!{name}", f"!{folder}", f"!{folder}/*.txt"} & {*sent}, name


def test_nobody_runs_as_root_or_writes_beside_the_data() -> None:
    assert "USER 10001:10001" in DOCKERFILE
    bot = COMPOSE["services"]["bot"]
    assert bot["read_only"] is True
    assert bot["cap_drop"] == ["ALL"]
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["runAsUser"] == 10001
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"] is True
    [data] = [m for m in CONTAINER["volumeMounts"] if m["name"] == "data"]
    assert f"VOLUME {data['mountPath']}" in DOCKERFILE


def test_what_is_asked_from_outside_listens_to_every_network_in_a_container_alone() -> None:
    for group, name in (("monitoring", "MONITORING"), ("slack", "SLACK")):
        assert getattr(Settings(), group).host == "127.0.0.1"
        assert any(f"GLOSSATOR_{name}__HOST=0.0.0.0" in line for line in DOCKERFILE)


def test_the_bot_gets_the_time_that_it_needs_to_drain() -> None:
    assert COMPOSE["services"]["bot"]["stop_grace_period"] == "15s"
    assert POD["terminationGracePeriodSeconds"] == 15


def test_the_probes_ask_where_the_image_answers() -> None:
    assert "EXPOSE 9464" in DOCKERFILE
    assert any("GLOSSATOR_MONITORING__PORT=9464" in line for line in DOCKERFILE)
    assert {"name": "monitoring", "containerPort": 9464} in CONTAINER["ports"]
    for probe, page in [
        ("startup", "/healthz"),
        ("liveness", "/healthz"),
        ("readiness", "/readyz"),
    ]:
        assert CONTAINER[f"{probe}Probe"]["httpGet"] == {"path": page, "port": "monitoring"}


def test_two_bots_share_a_database_and_an_index() -> None:
    bot = COMPOSE["services"]["bot"]
    assert bot["deploy"]["replicas"] == 2
    assert {"GLOSSATOR_DATABASE__URL", "GLOSSATOR_QDRANT__URL"} <= bot["environment"].keys()
    assert {"GLOSSATOR_PSEUDONYM_KEY", "GLOSSATOR_ENCRYPTION_KEY"} <= bot["environment"].keys()
    assert bot["depends_on"].keys() == COMPOSE["services"].keys() - {"bot"}
    assert DEPLOYMENT["spec"]["replicas"] == 2
    assert BUDGET["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]


def test_every_container_starts_what_the_image_starts() -> None:
    assert 'CMD ["glossator", "run"]' in DOCKERFILE
    assert CONTAINER["args"] == ["glossator", "run"]
    assert "command" not in COMPOSE["services"]["bot"]


@pytest.mark.costly
def test_compose_is_what_the_published_schema_asks_for(tmp_path: Path) -> None:
    assert _is_compose(DEPLOY / "compose.yaml") == ""
    wrong = copy.deepcopy(COMPOSE)
    wrong["services"]["bot"]["read_olny"] = True
    misspelt = tmp_path / "compose.yaml"
    misspelt.write_text(yaml.safe_dump(wrong), "utf-8")
    assert "read_olny" in _is_compose(misspelt)


def _is_compose(file: Path) -> str:
    """Return what is wrong with a file for Compose; empty: nothing."""
    schema = ("--builtin-schema", "vendor.compose-spec")
    command = [sys.executable, "-m", "check_jsonschema", *schema, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize("version", _VERSIONS)
def test_the_manifest_is_what_the_published_schemas_ask_for(version: str) -> None:
    for resource in MANIFEST:
        kubernetes_validate.validate(resource, version, strict=True)
    wrong = copy.deepcopy(DEPLOYMENT)
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readOnly"] = True
    with pytest.raises(kubernetes_validate.ValidationError, match="readOnly"):
        kubernetes_validate.validate(wrong, version, strict=True)


def test_slack_over_http_is_led_to_the_port_that_the_bot_listens_on() -> None:
    assert SERVICE["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]["matchLabels"]
    [port] = SERVICE["spec"]["ports"]
    listens_on = Settings().group(SlackSettings).port
    assert {"name": port["targetPort"], "containerPort": listens_on} in CONTAINER["ports"]


_METRIC = re.compile(r"\b(?:glossator|process)_[a-z_]+")
_LABELS = re.compile(r"by \(([a-z_, ]+)\)|(\w+)=\"|\{\{ ?(?:\$labels\.)?([a-z]+) ?\}\}")
_OF_PROMETHEUS = {"instance", "job", "le"}


def _exposed() -> tuple[set[str], set[str]]:
    """Return the names and the labels of all that `/metrics` may show."""
    meter = PrometheusMeter()
    for measure in COUNTED:
        meter.count(measure, *measure.labels)
    for measure in TIMED:
        meter.time(measure, *measure.labels, seconds=1.0)
    text = meter.exposition().decode()
    names = {word for line in text.splitlines() for word in _METRIC.findall(line)}
    labels = {label for measure in (*COUNTED, *TIMED) for label in measure.labels}
    return names, labels | {"service", "folder"} | _OF_PROMETHEUS


def _watched() -> list[tuple[str, str]]:
    """Return each expression of the alert rules and the dashboard, with what is shown of it."""
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text("utf-8"))
    alerts = [
        (rule["expr"], rule["annotations"]["summary"])
        for group in rules["groups"]
        for rule in group["rules"]
    ]
    dashboard = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
    return alerts + [
        (target["expr"], target["legendFormat"])
        for panel in dashboard["panels"]
        for target in panel["targets"]
    ]


def test_alert_rules_and_dashboard_name_metrics_that_the_bot_has() -> None:
    names, labels = _exposed()
    watched = _watched()
    assert len(watched) > 20
    for expression, shown in watched:
        found = set(_METRIC.findall(expression))
        assert found or expression.startswith("up{")
        assert found <= names, expression
        named = {
            label.strip()
            for groups in _LABELS.findall(f"{expression} {shown}")
            for group in groups
            for label in group.split(",")
            if label.strip()
        }
        assert named <= labels, f"{expression}: {named - labels}"


def test_the_outcomes_that_alerts_look_for_are_counted() -> None:
    looked_for = {
        outcome
        for expression, _ in _watched()
        for outcome in re.findall(r'outcome="(\w+)"', expression)
    }
    source = "".join(path.read_text("utf-8") for path in (ROOT / "adapters").rglob("*.py"))
    assert looked_for
    assert all(f'"{outcome}"' in source for outcome in looked_for)


def test_only_slacks_port_is_open_to_everybody_and_the_clouds_metadata_to_no_bot() -> None:
    assert NETWORK["spec"]["podSelector"] == BUDGET["spec"]["selector"]
    assert {*NETWORK["spec"]["policyTypes"]} == {"Ingress", "Egress"}
    ports = {rule["ports"][0]["port"]: "from" in rule for rule in NETWORK["spec"]["ingress"]}
    assert ports == {"monitoring": True, "slack": False}
    assert ports.keys() <= {port["name"] for port in CONTAINER["ports"]}
    outside = [
        to["ipBlock"] for rule in NETWORK["spec"]["egress"] for to in rule["to"] if "ipBlock" in to
    ]
    assert [block["except"] for block in outside] == [["169.254.169.254/32"], ["fd00:ec2::254/128"]]
