# error: none
# expect: BroadcastWarning | ShapeWarning
# jax-differs: jax broadcasts (n, 1) against (n,) to (n, n)
# line: 20
# depends: -
# fix: squeeze
# fixed-file: fixed/residual_column_broadcast.py
# result: slope 3.0 ; intercept -0.5

"""Linear regression trained with full-batch gradient descent."""
import jax
import jax.numpy as jnp


def forward(params, x):
    return x @ params["w"] + params["b"]


def loss(params, x, y):
    residual = forward(params, x) - y
    return jnp.mean(residual ** 2)


@jax.jit
def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.3 * g, params, grads), value


x = jnp.linspace(-1.0, 1.0, 20)[:, None]
y = 3.0 * x[:, 0] - 0.5
params = {"w": jnp.zeros((1, 1)), "b": jnp.zeros(1)}
for _ in range(150):
    params, value = step(params, x, y)
print("slope", round(float(params["w"][0, 0]), 2))
print("intercept", round(float(params["b"][0]), 2))
