"""Lower a jaxpr to one module for several platforms, which chooses among them when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.lowering.builder import Builder, Value
from sagax._src.lowering.module import ModuleBuilder, Shardings, lower_jaxpr, main_attributes
from sagax._src.lowering.text import type_text

_INDEX = Value("%platform", intern_aval((), np.dtype(np.int32), False, None))
# jax's name for the argument: those who run the module look for it
_ARGUMENT = f'{_INDEX.name}: {type_text(_INDEX.aval)} {{jax.global_constant = "_platform_index"}}'


def lower_for_platforms(
    jaxprs: Mapping[str, Jaxpr],
    *,
    name: str,
    donated: Sequence[int] = (),
    aliases: dict[int, int] | None = None,
    shardings: Shardings | None = None,
    inspected: list[Any] | None = None,
) -> tuple[str, list]:
    """Lower a jaxpr, prepared for each platform, to module text; return it with its host callbacks.

    The first argument of the module is the position of the platform in `jaxprs`. Platforms with equal modules share
    their operations; the others get a function each. The other arguments are those of `lower_jaxpr`.
    """
    groups: dict[str, list[str]] = {}  # by the text of the platform's own module
    for platform, jaxpr in jaxprs.items():
        text, _ = lower_jaxpr(
            jaxpr,
            platform=platform,
            name=name,
            donated=donated,
            aliases=aliases,
            shardings=shardings,
            bars=False,
        )
        groups.setdefault(text, []).append(platform)
    first = next(iter(jaxprs))
    module = ModuleBuilder(first, name, shardings.devices if shardings else ())
    if inspected is not None:
        module.inspected = inspected
    arg_attrs, result_attrs = main_attributes(module, jaxprs[first], donated, aliases, shardings)
    arguments = shardings.arguments if shardings else ()
    results = shardings.results if shardings else ()
    if len(groups) == 1:
        module.define(
            "main",
            jaxprs[first],
            private=False,
            arg_attrs=arg_attrs,
            result_attrs=result_attrs,
            argument_shardings=arguments,
            result_shardings=results,
            leading=[_ARGUMENT],
        )
        return module.text(), module.callbacks
    chosen: dict[str, str] = {}  # the function of each platform
    for platforms in groups.values():
        function = module.function_name(f"main_{'_'.join(platforms)}")
        chosen.update(dict.fromkeys(platforms, function))
        module.begin_platform(platforms[0])
        module.define(
            function,
            jaxprs[platforms[0]],
            private=True,
            argument_shardings=arguments,
            result_shardings=results,
            whole=True,
        )
    b, jaxpr = Builder(module), jaxprs[first]
    args = [Value(f"%arg{i}", v.aval) for i, v in enumerate(jaxpr.invars)]
    outs = [v.aval for v in jaxpr.outvars]
    branches = [
        b.region([], lambda f=chosen[p]: b.op("func.call", args, outs, callee=f"@{f}"))
        for p in jaxprs
    ]
    found = b.op("case", [_INDEX], outs, regions=branches)
    module.append(b, "main", args, found, False, arg_attrs, result_attrs, [_ARGUMENT])
    return module.text(), module.callbacks
