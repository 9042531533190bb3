"""Find random keys that are used twice: the option `debug_key_reuse`.

>>> import sagax
>>> with sagax.debug_key_reuse(True):
...     key = sagax.random.key(0)
...     x = sagax.random.normal(key)
"""

from sagax._src.config import debug_key_reuse
from sagax._src.diagnostics.errors import KeyReuseError

__all__ = ["KeyReuseError", "debug_key_reuse"]
