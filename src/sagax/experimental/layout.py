"""How arrays lie in memory.

>>> import sagax.numpy as np
>>> np.ones((2, 3)).format.layout
Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=0)
"""

from __future__ import annotations

from sagax._src.core.layouts import Format, Layout

__all__ = ["Format", "Layout"]
