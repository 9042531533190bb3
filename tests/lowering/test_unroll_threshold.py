"""Up to what size loops of kernels are unrolled: the option, and what it must not change."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

X = snp.asarray(np.random.default_rng(0).normal(size=(64, 48)), dtype=snp.float32)


def norms(x):
    return snp.tanh((x - x.mean(0)) / snp.sqrt(x.var(0) + 1e-5))


PROGRAMS = {
    "norms": norms,
    "ends in three": lambda x: snp.tanh(x.reshape(-1, 3)) * 2,
    "sums": lambda x: x.sum(1) + snp.cumsum(x, 1)[:, -1],
    "pad": lambda x: lax.pad(x, np.float32(0), ((0, 0, 0), (1, -1, 0))) + x,
    "window": lambda x: lax.reduce_window(x, 0.0, lax.add, (3, 3), (1, 1), "SAME"),
    "argmax": lambda x: snp.argmax(x.reshape(-1, 8), 1),
    "gradient": sagax.grad(lambda x: (norms(x) ** 3).sum()),
}


def size(threshold):
    """Bytes of the program's machine code."""
    with sagax.config.context(unroll_threshold=threshold, enable_compilation_cache=False):
        compiled = sagax.jit(lambda i: sagax.nn.one_hot(i, 50)).lower(snp.arange(5000)).compile()
    return len(compiled.runtime_executable().serialize())


def test_machine_code_is_shorter_with_a_threshold():
    assert size(100) < size(1000)  # LLVM's own is 300
    assert size(100) < size(None)


def test_what_the_flags_of_the_process_say_about_it_counts():
    env = os.environ | {"XLA_FLAGS": "--xla_backend_extra_options=-unroll-threshold=1000"}
    env["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    code = "from test_unroll_threshold import size; print(size(100))"
    done = subprocess.run([sys.executable, "-c", code], check=True, env=env, stdout=subprocess.PIPE)
    assert int(done.stdout) > size(100) + 100


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_agree_to_rounding(name):
    found = []
    for threshold in (None, 100, 0):
        with sagax.config.context(unroll_threshold=threshold):
            found.append(np.asarray(sagax.jit(PROGRAMS[name])(X)))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5, atol=1e-5)


def test_exact_programs_are_compiled_as_llvm_does_by_itself():
    found = []
    for threshold in (None, 100):
        with sagax.config.context(exact=True, unroll_threshold=threshold):
            lowered = sagax.jit(lambda x: norms(x)).lower(X)
        with sagax.config.context(
            exact=True, unroll_threshold=threshold, enable_compilation_cache=False
        ):
            found.append(len(lowered.compile().runtime_executable().serialize()))
    assert found[0] == found[1]


def test_one_program_may_have_its_own():
    f = sagax.jit(lambda i: sagax.nn.one_hot(i, 50), compiler_options={"unroll_threshold": 1000})
    with sagax.config.context(enable_compilation_cache=False):
        compiled = f.lower(snp.arange(5000)).compile()
    assert len(compiled.runtime_executable().serialize()) > size(100) + 100


@pytest.mark.parametrize("value", [-1, 1 << 31, "many", 2.5, True])
def test_sizes_that_llvm_would_not_take_are_refused(value):
    with pytest.raises(ValueError, match="unroll_threshold"):
        sagax.jit(norms, compiler_options={"unroll_threshold": value})(X)


def test_flags_of_the_process_stay_in_force(tmp_path):
    code = "import sagax; sagax.jit(lambda x: x * 2 + 1)(3.0)"
    flags = f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text"
    env = os.environ | {"XLA_FLAGS": flags, "SAGAX_ENABLE_COMPILATION_CACHE": "0"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    assert list(tmp_path.glob("*after_optimizations.txt"))


def test_threads_with_different_thresholds_compile_at_the_same_time():
    def work(i):
        with sagax.config.context(unroll_threshold=(None, 100, 0)[i % 3]):
            return np.asarray(sagax.jit(lambda x: norms(x) * (i // 3))(X))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(24)))
    plain = np.asarray(sagax.jit(norms)(X))
    for i, x in enumerate(found):
        np.testing.assert_allclose(x, plain * (i // 3), rtol=1e-5, atol=1e-5)
