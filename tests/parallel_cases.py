"""Programs over 8 devices, for both sides of the comparison with the oracle.

Each is a function of the package (jax, or sagax) that gives a pytree of arrays. `tests/oracle/parallel.py` runs them
with jax, `api/test_shard_map.py` and `api/test_pmap.py` with sagax.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}


def case(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    name = fun.__name__.strip("_").replace("_", " ")
    assert name not in CASES, name
    CASES[name] = fun
    return fun


def mesh_of(jax: Any, **sizes: int) -> Any:
    """A mesh whose axes are left to the compiler."""
    kind = jax.sharding.AxisType.Auto
    return jax.make_mesh(tuple(sizes.values()), tuple(sizes), (kind,) * len(sizes))


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def mapped(jax: Any, f: Callable, ins: Any, outs: Any, sizes: Any = None, **options: Any) -> Any:
    """`shard_map` of f over the mesh x: 4, y: 2."""
    mesh = mesh_of(jax, **(sizes or {"x": 4, "y": 2}))
    return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, **options)


# each collective, its derivative and its batched form --------------------------------------------------


def collective(name: str, call: Callable, shape: tuple, spec: tuple, out: tuple) -> None:
    """Four cases of `call(lax, x)` on parts of an array of this shape."""

    def value(jax: Any) -> Any:
        P = jax.sharding.PartitionSpec
        f = mapped(jax, partial(call, jax.lax), P(*spec), P(*out))
        x = numbers(*shape)
        return f(x), jax.jit(f)(x)

    def gradient(jax: Any, check_vma: bool) -> Any:
        P = jax.sharding.PartitionSpec
        f = mapped(jax, partial(call, jax.lax), P(*spec), P(*out), check_vma=check_vma)
        x = numbers(*shape)
        weights = numbers(*jax.eval_shape(f, x).shape, seed=1)
        return jax.grad(lambda x: (jax.numpy.sin(f(x)) * weights).sum())(x)

    def forward(jax: Any) -> Any:
        P = jax.sharding.PartitionSpec
        f = mapped(jax, partial(call, jax.lax), P(*spec), P(*out))
        return jax.jvp(f, (numbers(*shape),), (numbers(*shape, seed=2),))

    def batched(jax: Any) -> Any:
        P = jax.sharding.PartitionSpec
        f = mapped(jax, partial(call, jax.lax), P(*spec), P(*out))
        x = numbers(3, *shape, seed=3)
        return jax.vmap(f)(x), jax.vmap(f, in_axes=1, out_axes=-1)(np.moveaxis(x, 0, 1))

    def batched_inside(jax: Any) -> Any:
        P = jax.sharding.PartitionSpec
        f = jax.vmap(partial(call, jax.lax), in_axes=1, out_axes=1)
        wide = [*spec[:1], None, *spec[1:]]
        wide_out = [*out[:1], None, *out[1:]]
        x = numbers(shape[0], 3, *shape[1:], seed=4)
        return mapped(jax, f, P(*wide), P(*wide_out))(x)

    CASES[f"{name}: value"] = value
    CASES[f"{name}: gradient"] = partial(gradient, check_vma=True)
    CASES[f"{name}: gradient unchecked"] = partial(gradient, check_vma=False)
    CASES[f"{name}: forward"] = forward
    if name != "psum_scatter":  # jax fails to map it without tiles
        CASES[f"{name}: batched"] = batched
        CASES[f"{name}: batched inside"] = batched_inside


PERM = [(0, 1), (1, 2), (2, 0)]
collective("psum", lambda lax, x: lax.psum(x, "x"), (8, 4), ("x",), (None,))
collective("psum two axes", lambda lax, x: lax.psum(x, ("x", "y")), (8, 4), ("x", "y"), (None,))
collective("psum one of two", lambda lax, x: lax.psum(x, "y"), (8, 4), ("x", "y"), ("x",))
collective("pmean", lambda lax, x: lax.pmean(x, "x"), (8, 4), ("x",), (None,))
collective("ppermute", lambda lax, x: lax.ppermute(x, "x", PERM), (8, 4), ("x",), ("x",))
collective("pshuffle", lambda lax, x: lax.pshuffle(x, "x", [3, 0, 2, 1]), (8, 4), ("x",), ("x",))
collective("all_gather", lambda lax, x: lax.all_gather(x, "x"), (8, 4), ("x",), ("x",))
collective(
    "all_gather tiled",
    lambda lax, x: lax.all_gather(x, "x", axis=1, tiled=True),
    (8, 4),
    ("x",),
    ("x",),
)
collective("psum_scatter", lambda lax, x: lax.psum_scatter(x, "x"), (16, 4), ("x",), ("x",))
collective(
    "psum_scatter tiled",
    lambda lax, x: lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True),
    (8, 8),
    ("x",),
    ("x",),
)
collective("all_to_all", lambda lax, x: lax.all_to_all(x, "x", 1, 1), (8, 4), ("x",), ("x",))
collective(
    "all_to_all tiled",
    lambda lax, x: lax.all_to_all(x, "x", 1, 0, tiled=True),
    (8, 8),
    ("x",),
    ("x",),
)
collective("pswapaxes", lambda lax, x: lax.pswapaxes(x, "x", 1), (8, 4), ("x",), ("x",))
collective(
    "axis_index", lambda lax, x: x * (lax.axis_index("x") + 1), (8, 4), ("x", "y"), ("x", "y")
)


@case
def extremes(jax):
    P = jax.sharding.PartitionSpec

    def f(x):
        return (jax.lax.pmax(x, "x"), jax.lax.pmin(x, ("x", "y")))

    return mapped(jax, f, P("x", "y"), (P(None, "y"), P()))(numbers(8, 4))


@case
def integers_and_booleans(jax):
    P = jax.sharding.PartitionSpec
    lax = jax.lax

    def f(x):
        return (
            lax.psum(x > 3, "x"),
            lax.pmean(x, "x"),
            lax.psum(2, "x"),
            lax.all_gather(x > 3, "x"),
        )

    return mapped(jax, f, P("x"), (P(), P(), P(), P("x")))(np.arange(8))


@case
def positions(jax):
    P = jax.sharding.PartitionSpec
    lax = jax.lax

    def f():
        return (lax.axis_index(("x", "y"))[None], lax.axis_index("y")[None], lax.axis_size("x"))

    return mapped(jax, f, (), (P(("x", "y")), P(("x", "y")), P()))()


@case
def gathered_to_all(jax):
    P = jax.sharding.PartitionSpec
    f = mapped(jax, lambda x: jax.lax.all_gather(x, "x", to="invarying"), P("x"), P())
    x, w = numbers(8, 2), numbers(4, 2, 2, seed=1)
    return f(x), jax.grad(lambda x: (f(x) * w).sum())(x)


# values that are the same on all devices -----------------------------------------------------------------


@case
def weights_on_all_devices(jax):
    P = jax.sharding.PartitionSpec
    np_, lax = jax.numpy, jax.lax
    x, w = numbers(8, 3), numbers(3, seed=1)

    def loss(x, w):
        return lax.psum(np_.sin(x @ w).sum(), ("x", "y"))

    found = []
    for check in (True, False):
        f = mapped(jax, loss, (P(("x", "y")), P()), P(), check_vma=check)
        found.append(jax.value_and_grad(f, (0, 1))(x, w))
        found.append(jax.jit(jax.grad(f, 1))(x, w))
        found.append(jax.jvp(f, (x, w), (x, w)))
    return found


@case
def gradients_inside(jax):
    P = jax.sharding.PartitionSpec
    np_ = jax.numpy
    x, w = numbers(8, 3), numbers(3, seed=1)

    def step(x, w):
        return jax.grad(lambda w: np_.sin(x @ w).sum())(w)

    def own(x, w):
        return jax.grad(lambda w: np_.sin(x @ w).sum())(jax.lax.pcast(w, "x", to="varying"))[None]

    total = mapped(jax, step, (P("x"), P()), P(), {"x": 8})(x, w)
    each = mapped(jax, own, (P("x"), P()), P("x"), {"x": 8})(x, w)
    unchecked = mapped(
        jax, lambda x, w: step(x, w)[None], (P("x"), P()), P("x"), {"x": 8}, check_vma=False
    )(x, w)
    return total, each, unchecked


@case
def second_derivatives(jax):
    P = jax.sharding.PartitionSpec
    f = mapped(jax, lambda x: jax.lax.psum(jax.numpy.sin(x).sum() ** 2, "x"), P("x"), P())
    return jax.hessian(f)(numbers(8))


@case
def an_output_that_all_have_put_together(jax):
    P = jax.sharding.PartitionSpec
    f = mapped(jax, lambda w: w * 2, P(), P("x"))
    w = numbers(3)
    return f(w), jax.grad(lambda w: (f(w) * numbers(12, seed=1)).sum())(w)


# control flow ----------------------------------------------------------------------------------------------


@case
def loops(jax):
    P = jax.sharding.PartitionSpec
    lax, np_ = jax.lax, jax.numpy

    def f(x, w):
        def body(c, row):
            c = lax.ppermute(np_.tanh(c * w + row), "x", [(i, (i + 1) % 4) for i in range(4)])
            return c, c.sum()

        last, sums = lax.scan(body, np_.zeros_like(x[0]), x)
        return last[None], lax.psum(sums, "x")

    g = mapped(jax, f, (P("x"), P()), (P("x"), P()), {"x": 4})
    x, w = numbers(12, 5), numbers(5, seed=1)

    def loss(x, w):
        return sum(np_.sum(np_.sin(o)) for o in g(x, w))

    return g(x, w), jax.grad(loss, (0, 1))(x, w)


@case
def branches(jax):
    P = jax.sharding.PartitionSpec
    lax, np_ = jax.lax, jax.numpy

    def f(x, w):
        w = lax.pcast(w, "x", to="varying")
        y = lax.cond(lax.axis_index("x") > 1, lambda: np_.sin(x) * w, lambda: x * 2)
        z = lax.fori_loop(0, 3, lambda i, y: y * 0.5 + x, y)
        return lax.psum(z, "x")

    g = mapped(jax, f, (P("x"), P()), P(), {"x": 4})
    x, w = numbers(8), numbers(2, seed=1)
    return g(x, w), jax.grad(lambda x, w: np_.sum(g(x, w) ** 2), (0, 1))(x, w)


@case
def a_loop_of_unknown_length(jax):
    P = jax.sharding.PartitionSpec
    lax = jax.lax

    def f(x):
        return lax.while_loop(lambda v: v.sum() < 10, lambda v: v * 1.5 + 1, x)

    return mapped(jax, f, P("x"), P("x"), {"x": 4})(np.abs(numbers(8)))


@case
def jit_and_checkpoint_inside(jax):
    P = jax.sharding.PartitionSpec
    lax, np_ = jax.lax, jax.numpy

    @jax.jit
    def inner(x, w):
        return lax.psum(np_.tanh(x * w), "x")

    f = mapped(jax, lambda x, w: jax.checkpoint(inner)(x, w) + inner(x, w), (P("x"), P()), P())
    x, w = numbers(8), numbers(2, seed=1)
    return f(x, w), jax.grad(lambda x, w: np_.sum(f(x, w) ** 2), (0, 1))(x, w)


@case
def rules_of_the_users(jax):
    P = jax.sharding.PartitionSpec
    lax, np_ = jax.lax, jax.numpy

    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, x), lambda x, ct: (np_.clip(ct, -1, 1) * x,))

    @jax.custom_jvp
    def cube(x):
        return x**3

    cube.defjvp(lambda p, t: (cube(p[0]), 3 * p[0] ** 2 * t[0]))
    f = mapped(
        jax, lambda x, w: lax.psum(clipped(cube(x * w)).sum(), "x"), (P("x"), P()), P(), {"x": 8}
    )
    x, w = numbers(8, 3), numbers(3, seed=1)
    return f(x, w), jax.grad(f, (0, 1))(x, w)


# some axes ---------------------------------------------------------------------------------------------------


@case
def one_axis_of_two(jax):
    P = jax.sharding.PartitionSpec
    lax, np_ = jax.lax, jax.numpy

    def f(x, w):
        return lax.psum(np_.sin(x) @ w, "x") * (lax.axis_index("x") + 1)

    g = jax.jit(mapped(jax, f, (P("x"), P()), P("x"), axis_names={"x"}))
    x, w = numbers(8, 4), numbers(4, 4, seed=1)
    return g(x, w), jax.jit(jax.grad(lambda x, w: np_.sum(g(x, w) ** 2), (0, 1)))(x, w)


@case
def nested(jax):
    P = jax.sharding.PartitionSpec
    lax, np_ = jax.lax, jax.numpy
    mesh = mesh_of(jax, x=4, y=2)

    def inner(x):
        return lax.psum(x * (lax.axis_index("y") + 1), ("x", "y"))

    def outer(x):
        f = jax.shard_map(inner, in_specs=P(None, "y"), out_specs=P(), axis_names={"y"})
        return f(np_.sin(x))

    g = jax.jit(jax.shard_map(outer, mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"}))
    return g(numbers(8, 4))  # jax fails to differentiate it; api/test_shard_map.py does


@case
def one_axis_by_number(jax):
    mesh = mesh_of(jax, x=4, y=2)
    with jax.set_mesh(mesh):
        f = jax.smap(
            lambda x, w: (x * w, jax.lax.psum(x, "x")),
            in_axes=(1, None),
            out_axes=(1, None),
            axis_name="x",
        )
        return jax.jit(f)(numbers(3, 8), np.float32(2))


@case
def trees_and_prefixes(jax):
    P = jax.sharding.PartitionSpec

    def f(params, x):
        return {"y": x * params["a"] + params["b"][0], "n": jax.lax.psum(x.sum(), "x")}

    g = mapped(jax, f, (P(), P("x")), {"y": P("x"), "n": P()})
    return g({"a": np.float32(2), "b": [np.float32(1)]}, numbers(8))


# pmap --------------------------------------------------------------------------------------------------------


@case
def pmap_values(jax):
    lax = jax.lax
    x = numbers(4, 3)
    f = jax.pmap(
        lambda x, y: (x * y, lax.psum(x, "i"), lax.axis_index("i")), "i", in_axes=(0, None)
    )
    g = jax.pmap(lambda x, *, y: x + y)
    h = jax.pmap(lambda x: (x.sum(), lax.psum(x, "i")), "i", in_axes=1, out_axes=(0, None))
    k = jax.pmap(lambda x: x * 2, in_axes=1, out_axes=1)
    return f(x, np.float32(3)), g(x, y=x), h(x.T.copy()), k(x.T.copy())


@case
def pmap_gradients(jax):
    lax, np_ = jax.lax, jax.numpy
    x, w = numbers(4, 3), numbers(3, seed=1)
    inside = jax.pmap(jax.grad(lambda w, x: lax.psum(np_.sin(x @ w), "i")), "i", in_axes=(None, 0))
    mean = jax.pmap(
        lambda w, x: lax.pmean(jax.grad(lambda w: np_.sin(x @ w))(w), "i"), "i", in_axes=(None, 0)
    )
    whole = jax.pmap(lambda x, w: lax.psum(np_.sin(x @ w), "i") * x[0], "i", in_axes=(0, None))
    outside = jax.grad(lambda w, x: whole(x, w).sum(), (0, 1))(w, x)
    shared = jax.pmap(
        lambda x, w: lax.pmean(np_.sin(x @ w), "i"), "i", in_axes=(0, None), out_axes=None
    )
    return inside(w, x), mean(w, x), outside, jax.value_and_grad(shared, (0, 1))(x, w)


@case
def pmap_exchanges(jax):
    lax = jax.lax
    x = numbers(4, 4, 2)

    def f(x):
        return (
            lax.ppermute(x, "i", [(0, 3), (3, 1)]),
            lax.all_gather(x, "i"),
            lax.all_gather(x, "i", axis=1, tiled=True),
            lax.psum_scatter(x, "i"),
            lax.all_to_all(x, "i", 0, 0),
            lax.pswapaxes(x, "i", 0),
            lax.pmax(x, "i"),
            lax.psum(x, "i", axis_index_groups=[[0, 2], [1, 3]]),
            lax.all_gather(x, "i", axis_index_groups=[[0, 1], [2, 3]]),
        )

    return jax.pmap(f, "i")(x)


@case
def pmap_of_vmap(jax):
    lax = jax.lax
    x = numbers(4, 3, 2)
    f = jax.pmap(jax.vmap(lambda x: x / lax.psum(x, ("i", "j")), axis_name="j"), axis_name="i")
    g = jax.vmap(jax.pmap(lambda x: lax.psum(x, "i"), "i"), in_axes=1)
    return f(x), g(x), jax.jit(f)(x)


@case
def pmap_static_arguments(jax):
    f = jax.pmap(lambda x, n, y: x**n + y, static_broadcasted_argnums=1, in_axes=(0, None, None))
    return f(numbers(4), 3, np.float32(1)), f(numbers(4), 2, np.float32(1))


# checking ------------------------------------------------------------------------------------------------


def check(package: Any, name: str, recorded: list) -> None:
    """Raise unless the case gives, with this package, the arrays that were recorded."""
    found = [np.asarray(x) for x in package.tree.leaves(CASES[name](package))]
    assert [[str(x.dtype), list(x.shape)] for x in found] == [r[:2] for r in recorded]
    for x, (dtype, shape, elements) in zip(found, recorded, strict=True):
        expected = np.array(elements, dtype).reshape(shape)
        np.testing.assert_allclose(x, expected, rtol=2e-5, atol=2e-5, err_msg=name)
