import sagax
from sagax.experimental import checkify

@sagax.jit
def halved(x):
    checkify.check(x > 0, "must be positive")  #~ SX0131 a `checkify.check` is in a program
    return x / 2

halved(3.0)
