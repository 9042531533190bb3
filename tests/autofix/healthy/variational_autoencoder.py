import jax
import jax.numpy as jnp


def encode(params, x):
    h = jnp.tanh(x @ params["e"])
    return h @ params["m"], h @ params["s"]


def elbo(params, key, x):
    mean, log_scale = encode(params, x)
    z = mean + jnp.exp(log_scale) * jax.random.normal(key, mean.shape)
    rebuilt = jnp.tanh(z @ params["d"]) @ params["o"]
    kl = 0.5 * jnp.sum(mean**2 + jnp.exp(2.0 * log_scale) - 1.0 - 2.0 * log_scale)
    return -jnp.sum((x - rebuilt) ** 2) - 0.1 * kl


@jax.jit
def step(params, key, xs):
    def loss(params):
        keys = jax.random.split(key, xs.shape[0])
        return -jax.vmap(elbo, in_axes=(None, 0, 0))(params, keys, xs).mean()

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.02 * g, params, grads), value


shapes = {"e": (4, 8), "m": (8, 2), "s": (8, 2), "d": (2, 8), "o": (8, 4)}
*param_keys, data_key, key = jax.random.split(jax.random.key(0), len(shapes) + 2)
params = {
    name: 0.3 * jax.random.normal(k, shape)
    for k, (name, shape) in zip(param_keys, shapes.items(), strict=True)
}
xs = jax.random.normal(data_key, (32, 1)) * jnp.array([1.0, 0.5, -1.0, 2.0])
values = []
for number in range(80):
    params, value = step(params, jax.random.fold_in(key, number), xs)
    values.append(value)
print(bool(jnp.stack(values[-10:]).mean() < values[0]))
