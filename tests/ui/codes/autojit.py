import sagax


@sagax.autojit
def root(x):
    if x < 0:  #~ SX0242 autojit of root: the returned value
        return None
    return x**0.5


root(4.0)
