# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently moves the last frame back
# line: 19
# depends: s
# fix: pad_shape
# result: [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("size", "hop"))
def frame(signal, *, size, hop):
    n = -(-signal.shape[0] // hop)
    starts = hop * jnp.arange(n)
    cut = lambda s: jax.lax.dynamic_slice(signal, (s,), (size,))
    return jax.vmap(cut)(starts)


def overlap_add(frames, hop, length):
    out = jnp.zeros(length + frames.shape[1])
    for i, f in enumerate(frames):
        out = out.at[i * hop : i * hop + f.shape[0]].add(f)
    return out[:length]


signal = jnp.arange(10.0)
frames = frame(signal, size=4, hop=4)
print(overlap_add(frames, 4, 10).tolist())
