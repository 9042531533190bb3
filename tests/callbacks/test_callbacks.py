"""Python functions called by running programs: values, order, transformations, errors."""

from __future__ import annotations

import builtins
import io
import queue
import textwrap
import threading
import time

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.errors import CallbackDeadlockError
from sagax.experimental import io_callback

F32 = sagax.ShapeDtypeStruct((), "float32")


def twice(f):
    """`f` as it is, and compiled: in both ways it must do the same."""
    return [f, sagax.jit(f)]


# results ---------------------------------------------------------------------------------------------


def test_pytrees_in_and_out():
    def host(x, *, more):
        return {"sum": np.sum(x) + more["b"], "twice": (2 * np.asarray(x),)}

    wanted = {
        "sum": F32,
        "twice": (sagax.ShapeDtypeStruct((3,), "float32"),),
    }
    x = snp.arange(3.0)
    for f in twice(lambda x: sagax.pure_callback(host, wanted, x, more={"b": 1.0})):
        out = f(x)
        assert float(out["sum"]) == 4.0
        np.testing.assert_array_equal(out["twice"][0], [0.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "complex64"]
)
def test_every_dtype_goes_there_and_back(dtype):
    x = snp.asarray([0, 1, 3]).astype(dtype)
    kinds = []

    def host(v):
        kinds.append(str(v.dtype))
        return np.asarray(v)

    for f in twice(lambda x: sagax.pure_callback(host, x, x)):
        np.testing.assert_array_equal(np.asarray(f(x)), np.asarray(x))
    assert kinds == [dtype, dtype]


def test_64_bits_stay_in_whatever_thread_the_call_is_made():
    with sagax.enable_x64(True):
        wanted = sagax.ShapeDtypeStruct((2,), "float64")
        f = sagax.jit(lambda x: sagax.pure_callback(lambda v: snp.sin(v), wanted, x))
        out = f(snp.asarray([0.5, 1.0]))
    np.testing.assert_allclose(np.asarray(out), np.sin([0.5, 1.0]), rtol=1e-14)


def test_keys_arrive_as_keys():
    seen = []
    key = sagax.random.key(3)
    sagax.jit(lambda k: sagax.debug.callback(seen.append, k))(key)
    sagax.effects_barrier()
    np.testing.assert_array_equal(
        sagax.random.key_data(seen[0]), sagax.random.key_data(sagax.random.key(3))
    )


def test_numpy_functions_that_no_compiler_knows():
    x = snp.asarray([[3.0, 1.0], [2.0, 4.0]])

    def f(x):
        return sagax.pure_callback(
            lambda v: np.sort(np.asarray(v), axis=None), sagax.ShapeDtypeStruct((4,), x.dtype), x
        )

    np.testing.assert_array_equal(sagax.jit(f)(x), [1.0, 2.0, 3.0, 4.0])


# vmap ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [((), ())] * 3),
        ("sequential_unrolled", [((), ())] * 3),
        ("expand_dims", [((3,), (1,))]),
        ("broadcast_all", [((3,), (3,))]),
        ("legacy_vectorized", [((3,), ())]),
    ],
)
def test_ways_to_map(method, shapes):
    seen = []

    def host(x, y):
        seen.append((np.shape(x), np.shape(y)))
        return np.asarray(x) * np.asarray(y)

    def f(x):
        return sagax.pure_callback(host, F32, x, snp.float32(2), vmap_method=method)

    for g in twice(sagax.vmap(f)):
        seen.clear()
        np.testing.assert_array_equal(g(snp.arange(3.0)), [0.0, 2.0, 4.0])
        assert seen == shapes


def test_mapping_needs_a_method():
    with pytest.raises(NotImplementedError, match="vmap_method"):
        sagax.vmap(lambda x: sagax.pure_callback(np.sin, F32, x))(snp.arange(3.0))
    with pytest.raises(ValueError, match="vmap_method"):
        sagax.pure_callback(np.sin, F32, 1.0, vmap_method="parallel")


# derivatives -----------------------------------------------------------------------------------------


def test_a_derivative_must_be_told():
    @sagax.custom_jvp
    def f(x):
        return sagax.pure_callback(lambda v: np.sin(np.asarray(v)), F32, x)

    f.defjvp(lambda primals, tangents: (f(*primals), snp.cos(primals[0]) * tangents[0]))
    for g in twice(sagax.grad(f)):
        np.testing.assert_allclose(float(g(0.5)), np.cos(0.5), rtol=1e-6)

    def bare(x):
        return sagax.pure_callback(np.sin, F32, x)

    with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):
        sagax.grad(bare)(1.0)
    with pytest.raises(ValueError, match="IO callbacks do not support JVP"):
        sagax.grad(lambda x: io_callback(np.sin, F32, x))(1.0)
    # what no derivative passes through is no obstacle
    assert float(sagax.grad(lambda x: x * bare(lax.stop_gradient(x)))(0.0)) == 0.0


def test_prints_of_a_differentiated_function(capsys):
    def f(x):
        sagax.debug.print("x = {}", x)
        return x * x

    for g in twice(sagax.value_and_grad(f)):
        assert [float(v) for v in g(2.0)] == [4.0, 4.0]
    sagax.effects_barrier()
    assert capsys.readouterr().out == "x = 2.0\n" * 2


# effects and their order -----------------------------------------------------------------------------


def test_prints_in_loops_and_branches(capsys):
    def body(carry, x):
        sagax.debug.print("scan {} {}", carry, x)
        return carry + x, None

    def f(x):
        total, _ = lax.scan(body, 0.0, x)
        lax.cond(
            total > 2.0,
            lambda: sagax.debug.print("more"),
            lambda: sagax.debug.print("less"),
        )

        def step(i):
            sagax.debug.print("while {}", i)
            return i + 1

        n = lax.while_loop(lambda i: i < 2, step, 0)
        sagax.jit(lambda n: sagax.debug.print("inner {}", n))(n)
        return total

    expected = "scan 0.0 0.0\nscan 0.0 1.0\nscan 1.0 2.0\nmore\nwhile 0\nwhile 1\ninner 2\n"
    for g in twice(f):
        assert float(g(snp.arange(3.0))) == 3.0
        sagax.effects_barrier()
        assert capsys.readouterr().out == expected


@pytest.mark.parametrize("ordered", [False, True])
def test_calls_keep_the_order_in_which_they_stand(ordered):
    seen: list[int] = []

    def f(x):
        for i in range(20):
            sagax.debug.callback(lambda v, i=i: seen.append(i), x, ordered=ordered)
            x = snp.sin(x)
        return x

    g = sagax.jit(f)
    for _ in range(3):
        seen.clear()
        g(1.0)
        sagax.effects_barrier()
        assert seen == list(range(20))


def test_ordered_calls_of_one_program_after_another():
    seen: list[float] = []
    f = sagax.jit(lambda x: io_callback(lambda v: seen.append(float(v)), None, x, ordered=True))
    for i in range(50):
        f(float(i))
    assert seen == [float(i) for i in range(50)]


@pytest.mark.parametrize("maker", [sagax.custom_jvp, sagax.custom_vjp])
def test_ordered_calls_inside_of_custom_rules_keep_their_place(maker):
    seen: list[str] = []

    def note(text, x):
        io_callback(lambda x: seen.append(text), None, x, ordered=True)
        return x

    inner = maker(lambda x: note("inside", snp.sin(x)))
    if maker is sagax.custom_jvp:
        inner.defjvp(lambda primals, tangents: (inner(*primals), tangents[0]))
    else:
        inner.defvjp(lambda x: (inner(x), None), lambda _, ct: (ct,))
    f = sagax.jit(lambda x: note("after", inner(note("before", x))) + inner(x))
    g = sagax.jit(lambda x: lax.fori_loop(0, 2, lambda i, x: inner(note("before", x)), x))
    for _ in range(2):
        f(1.0)
    sagax.effects_barrier()
    assert seen == ["before", "inside", "after", "inside"] * 2
    seen.clear()
    g(1.0)
    sagax.effects_barrier()
    assert seen == ["before", "inside"] * 2


def test_effects_inside_of_remat_and_custom_rules(capsys):
    @sagax.checkpoint
    def inner(x):
        sagax.debug.print("remat {}", x)
        return snp.sin(x)

    @sagax.custom_vjp
    def custom(x):
        sagax.debug.print("custom {}", x)
        return x * 2.0

    def forward(x):
        sagax.debug.print("forward {}", x)
        return x * 2.0, None

    def backward(_, ct):
        sagax.debug.print("backward {}", ct)
        return (ct * 2.0,)

    custom.defvjp(forward, backward)
    f = sagax.jit(lambda x: custom(inner(x)))
    f(0.0)
    sagax.effects_barrier()
    assert capsys.readouterr().out == "remat 0.0\ncustom 0.0\n"
    assert float(sagax.jit(sagax.grad(f))(0.0)) == 2.0
    sagax.effects_barrier()
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "remat" not in line] == ["forward 0.0", "backward 1.0"]
    assert "remat 0.0" in lines


def test_mapped_effects(capsys):
    for f in twice(sagax.vmap(lambda x: sagax.debug.print("x = {}", x))):
        f(snp.arange(3))
        sagax.effects_barrier()
        assert capsys.readouterr().out == "x = 0\nx = 1\nx = 2\n"
    with pytest.raises(ValueError, match="Cannot `vmap` ordered IO callback"):
        sagax.vmap(lambda x: io_callback(np.sin, F32, x, ordered=True))(snp.arange(3.0))


def test_an_unused_result_is_not_asked_for_but_an_effect_stays():
    calls = []

    def note(kind):
        def host(x):
            calls.append(kind)
            return np.float32(0)

        return host

    @sagax.jit
    def f(x):
        sagax.pure_callback(note("pure"), F32, x)
        io_callback(note("io"), F32, x)
        return x

    f(1.0)
    sagax.effects_barrier()
    assert calls == ["io"]


@pytest.mark.parametrize(
    "wrap, ordered",
    [
        (lambda f: f, False),
        (lambda f: f, True),
        (sagax.jit, False),
        (sagax.jit, True),
        (lambda f: lambda: sagax.vmap(lambda _: f())(snp.ones(1)), False),
    ],
    ids=["at once", "at once, ordered", "jit", "jit, ordered", "vmap"],
)
def test_effects_in_the_condition_of_a_loop(wrap, ordered):
    """Each time that the condition is asked, the last time too, in turn with the body."""
    seen = []

    def condition(i):
        sagax.debug.callback(lambda v: seen.append(("asked", int(v))), i, ordered=ordered)
        return i < 2

    def body(i):
        sagax.debug.callback(lambda v: seen.append(("round", int(v))), i, ordered=ordered)
        return i + 1

    out = wrap(lambda: lax.while_loop(condition, body, 0))()
    sagax.effects_barrier()
    assert int(snp.ravel(out)[0]) == 2
    expected = [("asked", 0), ("round", 0), ("asked", 1), ("round", 1), ("asked", 2)]
    assert (seen if ordered else sorted(seen)) == (expected if ordered else sorted(expected))


def test_a_condition_that_asks_the_host():
    def ask(i):
        return io_callback(lambda v: np.bool_(v < 3), sagax.ShapeDtypeStruct((), bool), i)

    assert int(sagax.jit(lambda: lax.while_loop(ask, lambda i: i + 1, 0))()) == 3


# errors ----------------------------------------------------------------------------------------------


class Broken(Exception):
    pass


def test_what_a_function_raises_comes_out_as_it_is():
    cause = KeyError("first")

    def host(x):
        raise Broken("second") from cause

    f = sagax.jit(lambda x: sagax.pure_callback(host, F32, x))
    for g in (f, f, lambda x: sagax.pure_callback(host, F32, x)):
        with pytest.raises(Broken, match="second") as caught:
            g(1.0).block_until_ready()
        assert caught.value.__cause__ is cause
    with pytest.raises(Broken, match="second") as caught:
        sagax.block_until_ready([snp.ones(3), f(1.0), f(2.0)])
    assert caught.value.__cause__ is cause


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("call", [io_callback, sagax.pure_callback])
def test_prints_before_an_error_are_not_lost(capsys, call, ordered):
    def host(x):
        raise Broken

    @sagax.jit
    def f(x):
        sagax.debug.print("before {}", x, ordered=ordered)
        return call(host, F32, x)

    with pytest.raises(Broken):
        f(1.0).block_until_ready()
        sagax.effects_barrier()
    assert capsys.readouterr().out == "before 1.0\n"


@pytest.mark.parametrize(
    ("result", "error", "words"),
    [
        (np.zeros(2, np.float32), TypeError, ["shape", "got: (2,)", "expected: ()"]),
        (np.int8(1), TypeError, ["dtype", "got: int8", "expected: float32", "np.asarray"]),
        ((np.float32(1),), ValueError, ["structure"]),
        (None, ValueError, ["structure"]),
    ],
)
def test_results_that_do_not_fit(result, error, words):
    for f in twice(lambda x: sagax.pure_callback(lambda v: result, F32, x)):
        with pytest.raises(error) as caught:
            f(1.0).block_until_ready()
        for word in words:
            assert word in str(caught.value)


def test_numbers_of_python_and_wider_floats_fit():
    for value in (1, 1.5, True, np.float64(1.5)):
        for f in twice(lambda x, value=value: sagax.pure_callback(lambda v: value, F32, x)):
            assert float(f(0.0)) == float(value)


@pytest.mark.parametrize(
    ("declared", "result"),
    [("int32", 2.7), ("bool", 2), ("float32", 1j), ("int32", np.float64(2.7)), ("uint8", 1.0)],
)
def test_numbers_of_python_that_would_lose_something_do_not_fit(declared, result):
    shape = sagax.ShapeDtypeStruct((), declared)
    for f in twice(lambda x: sagax.pure_callback(lambda v: result, shape, x)):
        with pytest.raises(TypeError, match=f"(?s)another dtype.*expected: {declared}"):
            f(1.0).block_until_ready()


@pytest.mark.parametrize("result", [2**40, -(2**70), np.int64(-(2**40)), np.array([3, 2**31])])
def test_integers_that_would_be_cut_do_not_fit(result):
    shape = sagax.ShapeDtypeStruct(np.shape(result), "int32")
    for f in twice(lambda x: sagax.pure_callback(lambda v: {"n": result}, {"n": shape}, x)):
        with pytest.raises(OverflowError, match=r"(?s)does not fit int32.*result\['n'\]"):
            f(1.0)["n"].block_until_ready()
    for fits in (2**31 - 1, np.int64(-(2**31))):
        f = sagax.jit(
            lambda x, fits=fits: sagax.pure_callback(lambda v: fits, F32.update(dtype="int32"), x)
        )
        assert int(f(1.0)) == fits


def test_bad_arguments():
    with pytest.raises(TypeError, match="callback"):
        sagax.pure_callback(3, F32, 1.0)
    with pytest.raises(TypeError, match="result_shape_dtypes"):
        sagax.pure_callback(np.sin, "float32", 1.0)
    with pytest.raises(TypeError, match=r"args\[0\]\['a'\]"):
        sagax.pure_callback(np.sin, F32, {"a": "text"})
    for fmt, args, kwargs, words in [
        ("{} {}", (1,), {}, "places for '1'"),
        ("{a}", (1,), {}, "places for 'a'"),
        ("x", (1,), {}, "Unused positional"),
        ("{}", (1,), {"y": 2}, r"Unused keyword arguments to `debug.print`: \['y'\]"),
        ("{", (), {}, "not a format string"),
    ]:
        with pytest.raises(ValueError, match=words):
            sagax.debug.print(fmt, *args, **kwargs)
    with pytest.raises(TypeError, match="format string"):
        sagax.debug.print(snp.ones(2))


def test_format_strings(capsys):
    x = snp.asarray([1.25, 2.5])
    with np.printoptions(precision=1):
        sagax.debug.print("{0} {y:.2f} {d[a]} {{}}", x, y=snp.float32(2.5), d={"a": 1})
    assert capsys.readouterr().out == "[1.2 2.5] 2.50 1 {}\n"


def test_effects_happen_before_the_process_ends(run_python):
    program = """
        import sagax, sagax.numpy as snp

        @sagax.jit
        def f(x):
            for _ in range(3):
                x = x @ x / 300
            sagax.debug.print("{:.0f}", x[0, 0])
            return x

        f(snp.ones((300, 300)))
    """
    assert run_python("-c", textwrap.dedent(program)).stdout == "1\n"


def test_programs_run_inside_of_a_callback():
    inner = sagax.jit(lambda v: snp.sin(v) * 2.0)

    def host(v):
        return np.asarray(inner(v))

    f = sagax.jit(lambda x: sagax.pure_callback(host, F32, x) + 1.0)
    np.testing.assert_allclose(float(f(0.5)), np.sin(0.5) * 2 + 1, rtol=1e-6)


# the debugger ------------------------------------------------------------------------------------------


def session(*commands):
    return io.StringIO("".join(c + "\n" for c in commands)), io.StringIO()


def test_the_debugger_sees_the_values_of_the_run():
    def inner(a):
        local = {"double": 2 * a, "name": "text"}
        sagax.debug.breakpoint(stdin=stdin, stdout=stdout)
        return local["double"]

    def outer(x):
        y = x + 1
        return inner(y)

    for f in twice(outer):
        stdin, stdout = session(
            "p a", "pp local", "local['name'].upper()", "p missing", "u", "p (x, y)", "d", "l", "w", "a", "c"
        )  # fmt: skip
        assert float(f(snp.asarray(2.0))) == 6.0
        sagax.effects_barrier()
        text = stdout.getvalue()
        for words in [
            "inner()\n(sagax) 3.0\n",
            "'double': Array(6., dtype=float32",
            "TEXT",
            "*** NameError",
            "outer()",
            "Array(2., dtype=float32",
            "-> ",
            "sagax.debug.breakpoint(stdin",
            "a = Array(3., dtype=float32",
        ]:
            assert words in text, words
        sagax.clear_caches()


@pytest.mark.parametrize("commands", ["q\n", ""])
def test_leaving_the_debugger_ends_the_program(commands):
    stdin = io.StringIO(commands)

    def f(x):
        sagax.debug.breakpoint(stdin=stdin, stdout=io.StringIO())
        return x

    with pytest.raises(Exception, match="debugger") as caught:
        sagax.jit(f)(1.0).block_until_ready()
        sagax.effects_barrier()
    assert type(caught.value).__name__ == "Quit"


def test_the_debugger_takes_variables_that_are_no_pytrees():
    ring = {"a": 1, "b": 2, "zz": 3}
    ring["c"] = ring
    scope = {"__name__": "module", "sagax": sagax, "ring": ring, "mixed": {1: 1, "a": 2}}
    scope["__builtins__"] = dict(vars(builtins))
    scope["__builtins__"]["__builtins__"] = scope["__builtins__"]
    scope["stdin"], stdout = session("p ring['c']['b'], mixed['a'], len('abc')", "c")
    scope["stdout"] = stdout
    program = (
        "f = sagax.jit(lambda x: (sagax.debug.breakpoint(stdin=stdin, stdout=stdout), 2 * x)[1])"
    )
    exec(f"{program}\ny = float(f(4.0))", scope)
    sagax.effects_barrier()
    assert scope["y"] == 8.0
    assert "(sagax) (2, 2, 3)\n" in stdout.getvalue()


def test_a_breakpoint_for_each_example():
    stdin, stdout = session("p x", "c", "p x", "c")

    def f(x):
        sagax.debug.breakpoint(stdin=stdin, stdout=stdout)
        return x

    sagax.jit(sagax.vmap(f))(snp.asarray([1.5, 2.5]))
    sagax.effects_barrier()
    assert "1.5\n" in stdout.getvalue() and "2.5\n" in stdout.getvalue()
    with pytest.raises(ValueError, match="backend"):
        sagax.debug.breakpoint(backend="web")


def test_a_breakpoint_on_the_terminal(run_python):
    """As at a prompt: commands from standard input, output on standard output."""
    program = """
        import os, sys
        read, write = os.pipe()
        os.write(write, b"p x + 1\\nc\\n")
        os.dup2(read, 0)
        sys.stdin = open(0)
        import sagax
        f = sagax.jit(lambda x: (sagax.debug.breakpoint(), 2 * x)[1])
        print(float(f(3.0)))
    """
    lines = run_python("-c", textwrap.dedent(program)).stdout.splitlines()
    assert lines[-1].endswith("6.0")
    assert any(line.endswith("4.0") for line in lines)


# what would wait forever ----------------------------------------------------------------------------


def later(x):
    """`x`, computed so slowly that the program that takes it begins in the background."""
    big = snp.ones((800, 800))
    work = sagax.jit(
        lambda x, y: x + 0 * sagax.lax.fori_loop(0, 30, lambda _, z: z @ y / 800, y)[0, 0]
    )
    work(x, big)
    return work(x, big)


def waits_for(value_of):
    """The error of a program whose function waits for `value_of(result of the program)`."""
    arrived, box = threading.Event(), []

    def host(x):
        assert arrived.wait(20)
        return np.asarray(box[0]) if box else x

    f = sagax.jit(lambda x: sagax.pure_callback(host, F32, x) + 1)
    arrived.set()
    f(snp.float32(0)).block_until_ready()  # compiled
    arrived.clear()
    x = later(snp.float32(0))
    result = f(x)
    box.append(value_of(result))
    start = time.monotonic()
    arrived.set()
    with pytest.raises(
        CallbackDeadlockError, match="waits for a value that needs its program"
    ) as e:
        result.block_until_ready()
    assert time.monotonic() - start < 10  # it would be forever
    return e.value


def test_a_function_that_waits_for_its_own_program():
    error = waits_for(lambda result: result)
    assert "pure_callback of host" in str(error)
    assert "as arguments of the callback" in str(error)


def test_a_function_that_waits_for_what_depends_on_its_program():
    waits_for(sagax.jit(lambda y: y * 2))


@pytest.mark.parametrize("ordered", [False, True])
def test_waiting_for_all_programs_inside_of_one(ordered):
    def host(x):
        sagax.effects_barrier()

    f = sagax.jit(lambda x: sagax.debug.callback(host, x, ordered=ordered))
    for _ in range(2):  # the first call, and one of the compiled program
        with pytest.raises(CallbackDeadlockError, match="effects_barrier waits for the programs"):
            f(1.0)
            sagax.effects_barrier()


def test_long_work_inside_of_a_function_is_no_deadlock():
    """Longer than the half second after which standing still counts, on values not ready at once."""
    big = snp.ones((600, 600))
    work = sagax.jit(lambda y: sagax.lax.fori_loop(0, 150, lambda _, z: z @ y / 600, y))

    def host(x):
        return np.asarray(work(work(big)))[0, 0] + x

    f = sagax.jit(lambda x: sagax.pure_callback(host, F32, x))
    assert abs(float(f(later(snp.float32(1)))) - 2) < 1e-2


def test_a_function_that_sleeps_is_no_deadlock():
    def sleeps(x):
        time.sleep(0.8)
        return x

    slow = sagax.jit(lambda x: sagax.pure_callback(sleeps, F32, x))
    waiting = queue.Queue()

    def host(x):
        return np.asarray(waiting.get()) + x

    f = sagax.jit(lambda x: sagax.pure_callback(host, F32, x))
    waiting.put(snp.float32(0))
    f(snp.float32(0)), slow(snp.float32(0))
    waiting.put(slow(later(snp.float32(2))))
    assert float(f(later(snp.float32(1)))) == 3.0


def test_programs_with_ordered_effects_inside_of_a_function(capsys):
    inner = sagax.jit(lambda x: (sagax.debug.print("inner {}", x, ordered=True), x + 1)[1])

    def host(x):
        return np.asarray(inner(x))

    f = sagax.jit(lambda x: sagax.pure_callback(host, F32, x))
    assert float(f(later(snp.float32(1)))) == 2.0
    assert "inner 1.0" in capsys.readouterr().out


def test_many_programs_with_effects_inside_of_a_function():
    """More than may run ahead, while the program that calls is the oldest of them."""
    seen = []
    inner = sagax.jit(lambda x: sagax.debug.callback(lambda x: seen.append(float(x)), x))

    def host(x):
        for i in range(100):
            inner(snp.float32(i))

    f = sagax.jit(lambda x: sagax.debug.callback(host, x))
    f(later(snp.float32(1)))
    sagax.effects_barrier()
    assert sorted(seen) == [float(i) for i in range(100)]


# several devices -------------------------------------------------------------------------------------


def test_a_partitioned_call_gets_the_part_of_each_device(eight_devices):
    mesh = sagax.make_mesh((4, 2), ("x", "y"))
    spec = sagax.sharding.PartitionSpec
    x = sagax.device_put(snp.arange(8.0).reshape(4, 2), sagax.NamedSharding(mesh, spec("x", "y")))
    seen = []

    def keep(part, total):
        seen.append((np.asarray(part).tolist(), float(total)))

    @sagax.jit
    def f(x):
        sagax.debug.callback(keep, x, x.sum(), partitioned=True)
        return sagax.lax.fori_loop(0, 2, lambda i, c: c + 1, x)

    f(x)
    sagax.effects_barrier()
    assert sorted(seen) == [([[float(i)]], 28.0) for i in range(8)]
    seen.clear()
    sagax.jit(lambda x: sagax.debug.callback(keep, x, 1, partitioned=True))(snp.arange(3.0))
    sagax.effects_barrier()
    assert seen == [([0.0, 1.0, 2.0], 1.0)]  # on one device
    with pytest.raises(ValueError, match="calls of several devices have no order"):
        sagax.jit(lambda x: sagax.debug.print("{}", x, partitioned=True, ordered=True))(x)
