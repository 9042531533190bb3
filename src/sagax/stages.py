"""Stage a function: from `jit(f)` by `.trace(...)` and `.lower()` to `.compile()`.

>>> import sagax
>>> import sagax.numpy as snp
>>> from sagax import stages
>>> lowered = sagax.jit(snp.sin).lower(1.0)
>>> isinstance(lowered, stages.Lowered), isinstance(lowered.compile(), stages.Compiled)
(True, True)
"""

from typing import Any

from sagax._src.api.jit import JitFunction as Wrapped
from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct as OutInfo
from sagax._src.api.stages import ArgInfo
from sagax._src.api.stages import CompiledStage as Compiled
from sagax._src.api.stages import LoweredStage as Lowered
from sagax._src.api.stages import TracedStage as Traced

CompilerOptions = dict[str, Any]
