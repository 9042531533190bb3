"""Dimension variables from the sizes of arguments."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dims_programs import NAMES, expressions, numeric, symbolic
from sagax._src.core import dims
from sagax._src.core.dims.solve import positive_roots


def solve(specs, shapes, constraints=(), known=None):
    """Solve for shapes given as text, one or a list."""
    if isinstance(specs, str):
        specs, shapes = [specs], [shapes]
    scope = dims.SymbolicScope(constraints)
    pairs = [
        (dims.symbolic_shape(text, scope=scope), shape)
        for text, shape in zip(specs, shapes, strict=True)
    ]
    return dims.solve_dims(pairs, known=known)


@pytest.mark.parametrize(
    "specs, shapes, expected",
    [
        ("b, b, 2*d", (3, 3, 4), {"b": 3, "d": 2}),
        ("b, 7", (5, 7), {"b": 5}),
        ("b - 3", (0,), {"b": 3}),
        ("5 - b", (1,), {"b": 4}),
        ("3", (3,), {}),
        # Not linear, with a single solution.
        ("a*a", (16,), {"a": 4}),
        ("a*a", ((10**9 + 7) ** 2,), {"a": 10**9 + 7}),
        ("a*a + a", (12,), {"a": 3}),
        ("a*a - 6*a + 10", (1,), {"a": 3}),
        ("a^3 - 2*a", (21,), {"a": 3}),
        ("a*b", (1,), {"a": 1, "b": 1}),
        (["a*b", "a"], [(12,), (3,)], {"a": 3, "b": 4}),
        (["a*b + c", "a", "b"], [(17,), (3,), (5,)], {"a": 3, "b": 5, "c": 2}),
        # Systems over several dimensions and arguments.
        (["a + b", "a - b"], [(12,), (4,)], {"a": 8, "b": 4}),
        ("a + b, b + c, a + c", (5, 9, 8), {"a": 2, "b": 3, "c": 6}),
        ("a*b, b*c, a*c", (6, 15, 10), {"a": 2, "b": 3, "c": 5}),
        ("a*b, a + b, a - b", (12, 8, 4), {"a": 6, "b": 2}),
        # Operations.
        ("max(a, 4)", (12,), {"a": 12}),
        ("floordiv(a, 2), mod(a, 2)", (7, 1), {"a": 15}),
        ("floordiv(a, 3), mod(a, 4), min(a, 9)", (2, 3, 7), {"a": 7}),
    ],
)
def test_solutions(specs, shapes, expected):
    solution = solve(specs, shapes)
    assert solution.error is None
    assert solution.env == expected


@pytest.mark.parametrize(
    "specs, shapes, constraints, expected",
    [
        ("a, b", (12, 6), ["a == 2*b"], {"b": 6}),
        ("a*b", (12,), ["a >= b", "b >= 3"], {"a": 4, "b": 3}),
        ("a*b, a + b", (12, 7), ["a >= b"], {"a": 4, "b": 3}),
        ("max(a, b), min(a, b) + 1", (5, 4), ["a >= b"], {"a": 5, "b": 3}),
        ("floordiv(a, 2)", (7,), ["mod(a, 2) == 0"], {"a": 14}),
        (["c", "a*b"], [(3,), (12,)], ["a == c + 1"], {"c": 3, "b": 3}),
        (["c", "a*b"], [(3,), (12,)], ["a >= c", "b >= c"], None),
    ],
)
def test_constraints_single_out_a_solution(specs, shapes, constraints, expected):
    solution = solve(specs, shapes, constraints)
    if expected is None:
        assert solution.kind == "ambiguous"
    else:
        assert solution.env == expected


def test_given_values():
    assert solve("a*k", (12,), known={"k": 3}).env == {"k": 3, "a": 4}
    assert solve("4", (4,), known={"k": 3}).env == {"k": 3}
    assert solve("a", (4,), known={"a": 4}).env == {"a": 4}
    assert "'a' = 5 as given" in solve("a", (4,), known={"a": 5}).error
    assert solve("b", (4,), ["a == 2*b"], known={"a": 8}).env == {"a": 8, "b": 4}
    assert solve("b", (4,), ["a == 2*b"], known={"a": 9}).kind == "inconsistent"
    assert solve("b", (4,), known={"k": 0}).kind == "positive"


def test_the_page_of_shape_polymorphism():
    assert solve("b, b, 2*d", (3, 3, 5)).error.splitlines() == [
        "Input shapes do not match the polymorphic shapes specification.",
        "Division had remainder 1 when computing the value of 'd'.",
        "The size 5 of args[0].shape[2] is specified as '2*d'.",
        "Using the following polymorphic shapes specifications:",
        "  args[0].shape = (b, b, 2*d).",
        "Obtained dimension variables: 'b' = 3 from specification 'b' for dimension"
        " args[0].shape[0] (= 3).",
        "Please see https://jax.readthedocs.io/en/latest/export/shape_poly.html#shape-assertion-errors"
        " for more details.",
    ]


@pytest.mark.parametrize(
    "specs, shapes, constraints, kind, words",
    [
        (
            "b",
            (3, 4),
            [],
            "rank",
            "Rank mismatch for args[0]: expected (b,) and called with (3, 4)",
        ),
        (
            "b, 4",
            (3, 5),
            [],
            "constant",
            "Shape mismatch for args[0].shape[1] (expected same const",
        ),
        ("b", (0,), [], "positive", "Expected value >= 1 for dimension variable 'b'."),
        ("b + 3", (2,), [], "positive", "'b' = -1 from specification 'b + 3'"),
        (
            ["a + b", "a"],
            [(5,), (5,)],
            [],
            "positive",
            "Expected value >= 1 for dimension variable",
        ),
        ("2*b", (5,), [], "remainder", "Division had remainder 1 when computing the value of 'b'."),
        (["a*b", "a"], [(12,), (5,)], [], "remainder", "Division had remainder 2"),
        (
            "b, b",
            (3, 4),
            [],
            "inconsistent",
            "Found inconsistency between dimension size args[0].shape[1] (= 4) and the"
            " specification 'b' (= 3).",
        ),
        ("a*a", (17,), [], "inconsistent", "No value of 'a' gives the size 17 of args[0].shape[0]"),
        ("a + b, a - b", (12, 5), [], "inconsistent", "No values of {'a', 'b'} give the sizes"),
        ("a*b", (7,), ["a >= 2", "b >= 2"], "inconsistent", "No values of {'a', 'b'}"),
        ("a, max(a, 4)", (11, 12), [], "inconsistent", "specification 'max(a, 4)' (= 11)"),
        ("a, b", (9, 3), ["b >= 5"], "constraint", "the symbolic shape constraint b >= 5."),
        ("a, b", (9, 3), ["b >= 5"], "constraint", "Expected 'b - 5' to be >= 0, but found -2."),
        ("a", (9,), ["mod(a, 5) == 0"], "constraint", "Expected 'mod(a, 5)' to be 0, but found 4."),
        (
            "mod(a, 3)",
            (1,),
            [],
            "unsolved",
            "Cannot solve for values of dimension variables {'a'}.",
        ),
        ("a - b", (1,), [], "unsolved", "infinitely many or too many possibilities: '- b + a' = 1"),
    ],
)
def test_errors(specs, shapes, constraints, kind, words):
    solution = solve(specs, shapes, constraints)
    assert solution.kind == kind
    assert words in solution.error
    assert "Using the following polymorphic shapes specifications:\n  args[0].shape = (" in (
        solution.error
    )


@pytest.mark.parametrize(
    "specs, sizes, expected",
    [
        ("a*b", (12,), [(1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)]),
        ("a*a*b", (12,), [(1, 12), (2, 3)]),
        ("a*b, a + b", (12, 8), [(2, 6), (6, 2)]),
        ("a*b + a + b", (11,), [(1, 5), (2, 3), (3, 2), (5, 1)]),
        ("max(a, b), min(a, b)", (5, 3), [(3, 5), (5, 3)]),
        ("a^2 - 6*a + 10, b", (2, 1), [(2, 1), (4, 1)]),
        ("floordiv(a, 2), b", (7, 2), [(14, 2), (15, 2)]),
    ],
)
def test_ambiguous_specifications_list_all_candidates(specs, sizes, expected):
    solution = solve(specs, sizes)
    assert solution.kind == "ambiguous"
    assert solution.error.startswith("Cannot solve for values of dimension variables {'a'")
    found = [(c["a"], c.get("b", sizes[-1])) for c in solution.candidates]
    assert sorted(found) == expected
    assert f"a = {expected[0][0]}" in solution.error


def test_many_candidates_are_cut_short():
    solution = solve("a*b", (10**12,))
    assert solution.kind == "ambiguous"
    assert len(solution.candidates) == 6
    assert all(c["a"] * c["b"] == 10**12 for c in solution.candidates)
    assert "; ...." in solution.error


def test_labels():
    b, d = dims.symbolic_shape("b, d")
    error = dims.solve_dims([((b,), (2,)), ((b, d), (3, 1))], labels=["x", "params['w']"]).error
    assert "  x.shape = (b,),\n  params['w'].shape = (b, d)." in error
    assert "dimension size params['w'].shape[0] (= 3)" in error


LARGEST = 8


@given(st.lists(expressions(), min_size=1, max_size=3), *[st.integers(1, LARGEST)] * 3)
@settings(max_examples=150)
def test_a_solution_is_the_only_one(made, a, b, c):
    """With all variables up to 8: what is found is what trying all values finds."""
    scope = dims.SymbolicScope([f"{name} <= {LARGEST}" for name in NAMES])
    shape = dims.symbolic_shape(", ".join(NAMES), scope=scope)
    variables = dict(zip(NAMES, shape, strict=True))
    env = {"a": a, "b": b, "c": c}
    try:
        spec = tuple(symbolic(e, variables) for e in made)
        sizes = [numeric(e, env) for e in made]
        names = sorted(frozenset().union(*(dims.variables(d) for d in spec)))
        points = [
            dict(zip(names, values, strict=True))
            for values in itertools.product(range(1, LARGEST + 1), repeat=len(names))
        ]
        solutions = [p for p in points if [dims.evaluate(d, p) for d in spec] == sizes]
    except ZeroDivisionError:
        assume(False)
    solution = dims.solve_dims([(spec, sizes)])
    if len(solutions) == 1:
        assert solution.env == solutions[0]
        assert solution.error is None
    else:
        assert solution.kind == "ambiguous"
        assert all({**solution.env, **c} in solutions for c in solution.candidates)
        assert len(solution.candidates) == min(6, len(solutions))


@given(st.sets(st.integers(-3, 40), max_size=4), st.integers(-5, 5).filter(bool), st.integers(0, 9))
def test_roots(roots, factor, shift):
    """Of a polynomial that is known by its roots, and of one that has no other integer roots."""
    coefficients = [factor]
    for root in sorted(roots):
        shifted = [0, *coefficients]
        coefficients = [
            s - root * c for s, c in itertools.zip_longest(shifted, coefficients, fillvalue=0)
        ]
    if len(coefficients) > 1:
        assert positive_roots(coefficients) == sorted(r for r in roots if r >= 1)
        # times x^2 + x + 1 + shift, which has no real roots
        product = [0] * (len(coefficients) + 2)
        for i, c in enumerate(coefficients):
            for j, d in enumerate((1 + shift, 1, 1)):
                product[i + j] += c * d
        assert positive_roots(product) == sorted(r for r in roots if r >= 1)


def test_unsolvable():
    a, b = dims.symbolic_shape("a, b")
    assert dims.unsolvable([(a, b)]) == []
    assert dims.unsolvable([(a * b,)]) == []
    assert dims.unsolvable([(dims.max_dim(a, 4),)]) == []
    assert dims.unsolvable([(a % 2, b)]) == ["a"]
    assert dims.unsolvable([(a - b,)]) == ["a", "b"]
    assert dims.unsolvable([(a - b,)], given=["a"]) == []
    assert dims.unsolvable([(2, 3)]) == []
