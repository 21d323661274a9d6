"""The files for containers agree with the program that they start."""

from pathlib import Path
from typing import Any

import yaml

from bot.settings import setting_names

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
DEPLOYMENT, BUDGET = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))
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


def test_the_bot_gets_the_time_that_it_needs_to_drain() -> None:
    assert COMPOSE["services"]["bot"]["stop_grace_period"] == "15s"
    assert POD["terminationGracePeriodSeconds"] == 15


def test_the_probes_ask_where_the_image_answers() -> None:
    assert "EXPOSE 9464" in DOCKERFILE
    assert any("GLOSSATOR_MONITORING__PORT=9464" in line for line in DOCKERFILE)
    [port] = CONTAINER["ports"]
    assert port == {"name": "monitoring", "containerPort": 9464}
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
