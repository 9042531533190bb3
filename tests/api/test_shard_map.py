"""`shard_map` and the collectives over axes of a mesh: values and derivatives, types, messages, compiled programs."""

from __future__ import annotations

import pickle
import re
from functools import partial

import numpy as np
import pytest

import parallel_cases
import sagax
import sagax.numpy as snp
from parallel_cases import mapped, mesh_of, numbers
from sagax import lax
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.core.verify import check_closed
from sagax.errors import ShardingError
from sagax.sharding import AxisType, ManualAxisType, Mesh, NamedSharding
from sagax.sharding import PartitionSpec as P

pytestmark = pytest.mark.usefixtures("eight_devices")

RING = [(i, (i + 1) % 4) for i in range(4)]
over = partial(mapped, sagax)


@pytest.mark.parametrize("name", [n for n in parallel_cases.CASES if not n.startswith("pmap")])
def test_as_jax(name, oracle_data):
    parallel_cases.check(sagax, name, oracle_data("parallel")[name])


# against formulas of whole arrays ------------------------------------------------------------------------


def test_a_ragged_exchange():
    sizes = np.array([[1, 2, 0, 1], [0, 1, 1, 2], [3, 0, 1, 0], [1, 1, 1, 1]], np.int32)
    starts = np.pad(np.cumsum(sizes, 1)[:, :-1], ((0, 0), (1, 0))).astype(np.int32)
    places = np.pad(np.cumsum(sizes, 0)[:-1], ((1, 0), (0, 0))).astype(np.int32)
    x = np.arange(16, dtype=np.float32)

    def f(x, out, *numbers):
        return lax.ragged_all_to_all(x, out, *[n[0] for n in numbers], axis_name="x")

    received = np.ascontiguousarray(sizes.T)
    operands = x, np.zeros(24, np.float32), starts, sizes, places, received
    found = over(f, (P("x"),) * 6, P("x"))(*operands).reshape(4, 6)
    for there in range(4):
        sent = [x[4 * here + starts[here, there] :][: sizes[here, there]] for here in range(4)]
        row = np.concatenate(sent)
        np.testing.assert_array_equal(found[there, : len(row)], row)
        np.testing.assert_array_equal(found[there, len(row) :], 0)


def test_the_derivative_of_a_nested_map():
    def inner(x):
        return lax.psum(x * (lax.axis_index("y") + 1), ("x", "y"))

    def outer(x):
        f = sagax.shard_map(inner, in_specs=P(None, "y"), out_specs=P(), axis_names={"y"})
        return f(snp.sin(x))

    mesh = mesh_of(sagax, x=4, y=2)
    f = sagax.shard_map(outer, mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})

    def whole(x):
        return (snp.sin(x).reshape(4, 2, 2, 2) * np.arange(1.0, 3)[:, None]).sum((0, 2))

    x = numbers(8, 4)
    for g in (f, sagax.jit(f)):
        np.testing.assert_allclose(g(x), whole(x), rtol=1e-5)
        expected = sagax.grad(lambda x: (whole(x) ** 2).sum())(x)
        found = sagax.grad(lambda x, g=g: (g(x) ** 2).sum())(x)
        np.testing.assert_allclose(found, expected, rtol=2e-5)


def test_devices_may_take_different_branches_and_still_share_weights():
    # the cotangents of w are summed outside of the branches, where all devices come by
    def f(x, w):
        y = lax.cond(lax.axis_index("x") > 1, lambda: snp.sin(x) * w, lambda: x * 2)
        z = lax.while_loop(lambda z: z.sum() < 3, lambda z: z * z + 1, y)
        return lax.psum(y, "x"), lax.psum(z, "x")

    g = over(f, (P("x"), P()), P(), {"x": 4})
    x, w = numbers(8), numbers(2, seed=1)
    expected = (np.sin(x[4:]).reshape(2, 2) * w + 2 * x[:4].reshape(2, 2)).sum(0)
    np.testing.assert_allclose(g(x, w)[0], expected, rtol=1e-5)
    found = sagax.grad(lambda x, w: g(x, w)[0].sum(), (0, 1))(x, w)
    np.testing.assert_allclose(found[1], np.sin(x[4:]).reshape(2, 2).sum(0), rtol=1e-5)
    np.testing.assert_allclose(found[0][:4], 2, rtol=1e-5)
    np.testing.assert_allclose(found[0][4:], np.cos(x[4:]) * np.tile(w, 2), rtol=1e-5)


def test_a_carry_comes_to_vary_by_itself():
    def f(x):
        def body(carry, row):
            total, last, constant = carry
            return (total + last, row, constant * 2), last

        zero = snp.zeros(())
        (total, last, constant), _ = lax.scan(body, (zero, zero, snp.ones(())), x)
        types = [set(sagax.typeof(v).vma) for v in (total, last, constant)]
        assert types == [{"x"}, {"x"}, set()]
        return total[None], constant

    x = numbers(8)
    sums, constant = over(f, P("x"), (P("x"), P()), {"x": 4})(x)
    np.testing.assert_allclose(sums, x.reshape(4, 2)[:, 0], rtol=1e-6)
    assert float(constant) == 4.0


def equations(jaxpr):
    """All equations of a program and of those it holds, with the names of the primitives around each."""
    for eqn in jaxpr.eqns:
        yield (eqn.primitive.name,)
        for inner in subjaxprs(eqn.params):
            for names in equations(inner):
                yield (eqn.primitive.name, *names)


def test_cotangents_of_a_loops_constants_are_summed_after_it():
    def loss(w, b, x):
        def body(c, row):
            c = snp.tanh(c @ (w.astype("bfloat16").astype("float32") * 2) + row)
            return c, (b * 2).sum()  # this one stays the same on all devices

        c, same = lax.scan(body, snp.zeros(3), x)
        return lax.psum((c**2).sum(), "x") + same.sum()

    def whole(w, b, x):
        def one(x):
            c = snp.zeros(3)
            for row in x:
                c = snp.tanh(c @ (w.astype("bfloat16").astype("float32") * 2) + row)
            return (c**2).sum()

        return sum(one(part) for part in x.reshape(4, 5, 3)) + (b * 2).sum() * 5

    w, b, x = numbers(3, 3), numbers(2, seed=1), numbers(20, 3, seed=2)
    f = over(loss, (P(), P(), P("x")), P(), {"x": 4})
    g = sagax.grad(f, (0, 1))
    found, expected = g(w, b, x), sagax.grad(whole, (0, 1))(w, b, x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
    sums = [n for n in equations(sagax.make_jaxpr(g)(w, b, x).jaxpr) if n[-1] == "psum"]
    assert sums
    assert not [n for n in sums if "scan" in n]
    inside = over(sagax.grad(loss, (0, 1)), (P(), P(), P("x")), P(), {"x": 4})
    np.testing.assert_allclose(inside(w, b, x)[0], expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(inside(w, b, x)[1], expected[1], rtol=1e-5)


def test_closed_over_values_are_whole_on_each_device():
    w = numbers(3)

    def loss(w, x):
        return over(lambda x: lax.psum((x * w).sum(), "x"), P("x"), P())(x)

    x = numbers(8, 3, seed=1)
    np.testing.assert_allclose(loss(w, x), (x * w).sum(), rtol=1e-5)
    np.testing.assert_allclose(sagax.jit(sagax.grad(loss))(w, x), x.sum(0), rtol=1e-5)


def test_dimensions_among_the_axes():
    x = numbers(8, 3, 2)

    def f(x):
        found = [r(x, (0, "x", 2)) for r in (lax.psum, lax.pmean, lax.pmax, lax.pmin)]
        return (*found, lax.psum(x, 1), lax.psum(x, ()))

    *found, own, same = over(f, P("x"), (P(), P(), P(), P(), P("x"), P("x")), {"x": 4})(x)
    for a, r in zip(found, (np.sum, np.mean, np.max, np.min), strict=True):
        np.testing.assert_allclose(a, r(x, (0, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(own, x.sum(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(same, x)
    named = sagax.vmap(lambda x: lax.psum(x, (0, "i")), axis_name="i")(np.ones((2, 3)))
    np.testing.assert_array_equal(named, [6, 6])


def test_names_of_a_mesh_and_of_a_vmap_together():
    def f(x):
        def row(x):
            return lax.psum(x, ("x", "i")) + lax.axis_index("i"), lax.psum(x, "i")

        return sagax.vmap(row, axis_name="i", out_axes=(0, None))(x)

    x = numbers(8, 3)
    for check in (True, False):
        total, own = over(f, P("x"), (P(), P("x")), {"x": 4}, check_vma=check)(x)
        np.testing.assert_allclose(total, x.sum(0) + np.arange(2)[:, None], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(own, x.reshape(4, 2, 3).sum(1).ravel(), rtol=1e-5, atol=1e-6)


def test_examples_divided_among_devices_by_vmap():
    f = over(lambda x, w: lax.psum(x, "y") * w, (P("y"), P()), P())
    g = sagax.vmap(f, in_axes=(0, None), spmd_axis_name="x")
    x = numbers(8, 4)
    np.testing.assert_allclose(g(x, 2.0), 2 * x.reshape(8, 2, 2).sum(1), rtol=1e-5)
    jaxpr = str(sagax.make_jaxpr(g)(x, 2.0))
    assert "in_specs=(P('x', 'y'), P())" in jaxpr


def test_devices_in_another_order(eight_devices):
    order = [3, 1, 0, 2, 7, 5, 6, 4]
    mesh = Mesh(np.array(eight_devices)[order].reshape(4, 2), ("x", "y"))
    x = numbers(8, 2)

    def f(x):
        row = lax.ppermute(x, "x", RING)
        return row * lax.axis_index("x") + lax.psum(x, "y")

    g = sagax.shard_map(f, mesh=mesh, in_specs=P(("x", "y")), out_specs=P(("x", "y")))
    parts = x.reshape(4, 2, 2)
    moved = np.roll(parts, 1, 0) * np.arange(4)[:, None, None]
    expected = (moved + parts.sum(1, keepdims=True)).reshape(8, 2)
    placed = sagax.device_put(x, NamedSharding(mesh, P(("x", "y"))))
    # the program may count the devices in another order than the mesh
    straight = NamedSharding(Mesh(np.array(eight_devices), ("d",)), P("d"))
    for given in (x, placed):
        np.testing.assert_allclose(g(given), expected, rtol=1e-5)
        np.testing.assert_allclose(sagax.jit(g)(given), expected, rtol=1e-5)
    np.testing.assert_allclose(sagax.jit(g)(sagax.device_put(x, straight)), expected, rtol=1e-5)


def test_callbacks_run_on_each_device():
    seen = []

    def f(x):
        sagax.debug.callback(
            lambda i, x: seen.append((int(i), float(x[0]))), lax.axis_index("x"), x
        )
        return sagax.pure_callback(lambda x: np.asarray(x) * 3, x, x)

    found = over(f, P("x"), P("x"), {"x": 4})(np.arange(4.0))
    np.testing.assert_array_equal(found, np.arange(4.0) * 3)
    sagax.effects_barrier()
    assert sorted(seen) == [(i, float(i)) for i in range(4)]


def test_a_nan_is_traced_to_its_operation_and_device():
    f = over(lambda x: snp.log(x - 3) * lax.psum(x, "x"), P("x"), P("x"), {"x": 4})
    with sagax.debug_nans(True):
        for g in (f, sagax.jit(f)):
            with pytest.raises(
                FloatingPointError, match=r"in log, in device x=2 of shard_map"
            ) as e:
                g(np.array([4.0, 5, 6, 7, 2, 9, 9, 9], np.float32))
            assert "log was given: -1.0" in str(e.value)


def test_keys_used_twice_inside_are_noticed():
    def draw(key):
        return sagax.random.normal(key, (2,)) + sagax.random.normal(key, (2,))

    key = sagax.random.key(0)
    with sagax.debug_key_reuse(True), pytest.raises(sagax.errors.KeyReuseError):
        over(draw, P(), P(), {"x": 4})(key)
    with sagax.debug_key_reuse(True), pytest.raises(sagax.errors.KeyReuseError):
        sagax.pmap(draw)(sagax.random.split(key, 4))
    keys = sagax.random.split(key, 4)
    once = over(lambda k: sagax.random.normal(k[0], (1, 2)), P("x"), P("x"), {"x": 4})
    with sagax.debug_key_reuse(True):
        found = once(keys)
    np.testing.assert_array_equal(found, sagax.vmap(lambda k: sagax.random.normal(k, (2,)))(keys))


def test_fixed_arguments_are_passed_as_they_are():
    f = over(lambda x, how: x.sum(keepdims=True) if how == "sum" else x, (P("x"), None), P("x"))
    np.testing.assert_array_equal(f(np.arange(8.0), "sum"), [1, 5, 9, 13])
    np.testing.assert_array_equal(f(np.arange(8.0), "as it is"), np.arange(8.0))


def test_a_jitted_one_is_traced_once_for_each_signature():
    calls = []

    def f(x):
        calls.append(x.shape)
        return x + 1

    g = sagax.jit(over(f, P("x"), P("x")))
    for n in (8, 8, 16, 8):
        np.testing.assert_array_equal(g(np.arange(n)), np.arange(n) + 1)
    assert calls == [(2,), (4,)]


def test_an_axis_of_one_device_is_checked_like_others():
    """What runs on one device should not fail on two; jax refuses it, too."""

    def f(x):
        return lax.psum(x * (lax.axis_index("y") + 1), "x")

    sizes, x = {"x": 4, "y": 1}, numbers(8)
    with pytest.raises(ShardingError, match="along the mesh axis 'y', but it may differ there"):
        over(f, P("x"), P(), sizes)(x)
    unchecked = sagax.shard_map(
        f, mesh=mesh_of(sagax, **sizes), in_specs=P("x"), out_specs=P(), check_vma=False
    )
    np.testing.assert_allclose(unchecked(x), x.reshape(4, 2).sum(0), rtol=1e-5)


def test_older_home_and_names():
    from sagax.experimental.shard_map import shard_map

    f = shard_map(lambda x: x, mesh_of(sagax, x=4), in_specs=P("x"), out_specs=P(), check_rep=False)
    assert f(np.arange(8)).shape == (2,)


# types -----------------------------------------------------------------------------------------------------


def test_types_tell_along_which_axes_values_vary():
    found = {}

    def f(x, w):
        values = {
            "x": x,
            "w": w,
            "sum": lax.psum(x, "x"),
            "half a sum": lax.psum(lax.pcast(x, "y", to="varying"), "x"),
            "gathered": lax.all_gather(x, "x"),
            "for all": lax.all_gather(x, "x", to="invarying"),
            "place": lax.axis_index("y"),
            "product": x * w * lax.axis_index("y"),
            "jitted": sagax.jit(lambda x, w: (lax.pmax(x, "x"), w * 2))(x, w),
            "gradient": sagax.grad(lambda w: (x * w).sum())(w),
            "pushed": sagax.jvp(sagax.jit(lambda w: w * 2), (w,), (x.sum(),)),
            "pushed later": sagax.linearize(sagax.jit(lambda w: w * 2), w)[1](x.sum()),
            "own gradient": sagax.grad(lambda w: (x * w).sum())(lax.pvary(w, "x")),
        }
        found.update(sagax.tree.map(lambda v: set(sagax.typeof(v).vma), values))
        return x

    over(f, (P("x"), P()), P("x"))(numbers(8), np.float32(1))
    assert found == {
        "x": {"x"},
        "w": set(),
        "sum": set(),
        "half a sum": {"y"},
        "gathered": {"x"},
        "for all": set(),
        "place": {"y"},
        "product": {"x", "y"},
        "jitted": (set(), set()),
        "gradient": set(),
        "pushed": ({"x"}, {"x"}),
        "pushed later": {"x"},
        "own gradient": {"x"},
    }


def test_manual_axis_types():
    seen = []

    def f(x, w):
        seen.extend([sagax.typeof(v).manual_axis_type for v in (x, w, x * w, lax.psum(x, "x"))])
        asked = sagax.ShapeDtypeStruct((2,), "float32", manual_axis_type=seen[0])
        seen.append(sagax.eval_shape(lambda v: v + 1, asked).manual_axis_type)
        return x * w

    over(f, (P("x"), P()), P("x"))(X, 2.0)
    varies = ManualAxisType(varying={"x"})
    assert seen == [varies, ManualAxisType(), varies, ManualAxisType(), varies]
    assert pickle.loads(pickle.dumps(varies)) == varies
    assert "manual_axis_type=ManualAxisType(varying=frozenset({'x'})" in repr(
        sagax.ShapeDtypeStruct((2,), "float32", manual_axis_type=varies)
    )
    with pytest.raises(TypeError, match="varying must be a set"):
        ManualAxisType(varying="x")
    with pytest.raises(ValueError, match="varying and unreduced cannot have common mesh axes"):
        ManualAxisType({"x"}, {"x"})
    with pytest.raises(ValueError, match="no unreduced values"):
        sagax.ShapeDtypeStruct((2,), "float32", manual_axis_type=ManualAxisType(unreduced={"x"}))


def test_the_program_is_well_typed():
    def f(x, w):
        def body(c, row):
            return snp.tanh(c * w + lax.ppermute(row, "x", RING)), c

        last, rows = lax.scan(body, snp.zeros(3), x)
        return lax.psum(last, "x"), rows

    g = over(f, (P("x"), P()), (P(), P("x")), {"x": 4})

    def loss(x, w):
        return sum(snp.sum(o) for o in g(x, w))

    x, w = numbers(8, 3), numbers(3, seed=1)
    check_closed(sagax.make_jaxpr(g)(x, w))
    check_closed(sagax.make_jaxpr(sagax.grad(loss, (0, 1)))(x, w))
    check_closed(sagax.make_jaxpr(sagax.vmap(g, in_axes=(0, None)))(numbers(2, 8, 3), w))
    check_closed(sagax.make_jaxpr(sagax.hessian(loss, 1))(x, w))


def test_a_program_of_named_axes_alone():
    def f(x):
        return lax.psum(x, "i") * lax.axis_size("j")

    jaxpr = sagax.make_jaxpr(f, axis_env=[("i", 4), ("j", 2)])(np.float32(1))
    assert str(jaxpr) == (
        "{ lambda ; a:f32[]. let\n    b:f32[] = psum[axes=('i',)] a\n    c:f32[] = mul b 2.0:f32[]\n"
        "  in (c,) }"
    )
    with pytest.raises(NameError, match="unbound axis name: i"):
        sagax.make_jaxpr(f)(np.float32(1))


def test_the_mesh_in_force_is_seen_inside():
    seen = []

    def f(x):
        seen.append(sagax.sharding.get_abstract_mesh().axis_types)
        return x

    over(f, P("x"), P("x"), axis_names={"x"})(numbers(8))
    assert seen == [(AxisType.Manual, AxisType.Auto)]
    with sagax.set_mesh(mesh_of(sagax, x=8)):
        found = sagax.shard_map(lambda x: lax.psum(x, "x"), in_specs=P("x"), out_specs=P())(
            np.arange(8.0)
        )
    np.testing.assert_array_equal(found, [28.0])


def test_the_printed_program():
    f = over(lambda x: lax.psum(x.sum(), "x"), P("x"), P())
    assert str(sagax.make_jaxpr(f)(np.arange(8.0))) == (
        "{ lambda ; a:f32[8]. let\n"
        "    b:f32[] = shard_map[\n"
        "      jaxpr={ lambda ; c:f32[2]{V:x}. let\n"
        "          d:f32[]{V:x} = reduce_sum[axes=(0,) out_sharding=None] c\n"
        "          e:f32[] = psum[axes=('x',)] d\n"
        "        in (e,) }\n"
        "      mesh=Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))\n"
        "      manual_axes=('x', 'y')\n"
        "      in_specs=(P('x',),)\n"
        "      out_specs=(P(),)\n"
        "      check_vma=True\n"
        "    ] a\n"
        "  in (b,) }"
    )


# compiled programs -----------------------------------------------------------------------------------------

_KINDS = (
    r"(all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter|collective-broadcast)"
)


def exchanges(f, *args):
    """How often each kind of exchange stands in the compiled program."""
    text = sagax.jit(f).lower(*args).compile().as_text()
    found = re.findall(rf"= .*? {_KINDS}(?:-start)?\(", text)
    return {kind: found.count(kind) for kind in set(found)}


def test_a_pipeline_of_two_stages_sends_to_the_next_stage_only():
    """Each device has the weights of one stage; micro-batches move on by one stage a round."""
    mesh = mesh_of(sagax, stage=2)
    count, width = 4, 3

    def stages(w, batches):
        stage = lax.axis_index("stage")

        def round_(state, i):
            held, done = state
            first = lax.dynamic_index_in_dim(batches, snp.minimum(i, count - 1), keepdims=False)
            out = snp.tanh(snp.where(stage == 0, first, held) @ w[0])
            done = lax.dynamic_update_index_in_dim(done, out, snp.maximum(i - 1, 0), 0)
            return (lax.ppermute(out, "stage", [(0, 1)]), done), None

        start = snp.zeros_like(batches[0]), snp.zeros_like(batches)
        (_, done), _ = lax.scan(round_, start, snp.arange(count + 1))
        return done[None]

    f = sagax.shard_map(stages, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P("stage"))
    w, x = numbers(2, width, width), numbers(count, 5, width, seed=1)
    expected = np.tanh(np.tanh(x @ w[0]) @ w[1])
    np.testing.assert_allclose(sagax.jit(f)(w, x)[1], expected, rtol=1e-4, atol=1e-6)
    assert set(exchanges(f, w, x)) == {"collective-permute"}

    def back(w, ct):
        return sagax.vjp(lambda w: f(w, x), w)[1](ct)[0]

    def whole(w):
        return snp.tanh(snp.tanh(x @ w[0]) @ w[1])

    ct = np.stack([np.zeros_like(x), numbers(*x.shape, seed=2)])
    (expected,) = sagax.vjp(whole, w)[1](ct[1])
    np.testing.assert_allclose(sagax.jit(back)(w, ct), expected, rtol=1e-3, atol=1e-5)
    assert set(exchanges(back, w, ct)) == {"collective-permute"}


def test_attention_over_a_divided_sequence():
    """Each device has a part of the sequence; keys and values go round."""
    mesh = mesh_of(sagax, seq=4)

    def ring(q, k, v):
        n = lax.axis_size("seq")

        def step(state, _):
            k, v, top, total, out = state
            scores = q @ k.T
            new = snp.maximum(top, scores.max(-1))
            weights = snp.exp(scores - new[:, None])
            scale = snp.exp(top - new)
            total = total * scale + weights.sum(-1)
            out = out * scale[:, None] + weights @ v
            k, v = lax.ppermute((k, v), "seq", [(i, (i + 1) % n) for i in range(n)])
            return (k, v, new, total, out), None

        start = k, v, snp.full(q.shape[0], -1e30), snp.zeros(q.shape[0]), snp.zeros_like(q)
        (_, _, _, total, out), _ = lax.scan(step, start, None, length=n)
        return out / total[:, None]

    f = sagax.shard_map(ring, mesh=mesh, in_specs=P("seq"), out_specs=P("seq"))
    q, k, v = numbers(3, 16, 4)

    def whole(q, k, v):
        return sagax.nn.softmax(q @ k.T, axis=-1) @ v

    np.testing.assert_allclose(sagax.jit(f)(q, k, v), whole(q, k, v), rtol=1e-4, atol=1e-5)
    assert set(exchanges(f, q, k, v)) == {"collective-permute"}
    loss = lambda g: lambda *a: (snp.sin(g(*a))).sum()  # noqa: E731
    found = sagax.jit(sagax.grad(loss(f), (0, 1, 2)))(q, k, v)
    expected = sagax.grad(loss(whole), (0, 1, 2))(q, k, v)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_divided_weights_are_gathered_and_their_gradients_scattered():
    mesh = mesh_of(sagax, data=8)

    def loss(w, x):
        whole = lax.all_gather(w, "data", tiled=True)
        return lax.psum(snp.sin(x @ whole).sum(), "data")

    def step(w, x):
        return w - 0.1 * sagax.grad(loss)(w, x)

    f = sagax.shard_map(step, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    w, x = numbers(16, 3), numbers(8, 16, seed=1)
    whole = sagax.grad(lambda w: snp.sin(x @ w).sum())
    np.testing.assert_allclose(sagax.jit(f)(w, x), w - 0.1 * whole(w), rtol=1e-4, atol=1e-5)
    assert exchanges(f, w, x) == {"all-gather": 1, "reduce-scatter": 1}


def test_a_data_parallel_step_sums_once():
    mesh = mesh_of(sagax, data=8)

    def loss(w, x, y):
        return lax.pmean(snp.mean((snp.tanh(x @ w) - y) ** 2), "data")

    def step(w, x, y):
        value, g = sagax.value_and_grad(loss)(w, x, y)
        return w - 0.1 * g

    f = sagax.shard_map(step, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P())
    w, x, y = numbers(4, 3), numbers(16, 4, seed=1), numbers(16, 3, seed=2)
    whole = lambda w: snp.mean((snp.tanh(x @ w) - y) ** 2)  # noqa: E731
    np.testing.assert_allclose(f(w, x, y), w - 0.1 * sagax.grad(whole)(w), rtol=1e-4, atol=1e-6)
    assert exchanges(f, w, x, y) == {"all-reduce": 1}


# what does not fit -------------------------------------------------------------------------------------------


def bad(f, ins, outs, *args, **options):
    return lambda: over(f, ins, outs, **options)(*args)


X = np.arange(8.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            bad(lambda x: x.sum(), P("x"), P(), X),
            ValueError,
            r"result is the same on all devices along the mesh axis 'x'[^$]*got: result of type float32\[\]"
            r"[^$]*return x\[None\] with P\('x',\)[^$]*lax.psum\(x, 'x'\)[^$]*check_vma=False",
        ),
        (
            bad(lambda x: {"a": [x * 2]}, P("x"), {"a": P()}, X),
            ValueError,
            r"result\['a'\]\[0\] is the same[^$]*use P\('x',\) to concatenate",
        ),
        (
            bad(lambda x: x, P("x", "y"), P("x"), X),
            ValueError,
            r"P\('x', 'y'\) has 2 entries[^$]*argument: x[^$]*use P\('x',\)",
        ),
        (
            bad(lambda x: x.sum(), P("x"), P("x"), X),
            ValueError,
            r"P\('x',\) has 1 entries, and result has 0 dimensions[^$]*x\[None\]",
        ),
        (
            bad(lambda p: p["w"], (P("x"),), P("x"), {"w": np.arange(6.0)}),
            ValueError,
            r"size 6[^$]*4 parts along the mesh axis 'x'[^$]*argument: p\['w'\][^$]*pad dimension 0 to 8",
        ),
        (
            bad(lambda x: x, P(None, "x"), P("x"), np.zeros((4, 6))),
            ValueError,
            r"dimension 1 of shape \(4, 6\)[^$]*use P\('x',\)",
        ),
        (
            bad(lambda x: x, P("z"), P("x"), X),
            ValueError,
            r"z[^$]*not found in mesh[^$]*argument: x",
        ),
        (bad(lambda x: x, P("x"), P("z"), X), ValueError, r"z[^$]*not found[^$]*out_specs"),
        (
            bad(lambda x: x, P("x", "x"), P("x"), np.zeros((8, 8))),
            ValueError,
            r"duplicate entries for 'x'[^$]*argument: x",
        ),
        (
            bad(lambda x: x, P("x", "y"), P("x"), np.zeros((8, 8)), axis_names={"x"}),
            ValueError,
            r"names 'y', along which[^$]*use P\('x',\), or add the axes to axis_names",
        ),
        (bad(lambda x: x, "x", P("x"), X), TypeError, r"write PartitionSpec\('x'\)"),
        (
            bad(lambda x: x, (P("x"), P()), P("x"), X),
            ValueError,
            r"in_specs has 2 entries[^$]*1 positional",
        ),
        (
            bad(lambda p: p["a"], ({"b": P("x")},), P("x"), {"a": X}),
            ValueError,
            r"in_specs must be a tree prefix",
        ),
        (
            bad(lambda x: {"a": x}, P("x"), {"b": P("x")}, X),
            ValueError,
            r"out_specs must be a tree prefix",
        ),
        (
            bad(lambda x: lax.psum(x, "z"), P("x"), P("x"), X),
            NameError,
            r"unbound axis name: z; the axes in scope are 'x', 'y'",
        ),
        (
            bad(lambda x: lax.psum(x, "y"), P("x"), P("x"), X, axis_names={"x"}),
            NameError,
            r"unbound axis name: y[^$]*add 'y' to the axis_names of shard_map",
        ),
        (
            bad(lambda x: lax.with_sharding_constraint([x], P("x")), P("x"), P("x"), X),
            ValueError,
            r"has its own part along 'x' already[^$]*argument: x\[0\][^$]*use P\(\)",
        ),
        (
            bad(
                lambda x: sagax.sharding.reshard(x, P("y", "x")),
                P("x"),
                P("x"),
                np.ones((32, 4)),
                axis_names={"x"},
            ),
            ValueError,
            r"reshard: [^$]*has its own part along 'x' already[^$]*use P\('y',\)",
        ),
        (
            bad(
                lambda x: sagax.device_put(x, NamedSharding(mesh_of(sagax, x=4, y=2), P("y"))),
                P("y"),
                P("y"),
                np.ones(32),
            ),
            ValueError,
            r"device_put: [^$]*has its own part along 'y' already",
        ),
        (
            lambda: over(lambda x: x, P("x"), P("x"))(
                sagax.device_put(X, NamedSharding(mesh_of(sagax, x=4), P("x")))
            ),
            ValueError,
            r"incompatible devices[^$]*the function places values on Mesh\(axis_sizes=\(4, 2\)",
        ),
        (lambda: lax.psum(X, "x"), NameError, r"unbound axis name: x[^$]*inside shard_map"),
        (lambda: lax.axis_index("x"), NameError, r"unbound axis name: x"),
        (
            bad(lambda x: x, P("x"), P("x"), X, axis_names={"z"}),
            ValueError,
            r"'z' are not those of the mesh",
        ),
        (
            bad(lambda x: over(lambda x: x, P("x"), P("x"))(x), P("x"), P("x"), X),
            ValueError,
            r"maps 'x', 'y' already[^$]*call the function directly",
        ),
        (
            lambda: sagax.shard_map(lambda x: x, in_specs=P("x"), out_specs=P("x"))(X),
            ValueError,
            r"there is no mesh[^$]*sagax.set_mesh",
        ),
        (
            lambda: sagax.shard_map(lambda x: x, mesh=3, in_specs=P("x"), out_specs=P("x")),
            TypeError,
            r"argument mesh must be a Mesh",
        ),
        (
            lambda: sagax.shard_map(lambda x: x, mesh=mesh_of(sagax, x=4), out_specs=P("x"))(X),
            ValueError,
            r"without in_specs the axes that are mapped must be Explicit",
        ),
        (
            bad(lambda x: lax.pcast(x, "x", to="varying"), P("x"), P("x"), X),
            ValueError,
            r"is varying already",
        ),
        (
            bad(lambda x: lax.psum_scatter(x, "x", tiled=True), P("x"), P("x"), X),
            ValueError,
            r"size 2 of dimension 0 is not divisible by the size 4 of axis 'x'",
        ),
        (
            bad(lambda x: lax.ppermute(x, "x", [(0, 1), (0, 2)]), P("x"), P("x"), X),
            ValueError,
            r"sources must be unique",
        ),
        (
            bad(lambda x: lax.psum(x, "x", axis_index_groups=[[0, 1]]), P("x"), P("x"), X),
            ValueError,
            r"cover all indices",
        ),
    ],
)
def test_what_does_not_fit_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_devices_do_not_wait_for_those_that_do_not_come():
    def branch(x):
        return lax.cond(x.sum() > 3, lambda x: lax.psum(x, "x"), lambda x: x.sum() * x, x)

    def loop(x):
        return lax.while_loop(
            lambda v: v.sum() > 3, lambda v: v - lax.all_gather(v, "x").mean(0), x
        )

    for f, name in ((branch, "psum"), (loop, "all_gather")):
        with pytest.raises(ValueError, match=f"axis 'x'[^$]*{name} inside waits"):
            over(f, P("x"), P("x"), {"x": 4})(X)

    def agreed(x):
        alike = lax.psum(x.sum(), "x") > 3
        return lax.cond(alike, lambda x: lax.psum(x, "x"), lambda x: x[:1] + x, x)

    found = over(agreed, P("x"), P("x"), {"x": 4})(X)
    np.testing.assert_array_equal(found, np.tile(X.reshape(4, 2).sum(0), 4))
    # along other axes than that of the predicate all come by
    f = over(
        lambda x: lax.cond(x.sum() > 3, lambda x: lax.psum(x, "y"), lambda x: x, x), P("x"), P("x")
    )
    np.testing.assert_array_equal(f(X), [0, 1, 4, 6, 8, 10, 12, 14])


def test_another_mesh_than_the_one_in_force():
    with sagax.set_mesh(mesh_of(sagax, x=8)):
        with pytest.raises(ValueError, match="not the one in force"):
            over(lambda x: x, P("x"), P("x"))(X)
