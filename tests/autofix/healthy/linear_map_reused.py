import jax
import jax.numpy as jnp


def simulate(force):
    def step(state, f):
        x, v = state
        v = v + 0.1 * (f - jnp.sin(x))
        return (x + 0.1 * v, v), x + 0.1 * v

    return jax.lax.scan(step, (0.2, 0.0), force)[1]


force = jnp.zeros(12)
path, response = jax.linearize(simulate, force)
columns = jnp.stack([response(row) for row in jnp.eye(12)])
transpose = jax.linear_transpose(response, force)
(adjoint,) = transpose(jnp.ones(12))
print(path.shape, bool(jnp.allclose(columns.sum(axis=1), adjoint, atol=1e-4)))
