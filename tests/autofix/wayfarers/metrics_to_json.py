# error: TypeError
# line: 19
# depends: -
# fix: float
# result: {"mse": 2.5, "worst": 2.0}

import json

import jax
import jax.numpy as jnp


def evaluate(w, x, y):
    prediction = x @ w
    return {"mse": jnp.mean((prediction - y) ** 2), "worst": jnp.abs(prediction - y).max()}


metrics = jax.jit(evaluate)(jnp.ones(2), jnp.eye(2), jnp.array([0.0, 3.0]))
print(json.dumps(metrics))
