"""Provide `pjit`, an older name of `jit` with positional options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.api.jit import jit

__all__ = ["pjit"]


def pjit(
    fun: Callable[..., Any],
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: Any = None,
) -> Any:
    """Apply `jit(fun, in_shardings=in_shardings, out_shardings=out_shardings, ...)`.

    >>> from sagax.experimental.pjit import pjit
    >>> pjit(lambda x: x + 1)(1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return jit(
        fun,
        in_shardings=in_shardings,
        out_shardings=out_shardings,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=donate_argnums,
        donate_argnames=donate_argnames,
        keep_unused=keep_unused,
        device=device,
        backend=backend,
        inline=inline,
        compiler_options=compiler_options,
    )
