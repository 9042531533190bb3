"""Where a traced value comes from: the arguments and the steps, through nested traces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fake_traces import FakeTrace, FakeTracer, FakeVar, Wrapped
from sagax import errors
from sagax._src.core.avals import ShapedArray
from sagax._src.core.jaxpr import DebugInfo, subjaxprs
from sagax._src.core.primitive import Primitive
from sagax._src.core.staging import stage
from sagax._src.diagnostics import provenance, spans

pytestmark = pytest.mark.usefixtures("tests_are_a_library")


def chain_of(value: Any) -> list[tuple[str, str]]:
    return [(step.span.text, step.what) for step in provenance.provenance(value).steps]


def test_arguments_and_steps(user):
    trace = FakeTrace("loss", "jit")
    w, x, unused = (trace.argument(p, 3) for p in ("params['w'][0]", "batch.x", "batch.y"))
    program = user(
        "def loss(w, x, y):\n    pred = w * x\n    y.total()\n    return (pred + 1).total()"
    )
    found = provenance.provenance(program.loss(w, x, unused))
    assert found.arguments == ("params['w'][0]", "batch.x")
    assert found.function == "loss"
    assert [(s.span.text, s.what, s.aval) for s in found.steps] == [
        ("w * x", "mul", "float32[3]"),
        ("(pred + 1).total()", "add, square, reduce_sum", "float32[3]"),
    ]
    assert provenance.trace_names(w) == ("tracing `loss` for jit",)


def test_an_argument_itself_has_no_steps():
    trace = FakeTrace("f", "jit")
    found = provenance.provenance(trace.argument("n"))
    assert found == (("n",), "f", ())


def test_arguments_of_the_innermost_function_that_has_any(user):
    outer = FakeTrace("train", "jit")
    scale, data = outer.argument("scale", 3), outer.argument("data", 3)
    program = user("def body(c):\n    return c + 1\ndef train(s):\n    return s * 2")
    doubled = program.train(scale)
    inner = FakeTrace("body", "scan", parent=outer)
    carry = inner.argument("carry", 3, link=doubled)
    found = provenance.provenance(program.body(carry))
    assert (found.arguments, found.function) == (("carry",), "body")
    assert [step.span.text for step in found.steps] == ["s * 2", "c + 1"]
    # a closed-over value of the outer function is no argument of the inner one
    closed = FakeTracer(inner, FakeVar(doubled.aval))
    inner.captured[id(data)] = (closed._var, data)
    found = provenance.provenance(program.body(closed))
    assert (found.arguments, found.function) == (("data",), "train")
    assert provenance.trace_names(closed) == (
        "tracing `train` for jit",
        "tracing `body` for scan",
    )


def test_wrapped_tracers_are_opened(user):
    trace = FakeTrace("loss", "jit")
    w = trace.argument("w", 3)
    value = user("def f(w):\n    return w * 2").f(w)
    assert chain_of(Wrapped(Wrapped(value))) == [("w * 2", "mul")]
    assert provenance.provenance(Wrapped(np.zeros(3))) == ((), "", ())
    circle = Wrapped(np.zeros(3))
    circle.inner = circle
    assert provenance.provenance(circle) == ((), "", ())


def test_what_no_argument_reaches_is_left_out(user):
    trace = FakeTrace("f", "jit")
    w = trace.argument("w", 3)
    constant = FakeTracer(trace, FakeVar(w.aval))
    value = user("def f(w, c):\n    k = c * 2\n    return w + k").f(w, constant)
    assert chain_of(value) == [("w + k", "add")]


def test_loops_are_counted_and_only_five_steps_shown(user):
    trace = FakeTrace("f", "jit")
    w = trace.argument("w", 3)
    source = "def f(w):\n    for i in range(100):\n        w = w * 2\n        w = w + w\n"
    source += "".join(f"    w = w * {i}\n" for i in range(9)) + "    return w"
    steps = provenance.provenance(user(source).f(w)).steps
    assert [(s.span.text, s.times) for s in steps] == [
        ("w * 2", 100),
        *((f"w * {i}", 1) for i in range(5, 9)),
    ]


def test_operations_that_are_made_of_the_same_twice_ran_once(user):
    trace = FakeTrace("f", "jit")
    source = "def f(w):\n    for i in range(3):\n        w = (w * 2).quadruple()\n    return w"
    steps = provenance.provenance(user(source).f(trace.argument("w", 3))).steps
    assert [(s.span.text, s.what, s.times) for s in steps] == [
        ("(w * 2).quadruple()", "mul, add", 3)
    ]


def test_a_deep_trace_does_not_recurse(user):
    trace = FakeTrace("f", "jit")
    w = trace.argument("w")
    value = user("def f(w):\n    for i in range(5000):\n        w = w * 2\n    return w").f(w)
    (step,) = provenance.provenance(value).steps
    assert step.times == 5000


def test_a_staged_program_of_the_core_has_what_provenance_needs(user):
    double = Primitive("double")
    double.abstract(lambda x: x)
    program = user("def f(x):\n    y = double(x)\n    if y: pass", double=double.bind)
    aval = ShapedArray((3,), np.float32)
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        stage(lambda x: [program.f(x)], [aval], DebugInfo("f", ["batch['x']"], (), "jit"))
    found = caught.value.explain()
    assert (found.depends, found.function) == (("batch['x']",), "f")
    assert [(s.span.text, s.what, s.aval) for s in found.chain] == [
        ("double(x)", "double", "float32[3]")
    ]
    assert found.primary is not None and found.primary.text == "y"
    assert found.context == ("tracing `f` for jit",)


# ------------------------------------------------------- real transformations, arguments by name


@pytest.mark.usefixtures("tests_are_a_library")
@pytest.mark.parametrize(
    ("program", "depends", "function"),
    [
        ("vmap(f)(x, x)", ("a", "b"), "f"),
        ("vmap(f, in_axes=(0, None))(x, 1.0)", ("a",), "f"),  # b is a number, not traced
        ("jit(vmap(f, in_axes=(0, None)))(x, 1.0)", ("a", "b"), "f"),
        ("jit(lambda v, u: vmap(lambda a: f(a, u * 2))(v))(x, 1.0)", ("a",), "<lambda>"),
        ("grad(g)({'w': [1.0, 2.0], 'b': 3.0})", ("p['b']", "p['w'][1]"), "g"),
        ("jit(grad(g))({'w': [1.0, 2.0], 'b': 3.0})", ("p['b']", "p['w'][1]"), "g"),
        (
            "jvp(g, ({'w': [1.0, 2.0], 'b': 3.0},), ({'w': [1.0, 1.0], 'b': 1.0},))",
            ("p['b']", "p['w'][1]"),
            "g",
        ),
        ("vmap(grad(g))({'w': [x, x], 'b': x})", ("p['b']", "p['w'][1]"), "g"),
        ("jacfwd(g)({'w': [1.0, 2.0], 'b': 3.0})", ("p['b']", "p['w'][1]"), "g"),
        ("lax.scan(lambda c, y: (f(c, y), y), 0.0, x)", ("c", "y"), "<lambda>"),
        ("lax.cond(x[0] < 5, lambda v: f(v, 1.0), jnp.sin, x[1])", ("v",), "<lambda>"),
    ],
)
def test_arguments_by_name(user, program, depends, function):
    source = (
        "from sagax import jit, vmap, grad, jvp, jacfwd, lax\nimport sagax.numpy as jnp\n"
        "x = jnp.arange(3.0)\n"
        "def f(a, b):\n    c = jnp.sin(a) + b\n    return c * float(c)\n"
        "def g(p):\n    return f(p['w'][1], p['b'])\n"
        f"try:\n    {program}\nexcept TypeError as error:\n    caught = error\n"
    )
    found = user(source).caught.explain()
    assert (found.depends, found.function) == (depends, function)
    assert (found.primary.text, found.primary.line) == ("float(c)", 6)


@pytest.mark.usefixtures("tests_are_a_library")
def test_every_equation_knows_its_expression(user):
    """Backwards, and through jit, vmap and custom rules, as written by the user."""
    source = (
        "from sagax import jit, vmap, grad, custom_vjp, make_jaxpr\nimport sagax.numpy as jnp\n"
        "@custom_vjp\ndef h(x):\n    return jnp.sin(x)\n"
        "def bwd(r, ct):\n    return (jnp.log(r) * ct,)\n"
        "h.defvjp(lambda x: (jnp.sin(x), jnp.exp(x)), bwd)\n"
        "def f(x):\n    y = jnp.sqrt(x)\n    return (h(y) * x).sum()\n"
        "jaxpr = make_jaxpr(vmap(grad(jit(f))))(jnp.ones((2, 3)))\n"
    )
    jaxpr = user(source).jaxpr.jaxpr
    found: dict[str, set[str]] = {}

    def look(program):
        for eqn in program.eqns:
            span = spans.user_span(eqn.traceback)
            assert span is not None
            found.setdefault(eqn.primitive.name, set()).add(span.text)
            for inner in subjaxprs(eqn.params):
                look(inner)

    look(jaxpr)
    assert found["sqrt"] == {"jnp.sqrt(x)"}
    assert found["sin"] == {"jnp.sin(x)"} and found["exp"] == {"jnp.exp(x)"}
    assert found["log"] == {"jnp.log(r)"}
    assert found["mul"] <= {"jnp.sqrt(x)", "jnp.log(r) * ct", "h(y) * x"}


def equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in subjaxprs(eqn.params):
            yield from equations(inner)


def test_the_stack_around_a_traced_function_is_kept_once(user):
    """Each equation holds the frames inside of it only; whoever asks sees the calls outside too."""
    source = (
        "from sagax import jit, make_jaxpr\nimport sagax.numpy as jnp\n"
        "@jit\ndef inner(x):\n    return jnp.sin(x) * 2\n"
        "def outer(x):\n    return inner(x + 1)\n"
        "def called(n):\n    return make_jaxpr(outer)(1.0) if n == 0 else called(n - 1)\n"
    )
    shallow, deep = (
        list(equations(user(f"{source}made = called({n})\n", f"of_{n}.py").made.jaxpr))
        for n in (0, 40)
    )
    assert [len(e.inner.raw_frames()[0]) for e in shallow] == [
        len(e.inner.raw_frames()[0]) for e in deep
    ]
    sine = next(e for e in deep if e.primitive.name == "sin")
    spans_of_it = [s.text for s in spans.user_spans(sine.traceback, 50)]
    assert spans_of_it[-3:] == ["make_jaxpr(outer)(1.0)", "inner(x + 1)", "jnp.sin(x)"]
    assert spans_of_it.count("called(n - 1)") == 40
    assert spans.entered(sine.traceback, 3) == [1, 2]


def test_one_call_of_the_users_is_captured_once(user):
    source = (
        "import sagax\nimport sagax.numpy as jnp\nfrom sagax import grad, make_jaxpr\n"
        "jaxpr = make_jaxpr(jnp.var)(jnp.ones(3))\n"
        "back = make_jaxpr(grad(lambda x: sagax.lax.tan(x)))(1.0)\n"
    )
    ran = user(source)
    for made in (ran.jaxpr, ran.back):
        found = list(equations(made.jaxpr))
        assert len(found) > 2
        stacks = {id(getattr(e.inner, "traceback", e.inner)) for e in found if e.inner is not None}
        assert len(stacks) == 1, [str(e.primitive) for e in found]


def test_rules_and_methods_of_the_users_keep_their_own_lines(user):
    """What they compute was written in them, though an operation of sagax calls them."""
    source = (
        "import sagax.numpy as jnp\nfrom sagax import make_jaxpr, vmap\n"
        "from sagax.custom_batching import custom_vmap\n"
        "@custom_vmap\ndef f(x):\n    return jnp.sin(x)\n"
        "@f.def_vmap\ndef rule(size, mapped, x):\n    return jnp.cos(x), True\n"
        "class Held:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __jax_array__(self):\n        return jnp.exp(self.x)\n"
        "mapped = make_jaxpr(vmap(f))(jnp.ones(3))\n"
        "held = make_jaxpr(lambda x: jnp.add(Held(x), 1.0))(1.0)\n"
    )
    ran = user(source)
    found = {
        e.primitive.name: spans.user_span(e.traceback).text
        for made in (ran.mapped, ran.held)
        for e in equations(made.jaxpr)
    }
    assert found == {
        "cos": "jnp.cos(x)",
        "exp": "jnp.exp(self.x)",
        "add": "jnp.add(Held(x), 1.0)",
    }
