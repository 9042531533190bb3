"""Collect facts of a machine: versions, variables, plugins, libraries, drivers, device starts."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sagax._src import config, xla

_TIMEOUT = 120  # for one probe: the first start of a GPU may take a minute
_LIBRARY_NAME = re.compile(
    r"lib(cudart|nvrtc|cublas|cublasLt|nccl|cupti|cusparse|cusolver|cufft|cudnn\w*|nvJitLink|nvshmem\w*)\.so[.\d]*"
)


@dataclass(frozen=True)
class Plugin:
    """Describe an installed CUDA plugin, and the versions of its wheels."""

    cuda: int
    library: str
    version: str
    pjrt_version: str | None = None


@dataclass(frozen=True)
class Library:
    """Locate one of NVIDIA's libraries: in the wheels, and other files of that name."""

    name: str
    wheel: str | None = None
    on_path: tuple[str, ...] = ()  # in folders of LD_LIBRARY_PATH
    system: str | None = None  # in the loader's cache
    loaded: str | None = None  # the file that a process loads to start CUDA


@dataclass(frozen=True)
class Gpu:
    """Describe a GPU from the output of nvidia-smi; memory in MiB."""

    index: int
    name: str
    total: int
    free: int
    capability: str = ""
    users: tuple[str, ...] = ()


@dataclass(frozen=True)
class Driver:
    """Describe NVIDIA's driver: the library, its initialization, and the output of nvidia-smi."""

    files: tuple[str, ...] = ()  # of devices
    library: str | None = None
    library_error: str = ""
    code: int | None = None
    cuda: tuple[int, int] | None = None
    version: str = ""
    gpus: tuple[Gpu, ...] = ()
    tool_error: str = ""
    on_bus: int = 0  # GPUs that the machine has, with or without a driver


@dataclass(frozen=True)
class Start:
    """Hold the outcome of starting a platform."""

    devices: tuple[str, ...] = ()
    step: str = ""
    detail: str = ""
    advice: str = ""
    ended: str = ""  # the signal or status, if the process crashed
    said: str = ""  # the text on standard error

    @property
    def fine(self) -> bool:
        return bool(self.devices)


@dataclass(frozen=True)
class Facts:
    """Hold all facts that the rules use."""

    environ: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()  # messages about invalid variables of options
    versions: Mapping[str, str] = field(default_factory=dict)
    engine: tuple[int, int, int] = (0, 12, 0)
    platforms: tuple[str, ...] = ()  # the requested platforms; () means any
    num_cpu_devices: int = -1
    plugins: tuple[Plugin, ...] = ()
    libraries: tuple[Library, ...] = ()
    driver: Driver = Driver()
    starts: Mapping[str, Start] = field(default_factory=dict)


def collect_facts(environ: Mapping[str, str]) -> Facts:
    """Collect all facts, in some seconds; steps that may crash run in child processes."""
    unreadable, settings, readable = _read_settings(environ)
    text = settings.platforms or settings.platform_name or ""
    platforms = tuple(p.strip().lower() for p in text.split(",") if p.strip())
    plugins = tuple(_plugins())
    driver = _driver(readable)
    starts = {"cpu": _run_probe("cpu", readable, settings.num_cpu_devices)[0]}
    libraries: tuple[Library, ...] = ()
    if plugins:
        starts["cuda"], lines = _run_probe("cuda", readable)
        mapped = [path for line in lines for path in line.get("mapped", ())]
        libraries = tuple(_libraries(environ, mapped))
    return Facts(
        environ=dict(environ),
        unreadable=tuple(unreadable),
        versions=_versions(),
        engine=xla.engine_version,
        platforms=platforms,
        num_cpu_devices=settings.num_cpu_devices,
        plugins=plugins,
        libraries=libraries,
        driver=driver,
        starts=starts,
    )


# --- versions and variables ------------------------------------------------------------------------


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "jaxlib": xla.engine_version_text}
    for package in ("sagax", "numpy", "scipy", "ml_dtypes", "jax"):
        version = _version(package)
        if version is not None:
            found[package] = version
    found["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    return found


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _read_settings(environ: Mapping[str, str]) -> tuple[list[str], config.Settings, dict[str, str]]:
    """Return messages about invalid variables, and the settings and environment without them."""
    invalid: list[str] = []
    readable = dict(environ)
    for variable, value in environ.items():
        if variable.startswith(("JAX_", "SAGAX_")):
            try:
                config.from_environment({variable: value})
            except ValueError as error:
                invalid.append(str(error))
                del readable[variable]
    return invalid, config.from_environment(readable), readable


# --- plugins and libraries ---------------------------------------------------------------------------


def _plugins() -> Iterable[Plugin]:
    for found in xla.cuda_wheels.find_plugins():
        pjrt = _version(f"jax-cuda{found.cuda}-pjrt")
        yield Plugin(found.cuda, str(found.library), found.version, pjrt)


def _libraries(environ: Mapping[str, str], mapped: Sequence[str]) -> Iterable[Library]:
    """Yield the libraries that the plugin loads, and others of NVIDIA's in LD_LIBRARY_PATH."""
    plugin = xla.cuda_wheels.find_plugin()
    if plugin is None:
        return
    wheels = {found.name: found.path for found in xla.cuda_wheels.find_libraries(plugin)}
    shadows = _shadowing_libraries(environ.get("LD_LIBRARY_PATH", ""))
    cached = _loader_cache()
    loaded = {os.path.basename(path): path for path in mapped}
    for name in dict.fromkeys([*wheels, *shadows]):
        wheel = wheels.get(name)
        known = [path for file, path in loaded.items() if file.startswith(name)]
        yield Library(
            name,
            str(wheel) if wheel is not None else None,
            tuple(shadows.get(name, ())),
            cached.get(name),
            known[0] if known else None,
        )


def _shadowing_libraries(folders: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for folder in filter(None, folders.split(os.pathsep)):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            soname = re.match(r"lib[\w]+\.so\.\d+", name)
            if _LIBRARY_NAME.fullmatch(name) and soname is not None and soname[0] == name:
                found.setdefault(name, []).append(os.path.join(folder, name))
    return found


def _loader_cache() -> dict[str, str]:
    tool = shutil.which("ldconfig", path="/sbin:/usr/sbin:/usr/bin:/bin")
    if tool is None:
        return {}
    done = _run([tool, "-p"], os.environ)
    lines = [line.split(" => ") for line in done.stdout.splitlines() if " => " in line]
    return {left.split()[0]: right.strip() for left, right in lines}


# --- driver ------------------------------------------------------------------------------------------


def _driver(environ: Mapping[str, str]) -> Driver:
    start, lines = _run_probe("driver", environ)
    facts = dict(ChainMap(*reversed(lines)))
    version, gpus, error = _nvidia_smi(environ)
    return Driver(
        files=tuple(sorted(map(str, pathlib.Path("/dev").glob("nvidia[0-9]*")))),
        library=facts.get("library"),
        library_error=facts.get("error", "") or start.ended,
        code=facts.get("code"),
        cuda=tuple(facts["cuda"]) if "cuda" in facts else None,
        version=version,
        gpus=gpus,
        tool_error=error,
        on_bus=_count_pci_gpus(),
    )


def _count_pci_gpus() -> int:
    """Return the number of NVIDIA's display controllers on the PCI bus."""
    count = 0
    for device in pathlib.Path("/sys/bus/pci/devices").glob("*"):
        try:
            vendor = (device / "vendor").read_text().strip()
            kind = (device / "class").read_text().strip()
        except OSError:
            continue
        count += vendor == "0x10de" and kind.startswith("0x03")
    return count


def _nvidia_smi(environ: Mapping[str, str]) -> tuple[str, tuple[Gpu, ...], str]:
    """Return the driver's version and the GPUs, or the error of nvidia-smi."""
    tool = shutil.which("nvidia-smi", path=environ.get("PATH"))
    if tool is None:
        return "", (), ""
    fields = "index,name,memory.total,memory.free,compute_cap,uuid,driver_version"
    form = "--format=csv,noheader,nounits"
    done = _run([tool, f"--query-gpu={fields}", form], environ)
    if done.returncode != 0:
        return "", (), (done.stdout + done.stderr).strip() or f"exit status {done.returncode}"
    users: dict[str, list[str]] = {}
    apps = _run([tool, "--query-compute-apps=gpu_uuid,pid,process_name,used_memory", form], environ)
    for uuid, pid, name, used in _parse_rows(apps.stdout, 4):
        users.setdefault(uuid, []).append(f"{name} (process {pid}, {used} MiB)")
    gpus, version = [], ""
    for index, name, total, free, capability, uuid, driver in _parse_rows(done.stdout, 7):
        version = driver
        known = tuple(users.get(uuid, ()))
        gpus.append(
            Gpu(
                int(index), name, _parse_mebibytes(total), _parse_mebibytes(free), capability, known
            )
        )
    return version, tuple(gpus), ""


def _parse_mebibytes(text: str) -> int:
    return int(text) if text.isdigit() else 0  # "[N/A]" for GPUs with shared memory


def _parse_rows(text: str, width: int) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return [row for row in rows if len(row) == width]


# --- processes -----------------------------------------------------------------------------------------


def _run(command: Sequence[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            list(command),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(command), 255, "", str(error))


def _run_probe(
    platform: str, environ: Mapping[str, str], num_cpu_devices: int = -1
) -> tuple[Start, list[dict[str, Any]]]:
    """Run a probe in a child process; return its outcome and its lines of facts."""
    script = str(pathlib.Path(__file__).with_name("probe.py"))
    # -P: do not search the folder of the script, whose modules are this package's
    done = _run([sys.executable, "-P", script, platform, str(num_cpu_devices)], environ)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    facts = dict(ChainMap(*reversed(lines)))
    ended = ""
    if done.returncode < 0:
        ended = f"ended by {signal.Signals(-done.returncode).name}"
    elif done.returncode > 1 or (done.returncode == 1 and "step" not in facts):
        ended = f"ended with status {done.returncode}"
    start = Start(
        devices=tuple(facts.get("devices", ())),
        step=facts.get("step", ""),
        detail=facts.get("detail", ""),
        advice=facts.get("advice", ""),
        ended=ended,
        said=done.stderr.strip(),
    )
    return start, lines
