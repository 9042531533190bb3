"""Repairs of mistakes that still give results, as text: the kind and the program after each."""

from __future__ import annotations

import pytest

from autofix.test_repairs import program, repaired
from sagax._autofix.repairs.case import Measurement

CASES = {
    "an item of an attribute": (
        "UnusedResultWarning",
        'self.data["x"].at[i].set(v)',
        """
        class Buffer:
            def push(self, i, v):
                self.data["x"].at[i].set(v)  # overwrites
        """,
        "assign_result",
        """
        class Buffer:
            def push(self, i, v):
                self.data["x"] = self.data["x"].at[i].set(v)  # overwrites
        """,
    ),
    "a helper that nothing is returned from": (
        "UnusedResultWarning",
        "u.at[0].add(by)",
        """
        import jax.numpy as jnp
        def bump(u, by):
            u.at[0].add(by)
        x = jnp.zeros(3)
        bump(x, 2.0)
        """,
        "return_value",
        """
        import jax.numpy as jnp
        def bump(u, by):
            return u.at[0].add(by)
        x = jnp.zeros(3)
        x = bump(x, 2.0)
        """,
    ),
    "a split key": (
        "UnusedResultWarning",
        "random.split(key)",
        """
        from jax import random
        for _ in range(3):
            random.split(key)
            x = x + random.normal(key)
        """,
        "split_key",
        """
        from jax import random
        for _ in range(3):
            key, subkey = random.split(key)
            x = x + random.normal(subkey)
        """,
    ),
    "the state and the updates of an optimizer": (
        "UnusedResultWarning",
        "tx.update(grads, state)",
        """
        import jax
        import optax
        def update(grads, state):
            new_state = jax.tree.map(lambda s, g: 0.9 * s + g, state, grads)
            return jax.tree.map(lambda s: -s, new_state), new_state
        for _ in range(3):
            grads = jax.grad(loss)(params)
            tx.update(grads, state)
        """,
        "assign_result",
        """
        import jax
        import optax
        def update(grads, state):
            new_state = jax.tree.map(lambda s, g: 0.9 * s + g, state, grads)
            return jax.tree.map(lambda s: -s, new_state), new_state
        for _ in range(3):
            grads = jax.grad(loss)(params)
            updates, state = tx.update(grads, state)
            params = optax.apply_updates(params, updates)
        """,
    ),
    "a counter of calls": (
        "SideEffectWarning",
        'stats["samples"] += block.shape[0]',
        """
        import jax
        stats = {}
        @jax.jit
        def run(block):
            stats["samples"] += block.shape[0]  # of all calls
            return block * 2
        for blocks in data:
            y = run(blocks)
        """,
        "move_update",
        """
        import jax
        stats = {}
        @jax.jit
        def run(block):
            return block * 2
        for blocks in data:
            stats["samples"] += blocks.shape[0]  # of all calls
            y = run(blocks)
        """,
    ),
    "a counter of calls in an expression": (
        "SideEffectWarning",
        "calls['f'] += 1",
        """
        import jax
        calls = {}
        @jax.jit
        def f(x):
            calls['f'] += 1
            return x
        total = sum(f(x) for x in xs)
        """,
        "move_update",
        """
        import jax
        calls = {}
        @jax.jit
        def _f(x):
            return x


        def f(x):
            calls['f'] += 1
            return _f(x)
        total = sum(f(x) for x in xs)
        """,
    ),
    "a traced value that is appended": (
        "SideEffectWarning",
        "losses.append(value)",
        """
        import jax
        losses = []
        @jax.jit
        def step(w):
            value = w**2
            losses.append(value)
            return w - value
        for _ in range(3):
            w = step(w)
        """,
        "return_value",
        """
        import jax
        losses = []
        @jax.jit
        def step(w):
            value = w**2
            return w - value, value
        for _ in range(3):
            w, value = step(w)
            losses.append(value)
        """,
    ),
    "a method that changes its object": (
        "SideEffectWarning",
        "self.step += 1",
        """
        import jax
        class Schedule:
            def next(self):
                self.step += 1
                return 1 / self.step
        schedule = Schedule()
        @jax.jit
        def update(w):
            return w - schedule.next() * w
        w = update(w)
        """,
        "pass_argument",
        """
        import jax
        class Schedule:
            def next(self):
                self.step += 1
                return 1 / self.step
        schedule = Schedule()
        @jax.jit
        def update(w, value):
            return w - value * w
        w = update(w, schedule.next())
        """,
    ),
    "the shape of a helper's argument": (
        "ImpureTraceWarning",
        "rng.normal(size=x.shape)",
        """
        import jax
        import numpy as np
        rng = np.random.default_rng(0)
        def noisy(x):
            return x + rng.normal(size=x.shape)
        @jax.jit
        def step(x):
            return noisy(x) * 2
        y = step(start)
        """,
        "pass_argument",
        """
        import jax
        import numpy as np
        rng = np.random.default_rng(0)
        def noisy(x, noise):
            return x + noise
        @jax.jit
        def step(x, noise):
            return noisy(x, noise) * 2
        y = step(start, rng.normal(size=start.shape))
        """,
    ),
    "noise for a computed value": (
        "ImpureTraceWarning",
        "np.random.rand(*x.shape)",
        """
        import jax
        import numpy as np
        def drop(x):
            return x * np.random.rand(*x.shape)
        @jax.jit
        def f(x, w):
            return drop(x @ w)
        y = f(a, b)
        """,
        "pass_key",
        """
        import jax
        import numpy as np
        def drop(x, key):
            return x * jax.random.uniform(key, x.shape)
        @jax.jit
        def f(x, w, key):
            return drop(x @ w, key)
        y = f(a, b, jax.random.key(np.random.randint(2**31 - 1)))
        """,
    ),
    "a clock after a loop": (
        "AsyncTimingWarning",
        "time.perf_counter() - start",
        """
        import time
        import jax
        start = time.perf_counter()
        for _ in range(5):
            a, b = f(x)
        took = time.perf_counter() - start
        """,
        "block",
        """
        import time
        import jax
        start = time.perf_counter()
        for _ in range(5):
            a, b = f(x)
        jax.block_until_ready((a, b))
        took = time.perf_counter() - start
        """,
    ),
    "numbers in a list of tuples": (
        "HostSyncWarning",
        "float(s)",
        """
        import jax
        for i in range(40):
            s = f(i)
            rows.append((i, float(s)))
        """,
        "convert_after_loop",
        """
        import jax
        for i in range(40):
            s = f(i)
            rows.append((i, s))
        rows = [(item_1, float(item_2)) for item_1, item_2 in jax.device_get(rows)]
        """,
    ),
    "a norm with keywords": (
        "NaNGradientWarning",
        "jnp.linalg.norm(x, axis=-1, keepdims=True)",
        """
        import jax.numpy as jnp
        def unit(x):
            return x / jnp.linalg.norm(x, axis=-1, keepdims=True)
        """,
        "double_where",
        """
        import jax.numpy as jnp
        def unit(x):
            square = jnp.sum(x ** 2, axis=-1, keepdims=True)
            return x / jnp.where(square == 0, 0.0, jnp.sqrt(jnp.where(square == 0, 1.0, square)))
        """,
    ),
    "an angle of a vector of no length": (
        "NaNGradientWarning",
        "jnp.arctan2(y, x)",
        """
        import jax.numpy as jnp
        def heading(x, y):
            return jnp.arctan2(y, x)
        """,
        "double_where",
        """
        import jax.numpy as jnp
        def heading(x, y):
            at_origin = (y == 0) & (x == 0)
            return jnp.where(at_origin, 0.0, jnp.arctan2(y, jnp.where(at_origin, 1.0, x)))
        """,
    ),
    "a root in a lambda": (
        "NaNGradientWarning",
        "np.sqrt(v @ v)",
        """
        import sagax.numpy as np
        length = lambda v: np.sqrt(v @ v)
        """,
        "double_where",
        """
        import sagax.numpy as np
        length = lambda v: np.where((v @ v) == 0, 0.0, np.sqrt(np.where((v @ v) == 0, 1.0, (v @ v))))
        """,
    ),
    "softmax by hand": (
        "NaNWarning",
        "jnp.exp(z)",
        """
        import jax
        import jax.numpy as jnp
        def attention(z):
            e = jnp.exp(z)
            return e / jnp.sum(e, axis=1, keepdims=True)
        """,
        "stable_function",
        """
        import jax
        import jax.numpy as jnp
        def attention(z):
            e = jnp.exp(z)
            return jax.nn.softmax(z, axis=1)
        """,
    ),
    "rounding": (
        "ZeroGradientWarning",
        "jnp.floor(x)",
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            return jnp.floor(x) * 2
        """,
        "smooth",
        """
        import jax
        import jax.numpy as jnp
        def f(x):
            return (x + jax.lax.stop_gradient(jnp.floor(x) - x)) * 2
        """,
    ),
    "a comparison that is cast": (
        "ZeroGradientWarning",
        "m < 0.1",
        """
        import jax
        def f(m):
            return (m < 0.1).astype(float).mean()
        """,
        "smooth",
        """
        import jax
        def f(m):
            return jax.nn.sigmoid(20.0 * (0.1 - m)).mean()
        """,
    ),
    "weights in a sum of exponentials": (
        "PrecisionLossWarning",
        "jnp.log(total)",
        """
        import jax
        import jax.numpy as jnp
        def f(x, w):
            p = jnp.exp(x)
            total = (w * p).sum(axis=0)
            return jnp.log(total)
        """,
        "stable_function",
        """
        import jax
        import jax.numpy as jnp
        def f(x, w):
            p = jnp.exp(x)
            total = (w * p).sum(axis=0)
            return jax.nn.logsumexp(x, axis=0, b=w)
        """,
    ),
    "a variance over an axis": (
        "PrecisionLossWarning",
        "second - first**2",
        """
        import jax.numpy as jnp
        def f(x):
            second = (x * x).mean(axis=1)
            first = x.mean(axis=1)
            return second - first**2
        """,
        "stable_function",
        """
        import jax.numpy as jnp
        def f(x):
            second = (x * x).mean(axis=1)
            first = x.mean(axis=1)
            return jnp.var(x, axis=1)
        """,
    ),
    "items beside leaves": (
        "AmbiguousAxesWarning",
        "zip(params.items(), jax.tree.leaves(grads))",
        """
        import jax
        def step(params, grads):
            return {k: p - g for (k, p), g in zip(params.items(), jax.tree.leaves(grads))}
        """,
        "sorted_keys",
        """
        import jax
        def step(params, grads):
            return {k: p - g for (k, p), g in zip(sorted(params.items()), jax.tree.leaves(grads))}
        """,
    ),
    "one of two keys": (
        "KeyReuseError",
        "normal(first, shape)",
        """
        from jax.random import normal, split
        def init(key, shape):
            first, second = split(key)
            w = uniform(first, shape)
            return w, normal(first, shape)
        """,
        "other_key",
        """
        from jax.random import normal, split
        def init(key, shape):
            first, second = split(key)
            w = uniform(first, shape)
            return w, normal(second, shape)
        """,
    ),
    "the key of a scan": (
        "KeyReuseError",
        "jax.random.normal(key)",
        """
        import jax
        def simulate(key, us):
            def body(x, u):
                x = x + u + jax.random.normal(key)
                return x, x
            return jax.lax.scan(body, 0.0, us)
        """,
        "split_key",
        """
        import jax
        def simulate(key, us):
            def body(x, inputs):
                u, subkey = inputs
                x = x + u + jax.random.normal(subkey)
                return x, x
            return jax.lax.scan(body, 0.0, (us, jax.random.split(key, us.shape[0])))
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_repair(name):
    error, expression, before, kind, after = CASES[name]
    found = repaired(error, program(before), expression)
    assert (kind, program(after)) in found, "\n".join(f"--- {k}\n{t}" for k, t in found)


# the class, the message, the expression, what is measured, and the program before and after
WITH_MESSAGE = {
    "an exponential minus 1": (
        "PrecisionLossWarning", "", "1.0 - e", {},
        """
        def chance(rate):
            e = jnp.exp(-rate)
            return 5.0 * (1.0 - e)
        """,
        """
        def chance(rate):
            e = jnp.exp(-rate)
            return 5.0 * (-jnp.expm1(-rate))
        """,
    ),
    "a logarithm of 1 and little more": (
        "PrecisionLossWarning", "", "jnp.log(1 + a * b)", {},
        "y = jnp.log(1 + a * b)",
        "y = jnp.log1p(a * b)",
    ),
    "a central difference quotient": (
        "PrecisionLossWarning", "", "(f(w, x + h) - f(w, x - h)) / (2 * h)", {},
        "d = (f(w, x + h) - f(w, x - h)) / (2 * h)",
        "d = jax.grad(f, argnums=1)(w, x)",
    ),
    "a sum of equal steps": (
        "PrecisionLossWarning", "", "t + dt", {},
        """
        def tick(k, state):
            t, x = state
            return t + dt, x * t
        t, x = jax.lax.fori_loop(0, n, tick, (50.0, x))
        """,
        """
        def tick(k, state):
            t, x = state
            return 50.0 + (k + 1) * dt, x * t
        t, x = jax.lax.fori_loop(0, n, tick, (50.0, x))
        """,
    ),
    "a difference of an argument": (
        "PrecisionLossWarning", "subtract before the call", "t - START", {},
        """
        def age(t):
            return jnp.sqrt(t - START)
        y = age(times)
        """,
        """
        def age(t):
            return jnp.sqrt(t)
        y = age(times - START)
        """,
    ),
    "a matrix less the means of its rows": (
        "BroadcastWarning", "keepdims=True keeps the rows", "X - m", {},
        "m = X.mean(axis=1)\ny = X - m",
        "m = X.mean(axis=1, keepdims=True)\ny = X - m",
    ),
    "a column among three operands": (
        "BroadcastWarning", "", "normal.logpdf(y, mean, 1.0)",
        {"mean": [Measurement("Array", (5, 1))], "y": [Measurement("Array", (5,))]},
        "from jax.scipy.stats import normal\ns = normal.logpdf(y, mean, 1.0)",
        "from jax.scipy.stats import normal\ns = normal.logpdf(y, mean[:, 0], 1.0)",
    ),
    "a matrix without a factor": (
        "NaNWarning", "", "jnp.linalg.cholesky(C)", {},
        "L = jnp.linalg.cholesky(C)",
        "L = jnp.linalg.cholesky(C + 1e-6 * jnp.eye(C.shape[-1]))",
    ),
    "a cube root": (
        "NaNWarning", "", "(a - b) ** (1 / 3)", {}, "y = (a - b) ** (1 / 3)", "y = jnp.cbrt(a - b)",
    ),
    "a masked softmax": (
        "NaNGradientWarning", "", "jax.nn.softmax(s)", {},
        """
        def weigh(scores, mask):
            s = jnp.where(mask, scores, -jnp.inf)
            return jax.nn.softmax(s)
        """,
        """
        def weigh(scores, mask):
            return jax.nn.softmax(scores, where=mask)
        """,
    ),
    "a power by exp and log": (
        "NaNGradientWarning", "", "jnp.log(x)", {},
        "y = jnp.exp(jnp.log(x) * a)",
        "y = jnp.where(x > 0, jnp.where(x > 0, x, 1.0) ** a, 0.0)",
    ),
    "an update that is undefined for some": (
        "NaNWarning", "", "(w @ x) / w.sum()", {},
        """
        def move(c, w, x):
            return (w @ x) / w.sum()
        c = move(c, w, x)
        """,
        """
        def move(c, w, x):
            divisor = w.sum()
            return jnp.where(divisor == 0, c, (w @ x) / jnp.where(divisor == 0, 1.0, divisor))
        c = move(c, w, x)
        """,
    ),
    "integers that fractions are stored in": (
        "DtypeTruncationWarning", "", "kept.at[k].set(x / 2)", {},
        """
        kept = jnp.zeros_like(counts)
        def body(k, kept):
            return kept.at[k].set(x / 2)
        kept = jax.lax.fori_loop(0, 3, body, kept)
        """,
        """
        kept = jnp.zeros_like(counts, dtype=float)
        def body(k, kept):
            return kept.at[k].set(x / 2)
        kept = jax.lax.fori_loop(0, 3, body, kept)
        """,
    ),
    "a buffer that is too short": (
        "OutOfBoundsIndexWarning", "index 4 is out of bounds for axis 0 with size 4",
        "jax.lax.dynamic_update_slice(b, v, (i,))", {},
        """
        ROOM = 4
        def push(b, i, v):
            b = jax.lax.dynamic_update_slice(b, v, (i,))
            return b
        b = jnp.zeros(ROOM)
        for i in range(STEPS):
            b = push(b, i, v)
        """,
        """
        ROOM = STEPS
        def push(b, i, v):
            b = jax.lax.dynamic_update_slice(b, v, (i,))
            return b
        b = jnp.zeros(ROOM)
        for i in range(STEPS):
            b = push(b, i, v)
        """,
    ),
    "a buffer that is written in a circle": (
        "OutOfBoundsIndexWarning", "index 9 is out of bounds for axis 0 with size 9", "b.at[i].set(v)", {},
        "def push(b, i, v):\n    return b.at[i].set(v)",
        "def push(b, i, v):\n    return b.at[i % b.shape[0]].set(v)",
    ),
    "a window over the end": (
        "OutOfBoundsIndexWarning", "index 5 is out of bounds for axis 0 with size 6",
        "jax.lax.dynamic_slice(x, (i,), (3,))", {},
        "y = jax.lax.dynamic_slice(x, (i,), (3,))",
        "y = jax.lax.dynamic_slice(jnp.pad(x, 3), (i + 3,), (3,))",
    ),
    "an unrolled comprehension of two arrays": (
        "UnrolledLoopWarning", "", "zip(us, vs)", {},
        "y = jnp.stack([f(u, v, w) for u, v in zip(us, vs)])",
        "y = jax.vmap(lambda u, v: f(u, v, w))(us, vs)",
    ),
    "an array of keys": (
        "ValueError", "normal: accepts a single key", "jax.random.normal(ks, (n, 2))",
        {"ks": [Measurement("Array", (3,))], "n": [Measurement("int", value=3)]},
        "y = jax.random.normal(ks, (n, 2))",
        "y = jax.vmap(lambda key: jax.random.normal(key, (2,)))(ks)",
    ),
    "a line that is written in each iteration": (
        "SideEffectWarning", "", "log.write(line)", {},
        """
        def body(i, x):
            log.write(line)
            return x
        y = jax.lax.fori_loop(0, 3, body, x)
        text = log.getvalue()
        """,
        """
        def body(i, x):
            jax.debug.callback(lambda: log.write(line), ordered=True)
            return x
        y = jax.lax.fori_loop(0, 3, body, x)
        jax.effects_barrier()
        text = log.getvalue()
        """,
    ),
    "a function that would change its argument": (
        "NotImplementedError", "must use inplace=False", "jnp.fill_diagonal(self.a, 1)", {},
        """
        class M:
            def clear(self):
                jnp.fill_diagonal(self.a, 1)
        """,
        """
        class M:
            def clear(self):
                self.a = jnp.fill_diagonal(self.a, 1, inplace=False)
        """,
    ),
    "a choice in a loop": (
        "HostSyncWarning", "", "e < low", {"w": [Measurement("dict")]},
        """
        for _ in range(n):
            w, e = step(w)
            if e < low:
                low, kept = e, w
        """,
        """
        for _ in range(n):
            w, e = step(w)
            chosen = e < low
            low = jnp.where(chosen, e, low)
            kept = jax.tree.map(lambda new, old: jnp.where(chosen, new, old), w, kept)
        """,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_MESSAGE)
def test_a_repair_by_message_and_measurement(name):
    error, message, expression, measured, before, after = WITH_MESSAGE[name]
    head = "import jax\nimport jax.numpy as jnp\n"
    text = head + program(before)
    found = repaired(error, text, expression, message=message, measured=measured)
    assert head + program(after) in [t for _, t in found], "\n".join(
        f"--- {k}\n{t}" for k, t in found
    )


def test_two_variables_are_not_exchanged_by_where():
    text = """
    import jax.numpy as jnp
    for _ in range(n):
        if a < b:
            a, b = b, a
    """
    assert not repaired("HostSyncWarning", program(text), "a < b")


def test_an_argument_that_is_read_twice_is_not_subtracted_before():
    text = """
    import jax.numpy as jnp
    def f(t):
        return (t - START) * t
    y = f(times)
    """
    found = repaired(
        "PrecisionLossWarning", program(text), "t - START", message="subtract before the call"
    )
    assert not found


@pytest.mark.parametrize(
    ("message", "expression", "before", "after"),
    [
        ("index 4 is out of bounds for axis 0 with size 4", "x[i + 1]",
         "i = jnp.arange(n)\nd = x[i + 1] - x[i]", "i = jnp.arange(n - 1)\nd = x[i + 1] - x[i]"),
        ("index 3 is out of bounds for axis 0 with size 3", "segment_sum(v, ids, num_segments=3)",
         "s = segment_sum(v, ids, num_segments=3)", "s = segment_sum(v, ids, num_segments=4)"),
        ("index 3 is out of bounds for 3 branches", "jax.lax.switch(k, fs, x)",
         "y = jax.lax.switch(k, fs, x)", "y = jax.lax.switch(k - 1, fs, x)"),
    ],
)  # fmt: skip
def test_an_index_out_of_bounds(message, expression, before, after):
    head = "import jax\nimport jax.numpy as jnp\nfrom jax.ops import segment_sum\n"
    found = repaired("OutOfBoundsIndexWarning", head + before, expression, message=message)
    assert head + after in [text for _, text in found], found


def test_a_dead_variable_is_not_assigned():
    text = """
    import jax.numpy as jnp
    def f(x):
        jnp.sort(x)
        return 1
    """
    assert not repaired("UnusedResultWarning", program(text), "jnp.sort(x)")


def test_a_power_of_a_whole_number_is_not_guarded():
    text = """
    import jax.numpy as jnp
    def f(x):
        return x ** 2
    """
    assert not repaired("NaNGradientWarning", program(text), "x ** 2")
