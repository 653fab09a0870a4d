"""One signature of a function, and no other.

numba compiles a function for whatever types it is called with. Here the signature is said when the
function is made, and holds from then on.
"""

from __future__ import annotations

from typing import Any

from numba.core import typeinfer
from numba.core.compiler_lock import global_compiler_lock

# numba's compiler is not typed.
# mypy: disable-error-code="no-untyped-call"


def declared(dispatcher: Any, signature: Any) -> Any:
    """The same, compiled or loaded for this signature."""
    with global_compiler_lock, typeinfer.register_dispatcher(dispatcher):
        dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher
