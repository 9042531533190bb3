# One correct fixed version of lstm_body_three_values.py
import jax
import jax.numpy as jnp


def lstm(params, xs):
    def cell(state, x):
        h, c = state
        z = x @ params["w"] + h @ params["u"]
        i, f, o, g = jnp.split(z, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = (jnp.zeros(3), jnp.zeros(3))
    return jax.lax.scan(cell, start, xs)[1]


params = {"w": jnp.sin(jnp.arange(24.0)).reshape(2, 12), "u": jnp.cos(jnp.arange(36.0)).reshape(3, 12)}
out = lstm(params, jnp.linspace(0, 1, 10).reshape(5, 2))
print(out.shape, round(float(out.sum()), 4))
