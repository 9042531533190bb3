import sagax
from sagax import export


@sagax.jit
def f(x):
    sagax.debug.print("x = {}", x)
    return x * 2


export.export(f)(1.0)  #~ SX0124 export of f: calls of Python
