# One correct fixed version of debug_print_fstring.py
import jax
import jax.numpy as jnp


def cubic(x):
    return x ** 3 - 2.0 * x - 5.0


@jax.jit
def newton_step(x):
    f, df = jax.value_and_grad(cubic)(x)
    nxt = x - f / df
    jax.debug.print("x = {x:.4f}", x=nxt)
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
