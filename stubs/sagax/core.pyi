"""Re-export the components of jaxprs, for libraries that inspect or extend them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from sagax._src.core.avals import AbstractToken as AbstractToken
from sagax._src.core.avals import ShapedArray as ShapedArray
from sagax._src.core.jaxpr import ClosedJaxpr as ClosedJaxpr
from sagax._src.core.jaxpr import Eqn as Eqn
from sagax._src.core.jaxpr import Jaxpr as Jaxpr
from sagax._src.core.jaxpr import Literal as Literal
from sagax._src.core.jaxpr import Var as Var
from sagax._src.core.trace import Trace as Trace
from sagax._src.core.trace import Tracer as Tracer
from sagax._src.core.trace import current as current
from sagax._src.core.trace import evaluation as evaluation
from sagax._src.core.value import pytype_aval_mappings as pytype_aval_mappings

AbstractValue: Any
Atom: Any
JaxprEqn = Eqn
ParamDict: Any
Value: type[Any]

def check_jaxpr(jaxpr: Jaxpr) -> None: ...
def ensure_compile_time_eval() -> AbstractContextManager[None]: ...
def eval_context() -> AbstractContextManager[Any]: ...
def eval_jaxpr(jaxpr: Jaxpr | ClosedJaxpr, consts: Sequence[Any], *args: Any) -> list[Any]: ...
def get_aval(x: Any) -> ShapedArray: ...
def max_dim(x: int, y: int) -> int: ...
def min_dim(x: int, y: int) -> int: ...
