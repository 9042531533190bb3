"""Traced values that outlive their function: where they went, when they are used and under the checker."""

from __future__ import annotations

import sys
import types

import pytest

import sagax
import sagax.numpy
from sagax import errors

pytestmark = pytest.mark.usefixtures("tests_are_a_library")

HEAD = (
    "import functools, collections\nfrom sagax import jit, grad, vmap\nimport sagax.numpy as jnp\n"
)

# name -> (program: `run` leaks, `use` uses what leaked; the mark is on the statement that stored it,
# what the message says of the holder)
LEAKS = {
    "list of the module": (
        """
        outs = []
        @jit
        def run(x):
            y = x + 1
            outs.append(y)  # leaks
        use = lambda: outs[0] + 1
        """,
        "`outs[0]`, a global variable of program",
    ),
    "dict in a helper": (
        """
        seen = {}
        def layer(x):
            h = jnp.tanh(x)
            if True:
                seen["h"] = h  # leaks
            return h * 2
        run = jit(lambda x: layer(x))
        use = lambda: jnp.sin(seen["h"])
        """,
        "`seen['h']`, a global variable of program",
    ),
    "global": (
        """
        last = None
        @jit
        def run(x):
            global last
            last = x * 2  # leaks
            return x
        use = lambda: last + 1
        """,
        "`last`, a global variable of program",
    ),
    "nonlocal": (
        """
        def make():
            last = None
            def run(x):
                nonlocal last
                (last, other) = x * 2, 0  # leaks
                return x
            return jit(run), lambda: last + 1
        run, use = make()
        """,
        "`last`, a variable around",
    ),
    "attribute": (
        """
        class Model:
            def __init__(self):
                self.stats = {"n": [0, 1]}
            @functools.partial(jit, static_argnums=0)
            def run(self, x):
                self.stats["n"][1] = x.mean()  # leaks
                return x
        model = Model()
        run, use = model.run, lambda: model.stats["n"][1] + 1
        """,
        "`.stats['n'][1]`, an attribute of an object of class Model",
    ),
    "slot": (
        """
        class Model:
            __slots__ = ("mean",)
        model = Model()
        @jit
        def run(x):
            setattr(model, "mean", x.mean())  # leaks
            return x
        use = lambda: model.mean + 1
        """,
        "`.mean`, an attribute of an object of class Model",
    ),
    "class attribute": (
        """
        class Totals:
            best = 0.0
        @jit
        def run(x):
            Totals.best = x.max()  # leaks
            return x
        use = lambda: Totals.best * 2
        """,
        "`Totals.best`, an attribute of the class",
    ),
    "lru_cache": (
        """
        @functools.lru_cache(maxsize=8)
        def table(n):
            if n < 0:
                return None
            return jnp.arange(n) / n  # leaks
        run = jit(lambda x: x * table(3).sum())
        use = lambda: table(3) + 1
        """,
        "the cache of `table` (lru_cache)",
    ),
    "generator": (
        """
        def numbers(x):
            value = x
            while True:
                value = value + 1
                yield 0  # leaks
        waiting = []
        @jit
        def run(x):
            steps = numbers(x)
            next(steps)
            waiting.append(steps)
            return x
        use = lambda: waiting[0].gi_frame.f_locals["value"] + 1
        """,
        "the generator `numbers`, which waits in line 8",
    ),
    "deque, from grad": (
        """
        recent = collections.deque(maxlen=3)
        def loss(w):
            recent.appendleft(w ** 2)  # leaks
            return (w ** 2).sum()
        run = grad(lambda x: loss(x.sum()))
        use = lambda: recent[0] * 2
        """,
        "`recent[0]`, a global variable of program",
    ),
    "set of a closure, from vmap": (
        """
        def make():
            kept = []
            def keep(x):
                kept.extend([x * 2, 1])  # leaks
                return x
            return vmap(keep), lambda: kept[0] + 1
        run, use = make()
        """,
        "`kept[0]`, a variable around",
    ),
}  # fmt: skip


def program(name):
    text, holder = LEAKS[name]
    lines = text.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    source = HEAD + "\n".join(line[indent:] for line in lines)
    marked = [i for i, line in enumerate(source.split("\n"), 1) if line.endswith("# leaks")]
    return source, marked[0], holder


@pytest.fixture
def module(user):
    """The names of a program, kept alive as those of a module are."""

    def run(source):
        found = user(source)
        found.x = sagax.numpy.ones(2)
        return found

    return run


def check(error, line, holder):
    found = error.explain()
    assert found.primary is not None and found.primary.line == line, str(error)
    assert any(holder in note for note in found.notes), found.notes
    assert len(str(error).splitlines()) <= 25


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_that_is_used(name, module):
    source, line, holder = program(name)
    names = module(source)
    names.run(names.x)
    with pytest.raises(
        errors.UnexpectedTracerError, match=r"^Encountered an unexpected tracer\. "
    ) as caught:
        names.use()
    check(caught.value, line, holder)


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_that_is_looked_for(name, module):
    source, line, holder = program(name)
    names = module(source)
    with pytest.raises(errors.UnexpectedTracerError, match="^Leaked Trace: ") as caught:
        with sagax.checking_leaks():
            names.run(names.x)
    check(caught.value, line, holder)


def test_a_leak_that_a_conversion_finds(module):
    """float(x) asks for a number, and is told why there is none: the class stays, the life is told."""
    names = module(
        HEAD + "outs = []\n@jit\ndef run(x):\n    y = x.sum()\n    outs.append(y)\n    return x\n"
    )
    names.run(sagax.numpy.ones(2))
    with pytest.raises(errors.ConcretizationTypeError, match="Abstract tracer value") as caught:
        float(names.outs[0])
    check(caught.value, 8, "`outs[0]`, a global variable of program")
    text = " ".join(str(caught.value).split())
    assert "while tracing `run` for jit, and that function is over" in text


def test_a_conversion_inside_is_no_leak(module):
    names = module(
        HEAD + "outs = []\n@jit\ndef run(x):\n    outs.append(x)\n    return float(outs[0])\n"
    )
    with pytest.raises(errors.ConcretizationTypeError) as caught:
        names.run(1.0)
    assert "is over" not in str(caught.value)
    assert caught.value.explain().primary.line == 8


@pytest.mark.parametrize("name", ["list of the module", "attribute", "nonlocal", "global"])
def test_what_modules_lead_to_is_found_without_the_heap(name, tmp_path, monkeypatch):
    source, line, holder = program(name)
    file = tmp_path / "program.py"
    file.write_text(source, encoding="utf-8")
    names = types.ModuleType("program")
    names.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "program", names)
    exec(compile(source, str(file), "exec"), vars(names))
    names.run(sagax.numpy.ones(2))
    with pytest.raises(errors.UnexpectedTracerError) as caught:
        names.use()
    monkeypatch.setattr("gc.get_referrers", lambda *_: pytest.fail("the whole heap is searched"))
    check(caught.value, line, holder)


def test_the_life_cycle(module):
    names = module(program("list of the module")[0])
    names.run(names.x)
    with pytest.raises(errors.UnexpectedTracerError) as caught:
        names.use()
    text = str(caught.value)
    assert "while tracing `run` for jit" in text
    assert "When the Tracer was created, the final 5 stack frames were:" in text
    assert "program.py:7 in run: y = x + 1" in text
    assert "outs[0] + 1" in text and "used here" in text
    assert "depends on: x (argument of run)" in text


def test_caches_stay_on_under_the_checker(module):
    names = module(
        "from sagax import jit\nruns = []\n@jit\ndef f(x):\n    runs.append(1)\n    return x * 2\n"
    )
    with sagax.checking_leaks():
        names.f(names.x)
        names.f(names.x)
    assert len(names.runs) == 1


# What keeps values alive without being a leak.
CLEAN = {
    "a cycle that is not collected yet": """
        class Node: pass
        @jit
        def run(x):
            node = Node()
            node.self, node.value = node, x * 2
            return x
        """,
    "an exception that was caught, with its frames": """
        failures = []
        def careful(x):
            half = x / 2
            raise ValueError("not today")
        @jit
        def run(x):
            try:
                careful(x)
            except ValueError as error:
                failures.append(error)
            return x
        """,
    "an exception that is being handled": """
        @jit
        def inner(x):
            y = x + 1
            return y
        def run(x):
            try:
                raise KeyError("outside")
            except KeyError:
                return inner(x)
        """,
    "rules of custom derivatives that close over values": """
        from sagax import custom_vjp, custom_jvp
        def run(x):
            def f(x, a):
                scale = a * 2
                @custom_vjp
                def g(y):
                    return y * y
                g.defvjp(lambda y: (y * y, (y, y)), lambda res, ct: (res[0] * ct,))
                @custom_jvp
                def h(y):
                    return y * 3
                h.defjvp(lambda p, t: (p[0] * 3, t[0] * 3))
                return (g(x) * scale + h(x)).sum()
            return jit(grad(f))(x, x), vmap(grad(f))(x, x)
        """,
    "pullbacks and linear maps that are applied inside": """
        from sagax import vjp, linearize
        @jit
        def run(x):
            y, pull = vjp(jnp.sin, x)
            z, push = linearize(jnp.cos, x)
            return pull(y)[0] + push(x)
        """,
    "loops, branches and nested transformations": """
        from sagax import lax, hessian, checkpoint
        def run(x):
            def f(x):
                c, ys = lax.scan(lambda c, y: (c + y * y, c), 0.0, x)
                d = lax.cond(c > 1, jnp.sin, jnp.cos, c)
                e = lax.while_loop(lambda v: v < 9, lambda v: v * 2 + 1, c)
                return d + ys.sum() + checkpoint(jnp.exp)(c) + 0 * lax.stop_gradient(e)
            return jit(f)(x), grad(lambda x: f(x) if False else lax.scan(lambda c, y: (c * y, c), 1.0, x)[0])(x), hessian(lambda x: (x ** 3).sum())(x)
        """,
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_no_leak(name, module):
    lines = CLEAN[name].strip("\n").split("\n")
    names = module(HEAD + "\n".join(line[8:] for line in lines))
    with sagax.checking_leaks():
        names.run(names.x)


def test_a_debugger_is_no_leak(module):
    kept = []

    def watch(frame: types.FrameType, event: str, _: object):
        if frame.f_code.co_name == "run":
            kept.append((frame, frame.f_locals))  # as pdb and others do
            return watch
        return None

    names = module(HEAD + "@jit\ndef run(x):\n    y = x + 1\n    return y\n")
    sys.settrace(watch)
    try:
        with sagax.checking_leaks():
            names.run(names.x)
    finally:
        sys.settrace(None)
    assert any("y" in variables for _, variables in kept)


@pytest.mark.parametrize("variable", ["SAGAX_CHECK_TRACER_LEAKS", "JAX_CHECK_TRACER_LEAKS"])
def test_the_environment_turns_the_checker_on(variable, run_python, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import sagax\nkept = []\nf = sagax.jit(lambda x: kept.append(x * 2))\nf(1.0)\n"
    )
    done = run_python(path, env={variable: "1"}, status=1)
    assert "Leaked Trace: " in done.stderr and "program.py:3" in done.stderr
