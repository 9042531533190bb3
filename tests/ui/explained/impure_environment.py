import os

import sagax

os.environ["SCALE"] = "2"


@sagax.jit
def scaled(x):
    return x * float(os.environ["SCALE"])  #~ SX0411 while `scaled` is traced


print(scaled(1.0))
