"""Random programs in which control flow, derivative rules, checkpoints, vmap and derivatives are inside one another.

`program(j, seed)` is a function from float64[n] to float64[n], made of the public functions of `j`, the module jax or
sagax; `TRANSFORMS` are ways to look at it. The same seed gives the same program on both sides.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

Fun = Callable[[Any], Any]


class Maker:
    """Makes functions from vectors to vectors of the same length, drawn from a generator of random numbers."""

    def __init__(self, j: Any, seed: int) -> None:
        self.j = j
        self.np = j.numpy
        self.lax = j.lax
        self.draw = random.Random(seed)

    def number(self) -> float:
        return round(self.draw.uniform(0.3, 1.4), 2)

    def make(self, depth: int) -> Fun:
        """A chain of one to three functions, of which one holds others where `depth` allows it."""
        parts = [self.leaf() for _ in range(self.draw.randint(0, 2))]
        if depth > 0:
            parts.insert(self.draw.randint(0, len(parts)), self.node(depth))
        parts = parts or [self.leaf()]

        def chain(x: Any) -> Any:
            for part in parts:
                x = part(x)
            return x

        return chain

    def leaf(self) -> Fun:
        name = self.draw.choice(LEAVES)
        return getattr(self, name)()

    def node(self, depth: int) -> Fun:
        name = self.draw.choice(NODES)
        return getattr(self, name)(depth - 1)

    # first-order functions

    def sine(self) -> Fun:
        a, b = self.number(), self.number()
        return lambda x: self.np.sin(a * x + b)

    def bump(self) -> Fun:
        a = self.number()
        return lambda x: x * self.np.exp(-a * x * x) + 0.1 * x

    def turned(self) -> Fun:
        k = self.draw.randint(1, 3)
        return lambda x: self.np.roll(x, k) * 0.9 + 0.2 * x

    def mixed(self) -> Fun:
        a = self.number()

        def mix(x: Any) -> Any:
            n = x.shape[0]
            m = np.cos(np.arange(n * n).reshape(n, n) * a) / n
            return self.np.tanh(m @ x) + x

        return mix

    def summed(self) -> Fun:
        how = self.draw.choice(["cumsum", "cumprod", "cummax", "cumlogsumexp"])
        reverse = self.draw.random() < 0.5
        return lambda x: self.np.tanh(getattr(self.lax, how)(x, reverse=reverse)) + 0.3 * x

    def ordered(self) -> Fun:
        a = self.number()
        return lambda x: self.lax.sort(x * a + self.np.arange(x.shape[0]) * 0.01) - x * 0.5

    def largest(self) -> Fun:
        def f(x: Any) -> Any:
            values, where = self.lax.top_k(x, 1)
            return x.at[where].multiply(0.5) + values

        return f

    def masked(self) -> Fun:
        a = self.number()
        return lambda x: self.np.where(x > a - 0.6, x * x * 0.5, self.np.sin(x))

    def moved(self) -> Fun:
        def f(x: Any) -> Any:
            first = self.lax.dynamic_slice(x, (self.np.argmax(x),), (1,))
            return self.lax.dynamic_update_slice(x * 0.7, first, (self.np.argmin(x),))

        return f

    def scattered(self) -> Fun:
        def f(x: Any) -> Any:
            i = self.np.argsort(x) // 2
            return self.np.zeros_like(x).at[i].add(x) * 0.6 + x[i] * 0.4

        return f

    def normed(self) -> Fun:
        return lambda x: x / (1.0 + self.np.linalg.norm(x))

    def prefixed(self) -> Fun:
        def f(x: Any) -> Any:
            pair = self.lax.associative_scan(
                lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (self.np.cos(x), x)
            )
            return self.np.tanh(pair[1])

        return f

    def convolved(self) -> Fun:
        def f(x: Any) -> Any:
            return self.np.convolve(x, np.array([0.2, 0.5, 0.3]), mode="same") + 0.1 * x

        return f

    # functions that hold functions

    def scan(self, depth: int) -> Fun:
        f, n = self.make(depth), self.draw.randint(1, 3)
        reverse, unroll = self.draw.random() < 0.4, self.draw.choice([1, 1, 2])
        a, carries, outer = self.number(), self.draw.random() < 0.5, self.draw.random() < 0.5

        def g(x: Any) -> Any:
            def step(c: Any, s: Any) -> tuple:
                new = f(c * s if carries else c + s)
                if outer:
                    new = new + 0.1 * x
                return new, new[0] * s

            xs = self.np.arange(1.0, n + 1.0) * a / n
            out, ys = self.lax.scan(step, x, xs, reverse=reverse, unroll=unroll)
            return out + 0.1 * ys.sum()

        return g

    def scan_of_rows(self, depth: int) -> Fun:
        f = self.make(depth)

        def g(x: Any) -> Any:
            rows = self.np.stack([x, 0.5 * x, self.np.cos(x)])
            (_, count), ys = self.lax.scan(
                lambda c, r: ((c[0] + f(r), c[1] + 1), f(r) * c[0]), (x, 0), rows
            )
            return ys.sum(0) / (count + 1)

        return g

    def condition(self, depth: int) -> Fun:
        f, g = self.make(depth), self.make(depth)
        a = self.number() - 0.8
        outer = self.draw.random() < 0.5

        def h(x: Any) -> Any:
            other = (lambda y: g(y) * 0.5 + x) if outer else g
            return self.lax.cond(x.sum() > a, f, other, x)

        return h

    def switch(self, depth: int) -> Fun:
        branches = [self.make(depth), self.make(0), lambda x: x * 0.5]

        def h(x: Any) -> Any:
            which = (self.np.floor(x[0] * 3)).astype("int32")
            return self.lax.switch(which, branches, x)

        return h

    def counted(self, depth: int) -> Fun:
        f, n = self.make(depth), self.draw.randint(0, 3)
        return lambda x: self.lax.fori_loop(0, n, lambda i, c: f(c) + 0.01 * i, x)

    def repeated(self, depth: int) -> Fun:
        f, n, a = self.make(depth), self.draw.randint(1, 3), self.number() * 3

        def g(x: Any) -> Any:
            def more(s: Any) -> Any:
                return (s[0] < n) & (self.np.abs(s[1]).sum() < a)

            return self.lax.while_loop(more, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]

        return g

    def checkpointed(self, depth: int) -> Fun:
        f = self.make(depth)
        policies = self.j.checkpoint_policies
        policy = self.draw.choice(
            [None, policies.dots_saveable, policies.everything_saveable]
            + [policies.save_only_these_names("kept")]
        )
        name = self.j.ad_checkpoint.checkpoint_name
        return self.j.checkpoint(
            lambda x: name(f(name(self.np.sin(x), "kept")), "kept") * 0.9, policy=policy
        )

    def with_jvp(self, depth: int) -> Fun:
        f, g, a = self.make(depth), self.make(0), self.number()

        @self.j.custom_jvp
        def h(x: Any, y: Any) -> Any:
            return f(x) * y

        @h.defjvp
        def rule(primals: tuple, tangents: tuple) -> tuple:
            (x, y), (dx, dy) = primals, tangents
            return h(x, y), a * dx * g(y) + dy * x

        return lambda x: h(x, self.np.cos(x))

    def with_vjp(self, depth: int) -> Fun:
        f, g, a = self.make(depth), self.make(0), self.number()

        @self.j.custom_vjp
        def h(x: Any) -> Any:
            return f(x)

        h.defvjp(lambda x: (f(x), g(x)), lambda r, ct: (a * ct * r,))
        return h

    def mapped(self, depth: int) -> Fun:
        f, out = self.make(depth), self.draw.choice([0, 1])
        axis = self.draw.choice([0, 1])

        def g(x: Any) -> Any:
            rows = self.np.stack([x, self.np.sin(x) - 0.3, 0.5 - x], axis=axis)
            return self.j.vmap(f, in_axes=axis, out_axes=out)(rows).mean(out)

        return g

    def mapped_beside(self, depth: int) -> Fun:
        f = self.make(depth)

        def g(x: Any) -> Any:
            total = self.j.vmap(lambda a, y: f(a * y) * a, in_axes=(0, None))
            return total(self.np.array([0.5, 1.0, -0.7]), x).sum(0)

        return g

    def exchanged(self, depth: int) -> Fun:
        f, how = self.make(depth), self.draw.choice(["psum", "pmax", "ppermute", "all_gather"])

        def one(r: Any) -> Any:
            y = f(r)
            if how == "psum":
                return y - self.lax.pmean(y * r, "rows") * 0.5
            if how == "pmax":
                return y - 0.1 * self.lax.axis_index("rows")
            if how == "ppermute":
                return y + 0.3 * self.lax.ppermute(y, "rows", [(0, 1), (1, 2), (2, 0)])
            return y * 0.5 + self.lax.all_gather(y, "rows").sum(0) * 0.2

        def g(x: Any) -> Any:
            return self.j.vmap(one, axis_name="rows")(self.np.stack([x, x * 0.5, -x])).sum(0)

        return g

    def slope(self, depth: int) -> Fun:
        f = self.make(depth)
        return lambda x: self.j.grad(lambda y: (f(y) * y).sum())(x) * 0.3 + x * 0.1

    def pushed(self, depth: int) -> Fun:
        f = self.make(depth)
        return lambda x: self.j.jvp(f, (x,), (self.np.cos(x),))[1] * 0.5 + x

    def pulled(self, depth: int) -> Fun:
        f = self.make(depth)

        def g(x: Any) -> Any:
            y, pull = self.j.vjp(f, x)
            return pull(self.np.sin(y))[0] * 0.4 + y

        return g

    def compiled(self, depth: int) -> Fun:
        f = self.j.jit(self.make(depth))
        return lambda x: f(x) + f(0.5 * x)

    def looped(self, depth: int) -> Fun:
        f = self.make(depth)
        size = self.draw.choice([None, 2])

        def g(x: Any) -> Any:
            rows = self.np.stack([x, 0.5 * x, 0.1 - x])
            return self.lax.map(lambda r: f(r) * 0.5 + 0.1 * x, rows, batch_size=size).sum(0)

        return g

    def solved(self, depth: int) -> Fun:
        f = self.make(depth)

        def g(x: Any) -> Any:
            d = 2.0 + self.np.sin(f(x))
            out = self.lax.custom_linear_solve(
                lambda v: d * v + 0.1 * v.sum(),
                x,
                lambda matvec, b: self.np.linalg.solve(self.j.jacobian(matvec)(b * 0.0), b),
                symmetric=True,
            )
            return out

        return g

    def stopped(self, depth: int) -> Fun:
        f = self.make(depth)
        return lambda x: f(x) + self.lax.stop_gradient(f(x * 0.5)) * x


LEAVES = (
    "sine bump turned mixed summed ordered largest masked moved scattered normed prefixed convolved"
).split()
NODES = (
    "scan scan scan_of_rows condition condition switch counted repeated checkpointed checkpointed with_jvp with_vjp "
    "mapped mapped_beside exchanged slope pushed pulled compiled looped solved stopped"
).split()


def program(j: Any, seed: int, depth: int = 3) -> Fun:
    """The program of a seed, written for the module `j`."""
    return Maker(j, seed).make(depth)


def _weights(x: Any) -> Any:
    return np.cos(np.arange(x.shape[-1]) + 0.3)


def _grad(j: Any, f: Fun, x: Any) -> Any:
    return j.grad(lambda y: (f(y) * _weights(y)).sum())(x)


def _hessian_times(j: Any, f: Fun, x: Any) -> Any:
    return j.grad(lambda y: (_grad(j, f, y) * _weights(y)).sum())(x)


def _rows(x: Any) -> Any:
    return np.stack([x, 0.7 - x, 0.5 * x])


TRANSFORMS: dict[str, Callable[[Any, Fun, Any], Any]] = {
    "value": lambda j, f, x: f(x),
    "jit": lambda j, f, x: j.jit(f)(x),
    "grad": _grad,
    "jit of grad": lambda j, f, x: j.jit(lambda y: _grad(j, f, y))(x),
    "jvp": lambda j, f, x: j.jvp(f, (x,), (_weights(x),)),
    "linearize": lambda j, f, x: j.linearize(f, x)[1](_weights(x)),
    "vmap": lambda j, f, x: j.vmap(f)(_rows(x)),
    "vmap of grad": lambda j, f, x: j.vmap(lambda y: _grad(j, f, y))(_rows(x)),
    "grad of vmap": lambda j, f, x: _grad(j, lambda y: j.vmap(f)(y), _rows(x)),
    "jacfwd": lambda j, f, x: j.jacfwd(f)(x),
    "grad of grad": _hessian_times,
    "jvp of grad": lambda j, f, x: j.jvp(lambda y: _grad(j, f, y), (x,), (_weights(x),))[1],
    "grad of checkpoint": lambda j, f, x: _grad(j, j.checkpoint(f), x),
}


def argument(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, 4)


def looks(seed: int) -> list[str]:
    """The transformations that the program of a seed is recorded under: its value and some others."""
    return [
        name
        for name in TRANSFORMS
        if name == "value" or (7 * seed + 3 * len(name) + ord(name[0])) % 4 == 0
    ]


SEEDS = range(1000, 1020)
DEPTH = 2


def results(j: Any, seed: int, name: str) -> list[np.ndarray]:
    """What one transformation of the program of a seed gives; 64-bit types must be on."""
    found = TRANSFORMS[name](j, program(j, seed, DEPTH), argument(seed))
    return [np.asarray(x) for x in j.tree_util.tree_leaves(found)]
