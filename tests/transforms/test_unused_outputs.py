"""An output that nobody uses changes no derivative: what has no cotangent is no array of zeros either.

Each function below gives `3 * x` and, from the same operation, something whose derivative is not finite at
`X`. An array of zeros that went back through that would turn the whole derivative into NaN.
"""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from laws import all_primitives
from sagax import lax
from sagax._src.core.jaxpr import subjaxprs
from sagax.custom_derivatives import linear_call
from sagax.experimental.xla_metadata import xla_metadata_call

X = np.float32([-3, 1, 2, 0])
CASES = {}


def case(fun):
    CASES[fun.__name__] = fun
    return fun


def good(x):
    return 3 * x


def bad(x):
    return x**2.5  # no derivative below zero


def both(x):
    return good(x), bad(x)


def doubled(a, b):
    return a, b * 2


# calls ----------------------------------------------------------------------------------------------


@case
def jit(x):
    return sagax.jit(both)(x)[0]


@case
def jit_of_both(x):
    return sagax.jit(doubled)(*both(x))[0]


@case
def checkpoint(x):
    return sagax.checkpoint(both)(x)[0]


@case
def checkpoint_of_both(x):
    return sagax.checkpoint(doubled)(*both(x))[0]


@case
def xla_metadata(x):
    return xla_metadata_call(both, group="a")(x)[0]


@case
def custom_vmap(x):
    f = sagax.custom_batching.custom_vmap(both)
    f.def_vmap(lambda size, which, x: (both(x), (True, True)))
    return f(x)[0]


@case
def composite(x):
    return lax.composite(both, "my.both")(x)[0]


@case
def platform_dependent(x):
    return lax.platform_dependent(x, default=both)[0]


@case
def closure_convert(x):
    y = bad(x)
    f, values = sagax.closure_convert(lambda a: (a, a * y), x)
    return f(good(x), *values)[0]


def mapped_over_devices(check_vma):
    mesh = sagax.make_mesh((1,), ("i",))
    spec = sagax.P("i")

    def over_devices(fun, *args):
        return sagax.shard_map(fun, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=check_vma)(
            *args
        )

    return over_devices


@case
def shard_map(x):
    return mapped_over_devices(True)(both, x)[0]


@case
def shard_map_of_both(x):
    return mapped_over_devices(True)(doubled, *both(x))[0]


@case
def shard_map_unchecked(x):
    return mapped_over_devices(False)(doubled, *both(x))[0]


@case
def optimization_barrier(x):
    return lax.optimization_barrier(both(x))[0]


@case
def reduce_window(x):
    zeros = (np.float32(0), np.float32(0))
    add = lambda a, b: (a[0] + b[0], a[1] + b[1])  # noqa: E731
    return lax.reduce_window(both(x), zeros, add, (1,))[0]


@case
def sort(x):
    return lax.sort((snp.arange(4), *both(x)), num_keys=1)[1]


# branches -------------------------------------------------------------------------------------------


@case
def cond(x):
    return lax.cond(x.sum() < 100, both, lambda x: (x, x), x)[0]


@case
def cond_of_both(x):
    return lax.cond(x.sum() < 100, doubled, lambda a, b: (2 * a, b), *both(x))[0]


@case
def switch(x):
    return lax.switch(snp.int32(1 + 0 * x.sum()), [lambda x: (x, x), both], x)[0]


# loops ----------------------------------------------------------------------------------------------


@case
def scan_with_a_carry(x):
    return lax.scan(lambda c, a: (c + bad(a), good(a)), np.float32(0), x)[1]


@case
def scan_with_a_carry_that_starts_so(x):
    return lax.scan(lambda c, a: (c * 2, a), bad(x), good(x))[1]


@case
def scan_with_slices(x):
    return lax.scan(lambda c, a: (c + a, bad(a)), np.float32(0), good(x))[0] * np.float32([1] * 4)


@case
def scan_of_sequences(x):
    total = lax.scan(lambda c, a: (c + a[0], a[1] * 2), np.float32(0), both(x))[0]
    return total * np.float32([1] * 4)


@case
def scan_with_a_constant(x):
    y = bad(x)
    return lax.scan(lambda c, a: (c, (a, a * y)), (), good(x))[1][0]


@case
def scan_whose_carry_is_handed_on(x):
    z, y = both(x)  # what is used depends on the third part in the third round only

    def body(c, _):
        return (c[1], c[2], c[2] * 1, c[3] * 2), None

    return lax.scan(body, (z * 0, z * 0, z, y), None, length=3)[0][0]


@case
def scan_from_the_end(x):
    body = lambda c, a: (c + bad(a), good(a))  # noqa: E731
    return lax.scan(body, np.float32(0), x, reverse=True, unroll=3)[1]


@case
def fori_loop(x):
    return lax.fori_loop(0, 2, lambda i, c: (bad(c[0]), c[1] * 1.0), (x, good(x)))[1]


@case
def fori_loop_with_a_bar(x):
    body = lambda i, c: (bad(c[0]), c[1] * 1.0)  # noqa: E731
    return lax.fori_loop(0, 2, body, (x, good(x)), progress="loop")[1]


@case
def fori_loop_with_a_bound(x):
    upper = snp.int32(x.sum() * 0 + 2)
    body = lambda i, c: (bad(c[0]), c[1] * 1.0)  # noqa: E731
    return lax.fori_loop(0, upper, body, (x, good(x)), max_steps=5)[1]


@case
def while_loop_with_a_bound(x):
    body = lambda c: (c[0] + 1, bad(c[1]), c[2] * 1.0)  # noqa: E731
    return lax.while_loop(lambda c: c[0] < 2, body, (0, x, good(x)), max_steps=5)[2]


@case
def map_one_by_one(x):
    return lax.map(both, x)[0]


@case
def map_by_two(x):
    return lax.map(both, x, batch_size=2)[0]


# rules of one's own -----------------------------------------------------------------------------------


@case
def custom_jvp(x):
    f = sagax.custom_jvp(both)
    f.defjvp(lambda p, t: (f(*p), (3 * t[0], 2.5 * p[0] ** 1.5 * t[0])))
    return f(x)[0]


@case
def custom_jvp_of_both(x):
    f = sagax.custom_jvp(doubled)
    f.defjvp(lambda p, t: (f(*p), doubled(*t)))
    return f(*both(x))[0]


@case
def custom_vjp(x):  # a rule that says what has no cotangent
    f = sagax.custom_vjp(doubled)
    f.defvjp(lambda a, b: (doubled(a, b), None), lambda _, ct: (ct[0], None))
    return f(*both(x))[0]


@case
def custom_vjp_with_symbolic_zeros(x):
    def back(x, cts):
        slopes = (3, 2.5 * x**1.5)
        live = [not isinstance(ct, sagax.custom_derivatives.SymbolicZero) for ct in cts]
        return (sum(s * ct for s, ct, used in zip(slopes, cts, live, strict=True) if used),)

    f = sagax.custom_vjp(both)
    f.defvjp(lambda x: (both(x.value), x.value), back, symbolic_zeros=True)
    return f(x)[0]


@case
def custom_vjp_kept_out_of_checkpoints(x):
    f = sagax.custom_vjp(doubled)
    f.defvjp(lambda a, b: (doubled(a, b), None), lambda _, ct: (ct[0], None), optimize_remat=True)
    return sagax.checkpoint(f)(*both(x))[0]


@case
def linear_call_of_both(x):  # the transpose of the user's gets zeros for what has no cotangent
    z, y = both(x)
    return linear_call(lambda _, x: (x, x * 2), lambda _, ct: ct[0] + ct[1] * 2, y, z)[0]


@case
def custom_root(x):
    a, b = both(x)
    start = (snp.zeros_like(a), snp.zeros_like(b))
    f = lambda v: (v[0] - a, v[1] - b)  # noqa: E731
    return lax.custom_root(f, start, lambda f, _: (a, b), lambda g, y: y)[0]


@case
def custom_root_with_other_data(x):
    f = lambda v: v - good(x)  # noqa: E731
    return lax.custom_root(f, x, lambda f, _: both(x), lambda g, y: y, has_aux=True)[0]


@case
def custom_linear_solve(x):
    solve = lambda _, b: (b, bad(b))  # noqa: E731
    return lax.custom_linear_solve(lambda v: v, good(x), solve, solve, has_aux=True)[0]


# the law ----------------------------------------------------------------------------------------------


def total(fun):
    return lambda x: fun(x).sum()


TRANSFORMATIONS = {
    "grad": lambda f: sagax.grad(total(f)),
    "jit of grad": lambda f: sagax.jit(sagax.grad(total(f))),
    "grad of checkpoint": lambda f: sagax.grad(sagax.checkpoint(total(f))),
    "vmap of grad": lambda f: lambda x: sagax.vmap(sagax.grad(total(f)))(x[None])[0],
    "grad of vmap": lambda f: lambda x: sagax.grad(total(sagax.vmap(f)))(x[None])[0],
    "grad of a scan": lambda f: sagax.grad(
        lambda x: lax.scan(lambda c, _: (c, f(c)), x, None, length=1)[1].sum()
    ),
    "grad of grad": lambda f: (
        lambda x: sagax.grad(lambda y: (sagax.grad(total(f))(y) * y).sum())(x)
    ),
}


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("name", CASES)
def test_an_output_that_nobody_uses_changes_no_derivative(name, transformation):
    found = np.asarray(TRANSFORMATIONS[transformation](CASES[name])(X))
    (slope,) = set(found.tolist())
    assert slope in (3.0, 12.0)  # a sum is spread over four results


# No derivative to speak of: callbacks, calls of other programs, programs that are no derivatives any more.
WITHOUT = {
    *("call_exported", "push_exported", "callback_in_turn", "debug_callback", "ffi_call"),
    *("inspect_sharding", "io_callback", "pure_callback", "reduce"),
    *("addupdate", "free_ref"),  # of references, none of which is left
    *("buffer_callback", "dce_sink"),  # without derivatives; without results
    *("call_hi_primitive", "call_hi_primitive_linearized"),  # the rules are the user's
}


def primitives_in(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        inner = getattr(eqn.params.get("inner"), "jaxpr", None)
        for held in subjaxprs(eqn.params) if inner is None else [inner.jaxpr]:
            yield from primitives_in(held)


def test_the_law_is_tried_on_all_primitives_that_hold_programs():
    held = {p.name for p in all_primitives() if p.is_higher_order and p.multiple_results} - WITHOUT
    tried = {"custom_lin", "remat_opt"}  # inside of a derivative
    for fun in CASES.values():
        tried.update(primitives_in(sagax.make_jaxpr(fun)(X).jaxpr))
    assert held - tried == set()


# as jax has it ----------------------------------------------------------------------------------------


def test_a_barrier_and_a_logarithm_at_zero():
    def f(x):
        y = snp.log(x)
        y, x = lax.optimization_barrier((y, x))
        return x

    assert float(sagax.grad(f)(0.0)) == 1.0


def test_unused_carries_of_loops():
    x = np.float32([-3, 1, 2])
    f = lambda x: lax.scan(lambda c, a: (c + a**2.5, 3 * a), 0.0, x)[1].sum()  # noqa: E731
    np.testing.assert_array_equal(sagax.grad(f)(x), [3, 3, 3])
    g = lambda x: lax.fori_loop(  # noqa: E731
        0, 2, lambda i, c: (c[0] ** 2.5, c[1] * 1.0), (x, 3 * x)
    )[1].sum()
    np.testing.assert_array_equal(sagax.grad(g)(x), [3, 3, 3])


def test_a_used_carry_keeps_its_derivative():
    x = np.float32([1, 2, 3])

    def f(x):  # the first part is used; it takes the second two rounds later
        body = lambda c, a: ((c[1], c[2] * a, c[2] + a), c[0] * 0)  # noqa: E731
        return lax.scan(body, (x[0], x[1], x[2]), x)[0][0]

    # x1 * (x2 + x0) after three rounds
    np.testing.assert_allclose(sagax.grad(f)(x), [2, 4, 2])


def test_the_transpose_of_a_scan_has_no_dead_sums():
    def f(w, x):
        return lax.scan(lambda c, a: (c * w, a * 3), 1.0, x)[1].sum()

    jaxpr = sagax.make_jaxpr(sagax.grad(f, (0, 1)))(2.0, X)
    (back,) = [e for e in jaxpr.jaxpr.eqns if e.primitive.name == "scan"][1:]
    assert back.params["num_carry"] == 0
    assert float(sagax.grad(f)(2.0, X)) == 0.0
