import sagax

sagax.grad(lambda x: x**2)(3)  #~ SX0003 grad: grad requires real- or complex-valued
