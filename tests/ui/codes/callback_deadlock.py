import sagax

look = sagax.jit(lambda x: sagax.debug.callback(lambda x: sagax.effects_barrier(), x))  #~ SX0204 debug.callback of <lambda>: effects_barrier waits for
look(1.0)
