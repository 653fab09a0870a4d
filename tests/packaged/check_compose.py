"""The compose file by its schema, and the Dockerfile by hadolint; `make packaged` runs this."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for
from typer.testing import CliRunner

from reusewatch.crawler.cli import app
from reusewatch.streams.settings.resolving import resolve
from tests.command import ROOT
from tests.packaged.tools import COMPOSE, text_of

DEPLOY = ROOT / "deploy"


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


def ours(compose: Any) -> dict[str, Any]:
    return {
        name: one for name, one in compose["services"].items() if one["image"].startswith("reuse")
    }


def test_it_is_as_compose_has_it(compose: Any) -> None:
    schema = json.loads(text_of(COMPOSE))
    found = validator_for(schema)(schema).iter_errors(compose)
    assert [f"{list(error.path)}: {error.message}" for error in found] == []


def test_what_a_service_needs_is_there(compose: Any) -> None:
    """Which the schema does not say."""
    services = compose["services"]
    for one in services.values():
        for other, wanted in one.get("depends_on", {}).items():
            if wanted["condition"] == "service_healthy":
                assert "healthcheck" in services[other]
        for volume in one.get("volumes", ()):
            place = volume.rsplit(":", 2 if volume.endswith(":ro") else 1)[0]
            named = not place.startswith((".", "$"))
            assert (
                place in compose["volumes"]
                if named
                else place.startswith("$") or (DEPLOY / place).exists()
            )
    used = {v.split(":")[0] for one in services.values() for v in one.get("volumes", ())}
    assert set(compose["volumes"]) <= used


def test_ports_are_this_machine_s_alone(compose: Any) -> None:
    """Whoever reaches a worker's port can ask questions to its state."""
    published = [port for one in compose["services"].values() for port in one.get("ports", ())]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []
    assert [name for name, one in ours(compose).items() if "ports" in one] == []


def test_commands_and_settings_are_real(compose: Any) -> None:
    assert len(ours(compose)) == 6
    for one in ours(compose).values():
        asked = CliRunner().invoke(app, [*one["command"], "--help"])
        assert asked.exit_code == 0, asked.output
        assert resolve(environ=one["environment"]).settings.bus == "kafka://kafka:19092"
        assert (one["read_only"], one["cap_drop"]) == (True, ["ALL"])


def test_hadolint_has_nothing_to_say_against_the_image() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [hadolint, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
