# One correct fixed version of split_into_three.py
import jax
import jax.numpy as jnp


def init_autoencoder(key, width, latent):
    key, enc_key, dec_key = jax.random.split(key, 3)
    encoder = jax.random.normal(enc_key, (width, latent)) / width
    decoder = jax.random.normal(dec_key, (latent, width)) / latent
    return key, {"encoder": encoder, "decoder": decoder}


def reconstruct(params, x):
    return jnp.tanh(x @ params["encoder"]) @ params["decoder"]


key, params = init_autoencoder(jax.random.key(7), 6, 2)
print(reconstruct(params, jnp.zeros((3, 6))).shape, params["encoder"].shape)
