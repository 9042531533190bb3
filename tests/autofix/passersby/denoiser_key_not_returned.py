# error: none
# expect: KeyReuseError
# jax-differs: jax reuses the same timesteps and noise in every training step
# line: 43
# depends: -
# fix: split_key
# fixed-file: fixed/denoiser_key_not_returned.py
# result: steps 12 ; different noise levels seen: 12

"""Denoising score model on a ring of points, train state kept in a dataclass."""
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass
class TrainState:
    params: dict
    momentum: dict
    key: jax.Array
    step: jax.Array


def init_state(seed, hidden=32):
    key = jax.random.key(seed)
    key, k1, k2 = jax.random.split(key, 3)
    params = {
        "w1": jax.random.normal(k1, (3, hidden)) / 2.0,
        "b1": jnp.zeros(hidden),
        "w2": jax.random.normal(k2, (hidden, 2)) / jnp.sqrt(hidden),
    }
    return TrainState(params, jax.tree.map(jnp.zeros_like, params), key, jnp.int32(0))


def score(params, x, sigma):
    inputs = jnp.concatenate([x, jnp.log(sigma)[:, None]], axis=1)
    return jnp.tanh(inputs @ params["w1"] + params["b1"]) @ params["w2"] / sigma[:, None]


def draw_noise(key, shape):
    sigma_key, noise_key = jax.random.split(key)
    sigma = jnp.exp(jax.random.uniform(sigma_key, shape[:1], minval=-2.0, maxval=0.5))
    return sigma, jax.random.normal(noise_key, shape)


def dsm_loss(params, x, sigma, noise):
    noisy = x + sigma[:, None] * noise
    target = -noise / sigma[:, None]
    weight = sigma[:, None] ** 2
    return jnp.mean(jnp.sum(weight * (score(params, noisy, sigma) - target) ** 2, axis=1))


@jax.jit
def apply_gradients(state, grads, lr):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state.momentum, grads)
    params = jax.tree.map(lambda p, m: p - lr * m, state.params, momentum)
    return replace(state, params=params, momentum=momentum, step=state.step + 1)


def train_step(state, x, lr):
    sigma, noise = draw_noise(state.key, x.shape)
    loss, grads = jax.value_and_grad(dsm_loss)(state.params, x, sigma, noise)
    return apply_gradients(state, grads, lr), loss, sigma[0]


def ring(n):
    angle = jnp.linspace(0.0, 2 * jnp.pi, n, endpoint=False)
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)


def main():
    state, x = init_state(0), ring(64)
    sigmas = set()
    for _ in range(12):
        state, loss, s = train_step(state, x, 0.01)
        sigmas.add(round(float(s), 5))
    print("steps", int(state.step))
    print("different noise levels seen:", len(sigmas))


if __name__ == "__main__":
    main()
