"""Show how small libraries are built: `optimizers` and `stax` (networks).

They are examples, and complete enough for small programs; for larger ones there are optax and flax.

>>> from sagax.example_libraries import optimizers
>>> init, update, get = optimizers.sgd(0.1)
>>> float(get(update(0, 2.0, init(1.0))))
0.8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names

if TYPE_CHECKING:
    from sagax.example_libraries._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
