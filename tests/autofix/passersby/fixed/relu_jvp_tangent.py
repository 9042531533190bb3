# One correct fixed version of relu_jvp_tangent.py
"""Smoothed ReLU (surrogate gradient) for a spiking layer."""
import jax
import jax.numpy as jnp

SLOPE = 5.0


@jax.custom_jvp
def spike(v):
    return (v > 0.0).astype(jnp.float32)


@spike.defjvp
def spike_jvp(primals, tangents):
    (v,), (dv,) = primals, tangents
    surrogate = 1.0 / (1.0 + SLOPE * jnp.abs(v)) ** 2
    return spike(v), surrogate * dv


def layer(w, x, decay=0.8):
    def tick(v, drive):
        v = decay * v + drive @ w
        s = spike(v - 1.0)
        return v - s, s

    _, spikes = jax.lax.scan(tick, jnp.zeros(w.shape[1]), x)
    return spikes


def rate_loss(w, x, target):
    return jnp.sum((layer(w, x).mean(axis=0) - target) ** 2)


x = 0.5 + 0.5 * jnp.sin(jnp.arange(60.0).reshape(20, 3))
target = jnp.array([0.2, 0.6])
w = 0.5 * jnp.ones((3, 2))
start = rate_loss(w, x, target)
step = jax.jit(lambda w: w - 0.1 * jax.grad(rate_loss)(w, x, target))
for _ in range(40):
    w = step(w)
print("better", bool(rate_loss(w, x, target) < start))
