# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax returns nan once the rotations agree
# line: 30
# depends: q, target
# fix: clip_domain
# fixed-file: fixed/rotation_angle_loss.py
# result: [0.0, 0.8, -0.4]

"""Align an attitude quaternion with a target by gradient descent."""
import jax
import jax.numpy as jnp


def quat_mul(a, b):
    aw, av = a[0], a[1:]
    bw, bv = b[0], b[1:]
    w = aw * bw - av @ bv
    v = aw * bv + bw * av + jnp.cross(av, bv)
    return jnp.concatenate([w[None], v])


def axis_angle(omega):
    half = 0.5 * omega
    return jnp.concatenate([jnp.cos(half)[:1], jnp.sin(half)])


def geodesic(q, target):
    inner = jnp.abs(jnp.vdot(q, target))
    return 2.0 * jnp.arccos(jnp.minimum(inner, 1.0)) ** 2


def loss(theta, targets):
    qs = jax.vmap(lambda t: jnp.array([jnp.cos(t / 2), 0.0, 0.0, jnp.sin(t / 2)]))(theta)
    return jnp.mean(jax.vmap(geodesic)(qs, targets))


angles = jnp.array([0.0, 0.8, -0.4])
targets = jax.vmap(lambda t: jnp.array([jnp.cos(t / 2), 0.0, 0.0, jnp.sin(t / 2)]))(angles)
theta = jnp.array([0.0, 0.1, 0.1])
step = jax.jit(lambda th: th - 0.8 * jax.grad(loss)(th, targets))
for _ in range(40):
    theta = step(theta)
print([round(float(t), 2) + 0.0 for t in theta])
