"""What is said in numba's words, and evaluated when something is compiled.

A module says the types of its kernels as it is imported. Nearly all processes load machine code
that was compiled before and never ask for the types: to import numba and LLVM for that was a half
of their start and 65 MB of their memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any


class Later:
    """A value that is there once somebody asks for it (`now`), and so is what it returns."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def _value(self) -> Any:
        return self._make()

    def __call__(self, *arguments: Any, **named: bool) -> Later:
        return Later(lambda: self._value(*now(arguments), **named))

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where a kernel names it."""
        typing: Any = import_module("numba.core.registry").cpu_target.typing_context
        value = self._value
        typing.refresh()  # an intrinsic that was only just made is not known yet
        return typing.resolve_value_type(value)


class Module(Later):
    """A module, and in the place of its members such values."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda: import_module(name))

    def __getattr__(self, name: str) -> Later:
        if name.startswith("_"):
            raise AttributeError(name)
        return Later(lambda: getattr(self._value, name))


class Imported:
    """A module that is imported when something of it is asked for: within functions that run when
    something is compiled."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def now(value: Any) -> Any:
    """The value; and of a list, or of what a function is given, those that are in it."""
    if isinstance(value, Later):
        return value._value
    return type(value)(map(now, value)) if type(value) in (list, tuple) else value
