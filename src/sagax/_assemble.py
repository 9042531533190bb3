"""Wire the layers: plug the runtime and the methods of arrays into the hooks of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sagax.numpy._methods as _methods
from sagax._src import source_stacks, xla
from sagax._src.core import dims, trace, value
from sagax._src.diagnostics import hook
from sagax._src.higher_order import call
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives import resharding, shaping
from sagax._src.runtime import array, compile, devices, eager

if TYPE_CHECKING or lazy_imports():
    from sagax._src.api import reference_writes
    from sagax._src.api import resharding as api_resharding
    from sagax._src.higher_order import lazy_masks
    from sagax._src.runtime import device_errors, device_put, forks
    from sagax.numpy._indexing import windows


trace.evaluation.evaluate = eager.evaluate
value.sockets.concrete = staticmethod(array.as_array)
value.sockets.enter_mask_trace = staticmethod(lambda trace: lazy_masks.enter_mask_trace(trace))
value.sockets.window = staticmethod(lambda start, size, stride: windows.Slice(start, size, stride))
value.sockets.is_window = staticmethod(lambda index: windows.is_window(index))
value.sockets.compiled_with_out_sharding = staticmethod(
    lambda function, op, operands, sharding: api_resharding.compiled_with_out_sharding(
        function, op, operands, sharding
    )
)
value.sockets.write_in_place = staticmethod(
    lambda ref, x, at, transforms, add: reference_writes.write(ref, x, at, transforms, add)
)
xla.set_explain_device(lambda error, executable: device_errors.explain(error, executable))
call.jit_p.impl = compile.run_jaxpr
resharding.reshard_p.impl = lambda x, sharding: device_put.constrain(x, sharding=sharding)
resharding.device_put_p.impl = lambda x, kind: device_put.move(x, kind=kind)
resharding.sharding_constraint_p.impl = resharding.reshard_p.impl
devices.detach_after_fork = lambda: forks.detach()
resharding.forget_p.impl = lambda x, mesh: device_put.forget(x, mesh=mesh)
_methods.install(value.Array)
dims.set_dim_as_value(shaping.size_as_value)
dims.set_locator(source_stacks.stack)
hook.install()
