"""Commands that start in a moment: each is forked from a process that has loaded all modules.

Most of what a command takes is the loading of what it imports. Here one process of the tests' own
loads everything once, and each command is a fork of it, with arguments, environment, working
directory, session and output of its own: a process that runs `python -m reusewatch.crawler`, or a
script, hears signals, and ends as one. That it loads what it needs is all that this does not show:
tests that start a command by `tests.command.start`, those of a crawl, of the installed wheel and
of the texts (`test_readme`) show that.

This file is also the program of that process: `python forked.py SOCKET`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MODULE = "reusewatch.crawler"
PACKAGES = ("reusewatch.detector", "reusewatch.streams", MODULE)
# What a process looks up once: with another value, the command has to be started really.
READ_ONCE = ("PYTHON", "NUMBA_", "XDG_", "HOME", "TMPDIR", "LC_", "LANG")


class Process:
    """A fork that runs a command, as far as `subprocess.Popen` is used of it."""

    def __init__(self, status: socket.socket) -> None:
        self._status = status
        self.pid = int.from_bytes(_exactly(status, 4), "big")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, minus the signal's number if one ended it; None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.returncode = int.from_bytes(_exactly(self._status, 4), "big", signed=True)
            self._status.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, when it has ended."""
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a forked command", timeout or 0.0)
        code = self.poll()
        assert code is not None
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that all commands are forked from; started with the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ours: socket.socket | None = None
        self._environment: dict[str, str] = {}

    def start(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        files: tuple[int, int, int],
        session: bool = False,
    ) -> Process | subprocess.Popen[bytes]:
        """`python ARGUMENTS`: `-m MODULE …` or a script; `files` are what it reads and writes."""
        with self._lock:
            ours = self._started(env)
            if _read_once(env) == self._environment:
                return _forked(ours, arguments, str(cwd), env, files, session)
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=cwd, env=dict(env), stdin=files[0], stdout=files[1],
            stderr=files[2], start_new_session=session,
        )  # fmt: skip

    def run(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> tuple[int, str, str]:
        """How it ends, with nothing to read, and what it says where."""
        pipes = [os.pipe() for _ in range(3)]  # of stdin, stdout, stderr
        theirs = (pipes[0][0], pipes[1][1], pipes[2][1])
        os.close(pipes[0][1])
        try:
            process = self.start(arguments, cwd=cwd, env=env, files=theirs)
        finally:
            for fd in theirs:
                os.close(fd)
        said: dict[int, bytes] = {}
        readers = [
            threading.Thread(target=_read_all, args=(ours, said), daemon=True)
            for ours, _ in pipes[1:]
        ]
        for reader in readers:
            reader.start()
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
            for reader in readers:
                reader.join(timeout)
        out, err = (said[ours].decode() for ours, _ in pipes[1:])
        return code, out, err

    def _started(self, env: Mapping[str, str]) -> socket.socket:
        if self._ours is None:
            ours, theirs = socket.socketpair()
            self._environment = _read_once(env)
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, "-P", __file__, str(theirs.fileno())], env=dict(env),
                    pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
            self._ours = ours
            atexit.register(_end, ours, process)
        return self._ours


def _end(ours: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """It ends when this end of the socket is closed."""
    ours.close()
    process.wait()


def _read_once(env: Mapping[str, str]) -> dict[str, str]:
    named = {name: value for name, value in env.items() if name.startswith(READ_ONCE)}
    named.pop("PYTHONSAFEPATH", None)
    return named


def _read_all(fd: int, texts: dict[int, bytes]) -> None:
    with open(fd, "rb") as file:
        texts[fd] = file.read()


def _forked(
    ours: socket.socket,
    arguments: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    files: tuple[int, int, int],
    session: bool,
) -> Process:
    status, theirs = socket.socketpair()
    request = json.dumps([list(arguments), cwd, dict(env), session]).encode()
    with theirs:
        ours.sendall(len(request).to_bytes(4, "big"))
        socket.send_fds(ours, [request[:1]], [*files, theirs.fileno()])
        ours.sendall(request[1:])
    return Process(status)


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise EOFError("the process that commands are forked from has ended")
        found += part
    return found


def _serve(connection: socket.socket) -> Sequence[str] | None:
    """Fork until nobody asks any more. In the fork that is to run something: what."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        try:
            size = int.from_bytes(_exactly(connection, 4), "big")
        except EOFError:
            return None
        first, fds, _, _ = socket.recv_fds(connection, 1, 4)
        arguments, cwd, env, session = json.loads(first + _exactly(connection, size - 1))
        if not os.fork():
            connection.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _wait_for_a_fork(fds)
            if session:
                os.setsid()
            os.chdir(cwd)
            os.environ.clear()
            os.environ.update(env)
            return list(arguments)
        for fd in fds:
            os.close(fd)


def _wait_for_a_fork(fds: Sequence[int]) -> None:
    """Fork once more, tell its id and how it ends; returns in the fork, with its own output."""
    *files, status = fds
    pid = os.fork()
    if pid:
        for fd in files:
            os.close(fd)
        os.write(status, pid.to_bytes(4, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(status, code.to_bytes(4, "big", signed=True))
        os._exit(0)
    os.close(status)
    for standard, fd in enumerate(files):
        os.dup2(fd, standard)
        os.close(fd)


def _load() -> None:
    """All that commands import, and the kernels; but nothing that is open in the process then."""
    kernels: Any = importlib.import_module("reusewatch.streams.kernels")
    # First: what is imported before it is told where its machine code is kept is compiled anew.
    say = importlib.import_module("reusewatch.streams.console").say
    kernels.prepare(say)
    kernels.prepare_questions(say)
    for package in map(importlib.import_module, PACKAGES):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    assert "twisted.internet.reactor" not in sys.modules  # its descriptors would be shared
    gc.collect()
    gc.freeze()  # or each fork would copy what its first collection looks at


def _run(arguments: Sequence[str]) -> int:
    """As the interpreter does it; its exit code."""
    try:
        if arguments[0] == "-m":
            sys.argv = list(arguments[1:])
            if "PYTHONSAFEPATH" not in os.environ:
                sys.path.insert(0, os.getcwd())
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = list(arguments)
            sys.path.insert(0, os.path.dirname(arguments[0]))
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _main() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        _load()
        arguments = _serve(connection)
    if arguments is not None:
        code = _run(arguments)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        # To take apart all that was loaded would take longer than to load it.
        os._exit(code)


if __name__ == "__main__":
    _main()
