"""Implement the deprecated `xla_computation`: functions as HLO."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sagax._src.api import arguments
from sagax._src.api.jit import jit
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.diagnostics.wording import bilingual


def xla_computation(
    fun: Callable,
    static_argnums: Any = (),
    axis_env: Any = None,
    in_parts: Any = None,
    out_parts: Any = None,
    backend: str | None = None,
    tuple_args: bool = False,
    instantiate_const_outputs: bool | None = None,
    return_shape: bool = False,
    donate_argnums: Any = (),
) -> Callable:
    """Return a function that gives the HLO computation of `fun` for its arguments. Deprecated.

    Use `jit(fun).lower(...).as_text("hlo")` for the text and `.compiler_ir("hlo")` for the object.
    With `return_shape` the result is (computation, shapes and dtypes of the output). The other
    options of jax are accepted and have no effect.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     computation = sagax.xla_computation(lambda x: x + 1)(1.0)
    >>> "add" in computation.as_hlo_text()
    True
    """
    text = 'xla_computation is deprecated: use jit(fun).lower(...).compiler_ir("hlo")'
    warnings.warn(bilingual(text), DeprecationWarning, stacklevel=2)
    arguments.check_callable(fun, "xla_computation")
    jitted = jit(
        fun,
        static_argnums=static_argnums or None,
        donate_argnums=donate_argnums or None,
        keep_unused=True,
        backend=backend,
    )

    @wraps(fun)
    def make(*args: Any, **kwargs: Any) -> Any:
        lowered = jitted.lower(*args, **kwargs)
        computation = lowered.compiler_ir("hlo")
        return (computation, lowered.out_info) if return_shape else computation

    return make
