"""`sagax.experimental.checkify`: what is found, in what order, through all transformations."""

from __future__ import annotations

import numpy as np
import pytest

import checkify_cases
import sagax
import sagax.numpy as snp
from sagax import export, lax
from sagax.errors import ArgumentError, TracerBoolConversionError
from sagax.experimental import checkify


@pytest.mark.parametrize("name", checkify_cases.CASES)
def test_as_jax(name, oracle_data):
    said, values = oracle_data("checkify")["cases"][name]
    _compare(checkify_cases.CASES[name], said, values)


@pytest.mark.usefixtures("eight_devices")
@pytest.mark.parametrize("name", checkify_cases.DEVICE_CASES)
def test_several_devices_as_jax(name, oracle_data):
    said, values = oracle_data("checkify")["device_cases"][name]
    _compare(checkify_cases.DEVICE_CASES[name], said, values)


def _compare(case, said, values):
    found, results = checkify_cases.plain(case(sagax, checkify))
    assert found == said
    np.testing.assert_allclose(*_leaves(results, values), rtol=1e-6)


def _leaves(*trees):
    return [np.array([float(x) for x in sagax.tree.leaves(tree)]) for tree in trees]


def positive(x):
    checkify.check(x > 0, "{} is not positive", x)
    return snp.log(x)


def test_outside_of_tracing_a_check_raises_at_once():
    with pytest.raises(checkify.JaxRuntimeError, match=r"^-1.0 is not positive \(`check` failed\)"):
        positive(snp.float32(-1))
    assert positive(snp.float32(1)) == 0
    checkify.debug_check(False, "left out")


def test_compiling_a_check_that_nothing_takes_up_is_refused():
    with pytest.raises(ValueError, match="nothing takes up what it finds"):
        sagax.jit(positive)(1.0)
    out = sagax.jit(lambda x: (checkify.debug_check(x > 0, "left out"), x)[1])(-1.0)
    assert out == -1


def test_errors_are_thrown_and_go_through_transformations():
    error, _ = sagax.jit(checkify.checkify(positive))(-2.0)
    with pytest.raises(checkify.JaxRuntimeError, match="-2.0 is not positive"):
        error.throw()
    with pytest.raises(checkify.JaxRuntimeError, match="-2.0 is not positive"):
        checkify.check_error(error)
    fine, _ = checkify.checkify(positive)(2.0)
    assert fine.get() is None
    fine.throw()
    checkify.check_error(fine)
    leaves, tree = sagax.tree.flatten(error)
    assert sagax.tree.unflatten(tree, leaves).get() == error.get()


def test_derivatives_of_checked_functions():
    def f(x):
        error, out = checkify.checkify(lambda v: positive(v) ** 2)(x)
        return out, error

    gradient, error = sagax.grad(f, has_aux=True)(3.0)
    np.testing.assert_allclose(gradient, 2 * np.log(3) / 3, rtol=1e-6)
    assert error.get() is None
    gradient, error = sagax.jit(sagax.grad(f, has_aux=True))(-3.0)
    assert error.get() == "-3.0 is not positive (`check` failed)"


def test_values_are_those_of_the_function_itself():
    def f(x, n):
        def body(i, v):
            checkify.check(v.sum() < 1e6, "grows")
            return snp.sin(v) * 1.5 + v[i % 3]

        return sagax.lax.fori_loop(0, n, body, x)

    x = snp.array([0.1, 0.2, 0.3])
    plain = checkify.checkify(f, errors=frozenset())(x, 7)[1]
    error, out = sagax.jit(checkify.checkify(f, errors=checkify.all_checks))(x, 7)
    assert error.get() is None
    np.testing.assert_allclose(out, plain, rtol=1e-6)


def test_several_values_of_any_shape_are_reported():
    def f(table, i):
        checkify.check(snp.all(table > 0), "row {row}: {values}", row=i, values={"t": table})
        return table

    error, _ = sagax.jit(checkify.checkify(f))(snp.array([1.0, -2.0]), 3)
    assert error.get() == "row 3: {'t': Array([ 1., -2.], dtype=float32)} (`check` failed)"


def test_an_error_can_be_printed_while_it_is_traced():
    shown = []

    def f(x):
        error, out = checkify.checkify(positive)(x)
        shown.append(f"{error} {error!r}")
        return out

    sagax.jit(f)(1.0)
    sagax.vmap(f)(snp.ones(2))
    assert len(shown) == 2
    assert all(text.startswith("Error(") and "Tracer" in text for text in shown)
    error, _ = checkify.checkify(positive)(-1.0)
    assert repr(error) == str(error) == "Error(-1.0 is not positive (`check` failed))"
    assert repr(sagax.eval_shape(checkify.checkify(positive), 1.0)[0]).startswith("Error(Shape")


def test_an_error_that_is_not_known_yet_says_what_to_do_with_it():
    def f(x):
        return checkify.checkify(positive)(x)[0].get()

    with pytest.raises(TracerBoolConversionError) as caught:
        sagax.jit(f)(1.0)
    assert "hand it on with checkify.check_error" in " ".join(str(caught.value).split())


def nan_of(x):
    y = snp.sin(x)
    return snp.log(y) + 1


@pytest.mark.parametrize(
    ("f", "line"), [(positive, "checkify.check(x > 0"), (nan_of, "return snp.log(y) + 1")]
)
@pytest.mark.parametrize("run", [lambda f: f, sagax.jit, sagax.vmap], ids=["", "jit", "vmap"])
def test_an_error_that_is_thrown_tells_where_the_check_is(f, line, run):
    x = snp.array([-1.0]) if run is sagax.vmap else snp.float32(-1)
    error, _ = run(checkify.checkify(f, errors=checkify.all_checks))(x)
    with pytest.raises(checkify.JaxRuntimeError) as caught:
        error.throw()
    assert line in str(caught.value)
    assert error.get().endswith(str(error.get_exception()).splitlines()[0])
    assert not str(error.get_exception()).startswith("at mapped index")  # as on jax
    with pytest.raises(ValueError, match="nothing takes up") as unchecked:
        sagax.jit(positive)(1.0)
    assert "checkify.check(x > 0" in str(unchecked.value)


def test_a_checked_function_runs_once_a_call_with_the_arguments_as_they_are():
    seen = []

    def f(x, *rest, **named):
        seen.append((x, rest, named))
        return x

    given = snp.ones(2), 3, "text", None, {"a": np.ones(1)}
    checkify.checkify(f)(*given, key=len)
    ((x, rest, named),) = seen
    assert x is given[0]
    assert rest[:3] == given[1:4]
    assert rest[3] is given[4]
    assert named == {"key": len}
    assert checkify.checkify(lambda: snp.log(-1.0), checkify.nan_checks)()[0].get() is not None


# Indices of few bits into arrays of many rows, of which jax cannot make the limits.
@pytest.mark.parametrize(
    ("dtype", "rows", "index", "bad"),
    [
        ("uint8", 1000, 200, False),
        ("uint8", 256, 255, False),
        ("uint8", 150, 200, True),
        ("int8", 1000, 100, False),
        ("int8", 100, 120, True),
        ("int16", 40000, 32767, False),
        ("uint32", 1000, 4_000_000_000, True),
        ("uint32", 1000, 999, False),
    ],
)
def test_indices_of_any_width(dtype, rows, index, bad):
    x, i = snp.zeros(rows), snp.asarray(index, dtype)
    reads = [
        lambda x, i: lax.dynamic_slice(x, (i,), (1,)),
        lambda x, i: x.at[i].get(),
        lambda x, i: lax.dynamic_update_slice(x, snp.ones(1), (i,)),
        lambda x, i: lax.scatter_add(x, i[None], snp.float32(1), ADDED),
        lambda x, i: lax.gather(x, i[None, None], TAKEN, (1,)),
    ]
    for read in reads:
        error, _ = sagax.jit(checkify.checkify(read, errors=checkify.index_checks))(x, i)
        assert (error.get() is not None) == bad
        if bad and index < 2**31:
            assert f"index {index} is out of bounds for axis 0 with size {rows}." in error.get()


ADDED = lax.ScatterDimensionNumbers((), (0,), (0,))
TAKEN = lax.GatherDimensionNumbers((1,), (), (0,))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32"])
@pytest.mark.parametrize(
    "read",
    [
        lambda x, i: x[i],
        lambda x, i: lax.dynamic_slice(x, (i,), (1,)),
        lambda x, i: x.at[i].add(1.0),
        lambda x, i: x[snp.stack([i, i])],
    ],
    ids=["item", "slice", "add", "items"],
)
def test_symbolic_sizes(read, dtype):
    (n,) = export.symbolic_shape("n", constraints=["n >= 1"])
    shapes = sagax.ShapeDtypeStruct((n,), np.float32), sagax.ShapeDtypeStruct((), dtype)

    def failed(x, i):
        error, _ = checkify.checkify(read, errors=checkify.index_checks)(x, i)
        return sagax.tree.leaves(error)[0] != 0

    call = export.export(sagax.jit(failed))(*shapes).call
    for size in (1, 150, 201, 1000):
        assert call(snp.zeros(size), np.dtype(dtype).type(200)) == (size <= 200)


def test_keys_are_reported_too():
    def f(n):
        def body(i, key):
            checkify.check(i < 2, "key {} in round {}", key, i)
            return sagax.random.split(key, 1)[0]

        def good(key):
            return key

        def bad(key):
            checkify.check(n < 0, "in a branch: {}", key)
            return key

        key = sagax.lax.cond(n > 9, bad, good, sagax.random.key(0))
        return lax.fori_loop(0, n, body, key)

    key = sagax.random.key(0)
    for _ in range(2):
        key = sagax.random.split(key, 1)[0]
    checked = sagax.jit(checkify.checkify(f))
    assert checked(4)[0].get() == f"key {key} in round 2 (`check` failed)"
    assert checked(10)[0].get() == f"in a branch: {sagax.random.key(0)} (`check` failed)"
    assert checked(1)[0].get() is None


def test_errors_go_through_branches_and_loops():
    checked = checkify.checkify(positive)

    def chosen(p, x):
        return lax.cond(p, lambda: checked(x)[0], lambda: checked(-x)[0])

    assert chosen(True, snp.float32(2)).get() is None
    assert chosen(False, snp.float32(2)).get() == "-2.0 is not positive (`check` failed)"
    last, each = lax.scan(
        lambda _, x: (checked(x)[0],) * 2, checked(snp.float32(1))[0], snp.array([-1.0, 1.0])
    )
    assert last.get() is None
    assert each.get() == "at mapped index 0: -1.0 is not positive (`check` failed)"


def test_what_failed_first_in_time_is_reported():
    # jax reports the check that comes first in the program, A of a later round
    def body(v, _):
        checkify.check(v < 3, "A {}", v)
        checkify.check(v < 1, "B")
        return v + 1, v

    def f(v):
        return lax.scan(body, v, None, length=6)

    assert checkify.checkify(f)(snp.float32(0))[0].get() == "B (`check` failed)"


def test_mapped_loops_with_checks():
    # jax refuses them
    def f(x):
        def body(v):
            checkify.check(v < 5, "at {}", v)
            return v + 1

        return lax.while_loop(lambda v: v < 9, body, x)

    checked = checkify.checkify(sagax.vmap(f))
    error, out = checked(snp.array([20.0, 7.0]))
    assert error.get() == "at 7.0 (`check` failed)"
    np.testing.assert_array_equal(out, [20, 9])
    assert checked(snp.array([20.0, 30.0]))[0].get() is None


def test_an_error_of_kinds_that_are_not_asked_for():
    # what check_error takes up was asked for: it is reported (jax drops it) unless user_checks are off
    def f(x):
        error, out = checkify.checkify(positive, errors=checkify.float_checks)(x)
        checkify.check_error(error)
        return out

    for kinds, found in [
        (checkify.user_checks, "nan generated by primitive: log."),
        (checkify.nan_checks, "nan generated by primitive: log."),
        (checkify.index_checks, None),
    ]:
        assert checkify.checkify(f, errors=kinds)(snp.float32(-1))[0].get() == found


def test_functions_with_rules_of_their_own_keep_them():
    @sagax.custom_batching.custom_vmap
    def doubled(x):
        checkify.check(x < 2, "large {}", x)
        return x * 2

    @doubled.def_vmap
    def _(size, which, x):
        return x * 100, True

    x = snp.array([1.0, 3.0])
    assert checkify.checkify(doubled)(x[1])[0].get() == "large 3.0 (`check` failed)"
    error, out = sagax.vmap(checkify.checkify(lambda v: doubled(v)))(x)
    assert error.get() == "at mapped index 1: large 3.0 (`check` failed)"
    np.testing.assert_array_equal(out, x * 100)

    @sagax.custom_jvp
    def g(x):
        checkify.check(x < 2, "large {}", x)
        return x * 2

    g.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0] * 7))

    def f(x):
        error, out = checkify.checkify(g)(x)
        return out, error

    for run in (sagax.grad(f, has_aux=True), sagax.jit(sagax.grad(f, has_aux=True))):
        slope, error = run(3.0)
        assert slope == 7
        assert error.get() == "large 3.0 (`check` failed)"


def test_what_a_function_with_rules_prints_is_printed_once(capsys):
    @sagax.custom_jvp
    def f(x):
        sagax.debug.print("outer {}", x)
        return lax.cond(x < 0, lambda x: (sagax.debug.print("inner"), snp.log(x))[1], snp.sin, x)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    for run in (lambda g: g, sagax.jit):
        error, _ = run(checkify.checkify(f, errors=checkify.nan_checks))(-1.0)
        sagax.effects_barrier()
        assert error.get() == "nan generated by primitive: log."
        assert sorted(capsys.readouterr().out.splitlines()) == ["inner", "outer -1.0"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: checkify.check(1, "m"), "takes a scalar pred"),
        (lambda: checkify.check(snp.array([True]), "m"), "all\\(\\) or any\\(\\)"),
        (lambda: checkify.check(True, "{}", "text"), "must be arrays or numbers"),
        (lambda: checkify.check_error("bad"), "argument error must be the Error"),
        (lambda: checkify.checkify(3), "argument f must be a function"),
        (lambda: checkify.checkify(positive, errors="all"), "user_checks"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()
