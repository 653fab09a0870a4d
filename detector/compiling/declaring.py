"""One signature of a function, compiled or loaded when it is wanted first.

numba compiles a function for a signature at once, or for whatever types it is called with. Here the
signature is said when the function is made, and holds from then on; what becomes machine code, and
when, is left to the first call, from Python or within a kernel. A command calls few of the kernels
whose modules it imports, and loading those it does not call took a fifth of its start.

What this module holds on to in numba: a dispatcher that knows no machine code asks
`_compile_for_args` for what to call, and one that is called within another function is asked by
`get_call_template`. Both are asked of the object: what that was given stands before its class.
"""

from __future__ import annotations

from typing import Any

from numba.core import typeinfer
from numba.core.compiler_lock import global_compiler_lock

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"


def declared(dispatcher: Any, signature: Any) -> Any:
    """The same, for this signature and no other."""
    template = dispatcher.get_call_template

    def within(args: Any, kws: Any) -> Any:
        make(dispatcher, signature)
        return template(args, kws)

    def called(*_: Any) -> Any:
        make(dispatcher, signature)
        # Called once more: now it looks whether these are the types that were declared.
        return dispatcher

    dispatcher.get_call_template = within
    dispatcher._compile_for_args = called
    return dispatcher


_waiting: list[tuple[Any, Any]] = []


def left_to_calls(dispatcher: Any, signature: Any) -> None:
    """It is made when it is called, or by `make_all`."""
    _waiting.append((dispatcher, signature))


def make_all() -> None:
    """Have the machine code of all that waits for a call: whoever forks loads it once for all."""
    while _waiting:
        make(*_waiting.pop())


def make(dispatcher: Any, signature: Any) -> None:
    """Have the machine code, unless it is there."""
    if dispatcher.overloads:
        return
    # Two threads may call it at once: for the second it is there, and nothing more is taken.
    with global_compiler_lock, typeinfer.register_dispatcher(dispatcher):
        if not dispatcher.overloads:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
