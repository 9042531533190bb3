# One correct fixed version of bool_done_reset_in_scan.py
import jax
import jax.numpy as jnp

LIMIT = 2.4


class CartWorld:
    def reset(self):
        return {"x": jnp.zeros(()), "v": jnp.zeros(()), "t": jnp.zeros((), jnp.int32)}

    def step(self, state, push):
        v = state["v"] + 0.5 * push
        state = {"x": state["x"] + v, "v": v, "t": state["t"] + 1}
        done = jnp.logical_or(jnp.abs(state["x"]) > LIMIT, state["t"] >= 50)
        return state, 1.0, done


env = CartWorld()


def collect(key, steps):
    def body(state, key):
        push = jnp.where(jax.random.bernoulli(key), 1.0, -1.0)
        state, reward, done = env.step(state, push)
        state = jax.tree.map(lambda new, old: jnp.where(done, new, old), env.reset(), state)
        return state, (reward, done)

    return jax.lax.scan(body, env.reset(), jax.random.split(key, steps))


state, (rewards, dones) = collect(jax.random.key(0), 100)
print(float(rewards.sum()), bool(dones.sum() > 3), bool(jnp.abs(state["x"]) <= LIMIT))
