"""Define programs of newer parts of the API, each a function of `jax`; tests/oracle/newer.py records what they give.

A program returns a pytree of numbers, arrays and strings.
"""

from dataclasses import dataclass

import numpy as np


def complex_extrema(jax):
    lax, jnp = jax.lax, jax.numpy
    c = jnp.array([[1 + 2j, 1 - 3j, 0.5 + 9j], [1 + 2j, 4 - 1j, 4 - 2j]], jnp.complex64)
    along = {"axis_name": "i"}
    return {
        "reduce_max": lax.reduce_max(c, (1,)),
        "reduce_min": lax.reduce_min(c, (0, 1)),
        "cummax": lax.cummax(c, 1),
        "cummin": lax.cummin(c, 1, reverse=True),
        "cumlogsumexp": lax.cumlogsumexp(c, 1),
        "pmax": jax.vmap(lambda x: lax.pmax(x, "i"), **along)(c),
        "pmin": jax.vmap(lambda x: lax.pmin(x, "i"), **along)(c),
        "gradient": jax.grad(lambda c: lax.reduce_max(c, (1,)).real.sum())(c),
        "batched": jax.vmap(lambda r: lax.reduce_min(r, (0,)))(c),
    }


def logs_of_custom_gradient(jax):
    f = jax.custom_gradient(lambda x: (x**2, lambda g: ((g * 2 * x,), {"ct": g})), with_logs=True)
    pullback = jax.vjp(f, 3.0)[1]
    return {
        "logs": pullback.with_logs(1.0),
        "dropped": pullback(1.0),
        "jit": jax.jit(jax.grad(f))(3.0),
    }


def _sine(jax):
    jnp = jax.numpy

    @jax.custom_gradient
    def plain(x):
        return jnp.sin(x), lambda g: (g * jnp.cos(x),)

    def sine(x):
        c = jnp.cos(x)

        def rem(x):
            return jnp.sin(x), lambda g: (g * c * 10,)

        return jnp.sin(x), rem

    return plain, jax.custom_gradient(sine, remat=True)


def remat_of_custom_gradient(jax):
    plain, sine = _sine(jax)
    lax, jnp = jax.lax, jax.numpy
    step = jax.checkpoint(lambda c, _: (sine(c), None))
    return {
        "plain": jax.grad(jax.checkpoint(plain))(1.0),
        "grad": jax.grad(sine)(1.0),
        "checkpoint": jax.grad(jax.checkpoint(sine))(1.0),
        "vmap": jax.vmap(jax.grad(jax.checkpoint(sine)))(jnp.arange(3.0)),
        "scan": jax.grad(lambda x: lax.scan(step, x, None, length=3)[0])(1.0),
    }


def rules_for_checkpoint_only(jax):
    @jax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (f(x), x), lambda x, g: (2 * x * g,))
    f.defremat(lambda x: (f(x), x + 1), lambda r, x: (f(x), r), lambda r, g: (1000 * r * g,))
    return {"plain": jax.grad(f)(3.0), "checkpoint": jax.grad(jax.checkpoint(f))(3.0)}


def accumulators(jax):
    from importlib import import_module

    hijax = import_module(f"{jax.__name__}.experimental.hijax")
    kinds = []

    def product(x, y):
        def rule(g, dx, dy):
            kinds.append([type(dx).__name__, type(dy["a"]).__name__])
            dx.accum(g * y["a"])
            dx.accum(g)
            dy["a"].accum(g * x)
            return {"g": g}

        return x * y["a"], rule

    f = jax.custom_gradient(product, with_accums=hijax.ValAccum)
    args = (3.0, {"a": 5.0})
    total = jax.new_ref(jax.numpy.array(10.0))
    into = jax.custom_gradient(product, with_accums=(hijax.ValAccum, hijax.RefAccum))
    pullback = jax.vjp(into, *args)[1].with_refs(jax.ad.GradValue(), {"a": total})
    return {
        "both": jax.grad(f, (0, 1))(*args),
        "one": jax.grad(f)(*args),
        "logs": jax.vjp(f, *args)[1].with_logs(2.0),
        "into a reference": [pullback(1.0)[0], total[...]],
        "kinds": kinds,
    }


def accumulators_of_custom_vjp(jax):
    kinds = []

    def backward(n, g, dx, dn):
        kinds.append([type(dx).__name__, type(dn).__name__])
        dx.accum(g * n)

    @jax.custom_vjp
    def f(x, n):
        return x * n

    f.defvjp_with_accums(lambda x, n: (f(x, n), n), backward)
    mapped = jax.vmap(jax.grad(f), (0, None))
    return {"grad": jax.grad(f)(3.0, 2), "vmap": mapped(np.arange(2.0), 2), "kinds": kinds}


class _Shared:
    """A batch of rows with numbers that all examples share."""

    def __init__(self, scale, rows):
        self.scale, self.rows = scale, rows


class _Along:
    """Where such a batch is mapped."""

    def __init__(self, axis):
        self.axis = axis


def types_that_vmap_maps(jax):
    from importlib import import_module

    batching = import_module(f"{jax.__name__}.interpreters.batching")
    jnp = jax.numpy

    def to_elt(cont, index, x, spec):
        return _Shared(x.scale, [cont(row, spec.axis) for row in x.rows])

    def from_elt(cont, size, x, spec):
        return _Shared(x.scale, [cont(size, row, spec.axis) for row in x.rows])

    batching.register_vmappable(_Shared, _Along, int, to_elt, from_elt, None)
    a, b = jnp.arange(6.0).reshape(2, 3), jnp.arange(12.0).reshape(2, 2, 3)

    def f(x, y):
        return _Shared(x.scale, [r.sum() * x.scale + y for r in x.rows]), x.rows[1].sum()

    f = jax.vmap(f, in_axes=(_Along(1), 0), out_axes=(_Along(0), 0))
    jitted = jax.jit(
        lambda a, b, y: [f(_Shared(3.0, [a, b]), y)[0].rows, f(_Shared(3.0, [a, b]), y)[1]]
    )
    # the second axis of both parts is mapped: their sizes agree
    out, sums = f(_Shared(2.0, [a, b.transpose(0, 2, 1)]), jnp.arange(3.0))
    return [out.scale, out.rows, sums, jitted(a, b.transpose(0, 2, 1), jnp.arange(3.0))]


def _rounded_rows(jax):
    """Define int8 rows with a scale each, as a type that a library adds, and `pack` and `unpack`."""
    from importlib import import_module

    jnp, hijax = jax.numpy, import_module(f"{jax.__name__}.experimental.hijax")
    P, axes = jax.sharding.PartitionSpec, jax.sharding.ManualAxisType

    def array(shape, dtype, vma):
        found = hijax.ShapedArray(shape, jnp.dtype(dtype))
        return found.update(manual_axis_type=axes(varying=vma)) if vma else found

    @dataclass(frozen=True)
    class Rows:
        values: object
        scale: object

    @dataclass(frozen=True)
    class Along(hijax.HiPspec):
        axis: str

        def to_lo(self):
            return P(self.axis), P(self.axis)

        def to_tangent_spec(self):
            return P(self.axis)

        to_ct_spec = to_tangent_spec

    @dataclass(frozen=True)
    class RowsType(hijax.HiType):
        shape: tuple
        vma: frozenset = frozenset()

        def lo_ty(self):
            return [array(self.shape, "int8", self.vma), array(self.shape[:1], "float32", self.vma)]

        def lower_val(self, q):
            return [q.values, q.scale]

        def raise_val(self, values, scale):
            return Rows(values, scale)

        def to_tangent_aval(self):
            return array(self.shape, "float32", self.vma)

        to_ct_aval = to_tangent_aval

        def shard(self, mesh, manual_axes, check_vma, spec):
            vma = self.vma | {spec.axis} if check_vma else self.vma
            return RowsType((self.shape[0] // mesh.shape[spec.axis], *self.shape[1:]), vma)

        def unshard(self, mesh, check_vma, spec):
            return RowsType(
                (self.shape[0] * mesh.shape[spec.axis], *self.shape[1:]), self.vma - {spec.axis}
            )

        def nospec(self, mesh, check_vma, all_names):
            return Along(all_names[0])

        def str_short(self, short_dtypes=False, mesh_axis_types=False):
            return f"rows{list(self.shape)}"

        __repr__ = str_short

    hijax.register_hitype(
        Rows, lambda q: RowsType(q.values.shape, jax.typeof(q.values).mat.varying)
    )

    class Pack(hijax.HiPrim):
        def __init__(self, x):
            self.in_avals, self.out_aval, self.params = (x,), RowsType(x.shape, x.mat.varying), {}
            super().__init__()

        def expand(self, x):
            scale = jnp.max(jnp.abs(x), axis=-1) / 127.0
            return Rows(jnp.round(x / scale[..., None]).astype("int8"), scale)

        def vjp_fwd(self, nonzero, x):
            return self(x), None

        def vjp_bwd_retval(self, _, g):
            return (g,)

    class Unpack(hijax.HiPrim):
        def __init__(self, q):
            self.in_avals, self.out_aval, self.params = (q,), q.to_tangent_aval(), {}
            super().__init__()

        def expand(self, q):
            return q.values.astype("float32") * q.scale[..., None]

        def vjp_fwd(self, nonzero, q):
            return self(q), None

        def vjp_bwd_retval(self, _, g):
            return (g,)

    return Along, lambda x: Pack(jax.typeof(x))(x), lambda q: Unpack(jax.typeof(q))(q)


def library_types_in_shard_map(jax):
    lax, jnp, P = jax.lax, jax.numpy, jax.sharding.PartitionSpec
    Along, pack, unpack = _rounded_rows(jax)
    mesh = jax.make_mesh((4, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = jnp.arange(1.0, 17.0).reshape(8, 2) / 7

    def results(run, check):
        options = {"mesh": mesh, "check_vma": check, "axis_names": {"a"}}
        scaled = jax.shard_map(
            lambda q: pack(unpack(q) * (1 + lax.axis_index("a"))),
            in_specs=(Along("a"),), out_specs=Along("a"), **options,
        )  # fmt: skip
        squares = jax.shard_map(
            lambda q: unpack(q) ** 2, in_specs=(Along("a"),), out_specs=P("a"), **options
        )
        made = jax.shard_map(
            lambda x: pack(2 * x), in_specs=(P("a"),), out_specs=Along("a"), **options
        )
        return [
            run(lambda x: unpack(scaled(pack(x))))(x),
            run(jax.grad(lambda x: squares(pack(x)).sum()))(x),
            run(lambda x: unpack(made(x)))(x),
        ]

    found = results(jax.jit, False)
    if jax.__name__ != "jax":  # jax 0.12.0 fails with other settings
        for run, check in [(jax.jit, True), (lambda f: f, False), (lambda f: f, True)]:
            for one, other in zip(results(run, check), found, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6)
    return found


def memory_of_the_host(jax):
    lax, jnp, P = jax.lax, jax.numpy, jax.sharding.PartitionSpec
    host, device = jax.memory.Space.Host, jax.memory.Space.Device
    x = jnp.arange(8.0)
    put, types = jax.device_put, []

    def f(x):
        y = put(x, host)
        parts = [
            y + y, 2.0 * y, y[2:4], y.sum(), jnp.dot(y, y), lax.dynamic_slice(y, (1,), (2,)), jnp.sort(y),
            jnp.maximum(y, 1.0), lax.fori_loop(0, 3, lambda i, c: c * 2, y), jnp.zeros_like(y),
            lax.scan(lambda c, a: (c, put(a, host)), 0.0, x)[1], y.at[jnp.array([1, 2])].set(0.0),
            put(y, device), jax.vmap(lambda row: put(row, host))(x.reshape(2, 4)), jax.jit(lambda x: put(x, host))(x),
        ]  # fmt: skip
        types.append([str(jax.typeof(v)) for v in parts])
        return y * 3, put(y, device) + x

    def kinds(xs):
        return [
            [str(jax.typeof(x)), x.sharding.memory_kind, type(x.sharding).__name__, x] for x in xs
        ]

    def raises(g):
        try:
            jax.make_jaxpr(g)(x)
        except (TypeError, ValueError):
            return "raises"
        return "works"

    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spread = jax.device_put(x, jax.NamedSharding(mesh, P("b")))
    there = jax.NamedSharding(mesh, P("b"), memory_kind="pinned_host")
    return {
        "jit": kinds(jax.jit(f)(x)),
        "types": types,
        "eager": kinds(
            [put(x, host), put(x, host) + 1, put(x, host)[1:], put(put(x, host), device)]
        ),
        "argument": kinds(jax.jit(lambda x: (x, x + 1))(put(x, host))),
        "sharded": kinds([jax.jit(lambda x: put(x * 2, there) + 1)(spread), put(spread, host)]),
        "constraint": str(jax.typeof(jax.jit(lambda x: put(x, there))(spread))),
        "mixed": [
            raises(lambda x: put(x, host) * x),
            raises(lambda x: jnp.concatenate([x, put(x, host)])),
            raises(lambda x: lax.cond(x[0] > 0, lambda x: put(x, host), lambda x: x, x)),
            raises(lambda x: lax.scan(lambda c, a: (put(c, host), a), 0.0, x)),
        ],
        "gradient": jax.grad(lambda x: (put(put(x * x, host), device) ** 2).sum())(x),
        "struct": str(
            jax.make_jaxpr(lambda x: x + 1)(
                jax.ShapeDtypeStruct((8,), "float32", sharding=there)
            ).out_avals[0]
        ),
    }


def residuals_that_checkpoint_offloads(jax):
    jnp = jax.numpy
    policy = jax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    f = jax.checkpoint(lambda w, x: jnp.sin(jnp.sin(x @ w) @ w).sum(), policy=policy)
    w, x = jnp.arange(4.0).reshape(2, 2) / 7, jnp.ones((2, 2))
    text = str(jax.make_jaxpr(jax.grad(f))(w, x))
    return {
        "moved": text.count("= device_put["),
        "grad": jax.grad(f)(w, x),
        "jit": jax.jit(jax.grad(f))(w, x),
    }


def summands_of_eager_products(jax):
    lax, jnp, P = jax.lax, jax.numpy, jax.sharding.PartitionSpec
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    summed = P("x", unreduced={"y"})

    def parts(x):
        return [
            str(jax.typeof(x)),
            [s.data for s in sorted(x.addressable_shards, key=lambda s: s.device.id)],
        ]

    def doubled(x):
        z = lax.pcast(x * 2, "y", to="unreduced")
        return jax.vmap(lambda row: row + row)(z)

    with jax.set_mesh(mesh):
        a = jax.device_put(np.arange(8.0, dtype="float32").reshape(4, 2), P("x", "y"))
        b = jax.device_put(np.arange(8.0, dtype="float32").reshape(2, 4) + 1, P("y"))
        spread = jax.shard_map(doubled, in_specs=(P("x", "y"),), out_specs=summed)(a)
        rows = jax.shard_map(
            lambda x: jax.vmap(lambda row: row * lax.axis_index("x"))(x),
            axis_names={"x"}, in_specs=(P("x"),), out_specs=P("x"),
        )  # fmt: skip
        return {
            "matmul": parts(jnp.matmul(a, b, out_sharding=summed)),
            "einsum": parts(jnp.einsum("ij,jk->ik", a, b, out_sharding=summed)),
            "reduce_sum": parts(lax.reduce_sum(a, (1,), out_sharding=summed)),
            "vmap in shard_map": parts(spread),
            "its sum": jax.reshard(spread, P("x")),
            "one manual axis": jax.jit(rows)(a),
        }


PROGRAMS = [
    summands_of_eager_products,
    library_types_in_shard_map,
    memory_of_the_host,
    residuals_that_checkpoint_offloads,
    types_that_vmap_maps,
    complex_extrema,
    logs_of_custom_gradient,
    remat_of_custom_gradient,
    rules_for_checkpoint_only,
    accumulators,
    accumulators_of_custom_vjp,
]

# settings under which jax runs a program
SETTINGS = {
    remat_of_custom_gradient: ("jax_remat3", "jax_custom_vjp3"),
    rules_for_checkpoint_only: ("jax_remat3", "jax_custom_vjp3"),
}


def readable(jax, found):
    """Convert a result to what JSON holds."""
    if isinstance(found, dict):
        return {k: readable(jax, v) for k, v in found.items()}
    if isinstance(found, (list, tuple)):
        return [readable(jax, v) for v in found]
    if isinstance(found, (str, bool, int)):
        return found
    data = np.asarray(found)
    if data.dtype.kind == "c":
        return [data.real.tolist(), data.imag.tolist()]
    return data.tolist()
