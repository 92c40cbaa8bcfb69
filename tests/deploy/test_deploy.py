"""What is deployed fits the program: settings that exist, its version, and rules of the systems that read the files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_docs import setting_names

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
KUBERNETES: dict[str, Any] = {
    part["kind"]: part for part in yaml.safe_load_all((DEPLOY / "kubernetes" / "drive-agent.yaml").read_text())
}
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
UNIT = (DEPLOY / "systemd" / "drive-agent.service").read_text()
OTHERS = {"FORWARDED_ALLOW_IPS"}
"""Variables that uvicorn reads; those of S3 begin with `AWS_`."""


def unknown(names: set[str]) -> set[str]:
    return {name for name in names - {*setting_names()} - OTHERS if not name.startswith("AWS_")}


def test_only_settings_that_exist_are_set() -> None:
    services: dict[str, Any] = COMPOSE["services"]
    assert unknown({*services["drive-1"]["environment"]}) == set()
    assert unknown({*KUBERNETES["ConfigMap"]["data"]}) == set()


def test_both_services_are_the_same_but_for_their_volume() -> None:
    one, two = ({**COMPOSE["services"][name], "volumes": None} for name in ("drive-1", "drive-2"))
    assert one == two


def test_every_volume_and_network_that_is_used_is_declared() -> None:
    for service in COMPOSE["services"].values():
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in named if not name.startswith(".")} <= {*COMPOSE["volumes"]}
        assert {*service["networks"]} <= {*COMPOSE["networks"]}
        assert {*service.get("depends_on", ())} <= {*COMPOSE["services"]}


def test_the_services_run_without_rights_and_on_a_root_that_may_only_be_read() -> None:
    service = COMPOSE["services"]["drive-1"]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    pod = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    user = re.search(r"^USER (\d+):", CONTAINERFILE, re.MULTILINE)
    assert user
    assert int(user[1]) == pod["securityContext"]["runAsUser"]


def test_a_disruption_and_a_new_version_leave_a_replica_that_answers() -> None:
    deployment = KUBERNETES["Deployment"]["spec"]
    budget = KUBERNETES["PodDisruptionBudget"]["spec"]
    assert budget["minAvailable"] < deployment["replicas"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    labels = deployment["template"]["metadata"]["labels"]
    for selector in (
        deployment["selector"]["matchLabels"],
        budget["selector"]["matchLabels"],
        KUBERNETES["Service"]["spec"]["selector"],
    ):
        assert selector.items() <= labels.items()


def test_the_image_that_is_deployed_is_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    (container,) = KUBERNETES["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"drive-agent:{version}"


def test_the_image_installs_what_is_locked_and_copies_what_is_there() -> None:
    installations = [line for line in CONTAINERFILE.splitlines() if "pip install" in line]
    assert installations
    assert [line for line in installations if "--require-hashes" not in line and "--no-deps ." not in line] == []
    copied = re.findall(r"^COPY ((?!--from).*) \S+$", CONTAINERFILE, re.MULTILINE)
    assert [name for line in copied for name in line.split() if not (ROOT / name).exists()] == []


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed here")
def test_systemd_finds_nothing_wrong_with_the_unit_and_little_exposed(tmp_path: Path) -> None:
    unit = tmp_path / "drive-agent.service"
    unit.write_text(UNIT.replace("/opt/drive-agent/bin/drive-agent", "/bin/true"))
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", unit]
    exposed = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "SYSTEMD_PAGER": ""}
    )
    assert exposed.returncode == 0, exposed.stdout[-500:] + exposed.stderr
