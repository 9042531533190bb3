import sagax


@sagax.jit
def count(n):
    return n + 1.0  #~ SX0416 16777216 + 1 is 16777216 in float32


print(int(count(16777216.0)))
