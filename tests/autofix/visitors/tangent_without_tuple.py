# error: TypeError
# line: 21
# depends: -
# fix: tuple_arguments
# fixed-file: fixed/tangent_without_tuple.py
# result: [-0.9397, 1.7202]
# family: gradient/jvp-arguments

import jax
import jax.numpy as jnp


def forward_kinematics(q):
    angles = jnp.cumsum(q)
    return jnp.array([jnp.sum(jnp.cos(angles)), jnp.sum(jnp.sin(angles))])


@jax.jit
def tip_velocity(q, rates):
    """Velocity of the tip for these rates of the joints."""
    _, velocity = jax.jvp(forward_kinematics, q, rates)
    return velocity


velocity = tip_velocity(jnp.array([0.3, 0.4, -0.2]), jnp.array([1.0, 0.0, -1.0]))
print([round(float(v), 4) for v in velocity])
