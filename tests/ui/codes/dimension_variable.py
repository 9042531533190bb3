import sagax
from sagax import export

(k,) = export.symbolic_shape("k")
f = sagax.jit(lambda k, x: sagax.lax.top_k(x, k)[0], static_argnums=0)
export.export(f)(k, sagax.ShapeDtypeStruct((9,), "float32"))  #~ SX0128 Encountered dimension variable 'k' that is
