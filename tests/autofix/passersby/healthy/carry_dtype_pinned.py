# error: none
# expect: none
# result: 2 ; 12 ; -59

import jax
import jax.numpy as jnp


def smith_waterman_score(a, b, match=2, mismatch=-1, gap=-2):
    """Needleman-Wunsch style global alignment, one row per scan step."""
    start = (jnp.arange(b.shape[0] + 1) * gap).astype(jnp.int32)

    def row(previous, x):
        char, index = x
        diag = previous[:-1] + jnp.where(b == char, match, mismatch)
        up = previous[1:] + gap
        first = ((index + 1) * gap).astype(jnp.int32)

        def cell(left, pair):
            best = jnp.maximum(jnp.maximum(*pair), left + gap)
            return best, best

        _, rest = jax.lax.scan(cell, first, (diag, up))
        current = jnp.concatenate([first[None], rest])
        return current, current[-1]

    final, _ = jax.lax.scan(row, start, (a, jnp.arange(a.shape[0])))
    return final[-1]


def encode(text):
    return jnp.array([ord(c) for c in text], dtype=jnp.int32)


score = jax.jit(smith_waterman_score)
print(int(score(encode("GATTACA"), encode("GCATGCU"))))
print(int(score(encode("banana"), encode("banana"))))
print(int(score(encode("a" * 30), encode("b"))))
