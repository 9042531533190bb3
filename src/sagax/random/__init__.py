"""Draw random numbers from explicit PRNG keys; a key gives the same numbers on every device.

Make a key from a seed with `key`, and more keys from one with `split` or `fold_in`. Use each once.
Samplers take a key first, and return arrays of the given shape and dtype.

>>> from sagax import random
>>> key, part = random.split(random.key(42))
>>> random.uniform(part, (2,)).shape
(2,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names
from sagax.random._basic import bernoulli, bits, normal, rademacher, randint, uniform
from sagax.random._keys import (
    Key,
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)

if TYPE_CHECKING:
    from sagax.random._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
