"""Define derivative rules of functions: `custom_jvp`, `custom_vjp` and their relatives."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

from sagax._src.higher_order.custom_derivative_primitives import custom_jvp_p as _custom_jvp_call_p
from sagax._src.higher_order.custom_derivative_primitives import custom_vjp_p as _custom_vjp_call_p
from sagax._src.higher_order.custom_derivative_primitives import remat_opt_p as remat_opt_p
from sagax._src.higher_order.custom_derivatives import CustomVJPPrimal as CustomVJPPrimal
from sagax._src.higher_order.custom_derivatives import SymbolicZero as SymbolicZero

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Rule = TypeVar("_Rule", bound=Callable[..., Any])

def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]: ...
def custom_gradient(
    fun: Callable[..., Any] | None = None,
    *,
    with_logs: bool = False,
    remat: bool = False,
    with_accums: Any = None,
) -> Callable[..., Any]: ...

custom_jvp_call_p = _custom_jvp_call_p
custom_vjp_call_p = _custom_vjp_call_p

def custom_vjp_primal_tree_values(tree: Any) -> Any: ...
def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any: ...
def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any: ...

class custom_jvp(Generic[_P, _R]):
    def __init__(
        self,
        fun: Callable[_P, _R],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> custom_jvp[_P, _R]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., _R]: ...
    def defjvp(self, jvp: _Rule, symbolic_zeros: bool = False) -> _Rule: ...
    def defjvps(self, *jvps: Callable[..., Any] | None) -> None: ...

class custom_vjp(Generic[_P, _R]):
    def __init__(
        self,
        fun: Callable[_P, _R],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> custom_vjp[_P, _R]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., _R]: ...
    def defvjp(
        self,
        fwd: Callable[..., tuple[_R, Any]],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None: ...
    def defvjp_with_logs(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], **options: Any
    ) -> None: ...
