# One correct fixed version of metrics_to_json.py
import json

import jax
import jax.numpy as jnp


def evaluate(w, x, y):
    prediction = x @ w
    return {"mse": jnp.mean((prediction - y) ** 2), "worst": jnp.abs(prediction - y).max()}


metrics = jax.jit(evaluate)(jnp.ones(2), jnp.eye(2), jnp.array([0.0, 3.0]))
print(json.dumps({name: float(value) for name, value in metrics.items()}))
