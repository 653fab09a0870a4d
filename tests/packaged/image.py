"""`python -m tests.packaged.image`: the image, built, and run as compose file and chart run it.

Buildah builds it without a daemon. Where no registry of images is reached, its base is made of
Debian's packages, with Debian's Python. It runs as the user that it names, with a root that cannot
be written to, and nothing but /state and /tmp; the network is its own, with loopback alone. What no
engine does here, its health check on a schedule among it, is done by hand, once.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.command import ROOT
from tests.packaged.tools import TOOLS, NotThere

_NAME, _BASE = "reusewatch:tried", "docker.io/library/python:3.12-slim-bookworm"
_OURS = "localhost/python:debian"
_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
# The flags of loopback: up, and running. Nothing else of the network is there.
_LOOPBACK = (
    "import fcntl, socket, struct; "
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh', b'lo', 0x41))"
)


def say(text: str) -> None:
    """A line for whoever waits."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def buildah(*words: object, shown: bool = False) -> str:
    """What it prints; its images stand beside the other tools."""
    where = ["--root", TOOLS / "images", "--runroot", TOOLS / "images-run"]
    command = ["buildah", "--storage-driver", "vfs", *where, *words]
    done = subprocess.run(
        list(map(str, command)), text=True, stdout=None if shown else subprocess.PIPE,
        stderr=None if shown else subprocess.PIPE, check=False,
    )  # fmt: skip
    if done.returncode:
        raise NotThere(f"buildah {words[0]}: {done.stderr or 'see above'}")
    return done.stdout or ""


def base() -> str:
    """The tag of Python's image that is there, or is made."""
    try:
        buildah("pull", _BASE)
    except NotThere as error:
        say(f"no {_BASE} ({str(error).splitlines()[-1][-200:]}): made of Debian's packages")
    else:
        return _BASE.rpartition(":")[2]
    if not buildah("images", "--quiet", "--filter", f"reference={_OURS}"):
        _make_base()
    return _OURS.rpartition(":")[2]


def _make_base() -> None:
    root = TOOLS / "base" / "root"
    shutil.rmtree(root, ignore_errors=True)
    packages = "python3,python3-venv,python3-pip,ca-certificates"
    root.mkdir(parents=True)
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", root],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    # A network may have an authority of its own.
    shutil.copy(_AUTHORITIES, root / _AUTHORITIES.relative_to("/"))
    file = root.parent / "Dockerfile"
    file.write_text(f"FROM scratch\nCOPY root /\nENV PIP_CERT={_AUTHORITIES}\n", "utf-8")
    buildah("bud", "--isolation", "chroot", "--tag", _OURS, "--file", file, root.parent)
    shutil.rmtree(root)


def build() -> Mapping[str, Any]:
    """Build it; what it says of itself."""
    # With Docker's format: the other knows no health checks.
    buildah(
        "bud", "--isolation", "chroot", "--network", "host", "--format", "docker", "--build-arg",
        f"PYTHON={base()}", "--tag", _NAME, "--file", ROOT / "deploy" / "Dockerfile", ROOT,
        shown=True,
    )  # fmt: skip
    told: Mapping[str, Any] = json.loads(buildah("inspect", "--type", "image", _NAME))
    return told["Docker"]["config"]


def inside(root: str, config: Mapping[str, Any], script: str) -> str:
    """What a shell says in the image, as its user, with what may be written and no more."""
    user, home = config["User"], config["WorkingDir"]
    owner, _, group = user.partition(":")
    environment = " ".join(shlex.quote(one) for one in config["Env"])
    given = [
        f"mount --bind {root} {root}",
        f"mount -o remount,bind,ro {root}",
        f"mount -t tmpfs -o uid={owner},gid={group} none {root}{home}",
        f"mount -t tmpfs none {root}/tmp",  # noqa: S108
        f"mount -t proc none {root}/proc",
        f"mount --rbind /dev {root}/dev",
        shlex.join([sys.executable, "-c", _LOOPBACK]),
        f"exec chroot --userspec={user} {root} env -i {environment} HOME={home}"
        f" sh -euc {shlex.quote(f'cd {home}; {script}')}",
    ]
    done = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-euc",
         "; ".join(given)], capture_output=True, text=True, check=False,
    )  # fmt: skip
    return f"{done.stdout}{done.stderr}exit {done.returncode}"


def check(root: str, config: Mapping[str, Any]) -> Iterator[tuple[str, bool, str]]:
    """What must hold: its name, whether it does, and what was seen."""
    yield "a user who is not root", config["User"] == "10001:10001", config["User"]
    yield "one volume", list(config["Volumes"]) == ["/state"], str(config["Volumes"])
    said = inside(root, config, "id -u; touch /tmp/a /state/b; touch /c")
    yield "a root that is only read", "10001\n" in said and "Read-only file system" in said, said
    said = inside(root, config, "reusewatch doctor")
    yield "kernels that are compiled", "kernels: compiled, kept in" in said, said
    said = inside(root, config, "reusewatch demo")
    yield "the demo, found as planted", said.endswith("exit 0"), said
    asked = shlex.join(config["Healthcheck"]["Test"][1:])
    # Nobody asks on a schedule here: until it answers, and once it is gone.
    script = (
        "mkdir new; reusewatch replay --follow new & worker=$!; "
        f"until {asked} 2>/dev/null; do kill -0 $worker; sleep 1; done; "
        f"kill -TERM $worker; wait $worker || true; ! {asked} 2>/dev/null"
    )
    said = inside(root, config, script)
    yield "a health check that answers while it runs", said.endswith("exit 0"), said


def main() -> int:
    """Build it, and look."""
    if os.getuid():
        say("the image is built and run as root here, for want of a daemon")
        return 2
    try:
        config = build()
        container = buildah("from", _NAME).strip()
        try:
            root = buildah("mount", container).strip()
            found = list(check(root, config))
        finally:
            buildah("rm", container)
    except (NotThere, FileNotFoundError, subprocess.CalledProcessError) as error:
        say(f"{error}: needs Debian's packages buildah and, where no registry is, debootstrap")
        return 2
    for name, holds, said in found:
        say(f"{'ok    ' if holds else 'FAILED'} {name}" + ("" if holds else f": {said}"))
    return 0 if all(holds for _, holds, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main())
