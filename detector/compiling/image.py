"""Images: the machine code of many kernels as one file, loaded without numba and LLVM.

To import these two only to load what they compiled before would be half of a command's start, and
65 MB of its memory. What code asks for by name is here what numba gives it: functions of Python,
and of the three small libraries that come with numba. `imaging` makes images, of processors whose
relocations it knows; where there is none, kernels are loaded by numba (`cache`).

Memory holds code that is never written to once it can run, and behind it the room for what numba
calls the environment of a kernel. An image is loaded for the rest of a process.

What this module holds on to in numba: what a kernel's way in from Python looks like (a C function
with positional arguments), that it looks for its environment in a room of its own, and by which
names it asks for the functions of the libraries (`numba.core.base._load_global_helpers`,
`numba.core.runtime.nrt`). It can be deleted when numba loads what it compiled without LLVM.
"""

from __future__ import annotations

import builtins
import ctypes
import pickle
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

_DIGEST_BYTES = 16
_ADDRESS_BYTES = 8
_POSITIONAL_AND_NAMED = 3
# Of Linux on x86-64, as images are.
_READ, _WRITE, _RUN = 1, 2, 4
_PRIVATE, _ANONYMOUS = 0x02, 0x20
_FAILED = (1 << 64) - 1
_LIBRARIES = {"numba._helperlib": "numba_", "numba._dynfunc": "numba_",
              "numba.core.runtime._nrt_python": "NRT_"}  # fmt: skip


ARRAYS = "reusewatch_arrays"
"""The name by which code asks for the type of numpy's arrays."""


class Entry(NamedTuple):
    """A kernel in an image: where Python comes in, the room for its environment, and what that
    holds."""

    at: int
    room: int
    constants: list[Any]


class Image(NamedTuple):
    """Code, and behind it, from `room` on, what is written to. `own`: where an address within the
    image stands, counted from its begin; `others`: where one does that is known by a name."""

    code: bytes
    room: int
    own: NDArray[np.uint32]
    others: Mapping[str, NDArray[np.uint32]]
    kernels: Mapping[str, Entry]


class BadImage(Exception):
    """An image that this process cannot load: it lacks what is asked for, or may not run code."""


class Damaged(BadImage):
    """A file that is no image."""


class _Method(ctypes.Structure):
    """What Python knows of a function in C."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("doc", ctypes.c_char_p))  # fmt: skip


class _Loaded:
    """An image in memory."""

    def __init__(self, found: Image) -> None:
        self.kernels = found.kernels
        size = len(found.code)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        self._base = libc.mmap(None, size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if self._base == _FAILED:
            raise BadImage(f"there is no memory for it (errno {ctypes.get_errno()})")
        self._memory = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(self._base))
        self._memory[:] = np.frombuffer(found.code, np.uint8)
        self._add(found.own, self._base)
        for name, places in found.others.items():
            self._add(places, _address_of(name))
        self._environments: list[Any] = []
        for entry in found.kernels.values():
            self._give_environment(entry)
        libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        if libc.mprotect(self._base, found.room, _READ | _RUN):
            raise BadImage(f"its code may not be run (errno {ctypes.get_errno()})")

    def _add(self, places: NDArray[np.uint32], value: int) -> None:
        """To the numbers at these places, which may begin at any byte."""
        at = places[:, None].astype(np.int64) + np.arange(_ADDRESS_BYTES)
        memory = self._memory
        memory[at] = (memory[at].view("<u8") + np.uint64(value)).view(np.uint8)

    def _give_environment(self, entry: Entry) -> None:
        environment = _library("numba._dynfunc").Environment({})
        environment.consts.extend(entry.constants)
        self._environments.append(environment)
        ctypes.c_void_p.from_address(self._base + entry.room).value = id(environment)

    def called(self, name: str) -> Callable[..., Any]:
        """The function of a kernel."""
        label = name.rpartition(".")[2].encode()
        method = _Method(label, self._base + self.kernels[name].at, _POSITIONAL_AND_NAMED, None)
        # As long as the function.
        self._environments.append(method)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, *[ctypes.py_object] * 2)
        made: Callable[..., Any] = make(ctypes.addressof(method), None, name)
        return made


_loaded: list[_Loaded] = []
_forgotten: list[_Loaded] = []


def load(data: bytes) -> None:
    """Load an image, for the rest of the process. Raises BadImage if it is damaged."""
    if xxhash.xxh3_128_digest(data[_DIGEST_BYTES:]) != data[:_DIGEST_BYTES]:
        raise Damaged("it is damaged")
    _loaded.append(_Loaded(Image(*pickle.loads(data[_DIGEST_BYTES:]))))  # noqa: S301 - our own


def packed(made: Image) -> bytes:
    """What `load` takes."""
    data = pickle.dumps(tuple(made))
    return xxhash.xxh3_128_digest(data) + data


def forget() -> None:
    """What is made from now on is made whole. What was loaded stays in memory: it may be bound."""
    _forgotten.extend(_loaded)
    _loaded.clear()


def holds(name: str) -> bool:
    """Whether an image has this kernel."""
    return any(name in one.kernels for one in _loaded)


def find(name: str) -> Callable[..., Any] | None:
    """A kernel, if an image has it."""
    return next((one.called(name) for one in _loaded if name in one.kernels), None)


def check(made: Image) -> None:
    """Raises BadImage where there is a name that this process cannot find."""
    for name in made.others:
        _address_of(name)


def _address_of(name: str) -> int:
    """Where something is that code asks for by name."""
    given = _given()
    if name in given:
        return given[name]
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
    except ValueError as error:
        raise BadImage(f"there is no {name}") from error


_known: dict[str, int] = {}


def _given() -> Mapping[str, int]:
    """What numba gives to code by name, by its address."""
    if not _known:
        # As where numba starts: memory of arrays comes from where Python's comes from.
        _library("numba.core.runtime._nrt_python").memsys_use_cpython_allocator()
        for library, head in _LIBRARIES.items():
            for name, address in _library(library).c_helpers.items():
                _known[name if name.startswith("_") else head + name] = address
        for name, value in vars(builtins).items():
            if isinstance(value, type) and issubclass(value, BaseException):
                _known[f"PyExc_{name}"] = id(value)
        _known["_Py_NoneStruct"], _known[ARRAYS] = id(None), id(np.ndarray)
        _known["numba_unpickle"] = ctypes.cast(_UNPICKLE, ctypes.c_void_p).value or 0
    return _known


def _library(name: str) -> Any:
    """A library of numba's, without numba; by the name that numba looks for it."""
    if name not in sys.modules:
        (numba,) = find_spec("numba").submodule_search_locations  # type: ignore[union-attr,misc]
        place = "/".join((numba, *name.split(".")[1:-1]))
        finder = FileFinder(place, (ExtensionFileLoader, EXTENSION_SUFFIXES))
        if (spec := finder.find_spec(name)) is None or spec.loader is None:
            raise BadImage(f"numba has no {name}")
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


_unpickled: dict[int, Any] = {}


def _unpickle(at: int, length: int, _: int) -> Any:
    """What a kernel raises, or the type of what it returns: numba's own imports numba for it."""
    if at not in _unpickled:
        _unpickled[at] = pickle.loads(ctypes.string_at(at, length))  # noqa: S301 - our own
    return _unpickled[at]


_UNPICKLE = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
)(_unpickle)  # fmt: skip
