import jax
import jax.numpy as jnp

DT = 0.05


def final_angle(theta0, n_steps):
    def step(_, state):
        theta, omega = state
        omega = omega - DT * 9.81 * jnp.sin(theta)
        return theta + DT * omega, omega

    theta, _ = jax.lax.fori_loop(0, n_steps, step, (theta0, 0.0))
    return theta


sensitivity = jax.jit(jax.value_and_grad(final_angle), static_argnums=1)
for n in (5, 10, 20):
    angle, slope = sensitivity(0.3, n)
    print(n, round(float(angle), 3), round(float(slope), 3))
