"""custom_jvp, custom_vjp and checkpoint."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

three = np.ones(3, np.float32)


def with_jvp(jx, rule, fun=square, **options):
    f = jx.custom_jvp(fun, **options)
    f.defjvp(rule)
    return f


def with_vjp(jx, fwd, bwd, fun=square, **options):
    f = jx.custom_vjp(fun, **options)
    f.defvjp(fwd, bwd)
    return f


def keep(x):
    return x * x, x


# custom_jvp ----------------------------------------------------------------------------------------


@case("custom_jvp", "argument fun must", "got None", "a function")
def jvp_function_none(jx):
    jx.custom_jvp(None)


@case("custom_jvp", "argument fun must", "3.0, of type float", "a function")
def jvp_function_value(jx):
    jx.custom_jvp(3.0)


@case("No JVP defined for custom_jvp function square using defjvp.")
def jvp_rule_missing(jx):
    jx.custom_jvp(square)(1.0)


@case("tracing `square` for grad", "No JVP defined for custom_jvp function square using defjvp.")
def jvp_rule_missing_under_grad(jx):
    jx.grad(jx.custom_jvp(square))(1.0)


@case("custom_jvp", "argument jvp must", "got None", "a function")
def jvp_rule_none(jx):
    jx.grad(with_jvp(jx, None))(1.0)


@case("jvp_rule_takes_one.<locals>.<lambda>() takes 1", "tracing `square` for grad")
def jvp_rule_takes_one(jx):
    jx.grad(with_jvp(jx, lambda primals: primals))(1.0)


@case("custom_jvp", "argument: rule", "an array of type float32[]")
def jvp_rule_returns_one_value(jx):
    def rule(primals, tangents):
        return tangents[0]

    jx.grad(with_jvp(jx, rule))(1.0)


@case("custom_jvp", "argument: <lambda>", "a tuple of length 3")
def jvp_rule_returns_three(jx):
    jx.grad(with_jvp(jx, lambda p, t: (p[0], t[0], 0.0)))(1.0)


@case("custom_jvp", "argument: <lambda>", "got: None")
def jvp_rule_returns_none(jx):
    jx.grad(with_jvp(jx, lambda p, t: None))(1.0)


@case()
def jvp_rule_returns_list(jx):
    return jx.grad(with_jvp(jx, lambda p, t: [square(p[0]), t[0] * 7.0]))(1.0)


@case(
    "the primal output is a leaf, but the tangent output is a tuple of length 2",
    "tracing `square` for jvp",
)
def jvp_rule_tangent_structure(jx):
    jx.jvp(with_jvp(jx, lambda p, t: (p[0], (t[0], t[0]))), (1.0,), (1.0,))


@case("custom_jvp", "argument: the tangent of output", "float32[]", "float32[3]")
def jvp_rule_tangent_shape(jx):
    def rule(primals, tangents):
        return square(primals[0]), jx.numpy.sum(tangents[0])

    jx.jvp(with_jvp(jx, rule), (three,), (three,))


@case("custom_jvp", "argument: the tangent of output", "float16[3]", "float32[3]")
def jvp_rule_tangent_dtype(jx):
    jx.jvp(with_jvp(jx, lambda p, t: (square(p[0]), t[0].astype("float16"))), (three,), (three,))


@case("custom_jvp", "argument: the tangent of output", "got: int32[]", "float32[]")
def jvp_rule_tangent_int(jx):
    jx.jvp(with_jvp(jx, lambda p, t: (square(p[0]), 1)), (1.0,), (1.0,))


@case("the primal output is a leaf, but the tangent output is None", "tracing `square` for jvp")
def jvp_rule_tangent_none(jx):
    jx.jvp(with_jvp(jx, lambda p, t: (square(p[0]), None)), (1.0,), (1.0,))


@case("custom_jvp rule <lambda>", "argument: the tangent of output", "str")
def jvp_rule_tangent_text(jx):
    jx.jvp(with_jvp(jx, lambda p, t: (square(p[0]), "t")), (1.0,), (1.0,))


@case()
def jvp_rule_primal_structure(jx):
    return jx.jvp(with_jvp(jx, lambda p, t: ((p[0],), (t[0],))), (1.0,), (1.0,))


@case()
def jvp_rule_primal_shape(jx):
    return jx.jvp(with_jvp(jx, lambda p, t: (p[0][0], t[0][0])), (three,), (three,))


@case("custom_jvp", "argument: the tangent of output['a'][1]", "float32[]", "float32[3]")
def jvp_rule_deep_tangent_shape(jx):
    def fun(x):
        return {"a": [x, x * 2]}

    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return fun(x), {"a": [t, t[0]]}

    jx.jvp(with_jvp(jx, rule, fun), (three,), (three,))


@case("no derivative here", "tracing `square` for grad")
def jvp_rule_raises(jx):
    def rule(primals, tangents):
        raise RuntimeError("no derivative here")

    jx.grad(with_jvp(jx, rule))(1.0)


@case("custom_jvp <lambda>", "argument: mode", "str")
def jvp_argument_text(jx):
    f = with_jvp(jx, lambda p, t: (p[0], t[0]), lambda x, mode: x)
    f(1.0, "train")


@case("custom_jvp <lambda>", "argument: o['a']", "Opaque")
def jvp_argument_object(jx):
    f = with_jvp(jx, lambda p, t: (p[0], t[0]), lambda x, o: x)
    f(1.0, {"a": Opaque()})


@case()
def jvp_nondiff_text(jx):
    f = with_jvp(jx, lambda mode, p, t: (p[0], t[0] * 3.0), lambda x, mode: x, nondiff_argnums=(1,))
    return jx.grad(f)(1.0, "train")


@case(
    "custom_jvp",
    "nondiff_argnums",
    "1",
    "a position from -1 to 0: square was called with 1 argument",
)
def jvp_nondiff_beyond(jx):
    f = with_jvp(jx, lambda n, p, t: (p[0], t[0]), square, nondiff_argnums=(1,))
    jx.grad(f)(1.0)


@case(
    "custom_jvp",
    "nondiff_argnums",
    "('y',)",
    "an int or a sequence of ints: positions of arguments",
)
def jvp_nondiff_text_number(jx):
    f = with_jvp(jx, lambda n, p, t: (p[0], t[0]), add, nondiff_argnums=("y",))
    jx.grad(f)(1.0, 2.0)


@case()
def jvp_nondiff_int(jx):
    f = with_jvp(jx, lambda y, p, t: (p[0], t[0] * 5.0), add, nondiff_argnums=1)
    return jx.grad(f)(1.0, 2.0)


@case()
def jvp_nondiff_traced(jx):
    f = with_jvp(jx, lambda y, p, t: (p[0] + y, t[0] * 5.0), add, nondiff_argnums=(1,))
    return jx.jit(jx.grad(f))(1.0, 2.0)


@case("add() missing 1 required positional argument: 'y'")
def jvp_too_few(jx):
    with_jvp(jx, lambda p, t: (p[0], t[0]), add)(1.0)


@case("square", "1 positional arguments and the keywords scale", "arguments for square(x)")
def jvp_unknown_keyword(jx):
    with_jvp(jx, lambda p, t: (p[0], t[0]), square)(1.0, scale=2.0)


@case()
def jvp_keyword(jx):
    return with_jvp(jx, lambda p, t: (p[0], t[0]), add)(1.0, y=2.0)


@case("custom_jvp <lambda>", "argument: result", "'text', of type str", "an array or a number")
def jvp_result_text(jx):
    with_jvp(jx, lambda p, t: (p[0], t[0]), lambda x: "text")(1.0)


@case(
    "custom_jvp.defjvps",
    "argument: jvps",
    "1 rules",
    "2: the number of arguments that add was called with",
)
def defjvps_too_few(jx):
    f = jx.custom_jvp(add)
    f.defjvps(lambda t, ans, x, y: t)
    jx.grad(f)(1.0, 2.0)


@case(
    "custom_jvp.defjvps",
    "argument: jvps",
    "2 rules",
    "1: the number of arguments that square was called with",
)
def defjvps_too_many(jx):
    f = jx.custom_jvp(square)
    f.defjvps(lambda t, ans, x: t, lambda t, ans, x: t)
    jx.grad(f)(1.0)


@case("custom_jvp.defjvps", "custom_jvp.defjvps: Can't use ``defjvps`` with")
def defjvps_with_nondiff(jx):
    f = jx.custom_jvp(add, nondiff_argnums=(1,))
    f.defjvps(lambda t, ans, x: t)


@case()
def defjvps_all_none(jx):
    f = jx.custom_jvp(add)
    f.defjvps(None, None)
    return jx.grad(f)(1.0, 2.0)


# custom_vjp ----------------------------------------------------------------------------------------


@case("custom_vjp", "argument fun must", "got None", "a function")
def vjp_function_none(jx):
    jx.custom_vjp(None)


@case("No VJP defined for custom_vjp function square using defvjp.")
def vjp_rules_missing(jx):
    jx.custom_vjp(square)(1.0)


@case("tracing `square` for grad", "No VJP defined for custom_vjp function square using defvjp.")
def vjp_rules_missing_under_grad(jx):
    jx.grad(jx.custom_vjp(square))(1.0)


@case("custom_vjp.defvjp() missing 1 required positional")
def vjp_defvjp_with_one(jx):
    jx.custom_vjp(square).defvjp(keep)


@case("custom_vjp", "argument fwd must", "got None", "a function")
def vjp_rules_not_callable(jx):
    jx.custom_vjp(square).defvjp(None, None)


@case("custom_vjp", "argument bwd must", "3.0, of type float", "a function")
def vjp_bwd_not_callable(jx):
    jx.custom_vjp(square).defvjp(keep, 3.0)


@case("custom_vjp", "argument: fwd", "an array of type float32[]")
def vjp_fwd_returns_one(jx):
    def fwd(x):
        return x * x

    jx.grad(with_vjp(jx, fwd, lambda r, ct: (ct,)))(1.0)


@case("custom_vjp", "argument: <lambda>", "a tuple of length 3")
def vjp_fwd_returns_three(jx):
    jx.grad(with_vjp(jx, lambda x: (x, x, x), lambda r, ct: (ct,)))(1.0)


@case("custom_vjp", "argument: <lambda>", "got: None")
def vjp_fwd_returns_none(jx):
    jx.grad(with_vjp(jx, lambda x: None, lambda r, ct: (ct,)))(1.0)


@case("grad", "a tuple of length 2", "square to return one scalar")
def vjp_fwd_output_structure(jx):
    jx.grad(with_vjp(jx, lambda x: ((x, x), x), lambda r, ct: (ct,)))(1.0)


@case("grad", "float32[3]", "square to return an array of shape ()")
def vjp_fwd_output_shape(jx):
    f = with_vjp(jx, lambda x: (jx.numpy.ones(3) * x, x), lambda r, ct: (ct[0],))
    jx.grad(f)(1.0)


@case()
def vjp_fwd_output_dtype(jx):
    f = with_vjp(jx, lambda x: (x.astype("float16"), x), lambda r, ct: (ct * r,))
    return jx.grad(lambda x: f(x).astype("float32"))(1.0)


@case("vjp_fwd_takes_two.<locals>.<lambda>() missing 1", "tracing `square` for grad")
def vjp_fwd_takes_two(jx):
    jx.grad(with_vjp(jx, lambda x, y: (x, x), lambda r, ct: (ct,)))(1.0)


@case("custom_vjp fwd rule <lambda>", "argument: residuals", "str")
def vjp_fwd_residual_text(jx):
    f = with_vjp(jx, lambda x: (x, "text"), lambda r, ct: (ct,))
    return jx.grad(f)(1.0)


@case()
def vjp_fwd_residual_none(jx):
    return jx.grad(with_vjp(jx, lambda x: (x, None), lambda r, ct: (ct * 3.0,)))(1.0)


@case("custom_vjp", "argument: bwd", "an array of type float32[]", "a tuple of length 1")
def vjp_bwd_returns_array(jx):
    def bwd(residual, ct):
        return ct * residual

    jx.grad(with_vjp(jx, keep, bwd))(1.0)


@case("custom_vjp", "argument: <lambda>", "an array of type float32[3]", "a tuple of length 1")
def vjp_bwd_returns_vector(jx):
    f = with_vjp(jx, keep, lambda r, ct: ct * r)
    jx.grad(lambda x: jx.numpy.sum(f(x)))(three)


@case("custom_vjp", "argument: <lambda>", "a tuple of length 1", "a tuple of length 2")
def vjp_bwd_returns_too_few(jx):
    f = with_vjp(jx, lambda x, y: (x + y, None), lambda r, ct: (ct,), add)
    jx.grad(f)(1.0, 2.0)


@case("custom_vjp", "argument: <lambda>", "a tuple of length 2", "a tuple of length 1")
def vjp_bwd_returns_too_many(jx):
    jx.grad(with_vjp(jx, keep, lambda r, ct: (ct, ct)))(1.0)


@case("custom_vjp", "argument: <lambda>", "got: None", "a tuple of length 1")
def vjp_bwd_returns_none(jx):
    jx.grad(with_vjp(jx, keep, lambda r, ct: None))(1.0)


@case()
def vjp_bwd_returns_none_for_argument(jx):
    return jx.grad(with_vjp(jx, keep, lambda r, ct: (None,)))(1.0)


@case()
def vjp_bwd_returns_list(jx):
    return jx.grad(with_vjp(jx, keep, lambda r, ct: [ct * 3.0]))(1.0)


@case("custom_vjp", "argument: the cotangent of x", "float32[]", "float32[3]")
def vjp_bwd_shape(jx):
    def bwd(residual, ct):
        return (jx.numpy.sum(ct),)

    f = with_vjp(jx, keep, bwd)
    jx.grad(lambda x: jx.numpy.sum(f(x)))(three)


@case()
def vjp_bwd_dtype(jx):
    f = with_vjp(jx, keep, lambda r, ct: (ct.astype("float16"),))
    return jx.grad(lambda x: jx.numpy.sum(f(x)))(three)


@case(
    "custom_vjp bwd rule <lambda>",
    "the cotangent of x",
    "pulling cotangents back through `square` for grad",
)
def vjp_bwd_text(jx):
    jx.grad(with_vjp(jx, keep, lambda r, ct: ("ct",)))(1.0)


@case(
    "pulling cotangents back through `<lambda>` for grad",
    "custom_vjp: Custom VJP bwd rule <lambda> for",
)
def vjp_bwd_structure(jx):
    f = with_vjp(
        jx,
        lambda p: (p["a"] * p["b"], None),
        lambda r, ct: ({"a": ct},),
        lambda p: p["a"] * p["b"],
    )
    jx.grad(f)({"a": 1.0, "b": 2.0})


@case("custom_vjp", "argument: the cotangent of p['a'][0]", "float32[]", "float32[3]")
def vjp_bwd_deep_shape(jx):
    f = with_vjp(
        jx,
        lambda p: (jx.numpy.sum(p["a"][0]), None),
        lambda r, ct: ({"a": [ct]},),
        lambda p: jx.numpy.sum(p["a"][0]),
    )
    jx.grad(f)({"a": [three]})


@case(
    "vjp_bwd_takes_one.<locals>.<lambda>() takes 1",
    "pulling cotangents back through `square` for grad",
)
def vjp_bwd_takes_one(jx):
    jx.grad(with_vjp(jx, keep, lambda r: (r,)))(1.0)


@case("no derivative here", "pulling cotangents back through `square` for grad")
def vjp_bwd_raises(jx):
    def bwd(residual, ct):
        raise RuntimeError("no derivative here")

    jx.grad(with_vjp(jx, keep, bwd))(1.0)


@case()
def vjp_of_int_argument(jx):
    f = with_vjp(jx, lambda x, n: (x * n, n), lambda n, ct: (ct * n, None), lambda x, n: x * n)
    return jx.grad(f)(1.0, 3)


@case()
def vjp_of_int_argument_with_value(jx):
    f = with_vjp(jx, lambda x, n: (x * n, n), lambda n, ct: (ct * n, 1.0), lambda x, n: x * n)
    return jx.grad(f)(1.0, 3)


@case("custom_vjp", "tracing `square` for jvp")
def vjp_under_jvp(jx):
    jx.jvp(with_vjp(jx, keep, lambda r, ct: (ct,)), (1.0,), (1.0,))


@case("custom_vjp", "tracing `square` for jacfwd")
def vjp_under_jacfwd(jx):
    jx.jacfwd(with_vjp(jx, keep, lambda r, ct: (ct,)))(1.0)


@case("custom_vjp <lambda>", "argument: m", "str")
def vjp_argument_text(jx):
    with_vjp(jx, lambda x, m: (x, None), lambda r, ct: (ct, None), lambda x, m: x)(1.0, "train")


@case()
def vjp_nondiff_text(jx):
    f = with_vjp(
        jx,
        lambda x, m: (x, None),
        lambda m, r, ct: (ct * len(m),),
        lambda x, m: x,
        nondiff_argnums=(1,),
    )
    return jx.grad(f)(1.0, "abc")


@case(
    "custom_vjp",
    "nondiff_argnums",
    "2",
    "a position from -1 to 0: square was called with 1 argument",
)
def vjp_nondiff_beyond(jx):
    f = with_vjp(jx, keep, lambda n, r, ct: (ct,), square, nondiff_argnums=(2,))
    jx.grad(f)(1.0)


@case()
def vjp_nondiff_traced(jx):
    f = with_vjp(
        jx,
        lambda x, n: (x, None),
        lambda n, r, ct: (ct * n,),
        lambda x, n: x * n,
        nondiff_argnums=(1,),
    )
    return jx.jit(jx.grad(f))(1.0, 3.0)


@case(
    "custom_vjp",
    "argument nondiff_argnames must",
    "'z'",
    "names of positional parameters of add: x, y",
)
def vjp_nondiff_names_unknown(jx):
    jx.custom_vjp(add, nondiff_argnames=("z",))


@case(
    "vjp_bwd_for_nondiff_forgotten.<locals>.<lambda>()",
    "pulling cotangents back through `<lambda>` for grad",
)
def vjp_bwd_for_nondiff_forgotten(jx):
    f = with_vjp(
        jx,
        lambda x, m: (x, None),
        lambda r, ct: (ct,),
        lambda x, m: x,
        nondiff_argnums=(1,),
    )
    jx.grad(f)(1.0, 2)


@case("add() missing 1 required positional argument: 'y'")
def vjp_too_few(jx):
    with_vjp(jx, lambda x, y: (x, None), lambda r, ct: (ct, ct), add)(1.0)


@case("custom_vjp <lambda>", "argument: result", "'text', of type str", "an array or a number")
def vjp_result_text(jx):
    with_vjp(jx, keep, lambda r, ct: (ct,), lambda x: "text")(1.0)


@case("fun", "fun: keyword arguments could not be resolved to")
def vjp_keyword_only(jx):
    def fun(x, *, scale=2.0):
        return x * scale

    with_vjp(jx, keep, lambda r, ct: (ct,), fun)(1.0, scale=3.0)


# checkpoint ----------------------------------------------------------------------------------------


@case("checkpoint", "argument: fun", "3.0, of type float", "a function")
def checkpoint_function_value(jx):
    jx.checkpoint(3.0)


@case("checkpoint of <lambda>", "argument: mode", "str")
def checkpoint_argument_text(jx):
    jx.checkpoint(lambda x, mode: x)(1.0, "train")


@case("checkpoint of <lambda>", "argument: o['a'][0]", "Opaque")
def checkpoint_argument_object(jx):
    jx.checkpoint(lambda x, o: x)(1.0, {"a": [Opaque()]})


@case()
def checkpoint_static_text(jx):
    return jx.grad(jx.checkpoint(lambda x, mode: x * len(mode), static_argnums=(1,)))(1.0, "abc")


@case(
    "checkpoint of square", "static_argnums", "1", "a position of the 1 positional arguments that"
)
def checkpoint_static_beyond(jx):
    jx.checkpoint(square, static_argnums=(1,))(1.0)


@case()
def checkpoint_static_negative(jx):
    return jx.checkpoint(lambda x, n: x**n, static_argnums=-1)(3.0, 2)


@case(
    "checkpoint",
    "argument static_argnums must",
    "'y'",
    "an int or a sequence of ints: positions of arguments",
)
def checkpoint_static_text_number(jx):
    jx.checkpoint(add, static_argnums="y")(1.0, 2.0)


@case()
def checkpoint_static_list(jx):
    return jx.checkpoint(lambda x, n: x * len(n), static_argnums=(1,))(3.0, [1, 2])


@case()
def checkpoint_static_array(jx):
    return jx.checkpoint(lambda x, n: x * n.sum(), static_argnums=(1,))(3.0, np.arange(3))


@case("checkpoint", "argument: policy", "'dots', of type str", "a function")
def checkpoint_policy_text(jx):
    f = jx.checkpoint(lambda x: jx.numpy.sin(jx.numpy.sin(x)), policy="dots")
    jx.grad(f)(1.0)


@case(
    "checkpoint",
    "policy",
    "'maybe', of type str, for sin",
    "True or False: whether to keep the result of an operation",
)
def checkpoint_policy_of_odd_answer(jx):
    f = jx.checkpoint(lambda x: jx.numpy.sin(jx.numpy.sin(x)), policy=lambda *a, **k: "maybe")
    jx.grad(f)(1.0)


@case("checkpoint", "argument: concrete", "got: True")
def checkpoint_concrete(jx):
    jx.checkpoint(square, concrete=True)


@case("add() missing 1 required positional argument: 'y'", "tracing `add` in checkpoint")
def checkpoint_too_few(jx):
    jx.checkpoint(add)(1.0)


@case(
    "checkpoint of <lambda>", "static_argnums", "0", "a position of the 0 positional arguments that"
)
def checkpoint_no_arguments_with_static(jx):
    jx.checkpoint(lambda: 1.0, static_argnums=(0,))()


@case("x (argument of f)", "tracing `f` in checkpoint")
def checkpoint_if_on_argument(jx):
    def f(x):
        return x if x > 0 else -x

    jx.checkpoint(f)(1.0)


@case("checkpoint", "argument: result", "'text', of type str", "an array or a number")
def checkpoint_result_text(jx):
    jx.checkpoint(lambda x: "text")(1.0)


@case()
def checkpoint_result_none(jx):
    return jx.checkpoint(lambda x: None)(1.0)


@case()
def checkpoint_as_decorator_with_options(jx):
    return jx.grad(jx.checkpoint(prevent_cse=False)(square))(3.0)


@case("checkpoint() got an unexpected keyword argument")
def checkpoint_option_unknown(jx):
    jx.checkpoint(square, polcy=None)


@case()
def checkpoint_function_none(jx):
    return callable(jx.checkpoint(None))
