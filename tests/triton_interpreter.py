"""Run Triton IR on NumPy arrays, program by program: an independent reading of what kernels were lowered to.

Pointers are integers: the number of a buffer, and the position of an element in it. Each access is checked.
"""

from __future__ import annotations

import itertools
import math
import re

import ml_dtypes
import numpy as np
import scipy.special

from sagax._src.xla import triton
from sagax.experimental.pallas._memory import filler

_SHIFT = 40  # of the number of the buffer in a pointer
_NAMES = {
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def dtype_of(text):
    """Return the dtype of an element type, or of the last one in the text of a type."""
    name = re.sub(r"[<>]", "", text).rpartition("!tt.ptr")[2] if "!tt.ptr" in text else text
    name = name.rpartition("x")[2] if "tensor" in name else name
    name = name.strip("<>")
    return np.dtype(
        _NAMES[name] if name in _NAMES else f"{'float' if name[0] == 'f' else 'int'}{name[1:]}"
    )


def shape_of(text):
    found = re.match(r"tensor<((?:\d+x)+)", text)
    return tuple(map(int, found[1].strip("x").split("x"))) if found else ()


def is_pointer(text):
    return "!tt.ptr" in text


def _unsigned(x):
    return (
        np.asarray(x).view(f"u{np.asarray(x).dtype.itemsize}")
        if np.asarray(x).dtype != bool
        else np.asarray(x)
    )


def _on_unsigned(f):
    def run(x, y):
        x, y = np.asarray(x), np.asarray(y)
        return (
            np.asarray(f(_unsigned(x), _unsigned(y)))
            .astype(f"u{x.dtype.itemsize}" if x.dtype != bool else bool)
            .view(x.dtype)
        )

    return run


def _wide(f):
    def run(*xs):
        xs = [np.asarray(x) for x in xs]
        if xs[0].dtype.itemsize < 4:
            return np.asarray(f(*[x.astype(np.float32) for x in xs])).astype(xs[0].dtype)
        return f(*xs)

    return run


_BINARY = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.addf": _wide(np.add),
    "arith.subf": _wide(np.subtract), "arith.mulf": _wide(np.multiply), "arith.divf": _wide(np.divide),
    "arith.divui": _on_unsigned(np.floor_divide), "arith.remui": _on_unsigned(np.remainder),
    "arith.divsi": lambda x, y: np.trunc(np.asarray(x) / np.asarray(y)).astype(np.asarray(x).dtype),
    "arith.remsi": np.fmod, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.maximumf": _wide(np.maximum), "arith.minimumf": _wide(np.minimum), "arith.maxnumf": _wide(np.fmax), "arith.minnumf": _wide(np.fmin),
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum,
    "arith.maxui": _on_unsigned(np.maximum), "arith.minui": _on_unsigned(np.minimum), "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift, "arith.shrui": _on_unsigned(np.right_shift),
}  # fmt: skip
_CMPI = {
    0: np.equal,
    1: np.not_equal,
    2: np.less,
    3: np.less_equal,
    4: np.greater,
    5: np.greater_equal,
}
_CMPF = {
    1: np.equal,
    2: np.greater,
    3: np.greater_equal,
    4: np.less,
    5: np.less_equal,
    13: np.not_equal,
}
_LIBDEVICE = {
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "rsqrt": lambda x: 1 / np.sqrt(x), "fabs": np.abs, "pow": np.power,
    "erf": scipy.special.erf, "erfc": scipy.special.erfc, "erfinv": scipy.special.erfinv, "lgamma": scipy.special.gammaln,
    "popc": lambda x: np.bitwise_count(_unsigned(x)), "clz": lambda x: 32 - np.vectorize(int.bit_length)(_unsigned(x).astype(object)),
    "cyl_bessel_i0": scipy.special.i0, "cyl_bessel_i1": scipy.special.i1, "fmod": np.fmod, "rint": np.rint,
    "round": lambda x: np.trunc(x + np.copysign(np.asarray(0.5, x.dtype), x)),
}  # fmt: skip


class Interpreter:
    """Run the kernel of a module, text or bytecode."""

    def __init__(self, module):
        self.module = triton.parse(module)
        (self.function,) = self.module.body.operations
        self.printed = []

    def run(self, grid, operands, outputs, aliases=(), order=None):
        """Run all programs, in a random order unless one is given; return the outputs.

        `outputs` holds (shape, dtype) of each; `aliases` pairs of an operand and the output that shares its memory.
        """
        buffers = [np.array(x).reshape(-1) for x in operands]
        made = []
        starts = {o: i for i, o in aliases}
        for k, (shape, dtype) in enumerate(outputs):
            if k in starts:
                made.append(buffers[starts[k]])
            else:
                made.append(np.full(math.prod(shape), filler(np.dtype(dtype)), dtype))
        self.buffers = [b.view(np.int8) if b.dtype == bool else b for b in (*buffers, *made)]
        block = self.function.regions[0].blocks[0]
        programs = list(itertools.product(*map(range, grid)))
        if order is None:
            np.random.default_rng(len(programs)).shuffle(programs)
        for self.program in programs:
            env = {a.get_name(): np.int64(i) << _SHIFT for i, a in enumerate(block.arguments)}
            with np.errstate(all="ignore"):
                self.block(block, env)
        return [b.reshape(s).view(np.dtype(d)) for b, (s, d) in zip(made, outputs, strict=True)]

    def block(self, block, env):
        """Run a block; return the operands of its terminator."""
        for op in block.operations:
            name = op.operation.name
            ins = [env[v.get_name()] for v in op.operands]
            if name in (
                "tt.return",
                "scf.yield",
                "scf.condition",
                "tt.reduce.return",
                "tt.scan.return",
            ):
                return ins
            types = [str(r.type) for r in op.results]
            outs = self.apply(name, op, ins, types, env)
            for r, x, t in zip(op.results, outs, types, strict=True):
                shape = shape_of(t)
                x = np.asarray(x)
                want = np.dtype(np.int64) if is_pointer(t) else dtype_of(t)
                assert x.dtype == want, (name, x.dtype, t)
                assert shape == x.shape or self.folding or x.shape == (), (name, x.shape, t)
                env[r.get_name()] = x
        raise AssertionError("a block without an end")

    folding = 0

    def region(self, op, index, env, args):
        block = op.regions[index].blocks[0]
        inner = dict(env)
        inner.update(zip([a.get_name() for a in block.arguments], args, strict=True))
        return self.block(block, inner)

    def number(self, op, key):
        return int(re.match(r"-?\d+", str(op.attributes[key]))[0])

    def apply(self, name, op, ins, types, env):
        if name in _BINARY:
            return [np.asarray(_BINARY[name](*ins)).astype(np.asarray(ins[0]).dtype)]
        if name == "arith.constant":
            return [self.constant(op, types[0])]
        if name in ("arith.cmpi", "arith.cmpf"):
            k = self.number(op, "predicate")
            if name == "arith.cmpf":
                return [_CMPF[k](*ins)]
            return [_CMPI[k](*ins) if k < 6 else _CMPI[k - 4](*map(_unsigned, ins))]
        if name == "arith.select":
            return [np.where(ins[0], ins[1], ins[2])]
        if name == "arith.negf":
            return [-ins[0]]
        if name in ("arith.extui", "arith.uitofp"):
            return [_unsigned(ins[0]).astype(dtype_of(types[0]))]
        if name == "arith.fptoui":
            d = dtype_of(types[0])
            return [np.asarray(ins[0]).astype(f"u{d.itemsize}").view(d)]
        if name in (
            "arith.extsi",
            "arith.trunci",
            "arith.sitofp",
            "arith.fptosi",
            "arith.extf",
            "arith.truncf",
            "tt.fp_to_fp",
        ):
            return [np.asarray(ins[0]).astype(dtype_of(types[0]))]
        if name == "tt.extern_elementwise":
            symbol = str(op.attributes["symbol"]).strip('"').removeprefix("__nv_")
            known = (
                symbol if symbol in _LIBDEVICE or hasattr(np, symbol) else symbol.removesuffix("f")
            )
            return [
                np.asarray((_LIBDEVICE.get(known) or getattr(np, known))(*ins)).astype(
                    dtype_of(types[0])
                )
            ]
        if name == "tt.elementwise_inline_asm":
            assert "tanh.approx" in str(op.attributes["asm_string"])
            return [_wide(np.tanh)(ins[0])]
        return getattr(self, "_" + name.replace(".", "_"))(op, ins, types, env)

    def constant(self, op, kind):
        text = str(op.attributes["value"])
        dtype = dtype_of(kind)
        number = re.sub(r"dense<(.*)> : .*", r"\1", text).split(" : ")[0]
        if number in ("true", "false"):
            x = np.asarray(number == "true")
        elif number.startswith("0x") and dtype.kind in "fV":
            x = np.asarray(int(number, 16), f"u{dtype.itemsize}").view(dtype)
        else:
            x = np.asarray(float(number) if dtype.kind in "fV" else int(number)).astype(dtype)
        return np.broadcast_to(x, shape_of(kind))

    def _tt_get_program_id(self, op, ins, types, env):
        return [np.int32(self.program[self.number(op, "axis")])]

    def _tt_make_range(self, op, ins, types, env):
        return [np.arange(self.number(op, "start"), self.number(op, "end"), dtype=np.int32)]

    def _tt_splat(self, op, ins, types, env):
        return [np.broadcast_to(ins[0], shape_of(types[0]))]

    _tt_broadcast = _tt_splat

    def _tt_unsplat(self, op, ins, types, env):
        return [np.asarray(ins[0]).reshape(())]

    def _tt_reshape(self, op, ins, types, env):
        return [np.reshape(ins[0], shape_of(types[0]))]

    _tt_expand_dims = _tt_reshape

    def _tt_trans(self, op, ins, types, env):
        order = list(map(int, re.findall(r"\d+", str(op.attributes["order"]).partition(":")[2])))
        return [np.transpose(ins[0], order)]

    def _tt_join(self, op, ins, types, env):
        return [np.stack(ins, -1)]

    def _tt_gather(self, op, ins, types, env):
        axis = self.number(op, "axis")
        assert (ins[1] >= 0).all() and (ins[1] < ins[0].shape[axis]).all(), "gather out of bounds"
        return [np.take_along_axis(ins[0], ins[1], axis)]

    def _tt_dot(self, op, ins, types, env):
        x, y, total = ins
        assert min(*x.shape, *y.shape) >= 16, "a matrix that tensor cores do not multiply"
        wide = total.dtype
        return [(x.astype(wide) @ y.astype(wide) + total).astype(wide)]

    def _tt_addptr(self, op, ins, types, env):
        return [np.asarray(ins[0] + np.asarray(ins[1]).astype(np.int64))]

    def _tt_bitcast(self, op, ins, types, env):
        return [ins[0] if is_pointer(types[0]) else np.asarray(ins[0]).view(dtype_of(types[0]))]

    def _at(self, pointers, mask, dtype):
        """Return the buffer that pointers lead to, as `dtype`, and the positions of unmasked elements."""
        pointers = np.asarray(pointers)
        mask = np.broadcast_to(np.asarray(True if mask is None else mask), pointers.shape)
        chosen = pointers[mask]
        if not chosen.size:
            return None, chosen, mask
        numbers = np.unique(chosen >> _SHIFT)
        assert numbers.size == 1, "pointers into several buffers"
        buffer = self.buffers[int(numbers[0])].view(dtype)
        at = chosen & ((1 << _SHIFT) - 1)
        assert (at < buffer.size).all(), f"access out of bounds: {at.max()} of {buffer.size}"
        return buffer, at, mask

    def _tt_load(self, op, ins, types, env):
        pointers, mask, other = (*ins, None, None)[:3]
        dtype = dtype_of(types[0])
        buffer, at, mask = self._at(pointers, mask, dtype)
        found = np.array(
            np.broadcast_to(np.asarray(0 if other is None else other).astype(dtype), mask.shape)
        )
        if buffer is not None:
            found[mask] = buffer[at]
        return [found]

    def _tt_store(self, op, ins, types, env):
        pointers, value, mask = (*ins, None)[:3]
        buffer, at, mask = self._at(pointers, mask, np.asarray(value).dtype)
        if buffer is not None:
            buffer[at] = np.broadcast_to(value, mask.shape)[mask]
        return []

    def _tt_atomic_rmw(self, op, ins, types, env):
        pointers, value, mask = (*ins, None)[:3]
        kind = self.number(op, "atomic_rmw_op")
        buffer, at, mask = self._at(pointers, mask, np.asarray(value).dtype)
        found = np.zeros(mask.shape, np.asarray(value).dtype)
        combine = {
            1: np.bitwise_and, 2: np.bitwise_or, 3: np.bitwise_xor, 4: np.add, 5: np.add, 6: np.maximum, 7: np.minimum,
            8: _on_unsigned(np.maximum), 9: _on_unsigned(np.minimum), 10: lambda a, b: b,
        }[kind]  # fmt: skip
        given = np.broadcast_to(value, mask.shape)[mask]
        before = []
        for k, x in zip(at, given, strict=True):
            before.append(buffer[k])
            buffer[k] = combine(buffer[k], x)
        found[mask] = before
        return [found]

    def _tt_atomic_cas(self, op, ins, types, env):
        buffer, at, _ = self._at(ins[0], None, np.asarray(ins[2]).dtype)
        before = buffer[at[0]].copy()
        if before == np.asarray(ins[1]):
            buffer[at[0]] = np.asarray(ins[2])
        return [before]

    def _gpu_barrier(self, op, ins, types, env):
        return []

    def _tt_print(self, op, ins, types, env):
        self.printed.append((str(op.attributes["prefix"]).strip('"'), ins))
        return []

    def _tt_reduce(self, op, ins, types, env):
        axis = self.number(op, "axis")
        rows = [np.moveaxis(x, axis, 0) for x in ins]
        self.folding += 1
        carry = [r[0] for r in rows]
        for i in range(1, len(rows[0])):
            carry = self.region(op, 0, env, [*carry, *[r[i] for r in rows]])
        self.folding -= 1
        return carry

    def _tt_scan(self, op, ins, types, env):
        axis, reverse = self.number(op, "axis"), str(op.attributes["reverse"]) == "true"
        rows = [np.moveaxis(x, axis, 0)[:: -1 if reverse else 1] for x in ins]
        self.folding += 1
        carry = [r[0] for r in rows]
        found = [carry]
        for i in range(1, len(rows[0])):
            carry = self.region(op, 0, env, [*carry, *[r[i] for r in rows]])
            found.append(carry)
        self.folding -= 1
        stacked = [
            np.stack([f[k] for f in found])[:: -1 if reverse else 1] for k in range(len(ins))
        ]
        return [np.moveaxis(x, 0, axis) for x in stacked]

    def _scf_for(self, op, ins, types, env):
        start, stop, step, *carry = ins
        for i in range(int(start), int(stop), int(step)):
            carry = self.region(op, 0, env, [start.dtype.type(i), *carry])
        return carry

    def _scf_while(self, op, ins, types, env):
        carry = ins
        while True:
            go, *carry = self.region(op, 0, env, carry)
            if not go:
                return carry
            carry = self.region(op, 1, env, carry)

    def _scf_if(self, op, ins, types, env):
        index = 0 if bool(ins[0]) else 1
        return self.region(op, index, env, []) if len(op.regions[index].blocks) else []
