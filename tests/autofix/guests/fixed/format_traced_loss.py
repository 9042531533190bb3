# One correct fixed version of format_traced_loss.py
import jax
import jax.numpy as jnp


def rosenbrock(params):
    x, y = params
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


@jax.jit
def descend(step, params):
    value, grads = jax.value_and_grad(rosenbrock)(params)
    jax.debug.print("step {step:3d} loss {value:.4f}", step=step, value=value, ordered=True)
    return params - 1e-3 * grads


params = jnp.array([-0.5, 0.5])
for step in range(2):
    params = descend(step, params)
jax.effects_barrier()
print(round(float(rosenbrock(params)), 3))
