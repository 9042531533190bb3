"""Symbolic sizes: arithmetic, printing, specifications, shapes, assumptions, errors."""

from __future__ import annotations

import copy
import doctest
import importlib
import math
import pickle
import random
import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dims_programs import NAMES, expressions, grid, numeric, symbolic
from sagax._src.core import dims
from sagax._src.core.dims import assume, expression
from sagax._src.diagnostics import errors

Inconclusive = errors.InconclusiveDimensionOperation


@pytest.fixture
def a():
    return dims.symbolic_shape("a")[0]


@pytest.fixture
def ab():
    return dims.symbolic_shape("a, b")


POINTS = grid({"a": (1, 2, 7), "b": (1, 3, 10), "c": (1, 4, 5)})


# Against jax --------------------------------------------------------------------------------------


def outcome(function, *args) -> str:
    """The result as text, or the name of the builtin error: what tests/oracle/dims.py records."""
    try:
        return str(function(*args))
    except Inconclusive:
        return "! InconclusiveDimensionOperation"
    except ValueError:
        return "! ValueError"
    except Exception as error:
        return f"! {type(error).__name__}"


def recorded_value(text: str):
    scope = dims.SymbolicScope()
    names = ("a", "b", "c", "d")
    variables = dict(zip(names, dims.symbolic_shape(", ".join(names), scope=scope), strict=True))
    return eval(text, {**vars(dims), **variables})


@pytest.mark.smoke
def test_prints_and_simplifies_as_jax(oracle_data):
    expected = oracle_data("dims")["written"]
    assert {text: outcome(recorded_value, text) for text in expected} == expected


def operations(text: str) -> int:
    return len(re.findall("floordiv|mod|max|min", text))


def test_random_expressions_print_as_in_jax_or_are_simpler(oracle_data):
    """Where the text differs, it has fewer operations and the same values."""
    scope = {"floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y, "max": max, "min": min}
    differ = 0
    expected = oracle_data("dims")["random"]
    for text, theirs in expected.items():
        ours = recorded_value(text)
        if str(ours) == theirs:
            continue
        differ += 1
        assert operations(str(ours)) < operations(theirs), (text, ours, theirs)
        for env in ({"a": 1, "b": 2, "c": 9, "d": 4}, {"a": 8, "b": 3, "c": 1, "d": 13}):
            value = eval(theirs.replace("^", "**"), scope, dict(env))
            assert dims.evaluate(ours, env) == value, (text, ours, theirs)
    assert differ < len(expected) / 10


def test_decides_what_jax_decides(oracle_data):
    for text, theirs in oracle_data("dims")["comparisons"]:
        ours = outcome(recorded_value, text)
        if theirs in ("True", "False"):
            assert ours == theirs, text


def test_specifications_as_jax(oracle_data):
    expected = oracle_data("dims")["specs"]
    assert {text: outcome(dims.symbolic_shape, text) for text in expected} == expected


def test_constraints_as_jax(oracle_data):
    expected = oracle_data("dims")["constraints"]

    def shape(text):
        return dims.symbolic_shape("a, b", constraints=[text])

    assert {text: outcome(shape, text) for text in expected} == expected


# Arithmetic ---------------------------------------------------------------------------------------


@given(expressions())
def test_arithmetic_commutes_with_evaluation(expression):
    variables = dict(zip(NAMES, dims.symbolic_shape(", ".join(NAMES)), strict=True))
    try:
        made = symbolic(expression, variables)
    except ZeroDivisionError:
        return
    for env in POINTS:
        try:
            expected = numeric(expression, env)
        except ZeroDivisionError:
            continue
        assert dims.evaluate(made, env) == expected


@given(expressions())
def test_text_reads_back_as_the_same_size(expression):
    shape = dims.symbolic_shape(", ".join(NAMES))
    try:
        made = symbolic(expression, dict(zip(NAMES, shape, strict=True)))
    except ZeroDivisionError:
        return
    assert dims.symbolic_shape(str(made), scope=shape[0].scope)[0] is made or type(made) is int


@given(expressions(), st.integers(1, 9), st.integers(1, 9))
def test_substitution_of_numbers_is_evaluation(expression, x, y):
    shape = dims.symbolic_shape(", ".join(NAMES))
    try:
        made = symbolic(expression, dict(zip(NAMES, shape, strict=True)))
        value = dims.substitute(made, {"a": x, "b": y, "c": 2})
    except ZeroDivisionError:
        return
    assert type(value) is int
    assert value == dims.evaluate(made, {"a": x, "b": y, "c": 2})


@given(expressions(), expressions())
def test_normal_form_of_sums_and_products(x, y):
    """Ring laws give the same object, not just an equal value."""
    variables = dict(zip(NAMES, dims.symbolic_shape(", ".join(NAMES)), strict=True))
    try:
        p, q = symbolic(x, variables), symbolic(y, variables)
    except ZeroDivisionError:
        return
    r = variables["a"]
    pairs = [
        (p + q, q + p),
        (p * q, q * p),
        ((p + q) * r, q * r + p * r),
        (p - p, 0),
        (p + q - q, p),
    ]
    for left, right in pairs:
        assert left is right or (type(left) is int and left == right)


def test_dimensions_work_with_all_integers(ab):
    a, b = ab
    assert str(a + np.int32(1)) == str(np.int32(1) + a) == "a + 1"
    assert str(np.int64(3) - a) == "- a + 3"
    assert str(np.array(3) * a) == str(a * np.array(3)) == "3*a"
    assert str(a ** np.int64(2)) == "a^2"
    assert str(math.prod((a, b, 2))) == "2*a*b"
    assert str(sum((a, b, 2))) == "b + a + 2"
    assert [str(x) for x in divmod(a, 3)] == ["floordiv(a, 3)", "mod(a, 3)"]
    assert [str(x) for x in divmod(7, a)] == ["floordiv(7, a)", "mod(7, a)"]
    assert +a is a
    assert 0 - (0 - a) is a
    assert str(-a) == "- a"
    assert a**0 == 1
    assert f"{a:>3}|" == "  a|"


def test_results_without_variables_are_ints(ab):
    a, b = ab
    for value in (a - a, (a + b) - (b + a) + 3, a * 0, (6 * a + 4) % 3, dims.min_dim(a, 1)):
        assert type(value) is int


def test_the_same_expression_is_the_same_object(ab):
    a, b = ab
    assert (a + b) // 2 is (b + a) // 2
    assert 2 * a * b - b is -b + a * b * 2
    assert not isinstance(a, int)


def test_copies_and_pickles(ab):
    a, b = ab
    e = dims.max_dim(a // 2, b) * b**2 - 3
    assert copy.copy(e) is e
    assert copy.deepcopy((e, a.scope)) == (e, a.scope)
    scope, again, b_again = pickle.loads(pickle.dumps((a.scope, e, b)))
    assert str(again) == str(e)
    assert again.scope is scope
    assert b_again is dims.symbolic_shape("b", scope=scope)[0]


def test_threads_agree_on_one_object():
    scope = dims.SymbolicScope()
    made: list[object] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        for n in range(200):
            a, b = dims.symbolic_shape("a, b", scope=scope)
            made.append((n, (a + n) * b // 3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(n, id(e)) for n, e in made}) == 200


def test_hash_values_do_not_collide(ab):
    """Python gives -1 and -2 the same hash; equal hashes would set off decisions in dicts."""
    a, b = ab
    made = [i * a + j * b + k for i in range(-3, 4) for j in range(-3, 4) for k in (-2, -1, 1)]
    made = [e for e in made if dims.is_dim(e)]
    with dims.assumptions() as assumed:
        table = {e: str(e) for e in made}
        assert all(table[e] == str(e) for e in made)
        assert len({hash(e) for e in made}) == len(made)
    assert len(assumed) == 0


def test_evaluate_variables_substitute(ab):
    a, b = ab
    e = dims.max_dim(a * b, a // 2) + 1
    assert dims.variables(e) == {"a", "b"}
    assert dims.variables(7) == frozenset()
    assert dims.evaluate(5, {}) == 5
    assert str(dims.substitute(e, {"a": 3 * b})) == "3*b^2 + 1"
    with pytest.raises(KeyError, match="'b' has no value; there are values for: a"):
        dims.evaluate(b, {"a": 1})
    other = dims.symbolic_shape("n")[0]
    assert str(dims.substitute(a % 3, {"a": other + 1})) == "mod(n + 1, 3)"


# Values: what is no size --------------------------------------------------------------------------


@pytest.fixture
def seven():
    """Sizes become the number 7 in arithmetic with values, as core makes them traced values."""
    before = expression._dim_as_value
    dims.set_dim_as_value(lambda d: np.float32(7))
    yield
    dims.set_dim_as_value(before)


def test_arithmetic_with_values_converts(seven, ab):
    a, b = ab
    assert a * 1.5 == 10.5
    assert 1.5 + a == 8.5
    assert a / 2 == 3.5
    assert 14 / a == 2
    assert a / b == 1
    assert a**b == 7.0**7
    assert 2**a == 128
    assert (a * np.ones(2)).tolist() == [7, 7]
    assert (np.ones(2) - a).tolist() == [-6, -6]
    assert (a < 7.5) and not (a >= 7.5)
    assert (a == np.array([7.0, 8.0])).tolist() == [True, False]
    with pytest.raises(TypeError, match="unsupported operand"):
        a + "text"


def test_arithmetic_with_values_without_a_conversion(a, monkeypatch):
    monkeypatch.setattr(expression, "_dim_as_value", None)
    for function in (
        lambda: a * 1.5,
        lambda: 1.5 * a,
        lambda: a / 2,
        lambda: 2**a,
        lambda: a < 0.5,
        lambda: a + "text",
        lambda: abs(a),
        lambda: np.ones(3) * a,
    ):
        with pytest.raises(TypeError):
            function()
    assert (a == 1.5) is False
    assert (a != "a") is True
    assert (a == None) is False  # noqa: E711


@pytest.mark.parametrize("use", [int, float, range, hex, lambda a: [1][a], lambda a: np.zeros(a)])
def test_no_constant(a, use):
    with pytest.raises(Inconclusive, match="^Symbolic dimension 'a' used in a context that requir"):
        use(a)


def test_errors_of_arithmetic(a):
    with pytest.raises(ZeroDivisionError, match="'a' by zero"):
        a // 0
    with pytest.raises(ZeroDivisionError):
        a % 0
    with pytest.raises(ValueError, match=r"negative powers: 'a' \*\* -1"):
        a**-1
    with pytest.raises(TypeError, match="symbolic_shape"):
        dims.Dim()
    (other,) = dims.symbolic_shape("c", constraints=["c >= 2"])
    for use in (lambda: a + other, lambda: a * other, lambda: a < other, lambda: other // a):
        with pytest.raises(ValueError, match="^Invalid mixing of symbolic scopes"):
            use()
    assert a != other


# Specifications and constraints -------------------------------------------------------------------


def test_placeholders():
    (b,) = dims.symbolic_shape("b")
    scope = b.scope
    assert str(dims.symbolic_shape("_, n, ...", like=(4, None, 5, 6))) == "(4, n, 5, 6)"
    assert dims.symbolic_shape("...", like=(b, 3), scope=scope) == (b, 3)
    assert dims.symbolic_shape(None, like=(5, 4)) == (5, 4)
    assert dims.symbolic_shape("b, ...", like=(9,), scope=scope) == (b,)
    assert dims.symbolic_shape("b, 3", like=(None, 3), scope=scope) == (b, 3)


def test_like_shares_no_scope():
    (b,) = dims.symbolic_shape("b")
    (b2,) = dims.symbolic_shape("b", like=(b,))
    assert b2.scope is not b.scope
    assert b2 != b


SYNTAX_ERRORS = [
    ("a + (b", 6, "expected ')'"),
    ("a b", 2, "a product needs '*'"),
    ("2a", 1, "a product needs '*'"),
    ("a//2", 1, "write floordiv(x, y)"),
    ("a % 2", 2, "write mod(x, y)"),
    ("a, foo(b)", 3, "unknown operation 'foo'"),
    ("a, floordiv(a, 0)", 3, "floordiv by zero"),
    ("a, 1.5", 3, "expected an integer"),
    ("a, max(a)", 8, "expected ','"),
    ("a^b", 2, "integer exponent"),
    ("a,, b", 2, "found ','"),
    ("(a, b", 5, "to close the shape"),
    ("a, b)", 4, "unexpected ')'"),
    ("a $ b", 2, "unexpected '$'"),
    ("a, _", 3, "no like="),
    ("a, ...", 3, "no like="),
]


@pytest.mark.parametrize("text, place, words", SYNTAX_ERRORS)
def test_syntax_errors_point_at_the_place(text, place, words):
    with pytest.raises(ValueError) as caught:
        dims.symbolic_shape(text)
    first, shown, caret = str(caught.value).splitlines()
    assert first.startswith(f"syntax error in symbolic shape {text!r}: ")
    assert words in first
    assert shown == "    " + text
    assert caret == "    " + " " * place + "^"


@pytest.mark.parametrize(
    "text, like, words",
    [
        ("a, 3", (5, 4), "different size 3 for known dimension 4"),
        ("_, 3", (None, 3), "no known size at position 0"),
        ("a, _", (1,), "no known size at position 1"),
        ("a, ...", (1, None), "does not know"),
        ("a, b, ...", (1,), "already 2 dimensions"),
        ("..., a", (1, 2), "must be the last"),
    ],
)
def test_errors_of_placeholders(text, like, words):
    with pytest.raises(ValueError, match=words):
        dims.symbolic_shape(text, like=like)


def test_errors_of_arguments():
    with pytest.raises(ValueError, match="shape_spec must be a string"):
        dims.symbolic_shape(3)
    with pytest.raises(ValueError, match="Cannot specify both a scope and constraints"):
        dims.symbolic_shape("a", scope=dims.SymbolicScope(), constraints=["a >= 2"])
    with pytest.raises(ValueError, match="a sequence of strings"):
        dims.SymbolicScope("a >= 2")
    with pytest.raises(ValueError, match="a sequence of strings"):
        dims.SymbolicScope([3])
    with pytest.raises(ValueError, match=r"write `x > y` as `x >= y \+ 1`"):
        dims.SymbolicScope(["a > 2"])


@pytest.mark.parametrize(
    "constraints",
    [
        ["a >= 2", "a <= 1"],
        ["a <= 0"],
        ["a == -1"],
        ["a == a + 1"],
        ["2*a == 2*b + 1"],
        ["a >= b + 1", "b >= c", "c >= a"],
        ["mod(a, 2) == 0", "mod(a, 4) == 1"],
        ["max(a, b) <= 3", "min(a, b) >= 4"],
        ["a*a <= 0"],
    ],
)
def test_contradictions(constraints):
    with pytest.raises(ValueError, match="Unsatisfiable constraint"):
        dims.SymbolicScope(constraints)


def constrained(constraints, text="a, b, c"):
    return dims.symbolic_shape(text, constraints=constraints)


@pytest.mark.parametrize(
    "constraints, text, expected",
    [
        (["a == 2*b"], "a, b, a*a", "(2*b, b, 4*b^2)"),
        (["a == 5"], "a, a + b", "(5, b + 5)"),
        (["a == b", "b == c"], "a, b, c", "(c, c, c)"),
        (["a == b", "b == a"], "a, b", "(b, b)"),
        (["a*b == 20"], "a*b, a*b*c, a", "(20, 20*c, a)"),
        (["2*b == a"], "a, b", "(2*b, b)"),
        (["mod(a, 2) == 0"], "mod(a, 2), a", "(0, a)"),
        (["floordiv(a, 2) == b"], "2*floordiv(a, 2)", "(2*b,)"),
        (["a >= b"], "max(a, b), min(a, b), max(a, c)", "(a, b, max(a, c))"),
        (["a == 2*floordiv(a, 2)"], "a, 4*floordiv(a, 2)", "(a, 2*a)"),
        (["a + b == 2*c"], "a, b, 2*c", "(a, b, b + a)"),
        (["a + 1 == b"], "a, b", "(a, a + 1)"),
        (["a == b*c", "c == a"], "b*c - c", "(0,)"),
    ],
)
def test_equalities_rewrite(constraints, text, expected):
    assert str(constrained(constraints, text)) == expected


def test_relations_and_completion():
    a, b = constrained(["a == 2*b", "b >= 3"], "a, b")
    scope = b.scope
    assert scope.complete({"b": 4}) == {"a": 8, "b": 4}
    assert [r.text for r in scope.relations] == ["a == 2*b", "b >= 3"]
    assert all(r.holds({"a": 8, "b": 4}) for r in scope.relations)
    assert [r.holds({"a": 5, "b": 2}) for r in scope.relations] == [False, False]


# Assumptions --------------------------------------------------------------------------------------


def test_undecided_equalities_are_recorded_once(ab):
    a, b = ab
    with dims.assumptions() as assumed:
        assert (a == 1) is False
        assert (1 == a) is False
        assert (a != b) is True
        assert 4 not in (a, 7)
        assert (a, b) != (a, 3)
        # These are decided.
        assert a != 0
        assert a == a
        assert a != a + 1
        assert 2 * a != 3
        assert a != "a"
    assert [str(x) for x in assumed] == ["a != 1", "a != b", "a != 4", "b != 3"]
    first = next(iter(assumed))
    assert (first.kind, first.lhs, first.rhs) == ("!=", a, 1)
    assert first.holds({"a": 2}) and not first.holds({"a": 1})
    assert first in assumed


def test_truth_of_a_size(a):
    with dims.assumptions() as assumed:
        assert a
        assert a - 1
    assert [str(x) for x in assumed] == ["a - 1 != 0"]


def test_collectors_nest_and_end(a):
    with dims.assumptions() as outer:
        with dims.assumptions() as inner:
            a == 1  # noqa: B015
        with dims.no_assumptions():
            a == 2  # noqa: B015
        a == 3  # noqa: B015
    a == 4  # noqa: B015
    assert [str(x) for x in inner] == ["a != 1"]
    assert [str(x) for x in outer] == ["a != 3"]


def test_other_threads_do_not_collect_here(a):
    with dims.assumptions() as assumed:
        thread = threading.Thread(target=lambda: a == 1)
        thread.start()
        thread.join()
    assert len(assumed) == 0


def test_where_comes_from_the_locator(a):
    calls: list[int] = []

    def locate() -> str:
        calls.append(1)
        return f"line {len(calls)}"

    before = assume._locate
    dims.set_locator(locate)
    try:
        with dims.assumptions() as assumed:
            a == 1  # noqa: B015
            a == 1  # noqa: B015
            a == 2  # noqa: B015
    finally:
        dims.set_locator(before)
    assert [x.where for x in assumed] == ["line 1", "line 2"]


def test_strict_refuses_with_a_constraint_that_settles(a):
    with dims.assumptions(strict=True):
        assert a != 0
        with pytest.raises(Inconclusive) as caught:
            a == 1  # noqa: B015
    assert caught.value.facts["constraint"] == "a >= 2"
    assert "true for a = 1" in str(caught.value)
    assert "false for a = 2" in str(caught.value)
    (a,) = dims.symbolic_shape("a", constraints=["a >= 2"])
    with dims.assumptions(strict=True):
        assert a != 1


# Shapes -------------------------------------------------------------------------------------------


def test_static_and_dims(ab):
    a, b = ab
    assert dims.is_static((2, 3)) and not dims.is_static((2, a))
    assert dims.is_dim(a) and not dims.is_dim(2)
    assert dims.size((2, 3)) == 6 and dims.size(()) == 1
    assert dims.size((a, 0)) == 0
    assert str(dims.size((a, 3, b))) == "3*a*b"
    assert dims.shape_text((a,)) == "(a,)"
    assert dims.shape_text((a, 2)) == "(a, 2)"


@pytest.mark.smoke
def test_canonical_shape(a):
    given = (2, 3)
    assert dims.canonical_shape(given) is given
    for shape in ([2, 3], (np.int32(2), np.array(3)), np.array([2, 3]), range(2, 4)):
        result = dims.canonical_shape(shape)
        assert result == (2, 3)
        assert all(type(d) is int for d in result)
    assert dims.canonical_shape(4) == dims.canonical_shape(np.int64(4)) == (4,)
    assert dims.canonical_shape(a) == (a,)
    assert dims.canonical_shape((a, a - 5)) == (a, a - 5)
    assert dims.canonical_shape(()) == ()


@pytest.mark.parametrize(
    "shape, error, words",
    [
        ((2, 3.0), TypeError, r"new_sizes\[1\] must be an integer .*3\.0 \(float\)"),
        ((2, True), TypeError, r"new_sizes\[1\] must be an integer .*\(bool\)"),
        ((2, "3"), TypeError, r"new_sizes\[1\]"),
        ((2, None), TypeError, r"new_sizes\[1\]"),
        ((2, np.array([3])), TypeError, r"new_sizes\[1\]"),
        ((2, -1), ValueError, r"new_sizes\[1\] is negative: -1 in \(2, -1\)"),
        ("23", TypeError, "new_sizes must be .*'23'"),
        (None, TypeError, "new_sizes must be"),
        (2.5, TypeError, "new_sizes must be"),
    ],
)
def test_bad_shapes(shape, error, words):
    with pytest.raises(error, match=words):
        dims.canonical_shape(shape, "new_sizes")


def test_negative_symbolic_sizes(a):
    with pytest.raises(ValueError, match=r"shape\[1\] is negative: - a, .* for all sizes"):
        dims.canonical_shape((2, -a))
    dims.check_sizes((2, a - 1, a // 2))
    with pytest.raises(ValueError, match="negative size: - a"):
        dims.check_sizes((2, -a))
    with pytest.raises(Inconclusive) as caught:
        dims.check_sizes((2, a - 2))
    assert caught.value.facts["constraint"] == "a >= 2"


def test_same(ab):
    a, b = ab
    with dims.assumptions() as assumed:
        assert dims.same(2, 2) and not dims.same(2, 3)
        assert dims.same(a, a) and not dims.same(a, b) and not dims.same(a, 1)
        assert dims.same(dims.max_dim(a, b), dims.max_dim(b, a))
        assert dims.same_shape((a, 2, 1000), (a, 2, int("1000")))
        assert not dims.same_shape((a, 2), (a, 3))
        assert not dims.same_shape((a, 2), (a, 2, 2))
        assert not dims.same_shape((a, 2), (2, a))
        assert not dims.same(a, dims.symbolic_shape("a")[0])
    assert len(assumed) == 0


def test_broadcast_dim(ab):
    a, b = ab
    assert dims.broadcast_dim(3, 3) == dims.broadcast_dim(1, 3) == dims.broadcast_dim(3, 1) == 3
    assert dims.broadcast_dim(0, 1) == 0
    assert dims.broadcast_dim(a, 1) is dims.broadcast_dim(1, a) is dims.broadcast_dim(a, a) is a
    for x, y in [(2, 3), (a, b), (a, 3), (a, a + 1)]:
        assert dims.broadcast_dim(x, y) is None


@pytest.mark.parametrize(
    "s1, s2, expected",
    [
        ("6, 4", "8", "3"),
        ("6, 4", "8, -1", "3"),
        ("0", "0", "1"),
        ("0", "3", "0"),
        ("a, b", "b", "a"),
        ("2*a, b", "2, -1", "a*b"),
        ("a*b + a", "b + 1", "a"),
        ("4*b, 5", "2, 5", "2*b"),
        ("a, 0", "0", "1"),
        ("a, 0", "b", "0"),
    ],
)
def test_divide_sizes(s1, s2, expected):
    scope = dims.SymbolicScope()
    shapes = [dims.symbolic_shape(s, scope=scope) for s in (s1, s2)]
    assert str(dims.divide_sizes(*shapes)) == expected


def test_divide_sizes_uses_constraints():
    a, _ = dims.symbolic_shape("a, b", constraints=["mod(a, 2) == 0"])
    assert str(dims.divide_sizes((a,), (2, -1))) == "floordiv(a, 2)"


@pytest.mark.parametrize(
    "s1, s2, remainder",
    [
        ("5", "2, -1", "The remainder 1 should be 0."),
        ("5", "0, -1", "The size of (0, -1) is 0"),
        ("b", "2, -1", "The remainder mod(b, 2) should be 0."),
        ("a, b", "3", "The remainder mod(a*b, 3) should be 0."),
        ("a", "0, -1", "The size of (0, -1) is 0"),
    ],
)
def test_divide_sizes_unevenly(s1, s2, remainder):
    scope = dims.SymbolicScope()
    x, y = (dims.symbolic_shape(s, scope=scope) for s in (s1, s2))
    with pytest.raises(Inconclusive) as caught:
        dims.divide_sizes(x, y)
    message = f"Cannot divide evenly the sizes of shapes {dims.shape_text(x)} and"
    assert str(caught.value).startswith(f"{message} {dims.shape_text(y)}.\n{remainder}")
    constraint = caught.value.facts.get("constraint")
    if constraint is not None:  # which settles it
        scope = dims.SymbolicScope([constraint])
        dims.divide_sizes(*(dims.symbolic_shape(s, scope=scope) for s in (s1, s2)))


SIZES = range(7)


def at(e, **env: int) -> int:
    return dims.evaluate(e, env)


def test_windows_and_dilation(a):
    for window in (1, 2, 3, 5):
        for stride in (1, 2, 3):
            symbolic_count = dims.stride_dim(a, window, stride)
            for n in SIZES:
                starts = [s for s in range(0, n, stride) if s + window <= n]
                assert dims.stride_dim(n, window, stride) == len(starts)
                if n:
                    assert at(symbolic_count, a=n) == len(starts)
    for dilation in (1, 2, 3):
        for n in SIZES:
            extent = len(range(0, n * dilation, dilation)) and (n - 1) * dilation + 1
            assert dims.dilate_dim(n, dilation) == extent
            if n:
                assert at(dims.dilate_dim(a, dilation), a=n) == extent
            if n > 1:
                assert at(dims.dilate_dim(a - 1, dilation), a=n) == dims.dilate_dim(n - 1, dilation)


def test_small_helpers(ab):
    a, b = ab
    assert dims.max_dim(2, 3) == 3 and dims.min_dim(2, 3) == 2
    assert dims.max_dim(a, 1) is a and dims.min_dim(a, 1) == 1
    assert dims.clamp_dim(9, 0, 5) == 5 and dims.clamp_dim(-9, 0, 5) == 0
    assert dims.non_negative(a) is a and str(dims.non_negative(a - b)) == "max(- b + a, 0)"
    for n in SIZES:
        for k in (1, 2, 5):
            assert dims.ceil_div(n, k) == math.ceil(n / k)
            if n:
                assert at(dims.ceil_div(a, k), a=n) == math.ceil(n / k)
                assert at(dims.ceil_div(a, b), a=n, b=k) == math.ceil(n / k)


@given(
    st.tuples(*[st.none() | st.integers(-6, 6)] * 2), st.sampled_from([None, 1, 2, 3, -1, -2, -3])
)
def test_slices(ends, step):
    index = slice(*ends, step)
    (d,) = dims.symbolic_shape("d")
    made = dims.canonical_slice(index, d)
    for n in range(8):
        taken = list(range(n))[index]
        start, size, stride = dims.canonical_slice(index, n)
        assert [start + i * stride for i in range(size)] == taken
        assert size or start == 0
        if n:
            start, size, stride = (at(x, d=n) for x in made)
            assert [start + i * stride for i in range(size)] == taken


def test_symbolic_slice_ends(ab):
    a, b = ab
    for i, j, n in [(1, 3, 5), (2, 2, 4), (5, 9, 3)]:
        start, size, step = dims.canonical_slice(slice(a, b), 4 * a)
        assert (start, step) == (a, 1)
        assert at(size, a=i, b=j) == len(range(*slice(i, j).indices(4 * i)))
        start, size, step = dims.canonical_slice(slice(-b, None), a)
        assert at(size, a=n, b=j) == len(range(*slice(-j, None).indices(n)))
    with pytest.raises(Inconclusive):
        dims.canonical_slice(slice(a - b, None), a)
    with pytest.raises(ValueError, match="step cannot be zero"):
        dims.canonical_slice(slice(None, None, 0), a)


# multiples ------------------------------------------------------------------------------------------


def test_the_quotient_of_a_multiple():
    n, b = dims.symbolic_shape("n, b", constraints=["mod(n, 4) == 0"])
    assert 4 * (n // 4) is n
    assert b * 2 * (n // 2) is b * n
    assert (b * n) % 2 == 0 == n % 4
    assert 2 * ((b * n) // 2) is b * n
    assert (3 * n + 2) // 2 is 6 * (n // 4) + 1
    assert (n * n) % 16 == 0
    assert n >= 4


def test_the_quotient_where_the_remainder_is_known():
    (n,) = dims.symbolic_shape("n", constraints=["mod(n, 3) == 1"])
    assert 3 * (n // 3) is n - 1
    n, k = dims.symbolic_shape("n, k", constraints=["mod(n, k) == 0"])
    assert k * (n // k) is n
    n, m = dims.symbolic_shape(
        "n, m", constraints=["mod(n, 2) == 0", "mod(m, 2) == 0", "n >= m + 3"]
    )
    assert n - m >= 4


def test_random_multiples():
    """Quotients and remainders, with all that is known used, against those of numbers."""
    rng = random.Random(0)
    for _ in range(300):
        steps = {name: rng.choice([1, 2, 3, 4, 6]) for name in "nmb"}
        known = [f"mod({name}, {step}) == 0" for name, step in steps.items() if step > 1]
        sizes = dict(zip("nmb", dims.symbolic_shape("n, m, b", constraints=known)))
        e = rng.randint(-3, 3)
        for _ in range(2):
            term = rng.choice([-2, -1, 1, 3])
            for name in rng.choices("nmb", k=rng.randint(1, 2)):
                term = term * sizes[name]
            e = e + term
        divisor = rng.choice([2, 3, 4, 6, 8, 12])
        quotient, rest = divmod(e, divisor)
        for _ in range(4):
            env = {name: step * rng.randint(1, 60) for name, step in steps.items()}
            value = dims.evaluate(e, env)
            assert divmod(value, divisor) == (
                dims.evaluate(quotient, env),
                dims.evaluate(rest, env),
            )


@pytest.mark.parametrize("name", ["assume", "expression", "scope", "shapes", "solve"])
def test_examples(name):
    module = importlib.import_module(f"sagax._src.core.dims.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0
