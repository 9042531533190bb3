# error: TypeError
# expect: TypeError | IndexError
# line: 20
# also-line: 25
# depends: i
# fix: argument_order
# fixed-file: fixed/fori_arg_order.py
# result: best 90.0 ; [0.0, 0.0, 0.0, 50.0, 50.0]

import jax
import jax.numpy as jnp
from jax.lax import fori_loop


def knapsack(weights, values, capacity):
    """Classic 0/1 knapsack: best value for every capacity."""
    slots = jnp.arange(capacity + 1)

    def consider(best, i):
        w, v = weights[i], values[i]
        shifted = jnp.where(slots >= w, best[slots - w] + v, -jnp.inf)
        return jnp.maximum(best, shifted)

    best = jnp.zeros(capacity + 1)
    return fori_loop(0, weights.shape[0], consider, best)


items = {
    "tent": (5, 10.0),
    "stove": (4, 40.0),
    "rope": (6, 30.0),
    "radio": (3, 50.0),
}
weights = jnp.array([w for w, _ in items.values()])
values = jnp.array([v for _, v in items.values()])
table = knapsack(weights, values, capacity=10)
print("best", float(table[-1]))
print([float(v) for v in table[:5]])
