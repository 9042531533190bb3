"""The composition root: plugs the runtime and the methods of arrays into core's sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sagax.numpy._methods as _methods
from sagax._src import stacks
from sagax._src.control import call
from sagax._src.core import dims, trace, value
from sagax._src.diagnostics import hook
from sagax._src.later import later
from sagax._src.primitives import resharding, shaping
from sagax._src.runtime import array, compile, eager

if TYPE_CHECKING:
    import sagax._src.control.masks as masks
    import sagax._src.runtime.moving as moving
else:
    masks = later("sagax._src.control.masks", globals())
    moving = later("sagax._src.runtime.moving", globals())

trace.evaluation.evaluate = eager.evaluate
value.sockets.concrete = staticmethod(array.as_array)
value.sockets.masks_over = staticmethod(lambda trace: masks.masks_over(trace))
call.jit_p.impl = compile.run_jaxpr
resharding.reshard_p.impl = lambda x, sharding: moving.constrain(x, sharding=sharding)
resharding.sharding_constraint_p.impl = resharding.reshard_p.impl
resharding.forget_p.impl = lambda x, mesh: moving.forget(x, mesh=mesh)
_methods.install(value.Array)
dims.set_dim_as_value(shaping.size_as_value)
dims.set_locator(stacks.stack)
hook.install()
