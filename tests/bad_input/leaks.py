"""Traced values used where they no longer live."""

from __future__ import annotations

import numpy as np

from bad_input import add, case, square, staged

three = np.ones(3, np.float32)
matrix = np.ones((3, 3), np.float32)

# Leaks ---------------------------------------------------------------------------------------------


@case("x (argument of f)", "float32[]")
def leak_into_list(jx):
    kept = []

    def f(x):
        kept.append(x * 2)
        return x

    staged(jx, f, 1.0)
    return kept[0] + 1


@case("x (argument of <lambda>)", "float32[]")
def leak_of_argument(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    return jx.numpy.sin(kept[0])


@case("x (argument of update)", "tracing `Model.update` for jit")
def leak_into_attribute(jx):
    class Model:
        mean = 0.0

        def update(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x
            return x

    model = Model()
    f = jx.jit(model.update)
    f(1.0)
    f(three)


@case("x (argument of f)", "float32[]")
def leak_into_global(jx):
    global LEAKED

    def f(x):
        global LEAKED
        LEAKED = x
        return x

    staged(jx, f, 1.0)
    return LEAKED * 2


@case("x (argument of f)", "tracing `<lambda>` for jit")
def leak_into_closure(jx):
    last = None

    def f(x):
        nonlocal last
        last = x
        return x

    staged(jx, f, 1.0)
    return staged(jx, lambda y: y + last, 1.0)


@case("x (argument of <lambda>)", "float32[]")
def leak_from_grad(jx):
    kept = []
    jx.grad(lambda x: (kept.append(x), x)[1])(1.0)
    return kept[0] * 2


@case("x (argument of <lambda>)", "float32[]")
def leak_from_vmap(jx):
    kept = []
    jx.vmap(lambda x: (kept.append(x), x)[1])(three)
    return kept[0] * 2


@case("x (argument of <lambda>)", "float32[]")
def leak_from_jvp(jx):
    kept = []
    jx.jvp(lambda x: (kept.append(x), x)[1], (1.0,), (1.0,))
    return kept[0] * 2


@case("x (argument of inner)", "tracing `outer` for jit")
def leak_from_inner_jit(jx):
    kept = []

    def inner(x):
        kept.append(x * 2)
        return x

    def outer(x):
        jx.jit(inner)(x)
        return kept[0] + x

    staged(jx, outer, 1.0)


@case("y (argument of <lambda>)", "`kept[0]`", "tracing `outer` for jit")
def leak_from_vmap_into_jit(jx):
    kept = []

    def outer(x):
        jx.vmap(lambda y: (kept.append(y), y)[1])(x)
        return kept[0]

    staged(jx, outer, three)


@case()
def leak_printed_is_fine(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    return len(repr(kept[0])) > 0


@case()
def leak_shape_is_fine(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], three)
    return kept[0].shape


@case("x (argument of <lambda>)", "tracing `square` for jit")
def leak_given_to_jit(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    jx.jit(square)(kept[0])


@case("x (argument of <lambda>)", "tracing `square` for grad")
def leak_given_to_grad(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    jx.grad(square)(kept[0])


@case("x (argument of <lambda>)", "tracing `square` for vmap")
def leak_given_to_vmap(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], three)
    jx.vmap(square)(kept[0])


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def leak_as_bool(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    bool(kept[0])


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def leak_as_numpy(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    np.asarray(kept[0])


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def leak_returned_by_jit(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    jx.jit(lambda y: kept[0])(1.0)


@case()
def leak_returned_by_grad(jx):
    kept = []
    staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
    return jx.grad(lambda y: kept[0])(1.0)


@case("x (argument of table)", "tracing `<lambda>` for jit")
def leak_into_cache(jx):
    cache = {}

    def table(x):
        if "t" not in cache:
            cache["t"] = jx.numpy.arange(3) * x
        return cache["t"]

    staged(jx, table, 2.0)
    return staged(jx, lambda x: table(x) + 1, 3.0)


@case("float32[]")
def leak_through_custom_jvp(jx):
    kept = []

    @jx.custom_jvp
    def f(x):
        kept.append(x)
        return x

    f.defjvp(lambda p, t: (p[0], t[0]))
    staged(jx, f, 1.0)
    return kept[0] + 1


@case("k (argument of <lambda>)", "`kept[0]`")
def leak_of_key(jx):
    kept = []
    staged(jx, lambda k: (kept.append(k), jx.random.uniform(k))[1], jx.random.key(0))
    return jx.random.uniform(kept[0])


@case("jit", "argument: y", "an array of type float32[]", "a hashable value")
def leak_in_static_argument_of_inner(jx):
    inner = jx.jit(add, static_argnums=1)
    staged(jx, lambda x: inner(1.0, x), 2.0)


@case("x (argument of <lambda>)", "`kept[0]`")
def leak_found_by_checker(jx):
    kept = []
    with jx.checking_leaks():
        staged(jx, lambda x: (kept.append(x), x)[1], 1.0)
