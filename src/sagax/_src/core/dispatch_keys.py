"""Key the caches of dispatch: say once what decides which entry a call gets.

A call's entry holds an executable with all decisions taken. Its key is

    (tree, settings, *avals, placement, *statics)

- `tree`: how the arguments nest; left out where arrays are passed by position.
- `settings`: all of them, not the staged ones only. An entry also does what is asked for at each call
  (`debug_nans`), puts operands somewhere (`default_device`), and resolves shardings (`mesh`).
- `avals`: shape, dtype, weak type and sharding of each operand.
- `placement`: the device or devices that operands are committed to; left out where they are not.
- `statics`: arguments, or parameters of a primitive, that are constants of the executable, each as a
  pair with its name.

A trace has no placement and depends on staged settings alone, but on the named axes around it too;
`trace_key` makes its key. `executable_key` is for what XLA made of one jaxpr.

| cache | key |
|---|---|
| `jit`: calls; `pmap`, `Exported.call` and `eager_transforms` by way of it | `call_key`; statics as `_Static`, which tells 1 from 1.0 |
| `jit`: traces | `trace_key`, with how stale reads are treated |
| `eager`: the entries of a primitive | `call_key`; statics are its parameters |
| `numpy/_fused`: composite functions | `call_key`; statics are keywords, or (type, value) of arguments by position |
| `eager_transforms`: what is known of a transformation | `call_key` without placement, which the `jit` inside adds; Python numbers as (type, text) |
| `trace_cache`: traced bodies | `trace_key` of what functions mean |
| `compile.run_jaxpr`: executables of a jaxpr | `executable_key` |

The shortest call paths write the same tuple in place, as a call of `call_key` would cost them a tenth
of their time. `tests/core/test_dispatch_keys.py` changes each ingredient for each cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sagax._src import config
from sagax._src.core import memo_keys
from sagax._src.core.trace import axis_environment

_thread = config.thread


def call_key(
    avals: Iterable[Any], placement: Any, statics: Iterable[Any], tree: Any = None
) -> tuple:
    """Key the entry of a call. The shortest call paths write this tuple themselves."""
    nesting = () if tree is None else (tree,)
    placed = () if placement is None else (placement,)
    return (*nesting, _thread.settings, *avals, *placed, *statics)


def trace_key(*what: Any) -> tuple:
    """Key what tracing gives for a signature, which `what` describes."""
    return (*what, _thread.settings.key, axis_environment())


def executable_key(placement: Any) -> tuple:
    """Key the executable of a jaxpr, in the memo of that jaxpr."""
    return (memo_keys.COMPILED, placement, _thread.settings.key)
