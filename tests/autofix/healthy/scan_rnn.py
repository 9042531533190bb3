import jax
import jax.numpy as jnp


def cell(params, h, x):
    z = jax.nn.sigmoid(x @ params["wz"] + h @ params["uz"])
    candidate = jnp.tanh(x @ params["wh"] + h @ params["uh"])
    return (1.0 - z) * h + z * candidate


@jax.jit
def run(params, xs):
    def step(h, x):
        h = cell(params, h, x)
        return h, h

    start = jnp.zeros(params["uz"].shape[0])
    return jax.lax.scan(step, start, xs)


names = {"wz": (3, 4), "uz": (4, 4), "wh": (3, 4), "uh": (4, 4)}
keys = jax.random.split(jax.random.key(5), len(names))
params = {n: 0.4 * jax.random.normal(k, s) for k, (n, s) in zip(keys, names.items(), strict=True)}
last, states = run(params, jnp.ones((10, 3)))
batched = jax.vmap(run, in_axes=(None, 0))(params, jnp.ones((6, 10, 3)))[0]
print(states.shape, batched.shape, bool(jnp.allclose(batched[0], last, atol=1e-6)))
