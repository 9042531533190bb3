"""Define the settings: one frozen value that configures sagax.

The settings in force are one interned `Settings` value. Interned means that equal settings are the
same object, so a cache key holds the object itself and compares it by identity. The process has one
value. Each thread overrides it with the `with` blocks it is in; a thread in none reads the value of
the process.

An option is one field of `Settings`, or one row of `_IGNORED` if it exists only because jax has it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, ParamSpec, TypeVar

from sagax._src import fork_locks, tuning
from sagax._src.frozen_class import record
from sagax._src.languages import choice as languages
from sagax._src.languages.choice import language_of, worded
from sagax._src.option_kinds import (
    ALLOWED,
    Kind,
    auto,
    axes,
    choice,
    device,
    flag,
    guard,
    integer,
    level,
    number,
    optional,
    precision,
    prng,
    reaction,
    text,
    when,
    width,
)
from sagax._src.uninterrupted import uninterrupted

P = ParamSpec("P")
R = TypeVar("R")

# --- the table of options ----------------------------------------------------------------------


@record
class Option:
    """Define one option in the table.

    `name` is a field of `Settings`, unless the option is ignored; `jax_name` is jax's. `staged`:
    the value affects traces or executables, so it is in the key of the caches. `sets`: the options
    that are set instead of this one, which has no value itself.
    """

    name: str
    jax_name: str
    kind: Kind
    default: Any
    doc: str
    staged: bool = False
    ignored: bool = False
    sets: tuple[str, ...] = ()


def _row(kind: Kind, default: Any, doc: str) -> Any:
    """Define a field of `Settings`; `doc` completes "`with name(value):` sets"."""
    return field(default=default, metadata={"row": (kind, doc, False)})


def _staged(kind: Kind, default: Any, doc: str) -> Any:
    """Define a field whose value affects traces or executables."""
    return field(default=default, metadata={"row": (kind, doc, True)})


# sagax names that differ from jax's.
_JAX_NAMES: Final = {
    "x64": "enable_x64",
    "matmul_precision": "default_matmul_precision",
    "prng_impl": "default_prng_impl",
}


@record(slots=True, eq=False, weakref_slot=True)
class Settings:
    """Hold all options as one immutable, interned value: equal settings are the same object.

    Get one from `current()` and others from it with `replace`; do not call the class. `key` is the
    Settings with the same staged options and defaults for all others. It belongs in the key of each
    cache of traces or executables.
    """

    # numbers
    x64: bool = _staged(
        width,
        False,
        "64-bit types, and 64 bits for Python numbers; 'explicit': where asked for or given only",
    )
    explicit_x64_dtypes: str = _staged(
        choice("warn", "error", "allow"),
        "warn",
        "when a 64-bit type is asked for by name while x64 is off",
    )
    numpy_dtype_promotion: str = _staged(
        choice("standard", "strict"), "standard", "strict: operands of different types are refused"
    )
    numpy_rank_promotion: str = _staged(
        choice("allow", "warn", "raise"), "allow", "when operands of different rank are broadcast"
    )
    matmul_precision: str | None = _staged(
        optional(precision), None, "of matrix products that state none"
    )
    check_static_indices: bool = _staged(
        flag, False, "refuse constant indices that are out of bounds"
    )
    # "alone": for a single jitted function that must compute as without jit (`alone`)
    exact: bool | str = _staged(
        flag, False, "compiled programs round as their operations do one by one"
    )
    safe_where: bool = _staged(
        flag, False, "cotangents that a `where` masks stay zero, whatever lies behind it"
    )
    masks: str = _staged(
        choice("strict", "lazy"), "strict", "lazy: traced masks select views that keep their shape"
    )
    # random numbers
    no_collectives: frozenset = _staged(
        axes, frozenset(), "Explicit mesh axes along which no operation may exchange data"
    )
    auto_pcast: bool = _staged(flag, True, "cast what is shared where others vary, in shard_map")
    xla_metadata: str = _staged(
        text, "", "attributes for XLA of all operations, as MLIR writes them"
    )
    prng_impl: str = _staged(prng, "threefry2x32", "generator of keys that name none")
    threefry_partitionable: bool = _staged(
        flag, True, "bits that do not depend on how an array is divided"
    )
    random_seed_offset: int = _staged(integer, 0, "added to every seed")
    enable_custom_prng: bool = _staged(flag, False, "PRNGKey returns typed keys")
    legacy_prng_key: str = _staged(
        choice("allow", "warn", "error"), "allow", "when an untyped key is used"
    )
    high_dynamic_range_gumbel: bool = _staged(
        flag, False, "two draws for each gumbel sample, for its far tail"
    )
    debug_key_reuse: bool = _staged(flag, False, "refuse keys that were used before")
    # checks of values
    debug_nans: bool = _row(flag, False, "raise where a computation first gives NaN")
    debug_infs: bool = _row(flag, False, "raise where a computation first gives an infinity")
    error_checking_behavior_nan: str = _staged(reaction, "ignore", "on NaN, in checked code")
    error_checking_behavior_divide: str = _staged(
        reaction, "ignore", "on division by zero, in checked code"
    )
    error_checking_behavior_oob: str = _staged(
        reaction, "ignore", "on indices out of bounds, in checked code"
    )
    check_bounds: bool = _row(
        flag, False, "refuse known indices out of bounds, in reads and updates outside of jit"
    )
    # tracing
    disable_jit: bool = _row(flag, False, "run jitted functions operation by operation")
    check_tracer_leaks: bool = _staged(flag, False, "look for tracers that outlive their trace")
    enable_checks: bool = _row(flag, False, "verify jaxprs between passes")
    compile_unjitted: bool = _row(
        flag, True, "compile grad, vmap and the like as one piece where they are called again"
    )
    stale: str = _row(
        choice("warn", "retrace", "raise", "ignore"),
        "warn",
        "when something that a compiled function read from outside has changed",
    )
    no_tracing: bool = _row(flag, False, "refuse to trace for compilation")
    no_execution: bool = _row(flag, False, "refuse to execute")
    captured_constants_warn_bytes: int = _row(
        integer, 2_000_000_000, "warn when a program captures more bytes of constants; -1: never"
    )
    # reports
    log_compiles: bool = _row(flag, False, "log each compilation")
    progress_after: float = _row(number, 2.0, "seconds until a line tells what runs; 0: never")
    loop_progress: str = _row(when, "auto", "where loops show bars")
    lang: str = _row(choice("en", "zh"), "en", "the language of texts; else that of the locale")
    explain_cache_misses: bool = _row(flag, False, "log why a function is traced again")
    traceback: str = _row(
        choice("short", "full", "off"),
        "short",
        "full: exceptions keep sagax's own frames; off: they are left entirely alone",
    )
    traceback_filtering: str = _row(
        choice("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
        "auto",
        "how internal frames are left out of tracebacks",
    )
    pprint_use_color: bool = _row(flag, True, "colour in programs printed on a terminal")
    dump_ir_to: str = _row(text, "", "directory that gets each lowered program as text")
    # devices
    default_device: Any = _row(
        optional(device), None, "where values that are not bound to a device go"
    )
    platforms: str | None = _row(
        optional(text), None, "platforms to start, the default one first: 'cuda,cpu'"
    )
    platform_name: str = _row(text, "", "older form of platforms, for one platform")
    num_cpu_devices: int = _row(integer, -1, "number of CPU devices; -1: as XLA_FLAGS says")
    cuda_visible_devices: str = _row(
        text, "all", "'all', or the ids of the CUDA devices to use: '0,1'"
    )
    cpu_enable_async_dispatch: bool = _row(flag, True, "let CPU programs run in the background")
    cpu_collectives_implementation: str | None = _row(
        optional(choice("gloo", "mpi", "megascale")), "gloo", "how CPU processes talk to each other"
    )
    transfer_guard_host_to_device: str | None = _row(guard, None, "on implicit copies to a device")
    transfer_guard_device_to_device: str | None = _row(
        guard, None, "on implicit copies between devices"
    )
    transfer_guard_device_to_host: str | None = _row(guard, None, "on implicit copies to the host")
    # compilation
    optimization_level: str = _staged(level, "UNKNOWN", "effort of XLA for speed")
    memory_fitting_level: str = _staged(level, "O2", "effort of XLA to save memory")
    disable_most_optimizations: bool = _staged(flag, False, "compile quickly rather than well")
    fusion_fences: str = _staged(auto, "auto", "compute sums that many operations read once")
    reroll: str = _staged(auto, "auto", "whether long repetitions in a program become loops")
    host_sorts: str = _staged(when, "auto", "where jitted functions on the CPU sort by NumPy")
    unroll_threshold: int | None = _staged(
        optional(integer),
        tuning.UNROLL_THRESHOLD,
        "size up to which loops of CPU kernels are unrolled; None: LLVM's own",
    )
    keep_working_memory: bool = _row(
        flag, False, "the process keeps the memory of large programs on the CPU between calls"
    )
    enable_compilation_cache: bool = _row(flag, True, "keep compiled programs on disk")
    compilation_cache_dir: str | None = _row(
        optional(text), None, "directory for compiled programs; None: in the user's cache directory"
    )
    compilation_cache_max_size: int = _row(
        integer, 1 << 31, "bytes that cache may take; -1: no bound"
    )
    persistent_cache_min_compile_time_secs: float = _row(
        number, 0.0, "keep programs that took this long to compile (s)"
    )
    persistent_cache_min_entry_size_bytes: int = _row(
        integer, 0, "keep programs of this size and larger (bytes)"
    )
    raise_persistent_cache_errors: bool = _row(
        flag, False, "raise when that cache fails, instead of a warning"
    )
    # non-default values of the options in _IGNORED: (name, value), by name
    ignored: tuple[tuple[str, Any], ...] = ()
    # no options, but part of the same blocks and cache keys: the mesh in force, with and without its
    # devices (core/meshes.py), and the users' contexts with their values (api/user_contexts.py)
    mesh: Any = None
    abstract_mesh: Any = None
    user_contexts: tuple[tuple[Any, Any], ...] = ()

    key: Settings = field(init=False, repr=False)

    def replace(self, **changes: Any) -> Settings:
        """Return the settings with these fields changed (the values are unchecked)."""
        return _interned(tuple(changes.get(n, getattr(self, n)) for n in _FIELDS))

    def __repr__(self) -> str:
        changed = (n for n, d in zip(_FIELDS, _DEFAULTS, strict=True) if getattr(self, n) != d)
        return f"Settings({', '.join(f'{n}={getattr(self, n)!r}' for n in changed)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _interned, (tuple(getattr(self, n) for n in _FIELDS),)


# Options of jax 0.12 without use in sagax. A script may set these: the value is checked and can be
# read back, without effect. Names as in jax, without the `jax_` if there is one.
_IGNORED: dict[str, tuple[Kind, Any]] = {
    "jax2tf_associative_scan_reductions": (flag, False),
    "jax2tf_default_native_serialization": (flag, True),
    "serialization_version": (integer, 0),
    "export_calling_convention_version": (integer, 10),
    "export_ignore_forward_compatibility": (flag, False),
    "export_deserialize_expired_versions": (flag, False),
    "pjrt_client_create_options": (optional(text), None),
    "use_hlo_logistic_lowering": (optional(flag), None),
    "captured_constants_report_frames": (integer, 0),
    "raise_on_ppermute_sort_diff": (flag, True),
    "debug_leaked_clients_on_clear_backends": (flag, False),
    "log_checkpoint_residuals": (flag, False),
    "scan3": (flag, False),
    "remat3": (flag, False),
    "custom_vjp3": (flag, False),
    "custom_jvp3": (flag, False),
    "remat_barrier_no_cotangents": (flag, False),
    "distributed_debug": (flag, False),
    "threefry_gpu_kernel_lowering": (flag, False),
    "use_direct_linearize": (flag, True),
    "use_simplified_jaxpr_constants": (flag, False),
    "embedded_constants_max_bytes": (integer, 32),
    "remove_size_one_mesh_axis_from_type": (flag, False),
    "check_vma": (flag, False),
    "softmax_custom_jvp": (flag, False),
    "persistent_cache_enable_xla_caches": (text, "xla_gpu_per_fusion_autotune_cache_dir"),
    "compilation_cache_include_metadata_in_key": (flag, False),
    "hlo_source_file_canonicalization_regex": (optional(text), None),
    "source_url_schema": (optional(text), None),
    "include_full_tracebacks_in_locations": (flag, True),
    "traceback_in_locations_limit": (integer, 100),
    "share_binary_between_hosts": (flag, False),
    "share_binary_between_hosts_timeout_ms": (integer, 1200000),
    "enable_pgle": (flag, False),
    "pgle_profiling_runs": (integer, 3),
    "pgle_aggregation_percentile": (integer, 90),
    "compilation_cache_check_contents": (flag, False),
    "compilation_cache_expect_pgle": (flag, False),
    "remove_custom_partitioning_ptr_from_cache_key": (flag, False),
    "disallow_mesh_context_manager": (flag, False),
    "allow_f16_reductions": (flag, True),
    "use_emit_pipeline_primitive": (flag, False),
    "bcoo_cusparse_lowering": (flag, False),
    "eager_constant_folding": (flag, False),
    "compiler_enable_remat_pass": (flag, True),
    "disable_vmap_shmap_error": (flag, False),
    "mutable_array_checks": (flag, True),
    "disable_bwd_checks": (flag, False),
    "use_rgv3": (flag, True),
    "experimental_unsafe_xla_runtime_errors": (flag, False),
    "xla_profile_version": (integer, 0),
    "array_garbage_collection_guard": (optional(choice("allow", "log", "fatal")), None),
    "thread_guard": (flag, False),
    "send_traceback_to_runtime": (choice("off", "on", "full"), "off"),
    "debug_log_modules": (text, ""),
    "logging_level": (
        optional(choice("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")),
        "NOTSET",
    ),
    "use_shardy_partitioner": (flag, True),
    "use_cpp_shard_args": (flag, False),
    "use_magma": (choice("off", "on", "auto"), "auto"),
    "include_debug_info_in_dumps": (flag, True),
    "dump_ir_modes": (text, "stablehlo"),
    "ragged_dot_use_ragged_dot_instruction": (flag, True),
    "pallas_verbose_errors": (flag, False),
    "pallas_enable_debug_checks": (flag, False),
    "mosaic_allow_hlo": (flag, False),
    "mosaic_unzip_debug_locations": (flag, True),
    "pallas_poison_buffers": (flag, False),
    "pallas_auto_assign_collective_ids": (choice("no", "yes", "override"), "no"),
    "pallas_auto_assign_collective_ids_limit": (integer, 25),
    "mtls_cert_file": (optional(text), None),
    "mtls_key_file": (optional(text), None),
    "mtls_ca_file": (optional(text), None),
    "mtls_peer_uri_prefix": (optional(text), None),
    "distributed_verify_secure_credentials": (flag, False),
    "accurate_erf_inv": (flag, False),
    "check_proxy_envs": (flag, True),
    "enable_recoverability": (flag, False),
    "enable_preemption_service": (flag, True),
    "xla_backend": (text, ""),
    "backend_target": (text, ""),
    "rocm_visible_devices": (text, "all"),
    "oneapi_visible_devices": (text, "all"),
    "mock_num_gpu_processes": (integer, 0),
    "mock_gpu_topology": (text, ""),
    "force_dcn_cross_host_transfers": (flag, False),
    "sort_devices_by_process_index": (flag, True),
    "cross_host_transfer_socket_address": (text, ""),
    "cross_host_transport_addresses": (text, ""),
    "cross_host_transfer_timeout_seconds": (optional(integer), None),
    "cross_host_transfer_transfer_size": (optional(integer), None),
    "cpu_get_local_topology_timeout_minutes": (integer, 2),
    "cpu_get_global_topology_timeout_minutes": (integer, 5),
    "tracer_error_num_traceback_frames": (integer, 5),
    "compiler_detailed_logging_min_ops": (integer, 10),
}

_FIELDS = tuple(f.name for f in dataclasses.fields(Settings) if f.init)
_DEFAULTS = tuple(f.default for f in dataclasses.fields(Settings) if f.init)


def _options() -> list[Option]:
    live = []
    for f in dataclasses.fields(Settings):
        if "row" in f.metadata:
            kind, doc, staged = f.metadata["row"]
            jax_name = f"jax_{_JAX_NAMES.get(f.name, f.name)}"
            live.append(Option(f.name, jax_name, kind, f.default, doc, staged))
    guards = tuple(option.name for option in live if option.kind is guard)
    all_guards = Option(
        "transfer_guard", "jax_transfer_guard", guard, None, "of all directions", sets=guards
    )
    # jax gives four of these no prefix; accepting both spellings treats all alike
    ignored = [
        Option(name, f"jax_{name}", kind, default, "no effect in sagax", ignored=True)
        for name, (kind, default) in _IGNORED.items()
    ]
    return [*live, all_guards, *ignored]


OPTIONS: Final = MappingProxyType({option.name: option for option in _options()})
_BY_NAME: Final = {
    spelling.removeprefix(prefix): option
    for option in OPTIONS.values()
    for spelling in (f"jax_{option.name}", option.jax_name)
    for prefix in ("jax_", "")
}
_VARIABLES: Final = {"SAGAX_CACHE_DIR": "compilation_cache_dir"}  # names of no option
_NO_OPTIONS: Final = ("mesh", "abstract_mesh", "user_contexts")
_STAGED = frozenset([*(option.name for option in OPTIONS.values() if option.staged), *_NO_OPTIONS])

_instances: dict[tuple[Any, ...], Settings] = {}


def _interned(values: tuple[Any, ...]) -> Settings:
    found = _instances.get(values)
    if found is None and (normal := _normal(values)) != values:
        found = _instances.setdefault(values, _interned(normal))
    if found is None:
        created = Settings(*values)
        rows = zip(_FIELDS, values, _DEFAULTS, strict=True)
        staged = tuple(value if name in _STAGED else default for name, value, default in rows)
        object.__setattr__(created, "key", created if staged == values else _interned(staged))
        found = _instances.setdefault(values, created)  # two threads may have created it: one stays
    return found


def _normal(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Combine x64=False and explicit_x64_dtypes="allow" to ALLOWED, and take them apart again."""
    width = values[_FIELDS.index("x64")]
    if width is not False and width is not ALLOWED:
        return values
    allowed = values[_FIELDS.index("explicit_x64_dtypes")] == "allow"
    return tuple(
        (ALLOWED if allowed else False) if name == "x64" else value
        for name, value in zip(_FIELDS, values, strict=True)
    )


# --- checks of names and values ----------------------------------------------------------------


def _find(name: str) -> Option:
    option = _BY_NAME.get(name) if isinstance(name, str) else None
    if option is None:
        raise _unknown(name)
    return option


def _unknown(name: Any) -> AttributeError:
    import difflib  # 2 ms, for this message only

    near = difflib.get_close_matches(str(name), _BY_NAME, 3, 0.7)
    near = list(dict.fromkeys(_BY_NAME[n].name for n in near))
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else "see sagax.config.values"
    return worded(AttributeError(f"sagax has no option {name!r}: {advice}"))


Changes = tuple[tuple[str, Any], ...]


def _changes(name: str, value: Any) -> Changes:
    """Return the changes that setting an option makes, as (name of an option, value in its normal form)."""
    option = _find(name)
    return _set(option, _checked(option, value))


def _set(option: Option, value: Any) -> Changes:
    return tuple((name, value) for name in option.sets or (option.name,))


def _checked(option: Option, value: Any) -> Any:
    try:
        return option.kind.check(value)
    except ValueError:
        got = f"{value!r} of type {type(value).__name__}"
        text = f"the option {option.name!r} must be {option.kind.words}; got {got}"
        raise worded(ValueError(text)) from None


@functools.lru_cache(maxsize=1024)
def _applied(settings: Settings, changes: Changes) -> Settings:
    without_effect = [c for c in changes if c[0] not in _NO_OPTIONS and OPTIONS[c[0]].ignored]
    fields = {name: value for name, value in changes if (name, value) not in without_effect}
    contexts = {**dict(settings.user_contexts), **dict(fields.get("user_contexts", ()))}
    fields["user_contexts"] = tuple(sorted(contexts.items()))
    ignored = dict(settings.ignored) | dict(without_effect)
    nondefault = sorted((n, v) for n, v in ignored.items() if v != OPTIONS[n].default)
    return settings.replace(**fields, ignored=tuple(nondefault))


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read the defaults from environment variables; SAGAX_X64 has priority over JAX_ENABLE_X64."""
    settings = _interned(_DEFAULTS).replace(lang=language_of(environ))
    for option, value in _options_of(environ):
        settings = _applied(settings, _set(option, value))
    return settings


def _options_of(environ: Mapping[str, str]) -> Iterator[tuple[Option, Any]]:
    for prefix in ("JAX_", "SAGAX_"):
        for variable, words in environ.items():
            if variable.startswith(prefix):
                name = _VARIABLES.get(variable, variable.removeprefix(prefix).lower())
                option = _BY_NAME.get(name)
                if option is not None:
                    yield option, _parsed(variable, option, words)


def _parsed(variable: str, option: Option, words: str) -> Any:
    try:
        return option.kind.parse(words.strip())
    except ValueError:
        text = f"the environment variable {variable} must be {option.kind.words}; it is {words!r}"
        raise worded(ValueError(text)) from None


# --- the settings in force ---------------------------------------------------------------------


def _at_start() -> Settings:
    try:
        return from_environment(os.environ)
    except ValueError:
        if sys.argv[:2] == ["-m", "doctor"]:  # `python -m sagax doctor`, which reports the problem
            return _interned(_DEFAULTS)
        raise


class _Process:
    """Hold the settings of the process, for every thread outside of `with` blocks."""

    __slots__ = ("settings",)
    settings: Settings


process: Final = _Process()
process.settings = _at_start()
# Context variables, not `threading.local`: every operation reads them several times, at a quarter
# of the time. Besides, asyncio tasks of one thread have separate ones.
_own: Final[ContextVar[Settings | None]] = ContextVar("sagax settings", default=None)
# `own() or process.settings` is what `thread.settings` is, for the hottest callers
own: Final = _own.get
_own.set(None)  # a set value is found faster than a default
_entered: Final[ContextVar[tuple[Context, ...]]] = ContextVar("sagax settings blocks", default=())


class _Thread:
    """Hold the settings in force in this thread, and the `with` blocks it is in."""

    __slots__ = ()

    @property
    def settings(self) -> Settings:
        return _own.get() or process.settings

    @property
    def entered(self) -> tuple[Context, ...]:
        return _entered.get()


thread: Final = _Thread()
_lock = fork_locks.lock()


def current() -> Settings:
    """Return the settings in force in this thread. (Hot callers read `thread.settings`.)"""
    return thread.settings


languages.current_language = lambda: thread.settings.lang


_fixed: dict[str, tuple[str, Callable[[Any], bool]]] = {}


def fix(name: str, reason: str, fits: Callable[[Any], bool]) -> None:
    """Fix an option: later values must fit the one in use. `reason` completes "because"."""
    _fixed[name] = (reason, fits)


def release(*names: str) -> None:
    """Let options be set again that were fixed."""
    for name in names:
        _fixed.pop(name, None)


def _check_fixed(changes: Changes) -> None:
    for name, value in changes:
        reason, fits = _fixed.get(name, ("", None))
        if fits is not None and value != getattr(process.settings, name) and not fits(value):
            todo = f"in the environment: JAX_{name.upper()}={value}"
            text = f"the option {name!r} cannot be set to {value!r} any more, because {reason}. "
            raise worded(RuntimeError(f"{text}Set it before anything is computed, or {todo}"))


def update(name: str, value: Any) -> None:
    """Set an option for the process.

    Threads inside a `with` block of settings keep their settings, and see the change when they enter or leave one. The calling thread sees the change immediately, unless
    the same option is set by a `with` block it is in.

    Raises AttributeError if there is no such option, ValueError if it does not take the value,
    RuntimeError if it is fixed: platforms and device counts are, after their start.
    """
    changes = _changes(name, value)
    _check_fixed(changes)
    with _lock:
        process.settings = _applied(process.settings, changes)
    _enter(_entered.get())


def _enter(blocks: tuple[Context, ...]) -> None:
    """Be in these blocks in place of those so far."""
    settings = process.settings
    for entered in blocks:
        settings = _applied(settings, entered.changes)
    _entered.set(blocks)
    _own.set(settings if blocks else None)


_read: dict[str, str] = dict(os.environ)


def read_changed_environment() -> None:
    """Apply the environment variables that changed since they were read last."""
    changed = {k: v for k, v in os.environ.items() if _read.get(k) != v}
    _read.update(changed)
    for option, value in _options_of(changed):
        update(option.name, value)


class Context:
    """Apply settings in a `with` block, or as a decorator in the calls of a function.

    It may be entered several times, also one inside the other, and by several threads.
    """

    __slots__ = ("changes",)

    def __init__(self, changes: Changes) -> None:
        self.changes = changes

    def __enter__(self) -> None:
        entered, settings = _entered.get(), _own.get()
        try:
            _enter((*entered, self))
        except BaseException:  # a signal handler's, or too deep a recursion: no exit follows
            _entered.set(entered)
            _own.set(settings)
            raise

    def _rest(self) -> tuple[Context, ...] | None:
        """Return the blocks that remain behind this one, in which the thread need not be the innermost."""
        entered = _entered.get()
        at = max((i for i, block in enumerate(entered) if block is self), default=None)
        return None if at is None else entered[:at] + entered[at + 1 :]

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        rest = None
        try:
            rest = self._rest()
            _enter(_entered.get() if rest is None else rest)
        except BaseException:  # a signal handler's: leave all the same
            rest = self._rest() if rest is None else rest
            _enter(_entered.get() if rest is None else rest)
            raise
        if rest is None:
            todo = "A generator that is inside a `with` block of settings must be finished by the thread that started it"
            raise worded(
                RuntimeError(f"{self!r} was left by a thread that had not entered it. {todo}")
            )

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return wrapper

    def __repr__(self) -> str:
        return f"context({', '.join(f'{name}={value!r}' for name, value in self.changes)})"


def context(**settings: Any) -> Context:
    """Return settings for a `with` block (or, as a decorator, for the calls of a function).

    Raises AttributeError if there is no such option, ValueError if it does not take the value.

    >>> with context(x64=True, debug_nans=True):
    ...     current().x64
    True
    """
    return Context(tuple(c for name, value in settings.items() for c in _changes(name, value)))


def of_function(
    exact: bool | None, safe_where: bool | None, masks: str | None, reroll: str | None = None
) -> Any:
    """Return the context in which a jitted function with these options is traced and compiled."""
    options = {"safe_where": safe_where, "masks": masks, "exact": exact, "reroll": reroll}
    changes = [c for k, v in options.items() if v is not None for c in _changes(k, v)]
    # A higher-order primitive in it is one operation, compiled as it is outside of tracing.
    changes = [(k, "alone") if (k, v) == ("exact", True) else (k, v) for k, v in changes]
    return Context(tuple(changes)) if changes else unchanged


unchanged: Final = contextlib.nullcontext()


def with_option(name: str, value: Any) -> contextlib.AbstractContextManager[None]:
    """Return the context of an option that is a function's argument too; None: the setting."""
    return unchanged if value is None else context(**{name: value})


def for_sub_jaxpr() -> contextlib.AbstractContextManager[None]:
    """Return the context to trace a jaxpr that is one operation of the enclosing jaxpr."""
    return context(exact=False) if thread.settings.exact == "alone" else unchanged


class State:
    """Represent an option: `state(value)` is a context for it, `state.value` its value."""

    def __init__(self, name: str) -> None:
        option = self._option = _find(name)
        self.__doc__ = f"Sets the option {option.name!r} in a `with` block: {option.doc}."

    @property
    def name(self) -> str:
        return self._option.jax_name

    @property
    def value(self) -> Any:
        return _value(current(), self._option)

    def __call__(self, new_val: Any = True) -> Context:
        return Context(_set(self._option, _checked(self._option, new_val)))

    def __bool__(self) -> bool:
        name = self._option.name
        text = f"the option {name!r} as an object is neither true nor false; its value is sagax.config.{name}"
        raise worded(TypeError(text))

    def __repr__(self) -> str:
        return f"<option {self._option.name} = {self.value!r}>"


def _value(settings: Settings, option: Option) -> Any:
    if option.ignored:
        return dict(settings.ignored).get(option.name, option.default)
    if option.sets:
        values = {getattr(settings, name) for name in option.sets}
        return values.pop() if len(values) == 1 else None
    value = getattr(settings, option.name)
    return False if value is ALLOWED else value


class Config:
    """Expose the options as attributes; set with `update` for the process, `context` for a block."""

    __slots__ = ()

    update = staticmethod(update)
    context = staticmethod(context)

    def read(self, name: str) -> Any:
        """Return the value of an option in this thread."""
        return _value(current(), _find(name))

    @property
    def values(self) -> dict[str, Any]:
        """Return the values of all options in this thread, by jax's names."""
        settings = current()
        return {option.jax_name: _value(settings, option) for option in OPTIONS.values()}

    __getattr__ = read

    @property
    def x64_enabled(self) -> Any:
        """Tell whether 64-bit types are on: the value of `enable_x64`."""
        return _value(current(), _find("enable_x64"))

    def parse_flags_with_absl(self) -> None:
        """Set options from the flags `--jax_...` and `--sagax_...` of the command line.

        `--jax_enable_x64`, `--nojax_enable_x64` and `--jax_platforms=cpu` are such flags. Those after `--`
        are left alone, and so are all other arguments. Raises ValueError for an unknown option or value.
        """
        for argument in itertools.takewhile(lambda a: a != "--", sys.argv[1:]):
            words = argument.removeprefix("--")
            flag_name, given, value = words.partition("=")
            negated = flag_name.startswith(("nojax_", "nosagax_"))
            name = flag_name.removeprefix("no") if negated else flag_name
            if not argument.startswith("--") or not name.startswith(("jax_", "sagax_")):
                continue
            option = _find(name if name.startswith("jax_") else name.removeprefix("sagax_"))
            update(option.name, option.kind.parse(value if given else str(not negated)))

    def __setattr__(self, name: str, value: Any) -> None:
        block = f"`with sagax.config.context({name}={value!r}):`"
        call = f"sagax.config.update({name!r}, {value!r})"
        text = f"options are not set as attributes: use {call}, or, for a block, {block}"
        raise worded(AttributeError(text))

    def __dir__(self) -> Iterator[str]:
        yield from super().__dir__()
        yield from _BY_NAME

    def __repr__(self) -> str:
        return f"<sagax.config: {current()!r}>"


config: Final = Config()

# The options that jax has as context managers.
allow_f16_reductions = State("allow_f16_reductions")
array_garbage_collection_guard = State("array_garbage_collection_guard")
auto_pcast = State("auto_pcast")
check_tracer_leaks = State("check_tracer_leaks")
debug_infs = State("debug_infs")
debug_key_reuse = State("debug_key_reuse")
debug_nans = State("debug_nans")
default_device = State("default_device")
default_matmul_precision = State("default_matmul_precision")
default_prng_impl = State("default_prng_impl")
enable_checks = State("enable_checks")
enable_custom_prng = State("enable_custom_prng")
enable_x64 = State("enable_x64")
explain_cache_misses = State("explain_cache_misses")
jax2tf_associative_scan_reductions = State("jax2tf_associative_scan_reductions")
legacy_prng_key = State("legacy_prng_key")
log_compiles = State("log_compiles")
no_collectives = State("no_collectives")
no_execution = State("no_execution")
no_tracing = State("no_tracing")
numpy_dtype_promotion = State("numpy_dtype_promotion")
numpy_rank_promotion = State("numpy_rank_promotion")
remove_size_one_mesh_axis_from_type = State("remove_size_one_mesh_axis_from_type")
softmax_custom_jvp = State("softmax_custom_jvp")
thread_guard = State("thread_guard")
threefry_partitionable = State("threefry_partitionable")
transfer_guard = State("transfer_guard")
transfer_guard_device_to_device = State("transfer_guard_device_to_device")
transfer_guard_device_to_host = State("transfer_guard_device_to_host")
transfer_guard_host_to_device = State("transfer_guard_host_to_device")


def disable_jit(disable: bool = True) -> Context:
    """Context manager: run jitted functions operation by operation.

    >>> with sagax.disable_jit():
    ...     print(sagax.jit(lambda x: type(x).__name__)(1))
    int
    """
    return context(disable_jit=disable)


def checking_leaks() -> Context:
    """Context manager: detect tracers that outlive their trace.

    >>> with sagax.checking_leaks():
    ...     pass
    """
    return context(check_tracer_leaks=True)
