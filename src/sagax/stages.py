"""The stages from a function to a compiled program: `jit(f)`, `.trace(...)`, `.lower()`, `.compile()`.

>>> import sagax, sagax.numpy as snp
>>> from sagax import stages
>>> lowered = sagax.jit(snp.sin).lower(1.0)
>>> isinstance(lowered, stages.Lowered), isinstance(lowered.compile(), stages.Compiled)
(True, True)
"""

from __future__ import annotations

from sagax._src.api.jit import CompiledStage as Compiled
from sagax._src.api.jit import JitFunction as Wrapped
from sagax._src.api.jit import LoweredStage as Lowered
from sagax._src.api.jit import TracedStage as Traced

__all__ = ["Compiled", "Lowered", "Traced", "Wrapped"]
