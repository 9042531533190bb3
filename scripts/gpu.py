"""Run everything that needs a GPU of NVIDIA's, and write one folder of results.

    python scripts/gpu.py [--dry-run] [--output FOLDER] [--cuda 12|13] [--python PATH --jax-python PATH]

It makes the environments that it needs, `.venv-gpu` with sagax and `.venv-gpu-jax` with jax, both of the engine's version
and for the CUDA that the driver knows; or uses the given interpreters as they are. Then it runs the doctor, the tests
marked `gpu`, the FAQ's benchmark and the benchmark rows of GPUs beside jax, each with a limit: nine minutes in all.

`--dry-run` needs no driver: it runs what can be run without one, and lists the rest. Where the CUDA plugin is
installed, it compiles for a GPU that is only described.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import datetime
import importlib.metadata
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
BUDGET = 540  # seconds, for all steps but installation
DRIVER = "libcuda.so.1"


@dataclasses.dataclass(frozen=True)
class Step:
    """One command: its name is that of the file with its output."""

    name: str
    command: list[str]
    seconds: int  # it is stopped after so many
    needs_gpu: bool = True
    about: str = ""
    env: dict[str, str] = dataclasses.field(default_factory=dict)


# --- the machine ------------------------------------------------------------------------------------


def driver_cuda() -> int | None:
    """Return the version of CUDA that the driver knows (13000 for 13.0); None without a driver."""
    try:
        library = ctypes.CDLL(DRIVER)
    except OSError:
        return None
    version = ctypes.c_int()
    return version.value if library.cuDriverGetVersion(ctypes.byref(version)) == 0 else None


def chosen_cuda(known: int | None) -> int:
    """Return the major version of CUDA whose plugin to install: the newest that the driver knows."""
    return 13 if known is None or known >= 13000 else 12


def engine_version() -> str:
    return importlib.metadata.version("jaxlib")


def plugin_of(python: str) -> str:
    """Return the plugin that an interpreter has, as "13 0.12.0", or ""."""
    code = (
        "from importlib.metadata import version\n"
        "for cuda in (13, 12):\n"
        "    try: print(cuda, version(f'jax-cuda{cuda}-plugin')); break\n"
        "    except Exception: pass\n"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


# --- what runs ----------------------------------------------------------------------------------------


def installations(cuda: int, engine: str, python: Path, jax_python: Path) -> list[Step]:
    """Return the steps that make the environments."""
    pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check"]
    plugin = f"jax-cuda{cuda}-plugin[with-cuda]=={engine}"
    base = getattr(sys, "_base_executable", sys.executable)
    return [
        Step("make-sagax", [base, "-m", "venv", str(python.parent.parent)], 60, False),
        Step(
            "install-sagax",
            [str(python), *pip, "--editable", f".[cuda{cuda},test,bench]", f"jaxlib=={engine}", plugin],
            900,
            False,
            "sagax beside the engine's plugin for CUDA",
        ),
        Step("make-jax", [base, "-m", "venv", str(jax_python.parent.parent)], 60, False),
        Step(
            "install-jax",
            [str(jax_python), *pip, f"jax[cuda{cuda}]==0.12.*", "scikit-learn", "matplotlib", "rich"],
            900,
            False,
            "jax, to compare with",
        ),
    ]  # fmt: skip


def steps(python: str, jax_python: str, output: Path) -> list[Step]:
    """Return the steps of a run, in order."""
    on_gpu = {"SAGAX_PLATFORMS": "cuda,cpu", "JAX_PLATFORMS": "cuda,cpu"}
    # each process would otherwise take three quarters of the memory
    sparing = {**on_gpu, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    host = {"SAGAX_PLATFORMS": "cpu", "JAX_PLATFORMS": "cpu"}
    return [
        Step("doctor", [python, "-m", "sagax", "doctor"], 60, False, "versions, driver, libraries"),
        Step(
            "lowering",
            [python, "-m", "pytest", "-q", "tests/lowering/test_cuda.py", "-p", "no:cacheprovider"],
            300,
            False,
            "modules for CUDA beside what jax records",
            host,
        ),
        Step(
            "described",
            [python, "-m", "pytest", "-q", "-rs", "tests/gpu/test_described.py", "-p", "no:cacheprovider"],
            300,
            False,
            "compiling for GPUs that are only described, by the plugin",
            host,
        ),
        Step(
            "rehearsal",
            [python, "-m", "pytest", "-q", "-m", "gpu", "tests/gpu", "-p", "no:cacheprovider"],
            300,
            False,
            "the tests marked gpu, on the CPU",
            {**host, "REHEARSE_GPU_TESTS": "1"},
        ),
        Step(
            "tests",
            [python, "-m", "pytest", "-q", "-n", "4", "-m", "gpu", "tests/gpu", f"--junitxml={output / 'tests.xml'}"],
            240,
            True,
            "the tests marked gpu",
            sparing,
        ),
        Step("faq", [python, "examples/faq_benchmark.py"], 40, True, "the FAQ's measurement", on_gpu),
        Step(
            "benchmarks",
            [python, "-m", "benchmarks", "--gpu", "--quick", "--sagax-python", python, "--jax-python", jax_python, "--output", str(output)],
            240,
            True,
            "sagax beside jax",
            sparing,
        ),
    ]  # fmt: skip


# --- running ------------------------------------------------------------------------------------------


def run(step: Step, output: Path) -> dict[str, object]:
    """Run a step; write its output to a file, and return what became of it."""
    print(f"== {step.name}: {step.about or shlex.join(step.command)}", flush=True)
    start, log = time.monotonic(), output / f"{step.name}.txt"
    with log.open("w", encoding="utf-8") as file:
        try:
            done = subprocess.run(
                step.command,
                cwd=ROOT,
                env={**os.environ, **step.env},
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=step.seconds,
                check=False,
            )
            status: int | str = done.returncode
        except subprocess.TimeoutExpired:
            status = f"stopped after {step.seconds} s"
        except OSError as error:
            status = str(error)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    took = round(time.monotonic() - start, 1)
    print("\n".join(f"   {line}" for line in lines[-3:]))
    print(f"   exit status {status}, {took} s", flush=True)
    return {"step": step.name, "status": status, "seconds": took}


def listed(step: Step) -> str:
    changes = [f"{k}={v}" for k, v in step.env.items()]
    return f"  {step.name} (at most {step.seconds} s): {shlex.join([*changes, *step.command])}"


def selected_tests(python: str) -> str:
    """Return how many tests are marked, as pytest says it."""
    command = [python, "-m", "pytest", "-q", "--collect-only", "-m", "gpu", "tests/gpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr.strip()


def selected_rows(python: str) -> str:
    command = [python, "-m", "benchmarks", "--gpu", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = [line.split()[0] for line in done.stdout.splitlines() if line]
    return f"{len(names)} rows: {', '.join(names)}"


def dry_run(args: argparse.Namespace, cuda: int, output: Path) -> int:
    """Run what needs no driver with this interpreter, and list the rest."""
    python = args.python or sys.executable
    given = args.python or str(ROOT / ".venv-gpu" / "bin" / "python")
    theirs = args.jax_python or str(ROOT / ".venv-gpu-jax" / "bin" / "python")
    plugin = plugin_of(python)
    print(f"plugin of {python}: {plugin or 'none, so nothing is compiled for a described GPU'}")
    results = [
        run(dataclasses.replace(step, seconds=4 * step.seconds), output)  # no GPU waits for it
        for step in steps(python, theirs, output)
        if not step.needs_gpu
    ]
    (output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print("\nA run on a machine with a driver would do this:")
    if not args.python:
        for step in installations(cuda, engine_version(), Path(given), Path(theirs)):
            print(listed(step))
    for step in steps(given, theirs, output):
        print(listed(step))
    print(f"  marked tests: {selected_tests(python)}")
    print(f"  benchmarks: {selected_rows(python)}")
    # the doctor's status tells of missing drivers, which a dry run does without
    failed = [r["step"] for r in results if r["status"] != 0 and r["step"] != "doctor"]
    print(f"failed: {', '.join(map(str, failed))}" if failed else "all that needs no driver passed")
    print(f"output: {output}")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="what needs no driver; list the rest"
    )
    parser.add_argument("--output", type=Path, help="folder of the results")
    parser.add_argument("--cuda", type=int, choices=(12, 13), help="default: what the driver knows")
    parser.add_argument(
        "--python", help="interpreter with sagax and its plugin; nothing is installed"
    )
    parser.add_argument("--jax-python", help="interpreter with jax and its plugin")
    args = parser.parse_args()

    known = driver_cuda()
    cuda = args.cuda or chosen_cuda(known)
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M")
    name = f"gpu-{stamp}" if not args.dry_run else f"gpu-dry-run-{stamp}"
    output = (args.output or ROOT / "build" / name).resolve()
    output.mkdir(parents=True, exist_ok=True)
    if args.dry_run:
        return dry_run(args, cuda, output)
    if known is None:
        print(
            f"{DRIVER} cannot be loaded: there is no driver of NVIDIA's. --dry-run does what needs none."
        )
        return 2
    python = Path(args.python or ROOT / ".venv-gpu" / "bin" / "python")
    theirs = Path(args.jax_python or ROOT / ".venv-gpu-jax" / "bin" / "python")
    results = []
    if not args.python:
        for step in installations(cuda, engine_version(), python, theirs):
            results.append(run(step, output))
            if results[-1]["status"] != 0:
                break
    installed = all(r["status"] == 0 for r in results)
    end = time.monotonic() + BUDGET
    for step in steps(str(python), str(theirs), output) if installed else ():
        if not (step.needs_gpu or step.name == "doctor"):
            continue  # that needs none, and no time of a GPU is spent on it
        left = int(end - time.monotonic())
        if left < 5:
            results.append({"step": step.name, "status": "no time was left", "seconds": 0.0})
            continue
        results.append(run(dataclasses.replace(step, seconds=min(step.seconds, left)), output))
    smi = shutil.which("nvidia-smi")
    about = (
        subprocess.run([smi, "-q"], capture_output=True, text=True, check=False).stdout
        if smi
        else ""
    )
    (output / "nvidia-smi.txt").write_text(about)
    (output / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    failed = [r["step"] for r in results if r["status"] != 0]
    print(f"failed: {', '.join(map(str, failed))}" if failed else "all steps passed")
    print(f"output: {output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
