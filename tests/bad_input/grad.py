"""grad and value_and_grad."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

# grad: arguments -----------------------------------------------------------------------------------


@case("grad", "argument: fun", "got: None", "a function")
def grad_of_none(jx):
    jx.grad(None)


@case("grad", "argument: fun", "an array of type float32[]", "a function")
def grad_of_a_value(jx):
    jx.grad(square(jx.numpy.ones(())))


@case("value_and_grad", "argument: fun", "'loss', of type str", "a function")
def grad_of_text(jx):
    jx.value_and_grad("loss")


@case("grad", "argument: x", "got: 3", "floating point numbers")
def grad_at_int(jx):
    jx.grad(square)(3)


@case("grad", "argument: x", "got: True", "floating point numbers")
def grad_at_bool(jx):
    jx.grad(square)(True)


@case("grad", "argument: x", "int64[3]", "floating point numbers")
def grad_at_int_array(jx):
    jx.grad(lambda x: jx.numpy.sum(x**2))(np.arange(3))


@case("grad", "argument: params['layers'][0]['steps']", "got: 3", "floating point numbers")
def grad_at_int_leaf(jx):
    def loss(params):
        return params["layers"][0]["w"] * 2.0

    jx.grad(loss)({"layers": [{"w": 1.0, "steps": 3}]})


@case("value_and_grad", "argument: n", "got: 3", "floating point numbers")
def grad_at_second_argument_int(jx):
    def loss(w, n):
        return w * n

    jx.value_and_grad(loss, argnums=(0, 1))(1.0, 3)


@case("grad of square", "argument: x", "str")
def grad_at_text(jx):
    jx.grad(square)("x")


@case("unsupported operand type(s) for *: 'NoneType' and 'NoneType'", "tracing `square` for grad")
def grad_at_none(jx):
    jx.grad(square)(None)


@case("grad of loss", "argument: model", "Opaque")
def grad_at_object(jx):
    def loss(model, x):
        return x

    jx.grad(loss)(Opaque(), 1.0)


@case()
def grad_other_argument_is_object(jx):
    return jx.grad(lambda x, o: x * 2)(1.0, Opaque())


@case()
def grad_other_argument_is_text(jx):
    return jx.grad(lambda x, mode: x * len(mode))(1.0, "abc")


@case("grad of square", "argument: x", "ndarray")
def grad_at_object_array(jx):
    jx.grad(square)(np.array(None, object))


@case()
def grad_at_complex(jx):
    return jx.grad(lambda z: jx.numpy.abs(z))(1 + 2j)


@case("grad", "argument: x", "got: 1.0", "complex numbers")
def grad_holomorphic_at_real(jx):
    jx.grad(square, holomorphic=True)(1.0)


@case("grad", "float32[]", "complex numbers")
def grad_holomorphic_of_real_result(jx):
    jx.grad(lambda z: jx.numpy.abs(z), holomorphic=True)(1 + 2j)


@case("grad", "complex64[]", "a floating point scalar")
def grad_of_complex_result(jx):
    jx.grad(lambda x: x * 1j)(1.0)


@case()
def grad_allow_int(jx):
    return jx.grad(lambda i: i * 2.0, allow_int=True)(3)


@case("grad", "argument: k", "key<fry>[]", "floating point numbers")
def grad_at_key(jx):
    jx.grad(lambda k: jx.random.normal(k))(jx.random.key(0))


@case()
def grad_with_key_beside(jx):
    return jx.grad(lambda x, k: x * 2)(1.0, jx.random.key(0))


@case("grad", "argument: argnums", "got: 0", "arguments passed by position")
def grad_no_arguments(jx):
    jx.grad(lambda: 1.0)()


@case("grad", "argument: argnums", "got: 0", "arguments passed by position")
def grad_by_keyword_only(jx):
    jx.grad(square)(x=3.0)


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for grad")
def grad_too_few(jx):
    jx.grad(add)(1.0)


@case("square() takes 1 positional argument but 2 were given", "tracing `square` for grad")
def grad_too_many(jx):
    jx.grad(square)(1.0, 2.0)


@case("square() got an unexpected keyword argument 'y'", "tracing `square` for grad")
def grad_unknown_keyword(jx):
    jx.grad(square)(1.0, y=2.0)


@case()
def grad_empty_tree(jx):
    return jx.grad(lambda p: 1.0)({})


@case()
def grad_of_empty_array(jx):
    return jx.grad(lambda x: jx.numpy.sum(x))(np.zeros((0,), np.float32))


@case("grad of <lambda>", "the dict d", "'a' (str), 1 (int)")
def grad_dict_of_mixed_keys(jx):
    jx.grad(lambda d: d["a"])({"a": 1.0, 1: 2.0})


@case()
def grad_at_list(jx):
    return jx.grad(lambda xs: xs[0] * xs[1])([2.0, 3.0])


@case("unsupported operand type(s) for ** or pow():", "tracing `<lambda>` for grad")
def grad_at_list_used_as_array(jx):
    jx.grad(lambda x: (x**2).sum())([1.0, 2.0])


# argnums -------------------------------------------------------------------------------------------


@case("grad", "argument: argnums", "got: 2", "a position from -2 to 1")
def argnums_beyond(jx):
    jx.grad(add, argnums=2)(1.0, 2.0)


@case("grad", "argument: argnums", "got: -3", "a position from -2 to 1")
def argnums_beyond_negative(jx):
    jx.grad(add, argnums=-3)(1.0, 2.0)


@case("grad", "argument: argnums", "got: 2", "a position from -2 to 1")
def argnums_one_of_several_beyond(jx):
    jx.grad(add, argnums=(0, 2))(1.0, 2.0)


@case("grad", "argument: argnums", "got: 1", "a position from -1 to 0")
def argnums_given_by_keyword(jx):
    jx.grad(add, argnums=1)(1.0, y=2.0)


@case()
def argnums_negative(jx):
    return jx.grad(lambda x, y: x * y, argnums=-1)(2.0, 3.0)


@case(
    "grad", "argument argnums must", "'x'", "an int or a sequence of ints: positions of arguments"
)
def argnums_text(jx):
    jx.grad(add, argnums="x")(1.0, 2.0)


@case(
    "grad", "argument argnums must", "1.0", "an int or a sequence of ints: positions of arguments"
)
def argnums_float(jx):
    jx.grad(add, argnums=1.0)(1.0, 2.0)


@case(
    "grad", "argument argnums must", "None", "an int or a sequence of ints: positions of arguments"
)
def argnums_none(jx):
    jx.grad(add, argnums=None)(1.0, 2.0)


@case(
    "grad",
    "argument argnums must",
    "((0, 1),)",
    "an int or a sequence of ints: positions of arguments",
)
def argnums_nested(jx):
    jx.grad(add, argnums=((0, 1),))(1.0, 2.0)


@case()
def argnums_bool(jx):
    return jx.grad(lambda x, y: x * y, argnums=True)(2.0, 3.0)


@case()
def argnums_list(jx):
    return jx.grad(lambda x, y: x * y, argnums=[0, 1])(2.0, 3.0)


@case()
def argnums_empty(jx):
    return jx.grad(lambda x, y: x * y, argnums=())(2.0, 3.0)


@case("grad", "argument argnums must", "got (0, 0)", "positions without repetition")
def argnums_repeated(jx):
    return jx.grad(lambda x, y: x * y, argnums=(0, 0))(2.0, 3.0)


@case("grad", "argument argnums must", "got (1, -1)", "positions without repetition")
def argnums_repeated_by_sign(jx):
    return jx.grad(lambda x, y: x * y, argnums=(1, -1))(2.0, 3.0)


@case()
def argnums_numpy_int(jx):
    return jx.grad(lambda x, y: x * y, argnums=np.int64(1))(2.0, 3.0)


@case()
def argnums_numpy_array(jx):
    return jx.grad(lambda x, y: x * y, argnums=np.array([0, 1]))(2.0, 3.0)


@case()
def argnums_array(jx):
    return jx.grad(lambda x, y: x * y, argnums=jx.numpy.array(1))(2.0, 3.0)


@case()
def argnums_set(jx):
    return jx.grad(lambda x, y: x * y, argnums={0, 1})(2.0, 3.0)


@case()
def argnums_range(jx):
    return jx.grad(lambda x, y: x * y, argnums=range(2))(2.0, 3.0)


@case(
    "grad",
    "argument argnums must",
    "{'x': 0}",
    "an int or a sequence of ints: positions of arguments",
)
def argnums_dict(jx):
    jx.grad(add, argnums={"x": 0})(1.0, 2.0)


# grad: results -------------------------------------------------------------------------------------


@case("grad", "float32[3]", "loss to return an array of shape ()")
def grad_of_vector(jx):
    def loss(x):
        return x * 2

    jx.grad(loss)(np.ones(3, np.float32))


@case("grad", "float32[1]", "<lambda> to return an array of shape ()")
def grad_of_one_element(jx):
    jx.grad(lambda x: x)(np.ones((1,), np.float32))


@case("grad", "got: int32[]", "a floating point scalar")
def grad_of_int_result(jx):
    jx.grad(lambda x: jx.numpy.int32(3))(1.0)


@case("grad", "got: bool[]", "a floating point scalar")
def grad_of_bool_result(jx):
    jx.grad(lambda x: x > 0)(1.0)


@case()
def grad_of_python_float(jx):
    return jx.grad(lambda x: 3.0)(1.0)


@case("grad", "got: int32[]", "a floating point scalar")
def grad_of_python_int(jx):
    jx.grad(lambda x: 3)(1.0)


@case("grad", "got: None", "loss to return one scalar")
def grad_of_none_result(jx):
    def loss(x):
        x * 2

    jx.grad(loss)(1.0)


@case("grad", "a tuple of length 2", "<lambda> to return one scalar")
def grad_of_pair(jx):
    jx.grad(lambda x: (x, x))(1.0)


@case("grad", "a list of length 1", "<lambda> to return one scalar")
def grad_of_list_of_one(jx):
    jx.grad(lambda x: [x])(1.0)


@case("grad", "a dict with keys 'loss'", "<lambda> to return one scalar")
def grad_of_dict(jx):
    jx.grad(lambda x: {"loss": x})(1.0)


@case("grad", "argument: result", "'loss', of type str", "an array or a number")
def grad_of_text_result(jx):
    jx.grad(lambda x: "loss")(1.0)


@case("grad", "argument: result", "a value of type Opaque", "an array or a number")
def grad_of_object_result(jx):
    jx.grad(lambda x: Opaque())(1.0)


@case("`float` function", "x (argument of <lambda>)", "stop_gradient")
def grad_of_float_conversion(jx):
    return jx.grad(lambda x: float(x) * x)(2.0)


@case()
def grad_of_item(jx):
    return jx.grad(lambda x: x.item() * x)(2.0)


@case("tracing `<lambda>` for grad", "float32[]")
def grad_of_numpy_function(jx):
    jx.grad(lambda x: np.sin(x))(2.0)


@case("tracing `<lambda>` for grad", "float32[3]")
def grad_of_numpy_array_conversion(jx):
    jx.grad(lambda x: jx.numpy.sum(np.asarray(x)))(np.ones(3, np.float32))


@case(
    "while_loop",
    "a loop whose number of rounds is not known when it is traced",
    "a number of rounds known at trace time",
)
def grad_of_while_loop(jx):
    def f(x):
        return jx.lax.while_loop(lambda v: v < 10.0, lambda v: v * x, x)

    jx.grad(f)(2.0)


@case(
    "while_loop",
    "a loop whose number of rounds is not known when it is traced",
    "a number of rounds known at trace time",
)
def grad_of_fori_loop_with_traced_bound(jx):
    def f(x, n):
        return jx.lax.fori_loop(0, n, lambda i, v: v * x, 1.0)

    jx.jit(jx.grad(f))(2.0, 3)


@case()
def grad_through_jit_static_is_fine(jx):
    f = jx.jit(lambda x, n: x**n, static_argnums=1)
    return jx.grad(f)(2.0, 3)


@case("jit", "argument: n", "an array of type float32[]", "a hashable value")
def grad_through_argument_static_of_jit(jx):
    f = jx.jit(lambda x, n: x * n, static_argnums=1)
    jx.grad(f, argnums=1)(2.0, 3.0)


# has_aux -------------------------------------------------------------------------------------------


@case("grad", "square must return a pair", "got: an array of type float32[]")
def aux_missing(jx):
    jx.grad(square, has_aux=True)(1.0)


@case("grad", "a tuple of length 3", "a pair (output, auxiliary data)")
def aux_three(jx):
    jx.grad(lambda x: (x, 1, 2), has_aux=True)(1.0)


@case()
def aux_list_of_two(jx):
    return jx.grad(lambda x: [x, 1], has_aux=True)(1.0)


@case("value_and_grad", "got: None", "a pair (output, auxiliary data)")
def aux_none_result(jx):
    jx.value_and_grad(lambda x: None, has_aux=True)(1.0)


@case("grad", "float32[3]", "<lambda> to return an array of shape ()")
def aux_first_is_vector(jx):
    jx.grad(lambda x: (x, 1), has_aux=True)(np.ones(3, np.float32))


@case("grad", "a dict with keys 'logits'", "<lambda> to return one scalar")
def aux_swapped(jx):
    jx.grad(lambda x: ({"logits": x}, x), has_aux=True)(1.0)


@case()
def aux_text(jx):
    return jx.grad(lambda x: (x, "note"), has_aux=True)(1.0)


@case()
def aux_none(jx):
    return jx.grad(lambda x: (x, None), has_aux=True)(1.0)


@case("value_and_grad", "a tuple of length 2", "<lambda> to return one scalar")
def aux_pair_without_has_aux(jx):
    jx.value_and_grad(lambda x: (x, {"accuracy": x}))(1.0)


@case()
def aux_of_object_under_jit(jx):
    return jx.jit(lambda x: jx.grad(lambda y: (y, "note"), has_aux=True)(x)[0])(1.0)
