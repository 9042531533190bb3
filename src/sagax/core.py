"""Re-export the components of jaxprs, for libraries that inspect or extend them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from sagax._src.api.tracing_utils import ensure_compile_time_eval
from sagax._src.core.avals import AbstractToken, ShapedArray
from sagax._src.core.dims.shapes import max_dim, min_dim
from sagax._src.core.jaxpr import Eqn, Literal, Var, eval_jaxpr
from sagax._src.core.jaxpr_class import ClosedJaxpr, Jaxpr
from sagax._src.core.trace import Trace, Tracer, current, evaluation
from sagax._src.core.value import aval_of as get_aval
from sagax._src.core.value import pytype_aval_mappings
from sagax._src.core.verify import check_jaxpr

JaxprEqn = Eqn
AbstractValue = ShapedArray | AbstractToken
Atom = Var | Literal
Value = Any
ParamDict = dict[str, Any]


def eval_context() -> AbstractContextManager[Any]:
    """Context manager: evaluate operations eagerly, whatever is being traced outside.

    >>> from sagax import core
    >>> with core.eval_context():
    ...     float(snp.sin(0.0))
    0.0
    """
    return current(evaluation)
