import sagax

scale = 2.0


@sagax.jit(stale="raise")
def double(x):
    return x * scale


double(1.0)
scale = 3.0
double(1.0)  #~ SX0241 scale has changed since double was
