"""Each ingredient of a dispatch key makes another executable, in every cache; nothing else does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._src import tuning
from sagax._src.runtime.compile import Compiled
from sagax.numpy._fused import fused, fused_function, operation1, operation2, operation3

SIZE = tuning.NUMPY_MAX_ELEMENTS + 8  # what is smaller may be computed by NumPy
UNTIL_COMPILED = 12  # calls, for what is compiled when it is called again

pytestmark = pytest.mark.usefixtures("eight_devices")


class Cache:
    """A way to call: `make()` gives a function of an array and, where it has statics, of one of them."""

    def __init__(
        self,
        make: Callable[[], Callable],
        expected: Callable,
        statics: tuple = (),
        same: tuple = (),
        leading: tuple[int, ...] = (),
        without: tuple[str, ...] = (),
    ) -> None:
        self.make, self.expected, self.statics, self.same = make, expected, statics, same
        self.leading, self.without = leading, without


def quick_jit() -> Callable:
    return sagax.jit(lambda x: snp.cos(x) * 3)


def jit_with_statics() -> Callable:
    return sagax.jit(lambda x, n: snp.cos(x) * n, static_argnums=1)


def jit_of_dicts() -> Callable:
    jitted = sagax.jit(lambda d, *, n: snp.cos(d["x"]) * n, static_argnames="n")
    return lambda x, n: jitted({"x": x}, n=n)


def gradient() -> Callable:
    return lambda x, n: sagax.grad(lambda x, n: snp.sum(snp.sin(x) * n))(x, n)


def mapped() -> Callable:
    return sagax.vmap(lambda x: snp.cos(x) * 3)


def over_devices() -> Callable:
    return sagax.pmap(lambda x, n: snp.cos(x) * n, static_broadcasted_argnums=1)


def exported() -> Callable:
    written: dict = {}

    def call(x: Any) -> Any:  # what is exported is for one type; all else is its caches'
        key = x.shape, x.dtype
        if key not in written:
            shape = sagax.ShapeDtypeStruct(x.shape, x.dtype)
            written[key] = sagax.export.export(sagax.jit(lambda x: snp.cos(x) * 3))(shape)
        return written[key].call(x)

    return call


def jaxpr_of_a_call() -> Callable:
    jitted = sagax.jit(lambda x: snp.cos(x) * 3)
    written: dict = {}

    def call(x: Any) -> Any:
        if x.aval not in written:
            written[x.aval] = sagax.make_jaxpr(jitted)(x)
        closed = written[x.aval]
        return sagax.core.eval_jaxpr(closed.jaxpr, closed.consts, x)[0]

    return call


def loop() -> Callable:
    def body(carry: Any, x: Any) -> tuple:
        return carry + x, carry + x

    return lambda x, reverse: lax.scan(body, x[0] * 0, x, reverse=reverse)[1]


def cos3(x: Any, n: Any = 3) -> Any:
    return np.cos(x) * n


def cos_x(x: Any) -> Any:
    return np.cos(x) * x


def twice(fun: Callable) -> Callable:
    return lambda x: fun(x, x)


def thrice(fun: Callable) -> Callable:
    return lambda x: fun(x, x, x)


def with_keyword() -> Callable:
    composite = fused(lambda x, *, n: snp.cos(x) * n)
    return lambda x, n: composite(x, n=n)


def cumulated(x: Any, reverse: Any) -> Any:
    return np.cumsum(x[::-1], dtype=x.dtype)[::-1] if reverse else np.cumsum(x, dtype=x.dtype)


CACHES = {
    "jit": Cache(quick_jit, cos3),
    "jit with static arguments": Cache(jit_with_statics, cos3, (3, 4), (3, int("3"))),
    "jit of a dict": Cache(jit_of_dicts, cos3, (3, 4)),
    "eager primitive": Cache(
        lambda: lambda x, reverse: lax.cumsum(x, reverse=reverse), cumulated, (False, True)
    ),
    "composite of one operand": Cache(lambda: operation1(lambda x: snp.cos(x) * 3), cos3),
    "composite of two operands": Cache(lambda: twice(operation2(lambda x, y: snp.cos(x) * y)), cos_x),
    "composite of three operands": Cache(
        lambda: thrice(operation3(lambda x, y, z: snp.cos(x) * y + z)), lambda x: cos_x(x) + x
    ),
    "composite with keywords": Cache(with_keyword, cos3, (3, 4)),
    "composite with arguments by position": Cache(
        lambda: fused_function(1)(lambda x, n: snp.cos(x) * n), cos3, (3, 4)
    ),
    "grad outside of jit": Cache(gradient, cos3, (3.0, 4.0)),
    "vmap outside of jit": Cache(mapped, cos3),
    "pmap": Cache(over_devices, cos3, (3, 4), leading=(2,), without=("placement",)),
    "exported": Cache(exported, cos3),
    "a jaxpr that calls": Cache(jaxpr_of_a_call, cos3),
    "scan outside of jit": Cache(loop, cumulated, (False, True)),
}  # fmt: skip


@pytest.fixture
def executables(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the executables made since the caches were empty."""
    sagax.clear_caches()
    made: list[str] = []
    init = Compiled.__init__

    def noting(self: Any, lowered: Any, *args: Any, **kwargs: Any) -> None:
        made.append(lowered.name)
        init(self, lowered, *args, **kwargs)

    monkeypatch.setattr(Compiled, "__init__", noting)
    return made


def numbers(shape: tuple[int, ...], dtype: str = "float32", start: int = 0) -> np.ndarray:
    size = int(np.prod(shape))
    return ((np.arange(start, start + size) % 7 - 3) / 4).reshape(shape).astype(dtype)


@pytest.mark.parametrize("name", CACHES)
def test_each_ingredient_makes_another_executable_and_nothing_else_does(
    name, executables, eight_devices
):
    cache = CACHES[name]
    function = cache.make()
    shape = (*cache.leading, SIZE)

    def called(x: Any, *statics: Any, times: int = UNTIL_COMPILED) -> int:
        """How many executables several calls make; their results are right."""
        before = len(executables)
        for _ in range(times):
            found = function(x, *statics)
        np.testing.assert_allclose(
            found, cache.expected(np.asarray(x), *statics), rtol=2e-2, atol=2e-2
        )
        return len(executables) - before

    first = cache.statics[:1]
    x = snp.asarray(numbers(shape))
    assert called(x, *first) > 0
    assert called(x, *first) == 0

    changes: dict[str, Callable[[], int]] = {
        "shape": lambda: called(snp.asarray(numbers((*cache.leading, SIZE + 2))), *first),
        "dtype": lambda: called(snp.asarray(numbers(shape, "float16")), *first),
        "settings": functools.partial(in_settings, lambda: called(x, *first)),
        "placement": lambda: called(sagax.device_put(x, eight_devices[1]), *first),
    }
    if cache.statics:
        changes["statics"] = lambda: called(x, cache.statics[1])
    for ingredient in cache.without:
        del changes[ingredient]
    for ingredient, change in changes.items():
        assert change() > 0, f"{ingredient} is not in the key"
        assert change() == 0, f"{ingredient}: a key that is not found again"

    other_values = snp.asarray(numbers(shape, start=3))
    assert called(other_values, *first) == 0
    assert called(x, *first) == 0
    with sagax.default_matmul_precision(None):  # as it is
        assert called(x, *first) == 0
    if cache.same:
        assert called(x, cache.same[1]) == 0


def in_settings(call: Callable[[], int]) -> int:
    with sagax.default_matmul_precision("highest"):
        return call()


@pytest.mark.own_promotion("dtype")
def test_the_type_of_a_static_argument_is_in_the_key():
    f = sagax.jit(lambda x, n: x + n, static_argnums=1)
    x = snp.arange(3)
    kinds = [f(x, n).dtype for n in (1, 1.0, True, 1)]
    assert [str(k) for k in kinds] == ["int32", "float32", "int32", "int32"]
    assert f._cache_size() == 3


@pytest.mark.parametrize("way", ["quick", "general"])
def test_the_short_and_the_general_path_of_a_call_share_their_entries(way, eight_devices):
    f = sagax.jit(lambda x: x * 2)
    x = snp.arange(3.0)
    committed = sagax.device_put(x, eight_devices[1])
    for y in (x, committed):
        for _ in range(2):
            f(y) if way == "quick" else f._general((y,), {})
        f._general((y,), {}) if way == "quick" else f(y)
    assert f._cache_size() == 2
