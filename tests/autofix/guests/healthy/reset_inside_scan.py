import jax
import jax.numpy as jnp


def reset(key):
    return {"x": jax.random.uniform(key, minval=-0.1, maxval=0.1), "t": jnp.zeros((), jnp.int32)}


def collect(key, steps):
    def body(state, key):
        push_key, reset_key = jax.random.split(key)
        push = jnp.where(jax.random.bernoulli(push_key), 0.5, -0.5)
        state = {"x": state["x"] + push, "t": state["t"] + 1}
        done = (jnp.abs(state["x"]) > 1.0) | (state["t"] >= 8)
        state = jax.tree.map(lambda new, old: jnp.where(done, new, old), reset(reset_key), state)
        return state, done

    start_key, scan_key = jax.random.split(key)
    return jax.lax.scan(body, reset(start_key), jax.random.split(scan_key, steps))


state, dones = jax.jit(collect, static_argnums=1)(jax.random.key(0), 60)
print(bool(dones.any()), bool(jnp.abs(state["x"]) <= 1.0), dones.shape)
