import jax
import jax.numpy as jnp


def init(key):
    kw, kv = jax.random.split(key)
    return {"w": jax.random.normal(kw, (2, 8)), "v": 0.3 * jax.random.normal(kv, (8,))}


def predict(params, x):
    return jnp.tanh(x @ params["w"]) @ params["v"]


def loss(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@jax.jit
@jax.vmap
def init_all(key):
    return init(key)


@jax.jit
def step(ensemble, x, y):
    grads = jax.vmap(jax.grad(loss), in_axes=(0, None, None))(ensemble, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, ensemble, grads)


ensemble = init_all(jax.random.split(jax.random.key(0), 5))
x = jnp.stack(jnp.meshgrid(jnp.linspace(-1, 1, 5), jnp.linspace(-1, 1, 4)), -1).reshape(-1, 2)
y = x[:, 0] * 0.5
for _ in range(40):
    ensemble = step(ensemble, x, y)
outputs = jax.vmap(predict, in_axes=(0, None))(ensemble, x)
print(outputs.shape, bool(outputs.std(axis=0).mean() > 0.0))
