"""Write Triton IR as text, in MLIR's generic form.

Values are scalars, or tensors whose sizes are powers of two. Operations without effects are written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dtypes
from sagax._src.lowering.text import element_type, quote, scalar_text
from sagax._src.primitives.unsupported import UnsupportedError

BOOL = np.dtype(np.bool_)
I8 = np.dtype(np.int8)
I32 = np.dtype(np.int32)
I64 = np.dtype(np.int64)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)

# Triton refuses larger tensors.
_MOST_ELEMENTS = 1 << 20

# Predicates of comparisons: of signed and of unsigned integers, of floats.
_SIGNED = {"EQ": 0, "NE": 1, "LT": 2, "LE": 3, "GT": 4, "GE": 5}
_UNSIGNED = {"EQ": 0, "NE": 1, "LT": 6, "LE": 7, "GT": 8, "GE": 9}
_FLOATS = {"EQ": 1, "GT": 2, "GE": 3, "LT": 4, "LE": 5, "NE": 13}

RUN_THROUGH_XLA = "let XLA compile the kernel, program by program: pallas_call(..., interpret=True)"


def cannot(what: str, *, fix: str = RUN_THROUGH_XLA, **facts: Any) -> UnsupportedError:
    """Return the error for something that Triton cannot do."""
    return UnsupportedError(what, fix=fix, **({"function": "pallas_call"} | facts))


def is_float(dtype: Any) -> bool:
    return dtypes.kind(dtype) == "f"


def is_signed(dtype: Any) -> bool:
    return dtypes.kind(dtype) == "i"


def element(dtype: Any) -> str:
    """Return the element type of a dtype: Triton's integers have no sign."""
    return element_type(dtype).removeprefix("u")


class Value:
    """A scalar or a tensor: its name, shape and dtype; or a pointer, or a tensor of pointers, to elements of `dtype`.

    `splat` is the number that all elements equal, if it is known.
    """

    __slots__ = ("dtype", "is_pointer", "name", "shape", "splat", "type")

    def __init__(
        self, name: str, shape: tuple, dtype: Any, is_pointer: bool = False, splat: Any = None
    ) -> None:
        self.name, self.shape, self.dtype = name, shape, dtype
        self.is_pointer, self.splat = is_pointer, splat
        self.type = type_of(shape, dtype, is_pointer)

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


def type_of(shape: tuple, dtype: Any, is_pointer: bool = False) -> str:
    """Return the text of a type. Booleans are kept as bytes in memory."""
    name = element(I8 if is_pointer and dtype == BOOL else dtype)
    name = f"!tt.ptr<{name}>" if is_pointer else name
    return f"tensor<{'x'.join(map(str, shape))}x{name}>" if shape else name


def check_shape(shape: Sequence[int], what: str, **facts: Any) -> None:
    """Raise if Triton has no tensors of this shape."""
    odd = [n for n in shape if type(n) is not int or n < 1 or n & (n - 1)]
    if odd:
        raise cannot(
            f"{what} has the shape {tuple(shape)}, and in Triton each size must be a power of two",
            got=tuple(shape),
            expected=f"a power of two instead of {odd[0]}",
            fix="use a block whose sizes are powers of two, and mask what is too much: pl.triton.load(ref.at[...], "
            f"mask=..., other=...); or {RUN_THROUGH_XLA}",
            **facts,
        )
    if math.prod(shape) > _MOST_ELEMENTS:
        raise cannot(
            f"{what} has {math.prod(shape)} elements, and a tensor of Triton at most {_MOST_ELEMENTS}",
            got=tuple(shape),
            fix="use smaller blocks, and more programs",
            **facts,
        )


class Builder:
    """Write the operations of one function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 2
        self.count = 0
        self.known: dict[tuple, Any] = {}  # operations without effects, and their results
        self.where: dict[str, Any] = {}  # facts for errors: the equation that is lowered
        # pointers through which memory was written and read since the start of a loop's body, and those that other
        # threads may have written since the last barrier
        self.writes: set[str] = set()
        self.dirty: set[str] = set()
        self.reads: set[str] = set()
        self.same_memory: dict[
            str, str
        ] = {}  # the pointer of an input that is an alias of an output: that output's

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[tuple],
        attributes: str = "",
        regions: Sequence[str] = (),
        effect: bool = False,
    ) -> Any:
        """Append an operation; return its result, or a list unless there is one.

        `results` holds (shape, dtype) of each, or (shape, dtype, True) of pointers.
        """
        names = tuple([x.name for x in operands])
        key = (name, names, attributes, *results)
        if not effect and not regions:
            found = self.known.get(key)
            if found is not None:
                return found
        for r in results:
            check_shape(r[0], f"a value of {self.where.get('what', 'the kernel')}", **self.facts())
        outs = []
        first = self.count
        self.count += max(1, len(results))
        head = f"%{first}"
        if len(results) > 1:
            outs = [Value(f"{head}#{i}", *r) for i, r in enumerate(results)]
            bind = f"{head}:{len(results)} = "
        elif results:
            outs = [Value(head, *results[0])]
            bind = f"{head} = "
        else:
            bind = ""
        props = f" <{{{attributes}}}>" if attributes else ""
        inside = f" ({', '.join(regions)})" if regions else ""
        types = ", ".join([r.type for r in outs])
        self.lines.append(
            f'{"  " * self.depth}{bind}"{name}"({", ".join(names)}){props}{inside} : '
            f"({', '.join([x.type for x in operands])}) -> ({types})"
        )
        out = outs[0] if len(outs) == 1 else outs
        if not effect and not regions:
            self.known[key] = out
        return out

    def barrier(self) -> None:
        """Wait for all threads of the program, so that they see what others wrote."""
        self.op("gpu.barrier", (), (), effect=True)
        self.dirty = set()

    def before_read(self, pointer: str) -> None:
        """Note a read of memory; wait if threads of this program may have written it."""
        pointer = self.same_memory.get(pointer, pointer)
        self.reads.add(pointer)
        if pointer in self.dirty:
            self.barrier()

    def before_write(self, pointer: str) -> None:
        """Note a write to memory."""
        pointer = self.same_memory.get(pointer, pointer)
        self.writes.add(pointer)
        self.dirty.add(pointer)

    def facts(self) -> dict[str, Any]:
        """Return the facts for an error at the equation that is lowered."""
        return {k: v for k, v in self.where.items() if k != "what"}

    def region(self, types: Sequence[tuple], body: Callable[..., Sequence[Value]], end: str) -> str:
        """Return the text of a region; `body` gets its arguments, and returns the operands of its terminator."""
        lines, known, dirty = self.lines, self.known, set(self.dirty)
        self.lines, self.known = [], dict(known)
        self.depth += 1
        args = [Value(f"%a{self.count + i}", *t) for i, t in enumerate(types)]
        self.count += len(args)
        outs = body(*args)
        self.op(end, outs, (), effect=True)
        pad = "  " * (self.depth - 1)
        head = f"{pad}^bb0({', '.join([f'{a.name}: {a.type}' for a in args])}):\n" if args else ""
        text = f"{{\n{head}" + "\n".join(self.lines) + f"\n{pad}}}"
        self.depth -= 1
        self.lines, self.known, self.dirty = lines, known, dirty | self.dirty
        return text

    # Constants and shapes --------------------------------------------------------------------------------

    def constant(self, number: Any, dtype: Any = I32, shape: tuple = ()) -> Value:
        """Return a constant whose elements all are `number`."""
        number = np.asarray(number).astype(dtype)[()]
        kind = type_of(shape, dtype)
        text = scalar_text(number)
        if dtypes.kind(dtype) == "u":  # signless: written as the signed number of the same bits
            text = str(int(number.view(f"i{dtype.itemsize}")))
        value = f"dense<{text}> : {kind}" if shape else f"{text} : {kind}"
        if not shape and dtype == BOOL:
            value = text
        key = ("constant", value)
        found = self.known.get(key)
        if found is None:
            found = self.op("arith.constant", (), [(shape, dtype)], f"value = {value}", effect=True)
            found.splat = number
            self.known[key] = found
        return found

    def broadcast(self, x: Value, shape: tuple) -> Value:
        """Repeat a scalar, or a tensor along dimensions of size 1."""
        if x.shape == shape:
            return x
        if x.splat is not None:
            return self.constant(x.splat, x.dtype, shape)
        name = "tt.broadcast" if x.shape else "tt.splat"
        return self.op(name, [x], [(shape, x.dtype, x.is_pointer)])

    def expand(self, x: Value, axis: int) -> Value:
        """Insert a dimension of size 1."""
        shape = (*x.shape[:axis], 1, *x.shape[axis:])
        if x.splat is not None:
            return self.constant(x.splat, x.dtype, shape)
        if not x.shape:
            return self.op("tt.splat", [x], [(shape, x.dtype)])
        return self.op("tt.expand_dims", [x], [(shape, x.dtype)], f"axis = {axis} : i32")

    def broadcast_in_dim(self, x: Value, axes: Sequence[int], shape: tuple) -> Value:
        """Repeat a tensor whose dimensions are `axes`, in order, of a result of `shape`."""
        for axis in range(len(shape)):
            if axis not in axes:
                x = self.expand(x, axis)
        return self.broadcast(x, shape)

    def iota(self, shape: tuple, axis: int, dtype: Any = I32) -> Value:
        """Return the index along `axis` of each element."""
        n = shape[axis]
        if n == 1:
            return self.constant(0, dtype, shape)
        line = self.op("tt.make_range", (), [((n,), I32)], f"end = {n} : i32, start = 0 : i32")
        return self.convert(self.broadcast_in_dim(line, (axis,), shape), dtype)

    # Arithmetic --------------------------------------------------------------------------------------------

    def binary(self, name: str, x: Value, y: Value, attributes: str = "") -> Value:
        """Append an operation of two operands of one type; one may be a scalar."""
        shape = broadcast_shape(x.shape, y.shape)
        x, y = self.broadcast(x, shape), self.broadcast(y, shape)
        return self.op(name, [x, y], [(shape, x.dtype)], attributes)

    def add(self, x: Value, y: Value) -> Value:
        if _is_number(x, 0) and not is_float(x.dtype):
            x, y = y, x
        if _is_number(y, 0) and not is_float(x.dtype):
            return self.broadcast(x, broadcast_shape(x.shape, y.shape))
        if x.splat is not None and y.splat is not None and x.dtype == I32:
            total = int(x.splat) + int(y.splat)
            return self.constant(total, I32, broadcast_shape(x.shape, y.shape))
        return self.binary("arith.addf" if is_float(x.dtype) else "arith.addi", x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.binary("arith.subf" if is_float(x.dtype) else "arith.subi", x, y)

    def mul(self, x: Value, y: Value) -> Value:
        if not is_float(x.dtype):
            if _is_number(x, 1):
                x, y = y, x
            if _is_number(y, 1):
                return self.broadcast(x, broadcast_shape(x.shape, y.shape))
            if x.splat is not None and y.splat is not None and x.dtype == I32:
                total = int(x.splat) * int(y.splat)
                return self.constant(total, I32, broadcast_shape(x.shape, y.shape))
        return self.binary("arith.mulf" if is_float(x.dtype) else "arith.muli", x, y)

    def div(self, x: Value, y: Value) -> Value:
        if is_float(x.dtype):
            return self.binary("arith.divf", x, y)
        return self.binary("arith.divsi" if is_signed(x.dtype) else "arith.divui", x, y)

    def rem(self, x: Value, y: Value) -> Value:
        return self.binary("arith.remsi" if is_signed(x.dtype) else "arith.remui", x, y)

    def extreme(self, x: Value, y: Value, name: str) -> Value:
        """Return the greater ("max") or the lesser ("min") operand; NaN if one is."""
        end = "imumf" if is_float(x.dtype) else "si" if is_signed(x.dtype) else "ui"
        return self.binary(f"arith.{name}{end}", x, y)

    def bits(self, name: str, x: Value, y: Value) -> Value:
        """Append "and", "or" or "xor" of bits."""
        return self.binary(f"arith.{name}i", x, y)

    def invert(self, x: Value) -> Value:
        return self.bits("xor", x, self.constant(True if x.dtype == BOOL else -1, x.dtype, x.shape))

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        """Compare values of one dtype: EQ NE LT LE GT GE."""
        shape = broadcast_shape(x.shape, y.shape)
        x, y = self.broadcast(x, shape), self.broadcast(y, shape)
        if is_float(x.dtype):
            name, number = "arith.cmpf", _FLOATS[direction]
        else:
            name = "arith.cmpi"
            number = (_SIGNED if is_signed(x.dtype) else _UNSIGNED)[direction]
        return self.op(name, [x, y], [(shape, BOOL)], f"predicate = {number} : i64")

    def select(self, which: Value, yes: Value, no: Value) -> Value:
        shape = broadcast_shape(broadcast_shape(which.shape, yes.shape), no.shape)
        which, yes, no = (self.broadcast(x, shape) for x in (which, yes, no))
        return self.op("arith.select", [which, yes, no], [(shape, yes.dtype)])

    def convert(self, x: Value, dtype: Any) -> Value:
        """Convert the elements of `x`; to booleans by comparison with zero, from floats to integers at the ends."""
        if x.dtype == dtype:
            return x
        if x.splat is not None and not (is_float(x.dtype) and not is_float(dtype)):
            return self.constant(x.splat, dtype, x.shape)
        if dtype == BOOL:
            return self.compare("NE", x, self.constant(0, x.dtype, x.shape))
        if is_float(x.dtype):
            return self._convert_float(x, dtype)
        out = [(x.shape, dtype)]
        if is_float(dtype):
            if dtype.itemsize < 4:
                return self.convert(self.convert(x, F32), dtype)
            return self.op(f"arith.{'sitofp' if is_signed(x.dtype) else 'uitofp'}", [x], out)
        have, want = (1 if d == BOOL else d.itemsize * 8 for d in (x.dtype, dtype))
        if have == want:
            return Value(x.name, x.shape, dtype, splat=x.splat)
        name = "trunci" if want < have else "extsi" if is_signed(x.dtype) else "extui"
        return self.op(f"arith.{name}", [x], out)

    def _convert_float(self, x: Value, dtype: Any) -> Value:
        out = [(x.shape, dtype)]
        if not is_float(dtype):
            return self._float_to_integer(x, dtype)
        have, want = x.dtype.itemsize, dtype.itemsize
        if have == 1 or want == 1:  # eight bits
            if {have, want} != {1, 4} and {have, want} != {1, 2}:
                return self.convert(self.convert(x, F32), dtype)
            rounding = "rounding = 1 : i32" if want == 1 else ""
            return self.op("tt.fp_to_fp", [x], out, rounding)
        if have == want:  # bfloat16 and float16
            return self.convert(self.convert(x, F32), dtype)
        return self.op("arith.extf" if want > have else "arith.truncf", [x], out)

    def _float_to_integer(self, x: Value, dtype: Any) -> Value:
        """Convert toward zero; too great numbers give the greatest integer, NaN gives 0."""
        if x.dtype.itemsize < 4:
            x = self.convert(x, F32)
        ends = np.iinfo(dtype)
        greatest = np.nextafter(
            np.asarray(2.0 ** (dtype.itemsize * 8 - is_signed(dtype)), x.dtype), 0
        )
        low, high = (self.constant(n, x.dtype, x.shape) for n in (float(ends.min), greatest))
        inside = self.extreme(self.extreme(x, high, "min"), low, "max")
        name = "arith.fptosi" if is_signed(dtype) else "arith.fptoui"
        found = self.op(name, [inside], [(x.shape, dtype)])
        last = self.constant(ends.max, dtype, x.shape)
        found = self.select(self.compare("GT", x, high), last, found)
        return self.select(self.compare("NE", x, x), self.constant(0, dtype, x.shape), found)


def _is_number(x: Value, n: int) -> bool:
    return x.splat is not None and x.splat == n


def broadcast_shape(a: tuple, b: tuple) -> tuple:
    """Return the shape of an operation on a scalar and a tensor, or on tensors of one rank."""
    if a == b or not b:
        return a
    if not a:
        return b
    return tuple([max(m, n) for m, n in zip(a, b, strict=True)])


def module_text(name: str, args: Sequence[Value], lines: Sequence[str]) -> str:
    """Return the text of a module of one function, whose arguments are pointers."""
    types = ", ".join([a.type for a in args])
    attributes = ", ".join(["{tt.divisibility = 32 : i32}"] * len(args))
    head = ", ".join([f"{a.name}: {a.type}" for a in args])
    body = "\n".join(lines)
    return (
        f"module @{name} {{\n"
        f'  "tt.func"() <{{arg_attrs = [{attributes}], function_type = ({types}) -> (), '
        f'sym_name = {quote(name)}, sym_visibility = "public"}}> ({{\n'
        f"  ^bb0({head}):\n{body}\n"
        '    "tt.return"() : () -> ()\n  }) : () -> ()\n}\n'
    )
