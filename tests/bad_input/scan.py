"""scan."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, case

xs3 = np.arange(3, dtype=np.float32)

# scan ----------------------------------------------------------------------------------------------


@case("scan", "argument: f", "got: None", "a function")
def scan_function_none(jx):
    jx.lax.scan(None, 0.0, xs3)


@case("scan of step", "argument: f", "an array of type float32[]", "step to return (carry, y)")
def scan_not_a_pair(jx):
    def step(carry, x):
        return carry + x

    jx.lax.scan(step, 0.0, xs3)


@case("scan of <lambda>", "argument: f", "a tuple of length 3", "<lambda> to return (carry, y)")
def scan_three_results(jx):
    jx.lax.scan(lambda c, x: (c, x, x), 0.0, xs3)


@case("scan of step", "argument: f", "got: None", "step to return (carry, y)")
def scan_none_result(jx):
    def step(carry, x):
        carry + x

    jx.lax.scan(step, 0.0, xs3)


@case()
def scan_list_result(jx):
    return jx.lax.scan(lambda c, x: [c + x, x], 0.0, xs3)


@case(
    "scan of <lambda>",
    "argument: f",
    "a dict with keys 'carry', 'y'",
    "<lambda> to return (carry, y)",
)
def scan_dict_result(jx):
    jx.lax.scan(lambda c, x: {"carry": c, "y": x}, 0.0, xs3)


@case("scan of step", "argument: init", "float32[]", "expected: int32[]")
def scan_carry_dtype(jx):
    def step(total, x):
        return total + x, total

    jx.lax.scan(step, jx.numpy.int32(0), xs3)


@case()
def scan_weak_carry_is_promoted(jx):
    return jx.lax.scan(lambda c, x: (c + x, c), 0, xs3)


@case("scan of step", "argument: init", "float32[1,2]", "float32[2]")
def scan_carry_shape(jx):
    def step(state, x):
        return state[None] + x, x

    jx.lax.scan(step, np.zeros(2, np.float32), xs3)


@case("scan of step", "argument: init", "float32[1]", "float32[0]")
def scan_carry_grows(jx):
    def step(seen, x):
        return jx.numpy.append(seen, x), x

    jx.lax.scan(step, np.zeros(0, np.float32), xs3)


@case("scan of step", "argument: init['total']", "float32[]", "expected: int32[]")
def scan_carry_leaf_dtype(jx):
    def step(state, x):
        return {"total": state["total"] + 1.5, "n": state["n"]}, x

    jx.lax.scan(step, {"total": np.int32(0), "n": np.int32(0)}, xs3)


@case(
    "the carry input is a tuple of length 2, but the carry output is a tuple of length 3",
    "scan of step: scan body function carry input and",
)
def scan_carry_structure(jx):
    def step(carry, x):
        h, c = carry
        return (h, c, x), x

    jx.lax.scan(step, (0.0, 0.0), xs3)


@case(
    "the carry input is a dict with keys 'a', but the carry output is a dict with",
    "scan of <lambda>: scan body function carry input",
)
def scan_carry_key(jx):
    jx.lax.scan(lambda c, x: ({"a": c["a"], "extra": x}, x), {"a": 0.0}, xs3)


@case(
    "the carry input is a tuple of length 2, but the carry output is a list of length 2",
    "scan of <lambda>: scan body function carry input",
)
def scan_carry_list_for_tuple(jx):
    jx.lax.scan(lambda c, x: (list(c), x), (0.0, 0.0), xs3)


@case(
    "the carry input is a leaf, but the carry output is None",
    "scan of <lambda>: scan body function carry input",
)
def scan_carry_none_for_array(jx):
    jx.lax.scan(lambda c, x: (None, x), 0.0, xs3)


@case(
    "the carry input is None, but the carry output is a leaf",
    "scan of <lambda>: scan body function carry input",
)
def scan_carry_array_for_none(jx):
    jx.lax.scan(lambda c, x: (x, x), None, xs3)


@case("scan", "argument: init", "str")
def scan_init_text(jx):
    jx.lax.scan(lambda c, x: (c, x), "start", xs3)


@case("scan", "argument: init['o']", "Opaque")
def scan_init_object_leaf(jx):
    jx.lax.scan(lambda c, x: (c, x), {"a": 0.0, "o": Opaque()}, xs3)


@case("scan", "argument: xs", "str")
def scan_xs_text(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, "abc")


@case("scan", "argument: xs", "range")
def scan_xs_range(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, range(3))


@case("scan of <lambda>", "argument: xs[0]", "got: 1.0", "an array with at least one dimension")
def scan_xs_list_of_numbers(jx):
    jx.lax.scan(lambda c, x: (c + x, x), 0.0, [1.0, 2.0, 3.0])


@case("scan of <lambda>", "argument: xs", "got: 3.0", "an array with at least one dimension")
def scan_xs_scalar(jx):
    jx.lax.scan(lambda c, x: (c + x, x), 0.0, 3.0)


@case(
    "scan of <lambda>", "argument: xs['rate']", "got: 0.1", "an array with at least one dimension"
)
def scan_xs_scalar_leaf(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, {"a": xs3, "rate": 0.1})


@case("scan of <lambda>", "argument: xs", "xs[0]: 3, xs[1]: 4", "3 everywhere")
def scan_xs_sizes_differ(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, (xs3, np.ones(4)))


@case("scan of <lambda>", "argument: xs", "xs['in']: 3, xs['out'][0]: 5", "3 everywhere")
def scan_xs_sizes_differ_in_tree(jx):
    jx.lax.scan(lambda c, x: (c, None), 0.0, {"in": xs3, "out": [np.ones((5, 2))]})


@case("scan of <lambda>", "argument: xs", "got: xs: 3", "4 everywhere, the argument length")
def scan_length_differs(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, xs3, length=4)


@case("scan of <lambda>", "argument: xs", "got: None", "arrays, or else the argument length")
def scan_no_xs_no_length(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, None)


@case(
    "scan of <lambda>", "argument: xs", "a tuple of length 0", "arrays, or else the argument length"
)
def scan_empty_xs_no_length(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, ())


@case("scan of <lambda>", "argument: length", "got: 3.0", "expected: an int")
def scan_length_float(jx):
    return jx.lax.scan(lambda c, x: (c, x), 0.0, None, length=3.0)


@case("scan of <lambda>", "argument: length", "got: '3'", "expected: an int")
def scan_length_text(jx):
    return jx.lax.scan(lambda c, x: (c, x), 0.0, None, length="3")


@case("scan of <lambda>", "argument length must", "got -1", "an int from 0 to 2147483647")
def scan_length_negative(jx):
    return jx.lax.scan(lambda c, x: (c, x), 0.0, None, length=-1)


@case("n (argument of f)", "tracing `f` for jit")
def scan_length_traced(jx):
    def f(n):
        return jx.lax.scan(lambda c, x: (c + 1, None), 0, None, length=n)

    jx.jit(f)(3)


@case()
def scan_length_numpy(jx):
    return jx.lax.scan(lambda c, x: (c + 1, None), 0, None, length=np.int64(3))


@case()
def scan_length_array(jx):
    return jx.lax.scan(lambda c, x: (c + 1, None), 0, None, length=jx.numpy.int32(3))


@case()
def scan_length_zero(jx):
    return jx.lax.scan(lambda c, x: (c + x, c), 0.0, np.zeros((0,), np.float32))


@case("scan_body_takes_one.<locals>.<lambda>() takes 1", "tracing `<lambda>` in scan")
def scan_body_takes_one(jx):
    jx.lax.scan(lambda c: (c, c), 0.0, xs3)


@case("scan_body_takes_three.<locals>.<lambda>() missing", "tracing `<lambda>` in scan")
def scan_body_takes_three(jx):
    jx.lax.scan(lambda c, x, y: (c, x), 0.0, xs3)


@case("scan", "argument: result[1]['log']", "'text', of type str", "an array or a number")
def scan_result_text(jx):
    jx.lax.scan(lambda c, x: (c, {"log": "text"}), 0.0, xs3)


@case("scan", "argument: result[0]", "'text', of type str", "an array or a number")
def scan_carry_result_text(jx):
    jx.lax.scan(lambda c, x: ("text", x), 0.0, xs3)


@case("c (argument of step)", "tracing `step` in scan")
def scan_if_on_carry(jx):
    def step(c, x):
        if c > 0:
            c = c + x
        return c, x

    jx.lax.scan(step, 0.0, xs3)


@case("c (argument of step)", "float32[]")
def scan_list_append_leaks(jx):
    seen = []

    def step(c, x):
        seen.append(c)
        return c + x, x

    jx.lax.scan(step, 0.0, xs3)
    return jx.numpy.stack(seen)


@case(
    "scan", "argument unroll must", "got 'all'", "an int, the number of rounds in each pass, or a"
)
def scan_unroll_text(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, xs3, unroll="all")


@case()
def scan_unroll_zero(jx):
    return jx.lax.scan(lambda c, x: (c, x), 0.0, xs3, unroll=0)


@case("scan", "argument: unroll", "got: -2", "an int of at least 0")
def scan_unroll_negative(jx):
    jx.lax.scan(lambda c, x: (c, x), 0.0, xs3, unroll=-2)


@case("scan", "argument unroll must", "got 1.5", "an int, the number of rounds in each pass, or a")
def scan_unroll_float(jx):
    return jx.lax.scan(lambda c, x: (c, x), 0.0, xs3, unroll=1.5)


@case()
def scan_unroll_beyond_length(jx):
    return jx.lax.scan(lambda c, x: (c + x, x), 0.0, xs3, unroll=10)


@case()
def scan_unroll_false(jx):
    return jx.lax.scan(lambda c, x: (c + x, x), 0.0, xs3, unroll=False)


@case()
def scan_reverse_text(jx):
    return jx.lax.scan(lambda c, x: (c + x, x), 0.0, xs3, reverse="yes")


@case()
def scan_reverse_one(jx):
    return jx.lax.scan(lambda c, x: (c + x, c), 0.0, xs3, reverse=1)


@case("scan() missing 1 required positional argument: 'init'")
def scan_missing_init(jx):
    jx.lax.scan(lambda c, x: (c, x))


@case("scan", "argument: length", "length 0 needs jit")
def scan_no_jit_length_zero(jx):
    with jx.disable_jit():
        jx.lax.scan(lambda c, x: (c, x), 0.0, np.zeros((0,), np.float32))


@case()
def scan_no_jit_none(jx):
    with jx.disable_jit():
        return jx.lax.scan(lambda c, x: (c + 1, None), 0, None, length=3)
