"""Small edits of the expression at fault, and parameters of functions that the library calls."""

from __future__ import annotations

import ast
import sys

import pytest

import sagax
from autofix.test_repairs import FILE, program, repaired
from sagax._autofix.evaluate_edits import evaluate_edits
from sagax._autofix.repairs.case import Case, Facts, Question
from sagax._autofix.repairs.passed_functions import exchange_parameters
from sagax._autofix.repairs.small_edits import KIND, edit_expression
from sagax._autofix.repairs.source_file import Source
from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.model import Diagnostic, Label, Span


def failure(text):
    """The error of a program, whose code has the name of a file."""
    try:
        exec(compile(text, FILE, "exec"), {})
    except Exception as error:
        return error
    raise AssertionError("the program does not fail")


def edited(text, expression, message="no fit", caller=None):
    """The programs after the small edits with which an expression can be evaluated, in order."""
    source = Source(FILE, text)
    at, *calls = [
        source.span(n)
        for wanted in (expression, caller)
        for n in ast.walk(source.tree)
        if isinstance(n, ast.expr) and source.code(n) == wanted
    ]
    diagnostic = Diagnostic("", "TypeError", message, labels=(Label(at, primary=True),))
    facts = Facts(diagnostic, ("TypeError",), (*calls, at))
    asking = Case(facts, {FILE: source}, strict=True)
    assert not list(edit_expression(asking))
    error = failure(text)
    parts = {span: Question(at, span.text) for span in asking.requests}
    known = evaluate_edits(error, list(parts.values()))
    measured = {span: [known[question]] for span, question in parts.items() if question in known}
    evaluated = evaluate_edits(error, asking.questions)
    case = Case(facts, {FILE: source}, measured, strict=True, evaluated=evaluated)
    return [(apply(text, c.edits), c) for c in edit_expression(case)]


CASES = {
    "an axis that broadcasting needs": (
        """
        import numpy as np
        rows, center = np.ones((4, 3)), np.ones(4)
        gaps = rows - center
        """,
        "rows - center", "rows - center[:, None]",
    ),
    "the axis that a reduction drops": (
        """
        import numpy as np
        rows = np.ones((4, 3))
        gaps = rows - rows.mean(axis=1)
        """,
        "rows - rows.mean(axis=1)", "rows - rows.mean(axis=1, keepdims=True)",
    ),
    "an option of the definition of a name": (
        """
        import numpy as np
        rows = np.ones((4, 3))
        center = rows.mean(axis=1)
        gaps = rows - center
        """,
        "rows - center", "center = rows.mean(axis=1, keepdims=True)",
    ),
    "arguments in another order": (
        """
        import numpy as np
        def draw(seed, shape, low): return np.full(shape, low + seed)
        noise = draw(3, 1, (2,))
        """,
        "draw(3, 1, (2,))", "draw(3, (2,), 1)",
    ),
    "numbers that make a tuple": (
        """
        import numpy as np
        table = np.zeros(4, 2)
        """,
        "np.zeros(4, 2)", "np.zeros((4, 2))",
    ),
    "a float for a size": (
        """
        import numpy as np
        rows = np.ones((4, 6))
        pairs = rows.reshape(2, 4, rows.shape[1] / 2)
        """,
        "rows.reshape(2, 4, rows.shape[1] / 2)", "rows.reshape(2, 4, rows.shape[1] // 2)",
    ),
    "an item of a tuple": (
        """
        import numpy as np
        grads = (np.ones(3),)
        step = grads.sum()
        """,
        "grads.sum", "grads[0].sum",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_edits_that_evaluate_are_proposed(case):
    body, expression, wanted = case
    found = edited(program(body), expression)
    assert any(wanted in text for text, _ in found), [text for text, _ in found]
    assert {c.kind for _, c in found} == {KIND}
    namespace = {}
    exec(found[0][0], namespace)  # what is proposed first runs


def test_a_size_where_the_caller_makes_an_operand():
    text = program("""
        import numpy as np
        def predict(w, x):
            return x @ w
        inputs = np.ones((4, 3))
        weights = np.zeros((2, 5))
        out = predict(weights, inputs)
    """)
    found = edited(text, "x @ w", "matmul: sizes 3 and 2 differ", "predict(weights, inputs)")
    assert any("weights = np.zeros((3, 5))" in after and c.assumes for after, c in found)


def test_arguments_of_the_user_s_function_in_another_order():
    text = program("""
        import numpy as np
        def predict(w, x):
            return x @ w
        out = predict(np.ones((4, 3)), np.zeros((3, 5)))
    """)
    call = "predict(np.ones((4, 3)), np.zeros((3, 5)))"
    found = edited(text, "x @ w", "matmul: sizes 5 and 4 differ", call)
    assert any("predict(np.zeros((3, 5)), np.ones((4, 3)))" in after for after, _ in found)


def test_what_does_not_evaluate_is_not_proposed():
    text = program("""
        import numpy as np
        rows, center = np.ones((4, 3)), np.ones(5)
        gaps = rows @ center
    """)
    assert not edited(text, "rows @ center")


def test_the_shape_of_an_operand_is_kept_if_possible():
    text = CASES["an axis that broadcasting needs"][0]
    found = edited(program(text), "rows - center")
    ranks = {after.split("\n")[2]: c.rank for after, c in found}
    assert ranks["gaps = rows - center[:, None]"] < ranks["gaps = rows.T - center"]


def test_an_order_of_arguments_is_a_guess():
    found = edited(program(CASES["arguments in another order"][0]), "draw(3, 1, (2,))")
    assert all(c.assumes for text, c in found if "draw(3, (2,), 1)" in text)


def test_texts_are_evaluated_in_the_frame_that_failed():
    text = program("""
        def f(x):
            y = x + 1
            return y.size
        f(2)
    """)
    at = Span(FILE, 3, 11, 3, 17)
    wanted = [Question(at, t) for t in ("y", "x", "f", "z", "y / 0", "[y for _ in (1,)]")]
    found = {q.text: m for q, m in evaluate_edits(failure(text), wanted).items()}
    assert sorted(found) == ["[y for _ in (1,)]", "f", "x", "y"]
    assert (found["y"].value, found["x"].value) == (3, 2)


def test_what_takes_long_is_given_up():
    text = program("""
        def f(x):
            return x.size
        f(2)
    """)
    at = Span(FILE, 2, 11, 2, 17)
    wanted = [Question(at, "[i for i in iter(int, 1)]"), Question(at, "x")]
    assert [q.text for q in evaluate_edits(failure(text), wanted)] == ["x"]


MOMENTA = """
import jax
import jax.numpy as jnp
slopes = {"a": jnp.ones(2), "b": jnp.ones((3, 2))}
momenta = [jnp.zeros_like(leaf) for leaf in jax.tree.leaves(slopes)]
def blend(slopes, momenta):
    return jax.tree.map(lambda s, m: s + m, slopes, momenta)
momenta = blend(slopes, momenta)
"""
BLEND = "jax.tree.map(lambda s, m: s + m, slopes, momenta)"


def test_leaves_are_arranged_as_those_of_another_tree(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", sagax)
    monkeypatch.setitem(sys.modules, "jax.numpy", sagax.numpy)
    found = edited(program(MOMENTA), BLEND, caller="blend(slopes, momenta)")
    arranged = "jax.tree.unflatten(jax.tree.structure(slopes), jax.tree.leaves(momenta))"
    chosen = [(text, c) for text, c in found if arranged in text]
    assert chosen and not chosen[0][1].assumes
    names = {}
    exec(chosen[0][0], names)
    assert sorted(names["momenta"]) == ["a", "b"]


def test_a_list_of_leaves_keeps_the_structure_where_the_caller_makes_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", sagax)
    monkeypatch.setitem(sys.modules, "jax.numpy", sagax.numpy)
    found = edited(program(MOMENTA), BLEND, caller="blend(slopes, momenta)")
    wanted = "momenta = jax.tree.map(lambda leaf: jnp.zeros_like(leaf), slopes)"
    assert any(wanted in text.split("\n") for text, _ in found)


def test_leaves_of_other_shapes_are_not_arranged(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", sagax)
    monkeypatch.setitem(sys.modules, "jax.numpy", sagax.numpy)
    text = program(MOMENTA).replace("jnp.zeros_like(leaf)", "jnp.zeros(leaf.shape[:1])")
    found = edited(text, BLEND, caller="blend(slopes, momenta)")
    assert not any("jax.tree.unflatten" in after for after, _ in found)


@pytest.mark.parametrize(("transform", "wanted"), [("fori_loop", True), ("jit", False)])
def test_parameters_of_a_function_that_the_library_calls_are_exchanged(transform, wanted):
    text = program("""
        from jax import lax
        def add_term(total, power):
            return 0.5 * total + table[power]
        def evaluate(start):
            return lax.fori_loop(0, 4, add_term, start)
    """)
    source = Source(FILE, text)
    frames = [
        source.span(n)
        for wanted in ("lax.fori_loop(0, 4, add_term, start)", "table[power]")
        for n in ast.walk(source.tree)
        if isinstance(n, ast.expr) and source.code(n) == wanted
    ]
    context = (f"tracing `evaluate` for jit, tracing `add_term` for {transform}",)
    diagnostic = Diagnostic("", "TypeError", "no index", context=context)
    case = Case(Facts(diagnostic, ("TypeError",), tuple(frames)), {FILE: source}, strict=True)
    found = [apply(text, c.edits) for c in exchange_parameters(case)]
    assert found == ([text.replace("(total, power)", "(power, total)")] if wanted else [])


PARAMETERS = {
    "a body without counter": (
        "relax() takes 1 positional argument but 2 were given", "lax.fori_loop(0, 9, relax, field)",
        """
        from jax import lax
        def relax(field):
            return 0.5 * field
        out = lax.fori_loop(0, 9, relax, field)
        """,
        "def relax(_, field):",
    ),
    "a body without scanned value": (
        "step() takes 1 positional argument but 2 were given", "lax.scan(step, 0.0, xs)",
        """
        from jax import lax
        def step(carry):
            return carry, carry
        out = lax.scan(step, 0.0, xs)
        """,
        "def step(carry, _):",
    ),
    "a branch without operand": (
        "f.<locals>.<lambda>() takes 0 positional arguments but 1 was given", "lax.cond(p, abs, lambda: 0.0, x)",
        """
        from jax import lax
        y = lax.cond(p, abs, lambda: 0.0, x)
        """,
        "y = lax.cond(p, abs, lambda _: 0.0, x)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETERS.values(), ids=PARAMETERS)
def test_functions_get_the_parameters_they_are_called_with(case):
    message, expression, body, wanted = case
    found = repaired("TypeError", program(body), expression, message=message)
    assert any(wanted in after.split("\n") for kind, after in found if kind == "parameters"), found
