"""Manage the cache of executables on disk: set its folder, list statistics, clear it.

It is on by default, in the user's cache directory. The option `enable_compilation_cache` disables it;
`compilation_cache_dir` (or the environment variable SAGAX_CACHE_DIR) is its folder.
"""

from __future__ import annotations

import os

from sagax._src import config as _config
from sagax._src.runtime import compilation_cache as _cache

Statistics = _cache.Statistics


def set_cache_dir(path: str | os.PathLike[str]) -> None:
    """Set the folder of the cache. It is created when the first executable is stored.

    >>> before = sagax.config.compilation_cache_dir
    >>> compilation_cache.set_cache_dir("/tmp/programs-of-mine")
    >>> sagax.config.compilation_cache_dir
    '/tmp/programs-of-mine'
    >>> sagax.config.update("compilation_cache_dir", before)
    """
    _config.update("compilation_cache_dir", path)


def reset_cache() -> None:
    """Reset the cache to the default folder. Executables in other folders remain there.

    >>> before = sagax.config.compilation_cache_dir
    >>> compilation_cache.reset_cache()
    >>> sagax.config.compilation_cache_dir is None
    True
    >>> sagax.config.update("compilation_cache_dir", before)
    """
    _config.update("compilation_cache_dir", None)


def clear() -> int:
    """Remove all executables from the current folder, and return their number.

    Raises OSError if the folder is not accessible.

    >>> compilation_cache.clear() >= 0
    True
    """
    return _cache.clear()


def statistics() -> Statistics:
    """Return the counts of executables loaded, compiled and stored, and the folder's contents.

    The fields: `folder` (None: the cache is off), `loaded`, `compiled`, `stored`, `refused` (entries that
    were corrupt or writable by others), `seconds_saved`, `entries` and `size` in bytes.

    >>> compilation_cache.statistics().loaded >= 0
    True
    """
    return _cache.statistics()


__all__ = ["Statistics", "clear", "reset_cache", "set_cache_dir", "statistics"]
