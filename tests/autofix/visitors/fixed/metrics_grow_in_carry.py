# One correct fixed version of metrics_grow_in_carry.py
import jax
import jax.numpy as jnp

TARGET = jnp.array([0.5, -1.0, 2.0])


def loss(w):
    return jnp.sum((w - TARGET) ** 2)


def step(carry, rate):
    w, metrics = carry
    value, slope = jax.value_and_grad(loss)(w)
    metrics = {**metrics, "best": jnp.minimum(metrics["best"], value)}
    metrics["steps"] = metrics["steps"] + 1
    return (w - rate * slope, metrics), value


rates = jnp.array([0.4, 0.3, 0.2, 0.1])
start = (jnp.zeros(3), {"steps": 0, "best": jnp.inf})
(w, metrics), values = jax.lax.scan(step, start, rates)
print(round(float(metrics["best"]), 5), int(metrics["steps"]))
