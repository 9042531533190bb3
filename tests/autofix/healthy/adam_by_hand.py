import jax
import jax.numpy as jnp


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] - y) ** 2)


def adam_init(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": jnp.zeros((), jnp.int32)}


@jax.jit
def train_step(params, state, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
    scale = jnp.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t)
    params = jax.tree.map(lambda p, m, v: p - 0.02 * scale * m / (jnp.sqrt(v) + 1e-8), params, m, v)
    return params, {"m": m, "v": v, "t": t}, value


key_x, key_1, key_2 = jax.random.split(jax.random.key(0), 3)
x = jax.random.normal(key_x, (32, 3))
y = jnp.sin(x[:, :1]) + 0.5 * x[:, 1:2]
params = {
    "w1": 0.5 * jax.random.normal(key_1, (3, 16)),
    "b1": jnp.zeros(16),
    "w2": 0.5 * jax.random.normal(key_2, (16, 1)),
}
state = adam_init(params)
for step in range(200):
    params, state, value = train_step(params, state, x, y)
    if step % 100 == 99:
        print(step + 1, float(value) < 0.2)
