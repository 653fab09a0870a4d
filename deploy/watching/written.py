"""Rules as the YAML that Prometheus reads, and as the runbook that people read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from deploy.watching.rules import ALERTING, RECORDED

_HEAD = "# Written by `make docs` from deploy/watching/rules.py: change it there.\ngroups:\n"


def _quoted(text: str) -> str:
    """A string of YAML: every one of JSON is one."""
    return json.dumps(text, ensure_ascii=False)


def recording() -> str:
    """The file of recording rules."""
    lines = ["  - name: reusewatch.recording", "    rules:"]
    for one in RECORDED:
        lines += [f"      - record: {one.name}", f"        expr: {_quoted(one.expr)}"]
    return _HEAD + "\n".join(lines) + "\n"


def alerting() -> str:
    """The file of alerting rules."""
    return _HEAD + "\n".join(_alerting()) + "\n"


def _alerting() -> Iterator[str]:
    yield from ("  - name: reusewatch.alerting", "    rules:")
    for one in ALERTING:
        yield f"      - alert: {one.name}"
        yield f"        expr: {_quoted(one.expr)}"
        yield f"        for: {one.wait}"
        yield "        labels:"
        yield f"          severity: {one.severity}"
        yield f"          team: {one.team}"
        yield "        annotations:"
        for name in ("summary", "description", "runbook_url"):
            yield f"          {name}: {_quoted(getattr(one, name))}"


def runbook() -> str:
    """A section for each rule that tells somebody."""
    return "\n".join(
        f"### {one.name}\n\n"
        f"{one.means}\n\n"
        f"- Look at {one.look}\n- What to do: {one.do}\n"
        f"- Rule, `{one.severity}`, after {one.wait}: `{one.expr}`\n"
        for one in ALERTING
    )
