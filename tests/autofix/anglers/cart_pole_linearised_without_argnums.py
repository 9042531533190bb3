# error: ValueError
# line: 25
# depends: -
# fix: any
# result: [0.0, 0.0, 15.789999961853027, 0.0] [0.0, 0.9760000705718994, 0.0, -1.4630000591278076] ; -6.829 (4, 4)

import jax
import jax.numpy as jnp

g, length, m_cart, m_pole = 9.81, 0.5, 1.0, 0.1


def dynamics(x, u):
    _, v, theta, omega = x
    s, c = jnp.sin(theta), jnp.cos(theta)
    total = m_cart + m_pole
    push = (u[0] + m_pole * length * omega**2 * s) / total
    alpha = (g * s - c * push) / (length * (4.0 / 3.0 - m_pole * c**2 / total))
    accel = push - m_pole * length * alpha * c / total
    return jnp.stack([v, accel, omega, alpha])


@jax.jit
def linearise(x_eq, u_eq):
    A, B = jax.jacfwd(dynamics)(x_eq, u_eq)
    return A, B


A, B = linearise(jnp.zeros(4), jnp.zeros(1))
gain = jnp.array([[-1.0, -2.0, -30.0, -6.0]])
closed = A - B @ gain
print(A[3].round(2).tolist(), B[:, 0].round(3).tolist())
print(round(float(jnp.trace(closed)), 3), closed.shape)
