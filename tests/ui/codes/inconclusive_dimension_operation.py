from sagax.export import symbolic_shape

(n,) = symbolic_shape("n")
n < 4  #~ SX0109 Symbolic dimension comparison 'n' < '4'
