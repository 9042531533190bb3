import jax
import jax.numpy as jnp


def loss_fn(params, x):
    return jnp.sum((params["slope"] * x + params["intercept"] - 1.0) ** 2)


params = {"slope": jnp.array(0.5), "intercept": jnp.array(0.0)}
momentum = jax.tree.map(jnp.zeros_like, params)
x = jnp.array([0.0, 1.0])
for _ in range(60):
    grads = jax.grad(loss_fn)(params, x)
    momentum = jax.tree.map(lambda m, g: 0.5 * m + g, momentum, grads)
    params = {name: params[name] - 0.1 * momentum[name] for name in params}
report = {name: round(float(value), 2) for name, value in sorted(params.items())}
print(report)
