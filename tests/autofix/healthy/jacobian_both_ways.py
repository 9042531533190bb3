import jax
import jax.numpy as jnp


def robot_arm(angles):
    total = jnp.cumsum(angles)
    return jnp.array([jnp.cos(total).sum(), jnp.sin(total).sum()])


@jax.jit
def solve(angles, goal):
    def step(angles, _):
        error = goal - robot_arm(angles)
        jacobian = jax.jacfwd(robot_arm)(angles)
        damped = jacobian @ jacobian.T + 1e-3 * jnp.eye(2)
        return angles + 0.5 * jacobian.T @ jnp.linalg.solve(damped, error), None

    return jax.lax.scan(step, angles, None, length=60)[0]


angles = solve(jnp.array([0.1, 0.2, 0.3]), jnp.array([1.0, 1.5]))
same = jnp.allclose(jax.jacfwd(robot_arm)(angles), jax.jacrev(robot_arm)(angles), atol=1e-5)
print([round(float(v), 3) for v in robot_arm(angles)], bool(same))
