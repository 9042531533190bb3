"""Re-export the components of jaxprs, for libraries that inspect or extend them."""

from sagax._src.api.tracing_utils import ensure_compile_time_eval
from sagax._src.core.avals import AbstractToken, ShapedArray
from sagax._src.core.dims.shapes import max_dim, min_dim
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var, eval_jaxpr
from sagax._src.core.trace import Trace, Tracer
from sagax._src.core.value import aval_of as get_aval
from sagax._src.core.verify import check_jaxpr

JaxprEqn = Eqn
AbstractValue = ShapedArray | AbstractToken
Atom = Var | Literal
