import jax
import jax.numpy as jnp

hops = jnp.array(
    [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]], dtype=jnp.float32
)


def pairwise(xy):
    diff = xy[:, None, :] - xy[None, :, :]
    d2 = jnp.sum(diff**2, axis=-1)
    return jnp.where(d2 > 0, jnp.sqrt(jnp.where(d2 > 0, d2, 1.0)), 0.0)


def stress(xy, target):
    """Kamada-Kawai energy over all pairs of different nodes."""
    d = pairwise(xy)
    off_diagonal = ~jnp.eye(len(xy), dtype=bool)
    weight = jnp.where(off_diagonal, 1.0 / jnp.maximum(target, 1.0) ** 2, 0.0)
    return jnp.sum(jnp.where(off_diagonal, weight * (d - target) ** 2, 0.0)) / 2


@jax.jit
def descend(xy, target):
    def body(_, xy):
        return xy - 0.1 * jax.grad(stress)(xy, target)

    return jax.lax.fori_loop(0, 500, body, xy)


start = jnp.array([[0.0, 0.0], [1.0, 0.2], [1.5, 1.0], [2.0, 0.3]])
layout = descend(start, hops)
print(round(abs(float(stress(layout, hops))), 2), round(float(jnp.linalg.norm(layout[0] - layout[3])), 1))
