# error: TracerIntegerConversionError
# line: 21
# depends: -
# fix: any
# result: [126, 78, 44, 13] ; 5 6

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
    for _ in range(iterations):
        mask = erode_once(mask)
    return mask


r, c = jnp.indices((15, 15))
mask = (jnp.abs(r - 7) + jnp.abs(c - 6) < 7) | (r > 11)
areas = [int(erode(mask, n).sum()) for n in (0, 1, 2, 4)]
print(areas)
core = erode(mask, 5)
print(int(core.sum()), int(jnp.argmax(core.any(axis=1))))
