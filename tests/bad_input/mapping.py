"""vmap: sizes, axes of arguments and results, names."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

three, four = np.ones(3, np.float32), np.ones(4, np.float32)


@case("vmap", "argument: fun", "got: None", "a function")
def function_none(jx):
    jx.vmap(None)


@case("vmap", "argument: fun", "an array of type float32[3]", "a function")
def function_called_already(jx):
    jx.vmap(square(jx.numpy.ones(3)))


@case("vmap", "size 3: axis 0 of x (float32[3])", "size 4: axis 0 of y (float32[4])")
def sizes_differ(jx):
    def distance(x, y):
        return x - y

    jx.vmap(distance)(three, four)


@case("size 3: axis 0 of a (float32[3]), axis 0 of b", "size 4: axis 0 of c (float32[4])")
def sizes_differ_among_many(jx):
    def f(a, b, c, d):
        return a + b + c + d

    jx.vmap(f)(three, three, four, three)


@case("axis 0 of params['b'] (float32[3])", "size 5: axis 0 of params['w'][1] (float32[5,2])")
def sizes_differ_in_tree(jx):
    def f(params, x):
        return x

    jx.vmap(f)({"w": [np.ones((3, 2)), np.ones((5, 2))], "b": np.ones(3)}, three)


@case("size 3: axis 0 of x (float32[3,4])", "size 4: axis 1 of y (float32[3,4])")
def sizes_differ_with_other_axes(jx):
    jx.vmap(add, in_axes=(0, 1))(np.ones((3, 4)), np.ones((3, 4)))


@case("size 3: axis 0 of x", "size 4: axis 0 of scale (float32[4])")
def sizes_differ_with_keyword(jx):
    def f(x, *, scale):
        return x * scale

    jx.vmap(f)(three, scale=four)


@case("size 3: axis 0 of x", "size 4: the argument axis_size")
def axis_size_differs(jx):
    jx.vmap(square, axis_size=4)(three)


@case("vmap", "argument axis_size must", "got -1", "an int of at least 0: the number of examples")
def axis_size_negative(jx):
    jx.vmap(lambda: 1.0, axis_size=-1)()


@case("vmap", "argument axis_size must", "got '3'", "an int of at least 0: the number of examples")
def axis_size_text(jx):
    jx.vmap(lambda: 1.0, axis_size="3")()


@case("vmap", "argument axis_size must", "got 3.0", "an int of at least 0: the number of examples")
def axis_size_float(jx):
    return jx.vmap(lambda: 1.0, axis_size=3.0)()


@case()
def axis_size_zero(jx):
    return jx.vmap(lambda: 1.0, axis_size=0)()


@case()
def axis_size_numpy(jx):
    return jx.vmap(lambda x: x, axis_size=np.int64(3))(three)


@case("vmap", "argument: x", "got: 3.0", "an array of rank 1 or more")
def scalar_argument(jx):
    jx.vmap(square)(3.0)


@case("vmap", "argument: factor", "got: 2.0", "an array of rank 1 or more")
def scalar_second_argument(jx):
    def f(x, factor):
        return x * factor

    jx.vmap(f)(three, 2.0)


@case("vmap", "argument: params['scale']", "got: 2.0", "an array of rank 1 or more")
def scalar_leaf(jx):
    def f(params):
        return params["w"]

    jx.vmap(f)({"w": three, "scale": 2.0})


@case("vmap", "argument: scale", "got: 2.0", "an array of rank 1 or more")
def keyword_scalar(jx):
    def f(x, *, scale):
        return x * scale

    jx.vmap(f)(three, scale=2.0)


@case("vmap", "argument: x", "float32[3]", "an array of rank 2 or more")
def axis_beyond(jx):
    jx.vmap(square, in_axes=1)(three)


@case("vmap", "argument: x", "float32[3]", "an array of rank 2 or more")
def axis_beyond_negative(jx):
    jx.vmap(square, in_axes=-2)(three)


@case("vmap", "argument: params['w']", "float64[3,2]", "an array of rank 3 or more")
def axis_beyond_in_tree(jx):
    def f(params, x):
        return x

    jx.vmap(f, in_axes=({"w": 2, "b": 0}, 0))({"w": np.ones((3, 2)), "b": three}, three)


@case("vmap", "argument: in_axes", "an axis of some argument, or axis_size")
def nothing_mapped(jx):
    jx.vmap(square, in_axes=None)(three)


@case("vmap", "argument: in_axes", "an axis of some argument, or axis_size")
def nothing_mapped_in_tuple(jx):
    jx.vmap(add, in_axes=(None, None))(three, three)


@case("vmap", "argument: in_axes", "an axis of some argument, or axis_size")
def no_arguments(jx):
    jx.vmap(lambda: 1.0)()


@case("vmap", "argument: in_axes", "an axis of some argument, or axis_size")
def empty_tree_argument(jx):
    jx.vmap(lambda d: 1.0)({})


@case("vmap", "argument: in_axes", "got: (0,)", "one entry for each positional argument: 2")
def in_axes_too_short(jx):
    jx.vmap(add, in_axes=(0,))(three, three)


@case("vmap", "argument: in_axes", "got: (0, 0)", "one entry for each positional argument: 1")
def in_axes_too_long(jx):
    jx.vmap(square, in_axes=(0, 0))(three)


@case("vmap", "argument: in_axes", "got: (0, 0)", "one entry for each positional argument: 1")
def in_axes_counts_keyword(jx):
    jx.vmap(add, in_axes=(0, 0))(three, y=three)


@case("vmap", "argument: in_axes", "got: '0'", "an int, None, or a tuple with an int, None or a")
def in_axes_text(jx):
    jx.vmap(square, in_axes="0")(three)


@case("vmap", "argument: in_axes", "got: 0.0", "an int, None, or a tuple with an int, None or a")
def in_axes_float(jx):
    jx.vmap(square, in_axes=0.0)(three)


@case("vmap", "argument: in_axes", "got: False", "an int, None, or a tuple with an int, None or a")
def in_axes_bool(jx):
    return jx.vmap(square, in_axes=False)(three)


@case(
    "vmap", "argument: in_axes", "got: int64[]", "an int, None, or a tuple with an int, None or a"
)
def in_axes_numpy_int(jx):
    return jx.vmap(square, in_axes=np.int64(0))(three)


@case("vmap", "argument: in_axes", "(int64[],)", "an int, None, or a tuple with an int, None or a")
def in_axes_numpy_int_in_tuple(jx):
    return jx.vmap(square, in_axes=(np.int64(0),))(three)


@case("vmap", "argument: in_axes", "int64[1]", "an int, None, or a tuple with an int, None or a")
def in_axes_array(jx):
    jx.vmap(square, in_axes=np.array([0]))(three)


@case("vmap", "argument: in_axes", "got: {0}", "an int, None, or a tuple with an int, None or a")
def in_axes_set(jx):
    jx.vmap(square, in_axes={0})(three)


@case(
    "vmap",
    "argument: in_axes",
    "{'x': 0, 'y': None}",
    "an int, None, or a tuple with an int, None or a",
)
def in_axes_dict_for_arguments(jx):
    return jx.vmap(add, in_axes={"x": 0, "y": None})(three, 1.0)


@case()
def in_axes_list(jx):
    return jx.vmap(add, in_axes=[0, None])(three, 1.0)


@case("vmap", "argument: in_axes", "Opaque()", "an int, None, or a tuple with an int, None or a")
def in_axes_object(jx):
    jx.vmap(square, in_axes=Opaque())(three)


@case(
    "vmap", "argument: in_axes", "(0, 'batch')", "an int, None, or a tuple with an int, None or a"
)
def in_axes_text_in_tuple(jx):
    jx.vmap(add, in_axes=(0, "batch"))(three, three)


@case(
    "argument: in_axes[0]", "in_axes[0] is a dict with keys 'v', but params is a dict with keys 'w'"
)
def in_axes_dict_of_other_keys(jx):
    def f(params, x):
        return params["w"] * x

    jx.vmap(f, in_axes=({"v": 0}, 0))({"w": three}, three)


@case("argument: in_axes[0]", "but params is a dict with keys 'b', 'w'")
def in_axes_dict_of_fewer_keys(jx):
    def f(params, x):
        return params["w"] * x

    jx.vmap(f, in_axes=({"w": 0}, 0))({"w": three, "b": three}, three)


@case("in_axes[0] is a dict with keys 'w', but x is a leaf")
def in_axes_dict_for_array(jx):
    jx.vmap(square, in_axes=({"w": 0},))(three)


@case("in_axes[0] is a tuple of length 2, but xs is a list of length 2")
def in_axes_tuple_for_list(jx):
    jx.vmap(lambda xs: xs[0], in_axes=((0, 0),))([three, three])


@case("in_axes[0]['a'] is a dict with keys 'b', but d['a'] is a leaf")
def in_axes_deeper_than_value(jx):
    jx.vmap(lambda d: d["a"], in_axes=({"a": {"b": 0}},))({"a": three})


@case()
def in_axes_prefix(jx):
    return jx.vmap(lambda d, c: d["a"][0] + c, in_axes=({"a": 0, "b": None}, None))(
        {"a": [three, three], "b": 2.0}, 1.0
    )


@case()
def in_axes_none_for_text(jx):
    return jx.vmap(lambda x, mode: x, in_axes=(0, None))(three, "train")


@case()
def in_axes_none_for_object(jx):
    return jx.vmap(lambda x, o: x, in_axes=(0, None))(three, Opaque())


@case()
def in_axes_zero_for_none(jx):
    return jx.vmap(lambda x, n: x, in_axes=(0, 0))(three, None)


@case("vmap of square", "argument: x", "str")
def argument_text(jx):
    jx.vmap(square)("abc")


@case("vmap of f", "argument: params['o']", "Opaque")
def argument_object_in_tree(jx):
    def f(params):
        return params["w"]

    jx.vmap(f)({"w": three, "o": Opaque()})


@case("vmap of square", "argument: x", "ndarray")
def argument_ragged_array(jx):
    jx.vmap(square)(np.array([[1.0], [1.0, 2.0]], dtype=object))


@case("vmap", "argument: x[0]", "got: 1.0", "an array of rank 1 or more")
def argument_list_of_numbers(jx):
    jx.vmap(square)([1.0, 2.0, 3.0])


@case()
def argument_list_of_arrays(jx):
    return jx.vmap(lambda xs: xs[0] + xs[1])([three, three])


@case("vmap of square", "argument: x", "set")
def argument_set(jx):
    jx.vmap(square)({1.0})


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for vmap")
def too_few(jx):
    jx.vmap(add)(three)


@case("square() takes 1 positional argument but 2 were given", "tracing `square` for vmap")
def too_many(jx):
    jx.vmap(square)(three, three)


@case("square() got an unexpected keyword argument 'y'", "tracing `square` for vmap")
def unknown_keyword(jx):
    jx.vmap(square)(three, y=three)


@case(
    "vmap",
    "argument: out_axes",
    "got: None",
    "an int where the result depends on a mapped argument",
)
def out_axes_none_for_mapped(jx):
    jx.vmap(square, out_axes=None)(three)


@case(
    "vmap",
    "out_axes",
    "{'a': None, 'b': None}",
    "an int where the result depends on a mapped argument",
)
def out_axes_none_for_mapped_leaf(jx):
    jx.vmap(lambda x: {"a": 1.0, "b": [x]}, out_axes={"a": None, "b": None})(three)


@case("vmap", "argument: out_axes", "got: 1", "an axis from -1 to 0")
def out_axes_beyond(jx):
    jx.vmap(square, out_axes=1)(three)


@case("vmap", "argument: out_axes", "got: -2", "an axis from -1 to 0")
def out_axes_beyond_negative(jx):
    jx.vmap(square, out_axes=-2)(three)


@case("vmap", "argument: out_axes", "got: 1", "an axis from -1 to 0")
def out_axes_beyond_for_unmapped(jx):
    jx.vmap(lambda x: 1.0, out_axes=1)(three)


@case(
    "vmap", "argument: out_axes", "got: (0, 0)", "a prefix of the structure of the result of square"
)
def out_axes_tuple_for_array(jx):
    jx.vmap(square, out_axes=(0, 0))(three)


@case(
    "vmap",
    "argument: out_axes",
    "got: (0, 0)",
    "a prefix of the structure of the result of <lambda>",
)
def out_axes_too_short(jx):
    jx.vmap(lambda x: (x, x, x), out_axes=(0, 0))(three)


@case(
    "vmap", "argument: out_axes", "{'b': 0}", "a prefix of the structure of the result of <lambda>"
)
def out_axes_other_keys(jx):
    jx.vmap(lambda x: {"a": x}, out_axes={"b": 0})(three)


@case("vmap", "argument out_axes must", "got '0'", "an int, None, or a pytree of them")
def out_axes_text(jx):
    jx.vmap(square, out_axes="0")(three)


@case("vmap", "argument out_axes must", "got 0.0", "an int, None, or a pytree of them")
def out_axes_float(jx):
    jx.vmap(square, out_axes=0.0)(three)


@case("vmap", "argument out_axes must", "got False", "an int, None, or a pytree of them")
def out_axes_bool(jx):
    return jx.vmap(square, out_axes=False)(three)


@case("vmap", "argument out_axes must", "got int64[]", "an int, None, or a pytree of them")
def out_axes_numpy_int(jx):
    return jx.vmap(square, out_axes=np.int64(0))(three)


@case(
    "vmap",
    "argument: out_axes",
    "got: [0, 0]",
    "a prefix of the structure of the result of <lambda>",
)
def out_axes_list_for_tuple(jx):
    jx.vmap(lambda x: (x, x), out_axes=[0, 0])(three)


@case()
def out_axes_for_none_result(jx):
    return jx.vmap(lambda x: None, out_axes=0)(three)


@case()
def out_axes_empty_tuple(jx):
    return jx.vmap(lambda x: (), out_axes=())(three)


@case("vmap", "argument: result", "'text', of type str", "an array or a number")
def result_text(jx):
    jx.vmap(lambda x: "text")(three)


@case("vmap", "argument: result['a']", "a value of type Opaque", "an array or a number")
def result_object(jx):
    jx.vmap(lambda x: {"a": Opaque()})(three)


@case()
def result_none(jx):
    return jx.vmap(lambda x: None)(three)


@case()
def result_constant(jx):
    return jx.vmap(lambda x: 7)(three)


@case()
def result_of_different_ranks(jx):
    return jx.vmap(lambda x: (x, np.ones((2,), np.float32)))(three)


@case("tracing `<lambda>` for vmap", "bool[]")
def if_on_mapped_value(jx):
    jx.vmap(lambda x: x if x > 0 else -x)(three)


@case("tracing `<lambda>` for vmap", "Abstract tracer value encountered where concrete")
def float_of_mapped_value(jx):
    jx.vmap(lambda x: float(x))(three)


@case("tracing `<lambda>` for vmap", "Abstract tracer value encountered where concrete")
def item_of_mapped_value(jx):
    jx.vmap(lambda x: x.item())(three)


@case("len() of a scalar: the value has shape ()", "tracing `<lambda>` for vmap")
def len_of_mapped_scalar(jx):
    jx.vmap(lambda x: len(x))(three)


@case("iteration over a 0-d array", "tracing `<lambda>` for vmap")
def iterating_over_mapped_scalar(jx):
    jx.vmap(lambda x: [y + 1 for y in x])(three)


@case("tracing `<lambda>` for vmap", "float32[]")
def numpy_of_mapped_value(jx):
    jx.vmap(lambda x: np.sin(x))(three)


@case("tracing `<lambda>` for vmap", "int32[]")
def mapped_value_as_index_of_list(jx):
    jx.vmap(lambda i: [1.0, 2.0, 3.0][i])(np.arange(3))


@case("tracing `<lambda>` for vmap", "unbound axis name: batch; no named axis is in scope")
def axis_name_unbound(jx):
    jx.vmap(lambda x: jx.lax.psum(x, "batch"))(three)


@case("tracing `<lambda>` for vmap", "unbound axis name: batch; the axes in scope are 'rows'")
def axis_name_other(jx):
    jx.vmap(lambda x: jx.lax.psum(x, "batch"), axis_name="rows")(three)


@case("tracing `<lambda>` for jit", "unbound axis name: devices; no named axis is in scope")
def axis_name_unbound_in_jit(jx):
    jx.jit(lambda x: jx.lax.pmean(x, axis_name="devices"))(three)


@case("unbound axis name: i; no named axis is in scope")
def axis_index_unbound(jx):
    jx.lax.axis_index("i")


@case("vmap", "argument axis_name must", "got ['i']", "a string, or another hashable value")
def axis_name_unhashable(jx):
    jx.vmap(lambda x: jx.lax.psum(x, "i"), axis_name=["i"])(three)


@case("psum: argument axis must be an axis of an array", "tracing `<lambda>` for vmap")
def axis_name_number(jx):
    return jx.vmap(lambda x: jx.lax.psum(x, 3), axis_name=3)(three)


@case("str", "tracing `<lambda>` for vmap")
def psum_of_text(jx):
    jx.vmap(lambda x: jx.lax.psum("x", "i"), axis_name="i")(three)


@case("ppermute", "argument: perm", "((0, 1), (2, 1))")
def ppermute_with_repeated_target(jx):
    jx.vmap(lambda x: jx.lax.ppermute(x, "i", [(0, 1), (2, 1)]), axis_name="i")(three)


@case("vmap() got an unexpected keyword argument 'axis'")
def in_axes_option_after_call(jx):
    jx.vmap(square, axis=0)


@case()
def spare_axis(jx):
    return jx.vmap(lambda x: x, in_axes=-1, out_axes=-1)(np.ones((2, 3), np.float32)).shape


@case("add", "(3, 4) and (3, 5)", "equal sizes, or size 1")
def shapes_inside_do_not_fit(jx):
    jx.vmap(lambda x, y: x + y)(np.ones((3, 4)), np.ones((3, 5)))


@case()
def nested_names(jx):
    return jx.vmap(jx.vmap(lambda x: jx.lax.psum(x, ("i", "j")), axis_name="j"), axis_name="i")(
        np.ones((2, 3), np.float32)
    )


@case()
def size_zero(jx):
    return jx.vmap(square)(np.ones((0, 2), np.float32))
