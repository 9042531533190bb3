from typing import NamedTuple

import jax
import jax.numpy as jnp


class VAE(NamedTuple):
    enc: jax.Array
    dec: jax.Array


def encode(vae, x):
    stats = x @ vae.enc
    mu, logvar = jnp.split(stats, 2, axis=-1)
    return mu, logvar


def elbo_loss(vae, x, key, beta=0.1):
    mu, logvar = encode(vae, x)
    z = mu + jnp.exp(0.5 * logvar) * jax.random.normal(key, mu.shape)
    recon = jnp.sum((jax.nn.sigmoid(z @ vae.dec) - x) ** 2, axis=-1)
    kl = -0.5 * jnp.sum(1.0 + logvar - mu**2 - jnp.exp(logvar), axis=-1)
    loss = jnp.mean(recon + beta * kl)
    return loss, {"recon": recon.mean(), "kl": kl.mean()}


@jax.jit
def update(vae, x, key, lr=0.1):
    (loss, parts), grads = jax.value_and_grad(elbo_loss, has_aux=True)(vae, x, key)
    vae = jax.tree.map(lambda p, g: p - lr * g, vae, grads)
    return vae, loss, parts


x = jnp.repeat(jnp.arange(16)[:, None] % 2 == 0, 6, axis=1).astype(jnp.float32)
k_enc, k_dec, key = jax.random.split(jax.random.key(3), 3)
vae = VAE(0.1 * jax.random.normal(k_enc, (6, 4)), 0.1 * jax.random.normal(k_dec, (2, 6)))
losses = []
for step_key in jax.random.split(key, 150):
    vae, loss, parts = update(vae, x, step_key)
    losses.append(float(loss))
print(sum(losses[-20:]) < 0.8 * sum(losses[:20]), sorted(parts), vae.enc.shape)
