"""Repairs of mistakes that still give results, as text: the kind and the program after each."""

from __future__ import annotations

import pytest

from autofix.test_repairs import program, repaired

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
