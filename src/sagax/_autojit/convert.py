"""Implement `autojit`: `jit` of a function whose Python control flow is converted."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from sagax._autojit.errors import AutojitError, AutojitWarning
from sagax._autojit.operators import Operators
from sagax._autojit.rewrite import rewrite_function
from sagax._autojit.source import compile_definition, find_definition
from sagax._src import source_stacks
from sagax._src.api.jit import JitFunction, jit
from sagax._src.argument_checks.argument_names import signature
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.spans import display_path, is_sagax, is_user_file, user_span
from sagax._src.diagnostics.wording import bilingual
from sagax._src.function_analysis import free_variables
from sagax._src.weak_tables import WeakKeyTable


class Conversion(NamedTuple):
    """Describe a statement or expression that was converted to control flow of lax."""

    file: str
    line: int
    statement: str
    became: str

    def __str__(self) -> str:
        return f"{display_path(self.file)}:{self.line}: `{self.statement}` became {self.became}"


class Converter:
    """Convert a function and those that it calls, and list the `conversions`."""

    def __init__(self, max_steps: int | None) -> None:
        self._max_steps = max_steps
        self._converted: WeakKeyTable[Any, Any] = WeakKeyTable()
        self._operators: list[Operators] = []
        self._codes: dict[int, types.CodeType] = {}  # converted code, with inner functions

    def convert(self, fun: types.FunctionType) -> types.FunctionType:
        """Return the function with its control flow as operators. Raises AutojitError."""
        known = self._converted.get(fun)
        if known is None:
            definition, sites = rewrite_function(
                find_definition(fun), fun.__code__.co_filename, function_name(fun)
            )
            operators = Operators(sites, self.called, self._max_steps)
            known = compile_definition(definition, fun, operators)(fun)
            self._operators.append(operators)
            self._converted[fun] = known
            self._add(known.__code__)
        return known

    def _add(self, code: types.CodeType) -> None:
        self._codes[id(code)] = code
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                self._add(const)

    def called(self, fun: Any) -> Any:
        """Return what to call instead of `fun`: a user's function or the operands are converted."""
        if isinstance(fun, types.MethodType):
            inner = self._convert_user_function(fun.__func__)
            return fun if inner is None else types.MethodType(inner, fun.__self__)
        if isinstance(fun, types.FunctionType):
            inner = self._convert_user_function(fun)
            if inner is not None:
                return inner
            return self._convert_operands_of(fun) if is_sagax(fun.__code__.co_filename) else fun
        if isinstance(fun, functools.partial):
            return functools.partial(self.called(fun.func), *fun.args, **fun.keywords)
        if isinstance(fun, type) or isinstance(fun, types.BuiltinFunctionType):
            return fun
        call = getattr(type(fun), "__call__", None)  # noqa: B004  the method, not a test
        if isinstance(call, types.FunctionType) and not isinstance(fun, JitFunction):
            inner = self._convert_user_function(call)
            return fun if inner is None else types.MethodType(inner, fun)
        return fun

    def _convert_user_function(self, fun: Any) -> Any:
        """Return the converted function; None for others, and those that cannot be converted."""
        if not isinstance(fun, types.FunctionType):
            return None
        if id(fun.__code__) in self._codes:
            return fun
        if fun in self._converted:
            return self._converted[fun]
        file = fun.__code__.co_filename
        if not is_user_file(file) or "site-packages" in file:
            return None
        try:
            found = self.convert(fun)
        except AutojitError:  # it runs unchanged; tests of tracers then raise their own error
            return None
        free_variables.reused([fun])  # its free variables count as read
        return found

    def _convert_operands_of(self, fun: Callable) -> Callable:
        """Wrap a function of sagax, such as `vmap` or `scan`, to convert the functions passed to it."""

        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            operands = [self._convert_operand(a) for a in args]
            return fun(*operands, **{k: self._convert_operand(v) for k, v in kwargs.items()})

        return call if _has_function_parameter(fun) else fun

    def _convert_operand(self, x: Any) -> Any:
        return self.called(x) if isinstance(x, (types.FunctionType, types.MethodType)) else x

    @property
    def conversions(self) -> list[Conversion]:
        """Return the conversions so far, in the order of the lines."""
        found = {
            Conversion(site.file, site.line, site.text, became)
            for operators in self._operators
            for site, became in operators.converted.items()
        }
        return sorted(found)


@functools.lru_cache(maxsize=1024)
def _has_function_parameter(fun: Callable) -> bool:
    """Return whether a parameter may be a function, by its name or as a part of `*args`."""
    found = signature(fun)
    return found is not None and any(
        n in ("f", "fun", "func", "pyfunc")
        or n.endswith(("_fun", "_fn"))
        or p.kind is p.VAR_POSITIONAL
        for n, p in found.parameters.items()
    )


def autojit(
    fun: Callable | None = None,
    *,
    strict: bool = False,
    max_steps: int | None = None,
    **options: Any,
) -> Any:
    """Compile a function whose Python control flow may depend on traced values.

    Statements on traced values are converted: `if`, `elif`, `else`, `a if t else b`, `while`, `for` over
    ranges and arrays, `break`, `continue`, early `return`, `and`, `or`, `not`, `a < b < c` and `assert`.
    They become `lax.cond`, `while_loop`, `scan`, logical operations and run-time checks. On other values
    Python runs them as usual. The user's functions that `fun` calls are converted too, those of installed
    libraries are not.

    Use it as a function or as a decorator, with or without options. The result has an attribute
    `conversions`, the list of converted statements.

    Args:
      strict: warn (AutojitWarning) of each converted statement when it is traced.
      max_steps: a bound on the iterations of loops of traced length; reverse mode then works.
      **options: options of `jit`, such as `static_argnames`.

    Raises:
      AutojitError: a statement cannot be converted; the message names it and the reason.

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
    jitted = jit(converted, **options)
    jitted.__class__ = AutoFunction
    jitted.__wrapped__, jitted._converter = fun, converter
    jitted._strict, jitted._reported = strict, set()
    return jitted


class AutoFunction(JitFunction):
    """Hold a jitted function with converted control flow, the result of `sagax.autojit`."""

    __wrapped__: Any
    _converter: Converter
    _strict: bool
    _reported: set[Conversion]

    @property
    def conversions(self) -> list[Conversion]:
        """Return the conversions so far: `file`, `line`, `statement` and what it `became`."""
        return self._converter.conversions

    def _trace_now(self, *args: Any) -> Any:
        traced = super()._trace_now(*args)
        if self._strict:
            self._warn()
        return traced

    def _warn(self) -> None:
        fresh = [c for c in self.conversions if c not in self._reported]
        self._reported.update(fresh)
        if not fresh:
            return
        lines = "\n".join(f"  {c}" for c in fresh)
        span = user_span(source_stacks.stack())
        file, line = ("sagax", 1) if span is None else (span.file, span.line)
        text = f"autojit converted {len(fresh)} statements of {function_name(self.__wrapped__)}:\n{lines}"
        warnings.warn_explicit(AutojitWarning(bilingual(text)), AutojitWarning, file, line)
