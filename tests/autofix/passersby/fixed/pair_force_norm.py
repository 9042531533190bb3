# One correct fixed version of pair_force_norm.py
"""Soft-sphere forces from all pairs, self-interaction masked afterwards."""
import jax
import jax.numpy as jnp


def pair_distance(pos):
    diff = pos[:, None, :] - pos[None, :, :]
    square = jnp.sum(diff ** 2, axis=-1)
    apart = square > 0.0
    return jnp.where(apart, jnp.sqrt(jnp.where(apart, square, 1.0)), 0.0)


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
