"""Which Java the script that installs the broker asks apt for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.command import ROOT

_SCRIPT = ROOT / "deploy" / "kafka" / "install.sh"
_ASK = f'eval "$(sed -n "/^java_package/,/^}}/p" "{_SCRIPT}")"; set -euo pipefail; java_package'


@pytest.mark.parametrize(
    ("offered", "wanted"),
    [
        ("openjdk-17-jre openjdk-17-jre-headless", "openjdk-17-jre-headless"),
        ("openjdk-25-jre-headless openjdk-21-jre-headless", "openjdk-21-jre-headless"),
        ("openjdk-11-jre-headless openjdk-8-jre-headless", "default-jre-headless"),
        ("", "default-jre-headless"),
    ],
)
def test_the_oldest_java_from_17_on_is_installed(tmp_path: Path, offered: str, wanted: str) -> None:
    apt = tmp_path / "apt-cache"
    apt.write_text(f"#!/bin/sh\nprintf '%s\\n' {offered}\n")
    apt.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", _ASK], env={"PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [wanted]
