"""64-bit types: the option x64 with its three values, in jit's caches and in threads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax

context = sagax.config.context
WIDE = np.linspace(0.1, 0.9, 6).reshape(2, 3)
INTS = np.array([3, 1, 2], np.int64)
BIG = 2**40 + 1


@pytest.fixture
def explicit():
    with context(x64="explicit"):
        yield


# --- explicit: what is asked for or given stays --------------------------------------------------------

ASKED = {
    "zeros": lambda: snp.zeros(3, dtype="float64"),
    "ones": lambda: snp.ones(3, np.float64),
    "full": lambda: snp.full(3, 1.0, dtype="float64"),
    "arange": lambda: snp.arange(3, dtype="int64"),
    "linspace": lambda: snp.linspace(0, 1, 3, dtype="float64"),
    "eye": lambda: snp.eye(2, dtype="float64"),
    "array of numbers": lambda: snp.array([1.0, 2.0], dtype="float64"),
    "asarray of float32": lambda: snp.asarray(np.ones(2, np.float32), dtype="float64"),
    "astype": lambda: snp.ones(3).astype("float64"),
    "astype complex": lambda: snp.ones(3).astype("complex128"),
    "astype int": lambda: snp.ones(3).astype(np.int64),
    "scalar type": lambda: snp.float64(1),
    "convert_element_type": lambda: lax.convert_element_type(1.0, "float64"),
    "sum": lambda: snp.ones(3).sum(dtype="float64"),
    "mean": lambda: snp.mean(snp.ones(3), dtype="float64"),
    "cumsum": lambda: snp.cumsum(snp.ones(3), dtype="float64"),
    "iota": lambda: lax.iota("int64", 3),
    "normal": lambda: sagax.random.normal(sagax.random.key(0), (2,), "float64"),
    "uniform": lambda: sagax.random.uniform(sagax.random.key(0), (2,), "float64"),
    "randint": lambda: sagax.random.randint(sagax.random.key(0), (2,), 0, 9, "int64"),
    "zeros_like": lambda: snp.zeros_like(snp.ones(2), dtype="float64"),
    "einsum": lambda: snp.einsum(
        "i,i->", snp.ones(2), snp.ones(2), preferred_element_type="float64"
    ),
    "eval_shape": lambda: sagax.eval_shape(lambda x: x, sagax.ShapeDtypeStruct((2,), "float64")),
    "callback": lambda: sagax.pure_callback(
        lambda: np.float64(1.5), sagax.ShapeDtypeStruct((), "float64")
    ),
    "view": lambda: lax.bitcast_convert_type(snp.zeros(3, "float64"), "int64"),
    "given array": lambda: snp.asarray(WIDE),
    "given array copied": lambda: snp.array(WIDE),
    "given scalar": lambda: snp.asarray(np.float64(1)),
    "given ints": lambda: snp.asarray(INTS),
    "device_put": lambda: sagax.device_put(WIDE),
    "dlpack": lambda: sagax.dlpack.from_dlpack(WIDE.copy()),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_for_is_honoured(name, explicit):
    result = ASKED[name]()
    assert result.dtype.itemsize == (16 if result.dtype.kind == "c" else 8)
    compiled = (
        sagax.jit(ASKED[name])() if name not in ("device_put", "dlpack", "eval_shape") else result
    )
    assert compiled.dtype == result.dtype


COMPUTED = {
    "sin": snp.sin,
    "sum": snp.sum,
    "mean": snp.mean,
    "var": snp.var,
    "std": snp.std,
    "sort": snp.sort,
    "median": snp.median,
    "dot": lambda x: x @ x.T,
    "where": lambda x: snp.where(x > 0.5, x, 0.0),
    "plus number": lambda x: 2 * x + 1.5,
    "plus float32": lambda x: x + snp.float32(1.5),
    "logsumexp": lambda x: sagax.nn.logsumexp(x),
    "softmax": lambda x: sagax.nn.softmax(x),
    "gammaln": lambda x: sagax.scipy.special.gammaln(x),
    "svd": lambda x: snp.linalg.svd(x, compute_uv=False),
    "norm": snp.linalg.norm,
    "interp": lambda x: snp.interp(x, snp.asarray([0.0, 1.0]), snp.asarray([0.0, 2.0])),
    "fft": lambda x: snp.fft.rfft(x).real,
    "at set": lambda x: x.at[0].set(1),
    "scan": lambda x: lax.scan(lambda c, v: (c + v, c), snp.zeros(3, "float64"), x)[0],
    "cond": lambda x: lax.cond(x.sum() > 0, lambda v: v, lambda v: -v, x),
    "grad": sagax.grad(lambda x: (x**3).sum()),
    "hessian": sagax.hessian(lambda x: (x**3).sum()),
    "vmap": sagax.vmap(lambda x: x.sum()),
    "concatenate": lambda x: snp.concatenate([x, x.astype("float32")]),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_is_computed_of_it_stays_wide(name, explicit):
    function = COMPUTED[name]
    result, compiled = function(snp.asarray(WIDE)), sagax.jit(function)(WIDE)
    assert result.dtype == compiled.dtype == np.float64
    with context(x64=True):
        np.testing.assert_allclose(result, function(snp.asarray(WIDE)), rtol=1e-14)
    np.testing.assert_allclose(result, compiled, rtol=1e-14)


DEFAULTS = {
    "zeros": lambda: snp.zeros(3),
    "arange": lambda: snp.arange(3),
    "numbers": lambda: snp.asarray([1.0, 2.0]),
    "number": lambda: snp.asarray(1),
    "dtype=float": lambda: snp.zeros(2, dtype=float),
    "argmax of float64": lambda: snp.argmax(snp.asarray(WIDE)),
    "nonzero": lambda: snp.nonzero(snp.asarray(WIDE))[0],
    "normal": lambda: sagax.random.normal(sagax.random.key(0), (2,)),
    "sum of int8": lambda: snp.asarray(np.ones(3, np.int8)).sum(),
    "sum of bools": lambda: snp.asarray([True, False]).sum(),
    "sin of int32": lambda: snp.sin(snp.arange(3)),
    "linspace": lambda: snp.linspace(0, 1, 3),
    "iinfo": lambda: snp.asarray(np.int32(1)) * 3,
    "float32 and number": lambda: snp.ones(2) * 1.5,
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_defaults_are_those_of_32_bits(name):
    with context(x64=False):
        plain = DEFAULTS[name]()
    with context(x64="explicit"):
        result, compiled = (
            DEFAULTS[name](),
            sagax.jit(DEFAULTS[name])() if name != "nonzero" else None,
        )
    assert (result.dtype, result.weak_type) == (plain.dtype, plain.weak_type)
    assert compiled is None or compiled.dtype == plain.dtype
    np.testing.assert_array_equal(result, plain)


def test_no_digit_is_lost(explicit):
    third = np.asarray(1 / 3)
    assert float(snp.asarray(third)) == 1 / 3
    assert float(sagax.jit(lambda x: x * 1)(third)) == 1 / 3
    assert float(sagax.jit(lambda: snp.asarray(third) + 0.0)()) == 1 / 3
    assert int(snp.asarray(np.array(BIG))) == BIG
    assert int(snp.array(BIG, dtype="int64")) == BIG
    assert float(sagax.grad(lambda x: x * third)(snp.asarray(np.array(1.0)))) == 1 / 3


def test_a_weak_number_takes_the_width_of_its_partner(explicit):
    x = snp.zeros(2, "float64") + 0.1
    assert x[0] == np.float64(0.1)
    assert (snp.zeros(2) + 0.1)[0].dtype == np.float32


# --- the other values of the option ----------------------------------------------------------------------


def test_without_it_an_explicit_request_warns():
    with pytest.warns(
        sagax.errors.DtypeTruncationWarning, match="'explicit' those that are asked for"
    ):
        assert snp.zeros(2, "float64").dtype == np.float32


def test_reading_and_setting():
    assert sagax.config.x64 is False
    with context(x64="explicit"):
        assert sagax.config.x64 == "explicit"
        assert not sagax.config.x64
        assert sagax.config.read("jax_enable_x64") == "explicit"
        with sagax.enable_x64(True):
            assert sagax.config.x64 is True
            with sagax.enable_x64(False):
                assert snp.asarray(WIDE).dtype == np.float32
        assert snp.asarray(WIDE).dtype == np.float64
        settings = sagax._src.config.current()
        assert pickle.loads(pickle.dumps(settings)) is settings
    with pytest.raises(ValueError, match="True or False, or 'explicit'"):
        sagax.config.update("x64", "always")


@pytest.mark.parametrize("variable", ["SAGAX_X64", "JAX_ENABLE_X64"])
def test_the_environment(variable):
    program = "import sagax.numpy as s; print(s.zeros(2, 'float64').dtype, s.zeros(2).dtype)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, variable: "explicit"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["float64", "float32"]


# --- caches and threads ------------------------------------------------------------------------------------


def test_jit_keeps_the_modes_apart():
    traces = []

    @sagax.jit
    def f(x):
        traces.append(None)
        return x * 2 + snp.arange(3)

    modes = {False: np.float32, True: np.float64, "explicit": np.float64}
    for _ in range(3):
        for mode, dtype in modes.items():
            with context(x64=mode):
                assert f(WIDE[0]).dtype == dtype
    assert len(traces) == 3


BESIDE = {
    "number": lambda x: x * 2 + 0.1,
    "sin": lambda x: snp.sin(x) * 2,
    "where": lambda x: snp.where(x > 0, x, 0.0),
    "at": lambda x: x.at[0].set(0.1),
    "sum": lambda x: x.sum() + 1,
    "maximum": lambda x: snp.maximum(x, 0.1),
}


@pytest.mark.parametrize("name", BESIDE)
def test_an_array_made_in_a_block_and_used_after_it(name):
    function = BESIDE[name]
    with context(x64=True):
        wide = snp.asarray(WIDE)
        expected = function(wide)
    for result in (function(wide), sagax.jit(function)(wide)):
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, expected, rtol=1e-15)


def test_threads_have_modes_of_their_own():
    f = sagax.jit(lambda x: snp.asarray(x) * 2 + 1.0)
    wrong = []

    def work(mode, dtype):
        with context(x64=mode):
            for _ in range(20):
                if f(WIDE).dtype != dtype or snp.asarray(WIDE).dtype != dtype:
                    wrong.append(mode)

    modes = [(False, np.float32), (True, np.float64), ("explicit", np.float64)] * 2
    threads = [threading.Thread(target=work, args=m) for m in modes]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
    assert f(WIDE).dtype == np.float32


def test_the_setting_of_the_process_and_of_a_thread():
    seen = []
    sagax.config.update("x64", "explicit")
    try:
        thread = threading.Thread(target=lambda: seen.append(snp.asarray(WIDE).dtype))
        thread.start()
        thread.join()
    finally:
        sagax.config.update("x64", False)
    assert seen == [np.float64]


def test_a_program_traced_inside_a_block_and_called_outside():
    with context(x64="explicit"):
        compiled = sagax.jit(lambda x: x * 3).lower(WIDE).compile()
    with context(x64=True):
        assert compiled(snp.asarray(WIDE)).dtype == np.float64
