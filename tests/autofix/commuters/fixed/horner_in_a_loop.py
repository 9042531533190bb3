import jax
import jax.numpy as jnp

coefficients = jnp.array([2.0, -1.0, 0.5, 3.0])


def add_term(power, total):
    return total * 0.5 + coefficients[power]


@jax.jit
def evaluate(start):
    return jax.lax.fori_loop(0, coefficients.size, add_term, start)


print(round(float(evaluate(1.0)), 4), round(float(evaluate(-2.0)), 4))
