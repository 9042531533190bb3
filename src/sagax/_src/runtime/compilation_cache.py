"""Cache executables on disk, for later processes.

The key of an executable is its module text without source locations, the compiler options, the version of
XLA, the processor's features and the number of devices. `store` keeps the entries. An entry has to pay: one
that took longer to load than half of its compilation is marked, and always compiled later.
"""

from __future__ import annotations

import functools
import os
import re
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sagax._src import config, fork_locks, tuning, xla
from sagax._src.diagnostics.wording import bilingual
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime import map_limit
from sagax._src.runtime.compile_threads import run_on_worker
from sagax._src.runtime.disk_store import Entry, Refused, Store, Summary

if TYPE_CHECKING or lazy_imports():
    import hashlib


_FORMAT = "1"
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})
# Every operation ends in its location, and the locations themselves end the text.
_LOCATION = re.compile(r" loc\(#loc\d+\)$|^#loc.*\n", re.MULTILINE)

_lock = fork_locks.lock()
_counts: Counter[str] = Counter()
_saved = 0.0
_warned = False


class Origin(NamedTuple):
    """Record the origin of an executable: "loaded" from disk or "compiled", why, and the seconds it took."""

    source: str
    why: str
    seconds: float


class Statistics(NamedTuple):
    """Count the uses of the disk cache in this process, and describe its contents."""

    folder: str | None
    loaded: int
    compiled: int
    stored: int
    refused: int
    seconds_saved: float
    entries: int
    size: int


def compiled(
    client: Any,
    module: str,
    devices: Sequence[Any],
    *,
    name: str = "",
    options: Mapping[str, Any] = _NONE,
    callbacks: Sequence[Any] = (),
    out_avals: Sequence[Any] | None = None,
    num_replicas: int = 1,
    num_partitions: int = 1,
    shardy: bool = False,
) -> tuple[xla.executable.Executable, Origin]:
    """Compile the module for the devices, or load it from the cache; return also its origin.

    Arguments as of `xla.compiler.compile`; `name` is the executable's name in explanations.
    """
    how = {"num_replicas": num_replicas, "num_partitions": num_partitions, "shardy": shardy}
    map_limit.make()

    def compile_now() -> xla.executable.Executable:
        return run_on_worker(
            lambda: xla.compiler.compile(
                client,
                module,
                devices,
                options=options,
                callbacks=callbacks,
                out_avals=out_avals,
                **how,
            )
        )

    settings = config.current()
    store, off = _select_store(settings)
    start = time.perf_counter()
    if len(devices) > 1:
        # a loaded executable depends on the processes and devices that it was sharded over
        store, off = None, "it runs on several devices"
    elif xla.compiler.is_described(client):
        store, off = None, "its device is only described"
    if store is None:
        return compile_now(), _noted("compiled", off, start)
    parts = _parts(client, module, options, {**how, "devices": len(devices)})
    key = _digest(*parts.values())
    entry, why = _found(store, key, settings)
    if entry is not None and not entry.payload:
        return compile_now(), _noted("compiled", "loading it takes as long as compiling", start)
    if entry is not None:
        begun = time.thread_time()
        try:
            executable = xla.compiler.deserialize(
                client, entry.payload, devices, out_avals, callbacks, num_replicas=num_replicas
            )
        except (xla.EngineError, ValueError) as error:
            why = f"its entry could not be loaded: {error}"
        else:
            _judge(store, key, entry, time.thread_time() - begun, settings)
            return executable, _noted("loaded", "", start, entry.facts["seconds"])
    executable = compile_now()
    took = time.perf_counter() - start
    if took >= settings.persistent_cache_min_compile_time_secs:
        facts = {"name": name, "seconds": took, **parts}
        _keep(store, key, facts, executable, settings)
    if settings.explain_cache_misses and not why:
        why = _explained(store, name, parts)
    return executable, _noted("compiled", why or "it was not compiled before", start)


def statistics() -> Statistics:
    """Return the counts of this process, and a summary of the cache."""
    store, _ = _select_store(config.current())
    summary = Summary(0, 0)
    if store is not None:
        try:
            summary = store.summary()
        except (OSError, Refused):
            store = None
    with _lock:
        return Statistics(
            None if store is None else store.folder,
            _counts["loaded"],
            _counts["compiled"],
            _counts["stored"],
            _counts["refused"],
            _saved,
            summary.count,
            summary.size,
        )


def clear() -> int:
    """Remove all executables from the disk cache; return their number.

    Raises OSError or Refused if the folder is not usable.
    """
    store, _ = _select_store(config.current(), even_if_off=True)
    return 0 if store is None else store.clear().count


def report(*, clear_first: bool = False) -> str:
    """Describe the folder of the cache and its size, in words."""
    store, off = _select_store(config.current(), even_if_off=True)
    if store is None:
        return f"Compiled programs are not kept: {off}."
    try:
        removed = f"Removed {store.clear().count} programs.\n" if clear_first else ""
        summary = store.summary()
    except (OSError, Refused) as error:
        return f"Compiled programs cannot be kept in {store.folder}: {error}."
    on = "" if config.current().enable_compilation_cache else " (the cache is off)"
    return f"{removed}{store.folder}{on}: {summary.count} programs, {summary.size / 1e6:.1f} MB"


# -- the folder ---------------------------------------------------------------------------------------


def _select_store(settings: Any, *, even_if_off: bool = False) -> tuple[Store | None, str]:
    """Return the store to use, or None and the reason."""
    if os.name != "posix":
        return None, "the cache on disk needs owners and modes of files"
    if not even_if_off:
        if not settings.enable_compilation_cache:
            return None, "the cache on disk is off"
        if "xla_dump" in os.environ.get("XLA_FLAGS", ""):
            return None, "XLA_FLAGS asks for files that are written by compiling"
    base = settings.compilation_cache_dir or _default_folder()
    if base is None:
        return None, "there is no folder for it"
    return _store(os.path.join(os.path.expanduser(base), f"programs-{os.geteuid()}")), ""


@functools.lru_cache(maxsize=64)
def _store(folder: str) -> Store:
    return Store(folder)


def _default_folder() -> str | None:
    known = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(known):
        return os.path.join(known, "sagax")
    try:
        return str(Path.home() / ".cache" / "sagax")
    except RuntimeError:  # no home directory
        return None


# -- keys -----------------------------------------------------------------------------------------


def _digest(*texts: str) -> str:
    digest = hashlib.blake2b(digest_size=24)
    for text in texts:
        data = text.encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def _parts(client: Any, module: str, options: Mapping[str, Any], how: dict) -> dict[str, str]:
    """Collect the components of the key; a miss is explained by the differing ones."""
    flags = sorted((name, repr(value)) for name, value in options.items())
    surroundings = [os.environ.get("XLA_FLAGS", ""), repr(flags), repr(sorted(how.items()))]
    return {
        "program": _digest(_LOCATION.sub("", module)),
        "options": _digest(*surroundings),
        "engine": _engine(client),
        "processors": _digest(xla.client.parallelism(client)),
    }


@functools.lru_cache(maxsize=64)
def _engine(client: Any) -> str:
    return _digest(_FORMAT, xla.client.platform_fingerprint(client))


# -- entries --------------------------------------------------------------------------------------


def _found(store: Store, key: str, settings: Any) -> tuple[Entry | None, str]:
    """Return the entry of that key, or None and the reason."""
    try:
        return store.read(key), ""
    except Refused as reason:
        _count("refused")
        return None, f"its entry was not used: {reason}"
    except OSError as error:
        _failed(store, error, settings)
        return None, f"the cache on disk cannot be read: {error}"


def _keep(
    store: Store,
    key: str,
    facts: dict[str, Any],
    executable: xla.executable.Executable,
    settings: Any,
) -> None:
    try:
        payload = executable.serialize()
    except xla.EngineError:  # some executables have no serialized form
        return
    if len(payload) < settings.persistent_cache_min_entry_size_bytes:
        return
    try:
        store.write(key, facts, payload, settings.compilation_cache_max_size)
    except (OSError, Refused) as error:
        _failed(store, error, settings)
    else:
        _count("stored")


def _judge(store: Store, key: str, entry: Entry, took: float, settings: Any) -> None:
    """Mark an entry that does not pay, so that the next process compiles at once."""
    if took <= tuning.CACHE_MAX_LOADING_PART * entry.facts["seconds"]:
        return
    try:
        store.write(key, entry.facts, b"", settings.compilation_cache_max_size)
    except (OSError, Refused) as error:
        _failed(store, error, settings)


def _failed(store: Store, error: Exception, settings: Any) -> None:
    """Warn once that the cache does not work, if the user asked for it."""
    global _warned
    if settings.raise_persistent_cache_errors:
        raise error
    if settings.compilation_cache_dir and not _warned:
        _warned = True
        text = f"compiled programs are not kept in {store.folder}: {error}"
        warnings.warn(bilingual(text), RuntimeWarning, 2)


# -- accounting -----------------------------------------------------------------------------------


def _count(what: str) -> None:
    with _lock:
        _counts[what] += 1


def _noted(source: str, why: str, start: float, instead_of: float = 0.0) -> Origin:
    global _saved
    took = time.perf_counter() - start
    with _lock:
        _counts[source] += 1
        if source == "loaded":
            _saved += instead_of - took
    return Origin(source, why, took)


def _explained(store: Store, name: str, parts: dict[str, str]) -> str:
    """Explain a miss by the difference from the nearest entry of the same name."""
    words = {
        "engine": "the engine or the processor",
        "processors": "the number of processors",
        "options": "the options of the compiler",
        "program": "its program",
    }
    nearest: list[str] | None = None
    try:
        for facts in store.facts():
            if facts.get("name") != name or all(facts.get(k) == v for k, v in parts.items()):
                continue
            differing = [text for part, text in words.items() if facts.get(part) != parts[part]]
            if nearest is None or len(differing) < len(nearest):
                nearest = differing
    except (OSError, Refused):
        return ""
    if nearest is None:
        return f"no program named {name} was stored"
    return f"a program named {name} was stored, but {' and '.join(nearest)} changed since"
