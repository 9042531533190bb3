"""jit: functions, arguments, options, results."""

from __future__ import annotations

import datetime
import decimal
import functools

import numpy as np

from bad_input import Opaque, add, case, square

# What is given to jit ------------------------------------------------------------------------------


@case("jit", "argument: fun", "1.0, of type float", "a function")
def function_none(jx):
    return jx.jit(None)(1.0)


@case("jit", "argument: fun", "3, of type int", "a function")
def function_number(jx):
    jx.jit(3)


@case("jit", "argument: fun", "'square', of type str", "a function")
def function_text(jx):
    jx.jit("square")


@case("jit", "argument: fun", "a list of length 1", "a function")
def function_list(jx):
    jx.jit([square])


@case("jit", "argument: fun", "an array of type float32[3]", "a function")
def function_called_already(jx):
    jx.jit(square(jx.numpy.ones(3)))


@case("jit", "argument: fun", "a value of type classmethod", "a function")
def function_classmethod_object(jx):
    jx.jit(classmethod(square))


@case("jit() takes from 0 to 1 positional arguments but")
def option_by_position(jx):
    jx.jit(add, 0)


@case("jit() got an unexpected keyword argument")
def option_unknown(jx):
    jx.jit(add, static_args=0)


@case()
def options_without_function(jx):
    return jx.jit(static_argnums=1)(add)(1.0, 2)


@case("jit", "argument: fun", "a function with yield", "a function that returns its result")
def generator_function(jx):
    def f(x):
        yield x

    jx.jit(f)(1.0)


@case()
def function_builtin_len(jx):
    return jx.jit(len)(np.ones(3, np.float32))


@case("args[0] (argument of int)", "tracing `int` for jit")
def function_type_int(jx):
    return jx.jit(int)(1.0)


@case("x (argument of sin)", "tracing `sin` for jit")
def function_numpy_ufunc(jx):
    jx.jit(np.sin)(1.0)


@case()
def function_partial(jx):
    return jx.jit(functools.partial(add, y=2.0))(1.0)


# Arguments -----------------------------------------------------------------------------------------


@case()
def argument_none(jx):
    return jx.jit(lambda x: 1.0 if x is None else 2.0)(None)


@case("jit of f", "argument: mode", "str")
def argument_text(jx):
    def f(x, mode):
        return x

    jx.jit(f)(1.0, "train")


@case("jit of square", "argument: x", "bytes")
def argument_bytes(jx):
    jx.jit(square)(b"abc")


@case("jit of square", "argument: x", "Opaque")
def argument_object(jx):
    jx.jit(square)(Opaque())


@case("jit of square", "argument: x", "set")
def argument_set(jx):
    jx.jit(square)({1.0, 2.0})


@case("jit of square", "argument: x", "range")
def argument_range(jx):
    jx.jit(square)(range(3))


@case("jit of square", "argument: x", "generator")
def argument_generator(jx):
    jx.jit(square)(x for x in (1.0, 2.0))


@case("jit of f", "argument: activation", "function")
def argument_function(jx):
    def f(x, activation):
        return activation(x)

    jx.jit(f)(1.0, square)


@case("jit of square", "argument: x", "type")
def argument_class(jx):
    jx.jit(square)(float)


@case("jit of square", "argument: x", "ellipsis")
def argument_ellipsis(jx):
    jx.jit(square)(...)


@case("jit of square", "argument: x", "Decimal")
def argument_decimal(jx):
    jx.jit(square)(decimal.Decimal("1.5"))


@case("jit of square", "argument: x", "date")
def argument_date(jx):
    jx.jit(square)(datetime.date(2020, 1, 1))


@case("jit of square", "argument: x", "ndarray")
def argument_object_array(jx):
    jx.jit(square)(np.array([1, None], object))


@case("jit of square", "argument: x", "ndarray")
def argument_ragged_object_array(jx):
    jx.jit(square)(np.array([[1, 2], [3]], dtype=object))


@case("jit of square", "argument: x", "ndarray")
def argument_text_array(jx):
    jx.jit(square)(np.array(["a", "b"]))


@case("jit of square", "argument: x", "ndarray")
def argument_date_array(jx):
    jx.jit(square)(np.array(["2020-01-01"], "datetime64[D]"))


@case("jit of square", "argument: x", "ndarray")
def argument_structured_array(jx):
    jx.jit(square)(np.zeros(2, [("a", "f4"), ("b", "i4")]))


@case("jit of square", "argument: x", "longdouble")
def argument_longdouble(jx):
    return jx.jit(square)(np.longdouble(2.0))


@case("jit of square", "argument: x", "x.filled(value)")
def argument_masked_array(jx):
    return jx.jit(square)(np.ma.array([1.0, 2.0], mask=[False, False]))


@case("jit of square", "argument: x", "str_")
def argument_numpy_text(jx):
    jx.jit(square)(np.str_("a"))


@case("array", "shape (2,) at object[0], but shape (1,) at object[1]", "equal shapes")
def argument_ragged_list(jx):
    jx.jit(lambda x: jx.numpy.sum(jx.numpy.array(x)))([[1.0, 2.0], [3.0]])


@case("'list' object has no attribute 'sum'", "tracing `<lambda>` for jit")
def argument_list_used_as_array(jx):
    jx.jit(lambda x: x.sum())([1.0, 2.0])


@case()
def argument_list_times_two(jx):
    return jx.jit(lambda x: x * 2)([1.0, 2.0])


@case("jit of f", "argument: params['layers'][0]['name']", "str")
def argument_deep_text(jx):
    def f(params):
        return params["layers"][0]["w"]

    jx.jit(f)({"layers": [{"w": 1.0, "name": "dense"}]})


@case("jit of f", "argument: config['a'][1][1]", "Opaque")
def argument_deep_object(jx):
    def f(config, x):
        return x

    jx.jit(f)({"a": [1.0, (2.0, Opaque())]}, 1.0)


@case("jit of <lambda>", "the dict d", "'a' (str), 3 (int)")
def argument_dict_of_mixed_keys(jx):
    jx.jit(lambda d: d["a"])({"a": 1.0, 3: 2.0})


@case("1099511627776", "int32, which holds -2147483648 to 2147483647")
def argument_too_large_int(jx):
    return jx.jit(lambda x: x)(2**40)


@case("1208925819614629174706176", "int32")
def argument_huge_int(jx):
    return jx.jit(lambda x: x)(2**80)


@case("jit of f", "argument: mode", "str")
def argument_keyword_text(jx):
    def f(x, *, mode):
        return x

    jx.jit(f)(1.0, mode="train")


@case("jit of f", "argument: xs[2]", "str")
def argument_in_varargs(jx):
    def f(*xs):
        return xs[0]

    jx.jit(f)(1.0, 2.0, "c")


@case("jit of f", "argument: b", "str")
def argument_in_kwargs(jx):
    def f(**named):
        return named["a"]

    jx.jit(f)(a=1.0, b="c")


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for jit")
def arguments_too_few(jx):
    jx.jit(add)(1.0)


@case("add() takes 2 positional arguments but 3 were given", "tracing `add` for jit")
def arguments_too_many(jx):
    jx.jit(add)(1.0, 2.0, 3.0)


@case("add() got an unexpected keyword argument 'z'", "tracing `add` for jit")
def argument_unknown_keyword(jx):
    jx.jit(add)(1.0, 2.0, z=3.0)


@case("add() got multiple values for argument 'y'", "tracing `add` for jit")
def argument_given_twice(jx):
    jx.jit(add)(1.0, 2.0, y=3.0)


@case("jit of Model.call", "argument: self")
def argument_self(jx):
    class Model:
        def __init__(self):
            self.w = 2.0

        @jx.jit
        def call(self, x):
            return self.w * x

    Model().call(1.0)


@case("tracing `square` for jit", "Array has been deleted with shape=float32[3].")
def argument_deleted(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    jx.jit(square)(x)


# Other options -------------------------------------------------------------------------------------


@case("cpu or cuda", "Unknown backend 'abacus'")
def backend_unknown(jx):
    jx.jit(square, backend="abacus")(1.0)


@case("cpu or cuda", "Unknown backend 3")
def backend_number(jx):
    jx.jit(square, backend=3)(1.0)


@case("jit", "argument device must", "'cpu', of type str", "a device from sagax.devices(), or None")
def device_text(jx):
    jx.jit(square, device="cpu")(1.0)


# Results -------------------------------------------------------------------------------------------


@case("jit", "argument: result", "'text', of type str", "an array or a number")
def result_text(jx):
    jx.jit(lambda x: "text")(1.0)


@case("jit", "argument: result['log'][1]", "'text', of type str", "an array or a number")
def result_deep_text(jx):
    def f(x):
        return {"loss": x, "log": [x, "text"]}

    jx.jit(f)(1.0)


@case("jit", "argument: result", "a value of type Opaque", "an array or a number")
def result_object(jx):
    jx.jit(lambda x: Opaque())(1.0)


@case("jit", "argument: result", "the function <lambda>", "an array or a number")
def result_function(jx):
    jx.jit(lambda x: lambda y: x + y)(1.0)


@case()
def result_none(jx):
    return jx.jit(lambda x: None)(1.0)


@case()
def result_empty(jx):
    return jx.jit(lambda x: ((), [], {}))(1.0)


@case("jit", "argument: result", "a value of type set", "an array or a number")
def result_set(jx):
    jx.jit(lambda x: {1.0, 2.0})(1.0)


@case("jit", "argument: result", "a value of type generator", "an array or a number")
def result_generator(jx):
    jx.jit(lambda x: (y for y in [x]))(1.0)


@case("jit", "argument: result", "a value of type map", "an array or a number")
def result_map_object(jx):
    jx.jit(lambda xs: map(square, xs))([1.0, 2.0])


@case("jit", "argument: result", "an array of type object[2]", "an array or a number")
def result_object_array(jx):
    jx.jit(lambda x: np.array([1, None], object))(1.0)


@case("<lambda>", "the dict result", "'a' (str), 1 (int)")
def result_dict_of_mixed_keys(jx):
    jx.jit(lambda x: {"a": x, 1: x})(1.0)


@case()
def result_python_numbers(jx):
    return jx.jit(lambda x: (1, 2.0, True, 3j))(1.0)


@case()
def result_numpy_array(jx):
    return jx.jit(lambda x: np.arange(3))(1.0)


@case("hash", "float32[]", "x (argument of <lambda>)")
def result_holds_set_of_tracer(jx):
    jx.jit(lambda x: {x})(1.0)


# The body ------------------------------------------------------------------------------------------


@case("add", "(3,) and (4,)", "equal sizes, or size 1")
def shapes_that_do_not_broadcast(jx):
    jx.jit(add)(np.ones(3), np.ones(4))


@case(
    "matmul",
    "size 3 (axis 1 of the first) and size 2 (axis 0",
    "equal sizes",
    "a, b (arguments of <lambda>)",
)
def matrix_product_of_wrong_sizes(jx):
    jx.jit(lambda a, b: a @ b)(np.ones((2, 3)), np.ones((2, 3)))


@case("unsupported operand type(s) for +:", "and 'str'", "while tracing `<lambda>` for jit")
def text_in_arithmetic(jx):
    jx.jit(lambda x: x + "1")(1.0)


@case("unsupported operand type(s) for +:", "and 'NoneType'", "while tracing `<lambda>` for jit")
def none_in_arithmetic(jx):
    jx.jit(lambda x: x + None)(1.0)


@case("sin", "None", "an array or a number")
def none_result_of_inner_function(jx):
    def inner(x):
        x * 2

    jx.jit(lambda x: jx.numpy.sin(inner(x)))(1.0)


@case("[1.0, 2.0]", "an array or a number")
def list_in_arithmetic(jx):
    jx.jit(lambda x: x + [1.0, 2.0])(np.ones(2))


@case("'weights'", "tracing `<lambda>` for jit")
def missing_key(jx):
    jx.jit(lambda p: p["weights"])({"w": 1.0})


@case("has no attribute 'numpy'", "while tracing `<lambda>` for jit")
def missing_attribute(jx):
    jx.jit(lambda x: x.numpy())(1.0)


@case("expected two numbers", "tracing `f` for jit")
def users_assertion(jx):
    def f(x):
        assert x.shape == (2,), "expected two numbers"
        return x

    jx.jit(f)(np.ones(3))


@case("while tracing `<lambda>` for jit")
def infinite_recursion(jx):
    f = jx.jit(lambda x: f(x) + 1)
    f(1.0)


@case("while tracing `g` for jit")
def python_recursion_without_end(jx):
    def g(x):
        return g(x) + 1

    jx.jit(g)(1.0)
