"""Analyze bytecode: the loads, stores and side-effect-free instructions of a function."""

from __future__ import annotations

import dis
import sys
import types
from collections import Counter
from collections.abc import Mapping
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["Load", "Scan", "cells_of", "harmless_operations", "scan"]


class Load(NamedTuple):
    """An expression such as `scale`, `self.rate` or `options["rate"]`: a name, and attributes and items of it.

    `root` is "global", "cell" or "local"; a step is (operation, key) with "attribute" or "item".
    """

    root: str
    name: str
    steps: tuple[tuple[str, Any], ...]
    offset: int
    line: int


class Scan(NamedTuple):
    """The loads, stores and operations of one code object.

    `rebound` are its assigned variables, local ones and cells; `attributes` all attribute names that it loads;
    `operations` its instruction names, for calls of intrinsics with the intrinsic.
    """

    loads: tuple[Load, ...]
    inner: tuple[CodeType, ...]
    stored: frozenset[Any]
    rebound: frozenset[str]
    attributes: frozenset[str]
    operations: frozenset[str]
    inplace: bool  # whether there is an in-place operation such as +=

    @property
    def branches(self) -> bool:
        """Return whether some of the instructions may be skipped."""
        return any(name.startswith(("POP_JUMP", "JUMP_IF")) for name in self.operations)


_SILENT = frozenset(("CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "NOT_TAKEN"))
_LOCAL = frozenset(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"))
_LOCALS = frozenset(("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"))
_NO_KEY = object()

_scans: dict[int, tuple[CodeType, Scan]] = {}  # by identity: equal code objects are distinct
_MOST_SCANS = 2048


def cells_of(fun: types.FunctionType) -> dict[str, types.CellType]:
    """Return the cells of a function's closure variables, by name."""
    return dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=False))


def scan(code: CodeType) -> Scan:
    """Scan a code object for the names that it loads, with attributes and items of them."""
    known = _scans.get(id(code))
    if known is None:
        if len(_scans) >= _MOST_SCANS:
            _scans.clear()
        known = _scans[id(code)] = code, _scan(code)
    return known[1]


def _scan(code: CodeType) -> Scan:
    loads: list[Load] = []
    stored: set[Any] = set()
    stores: Counter[str] = Counter()
    aliases: dict[str, Load] = {}
    attributes: set[str] = set()
    operations: set[str] = set()
    inplace = False
    now: Load | None = None
    key: Any = _NO_KEY

    for ins in dis.get_instructions(code):
        op, arg = ins.opname, ins.argval
        operations.add(f"{op} {ins.argrepr}" if op.startswith("CALL_INTRINSIC") else op)
        if op in _SILENT:
            continue
        if op in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(arg)
        elif op == "BINARY_OP":
            inplace = inplace or ins.argrepr.endswith("=")
        if key is not _NO_KEY:
            subscript = op == "BINARY_SUBSCR" or (op == "BINARY_OP" and ins.argrepr == "[]")
            if now is not None and subscript:
                now = now._replace(steps=(*now.steps, ("item", key)), offset=ins.offset)
                key = _NO_KEY
                continue
            if op in ("STORE_SUBSCR", "DELETE_SUBSCR"):
                stored.add(key)
            key = _NO_KEY
        elif now is not None:
            if op in ("LOAD_ATTR", "LOAD_METHOD"):
                now = now._replace(steps=(*now.steps, ("attribute", arg)), offset=ins.offset)
                continue
            if op == "LOAD_CONST" and isinstance(arg, (str, int)):
                key = arg
                continue
        if now is not None:
            loads.append(now)
        line = (ins.positions.lineno if ins.positions else None) or code.co_firstlineno
        previous, now = now, None
        if op == "LOAD_GLOBAL":
            now = Load("global", arg, (), ins.offset, line)
        elif op == "LOAD_DEREF":
            now = Load("cell", arg, (), ins.offset, line)
        elif op in _LOCAL:
            now = Load("local", arg, (), ins.offset, line)
        elif op in _LOCALS:
            now = Load("local", arg[1], (), ins.offset, line)
        elif op == "STORE_FAST_LOAD_FAST":
            stores[arg[0]] += 1
            now = Load("local", arg[1], (), ins.offset, line)
        elif op == "STORE_FAST":
            stores[arg] += 1
            if previous is not None:
                aliases[arg] = previous
        elif op == "STORE_FAST_STORE_FAST":
            stores.update(arg)
        elif op in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"):
            stored.add(arg)
        elif op in ("STORE_DEREF", "DELETE_DEREF"):
            stores[arg] += 1
            if arg in code.co_freevars:
                stored.add(arg)
    if now is not None:
        loads.append(now)
    parameters = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    single_assignments = {
        v: load for v, load in aliases.items() if stores[v] == 1 and v not in parameters
    }
    return Scan(
        tuple(dict.fromkeys(_expanded(load, single_assignments) for load in loads)),
        tuple(c for c in code.co_consts if isinstance(c, CodeType)),
        frozenset(stored),
        frozenset(stores),
        frozenset(attributes),
        frozenset(operations),
        inplace,
    )


def _expanded(load: Load, aliases: Mapping[str, Load]) -> Load:
    """Expand local aliases, such as `options = self.options`, in a load."""
    for _ in range(4):
        known = aliases.get(load.name) if load.root == "local" else None
        if known is None:
            break
        load = load._replace(root=known.root, name=known.name, steps=(*known.steps, *load.steps))
    return load


# Instructions that compute from local variables, globals and cells; create functions and containers; branch
# and loop; raise. STORE_SUBSCR and the like mutate a container, which the caller checks. Left out, as are
# unknown ones: stores to outer variables, imports, class definitions, exception handlers, contexts, awaits.
_IN_ALL_VERSIONS = """
    CACHE EXTENDED_ARG NOP RESUME COPY SWAP POP_TOP PUSH_NULL
    LOAD_CONST LOAD_FAST LOAD_GLOBAL LOAD_DEREF LOAD_ATTR LOAD_ASSERTION_ERROR
    STORE_FAST STORE_DEREF DELETE_FAST MAKE_CELL COPY_FREE_VARS MAKE_FUNCTION
    UNARY_INVERT UNARY_NEGATIVE UNARY_NOT BINARY_OP BINARY_SUBSCR COMPARE_OP CONTAINS_OP IS_OP
    BUILD_CONST_KEY_MAP BUILD_LIST BUILD_MAP BUILD_SET BUILD_SLICE BUILD_STRING BUILD_TUPLE
    LIST_APPEND LIST_EXTEND SET_ADD SET_UPDATE MAP_ADD DICT_MERGE DICT_UPDATE STORE_SUBSCR DELETE_SUBSCR
    UNPACK_EX UNPACK_SEQUENCE GET_ITER FOR_ITER GET_LEN MATCH_CLASS MATCH_KEYS MATCH_MAPPING MATCH_SEQUENCE
    CALL CALL_FUNCTION_EX RETURN_VALUE RETURN_GENERATOR YIELD_VALUE RAISE_VARARGS RERAISE
    JUMP_BACKWARD JUMP_FORWARD"""
_SINCE_3_12 = """
    BINARY_SLICE STORE_SLICE LOAD_FAST_AND_CLEAR LOAD_FAST_CHECK END_FOR RETURN_CONST
    POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_IF_TRUE"""
_INTRINSICS = frozenset(
    f"CALL_INTRINSIC_1 INTRINSIC_{name}"
    for name in ("STOPITERATION_ERROR", "UNARY_POSITIVE", "LIST_TO_TUPLE")
)
_HARMLESS: dict[tuple[int, int], str] = {
    (3, 11): _IN_ALL_VERSIONS
    + """ LOAD_CLOSURE LOAD_METHOD PRECALL KW_NAMES FORMAT_VALUE UNARY_POSITIVE LIST_TO_TUPLE
    JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_NONE
    POP_JUMP_BACKWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE
    POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_FORWARD_IF_TRUE""",
    (3, 12): _IN_ALL_VERSIONS + _SINCE_3_12 + " LOAD_CLOSURE KW_NAMES FORMAT_VALUE",
    (3, 13): _IN_ALL_VERSIONS
    + _SINCE_3_12
    + """ CALL_KW CONVERT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC LOAD_FAST_LOAD_FAST SET_FUNCTION_ATTRIBUTE
    STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST TO_BOOL""",
}


def harmless_operations() -> frozenset[str]:
    """Return the side-effect-free instructions of this Python version; none for an unknown version."""
    names = _HARMLESS.get(sys.version_info[:2])
    return frozenset() if names is None else _INTRINSICS.union(names.split())
