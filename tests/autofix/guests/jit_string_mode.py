# error: TypeError
# line: 25
# also-line: 13
# depends: mode
# fix: static_args
# fixed-file: fixed/jit_string_mode.py
# result: mean 1.3125 ; sum 5.25

import jax
import jax.numpy as jnp


@jax.jit
def reduce_loss(errors, mode):
    squared = errors**2
    if mode == "mean":
        return squared.mean()
    if mode == "sum":
        return squared.sum()
    raise ValueError(f"unknown reduction {mode!r}")


errors = jnp.array([0.5, -1.0, 2.0, 0.0])
for mode in ("mean", "sum"):
    print(mode, float(reduce_loss(errors, mode)))
