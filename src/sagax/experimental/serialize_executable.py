"""Compiled functions as bytes, which later processes on the same kind of machine load instead of compiling.

`sagax.export` writes programs that last, for other machines and versions; these are machine code.
"""

from __future__ import annotations

from sagax._src.api.serialize_executable import load as deserialize_and_load
from sagax._src.api.serialize_executable import save as serialize

__all__ = ["deserialize_and_load", "serialize"]
