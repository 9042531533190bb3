"""The cache of compiled programs on disk: where it is, what it holds, emptying it.

It is on by default, in the user's cache directory. The option `enable_compilation_cache` switches it
off, `compilation_cache_dir` (or the environment variable SAGAX_CACHE_DIR) says where it is.
"""

from __future__ import annotations

import os

from sagax._src import config as _config
from sagax._src.runtime import compilation_cache as _cache

Statistics = _cache.Statistics


def set_cache_dir(path: str | os.PathLike[str]) -> None:
    """Keep compiled programs in this folder from now on, which is made when the first one is kept.

    >>> import sagax
    >>> from sagax.experimental.compilation_cache import compilation_cache
    >>> before = sagax.config.compilation_cache_dir
    >>> compilation_cache.set_cache_dir("/tmp/programs-of-mine")
    >>> sagax.config.compilation_cache_dir
    '/tmp/programs-of-mine'
    >>> sagax.config.update("compilation_cache_dir", before)
    """
    _config.update("compilation_cache_dir", path)


def reset_cache() -> None:
    """Keep compiled programs in the default folder again; what is kept elsewhere stays there.

    >>> import sagax
    >>> from sagax.experimental.compilation_cache import compilation_cache
    >>> before = sagax.config.compilation_cache_dir
    >>> compilation_cache.reset_cache()
    >>> sagax.config.compilation_cache_dir is None
    True
    >>> sagax.config.update("compilation_cache_dir", before)
    """
    _config.update("compilation_cache_dir", None)


def clear() -> int:
    """Remove all programs from the folder that is in use; how many there were.

    Raises OSError where the folder cannot be used.

    >>> from sagax.experimental.compilation_cache import compilation_cache
    >>> compilation_cache.clear() >= 0
    True
    """
    return _cache.clear()


def statistics() -> Statistics:
    """How many programs this process loaded, compiled and stored, and what the folder holds.

    The fields: `folder` (None: the cache is off), `loaded`, `compiled`, `stored`, `refused` (entries that
    were damaged or that others could have written), `seconds_saved`, `entries` and `size` in bytes.

    >>> from sagax.experimental.compilation_cache import compilation_cache
    >>> compilation_cache.statistics().loaded >= 0
    True
    """
    return _cache.statistics()


__all__ = ["Statistics", "clear", "reset_cache", "set_cache_dir", "statistics"]
