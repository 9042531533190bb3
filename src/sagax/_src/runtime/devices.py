"""Start backends on first use, one client per platform, and list their devices."""

from __future__ import annotations

import functools
import logging
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from sagax._src import config, fork_locks, xla
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError
from sagax._src.diagnostics.wording import bilingual
from sagax._src.languages.choice import worded
from sagax._src.runtime import working_memory
from sagax._src.runtime.distributed import process

_lock = fork_locks.reentrant_lock()
_log = logging.getLogger("sagax")
_backends: dict[str, Backend] = {}
_failures: dict[str, str] = {}
_refusal: SagaxError | None = None  # to start in this process, which was forked


class BackendError(SagaxError, RuntimeError):
    """A platform is missing or cannot be started."""

    code = "SX0201"


BackendError.__module__ = "sagax.errors"  # its public module


class Backend:
    """A platform that has been started."""

    __slots__ = ("client", "devices", "local_devices", "platform")

    def __init__(self, platform: str, client: Any) -> None:
        self.platform = platform
        self.client = client
        self.devices = tuple(client.devices())
        self.local_devices = tuple(client.local_devices())


# --- selected platforms --------------------------------------------------------------------------------

PLATFORMS: Final = ("cpu", "cuda", "gpu")
LOWERING_PLATFORMS: Final = (
    "cpu",
    "cuda",
    "rocm",
    "tpu",
)  # programs are lowered for more than run here
_ALIASES: Final = {"gpu": "cuda"}
# Platforms that libraries add: a function that starts the client, and the priority as default platform, where the
# CPU has 0 and CUDA 200.
_factories: dict[str, tuple[Callable[[], Any], int]] = {}
_DOCTOR: Final = "run `python -m sagax doctor`, which finds out why and says what to do"


def canonical_platform(name: str) -> str:
    """Return the platform of a public name: "gpu" is "cuda". Raises BackendError for an unknown name."""
    found = name.lower() if isinstance(name, str) else ""
    found = _ALIASES.get(found, found)
    if found not in PLATFORMS and found not in _factories:
        raise BackendError(
            f"Unknown backend {name!r}",
            expected="cpu or cuda (gpu means cuda)",
            fix="unset JAX_PLATFORMS, or set it to 'cpu'",
        )
    return found


def _selected_platforms() -> tuple[list[str], str]:
    """Return the platforms to use, the default one first, and the setting that chose them, if any."""
    settings = config.current()
    for name in ("platforms", "platform_name"):
        words = [p.strip() for p in (getattr(settings, name) or "").split(",")]
        if any(words):
            return [canonical_platform(p) for p in words if p], name
    own = [("cuda", 200)] if xla.cuda_wheels.plugin_available() else []
    added = [(name, priority) for name, (_, priority) in _factories.items() if priority > 0]
    ordered = sorted([*own, *added], key=lambda pair: -pair[1])
    return [*(name for name, _ in ordered), "cpu"], ""


def _start(platform: str) -> Backend:
    if _refusal is not None:
        raise _refusal.with_traceback(None)
    if platform in _factories:
        return Backend(platform, _factories[platform][0]())
    settings, together = config.current(), process.session()
    if platform == "cpu":
        count = settings.num_cpu_devices
        if count == 0 or count < -1:
            raise BackendError(
                f"num_cpu_devices is {count}",
                expected="1 or more, or -1 for as many as XLA_FLAGS says",
                fix="correct JAX_NUM_CPU_DEVICES, or the call of config.update",
            )
        working_memory.prepare()
        client = xla.client.make_cpu_client if together is None else together.cpu_client
        started = Backend("cpu", client(count if count > 0 else None))
        there = len(started.local_devices)
        why = f"the CPU has been started with {there} device{'s' if there > 1 else ''}"
        config.fix("num_cpu_devices", why, lambda count: count in (-1, there))
        return started
    visible = settings.cuda_visible_devices
    client = xla.cuda.make_client if together is None else together.cuda_client
    started = Backend("cuda", client(_cuda_options(visible)))
    config.fix("cuda_visible_devices", "the GPUs have been started", lambda v: v == visible)
    return started


def _cuda_options(visible: str) -> dict[str, Any]:
    if visible == "all":
        return {}
    try:
        return {"visible_devices": [int(number) for number in visible.split(",")]}
    except ValueError:
        raise BackendError(
            f"cuda_visible_devices is {visible!r}",
            expected="'all', or numbers of GPUs separated by commas, such as '0,1'",
            fix="correct JAX_CUDA_VISIBLE_DEVICES, or the call of config.update",
        ) from None


def described_gpus(name: str, options: dict[str, Any]) -> list[Any]:
    """Return GPUs that executables can be compiled for, and that this machine does not have."""
    try:
        return xla.cuda.described_devices(name.lower(), options)
    except (xla.cuda.CudaUnavailable, xla.EngineError) as error:
        models = ", ".join(xla.gpu_targets.MODELS)
        raise BackendError(
            f"no GPU could be described: {error}",
            expected=f"topology_name {models}, or a target_config, and topology='1x1x8'",
            fix=_DOCTOR,
        ) from error


def register_factory(platform: str, factory: Callable[[], Any], priority: int) -> None:
    """Add a platform, whose client `factory` starts on first use."""
    name = platform.lower()
    with _lock:
        if name in _backends:
            raise BackendError(
                f"the platform {platform!r} has been started already",
                fix="register it first, or call sagax.extend.backend.clear_backends()",
            )
        _factories[name] = factory, priority
        _failures.pop(name, None)


def clear_backends() -> None:
    """Forget all clients: the next use starts others. Arrays of the old ones can still be read."""
    global _default_backend
    with _lock:
        _backends.clear()
        _failures.clear()
        _default_backend = None
        config.release("platforms", "platform_name", "num_cpu_devices", "cuda_visible_devices")


# --- starting on first use -----------------------------------------------------------------------------


def backend(platform: str | None = None) -> Backend:
    """Return the backend of `platform` (None: the default one); start it if necessary."""
    if platform is None:
        return _default()
    found = _backends.get(platform)
    if found is not None:
        return found
    platform = canonical_platform(platform)
    with _lock:
        found = _backends.get(platform)
        if found is None:
            _refuse_unwanted(platform)
            if platform in _failures:
                raise BackendError(_failures[platform], fix=_DOCTOR)
            try:
                found = _backends[platform] = _start(platform)
            except SagaxError:
                raise
            except Exception as error:
                text = f"Unknown backend {platform!r}: the platform could not be started: {error}"
                _failures[platform] = text
                raise BackendError(text, fix=_DOCTOR) from error
    return found


def _refuse_unwanted(platform: str) -> None:
    """Raise for a platform that the settings exclude. The CPU is always available, for host work."""
    selected, setting = _selected_platforms()
    if platform not in selected and platform != "cpu" and setting:
        raise BackendError(
            f"Unknown backend {platform!r}: it was left out: the option {setting!r} (JAX_{setting.upper()}) names {', '.join(selected)}",
            fix=f"add it there: JAX_PLATFORMS={','.join([*selected, platform])}",
        )


_named = backend  # for functions with a parameter `backend`
_default_backend: Backend | None = None


def _default() -> Backend:
    global _default_backend
    found = _default_backend
    if found is None:
        with _lock:
            if _default_backend is None:
                started = _default_backend = _first_that_starts()
                why = f"the default platform is {platform_name(started)!r} already"
                config.fix("platforms", why, lambda v: _names_first(v, started))
                config.fix("platform_name", why, lambda v: _names_first(v, started))
            found = _default_backend
    return found


def _names_first(value: str | None, started: Backend) -> bool:
    first = (value or started.platform).partition(",")[0].strip().lower()
    return _ALIASES.get(first, first) == started.platform


def _first_that_starts() -> Backend:
    """Return the first available platform, in the order of priority."""
    (*others, last), setting = _selected_platforms()
    for platform in others:
        try:
            return backend(platform)
        except BackendError as error:
            if not setting or platform != "cuda" or xla.cuda_wheels.plugin_available():
                _log.warning("%s; the next platform is used. %s", error.args[0], _DOCTOR)
    return backend(last)


def only_one() -> bool:
    """Return whether there is only one device."""
    first = _default()
    return (
        first.platform == "cpu" and len(first.devices) == 1 and len(_selected_platforms()[0]) == 1
    )


def default_device() -> Any:
    """Return the device of uncommitted arrays."""
    selected = config.thread.settings.default_device
    if selected is None:
        return (_default_backend or _default()).local_devices[0]
    if isinstance(selected, str):
        return backend(selected).local_devices[0]
    return selected


def devices(platform: str | None = None) -> list[Any]:
    """List all devices of a platform (default: the default one), those of other processes included.

    >>> sagax.devices()[0].platform in ("cpu", "gpu")
    True
    """
    return list(backend(platform).devices)


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """List the devices of this process (or of the process `process_index`).

    >>> sagax.local_devices() == [d for d in sagax.devices() if d.process_index == 0]
    True
    """
    index = process_index if process_index is not None else host_id
    found = _named(backend)
    if index is None:
        return list(found.local_devices)
    if not 0 <= index < process_count():
        raise ArgumentValueError.about(
            "local_devices", "process_index", index, f"a process from 0 to {process_count() - 1}"
        )
    return [d for d in found.devices if d.process_index == index]


def device_count(backend: str | None = None) -> int:
    """Count the devices of the platform, in all processes.

    >>> sagax.device_count() == len(sagax.devices())
    True
    """
    return len(_named(backend).devices)


def local_device_count(backend: str | None = None) -> int:
    """Count the devices of the platform in this process.

    >>> sagax.local_device_count() <= sagax.device_count()
    True
    """
    return len(_named(backend).local_devices)


def process_count(backend: str | None = None) -> int:
    """Return the number of processes; 1 unless `sagax.distributed` was initialized.

    >>> sagax.process_count()
    1
    """
    return 1 + max(d.process_index for d in _named(backend).devices)


def process_index(backend: str | None = None) -> int:
    """Return the index of this process.

    >>> sagax.process_index()
    0
    """
    return _named(backend).client.process_index()


def process_indices(backend: str | None = None) -> list[int]:
    """Return the indices of all processes.

    >>> sagax.process_indices()
    [0]
    """
    return sorted({d.process_index for d in _named(backend).devices})


def default_backend() -> str:
    """Return the name of the default platform: "cpu" or "gpu".

    >>> sagax.default_backend() in ("cpu", "gpu")
    True
    """
    return platform_name(_default())


def platform_name(b: Backend) -> str:
    """Return the public name of a platform: all GPUs are "gpu"."""
    return "gpu" if b.platform == "cuda" else b.platform


def backend_of(device: Any) -> Backend:
    """Return the backend that a device belongs to."""
    for b in _backends.values():
        if device.client is b.client or device in b.devices:
            return b
    if xla.compiler.is_described(device.client):
        platform = str(device.platform)
        return Backend(_ALIASES.get(platform, platform), device.client)
    raise ArgumentValueError(f"{device} is no device of sagax", fix="take one from sagax.devices()")


def started() -> list[str]:
    """Return the started platforms."""
    return [platform_name(b) for b in _backends.values()]


def started_backends() -> Iterable[Backend]:
    """Return the started backends."""
    return _backends.values()


# --- forked processes ------------------------------------------------------------------------------


def _not_wired() -> None:
    """Stand for a function of `runtime.forks` until `sagax._assemble` sets it, which `import sagax` does."""
    raise worded(NotImplementedError("sagax was not imported as a whole: import sagax"))


detach_after_fork: Callable[[], None] = _not_wired  # set by sagax._assemble


def forget_started(refusal: SagaxError) -> None:
    """Forget the backends of the parent process; starting one raises `refusal`."""
    global _default_backend, _refusal
    _backends.clear()
    _default_backend, _refusal = None, refusal


def _after_fork() -> None:
    if _backends:
        detach_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# --- older names -----------------------------------------------------------------------------------

_Result = TypeVar("_Result")


def _renamed(old: str, function: Callable[..., _Result], example: str) -> Callable[..., _Result]:
    """Return a function under its old name, which warns."""

    @functools.wraps(function)
    def renamed(backend: str | None = None) -> _Result:
        text = f"sagax.{old} has been renamed to sagax.{function.__name__}"
        warnings.warn(bilingual(text), UserWarning, stacklevel=2)
        return function(backend)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"""Return what `sagax.{function.__name__}` does; an older name, which warns.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     sagax.{old}()
    {example}
    """
    return renamed


host_id = _renamed("host_id", process_index, "0")
host_ids = _renamed("host_ids", process_indices, "[0]")
host_count = _renamed("host_count", process_count, "1")
