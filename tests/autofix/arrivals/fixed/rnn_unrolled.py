# One correct fixed version of rnn_unrolled.py
import jax
import jax.numpy as jnp


@jax.jit
def last_hidden(w, xs):
    h = jnp.zeros(4)
    return jax.lax.scan(lambda h, x: (jnp.tanh(w @ h + x), None), h, xs)[0]


w = jnp.sin(jnp.arange(16.0)).reshape(4, 4) * 0.3
xs = jnp.cos(jnp.arange(600.0)).reshape(150, 4)
print(round(float(last_hidden(w, xs).sum()), 4))
