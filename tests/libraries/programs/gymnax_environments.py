"""Environments of gymnax: a batch of rollouts of several games, and the derivative of a step."""

import json

import gymnax
import jax
import jax.numpy as jnp

found = {}


def rollout(env, params, key, steps=40):
    """Return observations, rewards and ends of an episode with random actions."""
    first, rest = jax.random.split(key)
    obs, state = env.reset(first, params)

    def step(carry, key):
        act, move = jax.random.split(key)
        action = env.action_space(params).sample(act)
        obs, state, reward, terminated, truncated, _ = env.step(move, carry, action, params)
        return state, (jnp.ravel(obs).astype(float).sum(), reward, terminated | truncated)

    _, (seen, rewards, ends) = jax.lax.scan(step, state, jax.random.split(rest, steps))
    return jnp.ravel(obs)[:6].astype(float), seen, rewards, ends


keys = jax.random.split(jax.random.key(0), 3)
for name in ("CartPole-v1", "Pendulum-v1", "Catch-bsuite", "Breakout-MinAtar", "FourRooms-misc"):
    env, params = gymnax.make(name)
    results = jax.jit(jax.vmap(lambda key, env=env, params=params: rollout(env, params, key)))(keys)
    found[name] = [float(x) for r in results for x in jnp.ravel(r)]

env, params = gymnax.make("Pendulum-v1")
smooth = env.with_transition_gradients()
obs, state = smooth.reset(keys[0], params)
found["derivative"] = jax.grad(
    lambda action: smooth.step(keys[1], state, action, params)[1].theta_dot
)(jnp.array([0.5])).tolist()
print(json.dumps(found))
