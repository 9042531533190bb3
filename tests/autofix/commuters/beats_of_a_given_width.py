# error: IndexError
# line: 17
# depends: start, width
# fix: any
# result: (3, 8) [0.01600000075995922, -0.046000003814697266, -0.08000000566244125, -0.08400000631809235, -0.058000002056360245, -0.003000000026077032, 0.07700000703334808, 0.1770000010728836]

import jax
import jax.numpy as jnp


def normalize(piece):
    return (piece - piece.mean()) / (piece.max() - piece.min())


@jax.jit
def cut(signal, start, width):
    piece = signal[start : start + width]
    return normalize(piece)


signal = jnp.sin(jnp.arange(60.0) / 4)
peaks = [5, 20, 41]
beats = jnp.stack([cut(signal, peak, 8) for peak in peaks])
print(beats.shape, beats.mean(axis=0).round(3).tolist())
