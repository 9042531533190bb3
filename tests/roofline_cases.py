"""Functions whose rooflines jax and sagax count: the oracle records those of jax, the test compares."""

from __future__ import annotations

from typing import Any

AXES = {"x": 2, "y": 4}


def cases(np: Any, jax: Any) -> dict[str, tuple]:
    """Name -> (function, arguments as (shape, dtype), options of `roofline`)."""
    lax, numpy, nn = jax.lax, jax.numpy, jax.nn

    def mlp(x, w, v):
        return nn.relu(x @ w) @ v

    def attention(q, k, v):
        scores = numpy.einsum("bqd,bkd->bqk", q, k)
        return numpy.einsum("bqk,bkd->bqd", numpy.exp(scores), v)

    def grouped(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            (2, 1),
            [(1, 2), (0, 3)],
            lhs_dilation=(1, 2),
            rhs_dilation=(2, 1),
            feature_group_count=2,
        )

    def strange(x):
        return lax.scan(lambda c, _: (numpy.sin(c), None), x, None, length=5)[0]

    float32, int32 = "float32", "int32"
    matrix, square = ((4, 6), float32), ((5, 5), float32)
    unary = (
        "abs acos asin atan cbrt ceil cos cosh exp exp2 expm1 floor is_finite log log1p logistic neg round rsqrt "
        "sign sin sinh sqrt square tan bessel_i0e bessel_i1e digamma erf_inv erf erfc lgamma"
    )
    binary = "add sub mul div rem gt lt ge le eq ne min max"
    found: dict[str, tuple] = {n: (getattr(lax, n), [matrix], {}) for n in unary.split()}
    found |= {n: (getattr(lax, n), [matrix, matrix], {}) for n in binary.split()}
    found |= {
        n: (lambda x, n=n: getattr(lax, n)(x, 1), [matrix], {})
        for n in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
    }
    found |= {
        "and": (lax.bitwise_and, [((3,), int32)] * 2, {}),
        "not": (lax.bitwise_not, [((3,), int32)], {}),
        "integer_pow": (lambda x: lax.integer_pow(x, 3), [matrix], {}),
        "complex parts": (
            lambda x: (lax.real(x), lax.imag(x), lax.conj(x)),
            [((3,), "complex64")],
            {},
        ),
        "sum": (lambda x: x.sum(1), [matrix], {}),
        "sum of all": (lambda x: x.sum(), [matrix], {}),
        "select": (lambda c, x, y: lax.select(c, x, y), [((4, 6), bool), matrix, matrix], {}),
        "matmul": (lambda x, y: x @ y, [matrix, ((6, 3), float32)], {}),
        "pinned": (lambda x, y: x @ y, [matrix, ((6, 3), float32)], {"pin_lhs_in_vmem": True}),
        "pinned right": (
            lambda x, y: x @ y,
            [matrix, ((6, 3), float32)],
            {"pin_rhs_in_vmem": True},
        ),
        "batched": (
            lambda x, y: numpy.einsum("bij,bjk->bik", x, y),
            [((2, 5, 5), float32)] * 2,
            {},
        ),
        "bfloat16": (lambda x: x @ x, [((8, 8), "bfloat16")], {}),
        "mlp": (mlp, [matrix, ((6, 8), float32), ((8, 2), float32)], {}),
        "attention": (attention, [((2, 7, 4), float32)] * 3, {}),
        "movement": (
            lambda x: numpy.concatenate([x.T.reshape(2, 12), x.reshape(2, 12)])[1:3],
            [matrix],
            {},
        ),
        "convolution": (
            lambda x, w: lax.conv(x, w, (1, 1), "SAME"),
            [((2, 3, 8, 8), float32), ((4, 3, 3, 3), float32)],
            {},
        ),
        "dilated convolution": (
            grouped,
            [((2, 4, 9, 8), float32), ((6, 2, 3, 2), float32)],
            {},
        ),
        "gather": (
            lambda x, i: x.at[i].get(mode="fill", fill_value=0),
            [matrix, ((3,), int32)],
            {},
        ),
        "gather in bounds": (
            lambda x, i: x.at[i].get(mode="promise_in_bounds", wrap_negative_indices=False),
            [matrix, ((3,), int32)],
            {},
        ),
        "scatter": (
            lambda x, i, y: x.at[i].set(y, wrap_negative_indices=False),
            [matrix, ((3,), int32), ((3, 6), float32)],
            {},
        ),
        "scatter-add": (
            lambda x, i, y: x.at[i].add(y, wrap_negative_indices=False),
            [matrix, ((3,), int32), ((3, 6), float32)],
            {},
        ),
        "jitted": (jax.jit(lambda x: numpy.sin(x) @ x), [square], {}),
        "scan": (strange, [square], {}),
        "peak": (lambda x: numpy.exp(lax.broadcast(x, (9,))).sum(0) + 1, [square], {}),
        "dead code": (lambda x: (x @ x, x + 1)[1], [square], {}),
        "vjp": (lambda x, w: x @ w, [((4, 6), "bfloat16"), ((6, 2), "bfloat16")], {"vjp": True}),
        "callback": (
            lambda x: jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((4, 6), float32), x),
            [matrix],
            {},
        ),
    }
    return found


def sharded(jax: Any) -> tuple[dict[str, tuple], tuple]:
    """(name -> (body of a shard_map, in_specs, out_specs) on a mesh of `AXES`, the argument of all)."""
    lax, spec = jax.lax, jax.sharding.PartitionSpec
    both = ("x", "y")
    whole = ((16, 32), "float32")
    return {
        "all_gather": (lambda a: lax.all_gather(a, "y"), spec("x", "y"), spec("x", None, "y")),
        "all_gather of two": (lambda a: lax.all_gather(a, both), spec(both), spec("x", "y")),
        "psum": (lambda a: lax.psum(a, "y"), spec("x", "y"), spec("x")),
        "psum of two": (lambda a: lax.psum(a, both), spec("x", "y"), spec()),
        "psum_scatter": (
            lambda a: lax.psum_scatter(a, "y", scatter_dimension=1, tiled=True),
            spec("x", None),
            spec("x", "y"),
        ),
        "pmax": (lambda a: lax.pmax(a, both), spec("x", "y"), spec()),
        "pmin": (lambda a: lax.pmin(a, "x"), spec("x", "y"), spec(None, "y")),
        "all_to_all": (
            lambda a: lax.all_to_all(a, "y", 1, 0, tiled=True),
            spec("x", None),
            spec(("x", "y"), None),
        ),
        "ppermute": (
            lambda a: lax.ppermute(a, "y", [(0, 1), (1, 3), (3, 0)]),
            spec("x", "y"),
            spec("x", "y"),
        ),
        "ppermute of two": (
            lambda a: lax.ppermute(a, both, [(0, 7), (1, 6), (2, 4), (5, 5)]),
            spec("x", "y"),
            spec("x", "y"),
        ),
        "tensor parallel": (
            lambda a: lax.psum(a @ a.T, "y"),
            spec(None, "y"),
            spec(),
        ),
    } | {"no exchange": (lax.sin, spec("x", "y"), spec("x", "y"))}, whole
