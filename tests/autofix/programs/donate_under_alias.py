# error: RuntimeError
# line: 23
# depends: buffer
# fix: copy_before_donate
# result: [1. 0. 0.]

import jax
import jax.numpy as jnp


def push(x, *, buffer):
    return buffer.at[0].add(x)


def runner(fn, **options):
    return fn(1.0, **options)


step = jax.jit(push, donate_argnames="buffer")
buffer = jnp.zeros(3)
alias = {"old": buffer}
new = runner(step, buffer=buffer)
print(new - alias["old"])
