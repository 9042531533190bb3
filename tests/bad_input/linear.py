"""jvp, vjp, linearize and linear_transpose."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

# jvp -----------------------------------------------------------------------------------------------


@case("jvp", "argument: fun", "3, of type int", "a function")
def jvp_not_callable(jx):
    jx.jvp(3, (1.0,), (1.0,))


@case("jvp", "argument: primals", "1.0, of type float", "a tuple of arguments")
def jvp_primal_not_in_tuple(jx):
    jx.jvp(square, 1.0, 1.0)


@case("jvp", "argument: tangents", "1.0, of type float", "a tuple of arguments")
def jvp_tangent_not_in_tuple(jx):
    jx.jvp(square, (1.0,), 1.0)


@case("jvp", "argument: primals", "an array of type float64[3]", "a tuple of arguments")
def jvp_array_as_primals(jx):
    jx.jvp(square, np.ones(3), np.ones(3))


@case()
def jvp_lists(jx):
    return jx.jvp(square, [1.0], [1.0])


@case()
def jvp_list_and_tuple(jx):
    return jx.jvp(square, (1.0,), [1.0])


@case(
    "primals is a tuple of length 2, but tangents is a tuple of length 1",
    "jvp: primals and tangents differ in structure",
)
def jvp_too_few_tangents(jx):
    jx.jvp(add, (1.0, 2.0), (1.0,))


@case(
    "primals[0] is a dict with keys 'a', 'b', but tangents[0] is a dict with keys 'a'",
    "jvp: primals and tangents differ in structure",
)
def jvp_trees_differ(jx):
    jx.jvp(lambda p: p["a"], ({"a": 1.0, "b": 2.0},), ({"a": 1.0},))


@case(
    "primals[0] is a dict with keys 'a', but tangents[0] is a list of length 1",
    "jvp: primals and tangents differ in structure",
)
def jvp_dict_and_list(jx):
    jx.jvp(lambda p: p["a"], ({"a": 1.0},), ([1.0],))


@case(
    "jvp", "argument: the tangent of x", "float32[4]", "float32[3], the tangent type of float32[3]"
)
def jvp_shape_differs(jx):
    jx.jvp(square, (np.ones(3, np.float32),), (np.ones(4, np.float32),))


@case(
    "jvp", "argument: the tangent of x", "float32[]", "float32[3], the tangent type of float32[3]"
)
def jvp_scalar_tangent_for_vector(jx):
    jx.jvp(square, (np.ones(3, np.float32),), (1.0,))


@case(
    "jvp", "argument: the tangent of x", "got: int32[]", "float32[], the tangent type of float32[]"
)
def jvp_dtype_differs(jx):
    jx.jvp(square, (1.0,), (1,))


@case("jvp", "argument: the tangent of x", "got: int32[]", "float0[], the tangent type of int32[]")
def jvp_int_primal(jx):
    jx.jvp(square, (2,), (1,))


@case("jvp", "argument: the tangent of x", "float32[]", "float0[], the tangent type of int32[]")
def jvp_int_primal_float_tangent(jx):
    jx.jvp(square, (2,), (1.0,))


@case("jvp", "argument: the tangent of x", "float16[]", "float32[], the tangent type of float32[]")
def jvp_half_tangent(jx):
    jx.jvp(square, (np.float32(1.0),), (np.float16(1.0),))


@case()
def jvp_float64_narrows_alike(jx):
    return jx.jvp(square, (np.float64(2.0),), (np.float32(1.0),))


@case()
def jvp_int_primal_float0(jx):
    return jx.jvp(lambda i, x: i * x, (2, 3.0), (np.zeros((), jx.dtypes.float0), 1.0))


@case(
    "jvp",
    "the tangent of params['layers'][0]['w']",
    "float32[3,2]",
    "float32[2,3], the tangent type of float32[2,3]",
)
def jvp_deep_shape_differs(jx):
    def f(params, x):
        return x

    p = {"layers": [{"w": np.ones((2, 3), np.float32)}]}
    t = {"layers": [{"w": np.ones((3, 2), np.float32)}]}
    jx.jvp(f, (p, 1.0), (t, 1.0))


@case("jvp of square", "argument: x", "str")
def jvp_text_primal(jx):
    jx.jvp(square, ("x",), ("x",))


@case("jvp of square", "argument: the tangent of x", "str")
def jvp_text_tangent(jx):
    jx.jvp(square, (1.0,), ("x",))


@case(
    "primals[0] is a leaf of type float, but tangents[0] is None",
    "jvp: primals and tangents differ in structure",
)
def jvp_none_tangent(jx):
    jx.jvp(square, (1.0,), (None,))


@case(
    "jvp", "argument: the tangent of x", "complex64[]", "float32[], the tangent type of float32[]"
)
def jvp_complex_tangent_of_real(jx):
    jx.jvp(square, (1.0,), (1j,))


@case("jvp", "argument: result", "'a', of type str", "an array or a number")
def jvp_result_text(jx):
    jx.jvp(lambda x: "a", (1.0,), (1.0,))


@case("jvp", "an array of type float32[]", "a pair (output, auxiliary data)")
def jvp_aux_missing(jx):
    jx.jvp(square, (1.0,), (1.0,), has_aux=True)


@case("square() takes 1 positional argument but 2 were given", "tracing `square` for jvp")
def jvp_too_many_arguments_of_function(jx):
    jx.jvp(square, (1.0, 2.0), (1.0, 1.0))


@case()
def jvp_empty(jx):
    return jx.jvp(lambda: 3.0, (), ())


@case("jvp() missing 1 required positional argument: 'tangents'")
def jvp_missing_tangents(jx):
    jx.jvp(square, (1.0,))


# vjp -----------------------------------------------------------------------------------------------


@case("vjp", "argument: fun", "got: None", "a function")
def vjp_not_callable(jx):
    jx.vjp(None, 1.0)


@case("vjp of square", "argument: x", "str")
def vjp_text(jx):
    jx.vjp(square, "x")


@case("vjp of f", "argument: params['a']", "Opaque")
def vjp_object(jx):
    def f(params, x):
        return x

    jx.vjp(f, {"a": Opaque()}, 1.0)


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for vjp")
def vjp_too_few(jx):
    jx.vjp(add, 1.0)


@case("vjp() got an unexpected keyword argument 'y'")
def vjp_keyword(jx):
    jx.vjp(add, 1.0, y=2.0)


@case("vjp", "argument: result['a']", "'text', of type str", "an array or a number")
def vjp_result_text(jx):
    jx.vjp(lambda x: {"a": "text"}, 1.0)


@case("vjp", "an array of type float32[]", "a pair (output, auxiliary data)")
def vjp_aux_missing(jx):
    jx.vjp(square, 1.0, has_aux=True)


@case()
def vjp_int_is_fine(jx):
    return jx.vjp(square, 3)[0]


@case()
def vjp_no_primals(jx):
    out, pull = jx.vjp(lambda: 3.0)
    return out, pull(1.0)


@case("the function returned by vjp of square", "argument: cotangent", "float32[4]", "float32[3]")
def pullback_shape_differs(jx):
    _, pull = jx.vjp(square, np.ones(3, np.float32))
    pull(np.ones(4, np.float32))


@case("the function returned by vjp of square", "argument: cotangent", "float32[]", "float32[3]")
def pullback_scalar_for_vector(jx):
    _, pull = jx.vjp(square, np.ones(3, np.float32))
    pull(1.0)


@case("the function returned by vjp of square", "argument: cotangent", "int32[3]", "float32[3]")
def pullback_dtype_differs(jx):
    _, pull = jx.vjp(square, np.ones(3, np.float32))
    pull(np.ones(3, np.int32))


@case("the function returned by vjp of square", "argument: cotangent", "float16[3]", "float32[3]")
def pullback_half(jx):
    _, pull = jx.vjp(square, np.ones(3, np.float32))
    pull(np.ones(3, np.float16))


@case()
def pullback_int_output(jx):
    _, pull = jx.vjp(lambda x: (x, 3), 1.0)
    return pull((1.0, 3))


@case(
    "output is a leaf, but cotangent is a tuple of length 1",
    "the function returned by vjp of square:",
)
def pullback_tuple_around(jx):
    _, pull = jx.vjp(square, 1.0)
    pull((1.0,))


@case(
    "output is a tuple of length 2, but cotangent is a tuple of length 1",
    "the function returned by vjp of <lambda>:",
)
def pullback_too_few(jx):
    _, pull = jx.vjp(lambda x: (x, x), 1.0)
    pull((1.0,))


@case(
    "output is a tuple of length 2, but cotangent is a leaf of type float",
    "the function returned by vjp of <lambda>:",
)
def pullback_array_for_pair(jx):
    _, pull = jx.vjp(lambda x: (x, x), 1.0)
    pull(1.0)


@case(
    "output is a dict with keys 'loss', but cotangent is a dict with keys 'los'",
    "the function returned by vjp of <lambda>:",
)
def pullback_key_differs(jx):
    _, pull = jx.vjp(lambda x: {"loss": x}, 1.0)
    pull({"los": 1.0})


@case(
    "the function returned by vjp of <lambda>",
    "argument: cotangent['a'][1]",
    "float32[3]",
    "float32[2]",
)
def pullback_deep_shape(jx):
    _, pull = jx.vjp(lambda x: {"a": [x, x]}, np.ones(2, np.float32))
    pull({"a": [np.ones(2, np.float32), np.ones(3, np.float32)]})


@case(
    "output is a tuple of length 2, but cotangent is a list of length 2",
    "the function returned by vjp of <lambda>:",
)
def pullback_list_for_tuple(jx):
    _, pull = jx.vjp(lambda x: (x, x), 1.0)
    pull([1.0, 1.0])


@case("the function returned by vjp of square", "argument: cotangent", "str")
def pullback_text(jx):
    _, pull = jx.vjp(square, 1.0)
    pull("x")


@case("output is a leaf, but cotangent is None", "the function returned by vjp of square:")
def pullback_none(jx):
    _, pull = jx.vjp(square, 1.0)
    pull(None)


@case(
    "the function returned by vjp of <lambda>",
    "cotangent",
    "2 arguments",
    "one argument of the structure of the output",
)
def pullback_two_arguments(jx):
    _, pull = jx.vjp(lambda x: (x, x), 1.0)
    pull(1.0, 1.0)


@case(
    "the function returned by vjp of square",
    "cotangent",
    "0 arguments",
    "one argument of the structure of the output",
)
def pullback_no_argument(jx):
    _, pull = jx.vjp(square, 1.0)
    pull()


# linearize -----------------------------------------------------------------------------------------


@case("linearize", "argument: fun", "'f', of type str", "a function")
def linearize_not_callable(jx):
    jx.linearize("f", 1.0)


@case("linearize of square", "argument: x", "str")
def linearize_text(jx):
    jx.linearize(square, "x")


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for linearize")
def linearize_too_few(jx):
    jx.linearize(add, 1.0)


@case("the linearized square", "argument: the tangent of x", "float32[2]", "float32[3]")
def linearized_shape_differs(jx):
    _, f = jx.linearize(square, np.ones(3, np.float32))
    f(np.ones(2, np.float32))


@case("the linearized square", "argument: the tangent of x", "got: int32[]", "float32[]")
def linearized_dtype_differs(jx):
    _, f = jx.linearize(square, 1.0)
    f(1)


@case(
    "primals is a tuple of length 1, but tangents is a tuple of length 2",
    "the linearized square: tangents differ in",
)
def linearized_too_many(jx):
    _, f = jx.linearize(square, 1.0)
    f(1.0, 2.0)


@case(
    "primals[0] is a dict with keys 'a', but tangents[0] is a dict with keys 'b'",
    "the linearized <lambda>: tangents differ in",
)
def linearized_tree_differs(jx):
    _, f = jx.linearize(lambda p: p["a"], {"a": 1.0})
    f({"b": 1.0})


@case("the linearized square", "argument: the tangent of x", "str")
def linearized_text(jx):
    _, f = jx.linearize(square, 1.0)
    f("x")


@case(
    "primals[0] is a leaf of type float, but tangents[0] is None",
    "the linearized square: tangents differ in",
)
def linearized_none(jx):
    _, f = jx.linearize(square, 1.0)
    f(None)


@case("linearize", "argument: result", "'a', of type str", "an array or a number")
def linearize_result_text(jx):
    jx.linearize(lambda x: "a", 1.0)


@case("linearize", "an array of type float32[]", "a pair (output, auxiliary data)")
def linearize_aux_missing(jx):
    jx.linearize(square, 1.0, has_aux=True)


# linear_transpose ----------------------------------------------------------------------------------


@case("linear_transpose", "argument: fun", "got: None", "a function")
def transpose_not_callable(jx):
    jx.linear_transpose(None, 1.0)


@case("linear_transpose", "sin")
def transpose_of_nonlinear(jx):
    f = jx.linear_transpose(jx.numpy.sin, np.float32(1.0))
    f(np.float32(1.0))


@case("linear_transpose", "square")
def transpose_of_square(jx):
    f = jx.linear_transpose(square, np.float32(1.0))
    f(np.float32(1.0))


@case()
def transpose_of_affine(jx):
    f = jx.linear_transpose(lambda x: x + 1, np.float32(1.0))
    return f(np.float32(1.0))


@case("linear_transpose of square", "argument: x", "str")
def transpose_text(jx):
    jx.linear_transpose(square, "x")


@case()
def transpose_int(jx):
    f = jx.linear_transpose(lambda x: 2 * x, 3)
    return f(1)


@case("linear_transpose", "argument: fun", "<lambda>, which maps [int32[]] to [float32[]]")
def transpose_int_to_float(jx):
    jx.linear_transpose(lambda x: 2.0 * x, 3)


@case("the transpose of <lambda>", "argument: cotangent", "float32[2]", "float32[3]")
def transposed_shape_differs(jx):
    f = jx.linear_transpose(lambda x: 2 * x, np.ones(3, np.float32))
    f(np.ones(2, np.float32))


@case("the transpose of <lambda>", "argument: cotangent", "float16[3]", "float32[3]")
def transposed_dtype_differs(jx):
    f = jx.linear_transpose(lambda x: 2 * x, np.ones(3, np.float32))
    f(np.ones(3, np.float16))


@case(
    "output is a dict with keys 'a', 'b', but cotangent is a dict with keys 'a'",
    "the transpose of <lambda>: cotangent tree does",
)
def transposed_tree_differs(jx):
    f = jx.linear_transpose(lambda x: {"a": x, "b": x}, np.float32(1.0))
    f({"a": np.float32(1.0)})


@case(
    "the transpose of <lambda>",
    "cotangent",
    "2 arguments",
    "one argument of the structure of the output",
)
def transposed_two_arguments(jx):
    f = jx.linear_transpose(lambda x: (x, x), np.float32(1.0))
    f(1.0, 1.0)


@case("the transpose of <lambda>", "argument: cotangent", "str")
def transposed_text(jx):
    f = jx.linear_transpose(lambda x: 2 * x, np.float32(1.0))
    f("x")
