"""Functions and objects beside accelerators, in one process."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental.colocated_python import (
    colocated_cpu_devices,
    colocated_python,
    colocated_python_class,
)
from sagax.sharding import NamedSharding, P


def test_a_function_keeps_shardings(eight_devices):
    mesh = sagax.make_mesh((8,), ("x",))
    sharding = NamedSharding(mesh, P("x"))
    seen = []

    @colocated_python
    def f(x, *, y):
        seen.append((type(np.asarray(x)), x.sharding))
        return {"sum": x + y, "host": np.asarray(x) * 2}

    x = sagax.device_put(snp.arange(8.0), sharding)
    found = f(x, y=x)
    np.testing.assert_array_equal(found["sum"], 2 * np.arange(8.0))
    np.testing.assert_array_equal(found["host"], 2 * np.arange(8.0))
    assert seen == [(np.ndarray, sharding)] and found["sum"].sharding == sharding
    assert colocated_cpu_devices(mesh) == mesh
    assert colocated_cpu_devices(eight_devices) == list(eight_devices)

    def specs(x, *, y):
        whole = NamedSharding(mesh, P())
        struct = sagax.ShapeDtypeStruct(x.shape, x.dtype, sharding=whole)
        return {"sum": struct, "host": struct}

    replicated = f.specialize(out_specs_fn=specs)(x, y=x)
    assert replicated["host"].sharding.is_fully_replicated


def test_calls_that_are_refused():
    f = colocated_python(lambda *args: args)
    with pytest.raises(ValueError, match="No devices found"):
        f()
    assert f.specialize(devices=sagax.devices())() == ()
    with pytest.raises(TypeError, match="takes arrays"):
        f("text")
    with pytest.raises(TypeError, match="not traced"):
        sagax.jit(f)(1.0)
    struct = sagax.ShapeDtypeStruct((2,), "float32")
    only = f.specialize(in_specs=((struct,), {}))
    assert only(snp.ones(2))[0].shape == (2,)
    with pytest.raises(ValueError, match="in_specs"):
        only(snp.ones(3))
    wrong = f.specialize(out_specs_fn=lambda x: x)
    with pytest.raises(ValueError, match="out_specs_fn"):
        wrong(snp.ones(2))


def test_objects_are_made_once_and_late():
    made = []

    @colocated_python_class
    class Sum:
        def __init__(self, start):
            made.append(start)
            self.total = start

        def add(self, x):
            self.total = self.total + x
            return self.total

    total = Sum(10.0)
    assert made == []
    assert [float(total.add(snp.float32(k))) for k in (1, 2)] == [11.0, 13.0]
    assert made == [10.0]
