"""Helm, and the schemas of other people's resources, as modules of Go, each known by its checksum.

Whoever has `helm` uses his own; else it is built, once, which takes some minutes. The schemas are
those that the programs publish themselves.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / ".packaged"
HELM = "helm.sh/helm/v4/cmd/helm@v4.3.1"


class NotThere(Exception):
    """A tool that cannot be had, and how it can."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of Go, and which file of it is wanted."""

    name: str
    sum: str
    file: str


COMPOSE = Module(
    "github.com/compose-spec/compose-go/v2@v2.16.2",
    "h1:pTp1DqQwJzFd85GzlWsSszKA1ABrV/ySqsClujIcWA8=", "schema/compose-spec.json",
)  # fmt: skip
SCALED_OBJECT = Module(
    "github.com/kedacore/keda/v2@v2.21.0",
    "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
    "config/crd/bases/keda.sh_scaledobjects.yaml",
)  # fmt: skip
POD_MONITOR = Module(
    "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
)  # fmt: skip


def text_of(module: Module) -> str:
    """The file, of the module with this checksum."""
    found = json.loads(_go("mod", "download", "-json", module.name))
    if found["Sum"] != module.sum:
        raise NotThere(f"{module.name} is not the module with the checksum {module.sum}")
    return (Path(found["Dir"]) / module.file).read_text("utf-8")


def helm() -> Path:
    """Where it is."""
    there = shutil.which("helm")
    if there is not None:
        return Path(there)
    built = TOOLS / "helm"
    if not built.exists():
        _go("install", HELM, GOBIN=str(TOOLS))
    return built


def _go(*words: str, **environment: str) -> str:
    """What it prints. Outside of any module: what is asked for is named with its version."""
    TOOLS.mkdir(exist_ok=True)
    try:
        done = subprocess.run(
            ["go", *words], cwd=TOOLS, env={**os.environ, **environment}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise NotThere(f"go {words[-1]}: there is no Go; install it, and Helm too") from error
    if done.returncode:
        raise NotThere(f"go {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
