"""Mistakes that raise nothing: small programs in which `explain` finds them, and others that it leaves alone."""

from __future__ import annotations

import pytest

from autofix.test_explain import explained
from autofix.test_repairs import program

# the class, the line, and the program
MISTAKES = {
    "a call after the third": (
        "OutOfBoundsIndexWarning",
        5,
        """
        import jax, jax.numpy as jnp
        class Table:
            def __init__(self, values): self.values = values
            @jax.jit
            def _get(values, i): return values[i]
            def get(self, i): return Table._get(self.values, i)
        t = Table(jnp.arange(8.0))
        total = 0.0
        for i in range(12):
            total += float(t.get(i))
        print(total)
        """,
    ),
    "a compiled function that vmap calls": (
        "OutOfBoundsIndexWarning",
        6,
        """
        import jax, jax.numpy as jnp
        from functools import partial
        table = jnp.arange(10.0)
        @partial(jax.jit, static_argnames="w")
        def window(i, w):
            return jax.lax.dynamic_slice_in_dim(table, i - w, 2 * w + 1).sum()
        print(jax.vmap(partial(window, w=2))(jnp.array([3, 9])))
        """,
    ),
    "a gradient that vmap maps eagerly": (
        "NaNGradientWarning",
        3,
        """
        import jax, jax.numpy as jnp
        def length(v):
            return jnp.where(v @ v > 0.0, jnp.sqrt(v @ v), 0.0)
        print(jax.vmap(jax.grad(length))(jnp.array([[0.0, 0.0], [3.0, 4.0]])))
        """,
    ),
    "a Jacobian": (
        "NaNGradientWarning",
        3,
        """
        import jax, jax.numpy as jnp
        def unit(v):
            return v / jnp.linalg.norm(v + 1.0)
        print(jax.jacfwd(unit)(jnp.array([-1.0, -1.0])))
        """,
    ),
    "labels counted from 1": (
        "OutOfBoundsIndexWarning",
        2,
        """
        import jax, jax.numpy as jnp
        def hit(logit, label): return (jax.nn.one_hot(label, 2) * logit).sum()
        print(jax.jit(jax.vmap(hit))(jnp.ones((4, 2)), jnp.array([1, 2, 2, 1])))
        """,
    ),
    "a small exponential minus 1": (
        "PrecisionLossWarning",
        2,
        """
        import jax, jax.numpy as jnp
        def interest(rate): return jnp.exp(rate) - 1.0
        class Account:
            def monthly(self, r): return 1000.0 * interest(r / 12.0)
        print(jax.jit(Account().monthly)(1e-6))
        """,
    ),
    "the logarithm of 1 and little more": (
        "PrecisionLossWarning",
        4,
        """
        import jax, jax.numpy as jnp
        @jax.jit
        def optical_depth(loss):
            return -jnp.log(1.0 + loss)
        print(jax.vmap(optical_depth)(jnp.array([1e-8, 3e-8])))
        """,
    ),
    "steps that a scan rounds away": (
        "PrecisionLossWarning",
        5,
        """
        import jax, jax.numpy as jnp
        def integrate(omega, n, phase0):
            def tick(carry, _):
                phase, n = carry
                return (phase + omega, n + 1), phase
            return jax.lax.scan(tick, (phase0, 0), None, length=n)[0]
        print(jax.jit(integrate, static_argnums=1)(1e-3, 500, 1e6))
        """,
    ),
    "a difference quotient of a lost step": (
        "PrecisionLossWarning",
        6,
        """
        import jax, jax.numpy as jnp
        @jax.jit
        def slope(x):
            eps = 1e-7
            f = lambda u: jnp.sin(u) * u
            return (f(x + eps) - f(x - eps)) / (2 * eps)
        print(slope(40.0))
        """,
    ),
    "an argument of 64 bits, subtracted in 32": (
        "PrecisionLossWarning",
        5,
        """
        import jax, jax.numpy as jnp, numpy as np
        lat = 5_500_000.0 + np.array([0.01, 0.05, 0.11])
        @jax.jit
        def steps(lat):
            return jnp.diff(lat).sum()
        print(steps(lat))
        """,
    ),
    "integers filled with a fraction": (
        "DtypeTruncationWarning",
        3,
        """
        import jax, jax.numpy as jnp
        hist = jnp.array([1, 2, 3])
        w = jnp.full_like(hist, 1.5)
        print((hist * w).sum())
        """,
    ),
    "fractions stored in integers": (
        "DtypeTruncationWarning",
        5,
        """
        import jax, jax.numpy as jnp
        x = jnp.array([1, 2, 4])
        out = jnp.zeros(3, int)
        for i in range(3):
            out = out.at[i].set(x[: i + 1].mean())
        print(out)
        """,
    ),
    "integers that lose their high bits": (
        "DtypeTruncationWarning",
        3,
        """
        import jax, jax.numpy as jnp, numpy as np
        t = np.arange(3) * 10**9 + 5 * 10**18
        print(jax.jit(lambda t: (t - t[0]) / 1e9)(t))
        """,
    ),
    "64 bits asked for after the import": (
        "DtypeTruncationWarning",
        3,
        """
        import os
        from jax import numpy as jnp
        os.environ.setdefault("JAX_ENABLE_X64", "true")
        print(jnp.ones(2).dtype)
        """,
    ),
    "an iterator of an object": (
        "ImpureTraceWarning",
        7,
        """
        import jax, jax.numpy as jnp, numpy as np
        def loader():
            for k in range(5):
                yield np.full(2, k, np.float32)
        class Trainer:
            def __init__(self): self.data = loader()
            def fetch(self): return next(self.data)
        trainer = Trainer()
        @jax.jit
        def step(w): return w + trainer.fetch().sum()
        w = 0.0
        for _ in range(4): w = step(w)
        print(w)
        """,
    ),
    "a file that changes": (
        "ImpureTraceWarning",
        4,
        """
        import jax, jax.numpy as jnp, os, tempfile
        path = os.path.join(tempfile.mkdtemp(), "gain.txt")
        def gain():
            with open(path) as f: return float(f.read())
        @jax.jit
        def control(x): return gain() * x
        for g in ("1.0", "22.0"):
            with open(path, "w") as f: f.write(g)
            print(control(2.0))
        """,
    ),
    "a log message of each iteration": (
        "SideEffectWarning",
        4,
        """
        import jax, jax.numpy as jnp, logging
        log = logging.getLogger("fit"); logging.basicConfig(level=logging.INFO)
        def body(s):
            log.info("next sweep")
            return s * 0.5
        print(jax.jit(lambda x: jax.lax.while_loop(lambda s: s > 1.0, body, x))(100.0))
        """,
    ),
    "lines written in each iteration": (
        "SideEffectWarning",
        4,
        """
        import jax, jax.numpy as jnp, tempfile
        out = tempfile.TemporaryFile("w+")
        def body(i, x):
            out.writelines(["row "])
            return x + i
        print(jax.lax.fori_loop(0, 4, body, 0.0))
        out.seek(0); print(out.read())
        """,
    ),
    "the result of a loop": (
        "UnusedResultWarning",
        4,
        """
        import jax, jax.numpy as jnp
        def smooth(x):
            def f(c, v): return 0.5 * (c + v), c
            jax.lax.scan(f, 0.0, x)
            return x
        print(smooth(jnp.arange(3.0)))
        """,
    ),
    "the result of a mapped tree": (
        "UnusedResultWarning",
        3,
        """
        import jax, jax.numpy as jnp
        params = [jnp.ones(2), jnp.zeros(3)]
        jax.tree_util.tree_map(lambda p: jnp.clip(p, 0.0, 0.5), params)
        print(params)
        """,
    ),
    "a generator in a sum": (
        "UnrolledLoopWarning",
        4,
        """
        import jax, jax.numpy as jnp
        def term(k, x): return x**k / (k + 1.0)
        @jax.jit
        def series(x): return sum(term(float(k), x) for k in range(150))
        print(series(0.5))
        """,
    ),
    "a square matrix less the means of its rows": (
        "BroadcastWarning",
        4,
        """
        import jax, jax.numpy as jnp
        @jax.jit
        def standardize(X):
            return X - X.mean(axis=-1)
        print(standardize(jnp.array([[1.0, 5.0], [2.0, 2.5]])))
        """,
    ),
    "a rounding behind two compiled functions": (
        "ZeroGradientWarning",
        3,
        """
        import jax, jax.numpy as jnp
        @jax.jit
        def steps(x): return jnp.floor(x)
        @jax.jit
        def cost(x): return jnp.sum(steps(3 * x) ** 2)
        print(jax.value_and_grad(cost)(jnp.array([0.4, 0.9])))
        """,
    ),
    "a test that only chooses": (
        "HostSyncWarning",
        7,
        """
        import jax, jax.numpy as jnp
        @jax.jit
        def step(x): return x * 0.9, jnp.sum(x**2)
        x = jnp.ones(3); low = jnp.inf
        for i in range(40):
            x, e = step(x)
            if e < low:
                low = e
        print(low)
        """,
    ),
    "a number that is written to a copy": (
        "SideEffectWarning",
        6,
        """
        import jax, jax.numpy as jnp, dataclasses
        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class Bag: n: jax.Array
        @jax.jit
        def put(bag): bag.n += 1
        bag = Bag(jnp.array(0))
        put(bag)
        print(int(bag.n))
        """,
    ),
    "a static object that compares equal by its name": (
        "StaleValueWarning",
        8,
        """
        import jax
        class Metal:
            def __init__(self, name, k): self.name, self.k = name, k
            def __hash__(self): return hash(self.name)
            def __eq__(self, other): return self.name == other.name
        from functools import partial
        @partial(jax.jit, static_argnums=1)
        def stress(x, metal): return metal.k * x
        print(stress(1.0, Metal("iron", 2.0)), stress(1.0, Metal("iron", 3.0)))
        """,
    ),
    "an item that ends the derivative": (
        "ZeroGradientWarning",
        3,
        """
        import jax, jax.numpy as jnp
        def energy(x):
            return 20.0 * x.item() ** 2
        print(jax.grad(energy)(jnp.array(0.1)))
        """,
    ),
    "all of a gradient stopped": (
        "ZeroGradientWarning",
        3,
        """
        import jax, jax.numpy as jnp
        def td_loss(w, s, r):
            delta = jax.lax.stop_gradient(r - jnp.dot(w, s))
            return 0.5 * delta**2
        print(jax.jit(jax.grad(td_loss))(jnp.ones(3), jnp.ones(3), 1.0))
        """,
    ),
    "a table that is read at a rounded place, for each example": (
        "ZeroGradientWarning",
        4,
        """
        import jax, jax.numpy as jnp
        values = jnp.arange(10.0)
        def read(r):
            return values[jnp.floor(r / 0.1).astype(int)]
        print(jax.vmap(lambda r: jax.grad(read)(r))(jnp.array([0.25, 0.55])))
        """,
    ),
    "a replaced field that is thrown away": (
        "UnusedResultWarning",
        5,
        """
        import collections, jax, jax.numpy as jnp
        State = collections.namedtuple("State", "w lr")
        def decay(state):
            if state.lr > 0.1:
                state._replace(lr=state.lr / 2)
            return state
        print(decay(State(jnp.ones(2), 0.4)).lr)
        """,
    ),
    "wide numbers of a structured array": (
        "DtypeTruncationWarning",
        4,
        """
        import jax.numpy as jnp
        import numpy as np
        trades = np.array([(3_000_000_007, 5.0)], dtype=[("account", np.int64), ("amount", np.float32)])
        accounts = jnp.asarray(trades["account"])
        print(accounts)
        """,
    ),
}

HEALTHY = {
    "a part of the parameters that is frozen": """
        import jax, jax.numpy as jnp
        def loss(params, x):
            return (jax.lax.stop_gradient(params["frozen"]) * params["w"] * x).sum()
        print(jax.grad(loss)({"frozen": jnp.ones(3), "w": jnp.ones(3)}, 2.0))
    """,
    "objects that are returned, or written to at once": """
        import jax, jax.numpy as jnp, dataclasses
        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class Bag:
            n: jax.Array
            def add(self, x): self.n = self.n + x
        @jax.jit
        def put(bag, x):
            bag.n += x
            bag.add(x)
            return bag
        @jax.jit
        def total(bag, xs):
            def body(inner, x):
                inner.n = inner.n + x
                return inner, inner.n
            return jax.lax.scan(body, bag, xs)[1]
        @jax.jit
        def local(x):
            bag = Bag(x)
            bag.n += 1.0
        bag = put(Bag(jnp.array(0.0)), 2.0)
        local(1.0)
        print(bag.n, total(bag, jnp.arange(3.0)))
        """,
    "static objects of equal settings with counters of their own": """
        import jax
        class Layer:
            def __init__(self, k): self.k, self.calls = k, 0
            def __hash__(self): return hash(self.k)
            def __eq__(self, other): return self.k == other.k
        f = jax.jit(lambda x, layer: layer.k * x, static_argnums=1)
        one, other = Layer(2.0), Layer(2.0)
        other.calls = 5
        print(f(1.0, one), f(1.0, other), f(1.0, Layer(3.0)))
        """,
    "a number that is logged beside the derivative": """
        import jax, jax.numpy as jnp
        seen = []
        def loss(w):
            seen.append(jax.lax.stop_gradient(w).sum())
            return (w ** 2).sum()
        print(jax.grad(loss)(jnp.ones(3)), len(seen))
        """,
    "small numbers that guard divisions": """
        import jax, jax.numpy as jnp
        @jax.jit
        def f(x, y):
            n = (x - y) / (jnp.abs(x) + 1e-8)
            return n / 1e-8 * 0 + jnp.log(1.0 + jnp.exp(x)) + (1.0 - jnp.exp(-jnp.abs(x)))
        print(f(jnp.arange(5.0), jnp.ones(5)))
        print((jnp.float32(3.0) - 1.0) / (2.0 + 1e-8))
        """,
    "an iterator read by one call, and one of the function": """
        import jax, jax.numpy as jnp, itertools
        names = itertools.count()
        keys = iter(jax.random.split(jax.random.key(0), 4))
        @jax.jit
        def init(x):
            n = next(names)
            return x + jax.random.normal(next(keys), x.shape)
        print(init(jnp.zeros(2)))
        @jax.jit
        def f(x):
            it = iter([1.0, 2.0]); return x + next(it)
        print(f(1.0), f(2.0))
        """,
    "a file that does not change": """
        import jax, jax.numpy as jnp, numpy as np, tempfile, os
        p = os.path.join(tempfile.mkdtemp(), "w.npy"); np.save(p, np.ones(3, np.float32))
        @jax.jit
        def f(x): return np.load(p) @ x
        print(f(jnp.ones(3)), f(jnp.zeros(3)))
        """,
    "messages about tracing": """
        import jax, jax.numpy as jnp
        def body(i, x):
            print("tracing the body")
            return x + i
        @jax.jit
        def f(x):
            print("compiling f")
            return jax.lax.fori_loop(0, 3, body, x)
        print(f(1.0), f(2.0))
        """,
    "64 bits asked for before the import": """
        import os
        os.environ["JAX_ENABLE_X64"] = "1"
        import jax.numpy as jnp
        print(jnp.ones(2).dtype)
        """,
    "a test that ends a loop": """
        import jax, jax.numpy as jnp
        @jax.jit
        def step(x): return 0.5 * (x + 2 / x)
        x = 1.0
        for _ in range(30):
            new = step(x)
            if abs(new - x) < 1e-6:
                break
            x = new
        t = 0.0
        for _ in range(50):
            t = t + 1e-3
        print(x, t)
        """,
    "nan on purpose under vmap, and guarded gradients": """
        import jax, jax.numpy as jnp
        def length(v):
            square = v @ v
            moves = square > 0.0
            return jnp.where(moves, jnp.sqrt(jnp.where(moves, square, 1.0)), 0.0)
        rows = jnp.array([[0.0, 0.0], [3.0, 4.0]])
        print(jax.vmap(jax.grad(length))(rows), jax.jacfwd(length)(rows[0]), jax.hessian(length)(rows[1]))
        print(jax.vmap(lambda v: jnp.where(v > 0.0, v, jnp.nan))(rows))
        """,
    "sums, residuals and labels of all kinds": """
        import jax, jax.numpy as jnp, numpy as np
        def f(c, x): return (c[0] + x, c[1] * 0.5 + 1e-12), c[0]
        print(jax.jit(lambda xs: jax.lax.scan(f, (0.0, 1.0), xs))(jnp.linspace(0, 1, 100))[0])
        X = np.random.default_rng(0).normal(size=(5, 5)); y = X @ np.ones(5)
        print(jax.jit(lambda X, y: jnp.sum((X - y[:, None]) ** 2) + jnp.sum(X - X.mean(0)))(X, y))
        print(jax.nn.one_hot(jnp.array([0, 3, 1]), 3), jax.nn.one_hot(jnp.array([-1, 1]), 3))
        seeds = np.array([3, 7], dtype=np.int64)
        print(jnp.asarray(seeds), jnp.full_like(seeds, 2.0))
        """,
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What is said of all programs, by title: one process explains them in turn."""
    folder = tmp_path_factory.mktemp("programs")
    texts = {**{title: text for title, (_, _, text) in MISTAKES.items()}, **HEALTHY}
    paths = {title: folder / f"{title.replace(' ', '_')}.py" for title in texts}
    for title, path in paths.items():
        path.write_text(program(texts[title]))
    found = explained(paths.values(), "--once")
    return {title: found[path.stem] for title, path in paths.items()}


@pytest.mark.parametrize("title", MISTAKES)
def test_a_mistake_is_found(title, reports):
    error, line, _ = MISTAKES[title]
    assert (reports[title]["error"], reports[title]["line"]) == (error, line), reports[title]


@pytest.mark.parametrize("title", HEALTHY)
def test_nothing_is_found(title, reports):
    assert (reports[title]["error"], reports[title]["status"]) == (None, "clean"), reports[title]
