# One correct fixed version of old_index_update.py
import jax
import jax.numpy as jnp


def crank(u, r):
    inner = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u.at[1:-1].set(inner)


@jax.jit
def rod(u, r):
    def body(u, _):
        return crank(u, r), u.mean()

    return jax.lax.scan(body, u, None, length=80)


u0 = jnp.zeros(21).at[10].set(1.0)
u, means = rod(u0, 0.25)
print("peak", round(float(u.max()), 4))
print("mass", round(float(means[-1]) * 21, 4))
print("symmetric", bool(jnp.allclose(u, u[::-1], atol=1e-6)))
