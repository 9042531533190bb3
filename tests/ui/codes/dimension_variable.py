import sagax
from sagax import export

(k,) = export.symbolic_shape("k")
f = sagax.jit(lambda x: sagax.numpy.full((k,), x.sum()))
export.export(f)(sagax.ShapeDtypeStruct((9,), "float32"))  #~ SX0128 Encountered dimension variable 'k' that is
