import jax
import jax.numpy as jnp


@jax.jit
def edit_distance(a, b):
    """Levenshtein by rows; the inner scan runs along a row."""
    first = jnp.arange(b.shape[0] + 1)

    def row(previous, symbol):
        def cell(left, inputs):
            up, diagonal, other = inputs
            cost = jnp.where(symbol == other, 0, 1)
            best = jnp.minimum(jnp.minimum(left, up) + 1, diagonal + cost)
            return best, best

        start = previous[0] + 1
        _, rest = jax.lax.scan(cell, start, (previous[1:], previous[:-1], b))
        return jnp.concatenate([start[None], rest]), None

    last, _ = jax.lax.scan(row, first, a)
    return last[-1]


def encode(word):
    return jnp.array([ord(c) for c in word])


print(int(edit_distance(encode("kitten"), encode("sitting"))))
print(int(edit_distance(encode("flaw"), encode("lawn"))))
