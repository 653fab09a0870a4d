"""The chart, rendered by Helm: sound by every schema, and what it must have is there.

`make packaged` runs this: it needs Helm, or Go to build it.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from reusewatch.crawler.cli import app
from reusewatch.streams.running.stage_names import STAGES
from reusewatch.streams.settings.resolving import resolve
from tests.command import ROOT
from tests.packaged.tools import POD_MONITOR, SCALED_OBJECT, helm, text_of

CHART = ROOT / "deploy" / "helm" / "reusewatch"
# The oldest that Chart.yaml allows, and the newest.
KUBERNETES = ("1.27", "1.37")
OF_OTHERS = {"ScaledObject": SCALED_OBJECT, "PodMonitor": POD_MONITOR}
Resource = Any
LEAST: dict[str, Any] = {"kafka": {"bus": "kafka://kafka.example.org:9092"}}
MOST: dict[str, Any] = {
    "image": {"repository": "images.example.org/reusewatch", "tag": "1.2", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "images"}],
    "kafka": {
        "bus": "kafka://one.example.org:9093,two.example.org:9093", "topicPrefix": "crawl.",
        "security": "sasl+tls", "sasl": "SCRAM-SHA-256", "username": "reusewatch",
        "passwordSecret": {"name": "kafka-login", "key": "password"},
        "hashKeySecret": {"name": "hashes", "key": "hash-key"},
        "caConfigMap": {"name": "ca", "key": "ca.crt"},
    },
    "settings": {"window_pages": 5_000_000, "commit_seconds": 2.5, "evidence_pairs": 0,
                 "owned": "example.org,example.net"},
    "fingerprint": {"keda": {"enabled": True}},
    "archives": {"claim": "warcs"},
    "podMonitor": {"enabled": True, "interval": "30s", "labels": {"release": "monitoring"}},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "crawl", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [
            {"key": "disk", "operator": "In", "values": ["ssd"]}]}]}}},
}  # fmt: skip
GIVEN = {"least": LEAST, "most": MOST}


def ran(*words: object, values: Mapping[str, Any], directory: Path) -> tuple[int, str, str]:
    file = directory / "values.json"  # which is YAML as well
    file.write_text(json.dumps(values), "utf-8")
    done = subprocess.run(
        [helm(), *map(str, words), "--values", file], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def rendered(values: Mapping[str, Any], directory: Path) -> list[Resource]:
    code, out, err = ran("template", "watch", CHART, values=values, directory=directory)
    assert code == 0, err
    return [one for one in yaml.safe_load_all(out) if one is not None]


@pytest.fixture(scope="module", params=list(GIVEN))
def resources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return rendered(GIVEN[request.param], tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def most(tmp_path_factory: pytest.TempPathFactory) -> list[Resource]:
    return rendered(MOST, tmp_path_factory.mktemp("chart"))


def pods(resources: list[Resource]) -> Iterator[tuple[str, Resource, Resource]]:
    """Of each pod: the kind of what makes it, its template, and its only container."""
    for one in resources:
        if one["kind"] in ("Deployment", "StatefulSet", "Job"):
            template = one["spec"]["template"]
            (container,) = template["spec"]["containers"]
            yield one["kind"], template, container


def workers(resources: list[Resource]) -> Iterator[tuple[str, Resource, Resource]]:
    for kind, template, container in pods(resources):
        if kind != "Job":
            yield container["name"], template, container


@pytest.mark.parametrize("values", GIVEN.values(), ids=list(GIVEN))
def test_helm_has_nothing_to_say_against_it(values: dict[str, Any], tmp_path: Path) -> None:
    code, out, err = ran("lint", "--strict", CHART, values=values, directory=tmp_path)
    assert (code, "1 chart(s) linted, 0 chart(s) failed" in out) == (0, True), out + err


@pytest.mark.parametrize("version", KUBERNETES)
def test_each_resource_is_as_kubernetes_has_it(resources: list[Resource], version: str) -> None:
    for one in resources:
        if one["kind"] not in OF_OTHERS:
            kubernetes_validate.validate(one, version, strict=True)


def test_each_resource_of_others_is_as_they_have_it(most: list[Resource]) -> None:
    seen = set()
    for one in most:
        if one["kind"] in OF_OTHERS:
            definition = yaml.safe_load(text_of(OF_OTHERS[one["kind"]]))["spec"]
            assert one["apiVersion"].split("/")[0] == definition["group"]
            schema = next(
                version["schema"]["openAPIV3Schema"]
                for version in definition["versions"]
                if version["name"] == one["apiVersion"].split("/")[1]
            )
            found = Draft202012Validator(strict(schema)).iter_errors(one)
            assert [f"{list(error.path)}: {error.message}" for error in found] == []
            seen.add(one["kind"])
    assert seen == set(OF_OTHERS)


def strict(schema: Any) -> Any:
    """A field that is not known is dropped in silence by the API server: here it is an error."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        found.setdefault("additionalProperties", False)
    return found


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "/kafka/bus"),
        ({"kafka": {"bus": "local:here"}}, "/kafka/bus"),
        (LEAST | {"replicas": 2}, "'replicas'"),
        (LEAST | {"index": {"replicas": "two"}}, "/index/replicas"),
        (LEAST | {"settings": {"kafka_password": "open"}}, "'kafka_password'"),
        (LEAST | {"fingerprint": {"keda": {"enabled": True, "maxReplicas": 0}}}, "maxReplicas"),
        ({"kafka": LEAST["kafka"] | {"security": "sasl"}}, "kafka.passwordSecret.name"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], says: str, tmp_path: Path) -> None:
    code, _, err = ran("template", "watch", CHART, values=values, directory=tmp_path)
    assert (code != 0, says in err) == (True, True), err


def test_what_there_must_be_is_there(most: list[Resource]) -> None:
    assert Counter(one["kind"] for one in most) == {
        "Deployment": 1, "StatefulSet": 2, "Service": 2, "PodDisruptionBudget": 3,
        "NetworkPolicy": 1, "ScaledObject": 1, "PodMonitor": 1, "Job": 1,
    }  # fmt: skip
    names = Counter((one["kind"], one["metadata"]["name"]) for one in most)
    assert set(names.values()) == {1}
    by_kind = {one["kind"]: one for one in most}
    target = by_kind["ScaledObject"]["spec"]["scaleTargetRef"]["name"]
    assert by_kind["Deployment"]["metadata"]["name"] == target
    assert "replicas" not in by_kind["Deployment"]["spec"]  # or an upgrade undoes the scaling
    (trigger,) = by_kind["ScaledObject"]["spec"]["triggers"]
    assert trigger["metadata"]["topic"] == "crawl.pages"
    assert trigger["metadata"]["consumerGroup"] == "crawl.fingerprint"
    assert trigger["metadata"]["bootstrapServers"] == "one.example.org:9093,two.example.org:9093"


def test_what_is_selected_are_the_pods(resources: list[Resource]) -> None:
    labels = [template["metadata"]["labels"] for _, template, _ in workers(resources)]
    selecting = [one["spec"] for one in resources if one["kind"] in (
        "Service", "PodDisruptionBudget", "NetworkPolicy", "PodMonitor", "Deployment",
        "StatefulSet")]  # fmt: skip
    for spec in selecting:
        wanted = spec.get("selector") or spec["podSelector"]
        wanted = wanted.get("matchLabels", wanted)
        chosen = [one for one in labels if wanted.items() <= one.items()]
        of_a_stage = "app.kubernetes.io/component" in wanted
        assert len(chosen) == (1 if of_a_stage else len(labels)), wanted


def test_pods_may_do_nothing_that_they_need_not(resources: list[Resource]) -> None:
    """The profile "restricted" of Kubernetes' Pod Security Standards, and a root that is read."""
    assert len(list(pods(resources))) == len(STAGES) + 1
    for _, template, container in pods(resources):
        spec, pod = template["spec"], template["spec"]["securityContext"]
        assert spec["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        assert (pod["runAsNonRoot"], pod["runAsUser"]) == (True, 10001)
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }  # fmt: skip
        assert {"requests", "limits"} <= set(container["resources"])
        written = {one["mountPath"] for one in container["volumeMounts"] if "readOnly" not in one}
        assert written == {"/state", "/tmp"}  # noqa: S108
        mounted = {one["name"] for one in container["volumeMounts"]}
        given = {one["name"] for one in spec["volumes"]}
        assert mounted - given <= {"state"}  # a claim of its own, of a StatefulSet
        assert not any({"hostPath"} & set(one) for one in spec["volumes"])


def test_probes_ask_the_worker_and_never_the_broker(resources: list[Resource]) -> None:
    found = {name: container for name, _, container in workers(resources)}
    assert set(found) == set(STAGES)
    for name, container in found.items():
        (port,) = container["ports"]
        probes = {kind: one for kind, one in container.items() if kind.endswith("Probe")}
        assert {kind: one["httpGet"]["path"] for kind, one in probes.items()} == {
            "livenessProbe": "/healthz", "startupProbe": "/healthz",
            **({} if name == "index" else {"readinessProbe": "/readyz"}),
        }  # fmt: skip
        assert {one["httpGet"]["port"] for one in probes.values()} == {port["name"]}
        startup = probes["startupProbe"]
        assert startup["periodSeconds"] * startup["failureThreshold"] >= 600


def test_commands_and_settings_are_real(resources: list[Resource]) -> None:
    for _, _, container in pods(resources):
        asked = CliRunner().invoke(app, [*container["args"], "--help"])
        assert asked.exit_code == 0, asked.output
        # A secret has its value elsewhere.
        given = {one["name"]: one.get("value", "7") for one in container["env"]}
        assert all(("value" in one) != ("valueFrom" in one) for one in container["env"])
        settings = resolve(environ=given).settings
        assert settings.bus == given["REUSEWATCH_BUS"]


def test_settings_arrive_as_they_were_given(most: list[Resource]) -> None:
    for _, _, container in pods(most):
        given = {one["name"]: one.get("value", "7") for one in container["env"]}
        found = resolve(environ=given).settings
        assert (found.window_pages, found.commit_seconds, found.evidence_pairs) == (
            5_000_000, 2.5, 0,
        )  # fmt: skip
        assert list(found.owned) == ["example.org", "example.net"]


def test_secrets_are_named_and_never_given(most: list[Resource]) -> None:
    for _, _, container in pods(most):
        secret = {one["name"]: one.get("valueFrom") for one in container["env"]}
        assert secret["REUSEWATCH_KAFKA_PASSWORD"] == {
            "secretKeyRef": {"name": "kafka-login", "key": "password"}
        }
        assert secret["REUSEWATCH_HASH_KEY"] == {
            "secretKeyRef": {"name": "hashes", "key": "hash-key"}
        }
    assert not [one for one in most if one["kind"] == "Secret"]
