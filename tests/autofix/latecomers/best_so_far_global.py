# error: ConcretizationTypeError
# expect: UnexpectedTracerError | ConcretizationTypeError
# line: 24
# depends: x
# fix: return_value
# fixed-file: fixed/best_so_far_global.py
# result: evaluations 12 ; same True

import jax
import jax.numpy as jnp

BEST = {"value": jnp.inf, "x": None}


def ackley(x):
    a = -20.0 * jnp.exp(-0.2 * jnp.sqrt(jnp.mean(x ** 2)))
    b = -jnp.exp(jnp.mean(jnp.cos(2 * jnp.pi * x)))
    return a + b + 20.0 + jnp.e


@jax.jit
def evaluate(x):
    value = ackley(x)
    BEST["value"] = jnp.minimum(BEST["value"], value)
    return value


def random_search(key, rounds, dim=3):
    values = []
    for k in jax.random.split(key, rounds):
        x = jax.random.uniform(k, (dim,), minval=-2.0, maxval=2.0)
        values.append(float(evaluate(x)))
    return values


values = random_search(jax.random.key(0), 12)
print("evaluations", len(values))
print("same", abs(float(BEST["value"]) - min(values)) < 1e-6)
