# error: none
# expect: KeyReuseError
# jax-differs: jax silently moves all steps by the same draw
# line: 17
# also-line: 21
# depends: -
# fix: split_key
# fixed-file: fixed/key_reuse_closed_over_in_scan.py
# result: (64,) True

import jax
import jax.numpy as jnp


def random_walk(key, start, steps):
    def move(position, _):
        direction = jax.random.choice(key, jnp.array([-1, 1]))
        position = position + direction
        return position, position

    _, path = jax.lax.scan(move, start, None, length=steps)
    return path


path = random_walk(jax.random.key(4), 0, 64)
turns = jnp.sum(jnp.diff(path)[1:] != jnp.diff(path)[:-1])
print(path.shape, bool(turns > 5))
