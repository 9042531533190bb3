import jax
import jax.numpy as jnp


def square_roots(a):
    def unfinished(x):
        return jnp.any(jnp.abs(x * x - a) > 1e-3)

    def improve(x):
        return 0.5 * (x + a / x)

    return jax.lax.while_loop(unfinished, improve, a)


a = jnp.array([2.0, 9.0, 30.0])
roots = square_roots(a)
print(roots.round(2).tolist())
print((roots ** 2).round(1).tolist())
