"""What Python calls of a kernel, and what kernels call of a part.

A kernel is bound when it is called first: to machine code of an image (`image`) where one holds it,
else to what numba has kept on disk (`cache`), or compiles. A part is compiled within the kernels
that call it (`linking`). Neither imports numba before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from threading import RLock
from typing import Any, ClassVar, cast

from reusewatch.detector.compiling import image

# A kernel that is made makes those that it calls.
_making = RLock()


class Kernel(partial[Any]):
    """A kernel. To be called takes it no longer than what it is bound to: `partial` is C."""

    every: ClassVar[list[Kernel]] = []
    """All kernels of the modules that were imported."""

    name: str
    _made: Any
    _given: tuple[Any, ...]

    def __new__(
        cls, function: Callable[..., Any], signature: Any, options: Mapping[str, Any]
    ) -> Kernel:
        """Without a signature, that of the first call counts."""
        self = super().__new__(cls, function)
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.__doc__, self._made = function.__doc__, None
        self._given = function, signature, options
        self._bind(self._called_first)
        cls.every.append(self)
        return self

    def __reduce__(self) -> Any:
        # numba keeps what closes over a kernel under what the kernel is pickled to.
        return _named, (self.name,)

    def _bind(self, called: Callable[..., Any]) -> None:
        cast(Any, super()).__setstate__((called, (), {}, self.__dict__))

    def _called_first(self, *arguments: Any) -> Any:
        self._bind(image.find(self.name) or self.dispatcher)
        return self.func(*arguments)

    @property
    def dispatcher(self) -> Any:
        """numba's own, made when it is asked for."""
        return self.make()

    def make(self) -> Any:
        """Have numba load it, or compile it."""
        with _making:
            if self._made is None:
                from reusewatch.detector.compiling.cache import kept  # numba

                self._made = kept(*self._given)
            return self._made

    @property
    def compiled(self) -> Any:
        """What numba compiled or loaded in this process, if it did."""
        return None if self._made is None else self._made.overloads

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where another kernel calls it."""
        return self.dispatcher._numba_type_


def _named(name: str) -> Kernel:
    return next(one for one in Kernel.every if one.name == name)


class Part:
    """A part, until a kernel is compiled that calls it."""

    def __init__(self, function: Callable[..., Any], *given: Any) -> None:
        self.__doc__, self._function = function.__doc__, function
        self._given = given
        self._made: Any = None

    def __call__(self, *_: Any) -> Any:
        raise TypeError(f"{self._function.__name__} is called by kernels only, not from Python")

    @property
    def _numba_type_(self) -> Any:
        with _making:
            if self._made is None:
                from reusewatch.detector.compiling.linking import linked  # numba

                self._made = linked(self._function, *self._given)
            return self._made._numba_type_


def make_all() -> None:
    """Have numba make every kernel that was imported and is in no image."""
    for kernel in Kernel.every:
        if not image.holds(kernel.name):
            kernel.make()
