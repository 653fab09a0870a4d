"""Labels reach what runs: pushed, removed and rolled back while pages go by, without a restart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import open_pack
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.blocks.label_columns import Marks, marks_of
from reusewatch.streams.bus import Bus
from reusewatch.streams.labels.parts import PART_BYTES
from reusewatch.streams.local import LocalBus
from tests.end_to_end.runs import Run, run
from tests.end_to_end.workers import Cluster, answer, cluster_at, wait_calmly
from tests.pages import SCHEME

WORDS = ("sea", "ship", "net", "winter", "harbour", "storm", "rope", "gull", "salt", "tide")


def paragraph(seed: int) -> str:
    return " ".join(Random(seed).choices(WORDS, k=40))


def write_tree(directory: Path, *seeds: int) -> Path:
    directory.mkdir()
    for seed in seeds:
        body = f"<p>{paragraph(seed)}</p><p>the words of page {seed} alone</p>"
        (directory / f"{seed}.html").write_text(f"<html><title>{seed}</title>{body}</html>")
    return directory


def build(cwd: Path, name: str, *seeds: int) -> Path:
    for seed in seeds:
        (cwd / f"{name}-{seed}.txt").write_text(paragraph(seed))
    pack = cwd / f"{name}.pack"
    sources = [f"{name}-{seed}.txt" for seed in seeds]
    # With their pages' grams, packs as small as these differ by as much as they hold.
    flags = ("--no-grams", "--no-places", "--json")
    done = run("labels", "build", name, *sources, "-o", pack, *flags, cwd=cwd)
    assert done.code == 0, done.err
    assert done.objects[0]["distinct"] == len(seeds)
    return pack


def marked(bus: Bus) -> dict[str, Marks]:
    return {
        row["url"]: marks_of(row)
        for message in bus.read(topics.FINGERPRINTS)
        for row in read_block(message, SCHEME).to_pylist()
    }


def test_a_local_bus_takes_up_a_push_a_removal_and_a_rollback(tmp_path: Path) -> None:
    first, both = build(tmp_path, "first", 1), build(tmp_path, "second", 2)
    write_tree(tmp_path / "web", 1, 2, 3)
    flags = ("--bus", "local:state", "--json")

    def names(site: str) -> list[tuple[str, ...]]:
        done = run("replay", "--tree", f"web=http://{site}.test/", "--workers", 2, *flags,
                   cwd=tmp_path)  # fmt: skip
        assert done.code == 0, done.err
        found = marked(LocalBus(tmp_path / "state"))
        return [found[f"http://{site}.test/{page}.html"].labeled_by for page in (1, 2, 3)]

    def labels(*args: object) -> dict[str, Any]:
        done = run("labels", *args, *flags, cwd=tmp_path)
        assert done.code == 0, done.err
        return done.objects[0]

    assert names("a") == [(), (), ()]
    assert labels("preview", first)["labeled"] == 1
    assert labels("push", first)["travelled"] == "whole"
    assert names("b") == [("first",), (), ()]
    merged = tmp_path / "all.pack"
    assert run("labels", "merge", first, both, "-o", merged, cwd=tmp_path).code == 0
    pushed = labels("push", merged)
    assert (pushed["travelled"], pushed["changed"]) == ("difference", 2)  # chunk and file
    assert names("c") == [("first",), ("second",), ()]
    version = pushed["version"]
    assert labels("show")["name"] == "first"
    assert labels("remove", "first")["previous"] == version
    assert names("d") == [(), ("second",), ()]
    assert labels("rollback")["version"] == version
    assert names("e") == [("first",), ("second",), ()]
    assert labels("rollback")["removed"] == ["first"]


@pytest.mark.parametrize("rule", ["matchable", "paper"])
def test_a_preview_says_what_a_push_then_flags(tmp_path: Path, rule: str) -> None:
    (tmp_path / "known.txt").write_text(paragraph(1))
    run("labels", "build", "known", "known.txt", "-o", "known.pack", cwd=tmp_path)
    headings = "".join(f"<h2>heading {number}</h2>" for number in range(12))
    (tmp_path / "web").mkdir()
    for name, text in {
        "copied": f"<p>{paragraph(1)}</p>{headings}",
        "within": f"<p>{paragraph(2)} {paragraph(1)}</p>",
        "own": f"<p>{paragraph(3)}</p>",
    }.items():
        (tmp_path / f"web/{name}.html").write_text(f"<html><body>{text}</body></html>")

    def done(*args: object) -> list[dict[str, Any]]:
        found = run(*args, "--bus", "local:state", "--json", cwd=tmp_path, contains=rule)
        assert found.code == 0, found.err
        return found.objects

    replayed = ("replay", "--tree", "web=http://a.test/")
    done(*replayed)
    (seen,) = done("labels", "preview", "known.pack")
    done("labels", "push", "known.pack")
    done(*replayed, "--again")
    flagged = {x["url"] for x in done("alerts", "--kind", "labeled-content")}
    assert {x["url"] for x in seen["examples"]} == flagged
    assert flagged == {"http://a.test/copied.html", "http://a.test/within.html"}
    shares = {x["url"]: x["contains"] for x in done("verdicts") if x["labels"]}
    assert {x["url"]: x["contains"] for x in seen["examples"]} == shares


def test_what_is_no_sound_pack_is_refused(tmp_path: Path) -> None:
    pack = build(tmp_path, "sea", 1)
    damaged = tmp_path / "damaged.pack"
    data = bytearray(pack.read_bytes())
    data[70] ^= 1
    damaged.write_bytes(data)
    (tmp_path / "text").write_text("no pack")
    for args, code, said in (
        (("verify", damaged), 1, "does not match its checksum"),
        (("push", damaged), 1, "damaged"),
        (("verify", pack), 0, ""),
        (("push", tmp_path / "text"), 2, "no label pack"),
        (("show", tmp_path / "none"), 2, "labels build"),
        (("rollback",), 2, "no version before"),
        (("remove", "nobody"), 2, "no label is called nobody"),
        (("build", "x", tmp_path / "none", "-o", tmp_path / "x"), 2, "does not exist"),
    ):
        done = run("labels", *args, cwd=tmp_path)
        assert done.code == code, (args, done.err)
        assert said in done.err + done.out, (args, done.err, done.out)
    other = run("labels", "push", pack, cwd=tmp_path, hash_key="0x5")
    assert other.code == 2
    assert SCHEME.name in other.err


def large_pack(directory: Path, content: Path) -> Path:
    """A pack of more than one part, with the chunks of another one."""
    with closing(LabelBuilder(directory, SCHEME, min_length=0)) as builder:
        builder.add_pack(builder.label(PackLabel(name="first")), open_pack(content, SCHEME))
        hashes = np.random.default_rng(1).integers(1, 1 << 63, 600_000, np.uint64)
        builder.add_files(builder.label(PackLabel(name="many")), hashes)
        builder.build(directory / "large.pack")
    assert (directory / "large.pack").stat().st_size > PART_BYTES
    return directory / "large.pack"


@pytest.fixture
def cluster(broker: str, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_at(broker, tmp_path) as found:
        yield found


def version_of(worker: Run) -> str | None:
    found = re.search(r'labels_version_info\{[^}]*version="([^"]+)"', answer(worker, "/metrics")[1])
    return found[1] if found else None


def test_two_workers_take_up_what_is_pushed_and_share_one_pack(
    cluster: Cluster, tmp_path: Path
) -> None:
    first, second = build(tmp_path, "first", 1), build(tmp_path, "second", 2)
    large = large_pack(tmp_path, first)
    write_tree(tmp_path / "web", 1, 2)
    workers = [cluster.work("fingerprint", state="state") for _ in range(2)]

    def labels(*args: object) -> dict[str, Any]:
        done = cluster.run("labels", *args, "--state", "state", "--json")
        assert done.code == 0, done.err
        version = done.objects[0]["version"]
        wait_calmly(lambda: [version_of(worker) for worker in workers] == [version] * 2)
        return done.objects[0]

    def names(*sites: str) -> dict[str, tuple[str, ...]]:
        for site in sites:
            done = cluster.run("replay", "--tree", f"web=http://{site}.test/")
            assert done.code == 0, done.err
        urls = {f"http://{site}.test/{page}.html" for site in sites for page in (1, 2)}
        wait_calmly(lambda: urls <= marked(cluster.bus).keys())
        found = marked(cluster.bus)
        return {url: found[url].labeled_by for url in urls}

    assert set(names("a", "b", "c").values()) == {()}
    assert labels("push", large)["travelled"] == "whole"
    (pack,) = (tmp_path / "state" / "labels").glob("*.pack")
    assert [str(pack) in maps(worker) for worker in workers if worker.running].count(True) >= 1
    found = names("d", "e", "f")
    assert {names for url, names in found.items() if url.endswith("1.html")} == {("first",)}
    assert {names for url, names in found.items() if url.endswith("2.html")} == {()}
    merged = tmp_path / "all.pack"
    assert run("labels", "merge", large, second, "-o", merged, cwd=tmp_path).code == 0
    assert labels("push", merged)["travelled"] == "difference"
    assert set(names("g", "h").values()) == {("first",), ("second",)}
    labels("remove", "first")
    assert set(names("i", "j").values()) == {(), ("second",)}
    labels("rollback")
    assert set(names("k", "l").values()) == {("first",), ("second",)}
    assert [worker.running for worker in workers] == [True, True]


def maps(worker: Run) -> str:
    return Path(f"/proc/{worker.process.pid}/maps").read_text()
