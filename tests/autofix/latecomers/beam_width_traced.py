# error: TracerBoolConversionError
# expect: TracerBoolConversionError | TracerIntegerConversionError | ConcretizationTypeError | TypeError
# line: 29
# also-line: 33
# depends: width
# fix: static_args
# fixed-file: fixed/beam_width_traced.py
# result: they eat rice -1.245 ; we eat rice -1.309 ; we like music -1.561

"""Beam search over a small Markov language model."""
import jax
import jax.numpy as jnp

WORDS = ["<s>", "we", "they", "like", "eat", "rice", "music", "</s>"]
TRANSITIONS = jnp.log(jnp.array([
    [.0, .6, .4, .0, .0, .0, .0, .0],
    [.0, .0, .0, .5, .5, .0, .0, .0],
    [.0, .0, .0, .2, .8, .0, .0, .0],
    [.0, .0, .0, .0, .0, .3, .7, .0],
    [.0, .0, .0, .0, .0, .9, .1, .0],
    [.0, .0, .0, .0, .0, .0, .0, 1.],
    [.0, .0, .0, .0, .0, .0, .0, 1.],
    [.0, .0, .0, .0, .0, .0, .0, 1.],
]) + 1e-9)


def best_continuations(scores, width):
    flat = scores.reshape(-1)
    values, where = jax.lax.top_k(flat, width)
    return values, where // scores.shape[1], where % scores.shape[1]


@jax.jit
def extend(totals, last, width):
    scores = totals[:, None] + TRANSITIONS[last]
    return best_continuations(scores, width)


def beam_search(width, length):
    totals, last = jnp.zeros(1), jnp.zeros(1, dtype=jnp.int32)
    histories = [[0]]
    for _ in range(length):
        totals, parent, last = extend(totals, last, width)
        histories = [histories[int(p)] + [int(w)] for p, w in zip(parent, last)]
    return histories, totals


histories, totals = beam_search(3, 4)
for h, t in zip(histories, totals):
    print(" ".join(WORDS[w] for w in h[1:-1]), round(float(t), 3))
