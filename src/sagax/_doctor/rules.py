"""Derive findings from facts of the machine: problems, causes and advice."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from sagax._doctor.facts import Facts, Gpu, Start
from sagax._src import config


class Finding(NamedTuple):
    """Hold a problem and its advice; if `grave`, a device does not work as requested."""

    grave: bool
    what: str
    todo: str


_MIN_JAXLIB: Final = (0, 10, 2)
_JAXLIB_BOUND: Final = (0, 13, 0)
# by plugin: the CUDA version that the driver must support, and the driver's version
_MIN_DRIVERS: Final = {13: ((13, 0), "580"), 12: ((12, 0), "525")}
_MIN_CAPABILITY: Final = {13: 7.5, 12: 5.2}
_ALLOCATORS: Final = ("default", "platform", "bfc", "cuda_async", "vmm", "address")
_DEFAULT_FRACTION: Final = 0.75  # the part of a GPU's memory that XLA preallocates


def check_facts(facts: Facts) -> list[Finding]:
    """Return all problems and notes, grave ones first."""
    found = [finding for rule in _RULES for finding in rule(facts)]
    return sorted(found, key=lambda finding: not finding.grave)


def _requests_cuda(facts: Facts) -> bool:
    named = [p for p in facts.platforms if p in ("cuda", "gpu")]
    return bool(named) or (not facts.platforms and bool(facts.plugins))


def _has_gpu(facts: Facts) -> bool:
    return bool(facts.driver.on_bus or facts.driver.files or facts.driver.gpus)


# --- all platforms ---------------------------------------------------------------------------------


def _versions(facts: Facts) -> Iterator[Finding]:
    if not _MIN_JAXLIB <= facts.engine < _JAXLIB_BOUND:
        text = ".".join(map(str, facts.engine))
        yield Finding(
            True,
            f"jaxlib {text} is not one that sagax works with",
            'pip install "jaxlib>=0.10.2,<0.13"',
        )


def _invalid_settings(facts: Facts) -> Iterator[Finding]:
    for problem in facts.unreadable:
        variable = re.search(r"(?:JAX|SAGAX)_\w+", problem)
        name = variable[0] if variable else "it"
        yield Finding(
            True,
            f"{problem}; sagax cannot be imported while it is so",
            f"correct {name}, or unset it",
        )


def _unknown_variables(facts: Facts) -> Iterator[Finding]:
    known = {
        f"JAX_{option.jax_name.removeprefix('jax_').upper()}" for option in config.OPTIONS.values()
    }
    known |= {f"JAX_{option.name.upper()}" for option in config.OPTIONS.values()}
    for variable in facts.environ:
        if not variable.startswith("JAX_") or variable in known:
            continue
        near = difflib.get_close_matches(variable, known, 1, 0.85)
        if near:
            yield Finding(
                False,
                f"the environment variable {variable} has no effect: there is no option of that name",
                f"it may be meant as {near[0]}",
            )


def _platforms(facts: Facts) -> Iterator[Finding]:
    for platform in facts.platforms:
        if platform not in ("cpu", "cuda", "gpu"):
            yield Finding(
                True,
                f"JAX_PLATFORMS (or SAGAX_PLATFORMS) names {platform!r}, a platform that sagax does not have",
                "set it to cpu, cuda or 'cuda,cpu', or unset it",
            )
        elif platform != "cpu" and not facts.plugins:
            yield Finding(
                True,
                f"JAX_PLATFORMS (or SAGAX_PLATFORMS) names {platform!r}, and the plugin for CUDA is not installed",
                f"{_install_command(facts)}; or unset it, to use the CPU",
            )


def _cpu_start(facts: Facts) -> Iterator[Finding]:
    start = facts.starts.get("cpu")
    if start is None or start.fine:
        return
    flags = _unknown_flags(start.said)
    if flags:
        yield Finding(
            True,
            f"XLA_FLAGS has a flag that this XLA does not know: {flags}. XLA ends the process when it meets one",
            "take it out of XLA_FLAGS",
        )
        return
    flags = facts.environ.get("XLA_FLAGS", "")
    reason = start.detail or _last_output(start)
    yield Finding(
        True,
        f"the CPU cannot be started: {reason}",
        f"try without XLA_FLAGS={flags!r}"
        if flags
        else "reinstall jaxlib: pip install --force-reinstall jaxlib",
    )


def _unknown_flags(said: str) -> str:
    found = re.search(r"[Uu]nknown flags? in XLA_FLAGS: *([^\n]*)", said)
    return found[1].strip() if found else ""


def _last_output(start: Start) -> str:
    lines = [line for line in start.said.splitlines() if line.strip()]
    return "; ".join([part for part in (start.ended, lines[-1] if lines else "") if part])


def _cpu_devices(facts: Facts) -> Iterator[Finding]:
    flag = re.search(
        r"--xla_force_host_platform_device_count=(\S*)", facts.environ.get("XLA_FLAGS", "")
    )
    count = facts.num_cpu_devices
    if count == 0 or count < -1:
        yield Finding(
            True,
            f"num_cpu_devices (JAX_NUM_CPU_DEVICES) is {count}, which is no number of devices",
            "set it to 1 or more, or unset it",
        )
    elif flag is not None and count > 0 and flag[1] != str(count):
        yield Finding(
            False,
            f"num_cpu_devices is {count}, and XLA_FLAGS asks for {flag[1]} CPU devices: the first one counts",
            "set only one of JAX_NUM_CPU_DEVICES and --xla_force_host_platform_device_count",
        )


# --- CUDA: installation --------------------------------------------------------------------------------


def _install_command(facts: Facts) -> str:
    cuda = 13
    if facts.driver.cuda is not None and facts.driver.cuda < (13, 0):
        cuda = 12
    if any(_capability(g) < _MIN_CAPABILITY[13] for g in facts.driver.gpus if g.capability):
        cuda = 12
    return f'pip install "sagax[cuda{cuda}]"'


def _capability(gpu: Gpu) -> float:
    try:
        return float(gpu.capability)
    except ValueError:
        return 99.0


def _missing_plugin(facts: Facts) -> Iterator[Finding]:
    if facts.plugins or not _has_gpu(facts) or (facts.platforms and not _requests_cuda(facts)):
        return
    if not any(p in ("cuda", "gpu") for p in facts.platforms):  # else _platforms reports it
        yield Finding(
            True,
            "there is a GPU of NVIDIA's, and the plugin for CUDA is not installed: programs run on the CPU",
            _install_command(facts),
        )


def _plugin_versions(facts: Facts) -> Iterator[Finding]:
    engine = facts.versions.get("jaxlib", "")
    for plugin in facts.plugins:
        wheels = {
            f"jax-cuda{plugin.cuda}-plugin": plugin.version,
            f"jax-cuda{plugin.cuda}-pjrt": plugin.pjrt_version,
        }
        for wheel, version in wheels.items():
            if version is not None and version != engine:
                yield Finding(
                    True,
                    f"{wheel} is of version {version}, jaxlib of version {engine}: they must be the same",
                    f'pip install "jax-cuda{plugin.cuda}-plugin[with-cuda]=={engine}" jaxlib=={engine}',
                )
    if len(facts.plugins) > 1:
        named = " and ".join(f"CUDA {plugin.cuda}" for plugin in facts.plugins)
        unwanted = facts.plugins[-1].cuda
        yield Finding(
            False,
            f"plugins for {named} are installed: the first of them is used",
            f"pip uninstall jax-cuda{unwanted}-plugin jax-cuda{unwanted}-pjrt",
        )


def _libraries(facts: Facts) -> Iterator[Finding]:
    start = facts.starts.get("cuda")
    failed = start is not None and not start.fine
    shadowing: dict[str, list[str]] = {}
    for library in facts.libraries:
        if library.on_path:
            folder = os.path.dirname(library.on_path[0])
            shadowing.setdefault(folder, []).append(library.name)
        if library.wheel is None and not library.on_path and library.system is None:
            yield Finding(
                failed,
                f"{library.name} is nowhere: neither in a wheel nor in LD_LIBRARY_PATH nor known to the loader",
                _reinstall_command(facts),
            )
    for folder, names in shadowing.items():
        loaded = [x.name for x in facts.libraries if x.loaded and x.loaded.startswith(folder)]
        used = f"; loaded from there: {', '.join(loaded)}" if loaded else ""
        yield Finding(
            failed or bool(loaded),
            f"LD_LIBRARY_PATH puts {folder} before the wheels' own libraries. It has {', '.join(names)}{used}. "
            "Libraries of different versions do not work together",
            f"take {folder} out of LD_LIBRARY_PATH",
        )


def _reinstall_command(facts: Facts) -> str:
    cuda = facts.plugins[0].cuda if facts.plugins else 13
    engine = facts.versions.get("jaxlib", "")
    return f'pip install --force-reinstall "jax-cuda{cuda}-plugin[with-cuda]=={engine}"'


# --- CUDA: driver and GPUs -------------------------------------------------------------------------


def _driver(facts: Facts) -> Iterator[Finding]:
    driver = facts.driver
    wanted = _requests_cuda(facts)
    if "mismatch" in driver.tool_error:
        yield Finding(
            True,
            "the driver's kernel module and its libraries are of different versions, as after an update",
            "restart the machine (or unload and load the nvidia modules)",
        )
    elif driver.tool_error and (wanted or _has_gpu(facts)):
        yield Finding(
            True,
            f"nvidia-smi fails: {driver.tool_error.splitlines()[0]}",
            "install or repair NVIDIA's driver, then restart the machine",
        )
    if not wanted or not facts.plugins:
        return
    if driver.library is None:
        hint = "start the container with --gpus all, " if _in_container(facts) else ""
        gpus = f"{driver.on_bus} on the PCI bus" if driver.on_bus else "none to be seen"
        yield Finding(
            True,
            f"NVIDIA's driver is missing: libcuda.so.1 cannot be loaded ({driver.library_error or 'not found'}). "
            f"GPUs of NVIDIA's: {gpus}",
            f"{hint}install the driver, or without a GPU set JAX_PLATFORMS=cpu",
        )
        return
    yield from _driver_answers(facts)


def _in_container(facts: Facts) -> bool:
    return "KUBERNETES_SERVICE_HOST" in facts.environ or os.path.exists("/.dockerenv")


def _driver_answers(facts: Facts) -> Iterator[Finding]:
    driver, plugin = facts.driver, facts.plugins[0]
    needed, version = _MIN_DRIVERS[plugin.cuda]
    if driver.cuda is not None and driver.cuda < needed:
        yield Finding(
            True,
            f"the driver knows CUDA up to {driver.cuda[0]}.{driver.cuda[1]}, the plugin is for CUDA {plugin.cuda}",
            f"update the driver to {version} or newer"
            + (
                ', or use the other plugin: pip install "sagax[cuda12]"'
                if plugin.cuda == 13
                else ""
            ),
        )
    hidden = facts.environ.get("CUDA_VISIBLE_DEVICES")
    if driver.code == 100 and hidden is not None:
        yield Finding(
            True,
            f"CUDA_VISIBLE_DEVICES={hidden!r} hides every GPU",
            "unset it, or set it to the number of a GPU, such as 0",
        )
    elif driver.code not in (None, 0):
        meaning = {
            3: "it was started before this process forked",
            100: "there is no GPU that it can use",
            802: "the system is not yet ready (NVSwitch: is the fabric manager running?)",
            803: "its version does not fit the kernel module",
            804: "this GPU has no forward compatibility",
            999: "an unknown error, often after the machine slept",
        }.get(driver.code or 0, "see cudaError in NVIDIA's documentation")
        yield Finding(
            True,
            f"the driver cannot be started: cuInit answers {driver.code}, {meaning}",
            "see that nvidia-smi lists a GPU; restart the machine",
        )


def _gpus(facts: Facts) -> Iterator[Finding]:
    if not _requests_cuda(facts) or not facts.plugins:
        return
    plugin = facts.plugins[0]
    for gpu in facts.driver.gpus:
        if gpu.capability and _capability(gpu) < _MIN_CAPABILITY[plugin.cuda]:
            other = ': pip install "sagax[cuda12]"' if plugin.cuda == 13 else ""
            yield Finding(
                True,
                f"GPU {gpu.index} ({gpu.name}) is of compute capability {gpu.capability}, too old for CUDA {plugin.cuda}",
                f"use the plugin for an older CUDA{other}, or another GPU",
            )
    yield from _visible_devices(facts)
    yield from _memory(facts)


def _visible_devices(facts: Facts) -> Iterator[Finding]:
    chosen = facts.environ.get("CUDA_VISIBLE_DEVICES", "")
    numbers = [int(n) for n in chosen.split(",") if n.strip().isdigit()]
    beyond = [n for n in numbers if n >= len(facts.driver.gpus)]
    if facts.driver.gpus and beyond:
        yield Finding(
            True,
            f"CUDA_VISIBLE_DEVICES={chosen} names GPU {beyond[0]}, and there are {len(facts.driver.gpus)}, counted from 0",
            "name GPUs that nvidia-smi lists",
        )


def _memory(facts: Facts) -> Iterator[Finding]:
    environ = facts.environ
    preallocates = environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "") not in ("false", "False", "0")
    wanted = _memory_fraction(facts) or _DEFAULT_FRACTION
    for gpu in facts.driver.gpus:
        if not gpu.total or not (
            gpu.free < 512 or (preallocates and gpu.free < wanted * gpu.total)
        ):
            continue
        by = f" by {', '.join(gpu.users)}" if gpu.users else " by other processes"
        fits = int(90 * gpu.free / gpu.total) / 100
        share = f"takes {wanted:.0%} when it starts" if preallocates else "needs some hundred MiB"
        limit = "XLA_PYTHON_CLIENT_PREALLOCATE=false" + (
            f" or XLA_CLIENT_MEM_FRACTION={fits}" if fits >= 0.05 else ""
        )
        yield Finding(
            gpu.free < 512 or not facts.starts.get("cuda", Start()).fine,
            f"the memory of GPU {gpu.index} ({gpu.name}) is taken{by}: {gpu.free} of {gpu.total} MiB are free, and XLA {share}",
            f"end those processes, or choose another GPU by CUDA_VISIBLE_DEVICES, or set {limit}",
        )


def _memory_fraction(facts: Facts) -> float | None:
    text = facts.environ.get("XLA_CLIENT_MEM_FRACTION") or facts.environ.get(
        "XLA_PYTHON_CLIENT_MEM_FRACTION"
    )
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _client_variables(facts: Facts) -> Iterator[Finding]:
    grave = _requests_cuda(facts)
    environ = facts.environ
    names = ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION")
    given = [name for name in names if environ.get(name)]
    for name in given:
        value = _memory_fraction(Facts(environ={name: environ[name]}))
        if value is None or not 0 < value <= 1:
            yield Finding(
                grave,
                f"{name}={environ[name]} is no fraction of a GPU's memory",
                "set it to a number above 0 and up to 1, such as 0.5",
            )
    if len(given) == 2:
        yield Finding(
            grave, f"both {given[0]} and {given[1]} are set, which XLA refuses", f"unset {given[1]}"
        )
    allocator = environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "default")
    if allocator.lower() not in _ALLOCATORS:
        yield Finding(
            grave,
            f"XLA_PYTHON_CLIENT_ALLOCATOR={allocator} is no allocator of XLA's",
            f"set it to one of {', '.join(_ALLOCATORS)}",
        )
    preallocate = environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "")
    if preallocate.lower() not in ("", "true", "false", "0", "1"):
        yield Finding(
            grave,
            f"XLA_PYTHON_CLIENT_PREALLOCATE={preallocate} is neither true nor false: XLA takes it for true",
            "set it to true or false",
        )


def _cuda_start(facts: Facts) -> Iterator[Finding]:
    """Report the failure of starting CUDA, unless another rule explains it."""
    start = facts.starts.get("cuda")
    if start is None or start.fine or not _requests_cuda(facts):
        return
    if start.step == "checking the plugin" or _unknown_flags(start.said):
        return  # other rules report the versions or the flags
    if start.step:
        yield Finding(
            True,
            f"CUDA fails at this step: {start.step}: {start.detail}",
            start.advice or _reinstall_command(facts),
        )
    else:
        yield Finding(
            True,
            f"starting CUDA ends the process: {_last_output(start)}",
            _reinstall_command(facts),
        )


_RULES: Final[tuple[Callable[[Facts], Iterator[Finding]], ...]] = (
    _versions,
    _invalid_settings,
    _unknown_variables,
    _platforms,
    _cpu_start,
    _cpu_devices,
    _missing_plugin,
    _plugin_versions,
    _libraries,
    _driver,
    _gpus,
    _client_variables,
    _cuda_start,
)
