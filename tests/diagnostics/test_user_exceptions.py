"""Exceptions of the user's own functions, interrupts and threads: what stays as it was."""

from __future__ import annotations

import re
import sys
import threading
import traceback

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src.core.trace import axis_environment, evaluation, state
from sagax._src.diagnostics.boundary import hide_frames
from sagax._src.diagnostics.spans import is_sagax
from sagax._src.source_stacks import written

XS = np.arange(3, dtype=np.float32)


class Trouble(Exception):
    """An exception that cannot be made from its text alone."""

    def __init__(self, code, *, where):
        super().__init__(f"{code} at {where}")
        self.code, self.where = code, where


def with_jvp(rule):
    f = sagax.custom_jvp(lambda x: x * 2)
    f.defjvp(rule)
    return f


def with_vjp(fwd, bwd):
    f = sagax.custom_vjp(lambda x: x * 2)
    f.defvjp(fwd, bwd)
    return f


# Each calls f(*arguments) somewhere inside; the second entry is a phrase of the note.
USES = {
    "jit": (lambda f: sagax.jit(f)(1.0), "for jit"),
    "jit static": (lambda f: sagax.jit(lambda x, n: f(x), static_argnums=1)(1.0, 2), "for jit"),
    "grad": (lambda f: sagax.grad(f)(1.0), "for grad"),
    "value_and_grad": (lambda f: sagax.value_and_grad(f)(1.0), "for value_and_grad"),
    "vjp": (lambda f: sagax.vjp(f, 1.0), "for vjp"),
    "jvp": (lambda f: sagax.jvp(f, (1.0,), (1.0,)), "for jvp"),
    "linearize": (lambda f: sagax.linearize(f, 1.0), "for linearize"),
    "linear_transpose": (lambda f: sagax.linear_transpose(f, XS), "for linear_transpose"),
    "jacfwd": (lambda f: sagax.jacfwd(f)(XS), "for jacfwd"),
    "jacrev": (lambda f: sagax.jacrev(f)(XS), "for jacrev"),
    "hessian": (lambda f: sagax.hessian(f)(1.0), "for hessian"),
    "vmap": (lambda f: sagax.vmap(f)(XS), "for vmap"),
    "vmap named": (lambda f: sagax.vmap(f, axis_name="i")(XS), "for vmap"),
    "checkpoint": (lambda f: sagax.checkpoint(f)(1.0), "in checkpoint"),
    "grad of checkpoint": (lambda f: sagax.grad(sagax.checkpoint(f))(1.0), "in checkpoint"),
    "make_jaxpr": (lambda f: sagax.make_jaxpr(f)(1.0), "for"),
    "eval_shape": (lambda f: sagax.eval_shape(f, 1.0), "for"),
    "lower": (lambda f: sagax.jit(f).lower(1.0), "for jit"),
    "scan": (lambda f: lax.scan(lambda c, x: (f(c), x), 0.0, XS), "in scan"),
    "cond": (lambda f: lax.cond(True, lambda x: x, f, 1.0), "in cond"),
    "switch": (lambda f: lax.switch(0, [lambda x: x, f], 1.0), "in switch"),
    "while_loop": (lambda f: lax.while_loop(lambda x: x < 3, f, 1.0), "in while_loop"),
    "while_loop condition": (lambda f: lax.while_loop(f, lambda x: x, 1.0), "in while_loop"),
    "fori_loop": (lambda f: lax.fori_loop(0, 3, lambda i, x: f(x), 1.0), "in fori_loop"),
    "map": (lambda f: lax.map(f, XS), "in map"),
    "custom_jvp": (lambda f: sagax.grad(with_jvp(lambda p, t: f(p)))(1.0), "for grad"),
    "custom_vjp fwd": (
        lambda f: sagax.grad(with_vjp(f, lambda r, ct: (ct,)))(1.0),
        "for grad",
    ),
    "custom_vjp bwd": (
        lambda f: sagax.grad(with_vjp(lambda x: (x, x), lambda r, ct: f(ct)))(1.0),
        "pulling cotangents back",
    ),
    "inside three": (
        lambda f: sagax.jit(sagax.vmap(sagax.grad(f)))(XS),
        "for jit, tracing `raising` for vmap, tracing `raising` for grad",
    ),
}


def clean() -> bool:
    """Operations run at once again: no trace, scope or axis is left behind."""
    return (
        state.trace is evaluation
        and written.here.state() == ("", None, None, None)
        and axis_environment() == ()
        and float(snp.add(1.0, 1.0)) == 2.0
    )


@pytest.mark.parametrize("name", USES)
def test_the_users_exception_keeps_type_and_place(name):
    use, phrase = USES[name]

    def raising(x):
        with sagax.named_scope("inside"):
            raise Trouble(7, where="here")

    with pytest.raises(Trouble) as caught:
        use(raising)
    assert clean()
    error = caught.value
    assert type(error) is Trouble and (error.code, error.where) == (7, "here")
    (note,) = error.__notes__
    assert note.startswith("while ") and phrase in note
    hide_frames(error)
    frames = traceback.extract_tb(error.__traceback__)
    assert frames[-1].name == "raising" and "raise Trouble" in frames[-1].line
    assert [frame.filename for frame in frames if is_sagax(frame.filename)] == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration])
@pytest.mark.parametrize("name", USES)
def test_interrupts_pass_and_leave_nothing_behind(name, kind):
    use, _ = USES[name]

    def interrupted(x):
        with sagax.named_scope("inside"):
            raise kind("stop")

    with pytest.raises(kind) as caught:
        use(interrupted)
    assert type(caught.value) is kind
    assert not hasattr(caught.value, "__notes__")
    assert clean()


@pytest.mark.parametrize(
    "transform",
    [
        sagax.jit,
        sagax.grad,
        sagax.vmap,
        sagax.jacfwd,
        sagax.jacrev,
        sagax.hessian,
        sagax.checkpoint,
        lambda f: sagax.jit(sagax.grad(sagax.jit(f))),
    ],
)
def test_a_function_that_failed_can_be_called_again(transform):
    failing = [True]

    def f(x):
        if failing:
            failing.clear()
            raise ValueError("not yet")
        return snp.sin(x)

    transformed = transform(f)
    x = XS if transform is sagax.vmap else 1.0
    with pytest.raises(ValueError, match="not yet"):
        transformed(x)
    again = transformed(x)
    np.testing.assert_array_equal(again, transform(snp.sin)(x))


def test_an_exception_that_is_raised_twice_has_one_note():
    error = Trouble(1, where="there")

    def f(x):
        raise error

    for _ in range(2):
        with pytest.raises(Trouble):
            sagax.jit(f)(1.0)
    assert len(error.__notes__) == 1


def test_an_exception_that_is_caught_inside_has_no_effect():
    def f(x):
        try:
            sagax.jit(lambda y: 1 / 0)(x)
        except ZeroDivisionError:
            return x * 2
        return x

    assert float(sagax.jit(f)(3.0)) == 6.0
    assert float(sagax.grad(f)(3.0)) == 2.0
    np.testing.assert_array_equal(sagax.vmap(f)(XS), XS * 2)


def test_a_failed_trace_inside_another_leaves_that_one_at_work():
    def f(x):
        with pytest.raises(TypeError):
            lax.scan(lambda c, _: (snp.zeros(3), None), x, None, length=2)
        with pytest.raises(TypeError):
            lax.cond(True, lambda: 1, lambda: 1.0)
        with pytest.raises(ValueError):
            sagax.vmap(lambda a, b: a + b)(snp.zeros(2), snp.zeros(3))
        return snp.cos(x)

    jaxpr = sagax.make_jaxpr(f)(1.0)
    assert [e.primitive.name for e in jaxpr.eqns if e.primitive.name == "cos"] == ["cos"]
    assert clean()


def test_a_generator_that_is_left_early_leaves_nothing_behind():
    def steps():
        with sagax.named_scope("inside"), sagax.ensure_compile_time_eval():
            yield 1
            yield 2

    running = steps()
    next(running)
    running.close()
    assert clean()


# Threads ------------------------------------------------------------------------------------------


def in_threads(*functions):
    """Runs functions at the same time; their results, or what they raised."""
    results = [None] * len(functions)

    def run(i, function):
        try:
            results[i] = function()
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


@pytest.mark.parametrize("transform", [sagax.jit, sagax.grad, sagax.checkpoint])
def test_two_threads_trace_the_same_function(transform):
    both_inside = threading.Barrier(2, timeout=30)

    def f(x):
        both_inside.wait()
        y = snp.sin(x)
        both_inside.wait()
        return y * x

    transformed = transform(f)
    first, second = in_threads(lambda: transformed(1.0), lambda: transformed(2.0))
    for got, x in ((first, 1.0), (second, 2.0)):
        np.testing.assert_allclose(got, transform(lambda v: snp.sin(v) * v)(x), rtol=1e-6)


def test_a_trace_in_one_thread_is_none_of_another_threads():
    tracing, done = threading.Event(), threading.Event()

    def traced():
        def f(x):
            tracing.set()
            assert done.wait(30)
            return x + 1

        return float(sagax.jit(f)(1.0))

    def eager():
        assert tracing.wait(30)
        try:
            return [clean(), float(sagax.grad(snp.sin)(0.0))]
        finally:
            done.set()

    assert in_threads(traced, eager) == [2.0, [True, 1.0]]


def test_errors_in_threads_are_their_own():
    meet = threading.Barrier(2, timeout=30)

    def failing(word):
        def f(x):
            meet.wait()
            raise Trouble(word, where="thread")

        f.__qualname__ = word
        return lambda: sagax.jit(f)(1.0)

    errors = in_threads(failing("one"), failing("two"))
    assert [error.code for error in errors] == ["one", "two"]
    assert [error.__notes__ for error in errors] == [
        ["while tracing `one` for jit"],
        ["while tracing `two` for jit"],
    ]
    assert clean()


def test_a_traced_value_of_another_thread_is_refused():
    kept, ready, used = [], threading.Event(), threading.Event()

    def giving():
        def f(x):
            kept.append(x)
            ready.set()
            assert used.wait(30)
            return x

        return float(sagax.jit(f)(1.0))

    def taking():
        assert ready.wait(30)
        try:
            return sagax.jit(lambda y: y + kept[0])(2.0)
        finally:
            used.set()

    given, taken = in_threads(giving, taking)
    assert given == 1.0
    assert isinstance(taken, sagax.errors.UnexpectedTracerError)


# Trees without end --------------------------------------------------------------------------------


def nested(depth):
    tree = 1.0
    for _ in range(depth):
        tree = [tree]
    return tree


def cyclic():
    tree = [1.0]
    tree.append(tree)
    return tree


@pytest.mark.parametrize(
    ("make", "words"),
    [(cyclic, "contains itself"), (lambda: nested(100_000), "nested too deeply")],
    ids=["cyclic", "deep"],
)
@pytest.mark.parametrize(
    ("use", "argument"),
    [
        (lambda t: sagax.jit(lambda tree: 1.0)(t), "tree"),
        (lambda t: sagax.grad(lambda tree: 1.0)(t), "tree"),
        (lambda t: sagax.vmap(lambda tree: 1.0)(t), "tree"),
        (lambda t: sagax.jvp(lambda tree: 1.0, (t,), (t,)), "primals"),
        (lambda t: sagax.jit(lambda x: t)(1.0), "result"),
        (lambda t: sagax.vmap(lambda x: t)(XS), "result"),
        (lambda t: lax.scan(lambda c, _: (c, None), t, None, length=2), "init"),
        (lambda t: lax.cond(True, lambda x: 1.0, lambda x: 2.0, t), "operands"),
        (lambda t: lax.while_loop(lambda x: False, lambda x: x, t), "init_val"),
        (lambda t: sagax.device_put(t), "x"),
        (lambda t: sagax.tree.map(lambda x: x, t), "tree"),
    ],
    ids=[
        "jit",
        "grad",
        "vmap",
        "jvp",
        "jit out",
        "vmap out",
        "scan",
        "cond",
        "while",
        "put",
        "map",
    ],
)
def test_trees_that_cannot_be_flattened(make, words, use, argument):
    with pytest.raises(ValueError, match=words) as caught:
        use(make())
    assert argument in str(caught.value)
    assert clean()


def test_deep_nesting_says_how_to_raise_the_limit():
    def nested(depth):
        return (lambda x: x) if depth == 0 else sagax.jit(lambda x: nested(depth - 1)(x) + 1)

    with pytest.raises(RecursionError) as caught:
        nested(800)(1.0)
    notes = "\n".join(caught.value.__notes__)
    limit = sys.getrecursionlimit()
    assert "Python limits nested calls" in notes
    assert "lax.fori_loop" in notes and "static_argnums" in notes
    call = re.search(r"sys\.setrecursionlimit\((\d+)\)", notes)
    try:
        sys.setrecursionlimit(int(call.group(1)))
        assert nested(800)(1.0) == 801  # what the note says is enough
    finally:
        sys.setrecursionlimit(limit)


def test_recursion_without_end_names_the_function_once():
    @sagax.jit
    def endless(x):
        return endless(x - 1)

    with pytest.raises(RecursionError) as caught:
        endless(3)
    (note,) = caught.value.__notes__
    assert note.startswith("while tracing `endless` for jit (") and note.count("Python limits") == 1
