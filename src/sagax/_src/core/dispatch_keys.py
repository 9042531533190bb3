"""Build the keys of the dispatch caches.

A cache entry holds an executable and all decisions of its dispatch. Its key is

    (tree, settings, *avals, placement, *statics)

- `tree`: the pytree structure of the arguments; left out where arrays are passed by position.
- `settings`: all of them, not only those that affect staging. An entry also applies `debug_nans`,
  transfers operands (`default_device`), and resolves shardings (`mesh`).
- `avals`: shape, dtype, weak type and sharding of each operand.
- `placement`: the devices that operands are committed to; left out where they are uncommitted.
- `statics`: static arguments, or parameters of a primitive, each as a pair with its name.

A trace has no placement and depends on staged settings only, but also on the named axes in scope;
`trace_key` makes its key. `executable_key` is for the executable of a jaxpr.

| cache | key |
|---|---|
| `jit`: calls; also of `pmap`, `Exported.call` and `eager_transforms` | `call_key`; statics by `call_operands.static_part`, which distinguishes 1 from 1.0 |
| `jit`: traces | `trace_key`, with the policy for stale reads |
| `eager`: the entries of a primitive | `call_key`; statics are its parameters |
| `numpy/_fused`: composite functions | `call_key`; statics are keywords, or (type, value) of arguments by position |
| `eager_transforms`: facts about a transformation | `call_key` without placement, which the inner `jit` adds; Python numbers as (type, text) |
| `trace_cache`: traced bodies | `trace_key` of function identities |
| `compile.run_jaxpr`: executables of a jaxpr | `executable_key` |

The fastest call paths build the same tuple inline, as calling `call_key` would add a tenth to their
time. `tests/core/test_dispatch_keys.py` changes each ingredient for each cache.
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
    """Key the entry of a call. The fastest call paths build this tuple inline."""
    nesting = () if tree is None else (tree,)
    placements = () if placement is None else (placement,)
    return (*nesting, _thread.settings, *avals, *placements, *statics)


def trace_key(*what: Any) -> tuple:
    """Key the trace of a signature, which `what` describes."""
    return (*what, _thread.settings.key, axis_environment())


def executable_key(placement: Any) -> tuple:
    """Key the executable of a jaxpr, in the memo of that jaxpr."""
    return (memo_keys.COMPILED, placement, _thread.settings.key)
