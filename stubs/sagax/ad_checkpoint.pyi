"""Rematerialize: choose what a backward pass saves and what it recomputes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sagax._src.higher_order.remat import Offload as _Offloadable
from sagax._src.higher_order.remat import Recompute as Recompute
from sagax._src.higher_order.remat import Saveable as Saveable
from sagax._src.higher_order.remat import checkpoint_policies as checkpoint_policies
from sagax._src.higher_order.remat import name_p as name_p

Offloadable = _Offloadable

def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[..., Any]: ...
def checkpoint_name(x: Any, name: str) -> Any: ...
def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None: ...
def remat(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: Any = True,
    policy: Callable[..., Any] | None = None,
    concrete: bool = False,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[..., Any]: ...
def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[Any, str]]: ...
