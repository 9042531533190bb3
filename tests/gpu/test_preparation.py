"""What is prepared for a GPU and can be tried without one: extras, versions, the script of `make gpu`."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from sagax._src import xla
from sagax._src.xla import cuda, cuda_wheels, gpu_targets

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("gpu_script", ROOT / "scripts" / "gpu.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_extras_bring_the_plugin_of_the_engines_versions():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (engine,) = [d for d in project["dependencies"] if d.startswith("jaxlib")]
    for major in (12, 13):
        (plugin,) = project["optional-dependencies"][f"cuda{major}"]
        assert plugin == engine.replace("jaxlib", f"jax-cuda{major}-plugin[with-cuda]")


def plugin():
    return cuda_wheels.CudaPlugin(13, Path("x.so"), "jax_cuda13_plugin", xla.engine_version_text)


def test_a_library_older_than_xla_was_built_with_is_named(monkeypatch):
    versions = {
        "cuFFT": cuda.LibraryVersion(12500, 12000),
        "cuDNN": cuda.LibraryVersion(90100, 91200),
    }
    monkeypatch.setattr(cuda, "library_versions", lambda: versions)
    with pytest.raises(cuda.CudaUnavailable) as caught:
        cuda.check_libraries(plugin())
    text = str(caught.value)
    assert "checking the libraries: cuDNN 90100 is loaded, XLA was built with 91200" in text
    assert "LD_LIBRARY_PATH" in text
    versions["cuDNN"] = cuda.LibraryVersion(92800, 91200)
    cuda.check_libraries(plugin())


def test_a_plugin_of_another_version_is_refused(monkeypatch):
    other = plugin()._replace(version="0.1.2")
    monkeypatch.setattr(cuda_wheels, "find_plugin", lambda: other)
    with pytest.raises(cuda.CudaUnavailable, match=r"its version is 0\.1\.2"):
        cuda.described_devices("h100", {})
    cuda.library_versions.cache_clear()
    assert cuda.library_versions() == {}
    assert not cuda.cusolver_has_eig()
    cuda.library_versions.cache_clear()


def test_the_message_has_one_full_stop():
    assert ". See" in str(cuda.CudaUnavailable("starting", "No GPU.", "See the driver."))
    assert ".." not in str(cuda.CudaUnavailable("starting", "No GPU.", "See the driver."))


@pytest.mark.parametrize("model", gpu_targets.MODELS)
def test_described_gpus_name_their_capability(model):
    text = gpu_targets.target_config(model, 13)
    assert f"major: {8 if model == 'a100' else 9} minor: 0" in text
    assert "runtime_version { major: 13 minor: 0 patch: 0 }" in text
    assert text.count("{") == text.count("}")


def test_the_driver_decides_which_cuda_is_installed(script):
    assert [script.chosen_cuda(v) for v in (None, 13000, 13010, 12080)] == [13, 13, 13, 12]


def test_a_run_fits_into_its_time(script, tmp_path):
    steps = script.steps("p", "q", tmp_path)
    assert len({s.name for s in steps}) == len(steps)
    on_device = [s for s in steps if s.needs_gpu or s.name == "doctor"]
    assert {"tests", "faq", "benchmarks"} <= {s.name for s in on_device}
    assert sum(s.seconds for s in on_device) <= 600
    assert script.BUDGET <= 540


def test_the_environments_have_one_version_of_the_engine(script, tmp_path):
    ours, theirs = tmp_path / "a/bin/python", tmp_path / "b/bin/python"
    made = script.installations(12, "0.12.0", ours, theirs)
    (install,) = [s for s in made if s.name == "install-sagax"]
    assert {"jaxlib==0.12.0", "jax-cuda12-plugin[with-cuda]==0.12.0"} <= set(install.command)
    assert any(".[cuda12," in word for word in install.command)


def test_a_step_is_stopped_at_its_limit_and_its_output_kept(script, tmp_path):
    code = "import time; print('begun', flush=True); time.sleep(60)"
    slow = script.Step("slow", [sys.executable, "-c", code], 2, False)
    found = script.run(slow, tmp_path)
    assert found["status"] == "stopped after 2 s"
    assert (tmp_path / "slow.txt").read_text() == "begun\n"
    quick = script.Step("quick", [sys.executable, "-c", "raise SystemExit(3)"], 60, False)
    assert script.run(quick, tmp_path)["status"] == 3
    assert "at most 60 s" in script.listed(quick)
