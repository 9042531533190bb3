"""What all tests share: the same settings everywhere, golden files, recorded data, subprocesses."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import gc
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
SOURCE = ROOT / "src"
DATA = TESTS / "data"

# The suite means the same on every machine: options come from the tests alone (64 bits are off, as
# by default). Which devices there are stays the machine's.
for _name in list(os.environ):
    if _name.startswith(("SAGAX_", "JAX_")) and not _name.endswith(("_PLATFORMS", "_CACHE_DIR")):
        del os.environ[_name]
for _name in (
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
):  # a Chinese locale would choose the language of texts
    if os.environ.get(_name, "").lower().startswith("zh"):
        os.environ[_name] = "C.UTF-8"

# Compiled programs are kept in a folder of this run, which its processes share and which ends with it.
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
if "PYTEST_XDIST_WORKER" not in os.environ:
    _programs = tempfile.TemporaryDirectory(prefix="sagax-programs-", ignore_cleanup_errors=True)
    os.environ["SAGAX_CACHE_DIR"] = _programs.name

# Random programs are the same in every run, and slow machines do not fail them.
hypothesis.settings.register_profile(
    "suite",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("suite")


# Tiers. Each test is of one: `unit` compiles little or nothing, `process` starts processes, `compile` is the rest. Some
# are `slow`, too: `make test-fast` leaves them out, and those of `process`, but keeps `smoke`. Names begin so.
_UNIT = tuple(
    "autofix/test_repairs.py check/ core/dims/ core/test_operands.py diagnostics/ function_analysis/ languages/ trees/ "
    "test_architecture.py test_config.py test_docs.py::test_paths".split()
)
_PROCESS = tuple(
    "autofix/test_command.py autofix/test_explain.py autofix/test_kernel_findings.py doctor/ report/test_report_browser.py "
    "runtime/distributed/ runtime/test_compilation_cache.py runtime/test_map_limit.py "
    "test_attacks.py::test_nothing test_coexistence.py test_contributing.py test_examples.py test_gallery.py test_libraries.py test_soak.py".split()
)
# Files of more than 12 seconds of CPU time, and single tests of more than 5 in others; the whole suite takes half an hour.
_SLOW = re.compile(
    r"api/test_(eager_transforms|export|shard_map)\.py|core/test_shardings\.py::test_types_follow_as_in_jax"
    r"|higher_order/test_compositions|lax/test_lax_oracle|lowering/test_compile_growth|nn/test_nn\.py|runtime/test_key_reuse"
    r"|numpy/test_(contraction|differential|elementwise|linalg|reductions|shaping)\.py"
    r"|primitives/test_(convolution|elementwise_values|linalg|reduce_window|special|transcendental)\.py"
    r"|primitives/test_laws\.py::\w+\[\w+-[1-9]"  # all samples of a primitive but the first
    r"|random/test_(random|values)\.py|scipy/test_(linalg|sparse_linalg|special|stats)\.py"
    r"|test_(docstrings|generated_calls|strangers|strict_settings)|transforms/test_(compositions|masked_cotangents|unused_outputs)"
    r"|autofix/test_(form_repairs|proof|silent_findings|silent_repairs)|callbacks/test_callbacks|diagnostics/test_(leaks|pages|user_exceptions)"
    r"|experimental/test_(checkify|jet|sparse|pallas_ops|pallas_triton)|experimental/test_pallas\.py::test_random|higher_order/test_references|numpy/test_indexing"
    r"|primitives/test_gather_scatter|scipy/test_(optimize_rotations|signal)"
    r"|languages/test_chinese\.py::test_no_text_is_missing\[(advice|expected)"
    r"|ui/test_ui\.py::test_explained|lowering/test_exact|test_profiler|check/test_command\.py::test_the_examples"
)

# Tests whose programs promote on purpose, were recorded under the default settings, or assert what settings change.
_OWN_PROMOTION = re.compile(
    r"\w+/test_(behavior|against_jax)|test_(strangers|generated_calls|random_programs|strict_settings|config|newer|bad_input|coexistence|libraries)"
    r"|core/test_(dtypes|x64)|diagnostics/test_nonfinite|numpy/test_(elementwise|weak_types|differential|operators)|lax/test_lax_oracle"
    r"|ui/|autofix/|check/|lsp/|test_(docs|docstrings|examples|site|jax_internals)"
)

# Those of them that only promote, or were recorded: they run under checks.
_CHECKED = re.compile(r"core/test_(dtypes|x64)|lax/test_lax_oracle")

# Tests of which a setting is no matter, a file and a name in each line: programs that compute NaNs and return them, which
# jax refuses under `debug_nans`, too; types, bytes and texts of the default, 32 bits.
_OWN_TESTS = {"nans": DATA / "own_nans.txt", "x64": DATA / "own_x64.txt"}

# Single cases of parametrized tests, by setting; whole tests carry the marker `own_promotion`.
_OWN_CASES = {
    "dtype": re.compile(
        r"core/test_pretty_print.py::test_text\[integers with floats|experimental/test_checkify.py::test_as_jax\[formats of fractions"
        r"|experimental/test_pallas\w*.py::test_(mistakes_are_named\[options12-|folded_kernels\[program-more6-|programs_as_jax_interprets_them\[(mandelbrot|vmap_prefetch)-)"
        r"|higher_order/test_control_flow.py::test_errors_name_the_very_leaf\[<lambda>-words0|higher_order/test_lazy_masks.py::test_program_against_numpy\[(arg)?sort"
        r"|numpy/test_jaxprs.py::test_nothing_is_converted_or_stretched_to_what_it_is\[add of two dtypes"
    ),
    "rank": re.compile(
        r"numpy/test_jaxprs.py::test_nothing_is_converted_or_stretched_to_what_it_is\[add\]"
        r"|higher_order/test_compositions.py::test_values\[(1011|1015|1019)\]"
        r"|core/test_dispatch_keys.py::test_each_ingredient_makes_another_executable_and_nothing_else_does\[(composite with|grad outside of jit)"
        r"|core/test_(shardings.py::test_types_follow_as_in_jax|pretty_print.py::test_text\[ranks\])"
        r"|runtime/test_(device_errors.py::test_memory_that_is_full_on_this_machine|eager.py::test_binary_functions\[(clip|logical_xor|subtract|where)\])"
        r"|experimental/test_pallas.py::test_random_kernels_with_more_features|experimental/test_pallas_triton.py::test_(shapes$|loops$|ready_made_kernels$|results_of_the_cases\[layer_norm)"
        r"|experimental/test_pallas_fold.py::test_(random_chains_of_operations|folded_kernels\[(scaled-more1-|within-more7-))"
        r"|experimental/test_pallas_programs.py::test_programs_as_jax_interprets_them\[tree_operands-|experimental/test_hijax.py::test_as_jax\[(grads|jit captures|jit of grads)\]"
    ),
    # donated arguments are copied, writes are not in place, and a call returns when its results are there
    "nans": re.compile(
        r"callbacks/test_callbacks.py::test_a_function_that_waits_for_(its_own_program|what_depends_on_its_program)"
        r"|runtime/test_devices.py::test_results_come_later"
        r"|higher_order/test_references.py::test_(memory_is_reused_in_place|eager_writes_to_a_part_are_in_place)"
        # gradients outside of `jit` stay eager
        r"|core/test_dispatch_keys.py::test_each_ingredient_makes_another_executable_and_nothing_else_does\[grad outside of jit"
    ),
    # recorded types of numbers, and of what has no dtype (and own_x64.txt)
    "x64": re.compile(
        r"nn/test_nn.py::test_value\[(nn\.\w+\((1\.5|2)\)|nn\.hard_sigmoid\(integers\)|init\.[^']*\)-f32)"
        r"|higher_order/test_control_flow.py::test_the_index_of_a_static_fori_loop_is_a_python_number"
        r"|primitives/test_elementwise_types.py::test_(weak_types|programs_print_as_in_jax)"
    ),
    "checks": re.compile(
        r"lowering/test_map_subjaxprs.py::test_products_are_rewritten_in_what_equations_hold\[custom_jvp, a value closed over"
        r"|higher_order/test_references.py::test_mistakes_are_named\[leaked\]"
        r"|experimental/test_(pallas.py::test_a_reference_that_leaves_its_kernel_is_named|sparse.py::test_indices_out_of_bounds)"
        r"|core/test_dispatch_keys.py::test_each_ingredient_makes_another_executable_and_nothing_else_does\[grad outside of jit"
    ),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier, and those that are not for the settings of users."""
    own_tests = {
        setting: frozenset(path.read_text(encoding="utf-8").splitlines())
        for setting, path in _OWN_TESTS.items()
    }
    for item in items:
        name = f"{item.path.relative_to(TESTS).as_posix()}::{item.name}"
        starts_processes = "run_python" in getattr(item, "fixturenames", ())
        if starts_processes or name.startswith(_PROCESS):
            item.add_marker(pytest.mark.process)
        else:
            item.add_marker(pytest.mark.unit if name.startswith(_UNIT) else pytest.mark.compile)
        if _SLOW.match(name):
            item.add_marker(pytest.mark.slow)
        if _OWN_PROMOTION.match(name):
            settings = ("rank", "dtype", "nans", "x64") if _CHECKED.match(name) else ()
            item.add_marker(pytest.mark.own_promotion(*settings))
        for setting, names in own_tests.items():
            if name in names or name.partition("[")[0] in names:
                item.add_marker(pytest.mark.own_promotion(setting))
        for setting, cases in _OWN_CASES.items():
            if cases.match(name):
                item.add_marker(pytest.mark.own_promotion(setting))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite the golden files with what the tests now produce, to be read in the diff",
    )
    parser.addoption(
        "--user-settings",
        choices=sorted(_USER_SETTINGS),
        help="run the tests under a user's strict settings, but those marked own_promotion",
    )


# What users set, under which no function may trip over its own formulas (tests/test_strict_settings.py has the law).
_USER_SETTINGS: dict[str, dict[str, Any]] = {
    "rank": {"numpy_rank_promotion": "raise"},
    "dtype": {"numpy_dtype_promotion": "strict"},
    "checks": {"enable_checks": True, "check_tracer_leaks": True},
    "nans": {"debug_nans": True},
    "x64": {"x64": True},
}


@pytest.fixture(autouse=True)
def user_settings(request: pytest.FixtureRequest, settings_stay: None) -> Iterator[None]:
    """Runs each test under the settings that the command line names."""
    chosen = request.config.getoption("--user-settings")
    if chosen is None:
        yield
        return
    own = request.node.iter_markers("own_promotion")
    if any(not marker.args or chosen in marker.args for marker in own):
        pytest.skip("the test itself promotes, or asserts what the setting changes")
    if request.node.get_closest_marker("process") is not None:
        pytest.skip("it starts processes, which the setting does not reach")
    from sagax._src import config

    with config.context(**_USER_SETTINGS[chosen]):
        yield


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten rather than compared."""
    return request.config.getoption("--bless")


@pytest.fixture
def golden(request: pytest.FixtureRequest, bless: bool) -> Callable[[str | Path, str], None]:
    """Compares a text with a golden file, or writes the file under `--bless`.

    `golden("grad_of_sin.txt", text)` means the file in the folder `golden` beside the test;
    an absolute path means that file.
    """

    def check(name: str | Path, text: str) -> None:
        path = request.path.parent / "golden" / name
        text = text if text.endswith("\n") else text + "\n"
        expected = path.read_text(encoding="utf-8") if path.exists() else None
        if text == expected:
            return
        if bless:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if expected is None:
            pytest.fail(f"there is no golden file {path}; pytest --bless writes it\n{text}")
        lines = [t.splitlines(keepends=True) for t in (expected, text)]
        diff = "".join(difflib.unified_diff(*lines, "golden file", "this run"))
        pytest.fail(f"not as in {path}; if it should be so: pytest --bless\n{diff}")

    return check


@functools.cache
def _recorded(name: str) -> Any:
    found = [path for path in (DATA / f"{name}.json", DATA / f"{name}.npz") if path.exists()]
    if len(found) != 1:
        raise FileNotFoundError(
            f"expected one of {name}.json, {name}.npz in {DATA}, found {len(found)};"
            " the programs in tests/oracle record such files"
        )
    if found[0].suffix == ".json":
        return json.loads(found[0].read_text(encoding="utf-8"))
    with np.load(found[0], allow_pickle=False) as arrays:
        return dict(arrays)


_finished = itertools.count(1)


def pytest_runtest_teardown() -> None:
    """A process of the suite compiles thousands of programs: at half of its memory maps it forgets them.

    Later sagax would do so itself, with a warning, which fails the test that happens to run.
    """
    map_limit = sys.modules.get("sagax._src.runtime.map_limit")
    if (
        next(_finished) % 250 == 0
        and map_limit is not None
        and map_limit._used() > map_limit._limit() // 2 > 0
    ):
        sys.modules["sagax"].clear_caches()
        gc.collect()


@pytest.fixture(scope="session")
def oracle_data() -> Callable[[str], Any]:
    """Loads what a program in tests/oracle recorded: `oracle_data("digits_losses")`.

    Gives the value of a .json file, or a dict of the arrays of a .npz file.
    """
    return _recorded


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], str]], str]:
    """Makes a slow text once, for all processes that run tests: `once(name, make)` waits for one that makes it."""
    import fcntl  # not on Windows

    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def text(name: str, make: Callable[[], str]) -> str:
        path = folder / f"once-{name}.txt"
        with open(path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_text(make(), encoding="utf-8")
        return path.read_text(encoding="utf-8")

    return text


@pytest.fixture(scope="session")
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs this interpreter in a process of its own, with this checkout's sagax: output as text.

    `run_python("-m", "sagax", "doctor", cwd=tmp_path)`; fails on an exit status other than
    `status`. `env` holds changes to the environment, None to remove a variable; `input` is read as standard input.
    """

    def run(
        *args: str | os.PathLike[str],
        cwd: str | os.PathLike[str] | None = None,
        env: dict[str, str | None] | None = None,
        status: int = 0,
        timeout: float = 300,
        input: str = "",
    ) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(p for p in (str(SOURCE), os.environ.get("PYTHONPATH")) if p)
        merged: dict[str, str | None] = {**os.environ, "PYTHONPATH": path, **(env or {})}
        done = subprocess.run(
            [sys.executable, *args],
            cwd=cwd,
            env={k: v for k, v in merged.items() if v is not None},
            input=input,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if done.returncode != status:
            words = " ".join(map(str, args))
            pytest.fail(
                f"python {words}: exit status {done.returncode}, expected {status}\n"
                f"{done.stdout}{done.stderr}"
            )
        return done

    return run


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    """Fails a test that leaves an option changed or a `with` block of settings open, and undoes it for those that follow."""
    config = sys.modules.get("sagax._src.config")  # not there before anything has imported sagax
    before = (config.current(), config.thread.entered) if config is not None else None
    yield
    if config is None or before is None or (config.current(), config.thread.entered) == before:
        return
    entered = config.thread.entered
    config._enter(before[1])
    changed = [
        field.name
        for field in dataclasses.fields(before[0])
        if field.name in config.OPTIONS
        and getattr(before[0], field.name) != getattr(config.current(), field.name)
    ]
    for name in changed:
        config.update(name, getattr(before[0], name))
    if entered != before[1]:
        pytest.fail(f"the test left these blocks open: {entered}, of which {before[1]} were before")
    pytest.fail(f"the test left these options changed: {', '.join(changed)}")


@functools.cache
def _eight_device_backend() -> Any:
    from sagax._src import xla
    from sagax._src.runtime import devices

    backend = devices.Backend("cpu", xla.client.make_cpu_client(8))
    # the one that the process began with keeps its arrays and programs
    devices._backends["cpu (the first)"] = devices.backend("cpu")
    return backend


@pytest.fixture
def eight_devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Eight virtual CPU devices, which are all there are while the test runs.

    They belong to a second client of the engine. Programs are kept apart by the default device,
    which is among the settings that they are looked up by.
    """
    import sagax
    import sagax.numpy._base as _base
    from sagax._src.runtime import devices
    from sagax.random import _arguments

    backend = _eight_device_backend()
    monkeypatch.setattr(devices, "_default_backend", backend)
    monkeypatch.setitem(devices._backends, "cpu", backend)
    # numbers that are kept as arrays lie with one of the clients
    kept = _base._numbers, _arguments._numbers
    for table in kept:
        table.clear()
    with sagax.default_device(backend.devices[0]):
        yield list(backend.devices)
    for table in kept:
        table.clear()
