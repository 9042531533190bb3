# error: TypeError
# line: 18
# also-line: 14
# depends: -
# fix: any
# result: [[0.1900000125169754, 0.1900000125169754, 0.1900000125169754], [0.1900000125169754, 0.1900000125169754, 0.1900000125169754]]

import jax
import jax.numpy as jnp


def rnn(w, inputs):
    def cell(h, x):
        h = jnp.tanh(h @ w + x)
        return h, h

    h0 = jnp.zeros((inputs.shape[0], w.shape[0]))
    last, states = jax.lax.scan(cell, h0, inputs)
    return states


inputs = jnp.ones((2, 5, 3)) * 0.1
states = rnn(jnp.eye(3) * 0.5, inputs)
print(states[-1].round(3).tolist())
