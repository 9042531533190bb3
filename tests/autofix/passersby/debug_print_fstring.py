# error: none
# expect: SideEffectWarning
# jax-differs: jax prints the tracer's text instead of the value
# line: 22
# depends: x
# fix: debug_print
# fixed-file: fixed/debug_print_fstring.py
# result: x = 2.1000 ; x = 2.0946 ; x = 2.0946 ; root 2.0946 ; f 0.0

import jax
import jax.numpy as jnp


def cubic(x):
    return x ** 3 - 2.0 * x - 5.0


@jax.jit
def newton_step(x):
    f, df = jax.value_and_grad(cubic)(x)
    nxt = x - f / df
    jax.debug.print(f"x = {nxt}")
    return nxt


def solve(x0, n):
    x = jnp.float32(x0)
    for _ in range(n):
        x = newton_step(x)
    return x


def report(root):
    print("root", round(float(root), 4))
    print("f", abs(round(float(cubic(root)), 3)))


root = solve(2.0, 3)
jax.effects_barrier()
report(root)
