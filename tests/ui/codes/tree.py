import sagax

value, pull = sagax.vjp(lambda x: {"y": x}, 1.0)
pull([1.0])  #~ SX0004 the function returned by vjp of
