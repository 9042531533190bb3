import jax
import jax.numpy as jnp


@jax.jit
def conjugate_gradient(a, b, tolerance):
    def unfinished(state):
        _, r, _, k = state
        return (jnp.vdot(r, r) > tolerance**2) & (k < 50)

    def body(state):
        x, r, p, k = state
        ap = a @ p
        alpha = jnp.vdot(r, r) / jnp.vdot(p, ap)
        new_r = r - alpha * ap
        beta = jnp.vdot(new_r, new_r) / jnp.vdot(r, r)
        return x + alpha * p, new_r, new_r + beta * p, k + 1

    x, _, _, steps = jax.lax.while_loop(unfinished, body, (jnp.zeros_like(b), b, b, 0))
    return x, steps


a = jnp.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
b = jnp.array([1.0, 2.0, 3.0])
x, steps = conjugate_gradient(a, b, 1e-4)
print(bool(jnp.allclose(a @ x, b, atol=1e-3)), int(steps) <= 4)
