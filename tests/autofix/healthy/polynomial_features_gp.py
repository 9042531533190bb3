import jax
import jax.numpy as jnp


def kernel(params, a, b):
    distance = (a[:, None] - b[None, :]) / jnp.exp(params["length"])
    return jnp.exp(2.0 * params["scale"] - 0.5 * distance**2)


def negative_evidence(params, x, y):
    n = x.shape[0]
    factor = jnp.linalg.cholesky(kernel(params, x, x) + jnp.exp(params["noise"]) * jnp.eye(n))
    z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
    return 0.5 * z @ z + jnp.log(jnp.diag(factor)).sum()


@jax.jit
def step(params, x, y):
    value, grads = jax.value_and_grad(negative_evidence)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.02 * g, params, grads), value


x = jnp.linspace(0.0, 5.0, 20)
y = jnp.sin(x)
params = {"length": jnp.array(0.0), "scale": jnp.array(0.0), "noise": jnp.array(-2.0)}
values = []
for _ in range(30):
    params, value = step(params, x, y)
    values.append(value)
print(bool(values[-1] < values[0]), bool(jnp.all(jnp.isfinite(jnp.stack(values)))))
