"""A loop of Python's on a traced condition."""
import sagax


@sagax.jit
def halve(x, tolerance):
    steps = 0
    while x > tolerance:  #~ SX0102 Attempted boolean conversion
        x, steps = x / 2, steps + 1
    return x, steps


halve(8.0, 0.1)
