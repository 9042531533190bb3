# error: TypeError
# line: 20
# depends: step
# fix: debug_print
# fixed-file: fixed/format_traced_loss.py
# result: step   0 loss 8.5000 ; step   1 loss 4.6670 ; 3.244

import jax
import jax.numpy as jnp


def rosenbrock(params):
    x, y = params
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


@jax.jit
def descend(step, params):
    value, grads = jax.value_and_grad(rosenbrock)(params)
    print(f"step {step:3d} loss {value:.4f}")
    return params - 1e-3 * grads


params = jnp.array([-0.5, 0.5])
for step in range(2):
    params = descend(step, params)
print(round(float(rosenbrock(params)), 3))
