# error: TypeError
# line: 31
# depends: -
# fix: any
# result: [-0.15, -0.02, 0.09, -0.12, -0.06, -0.08] ; 0.05

import jax
import jax.numpy as jnp

HIDDEN = 6


def init(key, inputs):
    kx, kh = jax.random.split(key)
    return {
        "wx": 0.3 * jax.random.normal(kx, (inputs, 3 * HIDDEN)),
        "wh": 0.3 * jax.random.normal(kh, (HIDDEN, 3 * HIDDEN)),
        "b": jnp.zeros(3 * HIDDEN),
    }


def gru(params, sequence):
    def cell(h, x):
        xr, xz, xn = jnp.split(x @ params["wx"] + params["b"], 3)
        hr, hz, hn = jnp.split(h @ params["wh"], 3)
        r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
        n = jnp.tanh(xn + r * hn)
        h = (1 - z) * n + z * h
        return h, h.mean()

    h0 = jnp.zeros(HIDDEN, dtype=jnp.bfloat16)
    return jax.lax.scan(cell, h0, sequence)


params = init(jax.random.key(0), 3)
sequence = jnp.sin(jnp.arange(24.0)).reshape(8, 3).astype(jnp.bfloat16)
h, trace = jax.jit(gru)(params, sequence)
print([round(float(v), 2) for v in h])
print(round(float(trace.sum()), 2))
