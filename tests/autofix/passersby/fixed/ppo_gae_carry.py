# One correct fixed version of ppo_gae_carry.py
"""A very small PPO on a two-armed contextual bandit with episodes of fixed length."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Transition(NamedTuple):
    obs: jax.Array
    action: jax.Array
    logp: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


def init_params(key, n_obs, n_actions, hidden=16):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "trunk": jax.random.normal(k1, (n_obs, hidden)) / jnp.sqrt(n_obs),
        "policy": 0.1 * jax.random.normal(k2, (hidden, n_actions)),
        "value": 0.1 * jax.random.normal(k3, (hidden,)),
    }


def forward(params, obs):
    h = jnp.tanh(obs @ params["trunk"])
    return h @ params["policy"], h @ params["value"]


def act(params, key, obs):
    logits, value = forward(params, obs)
    action = jax.random.categorical(key, logits)
    return action, jax.nn.log_softmax(logits)[action], value


def collect(params, key, steps):
    def env_step(carry, k):
        obs, t = carry
        action, logp, value = act(params, k, obs)
        reward = (action == jnp.argmax(obs)).astype(jnp.int32)
        nxt = jnp.roll(obs, 1)
        out = Transition(obs, action, logp, value, reward, (t + 1) % 8 == 0)
        return (nxt, t + 1), out

    (last, _), traj = jax.lax.scan(env_step, (jnp.array([1.0, 0.0]), 0), jax.random.split(key, steps))
    return traj, forward(params, last)[1]


def gae(traj, last_value, gamma=0.9, lam=0.9):
    def back(carry, tr):
        advantage, next_value = carry
        live = 1.0 - tr.done
        delta = tr.reward + gamma * next_value * live - tr.value
        advantage = delta + gamma * lam * live * advantage
        return (advantage, tr.value), advantage

    start = (jnp.zeros_like(last_value), last_value)
    _, advantages = jax.lax.scan(back, start, traj, reverse=True)
    return advantages, advantages + traj.value


def ppo_loss(params, traj, advantages, targets, clip=0.2):
    logits, value = forward(params, traj.obs)
    logp = jnp.take_along_axis(jax.nn.log_softmax(logits), traj.action[:, None], axis=1)[:, 0]
    ratio = jnp.exp(logp - traj.logp)
    gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, 1 - clip, 1 + clip) * advantages)
    return -gain.mean() + 0.5 * jnp.mean((value - targets) ** 2)


@jax.jit
def iterate(params, key):
    traj, last_value = collect(params, key, 64)
    advantages, targets = gae(traj, last_value)
    for _ in range(4):
        grads = jax.grad(ppo_loss)(params, traj, advantages, targets)
        params = jax.tree.map(lambda p, g: p - 0.2 * g, params, grads)
    return params, traj.reward.mean()


params = init_params(jax.random.key(0), 2, 2)
for k in jax.random.split(jax.random.key(1), 60):
    params, reward = iterate(params, k)
print("learned", bool(reward > 0.8))
