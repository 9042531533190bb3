"""jacfwd, jacrev and hessian."""

from __future__ import annotations

import numpy as np

from bad_input import add, case, square

# Jacobians -----------------------------------------------------------------------------------------


@case("jacfwd", "argument: fun", "3.0, of type float", "a function")
def jacfwd_not_callable(jx):
    jx.jacfwd(3.0)


@case("jacrev", "argument: fun", "got: None", "a function")
def jacrev_not_callable(jx):
    jx.jacrev(None)


@case("hessian", "argument: fun", "a list of length 1", "a function")
def hessian_not_callable(jx):
    jx.hessian([1.0])


@case("jacfwd", "argument: x", "got: 3", "floating point numbers")
def jacfwd_at_int(jx):
    jx.jacfwd(square)(3)


@case("jacrev", "argument: x", "int64[3]", "floating point numbers")
def jacrev_at_int_array(jx):
    jx.jacrev(square)(np.arange(3))


@case("hessian", "argument: x", "got: 3", "floating point numbers")
def hessian_at_int(jx):
    jx.hessian(square)(3)


@case("jacfwd", "argument: x", "got: 1j", "real numbers")
def jacfwd_at_complex(jx):
    jx.jacfwd(square)(1j)


@case("jacrev of square", "argument: result", "complex64[]", "floating point numbers")
def jacrev_at_complex(jx):
    jx.jacrev(square)(1j)


@case("jacfwd", "argument: x", "got: 1.0", "complex numbers")
def jacfwd_holomorphic_at_real(jx):
    jx.jacfwd(square, holomorphic=True)(1.0)


@case("jacrev", "argument: x", "got: 1.0", "complex numbers")
def jacrev_holomorphic_at_real(jx):
    jx.jacrev(square, holomorphic=True)(1.0)


@case("jacfwd of <lambda>", "argument: result", "float32[]", "complex numbers")
def jacfwd_holomorphic_real_result(jx):
    jx.jacfwd(lambda z: jx.numpy.abs(z), holomorphic=True)(1j)


@case()
def jacfwd_of_int_result(jx):
    return jx.jacfwd(lambda x: jx.numpy.round(x).astype("int32"))(1.0)


@case("jacrev of <lambda>", "argument: result", "got: int32[]", "floating point numbers")
def jacrev_of_int_result(jx):
    jx.jacrev(lambda x: jx.numpy.round(x).astype("int32"))(1.0)


@case("jacrev of <lambda>", "argument: result", "complex64[]", "floating point numbers")
def jacrev_of_complex_result(jx):
    jx.jacrev(lambda x: x * 1j)(1.0)


@case("jacfwd", "argument: argnums", "got: 2", "a position from -2 to 1")
def jacfwd_argnums_beyond(jx):
    jx.jacfwd(add, argnums=2)(1.0, 2.0)


@case("jacrev", "argument: argnums", "got: -3", "a position from -2 to 1")
def jacrev_argnums_beyond(jx):
    jx.jacrev(add, argnums=-3)(1.0, 2.0)


@case(
    "hessian",
    "argument argnums must",
    "'x'",
    "an int or a sequence of ints: positions of arguments",
)
def hessian_argnums_text(jx):
    jx.hessian(add, argnums="x")(1.0, 2.0)


@case(
    "jacfwd", "argument argnums must", "'x'", "an int or a sequence of ints: positions of arguments"
)
def jacfwd_argnums_text(jx):
    jx.jacfwd(add, argnums="x")(1.0, 2.0)


@case("jacfwd of square", "argument: x", "str")
def jacfwd_at_text(jx):
    jx.jacfwd(square)("x")


@case("unsupported operand type(s) for *: 'NoneType' and 'NoneType'", "tracing `square` for jacrev")
def jacrev_at_none(jx):
    jx.jacrev(square)(None)


@case("jacfwd", "an array of type float32[]", "a pair (output, auxiliary data)")
def jacfwd_aux_missing(jx):
    jx.jacfwd(square, has_aux=True)(1.0)


@case("jacrev", "an array of type float32[]", "a pair (output, auxiliary data)")
def jacrev_aux_missing(jx):
    jx.jacrev(square, has_aux=True)(1.0)


@case("hessian", "an array of type float32[]", "a pair (output, auxiliary data)")
def hessian_aux_missing(jx):
    jx.hessian(square, has_aux=True)(1.0)


@case("jacrev", "argument: result", "'a', of type str", "an array or a number")
def jacrev_result_text(jx):
    jx.jacrev(lambda x: "a")(1.0)


@case("jacfwd", "argument: p", "an empty dict", "arrays in the differentiated argument")
def jacfwd_empty_tree(jx):
    return jx.jacfwd(lambda p: 1.0)({})


@case("jacrev", "argument: p", "an empty dict", "arrays in the differentiated argument")
def jacrev_empty_tree(jx):
    return jx.jacrev(lambda p: 1.0)({})


@case()
def jacfwd_empty_array(jx):
    return jx.jacfwd(lambda x: x * 2)(np.zeros((0,), np.float32))


@case()
def jacrev_empty_array(jx):
    return jx.jacrev(lambda x: x * 2)(np.zeros((0,), np.float32))


@case()
def jacrev_empty_result(jx):
    return jx.jacrev(lambda x: ())(np.ones(2, np.float32))


@case()
def jacfwd_empty_result(jx):
    return jx.jacfwd(lambda x: ())(np.ones(2, np.float32))


@case()
def jacrev_allow_int(jx):
    return jx.jacrev(lambda i: i * 2.0, allow_int=True)(3)


@case()
def hessian_of_vector(jx):
    return jx.hessian(lambda x: x * x)(np.ones(2, np.float32)).shape


@case()
def jacfwd_mixed_dtypes(jx):
    return jx.jacfwd(lambda p: p["a"] * p["b"])({"a": np.float32(2.0), "b": np.float16(3.0)})


@case()
def jacrev_mixed_dtypes(jx):
    return jx.jacrev(lambda p: p["a"] * p["b"])({"a": np.float32(2.0), "b": np.float16(3.0)})


@case()
def jacfwd_unused_argument(jx):
    return jx.jacfwd(lambda x, y: x * 1.0, argnums=1)(1.0, np.ones(2, np.float32))


@case()
def jacrev_unused_argument(jx):
    return jx.jacrev(lambda x, y: x * 1.0, argnums=1)(1.0, np.ones(2, np.float32))


@case("jacfwd", "argument argnums must", "got (0, 0)", "positions without repetition")
def jacfwd_argnums_repeated(jx):
    return jx.jacfwd(lambda x, y: x * y, argnums=(0, 0))(2.0, 3.0)


@case()
def jacrev_aux_text(jx):
    return jx.jacrev(lambda x: (x * 2, "note"), has_aux=True)(1.0)


@case()
def jacfwd_aux_text(jx):
    return jx.jacfwd(lambda x: (x * 2, "note"), has_aux=True)(1.0)


@case()
def hessian_aux(jx):
    return jx.hessian(lambda x: (x * x * x, x), has_aux=True)(2.0)
