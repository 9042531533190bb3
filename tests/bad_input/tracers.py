"""Traced values used as if they were numbers."""

from __future__ import annotations

import copy
import json
import math
import operator
import pickle

import numpy as np

from bad_input import case, staged

three = np.ones(3, np.float32)
matrix = np.ones((3, 3), np.float32)

# Python asks for a value ---------------------------------------------------------------------------


@case("x (argument of relu)", "tracing `relu` for jit")
def if_on_argument(jx):
    def relu(x):
        if x > 0:
            return x
        return 0.0

    staged(jx, relu, 1.0)


@case("x (argument of f)", "tracing `f` for jit")
def while_on_argument(jx):
    def f(x):
        while x > 1:
            x = x / 2
        return x

    staged(jx, f, 8.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def and_of_comparisons(jx):
    staged(jx, lambda x: 0 < x < 1, 0.5)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def not_of_argument(jx):
    staged(jx, lambda x: not x, True)


@case("x (argument of f)", "tracing `f` for jit")
def assertion(jx):
    def f(x):
        assert x > 0
        return x

    staged(jx, f, 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def builtin_max(jx):
    staged(jx, lambda x: max(x, 0.0), 1.0)


@case()
def builtin_sum_is_fine(jx):
    return staged(jx, lambda x: sum(x), three)


@case()
def builtin_abs_is_fine(jx):
    return staged(jx, abs, -1.0)


@case()
def builtin_round_is_fine(jx):
    return staged(jx, lambda x: round(x), 1.6)


@case()
def builtin_round_digits(jx):
    return staged(jx, lambda x: round(x, 1), 1.66)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def builtin_any(jx):
    staged(jx, lambda x: any(x > 0), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def builtin_sorted(jx):
    staged(jx, lambda x: sorted(x), three)


@case()
def builtin_divmod_is_fine(jx):
    return staged(jx, lambda x: divmod(x, 2.0), 5.0)


@case("while tracing `<lambda>` for jit")
def builtin_pow_modulo(jx):
    staged(jx, lambda x: pow(x, 2, 3), 5)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def math_sin(jx):
    staged(jx, lambda x: math.sin(x), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def math_floor(jx):
    staged(jx, lambda x: math.floor(x), 1.5)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def math_isnan(jx):
    staged(jx, lambda x: math.isnan(x), 1.5)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def float_of_argument(jx):
    staged(jx, lambda x: float(x), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def int_of_argument(jx):
    staged(jx, lambda x: int(x), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def complex_of_argument(jx):
    staged(jx, lambda x: complex(x), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def float_of_vector(jx):
    staged(jx, lambda x: float(x), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def item_of_argument(jx):
    staged(jx, lambda x: x.item(), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def tolist_of_argument(jx):
    staged(jx, lambda x: x.tolist(), three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def tobytes_of_argument(jx):
    staged(jx, lambda x: x.tobytes(), three)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def range_of_argument(jx):
    staged(jx, lambda n: sum(range(n)), 3)


@case("i (argument of <lambda>)", "tracing `<lambda>` for jit")
def list_item(jx):
    staged(jx, lambda i: [1.0, 2.0, 3.0][i], 1)


@case("hash", "got: int32[]", "i (argument of <lambda>)")
def dict_item(jx):
    staged(jx, lambda i: {0: 1.0, 1: 2.0}[i], 1)


@case("i (argument of <lambda>)", "tracing `<lambda>` for jit")
def slice_of_list(jx):
    staged(jx, lambda i: sum([1.0, 2.0, 3.0][:i]), 1)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def slice_bound(jx):
    staged(jx, lambda x, n: x[:n], three, 2)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def shape_argument(jx):
    staged(jx, lambda n: jx.numpy.zeros(n), 3)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def shape_argument_in_tuple(jx):
    staged(jx, lambda n: jx.numpy.zeros((n, 2)), 3)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def arange_argument(jx):
    staged(jx, lambda n: jx.numpy.arange(n), 3)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def reshape_argument(jx):
    staged(jx, lambda x, n: x.reshape(n, -1), three, 1)


@case("axis (argument of <lambda>)", "tracing `<lambda>` for jit")
def axis_argument(jx):
    staged(jx, lambda x, axis: jx.numpy.sum(x, axis), matrix, 0)


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def repeat_text(jx):
    staged(jx, lambda n: "a" * n, 3)


@case("format", "float32[]", "no format specification", "x (argument of <lambda>)")
def format_with_digits(jx):
    staged(jx, lambda x: f"{x:.2f}", 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def format_percent(jx):
    staged(jx, lambda x: "%.2f" % x, 1.0)  # noqa: UP031


@case()
def format_plain_is_fine(jx):
    return staged(jx, lambda x: x if "JitTracer" in f"{x}" else -x, 1.0)


@case()
def str_and_repr_are_fine(jx):
    return staged(jx, lambda x: x if str(x) and repr(x) else -x, three)


@case("is not JSON serializable", "while tracing `<lambda>` for jit")
def json_of_argument(jx):
    staged(jx, lambda x: json.dumps({"x": x}), 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def pickle_of_argument(jx):
    staged(jx, lambda x: pickle.dumps(x), 1.0)


@case()
def copy_of_argument_is_fine(jx):
    return staged(jx, lambda x: copy.copy(x) + copy.deepcopy(x), 1.0)


@case("hash", "float32[]", "x (argument of <lambda>)")
def hash_of_argument(jx):
    staged(jx, lambda x: hash(x), 1.0)


@case("hash", "float32[]", "x (argument of <lambda>)")
def set_of_arguments(jx):
    staged(jx, lambda x, y: {x, y}, 1.0, 2.0)


@case("hash", "float32[]", "x (argument of <lambda>)")
def key_of_dict(jx):
    staged(jx, lambda x: {x: 1.0}, 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def membership(jx):
    staged(jx, lambda x: x in [1.0, 2.0], 1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def membership_in_argument(jx):
    staged(jx, lambda x: 1.0 in x, three)


@case()
def equality_with_none_is_fine(jx):
    return staged(jx, lambda x: 1.0 if x is None else x, 2.0)


@case()
def equality_with_text(jx):
    return staged(jx, lambda x: x if x == "a" else -x, 2.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def index_method(jx):
    staged(jx, lambda x: operator.index(x), 1)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def index_method_of_float(jx):
    staged(jx, lambda x: operator.index(x), 1.0)


@case("len() of a scalar: the value has shape ()", "tracing `<lambda>` for jit")
def len_of_scalar(jx):
    staged(jx, lambda x: len(x), 1.0)


@case()
def len_of_vector_is_fine(jx):
    return staged(jx, lambda x: len(x) * x, three)


@case("iteration over a 0-d array", "tracing `<lambda>` for jit")
def iteration_over_scalar(jx):
    staged(jx, lambda x: [y + 1 for y in x], 1.0)


@case()
def iteration_over_vector_is_fine(jx):
    return staged(jx, lambda x: [y + 1 for y in x], three)


@case("too many values to unpack (expected 2)", "tracing `f` for jit")
def unpacking_too_many(jx):
    def f(x):
        a, b = x
        return a + b

    staged(jx, f, three)


@case()
def unpacking_is_fine(jx):
    def f(x):
        a, b, c = x
        return a + b + c

    return staged(jx, f, three)


@case("x (argument of f)", "tracing `f` for jit")
def match_on_argument(jx):
    def f(x):
        match x:
            case 1:
                return 1.0
            case _:
                return 2.0

    staged(jx, f, 1)


@case()
def isinstance_is_fine(jx):
    return staged(jx, lambda x: x * 2 if isinstance(x, jx.Array) else x, 1.0)


@case()
def isinstance_of_numpy(jx):
    return staged(jx, lambda x: x * 2 if isinstance(x, np.ndarray) else x, 1.0)


# Mixing transformations ----------------------------------------------------------------------------


@case("x (argument of <lambda>)", "tracing `<lambda>` for grad, tracing `<lambda>` for jit")
def grad_of_jit_if(jx):
    jx.grad(jx.jit(lambda x: x if x > 0 else -x))(1.0)


@case()
def grad_if_is_fine(jx):
    return jx.grad(lambda x: x * x if x > 0 else -x)(3.0)


@case()
def grad_int_conversion(jx):
    return jx.grad(lambda x: x * int(x))(3.0)


@case("`complex` function", "x (argument of <lambda>)")
def grad_complex_conversion(jx):
    jx.grad(lambda x: jx.numpy.real(x * complex(x)))(3.0)


@case()
def grad_index_of_list(jx):
    return jx.grad(lambda x, i: x * [1.0, 2.0][i])(3.0, 1)


@case("`float` function", "math.sin(x)", "x (argument of <lambda>)")
def grad_math(jx):
    jx.grad(lambda x: math.sin(x))(1.0)


@case("format", "float32[]", "debug.print")
def grad_format_digits(jx):
    return jx.grad(lambda x: x * len(f"{x:.2f}"))(1.0)


@case("index", "float32[]", "an integer array of shape ()")
def grad_range(jx):
    jx.grad(lambda x: sum(x for _ in range(x)))(3.0)


@case("`.tolist()`", "x (argument of <lambda>)")
def grad_tolist(jx):
    jx.grad(lambda x: x[0] * x.tolist()[1])(three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit, tracing `<lambda>` for vmap")
def jit_of_vmap_if(jx):
    jx.jit(jx.vmap(lambda x: x if x > 0 else -x))(three)


@case("x (argument of <lambda>)", "tracing `<lambda>` for vmap, tracing `<lambda>` for jit")
def vmap_of_jit_float(jx):
    jx.vmap(jx.jit(lambda x: float(x)))(three)


@case()
def jvp_if_is_fine(jx):
    return jx.jvp(lambda x: x if x > 0 else -x, (-2.0,), (1.0,))


@case("`float` function", "x (argument of <lambda>)", "tracing `<lambda>` for jvp")
def jvp_float(jx):
    jx.jvp(lambda x: x * float(x), (-2.0,), (1.0,))


@case("x (argument of <lambda>)", "tracing `<lambda>` in scan")
def float_in_scan(jx):
    jx.lax.scan(lambda c, x: (c + float(x), x), 0.0, three)


@case()
def numpy_in_while(jx):
    return jx.lax.while_loop(lambda x: np.all(x < 3), lambda x: x + 1, three)
