"""Repairs as text: pure functions from facts and source to candidates, without running a program."""

from __future__ import annotations

import ast
import textwrap

import pytest

from sagax._autofix.repairs.case import Case, Facts, Measurement
from sagax._autofix.repairs.registry import propose
from sagax._autofix.repairs.source_file import Source
from sagax._src.diagnostics.edits import apply, diff, line_edits
from sagax._src.diagnostics.model import Diagnostic, Edit, Label, Span

FILE = "program.py"


def repaired(
    error,
    text,
    expression,
    *,
    depends=(),
    context=(),
    data=None,
    sizes=None,
    message="dot: sizes",
    measured=None,
    classes=(),
    notes=(),
):
    """The kinds of all candidates, with the program after each."""
    source = Source(FILE, text)
    found = [
        n
        for n in ast.walk(source.tree)
        if isinstance(n, (ast.expr, ast.stmt)) and source.code(n) == expression
    ]
    assert found, f"{expression!r} is no expression of the program"
    diagnostic = Diagnostic(
        "", error, message, labels=(Label(source.span(found[0]), primary=True),),
        depends=tuple(depends), context=tuple(context), notes=tuple(notes),
    )  # fmt: skip
    facts = Facts(diagnostic, (error, *classes), (source.span(found[0]),), data or {})
    values = {source.span(n): [Measurement("Array", s)] for n in found for s in sizes or ()}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.expr) and source.code(node) in (measured or {}):
            values[source.span(node)] = measured[source.code(node)]
    case = Case(facts, {FILE: source}, values, strict=True)
    return [(c.kind, apply(text, c.edits)) for c in propose(case)]


def program(body):
    return textwrap.dedent(body).strip("\n") + "\n"


CASES = {
    "elif chain of assignments": (
        "TracerBoolConversionError",
        "x < 0",
        """
        import jax.numpy as jnp
        def f(x):
            if x < 0:
                y = -x
            elif not x:
                y = 1.0
            else:
                y = x
            return y
        """,
        "where",
        """
        import jax.numpy as jnp
        def f(x):
            y = jnp.where(x < 0, -x, jnp.where(jnp.logical_not(x), 1.0, x))
            return y
        """,
    ),
    "a name that only one branch binds": (
        "TracerBoolConversionError",
        "x > 0",
        """
        import jax
        def f(x, y):
            if x > 0:
                t = x * 2
                y = y + t
            return y
        """,
        "cond",
        """
        import jax
        def f(x, y):
            def when_true(y):
                t = x * 2
                y = y + t
                return y

            def when_false(y):
                return y

            y = jax.lax.cond(x > 0, when_true, when_false, y)
            return y
        """,
    ),
    "nested ternary": (
        "TracerBoolConversionError",
        "x > 1",
        """
        import sagax.numpy as np
        g = lambda x: 1 if x > 1 else 2 if x < 0 else 3
        """,
        "where",
        """
        import sagax.numpy as np
        g = lambda x: np.where(x > 1, 1, np.where(x < 0, 2, 3))
        """,
    ),
    "three in a row": (
        "TracerBoolConversionError",
        "a > 0",
        """
        from jax import numpy as jnp
        def f(a, b, c):
            return (a > 0 and b > 0 and not c) * 2
        """,
        "logical_ops",
        """
        from jax import numpy as jnp
        def f(a, b, c):
            return (jnp.logical_and(jnp.logical_and(a > 0, b > 0), jnp.logical_not(c))) * 2
        """,
    ),
    "max in min": (
        "TracerBoolConversionError",
        "max(x, 0.0)",
        """
        import jax.numpy as jnp
        def f(x, top):
            return min(max(x, 0.0), top)
        """,
        "minimum_maximum",
        """
        import jax.numpy as jnp
        def f(x, top):
            return jnp.minimum(jnp.maximum(x, 0.0), top)
        """,
    ),
    "tests in tests": (
        "TracerBoolConversionError",
        "x > 0",
        """
        import jax.numpy as jnp
        def f(x, y):
            if x > 0:
                if x > 9:
                    return y, 0
                return y + 1, 0
            return y - 1, x
        """,
        "where",
        """
        import jax.numpy as jnp
        def f(x, y):
            return jnp.where(x > 0, jnp.where(x > 9, y, y + 1), y - 1), jnp.where(x > 0, 0, x)
        """,
    ),
    "a loop that is left": (
        "TracerBoolConversionError",
        "abs(new - x) < 1e-3",
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            for i in range(2, 50):
                new = jnp.cos(x)
                if abs(new - x) < 1e-3:
                    break
                x = new
            return x
        """,
        "while_loop",
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            def keep_going(carry):
                i, x, done = carry
                return jnp.logical_and(i < 50, jnp.logical_not(done))

            def step(carry):
                i, x, _ = carry
                new = jnp.cos(x)
                done = abs(new - x) < 1e-3
                x_before = x
                x = new
                x = jnp.where(done, x_before, x)
                return i + 1, x, done

            i, x, _ = jax.lax.while_loop(keep_going, step, (2, x, False))
            return x
        """,
    ),
    "in a table": (
        "TracerBoolConversionError",
        "code in VOWELS",
        """
        import jax.numpy as jnp
        VOWELS = (0, 4)
        def f(code):
            return 2 if code in VOWELS else 1
        """,
        "where",
        """
        import jax.numpy as jnp
        VOWELS = (0, 4)
        def f(code):
            return jnp.where(jnp.isin(code, jnp.asarray(VOWELS)), 2, 1)
        """,
    ),
    "a text with a percent sign": (
        "SideEffectWarning",
        'print("norm %.2f of %s" % (n, x))',
        """
        import jax
        def f(x, n):
            print("norm %.2f of %s" % (n, x))
        """,
        "debug_print",
        """
        import jax
        def f(x, n):
            jax.debug.print("norm {:.2f} of {}", n, x)
        """,
    ),
    "a text with format": (
        "SideEffectWarning",
        'print("norm {:.2f} of {}".format(n, x), n)',
        """
        import jax
        def f(x, n):
            print("norm {:.2f} of {}".format(n, x), n)
        """,
        "debug_print",
        """
        import jax
        def f(x, n):
            jax.debug.print("norm {:.2f} of {} {}", n, x, n)
        """,
    ),
    "a line of a log": (
        "SideEffectWarning",
        'log.info("norm %s", n)',
        """
        import jax
        import logging
        log = logging.getLogger()
        def f(x, n):
            log.info("norm %s", n)
        """,
        "callback",
        """
        import jax
        import logging
        log = logging.getLogger()
        def f(x, n):
            jax.debug.callback(lambda n: log.info("norm %s", n), n)
        """,
    ),
    "range with a step": (
        "TracerIntegerConversionError",
        "range(0, n, 2)",
        """
        import jax
        def f(n, s):
            for i in range(0, n, 2):
                s = s + i
            return s
        """,
        "fori_or_scan",
        """
        import jax
        def f(n, s):
            def body(k, s):
                i = 0 + k * 2
                s = s + i
                return s

            s = jax.lax.fori_loop(0, (n - 0 + 2 - 1) // 2, body, s)
            return s
        """,
    ),
    "loop that collects": (
        "UnrolledLoopWarning",
        "range(200)",
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            out = []
            for _ in range(200):
                x = x + 1
                out.append(x * 2)
            return out
        """,
        "fori_or_scan",
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            out = []
            def body(x, _):
                x = x + 1
                out_item = x * 2
                return x, out_item

            x, out = jax.lax.scan(body, x, jnp.arange(200))
            return out
        """,
    ),
    "mask in a call with an axis": (
        "NonConcreteBooleanIndexError",
        "x[x > 0]",
        """
        import jax.numpy as jnp
        def f(x):
            return jnp.mean(x[x > 0], axis=0)
        """,
        "where_mask_sum",
        """
        import jax.numpy as jnp
        def f(x):
            return jnp.mean(x, axis=0, where=x > 0)
        """,
    ),
    "masked copy": (
        "NonConcreteBooleanIndexError",
        "x.at[m].set(y[m])",
        """
        import jax.numpy as jnp
        def f(x, y, m):
            return x.at[m].set(y[m])
        """,
        "where",
        """
        import jax.numpy as jnp
        def f(x, y, m):
            return jnp.where(m, y, x)
        """,
    ),
    "items of items": (
        "TypeError",
        'state["v"][0]',
        """
        def f(state, u):
            state["v"][0] = u
            state["v"][1:] -= u + 1
            return state
        """,
        "at_set",
        """
        def f(state, u):
            state["v"] = state["v"].at[0].set(u)
            state["v"] = state["v"].at[1:].add(-(u + 1))
            return state
        """,
    ),
    "a slice along the second axis": (
        "IndexError",
        "x[:, i:i + 3]",
        """
        from jax import lax
        def f(x, i):
            return x[:, i:i + 3] * 2
        """,
        "dynamic_slice",
        """
        from jax import lax
        def f(x, i):
            return lax.dynamic_slice_in_dim(x, i, 3, axis=1) * 2
        """,
    ),
    "special functions": (
        "TracerArrayConversionError",
        "math.lgamma(x)",
        """
        import math
        import jax
        def f(x):
            return math.lgamma(x)
        """,
        "jnp_instead_of_np",
        """
        import math
        import jax
        def f(x):
            return jax.scipy.special.gammaln(x)
        """,
    ),
    "an f-string with a number": (
        "ConcretizationTypeError",
        "float(x)",
        """
        import jax
        def f(x):
            print(f"{{x}} = {float(x):.2f}", x)
            return x
        """,
        "debug_print",
        """
        import jax
        def f(x):
            jax.debug.print("{{x}} = {:.2f} {}", x, x)
            return x
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_repair(name):
    error, expression, before, kind, after = CASES[name]
    found = repaired(error, program(before), expression)
    assert (kind, program(after)) in found, "\n".join(f"--- {k}\n{t}" for k, t in found)


def array(*shape, dtype="float32"):
    return Measurement("Array", shape, dtype)


# name: (class, message, facts, expression, measured, program, kind, repaired program)
BY_MESSAGE = {
    "arithmetic of Booleans": (
        "TypeError", "sub: operand 0 has dtype bool", {}, "(x > a) - (x < -a)", {},
        """
        def sign(x, a):
            return (x > a) - (x < -a)
        """,
        "astype",
        """
        def sign(x, a):
            return (x > a).astype(int) - (x < -a).astype(int)
        """,
    ),
    "the negation of a mask": (
        "TypeError", "neg: operand 0 has dtype bool", {}, "-mask", {},
        """
        def outside(mask):
            return -mask
        """,
        "astype",
        """
        def outside(mask):
            return ~mask
        """,
    ),
    "a scalar among arrays": (
        "ValueError", "concatenate: Zero-dimensional arrays cannot be concatenated.", {},
        "jnp.concatenate([bias, x])", {"bias": [array()], "x": [array(3)]},
        """
        import jax.numpy as jnp
        def features(x, bias):
            return jnp.concatenate([bias, x])
        """,
        "add_axis",
        """
        import jax.numpy as jnp
        def features(x, bias):
            return jnp.concatenate([jnp.atleast_1d(bias), x])
        """,
    ),
    "scalars alone": (
        "ValueError", "concatenate: Zero-dimensional arrays cannot be concatenated.", {},
        "jnp.concatenate([x, y])", {"x": [array()], "y": [array()]},
        """
        import jax.numpy as jnp
        def pair(x, y):
            return jnp.concatenate([x, y])
        """,
        "stack",
        """
        import jax.numpy as jnp
        def pair(x, y):
            return jnp.stack([x, y])
        """,
    ),
    "sequences of two lengths": (
        "ValueError", "scan of f: scan got values with different leading axis sizes: 4, 5",
        {"got": "xs[0]: 4, xs['v']: 5, xs[1]: 5"}, "jax.lax.scan(f, 0.0, (r, v))", {},
        """
        import jax
        def f(c, x):
            return c, x
        jax.lax.scan(f, 0.0, (r, v))
        """,
        None, "",
    ),
    "values one longer than rewards": (
        "ValueError", "scan of f: scan got values with different leading axis sizes: 4, 5",
        {"got": "xs[0]: 4, xs[1]: 5"}, "jax.lax.scan(f, 0.0, (r, v))", {},
        """
        import jax
        def f(c, x):
            return c, x
        jax.lax.scan(f, 0.0, (r, v))
        """,
        "slice_sequence",
        """
        import jax
        def f(c, x):
            return c, x
        jax.lax.scan(f, 0.0, (r, v[:-1]))
        """,
    ),
    "a vector for each row": (
        "TypeError", "mul: the operands differ in size along axis -1: 3 and 2", {}, "x * scale",
        {"x": [array(2, 3)], "scale": [array(2)]},
        """
        def scaled(x, scale):
            return x * scale
        """,
        "reshape",
        """
        def scaled(x, scale):
            return x * scale[:, None]
        """,
    ),
    "forward mode of a reverse rule": (
        "TypeError", "custom_vjp: can't apply forward-mode differentiation (jvp)", {}, "f(x)", {},
        """
        import jax
        def g(x):
            return f(x)
        h = jax.hessian(g, argnums=0)
        """,
        "reverse_mode",
        """
        import jax
        def g(x):
            return f(x)
        h = jax.jacrev(jax.jacrev(g, argnums=0), argnums=0)
        """,
    ),
    "keyword-only what is differentiated": (
        "TypeError", "grad: argnums=0 does not fit: loss was called with 0 positional arguments",
        {}, "g(w=w, x=1.0)", {},
        """
        import jax
        def loss(*, w, x):
            return w * x
        g = jax.grad(loss)
        g(w=w, x=1.0)
        """,
        "positional_argument",
        """
        import jax
        def loss(w, *, x):
            return w * x
        g = jax.grad(loss)
        g(w, x=1.0)
        """,
    ),
    "a loop of unknown length under grad": (
        "ValueError", "while_loop: Reverse-mode differentiation does not work", {},
        "jax.lax.while_loop(more, step, x)", {"s * a": [array()] * 9},
        """
        import jax
        def f(x, a):
            def more(s):
                return s > 1
            def step(s):
                return s * a
            return jax.lax.while_loop(more, step, x)
        """,
        "bounded_loop",
        """
        import jax
        def f(x, a):
            def more(s):
                return s > 1
            def step(s):
                return s * a
            return jax.lax.fori_loop(0, 32, lambda _, state: jax.lax.cond(more(state), step, lambda state: state, state), x)
        """,
    ),
    "an entry that in_axes lacks": (
        "ValueError",
        "vmap: vmap in_axes specification must be a tree prefix of the corresponding value: in_axes[1] "
        "is a dict with keys 'x', but batch is a dict with keys 'x', 'y'. The keys differ: 'y' only in "
        "batch.",
        {}, "jax.vmap(f, in_axes=(None, {'x': 0}))(w, batch)", {},
        """
        import jax
        jax.vmap(f, in_axes=(None, {'x': 0}))(w, batch)
        """,
        "in_axes",
        """
        import jax
        jax.vmap(f, in_axes=(None, {'x': 0, 'y': 0}))(w, batch)
        """,
    ),
    "an array that a helper changes": (
        "TypeError", "x[index] = value: arrays are immutable", {}, "u[0]", {},
        """
        def hold(u):
            u[0] = 1.0
        def step(u):
            hold(u)
            return u
        """,
        "at_set",
        """
        def hold(u):
            u = u.at[0].set(1.0)
            return u
        def step(u):
            u = hold(u)
            return u
        """,
    ),
    "an array that an object keeps": (
        "TypeError", "x[index] = value: arrays are immutable", {}, "rows[i]", {},
        """
        def add(self, i, v):
            rows = self.rows
            for k in range(2):
                rows[i] = v
            self.n += 1
        """,
        "at_set",
        """
        def add(self, i, v):
            rows = self.rows
            for k in range(2):
                rows = rows.at[i].set(v)
            self.rows = rows
            self.n += 1
        """,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_MESSAGE)
def test_a_repair_by_the_words_of_the_error(name):
    error, message, data, expression, measured, before, kind, after = BY_MESSAGE[name]
    found = repaired(
        error, program(before), expression, message=message, data=data, measured=measured
    )
    if kind is None:  # the part that is longer is not known
        assert not found
    else:
        assert (kind, program(after)) in found, "\n".join(f"--- {k}\n{t}" for k, t in found)


@pytest.mark.parametrize(
    ("head", "call", "wanted"),
    [
        ("@jax.jit", "f(1, 2)", "@partial(jax.jit, static_argnames=(\"n\",))"),
        ("@jax.jit(donate_argnums=0)", "f(1, 2)", "@jax.jit(donate_argnums=0, static_argnames=(\"n\",))"),
        ("@partial(jax.jit, static_argnums=(0,))", "f(1, 2)", "@partial(jax.jit, static_argnums=(0, 1))"),
        ("@partial(jax.jit, static_argnames='x')", "f(1, 2)", "@partial(jax.jit, static_argnames=(\"x\", \"n\"))"),
    ],
)  # fmt: skip
def test_static_where_jit_is_applied(head, call, wanted):
    text = f"import jax\n{head}\ndef f(x, n):\n    if n:\n        return x\n    return -x\n{call}\n"
    if "partial" in head:
        text = "from functools import partial\n" + text
    found = repaired(
        "TracerBoolConversionError", text, "n", depends=["n"], context=["tracing `f` for jit"]
    )
    static = [t for k, t in found if k == "static_args"]
    assert len(static) == 1
    assert wanted in static[0]
    compile(static[0], FILE, "exec")


def test_static_at_a_call_of_jit():
    text = "import jax\ndef f(x, n):\n    return x if n else -x\ng = jax.jit(f)\n"
    found = repaired(
        "TracerBoolConversionError", text, "n", depends=["n"], context=["tracing `f` for jit"]
    )
    assert 'g = jax.jit(f, static_argnames=("n",))\n' in dict(found)["static_args"]


def test_an_array_is_not_made_static():
    text = "import jax\n@jax.jit\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"
    found = repaired(
        "TracerBoolConversionError", text, "x.sum() > 0", context=["tracing `f` for jit"]
    )
    assert found
    assert "static_args" not in dict(found)


def test_the_measured_size_is_given():
    text = "import jax.numpy as jnp\ndef f(x):\n    return jnp.flatnonzero(x)\n"
    found = repaired("ConcretizationTypeError", text, "jnp.flatnonzero(x)", sizes=[(3,), (5,)])
    assert ("size_arg", text.replace("(x)\n", "(x, size=5)\n")) in found


def test_operands_of_matmul():
    text = "def f(a, b):\n    return a @ b\n"
    found = [
        t.splitlines()[1].strip() for k, t in repaired("TypeError", text, "a @ b") if k == "reshape"
    ]
    assert sorted(found) == ["return a @ b.T", "return a.T @ b", "return b @ a"]


# --- the source ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "full", "spelled", "added"),
    [
        ("import jax.numpy as jnp\n", "jax.numpy.where", "jnp.where", ""),
        ("import sagax.numpy as np\n", "jax.numpy.where", "np.where", ""),
        ("from jax import lax\n", "jax.lax.scan", "lax.scan", ""),
        ("from jax.lax import scan\n", "jax.lax.scan", "scan", ""),
        ("import sagax\n", "jax.lax.scan", "sagax.lax.scan", ""),
        ("import jax\n", "jax.numpy.where", "jax.numpy.where", ""),
        ("import sagax as sx\n", "jax.numpy.where", "sx.numpy.where", ""),
        ("from jax import jit\n", "jax.numpy.where", "jnp.where", "import jax.numpy as jnp"),
        ("from sagax import jit\n", "jax.numpy.where", "snp.where", "import sagax.numpy as snp"),
        ("import jax\n", "functools.partial", "partial", "from functools import partial"),
    ],
)
def test_names_are_spelled_as_the_program_does(text, full, spelled, added):
    source = Source(FILE, text + "x = 1\n")
    found, imports = source.spell(full)
    assert found == spelled
    lines = apply(source.text, imports).split("\n")
    assert [x for x in lines if x and x not in source.lines] == ([added] if added else [])


def test_columns_are_characters():
    source = Source(FILE, "é = 'ä' if a else b\n")
    node = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == "a")
    assert (source.span(node).column, source.code(node)) == (11, "a")
    assert source.at(source.span(node)) is node


def test_between_two_texts():
    old = "a\nb\nc\nd\n"
    for new in (
        "a\nB\nc\nd\n",
        "b\nc\nd\n",
        "a\nx\ny\nb\nc\nd\n",
        "a\nb\nc\nd\ne\n",
        "a\nb\n",
        "z\n",
    ):
        assert apply(old, line_edits(FILE, old, new)) == new


def test_what_is_inserted_stands_before_what_is_replaced_there():
    span = Span(FILE, 2, 0, 2, 1, "", ("b",))
    point = Span(FILE, 2, 0, 2, 0, "", ("b",))
    edits = (Edit(point, "new\n"), Edit(span, "B"))
    assert apply("a\nb\nc", edits) == apply("a\nb\nc", edits[::-1]) == "a\nnew\nB\nc"
    assert diff(edits).splitlines()[2:] == ["@@ -2,1 +2,2 @@", "-b", "+new", "+B"]
