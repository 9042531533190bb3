"""Inspect values inside compiled and transformed functions."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any, overload

def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    stdin: Any = None,
    stdout: Any = None,
    **kwargs: Any,
) -> None: ...
def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any: ...
def inspect_array_sharding(value: Any, *, callback: Callable[[Any], Any]) -> None: ...
def log(
    fmt: Any = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None: ...
def visualize_array_sharding(arr: Any, **kwargs: Any) -> None: ...
def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None: ...
@overload
def print(
    fmt: str,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None: ...
@overload
def print(
    fmt: None = None,
    *,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Callable[..., None]: ...
