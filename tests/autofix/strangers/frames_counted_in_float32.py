# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently stops counting at 2**24
# line: 17
# depends: -
# fix: integer_counter
# fixed-file: fixed/frames_counted_in_float32.py
# result: 3000 1.0
# family: 2/precision-lost

import jax
import jax.numpy as jnp


def play(state, _):
    frames, score = state
    return (frames + 1.0, 0.99 * score + 0.01), None


@jax.jit
def episode(frames, score):
    (frames, score), _ = jax.lax.scan(play, (frames, score), None, length=1000)
    return frames, score


# resumed from a long run
frames, score = jnp.array(16777000.0), jnp.array(0.0)
for _ in range(3):
    frames, score = episode(frames, score)
print(int(frames) - 16777000, round(float(score), 3))
