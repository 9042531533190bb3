import jax
import jax.numpy as jnp


def conjugate_gradient(matvec, b, tol=1e-5, maxiter=50):
    def unfinished(state):
        _, r, _, rs, i = state
        return (rs > tol**2) & (i < maxiter)

    def body(state):
        x, r, p, rs, i = state
        ap = matvec(p)
        alpha = rs / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        rs_new = r @ r
        return x, r, r + (rs_new / rs) * p, rs_new, i + 1

    start = (jnp.zeros_like(b), b, b, b @ b, 0)
    x, *_, i = jax.lax.while_loop(unfinished, body, start)
    return x, i


def spring_chain(v):
    return 3.0 * v - jnp.pad(v[1:], (0, 1)) - jnp.pad(v[:-1], (1, 0))


b = jnp.ones(20)
x, n = jax.jit(conjugate_gradient, static_argnums=0)(spring_chain, b)
print(bool(jnp.allclose(spring_chain(x), b, atol=1e-3)), int(n) < 30)
