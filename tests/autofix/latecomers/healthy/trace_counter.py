# error: none
# expect: none
# result: traces 1 ; slope 3.0

"""A regression test that a step function is compiled only once."""
import jax
import jax.numpy as jnp

TRACES = {"step": 0}


def step(params, batch, lr):
    TRACES["step"] += 1
    x, y = batch
    grads = jax.grad(lambda p: jnp.mean((x * p - y) ** 2))(params)
    return params - lr * grads


compiled = jax.jit(step)
params = jnp.float32(0.0)
for i in range(20):
    x = jnp.linspace(0.1, 1.0, 8) + 0.01 * i
    params = compiled(params, (x, 3.0 * x), jnp.float32(0.5 / (1 + i / 10)))
print("traces", TRACES["step"])
print("slope", round(float(params), 2))
