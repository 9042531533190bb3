"""Inspect values inside compiled and transformed functions.

>>> import sagax
>>> @sagax.jit
... def f(x):
...     sagax.debug.print("x = {x}", x=x)
...     return x + 1
>>> f(1.5)
x = 1.5
Array(2.5, dtype=float32, weak_type=True)
"""

from sagax._src.api.debug_print import debug_log as log
from sagax._src.api.debug_print import debug_print as print
from sagax._src.api.debugger import breakpoint
from sagax._src.api.sharding_pictures import (
    inspect_array_sharding,
    visualize_array_sharding,
    visualize_sharding,
)
from sagax._src.callbacks.callbacks import debug_callback as callback
