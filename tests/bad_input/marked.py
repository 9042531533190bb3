"""jit: static and donated arguments."""

from __future__ import annotations

import numpy as np

from bad_input import add, case

# Static arguments ----------------------------------------------------------------------------------


def scale(x, widths):
    return x * len(widths)


def power(x, n=2):
    return x**n


@case("jit", "argument: widths", "a list of length 2", "a hashable value")
def static_list(jx):
    jx.jit(scale, static_argnums=1)(1.0, [1, 2])


@case("jit", "argument: widths", "a list of length 2", "a hashable value")
def static_list_by_name(jx):
    jx.jit(scale, static_argnames="widths")(1.0, widths=[1, 2])


@case("jit", "argument: widths", "a dict with keys 'a'", "a hashable value")
def static_dict(jx):
    jx.jit(scale, static_argnums=1)(1.0, {"a": 1})


@case("jit", "argument: widths", "a value of type set", "a hashable value")
def static_set(jx):
    jx.jit(scale, static_argnums=1)(1.0, {1, 2})


@case("jit", "argument: widths", "an array of type float64[3]", "a hashable value")
def static_numpy_array(jx):
    jx.jit(scale, static_argnums=1)(1.0, np.ones(3))


@case("jit", "argument: widths", "an array of type float32[3]", "a hashable value")
def static_array(jx):
    jx.jit(scale, static_argnums=1)(1.0, jx.numpy.ones(3))


@case("jit", "argument: widths", "a tuple of length 2", "a hashable value")
def static_tuple_with_list(jx):
    jx.jit(scale, static_argnums=1)(1.0, (1, [2]))


@case("jit", "argument: n", "an array of type int32[]", "a hashable value")
def static_tracer(jx):
    inner = jx.jit(power, static_argnums=1)
    jx.jit(lambda x, n: inner(x, n))(2.0, 3)


@case()
def static_numpy_scalar(jx):
    return jx.jit(power, static_argnums=1)(2.0, np.int32(3))


@case()
def static_text(jx):
    return jx.jit(lambda x, mode: x if mode == "train" else -x, static_argnums=1)(1.0, "eval")


@case("no hash today", "tracing `scale` for jit")
def static_hash_fails(jx):
    class Unhashable:
        def __hash__(self):
            raise RuntimeError("no hash today")

    jx.jit(scale, static_argnums=1)(1.0, Unhashable())


@case("jit", "a value of type Odd", "values whose == gives True or False, such as")
def static_eq_fails(jx):
    class Odd:
        def __hash__(self):
            return 7

        def __eq__(self, other):
            raise RuntimeError("not comparable")

        def __len__(self):
            return 1

    f = jx.jit(scale, static_argnums=1)
    f(1.0, Odd())
    return f(1.0, Odd())


@case(
    "jit",
    "argument static_argnums must",
    "2",
    "a position from -2 to 1: add takes 2 positional arguments",
)
def static_argnums_beyond(jx):
    jx.jit(add, static_argnums=2)


@case(
    "jit",
    "argument static_argnums must",
    "-3",
    "a position from -2 to 1: add takes 2 positional arguments",
)
def static_argnums_beyond_negative(jx):
    jx.jit(add, static_argnums=-3)


@case(
    "jit",
    "argument static_argnums must",
    "5",
    "a position from -2 to 1: add takes 2 positional arguments",
)
def static_argnums_one_of_several_beyond(jx):
    jx.jit(add, static_argnums=(0, 5))


@case()
def static_argnums_negative(jx):
    return jx.jit(power, static_argnums=-1)(3.0, 2)


@case(
    "jit",
    "argument static_argnums must",
    "'y'",
    "an int or a sequence of ints: positions of arguments",
)
def static_argnums_text(jx):
    jx.jit(add, static_argnums="y")


@case(
    "jit",
    "argument static_argnums must",
    "1.0",
    "an int or a sequence of ints: positions of arguments",
)
def static_argnums_float(jx):
    jx.jit(add, static_argnums=1.0)


@case(
    "jit",
    "argument static_argnums must",
    "((0,), 1)",
    "an int or a sequence of ints: positions of arguments",
)
def static_argnums_nested(jx):
    jx.jit(add, static_argnums=((0,), 1))


@case()
def static_argnums_numpy(jx):
    return jx.jit(power, static_argnums=np.int64(1))(3.0, 2)


@case()
def static_argnums_numpy_array(jx):
    return jx.jit(power, static_argnums=np.array([1]))(3.0, 2)


@case()
def static_argnums_bool(jx):
    return jx.jit(power, static_argnums=True)(3.0, 2)


@case()
def static_argnums_list(jx):
    return jx.jit(power, static_argnums=[1])(3.0, 2)


@case()
def static_argnums_set(jx):
    return jx.jit(power, static_argnums={1})(3.0, 2)


@case()
def static_argnums_repeated(jx):
    return jx.jit(power, static_argnums=(1, 1))(3.0, 2)


@case(
    "jit",
    "argument static_argnums must",
    "{'n': 1}",
    "an int or a sequence of ints: positions of arguments",
)
def static_argnums_dict(jx):
    jx.jit(power, static_argnums={"n": 1})(3.0, 2)


@case("jit", "argument: static_argnames", "got: 'm'", "names of parameters of power: x, n")
def static_argnames_unknown(jx):
    jx.jit(power, static_argnames="m")


@case("jit", "argument: static_argnames", "got: 'm'", "names of parameters of power: x, n")
def static_argnames_unknown_in_tuple(jx):
    jx.jit(power, static_argnames=("n", "m"))


@case(
    "jit",
    "argument static_argnames must",
    "1",
    "a string or a sequence of strings: names of arguments",
)
def static_argnames_number(jx):
    jx.jit(power, static_argnames=1)


@case(
    "jit",
    "argument static_argnames must",
    "('n', 1)",
    "a string or a sequence of strings: names of arguments",
)
def static_argnames_with_number(jx):
    jx.jit(power, static_argnames=("n", 1))


@case(
    "jit",
    "argument static_argnames must",
    "b'n'",
    "a string or a sequence of strings: names of arguments",
)
def static_argnames_bytes(jx):
    jx.jit(power, static_argnames=b"n")


@case()
def static_argnames_positional_use(jx):
    return jx.jit(power, static_argnames="n")(3.0, 2)


@case()
def static_argnames_for_kwargs(jx):
    return jx.jit(lambda x, **kw: x * len(kw["mode"]), static_argnames="mode")(2.0, mode="abc")


@case("jit", "argument: static_argnames", "got: 'rest'", "names of parameters of f: x")
def static_argnames_varargs(jx):
    def f(x, *rest):
        return x

    jx.jit(f, static_argnames="rest")


@case(
    "jit",
    "argument: static_argnames",
    "'n'",
    "names of parameters of f: it has none that can be named",
)
def static_argnames_positional_only(jx):
    def f(x, n, /):
        return x**n

    return jx.jit(f, static_argnames="n")(3.0, 2)


@case()
def static_default_left_out(jx):
    return jx.jit(power, static_argnums=1)(3.0)


@case()
def static_default_by_keyword(jx):
    return jx.jit(power, static_argnums=1)(3.0, n=2)


@case("jit", "argument: widths", "a list of length 1", "a hashable value")
def static_unhashable_by_keyword(jx):
    jx.jit(scale, static_argnums=1)(3.0, widths=[1])


@case()
def static_argnums_beyond_the_call(jx):
    def f(*xs):
        return xs[0]

    return jx.jit(f, static_argnums=2)(1.0)


@case("scale() missing 1 required positional argument: 'widths'", "tracing `scale` for jit")
def static_missing_in_call(jx):
    jx.jit(scale, static_argnums=1)(1.0)


@case("scale() takes 2 positional arguments but 3 were given", "tracing `scale` for jit")
def static_argument_is_not_passed_to_kwargs(jx):
    jx.jit(scale, static_argnums=1)(1.0, (1, 2), (3,))


# Donated arguments ---------------------------------------------------------------------------------


@case("Array has been deleted with shape=float32[4,4].")
def donated_used_again(jx):
    x = jx.numpy.ones((4, 4)) + 1
    jx.jit(lambda x: x + 1, donate_argnums=0)(x)
    return x + 1


@case("Array has been deleted with shape=float32[4,4].")
def donated_read(jx):
    x = jx.numpy.ones((4, 4)) + 1
    jx.jit(lambda x: x + 1, donate_argnums=0)(x)
    np.asarray(x)


@case("tracing `<lambda>` for jit", "Array has been deleted with shape=float32[4,4].")
def donated_given_again(jx):
    x = jx.numpy.ones((4, 4)) + 1
    f = jx.jit(lambda x: x + 1, donate_argnums=0)
    f(x)
    f(x)


@case("donate")
def donated_twice_in_one_call(jx):
    x = jx.numpy.ones((4, 4)) + 1
    jx.jit(lambda x, y: (x + 1, y + 2), donate_argnums=(0, 1))(x, x)


@case("donated")
def donated_and_read_in_one_call(jx):
    x = jx.numpy.ones((4, 4)) + 1
    jx.jit(lambda x, y: x + y, donate_argnums=0)(x, x)


@case()
def donated_of_no_use(jx):
    x = jx.numpy.ones((4, 4)) + 1
    return jx.jit(lambda x: jx.numpy.sum(x), donate_argnums=0)(x)


@case()
def donated_numpy(jx):
    x = np.ones((2,), np.float32)
    jx.jit(lambda x: x + 1, donate_argnums=0)(x)
    return x


@case("Array has been deleted with shape=float32[4,4].")
def donated_part_deleted(jx):
    state = {"a": jx.numpy.ones((4, 4)) + 1, "b": jx.numpy.ones((4, 4)) + 1}
    jx.jit(lambda s: {k: v + 1 for k, v in s.items()}, donate_argnums=0)(state)
    return state["b"] * 2


@case(
    "jit",
    "argument donate_argnums must",
    "2",
    "a position from -2 to 1: add takes 2 positional arguments",
)
def donate_argnums_beyond(jx):
    jx.jit(add, donate_argnums=2)


@case(
    "jit",
    "argument donate_argnums must",
    "'x'",
    "an int or a sequence of ints: positions of arguments",
)
def donate_argnums_text(jx):
    jx.jit(add, donate_argnums="x")


@case("jit", "argument: donate_argnames", "got: 'z'", "names of parameters of add: x, y")
def donate_argnames_unknown(jx):
    jx.jit(add, donate_argnames="z")


@case(
    "jit",
    "argument donate_argnames must",
    "0",
    "a string or a sequence of strings: names of arguments",
)
def donate_argnames_number(jx):
    jx.jit(add, donate_argnames=0)


@case(
    "jit of add",
    "donate_argnums (or donate_argnames)",
    "x",
    "arguments that are not static: a static argument",
)
def donate_and_static(jx):
    jx.jit(add, static_argnums=0, donate_argnums=0)


@case(
    "jit of add",
    "donate_argnums (or donate_argnames)",
    "x",
    "arguments that are not static: a static argument",
)
def donate_and_static_names(jx):
    jx.jit(add, static_argnames="x", donate_argnames="x")
