"""References: each program with them equals the same program on values, under every transformation."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest

import reference_cases
import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.errors import SagaxError
from sagax.experimental import checkify

X = np.linspace(0.2, 1.3, 4).astype(np.float32)


def assert_close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-6, atol=1e-6)


# One program with references, and the same on values: each takes an array of four elements ------------


def whole(x):
    r = sagax.new_ref(x)
    r[...] = snp.sin(r[...])
    return r[...] * 2


def whole_values(x):
    return snp.sin(x) * 2


def parts(x):
    r = sagax.new_ref(snp.zeros(6, x.dtype))
    r[1:5] = x
    r[0] = x[1] * x[2]
    r[-1] = r[0] + r[1]
    sagax.ref.addupdate(r, slice(0, 2), x[:2])
    r[snp.array([2, 3])] = r[snp.array([3, 2])] * 3
    old = sagax.ref.swap(r, 4, x[0])
    return r[...], old


def parts_values(x):
    r = snp.zeros(6, x.dtype).at[1:5].set(x)
    r = r.at[0].set(x[1] * x[2])
    r = r.at[5].set(r[0] + r[1])
    r = r.at[:2].add(x[:2])
    r = r.at[snp.array([2, 3])].set(r[snp.array([3, 2])] * 3)
    return r.at[4].set(x[0]), r[4]


def views(x):
    r = sagax.new_ref(x)
    pairs = r.reshape(2, 2)
    pairs.at[0][1] = x[3] * 5
    pairs.T[0] = snp.cos(pairs.T[1])
    r.at[1:].at[0][...] = x[0] * x[1]
    r.at[2:].addupdate(x[:2])
    sagax.ref.addupdate(pairs.T, ..., snp.ones((2, 2), x.dtype))
    return sagax.freeze(r)


def views_values(x):
    x1 = x.reshape(2, 2).at[0, 1].set(x[3] * 5)
    x1 = x1.at[:, 0].set(snp.cos(x1[:, 1])).reshape(4)
    return x1.at[1].set(x[0] * x[1]).at[2:].add(x[:2]) + 1


def in_scan(x):
    r, total = sagax.new_ref(x), sagax.new_ref(snp.zeros((), x.dtype))

    def body(c, i):
        r[i] = snp.sin(r[i]) * c
        total[...] += r[(i + 1) % 4]
        return c + r[0], r[i] * 2

    c, ys = lax.scan(body, x[1], snp.arange(4))
    return c, ys, r[...], total[...]


def in_scan_values(x):
    def body(carry, i):
        c, r, total = carry
        r = r.at[i].set(snp.sin(r[i]) * c)
        return (c + r[0], r, total + r[(i + 1) % 4]), r[i] * 2

    (c, r, total), ys = lax.scan(body, (x[1], x, snp.zeros((), x.dtype)), snp.arange(4))
    return c, ys, r, total


def in_cond(x):
    r, s = sagax.new_ref(x), sagax.new_ref(x * 2)

    def yes(a):
        r[0] = a * s[1]
        return r[1]

    def no(a):
        s[1] = a * a
        return s[2]

    y = lax.cond(x[0] > 0.5, yes, no, x[2])
    z = lax.switch(1, [yes, no], x[3])
    return r[...], s[...], y, z


def in_cond_values(x):
    s = (x * 2).at[1].set(x[2] * x[2])
    if_no = x, s, s[2]
    if_yes = x.at[0].set(x[2] * x[1] * 2), x * 2, x[1]
    r, s, y = (snp.where(x[0] > 0.5, a, b) for a, b in zip(if_yes, if_no, strict=True))
    s = s.at[1].set(x[3] * x[3])
    return r, s, y, s[2]


def in_fori(x):
    r = sagax.new_ref(x)

    def body(i, c):
        r[i] = r[i] * c + r[(i + 1) % 4]
        return c * 1.5

    c = lax.fori_loop(0, 3, body, x[0])
    return r[...], c


def in_fori_values(x):
    def body(i, carry):
        r, c = carry
        return r.at[i].set(r[i] * c + r[(i + 1) % 4]), c * 1.5

    return lax.fori_loop(0, 3, body, (x, x[0]))


def in_calls(x):
    r = sagax.new_ref(x)

    @sagax.jit
    def double(ref, k):
        ref[k] = ref[k] * 2
        return ref[0]

    @sagax.checkpoint
    def sine(y):
        r[1] = snp.sin(r[1]) * y
        return r[1] * y

    a = double(r, 1)
    b = sine(x[2])
    c = sagax.jit(lambda: sagax.jit(lambda: r[1] * 3)())()
    return a, b, c, r[...]


def in_calls_values(x):
    r = x.at[1].set(x[1] * 2)
    r1 = snp.sin(r[1]) * x[2]
    return x[0], r1 * x[2], r1 * 3, r.at[1].set(r1)


def in_vmap(x):
    def one(a, ref):
        own = sagax.new_ref(a)
        ref[0] = own[...] * ref[1]
        own[...] = snp.sin(own[...]) + ref[0]
        return own[...]

    r = sagax.new_ref(snp.stack([x, x * 2]))
    ys = sagax.vmap(one, in_axes=(0, 1))(x, r)
    return ys, r[...]


def in_vmap_values(x):
    first = x * x * 2
    return snp.sin(x) + first, snp.stack([first, x * 2])


def nested(x):
    r = sagax.new_ref(x)

    def outer(c, i):
        def inner(j, c):
            r[j] = r[j] + c * 0.1
            return c + r[j]

        def write(c):
            r[3] = r[3] * c
            return c

        c = lax.fori_loop(0, 2, inner, c)
        return lax.cond(i > 0, write, lambda c: c, c), r[i]

    c, ys = lax.scan(outer, x[0], snp.arange(3))
    return c, ys, r[...]


def nested_values(x):
    r, c, ys = x, x[0], []
    for i in range(3):
        for j in range(2):
            r = r.at[j].set(r[j] + c * 0.1)
            c = c + r[j]
        if i > 0:
            r = r.at[3].set(r[3] * c)
        ys.append(r[i])
    return c, snp.stack(ys), r


PROGRAMS = [
    (whole, whole_values),
    (parts, parts_values),
    (views, views_values),
    (in_scan, in_scan_values),
    (in_cond, in_cond_values),
    (in_fori, in_fori_values),
    (in_calls, in_calls_values),
    (in_vmap, in_vmap_values),
    (nested, nested_values),
]


def loss(f):
    def total(x):
        leaves = sagax.tree.leaves(f(x))
        return sum(snp.sum(snp.cos(y) * (i + 1)) for i, y in enumerate(leaves))

    return total


def batched(f):
    return lambda x: sagax.vmap(f)(snp.stack([x, x * 0.5, x + 1]))


LAWS = {
    "eager": lambda f: f,
    "jit": sagax.jit,
    "scan": lambda f: lambda x: lax.scan(lambda c, a: (c, f(a)), 0, snp.stack([x, x + 1]))[1],
    "vmap": batched,
    "jit of vmap": lambda f: sagax.jit(batched(f)),
    "jvp": lambda f: lambda x: sagax.jvp(f, (x,), (snp.cos(x),)),
    "grad": lambda f: sagax.grad(loss(f)),
    "jit of grad": lambda f: sagax.jit(sagax.grad(loss(f))),
    "grad of jit": lambda f: sagax.grad(loss(sagax.jit(f))),
    "grad of checkpoint": lambda f: sagax.grad(loss(sagax.checkpoint(f))),
    "vmap of grad": lambda f: batched(sagax.grad(loss(f))),
    "grad of vmap": lambda f: sagax.grad(loss(batched(f))),
    "hessian": lambda f: sagax.hessian(loss(f)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("program", "values"), PROGRAMS, ids=lambda f: f.__name__)
def test_equals_the_program_on_values(program, values, law):
    transform = LAWS[law]
    found, expected = (sagax.tree.leaves(transform(f)(snp.asarray(X))) for f in (program, values))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert_close(a, b)


# References from outside of the function -----------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda f: f, sagax.jit], ids=["eager", "jit"])
def test_captured_and_passed_references_keep_their_order(wrap):
    r, s = sagax.new_ref(snp.arange(3.0)), sagax.new_ref(1.0)

    @wrap
    def step(ref, x):
        ref[0] = ref[0] + x
        s[...] = s[...] * 2 + ref[0]
        return ref[0] * s[...]

    assert float(step(r, 1.0)) == 3.0
    assert float(step(r, 1.0)) == 2.0 * 8.0
    assert r[...].tolist() == [2.0, 1.0, 2.0]
    assert float(s[...]) == 8.0
    s[...] = 0.0  # the same executable reads what was written since
    assert float(step(r, 0.0)) == 4.0


def test_while_loop_reads_in_its_condition():
    r = sagax.new_ref(snp.zeros(2))

    def body(n):
        r[0] = r[0] + 1
        return n + 1

    assert int(lax.while_loop(lambda n: r[0] < 5, body, 0)) == 5
    assert float(r[0]) == 5
    assert int(sagax.jit(lambda: lax.while_loop(lambda n: r[0] < 7, body, 0))()) == 2
    assert float(r[0]) == 7


def test_gradients_are_stashed_by_a_custom_rule():
    @sagax.custom_vjp
    def stash(ref, x):
        return x

    def bwd(ref, g):
        ref[...] = g
        return None, g

    stash.defvjp(lambda ref, x: (x, ref), bwd)

    def f(x, ref):
        return snp.sin(stash(ref, snp.sin(x) * 3))

    expected = np.cos(3 * np.sin(0.7))
    for wrap in (lambda f: f, sagax.jit):
        ref = sagax.new_ref(0.0)
        slope = wrap(sagax.grad(f))(0.7, ref)
        assert_close(ref[...], expected)
        assert_close(slope, expected * 3 * np.cos(0.7))
    inside_jit = sagax.new_ref(0.0)
    assert_close(sagax.grad(lambda x: sagax.jit(f)(x, inside_jit))(0.7), slope)
    assert_close(inside_jit[...], expected)

    in_loop = sagax.new_ref(0.0)

    def looped(x):
        return lax.scan(lambda c, _: (snp.sin(stash(in_loop, c)), None), x, None, length=3)[0]

    for wrap in (lambda f: f, sagax.jit):
        in_loop[...] = 0.0
        slope = wrap(sagax.grad(looped))(0.7)  # the last write is that of the first iteration
        assert_close(in_loop[...], slope)
        assert_close(slope, sagax.grad(lambda x: snp.sin(snp.sin(snp.sin(x))))(0.7))


def test_values_are_stashed_without_derivative():
    kept = sagax.new_ref(0.0, kind="no_grad_no_remat")

    def f(x):
        kept[...] = x * 2
        return x * kept[...]

    assert float(sagax.grad(f)(3.0)) == 6.0
    assert float(kept[...]) == 6.0


def test_shard_map_reads_and_writes():
    mesh = sagax.make_mesh((1,), ("i",))
    r = sagax.new_ref(snp.arange(4.0))

    def f(x):
        r[0] = r[0] + 1
        return x * 2 + r[0]

    spec = sagax.P()
    g = sagax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)
    assert g(snp.ones(2)).tolist() == [3.0, 3.0]
    assert sagax.jit(g)(snp.ones(2)).tolist() == [4.0, 4.0]
    assert float(r[0]) == 2.0


def test_names_share_contents_and_arrays_read_before_keep_theirs():
    start = snp.zeros(3)
    r = sagax.new_ref(start)
    same, read = r, r[...]
    add = sagax.jit(lambda ref: ref.addupdate(snp.ones(3)))
    for _ in range(3):
        add(r)
    later = r[...]
    add(r)
    assert same[...].tolist() == [4.0, 4.0, 4.0]
    assert (start.tolist(), read.tolist(), later.tolist()) == ([0.0] * 3, [0.0] * 3, [3.0] * 3)


def test_memory_is_reused_in_place():
    n = 1000

    def step(r, x):
        r[2] = x

    compiled = sagax.jit(step).lower(sagax.new_ref(snp.zeros(n)), 1.0).compile()
    analysis = compiled.memory_analysis()
    assert analysis.alias_size_in_bytes == 4 * n
    assert analysis.temp_size_in_bytes < 100
    r = sagax.new_ref(snp.zeros(n))
    compiled(r, 5.0)
    assert float(r[2]) == 5.0
    jitted = sagax.jit(step)
    jitted(r, 1.0)
    held = r.unsafe_buffer_pointer()
    jitted(r, 2.0)
    assert r.unsafe_buffer_pointer() == held


def test_prints_as_jax_prints():
    def f(r, i):
        r[i] = r[i] * 2
        r[...] = r[1:4].sum() + r[...]
        r.addupdate(3.0, idx=0)
        s = sagax.new_ref(sagax.ref.swap(r, 0, 5.0))
        return sagax.freeze(s)

    # jax.make_jaxpr of jax 0.12 prints this, with i:i32[] in place of the sum's keywords
    text = str(sagax.make_jaxpr(f)(sagax.new_ref(snp.zeros(5)), 1))
    assert [line.strip() for line in text.splitlines()[1:-1]] == [
        "c:f32[] <- a[b]",
        "d:f32[] = mul c 2.0:f32[]",
        "a[b] <- d",
        "e:f32[3] <- a[1:4]",
        "f:f32[] = reduce_sum[axes=(0,) out_sharding=None] e",
        "g:f32[5] <- a[...]",
        "h:f32[5] = add f g",
        "a[...] <- h",
        "a[0] += 3.0:f32[]",
        "i:f32[], a[0] <- a[0], 5.0:f32[]",
        "j:Ref{f32[]} = new_ref[kind=None memory_space=None pin=False] i",
        "k:f32[] = freeze j",
    ]


def test_keys_and_trees_of_references_are_state():
    state = {"key": sagax.new_ref(sagax.random.key(0)), "n": sagax.new_ref(0)}

    @sagax.jit
    def draw(state):
        key, sub = sagax.random.split(state["key"][...])
        state["key"][...] = key
        state["n"][...] += 1
        return sagax.random.uniform(sub)

    drawn = [float(draw(state)) for _ in range(3)]
    key, expected = sagax.random.key(0), []
    for _ in range(3):
        key, sub = sagax.random.split(key)
        expected.append(float(sagax.random.uniform(sub)))
    assert drawn == expected
    assert int(state["n"][...]) == 3


def test_functions_with_references_inside_are_exported():
    exported = sagax.export.export(sagax.jit(whole))(snp.asarray(X))
    assert_close(exported.call(X), whole_values(X))


def test_numbers_are_contents():
    def f(x):
        r = sagax.new_ref(1.0)
        r[...] = 3.0
        r.reshape(1).addupdate(x[None])
        s = sagax.new_ref(snp.zeros(()))
        s[...] = 2.0
        lax.fori_loop(0, 2, lambda i, c: s.set(s[...] * 2) or c, 0)
        return r[...] + s[...]

    for wrap in (lambda f: f, sagax.jit, sagax.grad):
        assert float(wrap(f)(snp.float32(0.5))) == (1.0 if wrap is sagax.grad else 11.5)


@pytest.mark.own_promotion("dtype")
def test_examples_that_run_different_branches_only_read():
    r = sagax.new_ref(snp.array([2.0, 3.0]))
    found = sagax.vmap(lambda i: lax.cond(i > 0, lambda: r[0], lambda: r[1]))(snp.arange(2))
    assert found.tolist() == [3.0, 2.0]
    steps = sagax.vmap(lambda n: lax.while_loop(lambda c: c * r[0] < n, lambda c: c + 1, 0))
    assert steps(snp.array([1, 7])).tolist() == [1, 4]


def test_checkify_looks_inside():
    def f(x):
        r = sagax.new_ref(x)
        lax.fori_loop(0, 3, lambda i, c: r.set(snp.log(r[i]), idx=i) or c, 0)
        return r[...]

    for wrap in (lambda f: f, sagax.jit):
        checked = checkify.checkify(wrap(f), errors=checkify.float_checks)
        assert checked(snp.ones(3))[0].get() is None
        assert "nan generated by primitive: log" in checked(snp.array([1.0, -1.0, 2.0]))[0].get()


def test_branches_write_to_the_same_reference():
    """Each branch captures it: the write of the first must not be lost."""

    def chosen(x):
        r = sagax.new_ref(x)
        lax.cond(x > 0, lambda: r.set(x * 2), lambda: r.set(x * 3))
        return r[...]

    def parts(i):
        r = sagax.new_ref(snp.ones(3))

        def part(_):
            r[1:] = 3 * r[1:]

        branches = [lambda x: r.set(5.0, idx=0), part, lambda x: r.set(x, idx=2)]
        lax.switch(i, branches, 7.0)
        return r[...]

    for wrap in (lambda f: f, sagax.jit):
        assert [float(wrap(chosen)(x)) for x in (-1.0, 1.0)] == [-3.0, 2.0]
        assert float(sagax.grad(wrap(chosen))(-1.0)) == 3.0
        found = [wrap(parts)(i).tolist() for i in range(3)]
        assert found == [[5.0, 1.0, 1.0], [1.0, 3.0, 3.0], [1.0, 1.0, 7.0]]
    assert sagax.vmap(chosen)(snp.array([-1.0, 1.0])).tolist() == [-3.0, 2.0]


# Mistakes --------------------------------------------------------------------------------------------


def _outside():
    return sagax.new_ref(snp.zeros(3))


def _twice(a, b):
    return a[0] + b[0]


def _leaked():
    kept = []
    sagax.jit(lambda x: kept.append(sagax.new_ref(x)))(1.0)
    return kept[0][...]


def _captured_too():
    r = _outside()
    return sagax.jit(lambda a: a[0] + r[1])(r)


def _same_twice():
    r = _outside()
    return sagax.jit(_twice)(r, r)


def _frozen():
    r = _outside()
    sagax.freeze(r)
    r[0] = 1.0


def _freed():
    r = _outside()
    sagax.ref.free_ref(r)
    return r[0]


MISTAKES = {
    "exported": (
        lambda: sagax.export.export(sagax.jit(lambda r: r[0]))(_outside()),
        "takes or captures references cannot be exported",
    ),
    "returned": (lambda: sagax.jit(lambda r: r)(_outside()), "returned a reference of type Ref"),
    "created and returned": (
        lambda: sagax.jit(lambda: sagax.new_ref(1.0))(),
        "references cannot be returned",
    ),
    "leaked": (_leaked, "Encountered an unexpected tracer"),
    "passed twice": (_same_twice, "one reference .* is passed twice: as a and as b"),
    "captured and passed": (_captured_too, "a value that the function captures and as a"),
    "frozen": (_frozen, "after freeze ended its use"),
    "freed": (_freed, "after free_ref ended its use"),
    "in the carry": (
        lambda: lax.scan(lambda c, x: (c, c[0]), _outside(), None, length=2),
        "reference",
    ),
    "in a while loop": (
        lambda: lax.while_loop(lambda c: True, lambda c: c, _outside()),
        "reference",
    ),
    "mapped value": (
        lambda: sagax.vmap(lambda x, r: r.set(x, idx=0), (0, None))(snp.ones(2), _outside()),
        "mapped by vmap cannot be written",
    ),
    "different branches": (
        lambda: (
            lambda r: sagax.vmap(
                lambda i: lax.cond(i > 0, lambda: r.set(1.0, idx=0), lambda: None)
            )(snp.arange(2))
        )(_outside()),
        "examples run different branches",
    ),
    "different iterations": (
        lambda: (
            lambda r: sagax.vmap(
                lambda n: lax.while_loop(lambda c: c < n, lambda c: r.set(1.0, idx=0) or c + 1, 0)
            )(snp.arange(2))
        )(_outside()),
        "different numbers of iterations",
    ),
    "mapped index": (
        lambda: (lambda r: sagax.jit(sagax.vmap(lambda i: r.addupdate(1.0, idx=i)))(snp.arange(2)))(
            _outside()
        ),
        "mapped by vmap cannot be written",
    ),
    "differentiated value": (
        lambda: sagax.grad(lambda x, r: r.set(x, idx=0) or x)(1.0, _outside()),
        "differentiated cannot be written",
    ),
    "differentiated reference": (lambda: sagax.grad(lambda r: r[0])(_outside()), "with_refs"),
    "as an array": (lambda: snp.sin(_outside()), r"read the reference first: ref\[...\]"),
    "as an operand": (lambda: lax.sin(_outside()), r"read the reference first: ref\[...\]"),
    "shape": (lambda: _outside().set(1.0), "Invalid shape for `swap`"),
    "dtype": (lambda: _outside().set(1, idx=0), "Invalid dtype for `swap`"),
    "bounds": (lambda: _outside()[3], "Out of bound indexer: idx=3, dim=3"),
    "index": (lambda: _outside()[1.5], "an int, a slice, an array of integers"),
    "many indices": (lambda: _outside()[0, 0], "too many indices"),
    "traced mask": (
        lambda: sagax.jit(lambda r, m: r[m])(_outside(), snp.ones(3, bool)),
        "boolean indices must be concrete",
    ),
    "reference in a reference": (lambda: sagax.new_ref(_outside()), "cannot hold another"),
    "stored": (lambda: _outside().set(_outside()), "cannot be stored in another"),
    "captured by a branch": (
        lambda: (lambda r: lax.cond(True, lambda q: q.set(q[...]), lambda q: r.set(q[...]), r))(
            _outside()
        ),
        "passed twice: as a value that a branch captures and as operand 0",
    ),
    "captured by checkpoint": (
        lambda: (lambda r: sagax.checkpoint(lambda q: q[0] + r[0])(r))(_outside()),
        "passed twice: as a value that it captures and as operand 0",
    ),
    "captured by custom_vjp": (
        lambda: sagax.jit(lambda r: _with_rules(lambda q: q[0] + r[0])(r))(_outside()),
        "custom_vjp of <lambda>: one reference .* as a value that it captures and as operand 0",
    ),
    "kind": (lambda: sagax.new_ref(1.0, kind="no"), "no_grad_no_remat"),
    "no array": (lambda: sagax.new_ref("a"), "not a valid JAX type"),
    "no reference": (lambda: sagax.ref.get(snp.ones(2)), "takes a reference"),
}


def _with_rules(fun):
    f = sagax.custom_vjp(fun)
    f.defvjp(lambda q: (f(q), None), lambda _, g: (None,))
    return f


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    run, message = MISTAKES[mistake]
    with pytest.raises((SagaxError, TypeError), match=f"(?s){message}"):
        run()


def test_types_are_interned_and_printed():
    a, b = _outside(), _outside()
    assert sagax.typeof(a) is sagax.typeof(b)
    assert repr(sagax.typeof(a)) == "Ref{float32[3]}"
    assert repr(a) == "Ref([0., 0., 0.], dtype=float32)"
    assert (len(a), a.shape, a.dtype, a.ndim, a.size) == (3, (3,), np.float32, 1, 3)
    assert isinstance(a, sagax.Ref)
    assert not isinstance(a, sagax.Array)
    assert np.asarray(a).tolist() == [0.0] * 3
    assert [float(x) for x in a] == [0.0] * 3


# As jax has it: tests/oracle/references.py -----------------------------------------------------------

RECORD = json.loads((Path(__file__).parents[1] / "data" / "references.json").read_text())


@pytest.mark.parametrize("name", RECORD["texts"])
def test_jaxprs_are_those_of_jax(name):
    assert TEXTS()[name] == RECORD["texts"][name]


@pytest.mark.parametrize("name", RECORD["values"])
def test_values_are_those_of_jax(name):
    for a, b in zip(VALUES()[name], RECORD["values"][name], strict=True):
        assert_close(a, b)


TEXTS = functools.cache(lambda: reference_cases.texts(sagax))
VALUES = functools.cache(lambda: reference_cases.values(sagax))


def test_eager_writes_to_a_part_are_in_place():
    n = 1 << 17
    ref = sagax.new_ref(snp.arange(n, dtype=snp.float32))
    given = ref[...]
    ref[0] = 5.0  # a copy: `given` holds the contents
    assert float(given[0]) == 0.0
    where = ref._value.unsafe_buffer_pointer()
    assert float(ref.swap(7.0, idx=1)) == 1.0
    ref.addupdate(snp.ones(2), idx=slice(0, 2))
    ref[2:4] = snp.array([8.0, 9.0])
    assert ref._value.unsafe_buffer_pointer() == where
    kept = ref[...]
    np.testing.assert_array_equal(kept[:5], [6.0, 8.0, 8.0, 9.0, 4.0])
    ref[0:2] = ref[3:5]
    assert ref._value.unsafe_buffer_pointer() != where
    np.testing.assert_array_equal(kept[:5], [6.0, 8.0, 8.0, 9.0, 4.0])
    np.testing.assert_array_equal(ref[0:5], [9.0, 4.0, 8.0, 9.0, 4.0])
    whole = snp.ones(n)
    ref[:] = whole
    ref[0] = 3.0
    assert float(whole[0]) == 1.0 and float(ref[0]) == 3.0


def test_later_calls_are_quick_and_still_checked(monkeypatch):
    @sagax.jit
    def step(refs, x):
        for ref in refs:
            ref[...] = ref[...] + x

    a, b, c = (sagax.new_ref(snp.full(3, float(i))) for i in range(3))
    x = snp.ones(3)
    step([a, b], x)
    with monkeypatch.context() as patch:
        patch.setattr(type(step), "_general", None)  # where all is asked anew
        step([a, b], x)
        step([b, c], x)
        with pytest.raises(ValueError, match=r"passed twice: as refs\[0\] and as refs\[1\]"):
            step([c, c], x)
        before = a[...]  # held by others: the next write makes a copy
        step([a, b], x)
    np.testing.assert_array_equal(before, [2, 2, 2])
    np.testing.assert_array_equal([a[...], b[...], c[...]], np.outer([3, 5, 3], np.ones(3)))
    sagax.freeze(b)
    with pytest.raises(ValueError, match="used after freeze"):
        step([a, b], x)
