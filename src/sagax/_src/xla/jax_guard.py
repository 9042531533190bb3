"""Keep jaxlib from importing jax."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from sagax._src import fork_locks

# The modules that jaxlib's C++ imports by itself, in the calls that `no_jax` guards.
JAX_MODULES = ("jax", "jax._src.literals", "jax._src.named_sharding", "jax._src.sharding_impls")
_lock = fork_locks.reentrant_lock()


@contextlib.contextmanager
def no_jax() -> Iterator[None]:
    """Keep jaxlib's hidden `import jax` from finding any jax but one that the user imported.

    A few functions of jaxlib import jax behind the caller's back. A `None` in `sys.modules` makes
    such an import fail at once, before any finder is asked, and jaxlib copes with that. The cases:

    - jax is not imported: its name is blocked for the duration. Else an installed jax would be
      loaded (seconds), or a finder that serves sagax under the name `jax` would be asked for it.
    - `sys.modules["jax"]` is an alias of sagax (it has an attribute `__sagax_alias__`): the alias,
      with the submodules that jaxlib asks for, is hidden for the duration and then put back.
    - the real jax is there: nothing is done, and jaxlib finds what it expects.

    An import of jax in another thread would fail within the window. So the window is kept short,
    and calls of jaxlib that need no guard are preferred everywhere.
    """
    with _lock:
        present = sys.modules.get("jax")
        if present is not None and not hasattr(present, "__sagax_alias__"):
            yield
            return
        hidden = {name: sys.modules[name] for name in JAX_MODULES if name in sys.modules}
        blocked: dict[str, Any] = dict.fromkeys(["jax", *hidden])
        sys.modules.update(blocked)
        try:
            yield
        finally:
            for name in blocked:
                if sys.modules.get(name) is None:
                    sys.modules.pop(name, None)
                    if name in hidden:
                        sys.modules[name] = hidden[name]
