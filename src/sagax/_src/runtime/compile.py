"""From a jaxpr to an executable, and running it on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sagax._src import config, xla
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.lowering.module import lower_jaxpr
from sagax._src.lowering.ordering import in_order
from sagax._src.lowering.text import physical
from sagax._src.runtime import devices, pending
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.key_reuse import watch
from sagax._src.transforms.prune import prune_jaxpr, used_inputs

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Lowered:
    """The StableHLO text of a jaxpr for a platform; `kept` tells which inputs it takes."""

    __slots__ = ("callbacks", "donated", "jaxpr", "kept", "name", "platform", "text")

    def __init__(
        self,
        jaxpr: Jaxpr,
        platform: str,
        name: str,
        *,
        keep_unused: bool = False,
        donated: Sequence[int] = (),
    ) -> None:
        jaxpr = prune_jaxpr(jaxpr)
        used = used_inputs(jaxpr)
        self.kept: tuple[int, ...] | None = None
        if not keep_unused and not all(used):
            self.kept = tuple(i for i, u in enumerate(used) if u)
            jaxpr = jaxpr.replace(invars=[jaxpr.invars[i] for i in self.kept])
        if jaxpr.effects:
            jaxpr = in_order(jaxpr)
        order = {old: new for new, old in enumerate(self.kept)} if self.kept is not None else None
        self.donated = tuple(donated)
        inner = [i if order is None else order[i] for i in donated if order is None or i in order]
        self.jaxpr = jaxpr
        self.platform = platform
        self.name = name
        self.text, self.callbacks = lower_jaxpr(jaxpr, platform=platform, name=name, donated=inner)


class Compiled:
    """An executable for one device. `run` takes and returns buffers."""

    __slots__ = ("device", "executable", "kept", "lowered", "out_avals", "run")

    def __init__(self, lowered: Lowered, device: Any, options: Mapping[str, Any] = _NONE) -> None:
        b = devices.backend_of(device)
        stored = [physical(a) for a in lowered.jaxpr.out_avals]
        if b.platform == "cpu" and (
            '"lapack_' in lowered.text or '"tridiagonal_solve_perturbed_ffi"' in lowered.text
        ):
            xla.register_cpu_kernels()
        self.executable = xla.compile(
            b.client,
            lowered.text,
            [device],
            options=options,
            callbacks=lowered.callbacks,
            out_avals=[(a.shape, a.dtype) for a in stored],
        )
        effects = lowered.jaxpr.effects
        self.run = self.executable.run if not effects else pending.run(self.executable, effects)
        self.kept = lowered.kept
        self.out_avals = lowered.jaxpr.out_avals
        self.lowered = lowered
        self.device = device


def placement(arrays: Sequence[ConcreteArray]) -> Any:
    """The device the arrays are committed to, or None. They must agree."""
    found, first = None, 0
    for i, x in enumerate(arrays):
        device = x._device
        if device is not None and device is not found:
            if found is not None:
                raise ArgumentValueError(
                    f"Received incompatible devices for jitted computation: operand {first} is committed to {found}, "
                    f"operand {i} to {device}",
                    fix=f"move one of them: sagax.device_put(x, {device!r})",
                )
            found, first = device, i
    return found


def buffers_on(arrays: Sequence[ConcreteArray], device: Any) -> list:
    """The buffers of arrays on one device; uncommitted ones that lie elsewhere are copied."""
    out = []
    for x in arrays:
        buffer = x.buffer()
        if xla.device_of(buffer) != device:
            buffer = xla.put(x.host(), device, share=True)
        out.append(buffer)
    return out


def execute(
    compiled: Compiled, arrays: Sequence[ConcreteArray], committed: Any
) -> list[ConcreteArray]:
    """Run on arrays; the results, committed where an operand was."""
    if compiled.kept is not None:
        arrays = [arrays[i] for i in compiled.kept]
    try:
        outs = compiled.run(buffers_on(arrays, compiled.device))
    except (xla.EngineError, xla.DeletedBufferError) as error:
        raise explained(error, arrays) from None
    return [
        ConcreteArray(a, None, b, committed) for a, b in zip(compiled.out_avals, outs, strict=True)
    ]


def explained(error: BaseException, arrays: Sequence[ConcreteArray]) -> BaseException:
    """The error to show for a failed run: a deleted operand by name, a callback's own exception."""
    for x in arrays:
        if x.is_deleted():
            return x._gone()
    return xla.original_error(error)


def run_jaxpr(*args: Any, jaxpr: ClosedJaxpr, name: str = "call", **_: Any) -> list[ConcreteArray]:
    """Evaluate the jit primitive on concrete operands."""
    arrays = [as_array(a) for a in args]
    committed = placement(arrays)
    device = committed if committed is not None else devices.default_device()
    inner = jaxpr.jaxpr
    key = ("compiled", device, config.thread.settings.key)
    compiled = inner.memo.get(key)
    if compiled is None:
        lowered = Lowered(inner, devices.backend_of(device).platform, name)
        compiled = inner.memo[key] = Compiled(lowered, device)
    if not config.thread.settings.debug_key_reuse:
        return execute(compiled, arrays, committed)
    return watch.watched_program(lambda xs: execute(compiled, xs, committed), inner)(arrays)
