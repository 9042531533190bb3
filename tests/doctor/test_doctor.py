"""`python -m sagax doctor`: broken set-ups, and whether the cause of each is found and said.

Most are real: folders with the files of a plugin, libraries that cannot be loaded, variables, a
program called nvidia-smi. What needs a GPU or its driver is told to the rules as facts.
"""

from __future__ import annotations

import _ctypes
import shutil
import sys
from pathlib import Path

import pytest

from sagax._doctor import rules
from sagax._doctor.facts import Driver, Facts, Gpu, Library, Plugin, Start
from sagax._doctor.report import report
from sagax._src import xla

ENGINE = xla.engine_version_text
NOTHING = dict.fromkeys(
    ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "XLA_FLAGS", "JAX_PLATFORMS", "LD_PRELOAD")
)


@pytest.fixture
def doctor(run_python, tmp_path):
    """Runs the doctor in a made-up environment; the lines of its sections, by title."""

    def run(env=None, status=1, path=()):
        folders = [str(Path(__file__).resolve().parents[2] / "src"), *map(str, path)]
        changed = {**NOTHING, "PYTHONPATH": ":".join(folders), **(env or {})}
        done = run_python("-m", "sagax", "doctor", env=changed, status=status, cwd=tmp_path)
        sections = {}
        for part in done.stdout.split("\n\n"):
            title, *lines = part.strip().splitlines()
            sections[title] = [line.strip() for line in lines]
        return sections

    return run


@pytest.fixture
def plugin(tmp_path):
    """A folder that looks like installed wheels of the plugin for CUDA."""

    def make(version=ENGINE, cuda=13, libraries=("cudnn/lib/libcudnn.so.9",)):
        folder = tmp_path / f"wheels{cuda}"
        files = {
            f"jax_plugins/xla_cuda{cuda}/__init__.py": "import jax",
            f"jax_plugins/xla_cuda{cuda}/xla_cuda_plugin.so": "no library at all",
            f"jax_cuda{cuda}_plugin/__init__.py": "",
        }
        for wheel in ("plugin", "pjrt"):
            name = f"jax_cuda{cuda}_{wheel}-{version}.dist-info/METADATA"
            files[name] = (
                f"Metadata-Version: 2.1\nName: jax-cuda{cuda}-{wheel}\nVersion: {version}\n"
            )
        for name, text in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        for name in libraries:
            target = folder / "nvidia" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(a_shared_library(), target)
        return folder

    return make


def a_shared_library() -> Path:
    """Some library that can be loaded by anybody: an extension module of Python's own."""
    return Path(_ctypes.__file__)


def problems(sections):
    return "\n".join(line for line in sections["found"] if line.startswith("PROBLEM"))


def advice(sections):
    return "\n".join(sections["what to do"])


# nothing wrong --------------------------------------------------------------------------------------


def test_a_machine_without_a_gpu(doctor):
    sections = doctor(status=0)
    assert sections["found"] == ["nothing wrong"]
    assert sections["what to do"] == ["nothing"]
    assert sections["devices"][0] == "cpu: starts: CpuDevice(id=0)"
    assert f"jaxlib {ENGINE}" in sections["versions"]
    assert list(sections)[-1] == "what to do"


def test_variables_that_change_behaviour_are_listed(doctor):
    sections = doctor({"JAX_ENABLE_X64": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, status=0)
    listed = sections["environment variables that change behaviour"]
    assert {"JAX_ENABLE_X64=1", "XLA_PYTHON_CLIENT_PREALLOCATE=false"} <= set(listed)


def test_several_cpu_devices(doctor):
    sections = doctor({"XLA_FLAGS": "--xla_force_host_platform_device_count=6"}, status=0)
    assert sections["devices"][0].endswith("CpuDevice(id=3), ... (6 in all)")


# variables ------------------------------------------------------------------------------------------


def test_a_flag_that_ends_every_process(doctor):
    sections = doctor({"XLA_FLAGS": "--xla_not_a_flag=3"})
    assert "XLA_FLAGS has a flag that this XLA does not know: --xla_not_a_flag=3" in problems(
        sections
    )
    assert "take it out of XLA_FLAGS" in advice(sections)
    assert sections["devices"][0].startswith("cpu: does not start")


def test_a_variable_of_an_option_that_cannot_be_read(doctor, run_python):
    sections = doctor({"JAX_ENABLE_X64": "banana"})
    assert "the environment variable JAX_ENABLE_X64 must be True or False" in problems(sections)
    assert "correct JAX_ENABLE_X64, or unset it" in advice(sections)
    # without the doctor the import itself fails, with the same words
    done = run_python("-c", "import sagax", env={"JAX_ENABLE_X64": "banana"}, status=1)
    assert "JAX_ENABLE_X64 must be True or False" in done.stderr


def test_a_misspelt_variable(doctor):
    sections = doctor({"JAX_DEBUG_NAN": "1"}, status=0)
    assert "JAX_DEBUG_NAN has no effect" in sections["found"][0]
    assert "it may be meant as JAX_DEBUG_NANS" in advice(sections)


@pytest.mark.parametrize(
    ("platforms", "problem", "todo"),
    [
        (
            "cuda",
            "names 'cuda', and the plugin for CUDA is not installed",
            'pip install "sagax[cuda',
        ),
        ("tpu,cpu", "names 'tpu', a platform that sagax does not have", "cpu, cuda or 'cuda,cpu'"),
    ],
)
def test_platforms_that_are_not_there(doctor, platforms, problem, todo):
    sections = doctor({"JAX_PLATFORMS": platforms})
    assert problem in problems(sections)
    assert todo in advice(sections)


def test_numbers_of_cpu_devices(doctor):
    sections = doctor({"JAX_NUM_CPU_DEVICES": "0"})
    assert "num_cpu_devices (JAX_NUM_CPU_DEVICES) is 0, which is no number of devices" in problems(
        sections
    )
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_NUM_CPU_DEVICES": "2"}
    sections = doctor(flags, status=0)
    assert "num_cpu_devices is 2, and XLA_FLAGS asks for 4" in sections["found"][0]
    assert "CpuDevice(id=1)" in sections["devices"][0]


# plugins and libraries ------------------------------------------------------------------------------


def test_a_plugin_of_another_version(doctor, plugin):
    sections = doctor(path=[plugin("0.1.2")])
    said = problems(sections)
    assert (
        f"jax-cuda13-plugin is of version 0.1.2, jaxlib of version {ENGINE}: they must be the same"
        in said
    )
    assert "jax-cuda13-pjrt is of version 0.1.2" in said
    assert f'pip install "jax-cuda13-plugin[with-cuda]=={ENGINE}"' in advice(sections)
    assert "plugin for CUDA 13, version 0.1.2" in sections["CUDA libraries"][0]


def test_a_plugin_that_cannot_be_loaded_and_no_driver(doctor, plugin):
    sections = doctor(path=[plugin()])
    said = problems(sections)
    assert "CUDA fails at this step: loading the plugin" in said
    assert "NVIDIA's driver is missing: libcuda.so.1" in said
    assert "without a GPU set JAX_PLATFORMS=cpu" in advice(sections)
    (cudnn,) = [line for line in sections["CUDA libraries"] if line.startswith("libcudnn.so.9")]
    assert "wheel " in cudnn
    assert "loaded " in cudnn
    assert "not loaded" not in cudnn


def test_a_library_of_the_wheels_that_is_broken(doctor, plugin):
    folder = plugin()
    (folder / "nvidia/cudnn/lib/libcudnn.so.9").write_text("not a library")
    sections = doctor(path=[folder])
    assert "CUDA fails at this step: loading libcudnn.so.9" in problems(sections)
    assert "Reinstall the nvidia wheels for CUDA 13" in advice(sections)


def test_libraries_that_are_nowhere(doctor, plugin):
    sections = doctor(path=[plugin()])
    assert "libcublas.so.13 is nowhere: neither in a wheel" in problems(sections)


def test_libraries_before_those_of_the_wheels(doctor, plugin, tmp_path):
    folder = tmp_path / "opt" / "cuda" / "lib64"
    folder.mkdir(parents=True)
    for name in ("libcudnn.so.9", "libcudnn_ops.so.9", "libcudnn.so", "libother.so.1"):
        shutil.copy(a_shared_library(), folder / name)
    sections = doctor({"LD_LIBRARY_PATH": f"/nowhere:{folder}"}, path=[plugin()])
    said = problems(sections)
    assert f"LD_LIBRARY_PATH puts {folder} before the wheels' own libraries" in said
    assert "It has libcudnn.so.9, libcudnn_ops.so.9" in said
    assert "libother" not in said
    assert f"take {folder} out of LD_LIBRARY_PATH" in advice(sections)
    (cudnn,) = [line for line in sections["CUDA libraries"] if line.startswith("libcudnn.so.9")]
    assert f"LD_LIBRARY_PATH {folder}/libcudnn.so.9" in cudnn


def test_two_plugins(doctor, plugin):
    first, second = plugin(), plugin(cuda=12)
    shutil.copytree(second, first, dirs_exist_ok=True)
    sections = doctor(path=[first])
    assert "plugins for CUDA 13 and CUDA 12 are installed" in "\n".join(sections["found"])
    assert "pip uninstall jax-cuda12-plugin" in advice(sections)


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "lots", "is no fraction of a GPU's memory"),
        ("XLA_CLIENT_MEM_FRACTION", "1.5", "is no fraction of a GPU's memory"),
        ("XLA_PYTHON_CLIENT_ALLOCATOR", "mine", "is no allocator of XLA's"),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "maybe", "is neither true nor false"),
    ],
)
def test_variables_of_the_gpu_client(variable, value, problem):
    facts = Facts(environ={variable: value}, plugins=(Plugin(13, "so", ENGINE),))
    (found,) = list(rules._client_variables(facts))
    assert found.grave
    assert f"{variable}={value} {problem}" in found.what
    (found,) = list(rules._client_variables(Facts(environ={variable: value})))
    assert not found.grave  # nobody wants a GPU


# GPUs and their driver ------------------------------------------------------------------------------

SMI = """#!{python}
import sys
if "--query-compute-apps" in sys.argv[1]:
    print("GPU-aa, 4242, python train.py, 70000")
else:
    print("0, NVIDIA H200, 143771, {free}, 9.0, GPU-aa, 570.1")
"""


def smi(tmp_path, free):
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(SMI.format(python=sys.executable, free=free))
    tool.chmod(0o755)
    return {"PATH": f"{tool.parent}:/usr/bin:/bin"}


def test_a_gpu_without_a_plugin(doctor, tmp_path):
    sections = doctor(smi(tmp_path, 143000))
    assert "there is a GPU of NVIDIA's, and the plugin for CUDA is not installed" in problems(
        sections
    )
    assert 'pip install "sagax[cuda13]"' in advice(sections)
    assert "GPU 0: NVIDIA H200, 143000 of 143771 MiB free" in sections["NVIDIA's driver"]


def test_memory_that_is_taken(doctor, plugin, tmp_path):
    sections = doctor(smi(tmp_path, 1200), path=[plugin()])
    said = problems(sections)
    assert (
        "the memory of GPU 0 (NVIDIA H200) is taken by python train.py (process 4242, 70000 MiB)"
        in said
    )
    assert "1200 of 143771 MiB are free, and XLA takes 75% when it starts" in said
    assert "XLA_PYTHON_CLIENT_PREALLOCATE=false" in advice(sections)
    assert "used by python train.py (process 4242, 70000 MiB)" in sections["NVIDIA's driver"]


def test_a_driver_that_was_updated_under_way(doctor, tmp_path):
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    words = "Failed to initialize NVML: Driver/library version mismatch"
    tool.write_text(f"#!/bin/sh\necho '{words}'\nexit 18\n")
    tool.chmod(0o755)
    sections = doctor({"PATH": f"{tool.parent}:/usr/bin:/bin"})
    assert "kernel module and its libraries are of different versions" in problems(sections)
    assert "restart the machine" in advice(sections)


FINE = Facts(
    versions={"jaxlib": ENGINE},
    engine=xla.engine_version,
    plugins=(Plugin(13, "/w/xla_cuda_plugin.so", ENGINE, ENGINE),),
    libraries=(Library("libcudnn.so.9", "/w/libcudnn.so.9", loaded="/w/libcudnn.so.9"),),
    driver=Driver(
        files=("/dev/nvidia0",),
        library="/lib/libcuda.so.1",
        code=0,
        cuda=(13, 0),
        version="580.1",
        gpus=(Gpu(0, "NVIDIA H200", 143771, 143000, "9.0"),),
        on_bus=1,
    ),
    starts={"cpu": Start(("CpuDevice(id=0)",)), "cuda": Start(("CudaDevice(id=0)",))},
)


def changed(**changes):
    driver = {k: changes.pop(k) for k in list(changes) if k in Driver.__dataclass_fields__}
    facts = {**FINE.__dict__, "driver": Driver(**{**FINE.driver.__dict__, **driver}), **changes}
    return Facts(**facts)


def test_a_gpu_that_works():
    assert rules.findings(FINE) == []
    assert "cuda: starts: CudaDevice(id=0)" in report(FINE, [])


@pytest.mark.parametrize(
    ("facts", "problem", "todo"),
    [
        (changed(cuda=(12, 4)), "the driver knows CUDA up to 12.4, the plugin is for CUDA 13", "sagax[cuda12]"),
        (changed(code=803), "cuInit answers 803, its version does not fit the kernel module", "restart"),
        (
            changed(code=100, environ={"CUDA_VISIBLE_DEVICES": "-1"}),
            "CUDA_VISIBLE_DEVICES='-1' hides every GPU",
            "unset it",
        ),
        (
            changed(environ={"CUDA_VISIBLE_DEVICES": "3"}),
            "CUDA_VISIBLE_DEVICES=3 names GPU 3, and there are 1",
            "nvidia-smi lists",
        ),
        (
            changed(gpus=(Gpu(0, "Tesla V100", 32000, 32000, "7.0"),)),
            "GPU 0 (Tesla V100) is of compute capability 7.0, too old for CUDA 13",
            "sagax[cuda12]",
        ),
        (
            changed(gpus=(Gpu(0, "NVIDIA H200", 143771, 100, "9.0", ("other (process 1, 9 MiB)",)),)),
            "the memory of GPU 0 (NVIDIA H200) is taken by other (process 1, 9 MiB): 100 of 143771",
            "end those processes",
        ),
        (
            changed(
                libraries=(
                    Library(
                        "libcudnn.so.9",
                        "/w/libcudnn.so.9",
                        on_path=("/opt/cuda/libcudnn.so.9",),
                        loaded="/opt/cuda/libcudnn.so.9.1",
                    ),
                )
            ),
            "LD_LIBRARY_PATH puts /opt/cuda before the wheels' own libraries. It has libcudnn.so.9; "
            "loaded from there: libcudnn.so.9",
            "take /opt/cuda out of LD_LIBRARY_PATH",
        ),
        (
            changed(starts={"cuda": Start(ended="ended by SIGSEGV", said="cuDNN: boom")}),
            "starting CUDA ends the process: ended by SIGSEGV; cuDNN: boom",
            "pip install --force-reinstall",
        ),
        (
            changed(library=None, library_error="cannot open", code=None, cuda=None),
            "NVIDIA's driver is missing: libcuda.so.1 cannot be loaded (cannot open). GPUs of NVIDIA's: 1 on the PCI bus",
            "install the driver",
        ),
        (changed(engine=(0, 9, 0)), "jaxlib 0.9.0 is not one that sagax works with", "pip install"),
        (
            changed(
                environ={
                    "XLA_CLIENT_MEM_FRACTION": "0.5",
                    "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.5",
                }
            ),
            "both XLA_CLIENT_MEM_FRACTION and XLA_PYTHON_CLIENT_MEM_FRACTION are set",
            "unset XLA_PYTHON_CLIENT_MEM_FRACTION",
        ),
    ],
    ids=lambda v: v[:30] if isinstance(v, str) else "",
)  # fmt: skip
def test_a_broken_gpu(facts, problem, todo):
    found = rules.findings(facts)
    assert len(found) == 1, found
    assert found[0].grave
    assert problem in found[0].what
    assert todo in found[0].todo
    text = report(facts, found)
    assert text.index(f"PROBLEM: {found[0].what}") < text.index(f"1. {found[0].todo}")


def test_memory_that_is_partly_taken_is_a_note_while_cuda_starts():
    facts = changed(gpus=(Gpu(0, "NVIDIA H200", 143771, 80000, "9.0"),))
    (found,) = rules.findings(facts)
    assert not found.grave
    assert "XLA_CLIENT_MEM_FRACTION=0.5" in found.todo
    preallocating_less = {"XLA_CLIENT_MEM_FRACTION": "0.3"}
    assert rules.findings(Facts(**{**facts.__dict__, "environ": preallocating_less})) == []


def test_who_wants_the_cpu_only_hears_nothing_of_gpus():
    facts = changed(platforms=("cpu",), code=803, starts={"cpu": Start(("CpuDevice(id=0)",))})
    assert rules.findings(facts) == []
