"""Name the kinds of memory that arrays are in.

>>> import sagax
>>> sagax.typeof(sagax.numpy.ones(3)).memory_space is sagax.memory.Space.Device
True
"""

from sagax._src.core.avals import Space

__all__ = ["Space"]
