"""Cases of quantized arrays as a type of a library, for jax and sagax alike: `cases(jax)` returns functions by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


def quantized(jax: Any) -> SimpleNamespace:
    """Define quantized arrays: int8 values with a float32 scale for each row."""
    jnp = importlib.import_module(f"{jax.__name__}.numpy")
    hijax = importlib.import_module(f"{jax.__name__}.experimental.hijax")
    ShapedArray = hijax.ShapedArray
    f32 = jnp.dtype("float32")

    @dataclass(frozen=True)
    class QArray:
        values: Any
        scale: Any

    @dataclass(frozen=True)
    class Leading(hijax.MappingSpec):
        pass

    @dataclass(frozen=True)
    class QType(hijax.HiType):
        shape: tuple

        def lo_ty(self):
            return [ShapedArray(self.shape, jnp.dtype("int8")), ShapedArray(self.shape[:-1], f32)]

        def lower_val(self, q):
            return [q.values, q.scale]

        def raise_val(self, values, scale):
            return QArray(values, scale)

        def to_tangent_aval(self):
            return ShapedArray(self.shape, f32)

        def str_short(self, short_dtypes=False, mesh_axis_types=False):
            return f"q8[{','.join(map(str, self.shape))}]"

        __repr__ = str_short

        def dec_rank(self, size, spec):
            assert isinstance(spec, Leading) and self.shape[0] == size
            return QType(self.shape[1:])

        def inc_rank(self, size, spec):
            assert isinstance(spec, Leading)
            return QType((size, *self.shape))

        def leading_axis_spec(self):
            return Leading()

    hijax.register_hitype(QArray, lambda q: QType(q.values.shape))

    class Quantize(hijax.HiPrim):
        def __init__(self, x):
            if x.dtype != f32:
                raise TypeError(f"float32 is quantized, not {x.dtype}")
            self.in_avals, self.out_aval, self.params = (x,), QType(x.shape), {}
            super().__init__()

        def expand(self, x):
            scale = jnp.max(jnp.abs(x), axis=-1) / 127.0
            return QArray(jnp.round(x / scale[..., None]).astype(jnp.int8), scale)

        def vjp_fwd(self, nonzero, x):
            return self(x), None

        def vjp_bwd_retval(self, _, g):
            return (g,)

        def batch(self, axis, args, dims):
            (x,), (d,) = args, dims
            if d is None:
                return quantize(x), None
            return quantize(jnp.moveaxis(x, d, 0)), Leading()

    class Dequantize(hijax.HiPrim):
        def __init__(self, q):
            self.in_avals, self.params = (q,), {}
            self.out_aval = ShapedArray(q.shape, f32)
            super().__init__()

        def expand(self, q):
            return q.values.astype("float32") * q.scale[..., None]

        def vjp_fwd(self, nonzero, q):
            return self(q), None

        def vjp_bwd_retval(self, _, g):
            return (g,)

        def batch(self, axis, args, dims):
            (q,), (d,) = args, dims
            return dequantize(q), None if d is None else 0

    class Product(hijax.HiPrim):
        def __init__(self, x, q):
            if not (isinstance(q, QType) and x.shape[1] == q.shape[0]):
                raise TypeError(f"{x} @ {q}")
            self.in_avals, self.params = (x, q), {}
            self.out_aval = ShapedArray((x.shape[0], q.shape[1]), f32)
            super().__init__()

        def expand(self, x, q):
            return (x * q.scale) @ q.values.astype(jnp.float32)

        def vjp_fwd(self, nonzero, x, q):
            return self(x, q), (x, q)

        def vjp_bwd_retval(self, residuals, g):
            x, q = residuals
            return g @ dequantize(q).T, x.T @ g

    class Power(hijax.HiPrim):
        """x ** n, with forward-mode rules."""

        def __init__(self, x, n):
            self.in_avals, self.out_aval, self.params = (x,), x, {"n": n, "_hidden": 0}
            super().__init__()

        def expand(self, x):
            return x**self.n

        def jvp(self, primals, tangents):
            (x,), (t,) = primals, tangents
            return self(x), self.n * x ** (self.n - 1) * t

        lin, linearized = hijax.linearize_from_jvp
        vjp_fwd, vjp_bwd_retval = hijax.vjp_from_jvp

        def batch(self, axis, args, dims):
            (x,), (d,) = args, dims
            return Power(jax.typeof(x), self.n)(x), d

    class SumOfSquares(hijax.HiPrim):
        """Adds to accumulators, and has two operands of which one may lack a tangent."""

        def __init__(self, x, y):
            self.in_avals, self.params = (x, y), {}
            self.out_aval = (x, ShapedArray((), f32))
            super().__init__()

        def expand(self, x, y):
            return x + y, jnp.sum(x * y)

        def vjp_fwd(self, nonzero, x, y):
            return self(x, y), (x, y)

        def vjp_bwd(self, residuals, outgrad, x_accum, y_accum):
            x, y = residuals
            g, s = map(hijax.instantiate_zeros, outgrad)
            x_accum.accum(g)
            x_accum.accum(s * y)
            y_accum.accum(g + s * x)

    def quantize(x):
        return Quantize(jax.typeof(x))(x)

    def dequantize(q):
        return Dequantize(jax.typeof(q))(q)

    def product(x, q):
        return Product(jax.typeof(x), jax.typeof(q))(x, q)

    def power(x, n):
        return Power(jax.typeof(x), n)(x)

    def both(x, y):
        return SumOfSquares(jax.typeof(x), jax.typeof(y))(x, y)

    return SimpleNamespace(
        QArray=QArray,
        QType=QType,
        Leading=Leading,
        quantize=quantize,
        dequantize=dequantize,
        product=product,
        power=power,
        both=both,
    )


def cases(jax: Any) -> dict[str, Callable[[], Any]]:
    """Return functions without arguments: what each gives, jax records."""
    jnp, lax = jax.numpy, jax.lax
    q = quantized(jax)
    quantize, dequantize, Leading = q.quantize, q.dequantize, q.Leading
    x = jnp.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])
    w = jnp.arange(12.0, dtype="float32").reshape(3, 4) / 12
    xs = jnp.arange(24.0, dtype="float32").reshape(4, 2, 3) + 1
    qx, qw, qxs = quantize(x), quantize(w), quantize(xs)

    def there_and_back(x):
        return jnp.sum(dequantize(quantize(x)) ** 2)

    def squares(q):
        return jnp.sum(dequantize(q) ** 2)

    def loss(x, qw):
        return jnp.sum(q.product(x, qw) ** 2)

    def add_up(total, row):
        return total + jnp.sum(dequantize(row)), ()

    def accumulate(total, x):
        return quantize(dequantize(total) + x), quantize(2 * x)

    def scanned(xs):
        total, rows = lax.scan(accumulate, quantize(jnp.ones((2, 3))), xs)
        return dequantize(total), dequantize(rows)

    def last(xs):
        return jnp.sum(scanned(xs)[0] ** 2)

    def cubes(x):
        return jnp.sum(q.power(x, 3))

    grad, jit, vmap = jax.grad, jax.jit, jax.vmap
    return {
        "type": lambda: repr(jax.typeof(qx)),
        "round trip": lambda: dequantize(qx),
        "jaxpr": lambda: str(jit(lambda x: dequantize(quantize(x))).trace(x).jaxpr),
        "jaxpr of a product": lambda: str(jit(q.product).trace(x, qw).jaxpr),
        "jaxpr with parameters": lambda: str(jax.make_jaxpr(lambda x: q.power(x, 3))(x)),
        "jit inside": lambda: jit(lambda x: dequantize(quantize(x)))(x),
        "jit results": lambda: repr(jax.typeof(jit(quantize)(x))),
        "jit arguments": lambda: jit(dequantize)(jit(quantize)(x)),
        "jit captures": lambda: jit(lambda y: q.product(y, qw))(x),
        "compiled": lambda: jit(dequantize).lower(qx).compile()(qx),
        "shape": lambda: repr(jax.eval_shape(quantize, x)),
        "grad": lambda: grad(there_and_back)(x),
        "jit of grad": lambda: jit(grad(there_and_back))(x),
        "grad of jit": lambda: grad(jit(there_and_back))(x),
        "grad by a quantized array": lambda: grad(squares)(qx),
        "grad of jit by a quantized array": lambda: grad(jit(squares))(qx),
        "grads": lambda: grad(loss, argnums=(0, 1))(x, qw),
        "jit of grads": lambda: jit(grad(loss, argnums=(0, 1)))(x, qw),
        "vjp": lambda: jax.vjp(dequantize, qx)[1](x),
        "vmap to": lambda: repr(jax.typeof(vmap(quantize, out_axes=Leading())(xs))),
        "vmap from": lambda: vmap(dequantize, in_axes=Leading(), axis_size=4)(qxs),
        "vmap of jit": lambda: vmap(jit(dequantize), in_axes=Leading(), axis_size=4)(qxs),
        "vmap of grad": lambda: vmap(grad(there_and_back))(xs),
        "grad of vmap": lambda: grad(lambda xs: vmap(there_and_back)(xs).sum())(xs),
        "all at once": lambda: jit(vmap(grad(jit(there_and_back))))(xs),
        "scan over": lambda: lax.scan(add_up, 0.0, qxs, length=4)[0],
        "jit of scan over": lambda: jit(lambda q: lax.scan(add_up, 0.0, q, length=4)[0])(qxs),
        "scan with carry": lambda: scanned(xs),
        "grad of scan": lambda: grad(last)(xs),
        "jit of grad of scan": lambda: jit(grad(last))(xs),
        "grad of scan over": lambda: grad(lambda q: lax.scan(add_up, 0.0, q, length=4)[0])(qxs),
        "branches": lambda: lax.cond(True, dequantize, lambda q: dequantize(q) * 2, qx),
        "while": lambda: dequantize(
            lax.while_loop(
                lambda c: c[0] < 3, lambda c: (c[0] + 1, quantize(dequantize(c[1]) * 2)), (0, qx)
            )[1]
        ),
        "fori": lambda: dequantize(
            lax.fori_loop(0, 3, lambda i, q: quantize(dequantize(q) * 2), qx)
        ),
        "jvp": lambda: jax.jvp(cubes, (x,), (x,)),
        "grad by jvp": lambda: grad(cubes)(x),
        "linearize": lambda: jax.linearize(cubes, x)[1](x),
        "jit of grad by jvp": lambda: jit(grad(cubes))(x),
        "hessian": lambda: jax.hessian(cubes)(x[0]),
        "vmap of grad by jvp": lambda: vmap(grad(cubes))(x),
        "accumulators": lambda: grad(lambda x, y: sum(map(jnp.sum, q.both(x, y))), (0, 1))(
            x, x + 1
        ),
        "one accumulator": lambda: grad(lambda y: q.both(x, y)[1])(x + 1),
        "one result": lambda: grad(lambda x: q.both(x, x)[0].sum())(x),
    }
