"""Programs with checks, for either library: `CASES[name](lib, checkify)` gives (what was found, the results)."""

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


def plain(value: Any) -> Any:
    """An outcome as lists and numbers."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, str) else np.asarray(value).tolist()
