"""while_loop, fori_loop, map and associative_scan."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

xs3 = np.arange(3, dtype=np.float32)

# while_loop ----------------------------------------------------------------------------------------


@case("while_loop", "argument: cond_fun", "True, of type bool", "a function")
def while_cond_not_callable(jx):
    jx.lax.while_loop(True, square, 1.0)


@case("while_loop", "argument: body_fun", "got: None", "a function")
def while_body_not_callable(jx):
    jx.lax.while_loop(lambda x: x < 3, None, 1.0)


@case("while_loop of <lambda>", "argument: cond_fun", "got: bool[3]", "a boolean of shape ()")
def while_cond_vector(jx):
    jx.lax.while_loop(lambda x: x < 3, lambda x: x + 1, xs3)


@case("while_loop of <lambda>", "argument: cond_fun", "got: int32[]", "a boolean of shape ()")
def while_cond_number(jx):
    jx.lax.while_loop(lambda x: x, lambda x: x - 1, 3)


@case("while_loop of <lambda>", "argument: cond_fun", "got: None", "a boolean of shape ()")
def while_cond_none(jx):
    jx.lax.while_loop(lambda x: None, lambda x: x + 1, 0)


@case(
    "while_loop of <lambda>", "argument: cond_fun", "a tuple of length 1", "a boolean of shape ()"
)
def while_cond_tuple(jx):
    jx.lax.while_loop(lambda x: (x < 3,), lambda x: x + 1, 0)


@case()
def while_cond_python_bool(jx):
    return jx.lax.while_loop(lambda x: False, lambda x: x + 1, 0)


@case("x (argument of <lambda>)", "tracing `<lambda>` in while_loop")
def while_cond_and(jx):
    jx.lax.while_loop(lambda x: x < 3 and x > -1, lambda x: x + 1, 0)


@case("while_loop of halve", "argument: init_val", "float32[]", "expected: int32[]")
def while_body_dtype(jx):
    def halve(n):
        return n / 2

    jx.lax.while_loop(lambda n: n > 1, halve, jx.numpy.int32(8))


@case("while_loop of <lambda>", "argument: init_val", "float32[6]", "float32[3]")
def while_body_shape(jx):
    jx.lax.while_loop(lambda x: x.sum() < 10, lambda x: jx.numpy.concatenate([x, x]), xs3)


@case("while_loop of <lambda>", "argument: init_val['x']", "complex64[]", "float32[]")
def while_body_leaf(jx):
    jx.lax.while_loop(
        lambda s: s["i"] < 3,
        lambda s: {"i": s["i"] + 1, "x": s["x"] * 1j},
        {"i": 0, "x": np.float32(1)},
    )


@case(
    "the carry input is a tuple of length 2, but the carry output is a list of length 2",
    "while_loop of <lambda>: body_fun output and input",
)
def while_body_structure(jx):
    jx.lax.while_loop(lambda s: s[0] < 3, lambda s: [s[0] + 1, s[1]], (0, 1.0))


@case(
    "the carry input is a leaf, but the carry output is None",
    "while_loop of body: body_fun output and input",
)
def while_body_none(jx):
    def body(x):
        x + 1

    jx.lax.while_loop(lambda x: x < 3, body, 0)


@case(
    "the carry input is a tuple of length 2, but the carry output is a tuple of length 3",
    "while_loop of <lambda>: body_fun output and input",
)
def while_body_more(jx):
    jx.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1], 0.0), (0, 1.0))


@case("while_unpacked_arguments.<locals>.<lambda>()", "tracing `<lambda>` in while_loop")
def while_unpacked_arguments(jx):
    jx.lax.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), (0, 1.0))


@case("while_loop", "argument: init_val", "str")
def while_init_text(jx):
    jx.lax.while_loop(lambda s: True, lambda s: s, "x")


@case("while_loop", "argument: init_val['o']", "Opaque")
def while_init_object(jx):
    jx.lax.while_loop(lambda s: s["i"] < 3, lambda s: s, {"i": 0, "o": Opaque()})


@case()
def while_init_empty(jx):
    return jx.lax.while_loop(lambda s: False, lambda s: s, ())


@case()
def while_weak_carry(jx):
    return jx.lax.while_loop(lambda x: x < 10, lambda x: x + np.float32(1.5), 0)


@case("while_loop", "argument: result", "'x', of type str", "an array or a number")
def while_result_text(jx):
    jx.lax.while_loop(lambda x: x < 3, lambda x: "x", 0)


@case("while_loop() missing 1 required positional")
def while_missing_init(jx):
    jx.lax.while_loop(lambda x: x < 3, square)


# fori_loop -----------------------------------------------------------------------------------------


@case("fori_loop", "argument: upper", "got: 3.0", "expected: an int")
def fori_bound_float(jx):
    jx.lax.fori_loop(0, 3.0, lambda i, x: x, 1.0)


@case("fori_loop", "argument: lower", "got: 0.0", "expected: an int")
def fori_lower_float(jx):
    jx.lax.fori_loop(0.0, 3, lambda i, x: x, 1.0)


@case("fori_loop", "argument: upper", "str")
def fori_bound_text(jx):
    jx.lax.fori_loop(0, "3", lambda i, x: x, 1.0)


@case("fori_loop", "argument: lower", "NoneType")
def fori_bound_none(jx):
    jx.lax.fori_loop(None, 3, lambda i, x: x, 1.0)


@case("fori_loop", "argument: upper", "int64[1]", "expected: an int")
def fori_bound_vector(jx):
    jx.lax.fori_loop(0, np.array([3]), lambda i, x: x, 1.0)


@case()
def fori_bound_bool(jx):
    return jx.lax.fori_loop(False, True, lambda i, x: x + 1, 1.0)


@case("fori_loop", "argument: lower and upper", "int16[] and int32[]", "two integers of one dtype")
def fori_bounds_of_two_dtypes(jx):
    return jx.lax.fori_loop(np.int16(0), np.int32(3), lambda i, x: x + i, 0)


@case("fori_loop", "argument: lower and upper", "int16[] and int32[]", "two integers of one dtype")
def fori_bounds_of_two_dtypes_traced(jx):
    return jx.jit(lambda a, b: jx.lax.fori_loop(a, b, lambda i, x: x + 1, 0))(
        np.int16(0), np.int32(3)
    )


@case("fori_loop", "argument: upper", "float32[]", "expected: an int", "n (argument of <lambda>)")
def fori_bound_traced_float(jx):
    jx.jit(lambda n: jx.lax.fori_loop(0, n, lambda i, x: x, 1.0))(3.0)


@case()
def fori_bounds_reversed(jx):
    return jx.lax.fori_loop(3, 0, lambda i, x: x + 1, 1.0)


@case("fori_loop", "argument: body_fun", "got: None", "a function")
def fori_body_none(jx):
    jx.lax.fori_loop(0, 3, None, 1.0)


@case("fori_body_takes_one.<locals>.<lambda>() takes 1", "tracing `<lambda>` in fori_loop")
def fori_body_takes_one(jx):
    jx.lax.fori_loop(0, 3, lambda x: x, 1.0)


@case("fori_loop", "argument: body_fun", "1.0, of type float", "a function")
def fori_arguments_swapped(jx):
    jx.lax.fori_loop(0, 3, 1.0, lambda i, x: x)


@case("fori_loop of body", "argument: init_val", "float32[]", "expected: int32[]")
def fori_body_dtype(jx):
    def body(i, total):
        return total + 0.5

    jx.lax.fori_loop(0, 3, body, jx.numpy.int32(0))


@case("fori_loop of <lambda>", "argument: init_val", "float32[1,3]", "float32[3]")
def fori_body_shape(jx):
    jx.lax.fori_loop(0, 3, lambda i, x: x[None], xs3)


@case(
    "the carry input is a tuple of length 2, but the carry output is a tuple of length 3",
    "tracing `<lambda>` in fori_loop",
)
def fori_body_structure(jx):
    jx.lax.fori_loop(0, 3, lambda i, s: (s[0], s[1], i), (0.0, 1.0))


@case("the carry input is a leaf, but the carry output is None", "tracing `body` in fori_loop")
def fori_body_returns_none(jx):
    def body(i, x):
        x + i

    jx.lax.fori_loop(0, 3, body, 0)


@case("fori_loop", "argument: init_val", "str")
def fori_init_text(jx):
    jx.lax.fori_loop(0, 3, lambda i, x: x, "x")


@case("i (argument of <lambda>)", "tracing `<lambda>` in fori_loop")
def fori_list_index(jx):
    table = [1.0, 2.0, 3.0]
    jx.lax.fori_loop(0, 3, lambda i, x: x + table[i], 0.0)


@case("x[index] = value", "float32[3]", "x (argument of body)")
def fori_assignment(jx):
    def body(i, x):
        x[i] = 0.0
        return x

    jx.lax.fori_loop(0, 3, body, jx.numpy.ones(3))


@case("fori_loop", "argument: unroll", "got: 2", "None, False or 1 where a bound is traced")
def fori_unroll_traced_bound(jx):
    jx.jit(lambda n: jx.lax.fori_loop(0, n, lambda i, x: x, 1.0, unroll=2))(3)


@case("fori_loop", "argument: upper", "1099511627776")
def fori_too_large_bound(jx):
    jx.lax.fori_loop(0, 2**40, lambda i, x: x, 1.0)


# map -----------------------------------------------------------------------------------------------


@case("map", "argument: f", "got: None", "a function")
def map_function_none(jx):
    jx.lax.map(None, xs3)


@case("map of square", "argument: xs", "got: 3.0", "an array with at least one dimension")
def map_scalar(jx):
    jx.lax.map(square, 3.0)


@case("map", "argument: xs", "str")
def map_text(jx):
    jx.lax.map(square, "abc")


@case("map of square", "argument: xs[0]", "got: 1.0", "an array with at least one dimension")
def map_list_of_numbers(jx):
    jx.lax.map(square, [1.0, 2.0])


@case("map of square", "argument: xs", "got: None", "expected: arrays")
def map_none(jx):
    jx.lax.map(square, None)


@case("map of <lambda>", "argument: xs", "xs[0]: 3, xs[1]: 4", "3 everywhere")
def map_sizes_differ(jx):
    jx.lax.map(lambda p: p[0], (xs3, np.ones(4)))


@case("add() missing 1 required positional argument: 'y'", "tracing `add` in map")
def map_two_arguments(jx):
    jx.lax.map(add, (xs3, xs3))


@case("map", "argument: result", "'a', of type str", "an array or a number")
def map_result_text(jx):
    jx.lax.map(lambda x: "a", xs3)


@case()
def map_batch_size_zero(jx):
    return jx.lax.map(square, xs3, batch_size=0)


@case("map", "argument batch_size must", "got -1", "an int of at least 0, or None")
def map_batch_size_negative(jx):
    jx.lax.map(square, xs3, batch_size=-1)


@case("map", "argument batch_size must", "got '2'", "an int, or None")
def map_batch_size_text(jx):
    jx.lax.map(square, xs3, batch_size="2")


@case("map", "argument batch_size must", "got 2.0", "an int, or None")
def map_batch_size_float(jx):
    jx.lax.map(square, xs3, batch_size=2.0)


@case()
def map_batch_size_beyond(jx):
    return jx.lax.map(square, xs3, batch_size=10)


@case("map of <lambda>", "argument: xs", "xs[0]: 3, xs[1]: 4", "3 everywhere")
def map_batch_sizes_differ(jx):
    jx.lax.map(lambda p: p[0], (xs3, np.ones(4, np.float32)), batch_size=2)


@case("map of square", "argument: xs", "got: 3.0", "an array with at least one dimension")
def map_batch_scalar(jx):
    jx.lax.map(square, 3.0, batch_size=2)


@case()
def map_batch_empty(jx):
    return jx.lax.map(square, np.zeros((0, 2), np.float32), batch_size=2)


@case()
def map_empty(jx):
    return jx.lax.map(square, np.zeros((0, 2), np.float32))


# associative_scan ----------------------------------------------------------------------------------


@case("associative_scan", "argument: fn", "got: None", "a function")
def associative_function_none(jx):
    jx.lax.associative_scan(None, xs3)


@case("associative_scan", "argument: elems", "got: 3.0", "an array with at least one dimension")
def associative_scalar(jx):
    jx.lax.associative_scan(jx.numpy.add, 3.0)


@case(
    "associative_scan", "argument axis must", "1", "an axis of an array with 1 dimension (-1 to 0)"
)
def associative_axis_beyond(jx):
    jx.lax.associative_scan(jx.numpy.add, xs3, axis=1)


@case("associative_scan", "argument axis must", "got 0", "an int")
def associative_axis_text(jx):
    jx.lax.associative_scan(jx.numpy.add, xs3, axis="0")


@case("associative_scan", "argument: elems", "elems[0]: 3, elems[1]: 4", "equal sizes")
def associative_sizes_differ(jx):
    jx.lax.associative_scan(lambda a, b: a, (xs3, np.ones(4)))


@case("associative_scan", "argument: elems", "str")
def associative_text(jx):
    jx.lax.associative_scan(jx.numpy.add, "abc")


@case(
    "elems is a leaf, but the result of fn is a tuple of length 2",
    "associative_scan of <lambda>: fn must return the",
)
def associative_structure(jx):
    jx.lax.associative_scan(lambda a, b: (a, b), xs3)


@case("associative_one_argument.<locals>.<lambda>()")
def associative_one_argument(jx):
    jx.lax.associative_scan(lambda a: a, xs3)


@case(
    "associative_scan of <lambda>", "argument: the result of fn at elems", "float32[]", "float32[1]"
)
def associative_shape(jx):
    jx.lax.associative_scan(lambda a, b: jx.numpy.sum(a), xs3)


@case()
def associative_empty(jx):
    return jx.lax.associative_scan(jx.numpy.add, np.zeros((0,), np.float32))


@case("associative_scan", "argument: elems[1]", "got: 1.0", "an array with at least one dimension")
def associative_scalar_leaf(jx):
    jx.lax.associative_scan(lambda a, b: a, (xs3, 1.0))


@case()
def associative_no_leaves(jx):
    return jx.lax.associative_scan(lambda a, b: a, ())
