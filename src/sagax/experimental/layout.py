"""Provide `Layout` and `Format`: the memory layout of arrays.

>>> import sagax.numpy as np
>>> np.ones((2, 3)).format.layout
Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=0)
"""

from sagax._src.core.layouts import Format, Layout
