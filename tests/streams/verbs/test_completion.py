"""What a shell asks the command when Tab is pressed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import COMMAND, environment, run

TYPED: dict[str, set[str]] = {
    "reusewatch dead": {"dead-letters"},
    "reusewatch alerts --li": {"--limit"},
    "reusewatch alerts --kind ": {"crawl-trap", "duplicate", "near-duplicate"},
    "reusewatch alerts su": {"summary"},
    "reusewatch work ": {"fingerprint", "index", "neighborhoods"},
}


@pytest.mark.parametrize(("typed", "offered"), TYPED.items(), ids=TYPED)
def test_a_shell_is_offered_what_may_come_next(
    typed: str, offered: set[str], tmp_path: Path
) -> None:
    asked = environment(
        _REUSEWATCH_COMPLETE="complete_bash", COMP_WORDS=typed,
        COMP_CWORD=str(len(typed.split()) - (not typed.endswith(" "))),
    )  # fmt: skip
    done = subprocess.run(
        COMMAND, cwd=tmp_path, env=asked, capture_output=True, text=True, check=False
    )
    assert set(done.stdout.split()) >= offered, done


def test_the_script_of_the_shell_is_shown(tmp_path: Path) -> None:
    script = " ".join([*COMMAND, "--show-completion"])
    done = subprocess.run(
        ["bash", "-c", f"{script}; true"], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert "complete -o default -F _reusewatch_completion reusewatch" in done.stdout, done
    assert "--install-completion" in run("--help", cwd=tmp_path).out
