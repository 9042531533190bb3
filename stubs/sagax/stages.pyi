"""Stage a function: from `jit(f)` by `.trace(...)` and `.lower()` to `.compile()`."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct as _OutInfo
from sagax._src.api.stages import ArgInfo as ArgInfo
from sagax._src.api.stages import CompiledStage as _Compiled
from sagax._src.api.stages import LoweredStage as _Lowered
from sagax._src.api.stages import TracedStage as _Traced

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R", covariant=True)

class _NoArgument:
    """The type of no argument of any function."""

Compiled = _Compiled
CompilerOptions: Any
Lowered = _Lowered
OutInfo = _OutInfo
Traced = _Traced

class Wrapped(Protocol[_P, _R]):
    """A function that is compiled when called."""

    __name__: str
    __qualname__: str

    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, instance: None, owner: Any = None) -> Wrapped[_P, _R]: ...
    @overload
    def __get__(
        self: Wrapped[[_NoArgument], Any], instance: object, owner: Any = None
    ) -> Wrapped[..., _R]: ...
    @overload
    def __get__(
        self: Wrapped[Concatenate[Any, _Q], _R], instance: object, owner: Any = None
    ) -> Wrapped[_Q, _R]: ...
    def trace(self, *args: _P.args, **kwargs: _P.kwargs) -> Traced: ...
    def lower(self, *args: _P.args, **kwargs: _P.kwargs) -> Lowered: ...
    def eval_shape(self, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def clear_cache(self) -> None: ...
