"""Donation: which memory results take over, what becomes of donated arrays, what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.errors import DeletedArrayError, DonationError, DonationWarning


def add(x, y):
    return x + y


def fresh(shape=(2, 3), value=1.0):
    return snp.full(shape, value) * 1


def aliased_bytes(jitted, *args, **kwargs):
    return jitted.lower(*args, **kwargs).compile().memory_analysis().alias_size_in_bytes


# memory ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "args", "kwargs", "expected"),
    [
        ({}, (0, 0), {}, 0),
        ({"donate_argnums": 1}, (0, 0), {}, 24),
        ({"donate_argnames": "y"}, (0, 0), {}, 24),
        ({"donate_argnames": "y"}, (0,), {"y": 0}, 24),
        ({"donate_argnums": 1}, (0,), {"y": 0}, 24),
        ({"donate_argnums": -1}, (0, 0), {}, 24),
        ({"donate_argnums": (1,), "static_argnums": ()}, (0, 0), {}, 24),
    ],
)
def test_results_take_the_memory_of_donated_arguments(options, args, kwargs, expected):
    jitted = sagax.jit(add, **options)
    args = [fresh() for _ in args]
    kwargs = {k: fresh() for k in kwargs}
    assert aliased_bytes(jitted, *args, **kwargs) == expected
    y = kwargs["y"] if kwargs else args[1]
    np.testing.assert_array_equal(jitted(*args, **kwargs), np.full((2, 3), 2.0))
    assert y.is_deleted() == bool(expected)
    assert not args[0].is_deleted()


def test_memory_is_taken_over_in_earnest():
    step = sagax.jit(lambda x: x + 1, donate_argnums=0)
    x = step(fresh((1000,)))  # the engine's own memory from here on
    before = x.unsafe_buffer_pointer()
    assert step(x).unsafe_buffer_pointer() == before


def test_pytrees_are_donated_leaf_by_leaf():
    step = sagax.jit(lambda state, v: {k: x + v for k, x in state.items()}, donate_argnums=0)
    state = {"a": fresh((3,)), "b": fresh((4,)), "c": fresh((3,))}
    assert aliased_bytes(step, state, 1.0) == 4 * (3 + 4 + 3)
    out = step(state, 1.0)
    assert all(x.is_deleted() for x in state.values())
    np.testing.assert_array_equal(out["b"], np.full(4, 2.0))


def test_only_what_fits_is_used_up():
    """As in jax: arguments that no result can use stay alive."""
    keep, other, unused = fresh(), fresh((1, 3)), fresh((5,))
    jitted = sagax.jit(lambda x, y, z: x + y, donate_argnums=(0, 1, 2))
    with pytest.warns(DonationWarning):
        jitted(keep, other, unused)
    assert [x.is_deleted() for x in (keep, other, unused)] == [True, False, False]


def test_dtypes_must_agree_too():
    jitted = sagax.jit(lambda x: x.astype("int32"), donate_argnums=0)
    with pytest.warns(DonationWarning, match="another dtype"):
        assert aliased_bytes(jitted, fresh()) == 0


def test_nothing_is_donated_where_the_call_is_traced_or_not_compiled():
    x = fresh()
    inner = sagax.jit(lambda x: x + 1, donate_argnums=0)
    sagax.jit(lambda x: inner(x) + x)(x)
    sagax.grad(lambda x: inner(x).sum())(x)
    with sagax.disable_jit():
        inner(x)
    assert not x.is_deleted()


def test_numpy_arguments_are_copied_not_taken():
    x = np.ones((2, 3), np.float32)
    step = sagax.jit(lambda x: x * 3, donate_argnums=0)
    step(x)
    np.testing.assert_array_equal(x, np.ones((2, 3)))


def test_views_of_a_donated_array_keep_their_values():
    x = sagax.jit(lambda x: x + 1)(fresh((64,)))
    view = np.asarray(x)
    sagax.jit(lambda x: x * 5, donate_argnums=0)(x)
    np.testing.assert_array_equal(view, np.full(64, 2.0))


def test_a_compiled_stage_donates_too():
    compiled = sagax.jit(add, donate_argnums=0).lower(fresh(), fresh()).compile()
    x = fresh()
    compiled(x, fresh())
    with pytest.raises(DeletedArrayError, match="donated to `add` as argument x"):
        x + 1
    y = fresh()
    with pytest.raises(DonationError, match="as x and as y"):
        compiled(y, y)


# warnings -------------------------------------------------------------------------------------------


def warning_of(fun, donate, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sagax.jit(fun, donate_argnums=donate)(*args)
    (warning,) = [w for w in caught if issubclass(w.category, DonationWarning)]
    return warning


def test_a_second_argument_for_the_same_result():
    warning = warning_of(add, (0, 1), fresh(), fresh())
    text = str(warning.message)
    assert text.startswith("Some donated buffers were not usable: f32[2,3]{1,0} (y).")
    assert (
        "y, float32[2,3]: each result of its type has memory already: result has that of x" in text
    )
    assert (warning.message.function, warning.message.arguments) == ("add", ("y",))
    assert warning.filename == __file__


def test_the_nearest_result_is_named():
    text = str(warning_of(add, 1, fresh(), fresh((1, 3))).message)
    assert "f32[1,3]{1,0} (y)" in text
    assert "the nearest, result, is float32[2,3] (another shape)" in text

    def several(state):
        return {"far": state["w"].sum(), "near": state["w"].astype("int32")}

    text = str(warning_of(several, 0, {"w": fresh()}).message)
    assert "f32[2,3]{1,0} (state['w'])" in text
    assert "the nearest, result['near'], is int32[2,3] (another dtype)" in text


def test_an_argument_that_is_not_used_and_a_function_without_results():
    assert "`<lambda>` does not use it" in str(
        warning_of(lambda x, y: x, 1, fresh(), fresh()).message
    )
    text = str(warning_of(lambda x: sagax.debug.callback(lambda x: None, x), 0, fresh()).message)
    assert "the function has no result" in text


def test_one_warning_for_each_program():
    jitted = sagax.jit(lambda x: x.sum(), donate_argnums=0)
    with pytest.warns(DonationWarning):
        jitted(fresh())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(fresh())


# using what was donated -----------------------------------------------------------------------------


def donated_here(step, state):
    return step(state)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: np.asarray(x),
        lambda x: x.block_until_ready(),
        lambda x: sagax.jit(lambda x: x)(x),
        lambda x: sagax.device_put(x, sagax.devices()[0]),
        lambda x: float(x.sum()),
        lambda x: x.copy(),
    ],
    ids=["operation", "numpy", "block", "jit", "device_put", "sum", "copy"],
)
def test_using_a_donated_array_tells_who_donated_it(use):
    step = sagax.jit(lambda state: {k: x + 1 for k, x in state.items()}, donate_argnums=0)
    state = {"w": fresh()}
    donated_here(step, state)
    with pytest.raises(RuntimeError, match="Array has been deleted") as caught:
        use(state["w"])
    text = str(caught.value)
    assert "donated to `<lambda>` as argument state['w']" in text
    line = donated_here.__code__.co_firstlineno + 1
    assert f"test_donation.py:{line}" in text
    places = [(label.span.line, label.text) for label in caught.value.explain().labels]
    assert (line, "donated here") in places


def test_a_deleted_array_tells_where_it_was_deleted():
    x = fresh()
    x.delete()
    with pytest.raises(DeletedArrayError, match=r"delete\(\) was called at .*test_donation.py:\d+"):
        x + 1
    assert repr(x) == "Array<deleted, float32[2,3]>"
    assert (x.shape, x.dtype) == ((2, 3), np.float32)


def test_an_array_that_another_function_holds():
    held = fresh()
    reads = sagax.jit(lambda y: y + held)
    reads(1.0)
    sagax.jit(lambda x: x + 1, donate_argnums=0)(held)
    with pytest.raises(DeletedArrayError, match="donated to `<lambda>` as argument x"):
        reads(1.0).block_until_ready()


# refused --------------------------------------------------------------------------------------------


def test_one_buffer_donated_twice():
    x = fresh()
    jitted = sagax.jit(lambda a, b: (a["k"] + 1, b + 1), donate_argnums=(0, 1))
    with pytest.raises(sagax.errors.JaxRuntimeError, match=r"donated twice.*as a\['k'\] and as b"):
        jitted({"k": x}, x)
    assert not x.is_deleted()


def test_one_buffer_donated_and_used():
    x = fresh()
    with pytest.raises(
        DonationError, match="donated and also used in the same call: as x and as y"
    ):
        sagax.jit(add, donate_argnums=0)(x, x)
    with pytest.raises(DonationError, match="an array read from outside the function"):
        sagax.jit(lambda y: y + x, donate_argnums=0)(x)
    np.testing.assert_array_equal(x, np.ones((2, 3)))


def test_numbers_donated_by_one_call_serve_the_others():
    step = sagax.jit(lambda n, m: (n + 1, m), donate_argnums=0)
    double, same = sagax.jit(lambda n: n * 2), sagax.jit(lambda n: n)
    for _ in range(3):
        assert [float(x) for x in step(5.5, 5.5)] == [6.5, 5.5]
        assert float(double(5.5)) == 11.0
    kept = same(5.5)
    assert float(sagax.jit(lambda n: n - 1, donate_argnums=0)(kept)) == 4.5
    assert float(double(5.5)) == 11.0 and float(same(5.5)) == 5.5


def test_numbers_beside_donated_arrays_are_made_once():
    scale = sagax.jit(lambda x, k: x * k, donate_argnums=0)
    x = fresh()
    for _ in range(3):
        x = scale(x, 2.0)
    np.testing.assert_array_equal(x, np.full((2, 3), 8.0))
    state = {"count": 0, "w": fresh()}
    grow = sagax.jit(lambda s: {"count": s["count"] + 1, "w": s["w"] * 2}, donate_argnums=0)
    for expected in (1, 1, 1):
        grown = grow({"count": 0, "w": fresh()})
        assert int(grown["count"]) == expected
    assert state["count"] == 0 and int(grow(grow(state))["count"]) == 2


def test_a_static_argument_has_no_memory():
    with pytest.raises(ValueError, match="static"):
        sagax.jit(add, donate_argnums=0, static_argnums=0)
