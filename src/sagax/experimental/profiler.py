"""Read from profiles what the compiler can learn from them.

>>> from sagax.experimental import profiler
>>> profiler.get_profiled_instructions_proto.__name__
'get_profiled_instructions_proto'
"""

from __future__ import annotations

import os

from sagax._src import xla

__all__ = ["get_profiled_instructions_proto"]


def get_profiled_instructions_proto(tensorboard_dir: str | os.PathLike[str]) -> bytes:
    """Return the costs of instructions that a profile measured, as a serialized ProfiledInstructionsProto.

    Args:
      tensorboard_dir: the folder of the profile, with its file `.xplane.pb`.

    Raises RuntimeError if the folder has no profile.
    """
    return xla.profiler.profiled_instructions(os.fspath(tensorboard_dir))
