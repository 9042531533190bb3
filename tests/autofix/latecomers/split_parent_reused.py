# error: none
# expect: KeyReuseError
# jax-differs: jax lets a key be drawn from after it was split
# line: 33
# depends: -
# fix: split_key
# fixed-file: fixed/split_parent_reused.py
# result: finite True

import jax
import jax.numpy as jnp


def encode(params, x):
    h = jnp.tanh(x @ params["enc"])
    mu, logvar = jnp.split(h, 2, axis=-1)
    return mu, logvar


def reparameterise(key, mu, logvar):
    return mu + jnp.exp(0.5 * logvar) * jax.random.normal(key, mu.shape)


def decode(params, z):
    return jax.nn.sigmoid(z @ params["dec"])


def elbo(params, key, x):
    z_key, x_key = jax.random.split(key)
    mu, logvar = encode(params, x)
    z = reparameterise(z_key, mu, logvar)
    probs = decode(params, z)
    noisy = jax.random.bernoulli(key, probs).astype(x.dtype)
    rec = jnp.mean(jnp.sum((noisy - x) ** 2, axis=-1))
    kl = -0.5 * jnp.mean(jnp.sum(1 + logvar - mu ** 2 - jnp.exp(logvar), axis=-1))
    return rec + kl


k_enc, k_dec, k_run = jax.random.split(jax.random.key(1), 3)
params = {
    "enc": 0.1 * jax.random.normal(k_enc, (6, 4)),
    "dec": 0.1 * jax.random.normal(k_dec, (2, 6)),
}
x = (jnp.arange(30).reshape(5, 6) % 3 == 0).astype(jnp.float32)
value = elbo(params, k_run, x)
print("finite", bool(jnp.isfinite(value)))
