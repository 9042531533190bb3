"""Implement `platform_dependent`: choose a branch by platform when lowering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks.functions import check_function
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import set_zero_derivative
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.higher_order.cond import switch_on
from sagax._src.primitives.unsupported import UnsupportedError

# The index of the set of platforms that has the target platform; None fits any.
platform_index_p = Primitive("platform_index", family=OPAQUE, is_higher_order=True)


@platform_index_p.abstract
def _(*, platforms: tuple) -> Any:
    return intern_aval((), dtypes.int32, False, None)


set_zero_derivative(platform_index_p)


@platform_index_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, platforms: tuple) -> tuple:
    return platform_index_p.bind(platforms=platforms), None


@platform_index_p.lower
def _(b: Any, *, platforms: tuple) -> Any:
    for i, names in enumerate(platforms):
        if names is None or b.module.platform in names:
            return b.constant(np.int32(i))
    named = ", ".join(name for names in platforms for name in names)
    raise UnsupportedError(
        f"platform_dependent has no function for the platform '{b.module.platform}'",
        function="platform_dependent",
        got=f"functions for {named}",
        fix="give it one as default=",
    )


_ALIASES = {"gpu": ("cuda", "rocm")}


def platform_dependent(
    *args: Any, default: Callable | None = None, **per_platform: Callable
) -> Any:
    """Return `per_platform[platform](*args)` for the platform that runs the executable, else `default(*args)`.

    All functions are traced, and must return the same structure, shapes and dtypes. The platform is known at
    compile time, which for an exported function is on another machine.

    Args:
      args: pytrees of arrays.
      per_platform: a function for each platform by name: cpu, cuda, rocm, tpu; gpu is any GPU.
      default: for all other platforms. Without it, compiling for them is an error.

    >>> from sagax import lax
    >>> int(lax.platform_dependent(3, cpu=lambda x: x + 1, default=lambda x: x - 1))
    4
    """
    if not per_platform and default is None:
        raise ArgumentError(
            function="platform_dependent",
            argument="default",
            got=None,
            expected="a function, since there is none for any platform",
        )
    functions = dict(per_platform)
    if default is not None:
        functions["default"] = default
    for name, f in functions.items():
        check_function(
            f,
            f"lax.platform_dependent: the '{name}' branch must be a callable.",
            "platform_dependent",
            name,
        )
    platforms: tuple = tuple(_ALIASES.get(name, (name,)) for name in per_platform)
    if default is not None:
        platforms = (*platforms, None)
    index = platform_index_p.bind(platforms=platforms)
    return switch_on("platform_dependent", index, list(functions.values()), args, tuple(functions))
