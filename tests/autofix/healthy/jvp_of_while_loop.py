import jax
import jax.numpy as jnp


def newton_sqrt(a):
    def unfinished(x):
        return jnp.abs(x * x - a) > 1e-4

    return jax.lax.while_loop(unfinished, lambda x: 0.5 * (x + a / x), a)


# forward mode goes through a while loop, reverse mode is not needed
value, slope = jax.jvp(newton_sqrt, (9.0,), (1.0,))
rows = jax.jacfwd(lambda p: jnp.stack([newton_sqrt(p[0]), p[1]]))(jnp.array([4.0, 2.0]))
print(round(float(value), 3), round(float(slope), 3))
print([[round(float(v), 3) for v in row] for row in rows])
