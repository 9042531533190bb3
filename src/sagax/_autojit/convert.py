"""`autojit`: `jit` of a function whose Python control flow is converted."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from sagax._autojit.errors import AutojitError, AutojitWarning
from sagax._autojit.operators import Operators
from sagax._autojit.rewrite import rewritten
from sagax._autojit.source import function_of, tree_of
from sagax._src import source_stacks
from sagax._src.api.jit import JitFunction, jit
from sagax._src.argument_checks.argument_names import signature
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.spans import is_sagax, is_users, shown_path, user_span
from sagax._src.function_analysis import free_variables


class Conversion(NamedTuple):
    """One statement or expression that became control flow of the program."""

    file: str
    line: int
    statement: str
    became: str

    def __str__(self) -> str:
        return f"{shown_path(self.file)}:{self.line}: `{self.statement}` became {self.became}"


class Converter:
    """Converts a function and those that it calls; knows what was converted (`conversions`)."""

    def __init__(self, max_steps: int | None) -> None:
        self._max_steps = max_steps
        self._made: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._operators: list[Operators] = []
        self._codes: dict[int, types.CodeType] = {}  # what was made, with the functions inside

    def convert(self, fun: types.FunctionType) -> types.FunctionType:
        """The function with its control flow as operators. Raises AutojitError where it cannot be."""
        known = self._made.get(fun)
        if known is None:
            definition, sites = rewritten(
                tree_of(fun), fun.__code__.co_filename, function_name(fun)
            )
            operators = Operators(sites, self.called, self._max_steps)
            known = function_of(definition, fun, operators)(fun)
            self._operators.append(operators)
            self._made[fun] = known
            self._add(known.__code__)
        return known

    def _add(self, code: types.CodeType) -> None:
        self._codes[id(code)] = code
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                self._add(const)

    def called(self, fun: Any) -> Any:
        """What to call in place of `fun`: a function of the user's is converted, others get converted functions."""
        if isinstance(fun, types.MethodType):
            inner = self._own(fun.__func__)
            return fun if inner is None else types.MethodType(inner, fun.__self__)
        if isinstance(fun, types.FunctionType):
            inner = self._own(fun)
            if inner is not None:
                return inner
            return self._taking(fun) if is_sagax(fun.__code__.co_filename) else fun
        if isinstance(fun, functools.partial):
            return functools.partial(self.called(fun.func), *fun.args, **fun.keywords)
        if isinstance(fun, type) or isinstance(fun, types.BuiltinFunctionType):
            return fun
        call = getattr(type(fun), "__call__", None)  # noqa: B004  what runs, not whether
        if isinstance(call, types.FunctionType) and not isinstance(fun, JitFunction):
            inner = self._own(call)
            return fun if inner is None else types.MethodType(inner, fun)
        return fun

    def _own(self, fun: Any) -> Any:
        """A function of the user's as converted; None for others, and those that cannot be."""
        if not isinstance(fun, types.FunctionType):
            return None
        if id(fun.__code__) in self._codes:
            return fun
        if fun in self._made:
            return self._made[fun]
        file = fun.__code__.co_filename
        if not is_users(file) or "site-packages" in file:
            return None
        try:
            found = self.convert(fun)
        except (
            AutojitError
        ):  # it is called as it is; traced values in its tests then raise their own error
            return None
        free_variables.reused([fun])  # what it reads from outside counts as read
        return found

    def _taking(self, fun: Callable) -> Callable:
        """A function of sagax, `vmap` or `scan`, that is given converted functions."""

        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [self._given(a) for a in args]
            return fun(*given, **{name: self._given(v) for name, v in kwargs.items()})

        return call if _takes_functions(fun) else fun

    def _given(self, x: Any) -> Any:
        return self.called(x) if isinstance(x, (types.FunctionType, types.MethodType)) else x

    @property
    def conversions(self) -> list[Conversion]:
        """What was converted so far, in the order of the lines."""
        found = {
            Conversion(site.file, site.line, site.text, became)
            for operators in self._operators
            for site, became in operators.converted.items()
        }
        return sorted(found)


@functools.lru_cache(maxsize=1024)
def _takes_functions(fun: Callable) -> bool:
    """Whether some parameter of a function is called as functions are."""
    found = signature(fun)
    names = () if found is None else found.parameters
    return any(
        n in ("f", "fun", "func", "pyfunc") or n.endswith(("_fun", "_fn")) for n in names
    ) or any(
        p.kind is p.VAR_POSITIONAL for p in (() if found is None else found.parameters.values())
    )


def autojit(
    fun: Callable | None = None,
    *,
    strict: bool = False,
    max_steps: int | None = None,
    **options: Any,
) -> Any:
    """`jit(fun)`, whose Python control flow may depend on traced values.

    `if`, `elif`, `else`, `a if t else b`, `while`, `for` over ranges and arrays, `break`, `continue`, early
    `return`, `and`, `or`, `not`, `a < b < c` and `assert` are converted where they meet a traced value: to
    `lax.cond`, `while_loop`, `scan`, logical operations and a check when the program runs. Where they meet
    plain values Python runs them, as ever. So are the user's functions that `fun` calls; those
    of installed libraries are not.

    Use it as a function or as a decorator, with options too. The result has an attribute
    `conversions`, the list of what was converted.

    Args:
      strict: warn (AutojitWarning) of what was converted, a line for each statement, when it is traced.
      max_steps: a bound on the rounds of loops whose number is traced; reverse mode then works.
      **options: those of `jit`, such as `static_argnames`.

    Raises:
      AutojitError: something cannot be converted; the message names the statement and the reason.

    >>> import sagax
    >>> @sagax.autojit
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> int(collatz(27))
    111
    >>> for conversion in collatz.conversions:
    ...     print(conversion.line, conversion.statement, "->", conversion.became)
    4 while n != 1: -> lax.while_loop
    5 n // 2 if n % 2 == 0 else 3 * n + 1 -> lax.cond
    """
    if fun is None:
        return functools.partial(autojit, strict=strict, max_steps=max_steps, **options)
    if isinstance(fun, JitFunction):
        fun = fun.__wrapped__ if isinstance(fun, AutoFunction) else fun._fun
    converter = Converter(max_steps)
    if isinstance(fun, types.MethodType):
        converted: Any = types.MethodType(converter.convert(fun.__func__), fun.__self__)
    elif isinstance(fun, types.FunctionType):
        converted = converter.convert(fun)
    else:
        converted = converter.called(fun)
        if converted is fun:
            raise AutojitError(
                f"a function written in Python is needed, not an object of type {type(fun).__name__}",
                function="autojit",
                fix="pass a function with `def` or a lambda",
            )
    made = jit(converted, **options)
    made.__class__ = AutoFunction
    made.__wrapped__, made._converter, made._strict, made._told = fun, converter, strict, set()
    return made


class AutoFunction(JitFunction):
    """A function with converted control flow that is compiled when called. Made by `sagax.autojit`."""

    __wrapped__: Any
    _converter: Converter
    _strict: bool
    _told: set[Conversion]

    @property
    def conversions(self) -> list[Conversion]:
        """What was converted so far: `file`, `line`, `statement` and what it `became`."""
        return self._converter.conversions

    def _trace_now(self, *args: Any) -> Any:
        traced = super()._trace_now(*args)
        if self._strict:
            self._tell()
        return traced

    def _tell(self) -> None:
        fresh = [c for c in self.conversions if c not in self._told]
        self._told.update(fresh)
        if not fresh:
            return
        lines = "\n".join(f"  {c}" for c in fresh)
        place = user_span(source_stacks.stack())
        file, line = ("sagax", 1) if place is None else (place.file, place.line)
        text = f"autojit converted {len(fresh)} statements of {function_name(self.__wrapped__)}:\n{lines}"
        warnings.warn_explicit(AutojitWarning(text), AutojitWarning, file, line)


__all__ = ["AutoFunction", "Conversion", "autojit"]
