"""Define derivative rules of functions: `custom_jvp`, `custom_vjp` and their relatives."""

from sagax._src.higher_order.closures import closure_convert, custom_gradient
from sagax._src.higher_order.custom_derivative_primitives import custom_jvp_p as custom_jvp_call_p
from sagax._src.higher_order.custom_derivative_primitives import custom_vjp_p as custom_vjp_call_p
from sagax._src.higher_order.custom_derivative_primitives import remat_opt_p
from sagax._src.higher_order.custom_derivatives import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_jvp,
    custom_vjp,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)
from sagax._src.higher_order.custom_transpose import linear_call
