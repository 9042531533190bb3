import jax
import jax.numpy as jnp


def erode_once(mask):
    padded = jnp.pad(mask, 1)
    centre = padded[1:-1, 1:-1]
    vertical = padded[:-2, 1:-1] & padded[2:, 1:-1]
    horizontal = padded[1:-1, :-2] & padded[1:-1, 2:]
    return centre & vertical & horizontal


@jax.jit
def erode(mask, iterations):
    return jax.lax.fori_loop(0, iterations, lambda _, m: erode_once(m), mask)


r, c = jnp.indices((15, 15))
mask = (jnp.abs(r - 7) + jnp.abs(c - 6) < 7) | (r > 11)
areas = [int(erode(mask, n).sum()) for n in (0, 1, 2, 4)]
print(areas)
core = erode(mask, 5)
print(int(core.sum()), int(jnp.argmax(core.any(axis=1))))
