# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax returns nan forces without a word
# line: 17
# depends: pos
# fix: double_where
# fixed-file: fixed/pair_force_norm.py
# result: energy 0.0 ; first force [-1.4944, -0.9889]

"""Soft-sphere forces from all pairs, self-interaction masked afterwards."""
import jax
import jax.numpy as jnp


def pair_distance(pos):
    diff = pos[:, None, :] - pos[None, :, :]
    return jnp.linalg.norm(diff, axis=-1)


def soft_sphere(r, sigma=1.0, eps=2.0):
    return jnp.where(r < sigma, eps / 2 * (1 - r / sigma) ** 2, 0.0)


def energy(pos):
    r = pair_distance(pos)
    u = soft_sphere(r)
    off = 1.0 - jnp.eye(pos.shape[0])
    return 0.5 * jnp.sum(u * off)


force = jax.jit(lambda pos: -jax.grad(energy)(pos))


def descend(pos, steps=50, gamma=0.1):
    for _ in range(steps):
        pos = pos + gamma * force(pos)
    return pos


start = jnp.array([[0.0, 0.0], [0.5, 0.0], [0.2, 0.4], [1.5, 1.5]])
end = descend(start)
print("energy", round(float(energy(end)), 4))
print("first force", [round(float(f), 4) for f in force(start)[0]])
