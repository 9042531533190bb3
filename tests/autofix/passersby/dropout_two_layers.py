# error: none
# expect: KeyReuseError
# jax-differs: jax draws the same mask twice without a word
# line: 24
# depends: -
# fix: split_key
# fixed-file: fixed/dropout_two_layers.py
# result: (4, 1) ; masks agree everywhere: False

"""Dropout network used for MC-dropout uncertainty."""
import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0), keep


def network(params, x, key, rate=0.5):
    h = jnp.tanh(x @ params["w1"])
    h, m1 = dropout(key, h, rate)
    h = jnp.tanh(h @ params["w2"])
    h, m2 = dropout(key, h, rate)
    return h @ params["w3"], (m1, m2)


width = 64
keys = jax.random.split(jax.random.key(0), 4)
params = {
    "w1": jax.random.normal(keys[0], (3, width)),
    "w2": jax.random.normal(keys[1], (width, width)) / 8.0,
    "w3": jax.random.normal(keys[2], (width, 1)) / 8.0,
}
x = jnp.ones((4, 3))
out, (m1, m2) = network(params, x, keys[3])
print(out.shape)
print("masks agree everywhere:", bool((m1 == m2).all()))
