"""Find the syntax tree of a function, and compile a rewritten tree with its free variables."""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from sagax._autojit.errors import AutojitError
from sagax._src.diagnostics.boundary import function_name

OPERATORS = "_sx"  # the name of the operators in rewritten code

_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def find_definition(fun: types.FunctionType) -> ast.FunctionDef | ast.Lambda:
    """Return the definition of `fun` in the syntax tree of its file, with the file's line numbers.

    Raises AutojitError if there is no source, or if the function is a generator or coroutine.
    """
    code = fun.__code__
    if code.co_flags & _GENERATOR_FLAGS:
        kind = "a generator" if code.co_flags & inspect.CO_GENERATOR else "a coroutine"
        raise AutojitError(
            f"{function_name(fun)} is {kind}: its statements are run in parts, which a compiled program cannot do",
            function="autojit",
            fix="return the values, in a list or an array",
        )
    lines = linecache.getlines(code.co_filename)
    try:
        module = ast.parse("".join(lines))
    except SyntaxError:
        module = None
    found: list[Any] = [] if module is None else [n for n in ast.walk(module) if _defines(n, code)]
    if len(found) != 1:
        why = "its source cannot be found" if not found else "several functions stand in its line"
        raise AutojitError(
            f"{function_name(fun)} cannot be converted: {why} ({code.co_filename}:{code.co_firstlineno})",
            function="autojit",
            fix="define it in a file or a cell of a notebook, one function to a line",
        )
    return found[0]


def _defines(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        if code.co_name != "<lambda>" or node.lineno != code.co_firstlineno:
            return False
        body = node.body
        position = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
        return position in set(code.co_positions())
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *[d.lineno for d in node.decorator_list]]) == code.co_firstlineno


def compile_definition(
    definition: ast.FunctionDef, fun: types.FunctionType, operators: Any
) -> Callable[[types.FunctionType], types.FunctionType]:
    """Compile the rewritten definition; the result converts functions that have the code of `fun`.

    The converted function keeps the globals, free variables, defaults and attributes.
    """
    code = fun.__code__
    definition.name = "_sx_definition"  # its own name may be a free variable
    body: ast.stmt = definition
    name = _class_name(code)
    if name is not None:  # private names, self.__x, are mangled in the class
        fields: dict[str, Any] = {"bases": [], "keywords": [], "decorator_list": []}
        body = ast.ClassDef(name=name, body=[definition], **fields, **_TYPE_PARAMETERS)
    outer = [n for n in code.co_freevars if n != "__class__" or name is None]
    wrapper = function_definition("_sx_factory", [*outer, OPERATORS], [body])
    module = ast.fix_missing_locations(ast.Module(body=[wrapper], type_ignores=[]))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=_future(code))
    found = _find_code(compiled, definition.name)
    renamed = _restore_names(found, code)

    def convert(fun: types.FunctionType) -> types.FunctionType:
        cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True))
        cells[OPERATORS] = types.CellType(operators)
        closure = tuple([cells[n] for n in renamed.co_freevars])
        new = types.FunctionType(renamed, fun.__globals__, fun.__name__, fun.__defaults__, closure)
        for name in ("__kwdefaults__", "__qualname__", "__doc__", "__module__", "__annotations__"):
            setattr(new, name, getattr(fun, name))
        return new

    return convert


_TYPE_PARAMETERS: dict[str, Any] = {"type_params": []}  # from Python 3.12 on


def function_definition(
    name: str, parameters: Sequence[str] | ast.arguments, body: list[ast.stmt]
) -> ast.FunctionDef:
    """Build `def name(parameters): body`."""
    if not isinstance(parameters, ast.arguments):
        names = [ast.arg(arg=p) for p in parameters]
        parameters = ast.arguments(
            posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[]
        )
    return ast.FunctionDef(
        name=name, args=parameters, body=body, decorator_list=[], **_TYPE_PARAMETERS
    )


def _future(code: CodeType) -> int:
    import __future__

    flag = __future__.annotations.compiler_flag
    return flag if code.co_flags & flag else 0


def _class_name(code: CodeType) -> str | None:
    """Return the name of the class of a method."""
    above = code.co_qualname.split(".")[:-1]
    return above[-1] if above and above[-1].isidentifier() else None


def _find_code(code: CodeType, name: str) -> CodeType:
    """Return the code of the function of this name in the factory."""
    todo = [code]
    while todo:
        here = todo.pop()
        if here.co_name == name and here is not code:
            return here
        todo.extend(c for c in here.co_consts if isinstance(c, CodeType) and c.co_name != name)
        for c in here.co_consts:
            if isinstance(c, CodeType) and c.co_name == name:
                return c
    raise AssertionError(name)


def _restore_names(code: CodeType, original: CodeType) -> CodeType:
    """Return the code with the names of the original, also for block functions."""
    old, new = code.co_qualname, original.co_qualname

    def rename(c: CodeType) -> CodeType:
        name = c.co_qualname.replace(old, new, 1)
        parts = [p for p in name.split(".<locals>.") if not p.startswith("_sx_")]
        qualname = ".<locals>.".join(parts)
        consts = tuple([rename(x) if isinstance(x, CodeType) else x for x in c.co_consts])
        short = parts[-1].rpartition(".")[2] if c.co_name.startswith("_sx_") else c.co_name
        return c.replace(co_consts=consts, co_qualname=qualname, co_name=short)

    return rename(code).replace(co_name=original.co_name)
