"""The programs that single functions become are as short as they can be: no needless conversion or broadcast."""

from __future__ import annotations

import pytest

import sagax
import sagax.numpy as snp

F = snp.ones((3, 4))
I = snp.ones((3, 4), int)  # noqa: E741
B = snp.ones((3, 4), bool)
V = snp.ones(4)

FUNCTIONS = {
    "add": lambda: snp.add(F, V),
    "add a number": lambda: F + 1,
    "number minus": lambda: 2.5 - F,
    "add of two dtypes": lambda: F + I,
    "multiply by itself": lambda: F * F,
    "divide integers": lambda: I / I,
    "remainder": lambda: I % 3,
    "floor_divide": lambda: I // 2,
    "power 3": lambda: F**3,
    "maximum": lambda: snp.maximum(F, 0),
    "clip": lambda: snp.clip(F, 0, 1),
    "sqrt of integers": lambda: snp.sqrt(I),
    "absolute": lambda: abs(F),
    "where": lambda: snp.where(B, F, 0.0),
    "where of rows": lambda: snp.where(B, F, V),
    "sum": lambda: snp.sum(F),
    "sum keepdims": lambda: snp.sum(F, axis=1, keepdims=True),
    "mean": lambda: snp.mean(F, axis=0),
    "var": lambda: snp.var(F),
    "max": lambda: snp.max(F, axis=-1),
    "any": lambda: snp.any(B),
    "argmax": lambda: snp.argmax(F, axis=1),
    "cumsum": lambda: snp.cumsum(F, axis=1),
    "matmul": lambda: F @ F.T,
    "dot": lambda: snp.dot(F, V),
    "einsum": lambda: snp.einsum("ij,kj->ik", F, F),
    "reshape": lambda: F.reshape(2, -1),
    "transpose": lambda: F.T,
    "stack": lambda: snp.stack([V, V]),
    "concatenate": lambda: snp.concatenate([F, F], axis=1),
    "slice": lambda: F[1:, ::2],
    "element": lambda: F[1, 2],
    "row": lambda: F[-1],
    "take": lambda: F[snp.array([0, 2])],
    "set": lambda: F.at[0, 1].set(7.0),
    "expand_dims": lambda: F[:, None],
    "tril": lambda: snp.tril(F),
    "astype": lambda: F.astype("int32"),
    "astype of the same": lambda: F.astype("float32"),
    "isnan": lambda: snp.isnan(F),
    "logical_not": lambda: snp.logical_not(F),
    "flip": lambda: snp.flip(F, 1),
}

SINGLE = (
    *("add a number", "number minus", "multiply by itself", "power 3", "maximum", "absolute"),
    *("sum", "max", "any", "argmax", "cumsum", "dot", "einsum"),
    *("reshape", "transpose", "stack", "concatenate", "slice", "take", "flip", "expand_dims"),
    *("astype", "isnan", "logical_not"),
)


def traced(call):
    """The jaxpr of a call, with the arrays that it uses as its arguments."""
    arrays = {n: globals()[n] for n in ("F", "I", "B", "V")}

    def fun(*args):
        globals().update(zip(arrays, args, strict=True))
        try:
            return call()
        finally:  # before the trace ends: its values do not outlive it
            globals().update(arrays)

    return sagax.make_jaxpr(fun)(*arrays.values())


@pytest.mark.own_promotion("dtype", "rank")
def test_the_programs_of_single_functions(golden):
    text = "\n".join(f"# {name}\n{traced(call)}" for name, call in FUNCTIONS.items())
    golden("numpy_functions.txt", text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_converted_or_stretched_to_what_it_is(name):
    for eqn in traced(FUNCTIONS[name]).jaxpr.eqns:
        if eqn.primitive.name == "convert_element_type":
            assert eqn.invars[0].aval.dtype != eqn.params["new_dtype"]
        if eqn.primitive.name in ("broadcast_in_dim", "reshape"):
            assert eqn.invars[0].aval.shape != eqn.outvars[0].aval.shape


@pytest.mark.parametrize("name", SINGLE)
def test_one_operation_is_one(name):
    assert len(traced(FUNCTIONS[name]).jaxpr.eqns) == 1
