import jax
import jax.numpy as jnp


def solve_tridiagonal(lower, diagonal, upper, rhs):
    def forward(carry, row):
        c_prev, d_prev = carry
        a, b, c, d = row
        scale = b - a * c_prev
        carry = (c / scale, (d - a * d_prev) / scale)
        return carry, carry

    _, (c, d) = jax.lax.scan(forward, (0.0, 0.0), (lower, diagonal, upper, rhs))

    def backward(x_next, row):
        c, d = row
        x = d - c * x_next
        return x, x

    return jax.lax.scan(backward, 0.0, (c, d), reverse=True)[1]


n = 6
lower = jnp.full(n, -1.0).at[0].set(0.0)
upper = jnp.full(n, -1.0).at[-1].set(0.0)
diagonal = jnp.full(n, 4.0)
rhs = jnp.arange(18.0).reshape(3, n)
x = jax.jit(jax.vmap(solve_tridiagonal, in_axes=(None, None, None, 0)))(lower, diagonal, upper, rhs)
matrix = jnp.diag(diagonal) + jnp.diag(lower[1:], -1) + jnp.diag(upper[:-1], 1)
print(x.shape, bool(jnp.allclose(x @ matrix.T, rhs, atol=1e-4)))
