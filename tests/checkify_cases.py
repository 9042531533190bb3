"""Programs with checks, for either library: `CASES[name](lib, checkify)` gives (what was found, the results).

`DEVICE_CASES` need several devices.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _outcome(pair: Any) -> list:
    error, out = pair
    return [error.get(), out]


def _log(lib: Any, c: Any) -> Any:
    def f(x: Any) -> Any:
        c.check(x > 0, "x must be positive, got {x}", x=x)
        c.check(x < 10, "too large {}", x)
        return lib.numpy.log(x)

    return f


def _scan(lib: Any, c: Any) -> Any:
    def f(x: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            c.check(carry < 3, "carry {c}", c=carry)
            return carry + 1, carry

        return lib.lax.scan(body, x, None, length=5)

    return f


def _while(lib: Any, c: Any, in_test: bool) -> Any:
    def test(v: Any) -> Any:
        if in_test:
            c.check(v < 2, "condition {}", v)
        return v < 6

    def body(v: Any) -> Any:
        c.check(v < 3, "body {}", v)
        return v + 1

    return lambda x: lib.lax.while_loop(test, body, x)


def _cond(lib: Any, c: Any) -> Any:
    def big(v: Any) -> Any:
        c.check(v < 3, "big {}", v)
        return v

    return lambda x: lib.lax.cond(x > 0, big, lambda v: (c.check(v > -3, "small"), v)[1], x)


def _nested(lib: Any, c: Any) -> Any:
    def f(x: Any) -> Any:
        error, out = c.checkify(_log(lib, c))(x)
        c.check_error(error)
        return out

    return f


def _custom(lib: Any, c: Any) -> Any:
    @lib.custom_jvp
    def g(x: Any) -> Any:
        c.check(x > 0, "in custom")
        return lib.numpy.sin(x)

    g.defjvp(lambda primals, tangents: (g(*primals), tangents[0]))
    return g


def _of(x: Any) -> Any:
    return np.float32(x)


_X = np.arange(3, dtype=np.float32)

CASES = {
    "first": lambda lib, c: _outcome(c.checkify(_log(lib, c))(lib.numpy.asarray(_of(-1)))),
    "second": lambda lib, c: _outcome(c.checkify(_log(lib, c))(lib.numpy.asarray(_of(11)))),
    "good": lambda lib, c: _outcome(c.checkify(_log(lib, c))(lib.numpy.asarray(_of(2)))),
    "jit inside": lambda lib, c: _outcome(
        c.checkify(lib.jit(_log(lib, c)))(lib.numpy.asarray(_of(-3)))
    ),
    "jit outside": lambda lib, c: _outcome(lib.jit(c.checkify(_log(lib, c)))(_of(-3))),
    "remat": lambda lib, c: _outcome(
        c.checkify(lib.checkpoint(_log(lib, c)))(lib.numpy.asarray(_of(-3)))
    ),
    "vmap inside": lambda lib, c: _outcome(
        c.checkify(lib.vmap(_log(lib, c)))(lib.numpy.asarray([1.0, -2.0, 30.0]))
    ),
    "vmap outside": lambda lib, c: _outcome(
        lib.vmap(c.checkify(_log(lib, c)))(lib.numpy.asarray([1.0, -2.0, 30.0]))
    ),
    "scan": lambda lib, c: _outcome(lib.jit(c.checkify(_scan(lib, c)))(_of(0))),
    "scan, good": lambda lib, c: _outcome(lib.jit(c.checkify(_scan(lib, c)))(_of(-5))),
    "scan of vmap": lambda lib, c: _outcome(
        c.checkify(lib.vmap(_scan(lib, c)))(lib.numpy.asarray([-5.0, 1.0]))
    ),
    "while": lambda lib, c: _outcome(lib.jit(c.checkify(_while(lib, c, False)))(_of(0))),
    "while, condition": lambda lib, c: _outcome(lib.jit(c.checkify(_while(lib, c, True)))(_of(0))),
    "while, at the start": lambda lib, c: _outcome(
        lib.jit(c.checkify(_while(lib, c, True)))(_of(2.5))
    ),
    "while, good": lambda lib, c: _outcome(lib.jit(c.checkify(_while(lib, c, False)))(_of(7))),
    "cond, one": lambda lib, c: _outcome(lib.jit(c.checkify(_cond(lib, c)))(_of(5))),
    "cond, other": lambda lib, c: _outcome(lib.jit(c.checkify(_cond(lib, c)))(_of(-5))),
    "cond, good": lambda lib, c: _outcome(lib.jit(c.checkify(_cond(lib, c)))(_of(1))),
    "nested": lambda lib, c: _outcome(c.checkify(_nested(lib, c))(lib.numpy.asarray(_of(-1)))),
    "custom derivative": lambda lib, c: _outcome(
        c.checkify(_custom(lib, c))(lib.numpy.asarray(_of(-1)))
    ),
    "of a gradient": lambda lib, c: _outcome(
        c.checkify(lib.grad(_log(lib, c)))(lib.numpy.asarray(_of(-1)))
    ),
    "debug": lambda lib, c: _outcome(
        c.checkify(lambda x: (c.debug_check(x > 0, "debug"), x)[1])(lib.numpy.asarray(_of(-1)))
    ),
    "index": lambda lib, c: _outcome(
        c.checkify(lambda x, i: x[i], errors=c.index_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray(5)
        )
    ),
    "index, negative": lambda lib, c: _outcome(
        c.checkify(lambda x, i: x[i], errors=c.index_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray(-5)
        )
    ),
    "index, good": lambda lib, c: _outcome(
        c.checkify(lambda x, i: x[i], errors=c.index_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray(-1)
        )
    ),
    "indices": lambda lib, c: _outcome(
        c.checkify(lambda x, i: x[1, i], errors=c.index_checks)(
            lib.numpy.asarray(np.arange(12, dtype=np.float32).reshape(3, 4)),
            lib.numpy.asarray([0, 3, 7]),
        )
    ),
    "set": lambda lib, c: _outcome(
        c.checkify(lambda x: x.at[7].set(1.0), errors=c.index_checks)(lib.numpy.asarray(_X))
    ),
    "add": lambda lib, c: _outcome(
        c.checkify(lambda x, i: x.at[i].add(1.0), errors=c.index_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray([0, 4])
        )
    ),
    "dynamic slice": lambda lib, c: _outcome(
        c.checkify(lambda x, i: lib.lax.dynamic_slice(x, (i,), (2,)), errors=c.index_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray(9)
        )
    ),
    "divide": lambda lib, c: _outcome(
        c.checkify(lambda x, y: x / y, errors=c.div_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray(_of(0))
        )
    ),
    "divide, with NaN": lambda lib, c: _outcome(
        c.checkify(lambda x, y: x / y, errors=c.float_checks)(
            lib.numpy.asarray(_X), lib.numpy.asarray(_of(0))
        )
    ),
    "nan": lambda lib, c: _outcome(
        c.checkify(lambda x: lib.numpy.sin(x) + 1, errors=c.nan_checks)(
            lib.numpy.asarray(_of(np.inf))
        )
    ),
    "nan behind where": lambda lib, c: _outcome(
        c.checkify(lambda x: lib.numpy.where(x > 0, lib.numpy.log(x), 0.0), errors=c.nan_checks)(
            lib.numpy.asarray(_of(-1))
        )
    ),
    "nan in a scan": lambda lib, c: _outcome(
        c.checkify(
            lambda x: lib.lax.scan(lambda a, b: (a, lib.numpy.sqrt(b)), _of(0), x),
            errors=c.nan_checks,
        )(lib.numpy.asarray([1.0, -1.0, 4.0]))
    ),
    "all": lambda lib, c: _outcome(
        c.checkify(_log(lib, c), errors=c.all_checks)(lib.numpy.asarray(_of(-1)))
    ),
}


def _check(c: Any, good: Any, *args: Any, **kwargs: Any) -> int:
    c.check(good, *args, **kwargs)
    return 1


def _taken(c: Any, pair: Any) -> Any:
    """The result, where its error is to be one of the function around."""
    c.check_error(pair[0])
    return pair[1]


def _kind(x: Any) -> int:
    assert isinstance(x, np.ndarray)
    return 1


# Arguments that are no arrays, and structures of them -----------------------------------------------------


def _raised(run: Any) -> list:
    """The kind of exception, rather than what is not comparable between libraries."""
    try:
        run()
    except (ValueError, TypeError) as error:
        return [type(error).__mro__[-3].__name__, None]
    return ["nothing raised", None]


def _static(lib: Any, c: Any) -> Any:
    def f(x: Any, n: Any, flag: Any = "up") -> Any:
        c.check(lib.numpy.all(x < n), "{} of kind " + flag, x)
        return lib.numpy.zeros(n) + (x if flag == "up" else -x)

    return f


def _tree(lib: Any, c: Any) -> Any:
    def f(params: Any, *, scale: Any) -> Any:
        c.check(params["w"].sum() > 0, "sum of {w} at {scale}", w=params["w"], scale=scale)
        return {"out": (params["w"] * scale, params["b"]), "n": 3}

    return f


def _params(lib: Any) -> dict:
    return {"w": lib.numpy.asarray([1.0, -2.0]), "b": lib.numpy.asarray(_of(4))}


def _f32(lib: Any, *values: float) -> Any:
    return lib.numpy.asarray(values[0] if len(values) == 1 else values, dtype="float32")


def _at(lib: Any, i: Any, dtype: str = "int32") -> Any:
    return lib.numpy.asarray(i, dtype=dtype)


def _one(lib: Any, c: Any, f: Any, errors: Any, *args: Any) -> list:
    return _outcome(lib.jit(c.checkify(f, errors=errors))(*args))


def _nans(lib: Any, c: Any, f: Any, *values: float) -> list:
    return _one(lib, c, f, c.nan_checks, _f32(lib, *values))


def _oob(lib: Any, c: Any, f: Any, *args: Any) -> list:
    return _one(lib, c, f, c.index_checks, *args)


def _two(lib: Any, c: Any) -> Any:
    """Of the two checks the first looks at what the second does, too."""

    def f(x: Any) -> Any:
        c.check(lib.numpy.all(x < 2), "A {}", x)
        c.check(lib.numpy.all(x > 0), "B")
        return x * 2

    return f


def _errors_of(lib: Any, c: Any, inner: Any, outer: Any) -> Any:
    def f(x: Any) -> Any:
        error, out = c.checkify(lambda v: lib.numpy.log(v), errors=inner)(x)
        c.check_error(error)
        return out

    return c.checkify(f, errors=outer)


def _safe(lib: Any, kind: str) -> Any:
    """sqrt whose derivative at 0 is said to be 0."""
    np_ = lib.numpy
    if kind == "jvp":
        f = lib.custom_jvp(np_.sqrt)

        @f.defjvp
        def _(primals: Any, tangents: Any) -> Any:
            (x,), (t,) = primals, tangents
            return np_.sqrt(x), np_.where(x == 0, 0.0, t)

        return f
    f = lib.custom_vjp(lambda x: np_.sqrt(x))
    f.defvjp(lambda x: (np_.sqrt(x), x), lambda x, ct: (np_.where(x == 0, 0.0, ct),))
    return f


def _gradient(lib: Any, c: Any, f: Any, x: Any, errors: Any) -> list:
    def loss(v: Any) -> Any:
        error, out = c.checkify(f, errors=errors)(v)
        return out, error

    slope, error = lib.grad(loss, has_aux=True)(x)
    return _outcome((error, slope))


def _mesh(lib: Any, f: Any, n_in: int = 1) -> Any:
    p = lib.sharding.PartitionSpec
    mesh = lib.make_mesh((1,), ("d",), axis_types=(lib.sharding.AxisType.Auto,))
    return lib.shard_map(f, mesh=mesh, in_specs=(p("d"),) * n_in, out_specs=p("d"))


def _switch(lib: Any, c: Any) -> Any:
    def branch(k: int) -> Any:
        def run(v: Any) -> Any:
            c.check(v < 10 * k, "branch " + str(k) + ": {}", v)
            return v + k

        return run

    return lambda i, x: lib.lax.switch(i, [branch(0), branch(1), branch(2)], x)


def _fori(lib: Any, c: Any) -> Any:
    def body(i: Any, v: Any) -> Any:
        c.check(i < 4, "round {i} of {v}", i=i, v=v)
        return v + i

    return lambda n, x: lib.lax.fori_loop(0, n, body, x)


def _deep(lib: Any, c: Any) -> Any:
    """A check in a branch in a loop in a jit."""

    @lib.jit
    def f(x: Any) -> Any:
        def body(carry: Any, y: Any) -> Any:
            def bad(v: Any) -> Any:
                c.check(v < 3, "deep {}", v)
                return v * 2

            return lib.lax.cond(y > 0, bad, lambda v: v, carry), carry

        return lib.lax.scan(body, _of(1), x)

    return f


def _add_nan(lib: Any, c: Any, dtype: str) -> list:
    x = lib.numpy.asarray([1.0, np.inf], dtype=dtype)
    found = lib.jit(c.checkify(lambda v: v - v, errors=c.nan_checks))(x)
    return [found[0].get(), [found[1].dtype.name == dtype]]


def _keys(lib: Any, c: Any) -> list:
    def f(key: Any) -> Any:
        keys = lib.random.split(key, 3)
        return lib.random.uniform(keys[1], (2,)) * np.nan

    error, out = c.checkify(f, errors=c.all_checks)(lib.random.key(0))
    return [error.get(), [int(np.isnan(np.asarray(out)).sum())]]


def _key_index(lib: Any, c: Any) -> list:
    keys = lib.random.split(lib.random.key(1), 3)
    f = c.checkify(lambda k, i: lib.random.key_data(k[i]), errors=c.index_checks)
    return [lib.jit(f)(keys, 7)[0].get(), []]


def _mapped_twice(lib: Any, c: Any) -> list:
    f = lib.vmap(lib.vmap(c.checkify(_two(lib, c))))
    return _outcome(f(_f32(lib, 1, 3, -1, 1, 5, -2).reshape(2, 3)))


def _throw_inside(lib: Any, c: Any) -> Any:
    def f(x: Any) -> Any:
        error, out = c.checkify(_log(lib, c))(x)
        error.throw()
        return out

    return f


def _table(lib: Any) -> Any:
    return lib.numpy.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))


def _step(lib: Any, c: Any) -> list:
    """A loss of a linear model, its gradient, a step."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        c.check(lib.numpy.all(lib.numpy.isfinite(w)), "w is {}", w)
        return lib.numpy.mean((x @ w - y) ** 2)

    def step(w: Any, x: Any, y: Any) -> Any:
        return w - 0.1 * lib.grad(loss)(w, x, y)

    checked = lib.jit(c.checkify(step, errors=c.all_checks))
    return _outcome(
        checked(_f32(lib, 1, np.inf), _f32(lib, 1, 2, 3, 4).reshape(2, 2), _f32(lib, 1, 2))
    )


CASES |= {
    "number for a size": lambda lib, c: _outcome(c.checkify(_static(lib, c))(_f32(lib, 5), 3)),
    "text by name": lambda lib, c: _outcome(
        c.checkify(_static(lib, c))(_f32(lib, 1), 3, flag="down")
    ),
    "text by position": lambda lib, c: _outcome(
        c.checkify(_static(lib, c))(_f32(lib, 4), n=3, flag="odd")
    ),
    "branch on a number": lambda lib, c: _outcome(
        c.checkify(lambda x, n: x * 2 if n > 2 else x)(_f32(lib, 4), 3)
    ),
    "branch on an array": lambda lib, c: _raised(
        lambda: c.checkify(lambda x: x * 2 if x > 2 else x)(_f32(lib, 4))
    ),
    "function as an argument": lambda lib, c: _outcome(
        c.checkify(lambda g, x: g(x), errors=c.nan_checks)(lib.numpy.log, _f32(lib, -4))
    ),
    "None, and a slice": lambda lib, c: _outcome(
        c.checkify(lambda x, s, n: x[s] if n is None else n)(_f32(lib, 1, 2, 3), slice(1, 3), None)
    ),
    "range": lambda lib, c: _outcome(
        c.checkify(lambda x, steps: sum(x * k for k in steps))(_f32(lib, 2), range(3))
    ),
    "NumPy arrays stay NumPy's": lambda lib, c: [
        None,
        [c.checkify(lambda x: _kind(x))(_X)[1]],
    ],
    "jit of numbers": lambda lib, c: _outcome(
        lib.jit(c.checkify(_static(lib, c)), static_argnums=(1, 2))(_f32(lib, 5), 3, "down")
    ),
    "tree": lambda lib, c: _outcome(c.checkify(_tree(lib, c))(_params(lib), scale=_f32(lib, 2))),
    "tree, jit": lambda lib, c: _outcome(
        lib.jit(c.checkify(_tree(lib, c)))(_params(lib), scale=_f32(lib, 2))
    ),
    "grad of a number": lambda lib, c: _gradient(
        lib, c, lambda x: x**2 * _check(c, x < 2, "large"), _f32(lib, 3), c.user_checks
    ),
    "grad, custom jvp kept": lambda lib, c: _gradient(
        lib, c, _safe(lib, "jvp"), _f32(lib, 0), c.nan_checks
    ),
    "grad, custom vjp kept": lambda lib, c: _gradient(
        lib, c, _safe(lib, "vjp"), _f32(lib, 0), c.nan_checks
    ),
    "custom jvp, NaN": lambda lib, c: _nans(lib, c, _safe(lib, "jvp"), -1),
    "custom vjp, NaN": lambda lib, c: _nans(lib, c, _safe(lib, "vjp"), -1),
    "of a gradient, custom vjp": lambda lib, c: _nans(lib, c, lib.grad(_safe(lib, "vjp")), -1),
    "relu": lambda lib, c: _nans(lib, c, lib.nn.relu, -1),
    "grad of relu": lambda lib, c: _gradient(
        lib, c, lambda x: lib.nn.relu(x) * 2, _f32(lib, 0), c.all_checks
    ),
    "two, first": lambda lib, c: _one(lib, c, _two(lib, c), c.user_checks, _f32(lib, 3)),
    "two, second": lambda lib, c: _one(lib, c, _two(lib, c), c.user_checks, _f32(lib, -3)),
    "two, both": lambda lib, c: _one(lib, c, _two(lib, c), c.user_checks, _f32(lib, 3, -1)),
    "vmap of two": lambda lib, c: _outcome(
        lib.vmap(c.checkify(_two(lib, c)))(_f32(lib, 1, 3, -1, 5))
    ),
    "vmap of vmap": _mapped_twice,
    "vmap inside, several": lambda lib, c: _outcome(
        c.checkify(lib.vmap(_two(lib, c)))(_f32(lib, 1, 3, -1, 5))
    ),
    "vmap inside, NaN": lambda lib, c: _nans(lib, c, lib.vmap(lib.numpy.log), 1, -1, -2),
    "vmap outside, NaN": lambda lib, c: _outcome(
        lib.vmap(c.checkify(lambda v: lib.numpy.log(v), errors=c.nan_checks))(_f32(lib, 1, -1, -2))
    ),
    "vmap outside, index": lambda lib, c: _outcome(
        lib.vmap(c.checkify(lambda i: lib.numpy.asarray(_X)[i], errors=c.index_checks))(
            _at(lib, [0, 7, -9])
        )
    ),
    "vmap outside, fine": lambda lib, c: _outcome(
        lib.vmap(c.checkify(_two(lib, c)))(_f32(lib, 1, 1.5))
    ),
    "vmap outside, then check_error": lambda lib, c: _outcome(
        c.checkify(lambda x: _taken(c, lib.vmap(c.checkify(_two(lib, c)))(x)))(_f32(lib, 1, -3))
    ),
    "nested, kinds of the outer": lambda lib, c: _outcome(
        _errors_of(lib, c, c.nan_checks, c.nan_checks)(_f32(lib, -1))
    ),
    "nested, all kinds": lambda lib, c: _outcome(
        lib.jit(_errors_of(lib, c, c.all_checks, c.all_checks))(_f32(lib, -1))
    ),
    "nested, user's of the outer": lambda lib, c: _outcome(
        c.checkify(_nested(lib, c), errors=c.nan_checks)(_f32(lib, -1))
    ),
    "throw inside": lambda lib, c: _outcome(
        lib.jit(c.checkify(_throw_inside(lib, c)))(_f32(lib, -1))
    ),
    "checkify of checkify": lambda lib, c: [
        c.checkify(c.checkify(_log(lib, c)))(_f32(lib, -1))[0].get(),
        [c.checkify(c.checkify(_log(lib, c)))(_f32(lib, -1))[1][0].get() is not None],
    ],
    "init_error": lambda lib, c: [c.init_error.get(), [c.init_error.throw() is None]],
    "check_error of init_error": lambda lib, c: _outcome(
        c.checkify(lambda x: _taken(c, (c.init_error, x)))(_f32(lib, 1))
    ),
    "str of an error": lambda lib, c: [
        str(c.checkify(_two(lib, c))(_f32(lib, 3))[0])
        + str(c.checkify(_two(lib, c))(_f32(lib, 1))[0]),
        [],
    ],
    "thrown": lambda lib, c: _raised(c.checkify(_two(lib, c))(_f32(lib, 3))[0].throw),
    "unchecked": lambda lib, c: _raised(lambda: lib.jit(_two(lib, c))(_f32(lib, 3))),
    "unchecked, scan": lambda lib, c: _raised(lambda: _scan(lib, c)(_f32(lib, 3))),
    "at once": lambda lib, c: _raised(lambda: _two(lib, c)(_f32(lib, 3))),
    "at once, vmap": lambda lib, c: _raised(lambda: lib.vmap(_two(lib, c))(_f32(lib, 1, 3))),
    "at once, grad": lambda lib, c: _raised(lambda: lib.grad(_two(lib, c))(_f32(lib, 3))),
    "no scalar": lambda lib, c: _raised(lambda: c.check(_f32(lib, 1, 3) > 0, "no")),
    "no text": lambda lib, c: _raised(lambda: c.check(False, "no {}", "text")),
    "formats": lambda lib, c: _one(
        lib,
        c,
        lambda x: _check(c, x[0] > 2, "{:.3f} then {b:>6.1f}{k!s}", x[0], b=x[1], k=x.sum()),
        c.user_checks,
        _f32(lib, 1, 3),
    ),
    "formats of fractions": lambda lib, c: _one(
        lib,
        c,
        lambda x: _check(
            c,
            x[0] > 2,
            "{0} {0:.2f} {1} {k[a]} {k!r} {b} {h} {z} {{}}",
            x[0],
            x,
            k={"a": x[1]},
            b=x[1].astype("bfloat16"),
            h=x[0].astype("float16"),
            z=x[0] + 1j,
        ),
        c.user_checks,
        _f32(lib, 0.8, 1.1),
    ),
    "formats of a tree": lambda lib, c: _one(
        lib,
        c,
        lambda x: _check(
            c, x[0] > 2, "{0[a]} {0[b][1]} {k[0]}", {"a": x[0], "b": (x, x[1])}, k=[x]
        ),
        c.user_checks,
        _f32(lib, 1, 3),
    ),
    "integers and flags": lambda lib, c: _one(
        lib,
        c,
        lambda i: _check(c, i > 2, "{} {}", i, i == 1),
        c.user_checks,
        _at(lib, 1, "int8"),
    ),
    "debug in jit": lambda lib, c: [
        None,
        [lib.jit(lambda x: (c.debug_check(x > 0, "no"), x)[1])(_f32(lib, -1))],
    ],
    "debug of check": lambda lib, c: _outcome(
        lib.jit(c.checkify(lambda x: (c.check(x > 0, "a {}", x, debug=True), x)[1]))(_f32(lib, -1))
    ),
    "switch": lambda lib, c: _one(
        lib, c, _switch(lib, c), c.user_checks, _at(lib, 1), _f32(lib, 15)
    ),
    "switch, other": lambda lib, c: _one(
        lib, c, _switch(lib, c), c.user_checks, _at(lib, 2), _f32(lib, 15)
    ),
    "switch, vmap": lambda lib, c: _outcome(
        lib.vmap(c.checkify(_switch(lib, c)))(_at(lib, [0, 1, 2]), _f32(lib, 5, 5, 5))
    ),
    "fori": lambda lib, c: _one(lib, c, _fori(lib, c), c.user_checks, _at(lib, 7), _f32(lib, 1)),
    "fori of a number": lambda lib, c: _outcome(c.checkify(_fori(lib, c))(7, _f32(lib, 1))),
    "map": lambda lib, c: _one(
        lib,
        c,
        lambda xs: lib.lax.map(_two(lib, c), xs),
        c.user_checks,
        _f32(lib, 1, 3, 5),
    ),
    "deep": lambda lib, c: _one(lib, c, _deep(lib, c), c.user_checks, _f32(lib, 1, 0, 1, 1, 1)),
    "deep, vmap": lambda lib, c: _outcome(
        lib.vmap(c.checkify(_deep(lib, c)))(_f32(lib, 1, 0, 1, 1, 1, 0).reshape(2, 3))
    ),
    "scan, grad": lambda lib, c: _gradient(
        lib, c, lambda x: _scan(lib, c)(x)[0] ** 2, _f32(lib, 0), c.user_checks
    ),
    "scan of indices": lambda lib, c: _oob(
        lib,
        c,
        lambda x, i: lib.lax.scan(lambda a, k: (a + x[k], a), _of(0), i),
        lib.numpy.asarray(_X),
        _at(lib, [0, 5, 9]),
    ),
    "while of NaN": lambda lib, c: _nans(
        lib, c, lambda x: lib.lax.while_loop(lambda v: v < 9, lambda v: v * v / (v - v), x), 2
    ),
    "shard_map": lambda lib, c: _one(
        lib, c, _mesh(lib, _two(lib, c)), c.user_checks, _f32(lib, 1, 3)
    ),
    "shard_map, fine": lambda lib, c: _one(
        lib, c, _mesh(lib, _two(lib, c)), c.user_checks, _f32(lib, 1, 1.5)
    ),
    "shard_map, NaN": lambda lib, c: _one(
        lib, c, _mesh(lib, lib.numpy.log), c.nan_checks, _f32(lib, 1, -3)
    ),
    "pmap": lambda lib, c: _outcome(
        lib.pmap(c.checkify(_two(lib, c)))(_f32(lib, 3, 1).reshape(1, 2))
    ),
    "remat, NaN": lambda lib, c: _nans(lib, c, lib.checkpoint(lambda x: lib.numpy.log(x)), -1),
    "remat, grad": lambda lib, c: _gradient(
        lib, c, lib.checkpoint(lambda x: lib.numpy.log(x) ** 2), _f32(lib, 3), c.all_checks
    ),
    "NaN given": lambda lib, c: _nans(lib, c, lambda x: -x, np.nan),
    "NaN given, abs": lambda lib, c: _nans(lib, c, lambda x: lib.numpy.abs(x), np.nan),
    "NaN given, maximum": lambda lib, c: _nans(lib, c, lambda x: lib.numpy.maximum(x, 0), np.nan),
    "NaN given, max": lambda lib, c: _nans(lib, c, lambda x: x.max(), np.nan, 1),
    "NaN given, floor": lambda lib, c: _nans(lib, c, lib.numpy.floor, np.nan),
    "NaN given, clip": lambda lib, c: _nans(lib, c, lambda x: lib.numpy.clip(x, 0, 1), np.nan),
    "NaN given, sort": lambda lib, c: _nans(lib, c, lib.numpy.sort, np.nan, 1),
    "NaN given, sign": lambda lib, c: _nans(lib, c, lib.numpy.sign, np.nan),
    "NaN given, add": lambda lib, c: _nans(lib, c, lambda x: x + 1, np.nan),
    "NaN given, sum": lambda lib, c: _nans(lib, c, lambda x: x.sum(), np.nan, 1),
    "NaN of sum": lambda lib, c: _nans(lib, c, lambda x: x.sum(), np.inf, -np.inf),
    "NaN of cumsum": lambda lib, c: _nans(lib, c, lib.numpy.cumsum, np.inf, -np.inf),
    "NaN of dot": lambda lib, c: _nans(lib, c, lambda x: x @ x, np.inf, 0),
    "NaN of dot, zero": lambda lib, c: _nans(
        lib, c, lambda x: x @ lib.numpy.asarray([0.0, 1.0]), np.inf, 1
    ),
    "NaN of mul": lambda lib, c: _nans(lib, c, lambda x: x * 0, np.inf),
    "NaN of sub": lambda lib, c: _nans(lib, c, lambda x: x - x, np.inf),
    "NaN of pow": lambda lib, c: _nans(lib, c, lambda x: x**0.5, -1),
    "NaN of power": lambda lib, c: _nans(lib, c, lambda x: x**x, -1.5),
    "NaN of rem": lambda lib, c: _nans(lib, c, lambda x: lib.lax.rem(x, _of(0)), 1),
    "NaN of arccos": lambda lib, c: _nans(lib, c, lib.numpy.arccos, 2),
    "NaN of log1p": lambda lib, c: _nans(lib, c, lib.numpy.log1p, -2),
    "NaN of rsqrt": lambda lib, c: _nans(lib, c, lib.lax.rsqrt, -2),
    "NaN of mean": lambda lib, c: _nans(lib, c, lib.numpy.mean, np.inf, -np.inf),
    "NaN of std": lambda lib, c: _nans(lib, c, lib.numpy.std, np.inf, 1),
    "NaN of division": lambda lib, c: _nans(lib, c, lambda x: x / x, 0),
    "NaN of complex": lambda lib, c: _one(
        lib,
        c,
        lambda x: lib.numpy.real(x - x),
        c.nan_checks,
        lib.numpy.asarray(np.complex64(complex(np.inf, 1))),
    ),
    "integers have none": lambda lib, c: _one(
        lib, c, lambda i: i // 3 + i % 2, c.nan_checks, _at(lib, 5)
    ),
    "NaN, bfloat16": lambda lib, c: _add_nan(lib, c, "bfloat16"),
    "NaN, float16": lambda lib, c: _add_nan(lib, c, "float16"),
    "NaN, float8": lambda lib, c: _add_nan(lib, c, "float8_e5m2"),
    "keys": _keys,
    "keys, index": _key_index,
    "divide by an integer": lambda lib, c: _one(
        lib, c, lambda i: 7 // i, c.div_checks, _at(lib, 0)
    ),
    "remainder of an integer": lambda lib, c: _one(
        lib, c, lambda i: 7 % i, c.div_checks, _at(lib, 0)
    ),
    "divide, fine": lambda lib, c: _one(lib, c, lambda x: 7 / x, c.div_checks, _f32(lib, 2)),
    "NaN before division": lambda lib, c: _one(
        lib, c, lambda x: lib.numpy.log(x) / (x - x), c.float_checks, _f32(lib, -1)
    ),
    "reciprocal": lambda lib, c: _one(lib, c, lib.numpy.reciprocal, c.div_checks, _f32(lib, 0)),
    "static index": lambda lib, c: _oob(lib, c, lambda x: x.at[5].get(), lib.numpy.asarray(_X)),
    "index, two axes": lambda lib, c: _oob(
        lib, c, lambda x, i, j: x[i, j], _table(lib), _at(lib, 1), _at(lib, 9)
    ),
    "index, array of rows": lambda lib, c: _oob(
        lib, c, lambda x, i: x[i], _table(lib), _at(lib, [0, -4, 5])
    ),
    "index, column": lambda lib, c: _oob(lib, c, lambda x, i: x[:, i], _table(lib), _at(lib, 4)),
    "get, fill": lambda lib, c: _oob(
        lib,
        c,
        lambda x, i: x.at[i].get(mode="fill", fill_value=0),
        lib.numpy.asarray(_X),
        _at(lib, 5),
    ),
    "get, clip": lambda lib, c: _oob(
        lib, c, lambda x, i: x.at[i].get(mode="clip"), lib.numpy.asarray(_X), _at(lib, 5)
    ),
    "set, drop": lambda lib, c: _oob(
        lib, c, lambda x, i: x.at[i].set(0, mode="drop"), lib.numpy.asarray(_X), _at(lib, 5)
    ),
    "set of rows": lambda lib, c: _oob(
        lib, c, lambda x, i: x.at[i].set(0.0), _table(lib), _at(lib, [1, 3])
    ),
    "multiply": lambda lib, c: _oob(
        lib, c, lambda x, i: x.at[i].multiply(2.0), lib.numpy.asarray(_X), _at(lib, 3)
    ),
    "max": lambda lib, c: _oob(
        lib, c, lambda x, i: x.at[i].max(2.0), lib.numpy.asarray(_X), _at(lib, 3)
    ),
    "take": lambda lib, c: _oob(
        lib, c, lambda x, i: lib.numpy.take(x, i), lib.numpy.asarray(_X), _at(lib, 3)
    ),
    "take_along_axis": lambda lib, c: _oob(
        lib,
        c,
        lambda x, i: lib.numpy.take_along_axis(x, i, 1),
        _table(lib),
        _at(lib, [[0], [4], [1]]),
    ),
    "dynamic update": lambda lib, c: _oob(
        lib,
        c,
        lambda x, u, i: lib.lax.dynamic_update_slice(x, u, (i,)),
        lib.numpy.asarray(_X),
        _f32(lib, 8, 9),
        _at(lib, 2),
    ),
    "dynamic index": lambda lib, c: _oob(
        lib,
        c,
        lambda x, i: lib.lax.dynamic_index_in_dim(x, i),
        lib.numpy.asarray(_X),
        _at(lib, 3),
    ),
    "dynamic slice, two axes": lambda lib, c: _oob(
        lib,
        c,
        lambda x, i: lib.lax.dynamic_slice(x, (0, i), (2, 2)),
        _table(lib),
        _at(lib, 3),
    ),
    "index under vmap": lambda lib, c: _oob(
        lib, c, lambda x, i: lib.vmap(lambda r, k: r[k])(x, i), _table(lib), _at(lib, [0, 4, 6])
    ),
    "gradient of an index": lambda lib, c: _oob(
        lib, c, lambda x, i: lib.grad(lambda v: v[i])(x), lib.numpy.asarray(_X), _at(lib, 4)
    ),
    "scatter, NaN": lambda lib, c: _one(
        lib,
        c,
        lambda x: x.at[0].add(-np.inf),
        c.nan_checks | c.index_checks,
        _f32(lib, np.inf, 1),
    ),
    "training step": _step,
}


# Several devices ------------------------------------------------------------------------------------------


def _on(lib: Any, f: Any, specs: Any, shape: tuple, names: tuple, check_vma: bool = True) -> Any:
    p = lib.sharding.PartitionSpec
    mesh = lib.make_mesh(shape, names, axis_types=(lib.sharding.AxisType.Auto,) * len(shape))
    ins, outs = (tuple(p(*s) for s in part) for part in specs)
    return lib.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs[0], check_vma=check_vma)


def _summed(lib: Any, c: Any) -> Any:
    def f(x: Any) -> Any:
        total = lib.lax.psum(x.sum(), "d")
        c.check(total < 10, "total {}", total)
        c.check(lib.numpy.all(x < 5), "part {}", x)
        return x / total

    return f


def _numbers(lib: Any, n: int) -> Any:
    return lib.numpy.arange(n, dtype="float32")


_D = ((("d",),), (("d",),))

DEVICE_CASES = {
    "each": lambda lib, c: _one(
        lib, c, _on(lib, _two(lib, c), _D, (4,), ("d",)), c.user_checks, _numbers(lib, 4)
    ),
    "not jitted": lambda lib, c: _outcome(
        c.checkify(_on(lib, _two(lib, c), _D, (4,), ("d",)))(_numbers(lib, 4))
    ),
    "fine": lambda lib, c: _one(
        lib, c, _on(lib, _summed(lib, c), _D, (4,), ("d",)), c.user_checks, _numbers(lib, 4)
    ),
    "sum of all": lambda lib, c: _one(
        lib, c, _on(lib, _summed(lib, c), _D, (4,), ("d",)), c.all_checks, _numbers(lib, 8)
    ),
    "types not checked": lambda lib, c: _one(
        lib, c, _on(lib, _two(lib, c), _D, (4,), ("d",), False), c.user_checks, _numbers(lib, 4)
    ),
    "two axes": lambda lib, c: _one(
        lib,
        c,
        _on(lib, _two(lib, c), ((("a", "b"),), (("a", "b"),)), (2, 2), ("a", "b")),
        c.user_checks,
        _numbers(lib, 4).reshape(2, 2),
    ),
    "same on all": lambda lib, c: _one(
        lib, c, _on(lib, _two(lib, c), (((),), ((),)), (2,), ("d",)), c.user_checks, _f32(lib, 3)
    ),
    "checkify inside": lambda lib, c: _outcome(
        lib.jit(
            _on(
                lib,
                lambda x: lib.tree.map(lambda v: v[None], c.checkify(_two(lib, c))(x[0])),
                _D,
                (4,),
                ("d",),
                False,
            )
        )(_numbers(lib, 4))
    ),
    "vmap outside": lambda lib, c: _outcome(
        lib.vmap(c.checkify(_on(lib, _two(lib, c), _D, (4,), ("d",))))(
            _numbers(lib, 8).reshape(2, 4) - 2
        )
    ),
    "checkify of pmap": lambda lib, c: _outcome(
        c.checkify(
            lib.pmap(
                lambda x: (c.check(lib.lax.psum(x, "i") < 3, "sum {}", lib.lax.psum(x, "i")), x)[1],
                axis_name="i",
            ),
            errors=c.all_checks,
        )(_numbers(lib, 4))
    ),
    "pmap": lambda lib, c: _outcome(lib.pmap(c.checkify(_two(lib, c)))(_numbers(lib, 4))),
    "division on one": lambda lib, c: _one(
        lib, c, _on(lib, lambda x: 1 / x, _D, (4,), ("d",)), c.float_checks, _numbers(lib, 4)
    ),
}


def plain(value: Any) -> Any:
    """An outcome as lists and numbers."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    return value if value is None or isinstance(value, str) else np.asarray(value).tolist()
