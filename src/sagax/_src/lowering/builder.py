"""Build StableHLO text. Lowering rules call the builder; nothing else writes MLIR.

`b.op("sine", [x], out_aval)` appends an operation in generic form and returns its value. Attributes are
keyword arguments holding MLIR text. Rules find their result type in `b.out` (a list in `b.outs`).
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning, xla
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.jaxpr import Eqn, Jaxpr, Literal, Var
from sagax._src.core.staging import stage
from sagax._src.lowering.folded_extrema import folded
from sagax._src.lowering.sharding_constraints import constrained, is_sum
from sagax._src.lowering.templates import signature, template
from sagax._src.lowering.text import (
    attribute_text,
    dense,
    element_type,
    physical,
    quote,
    scalar_text,
    tensor_type,
    type_text,
)
from sagax._src.source_stacks import split_metadata

_BOOL = np.dtype(bool)
_I32 = np.dtype(np.int32)


def _dictionary(attributes: Mapping[str, str]) -> str:
    """Write a dictionary attribute; names and values are quoted."""
    return f"{{{', '.join([f'{k} = {v}' for k, v in attributes.items()])}}}"


class Value:
    """An SSA value: its name, its aval and its MLIR type.

    `splat` is the scalar that every element of a constant equals, and `bits` its bytes.
    """

    __slots__ = ("aval", "bits", "name", "splat", "type")

    def __init__(self, name: str, aval: Any, spelled: str | None = None, splat: Any = None) -> None:
        self.name = name
        self.aval = aval
        self.type = type_text(aval) if spelled is None else spelled
        self.splat = splat
        self.bits: bytes | None = None

    def with_weakness(self, aval: Any) -> Value:
        """Return the value with an aval of the same type that differs in weakness."""
        found = Value(self.name, aval, self.type, self.splat)
        found.bits = self.bits
        return found

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)


# dtypes whose NaNs XLA may lose in maxima and minima
_LOSE_NANS = (np.dtype(np.float32), np.dtype(np.float64))


class Builder:
    """Write the body of one function (and, through `module`, the functions it calls)."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.lines: list[str] = []
        self.depth = 2
        self.pad = "  " * self.depth
        self.types: dict[Any, str] = module.types
        self.counter = 0
        self.location = ""
        self.outs: Sequence[Any] = ()
        self.constants: dict[Any, Value] = {}
        self.constant_keys: dict[str, Any] = {}  # the template keys of these values, by name
        self.literals: dict[Any, Any] = {}
        self.dim_values: dict[Any, Value] = {}
        self.shape_values: dict[tuple, Value] = {}
        # exact: each operation rounds separately; no rewrites across its results
        self.exact = False
        self.exact_around = False  # the same, for the jaxpr of the operation being lowered
        # attributes for XLA of the operations being lowered: names and values, quoted
        self.marks: dict[str, str] = {}

    # -- operations ---------------------------------------------------------------------------------

    @property
    def out(self) -> Any:
        """Return the aval of the (single) result of the equation being lowered."""
        return self.outs[0]

    def fresh(self) -> str:
        self.counter += 1
        return f"%{self.counter}"

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        out: Any,
        /,
        *,
        regions: Sequence[str] = (),
        **attributes: str,
    ) -> Any:
        """Append an operation; return its result, or a list of them if `out` is a list of avals.

        `name` without a dot is in the stablehlo dialect.
        """
        if len(operands) == 2:  # the common case
            x, y = operands
            ins, in_types = f"{x.name}, {y.name}", f"{x.type}, {y.type}"
        else:
            ins = ", ".join([x.name for x in operands])
            in_types = ", ".join([x.type for x in operands])
        between = f" ({', '.join(regions)})" if regions else ""
        if self.marks and name != "constant":
            attributes.setdefault("mhlo__frontend_attributes", _dictionary(self.marks))
        if attributes:
            pairs = [f"{_name(k)} = {v}" if v else k for k, v in attributes.items()]
            between += f" {{{', '.join(pairs)}}}"
        dialect = "" if "." in name else "stablehlo."
        self.counter += 1
        first = f"%{self.counter}"
        several = type(out) is list or isinstance(out, tuple)
        types = [self.spell(a) for a in out] if several else [self.spell(out)]
        if len(types) == 1:
            bind, result = f"{first} = ", types[0]
        else:
            bind = f"{first}:{len(types)} = " if types else ""
            result = f"({', '.join(types)})"
        self.lines.append(
            f'{self.pad}{bind}"{dialect}{name}"({ins}){between} : ({in_types}) -> {result}{self.location}'
        )
        if not several:
            return Value(first, out, result)
        if len(types) == 1:
            return [Value(first, out[0], result)]
        return [Value(f"{first}#{i}", a, t) for i, (a, t) in enumerate(zip(out, types))]

    @staticmethod
    def spell_dtype(dtype: Any) -> str:
        """Return the MLIR name of an element type."""
        return element_type(dtype)

    def spell(self, aval: Any) -> str:
        """Return the MLIR type of an aval."""
        known = self.types.get(aval)
        if known is None:
            known = self.types[aval] = type_text(aval)
        return known

    def elementwise(
        self, name: str, operands: Sequence[Value], out: Any = None, **attributes: str
    ) -> Value:
        """Append an elementwise operation, its operands broadcast to the shape of the result."""
        if out is None:
            out = self.outs[0]
        shape = out.shape
        stretched = [x if x.aval.shape is shape else self.stretch(x, shape) for x in operands]
        return self.op(name, stretched, out, **attributes)

    def stretch(self, x: Value, shape: tuple) -> Value:
        """Broadcast `x` (a scalar, or of the same rank with sizes 1) to `shape`."""
        if dims.same_shape(x.aval.shape, shape):
            return x
        if x.splat is not None and dims.is_static(shape):
            return self._splat(x.splat, x.bits, shape)
        return self.broadcast_in_dim(x, shape, tuple(range(x.aval.ndim)))

    # -- constants ----------------------------------------------------------------------------------

    def constant(self, value: Any, dtype: Any = None) -> Value:
        """Append a constant: a scalar or (small) array of `dtype` (default: its own)."""
        x = np.asarray(value, dtype)
        if x.ndim == 0:
            return self._splat(x[()], x.tobytes(), ())
        key = (x.dtype, x.shape, x.tobytes())
        return self._constant(key, x.dtype, x.shape, lambda: dense(x))

    def _splat(self, scalar: Any, bits: bytes | None, shape: tuple) -> Value:
        """Append a constant whose every element is the NumPy scalar `scalar`, with these bytes."""
        key = (scalar.dtype, shape, bits)
        found = self.constants.get(key)
        if found is None:
            text = f"dense<{scalar_text(scalar)}>"
            found = self._constant(key, scalar.dtype, shape, lambda: text)
            found.splat, found.bits = scalar, bits
        return found

    def _constant(self, key: tuple, dtype: Any, shape: tuple, text: Callable[[], str]) -> Value:
        found = self.constants.get(key)
        if found is None:
            aval = intern_aval(shape, dtype, False, None)
            if 0 in shape:
                body = "dense<>"
            else:
                body = text()
            found = self.op("constant", [], aval, value=f"{body} : {tensor_type(shape, dtype)}")
            # a region uses a copy: its constants are not visible outside
            self.constants[key] = found
            self.constant_keys[found.name] = key
        return found

    def full(self, value: Any, aval: Any) -> Value:
        """Append an array of type `aval` filled with the scalar `value`."""
        return self.stretch(self.constant(value, aval.dtype), aval.shape)

    def full_like(self, x: Value, value: Any) -> Value:
        return self.full(value, x.aval)

    # -- shapes, static or symbolic -------------------------------------------------------------------

    def dim(self, size: Any) -> Value:
        """Return a size as a scalar int32 value; symbolic ones are computed from the arguments' shapes."""
        if not dims.is_dim(size):
            return self.constant(size, _I32)
        found = self.dim_values.get(size)
        if found is None:
            found = self.dim_values[size] = self.module.dim_value(self, size)
        return found

    def shape_value(self, shape: tuple) -> Value:
        """Return a shape as a rank-1 int32 value."""
        found = self.shape_values.get(shape)
        if found is None:
            found = self.shape_values[shape] = self._shape_value(shape)
        return found

    def _shape_value(self, shape: tuple) -> Value:
        one = intern_aval((1,), _I32, False, None)
        parts = [self.op("reshape", [self.dim(s)], one) for s in shape]
        whole = intern_aval((len(shape),), _I32, False, None)
        if not parts:
            return self.op("constant", [], whole, value="dense<> : tensor<0xi32>")
        return self.op("concatenate", parts, whole, dimension="0 : i64")

    def broadcast_in_dim(self, x: Value, shape: tuple, mapping: Sequence[int]) -> Value:
        stored = physical(x.aval)
        extra = stored.shape[x.aval.ndim :]
        out = intern_aval(shape, x.aval.dtype, x.aval.weak_type, None)
        full_shape = (*shape, *extra)
        mapping = (*mapping, *range(len(shape), len(full_shape)))
        if dims.is_static(full_shape):
            return self.op("broadcast_in_dim", [x], out, broadcast_dimensions=self.ints(mapping))
        return self.op(
            "dynamic_broadcast_in_dim",
            [x, self.shape_value(full_shape)],
            out,
            broadcast_dimensions=self.ints(mapping),
        )

    def reshape(self, x: Value, shape: tuple) -> Value:
        out = intern_aval(shape, x.aval.dtype, x.aval.weak_type, None)
        full_shape = physical(out).shape
        if dims.is_static(full_shape):
            return self.op("reshape", [x], out)
        return self.op("dynamic_reshape", [x, self.shape_value(full_shape)], out)

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        out = x.aval.update(shape=tuple(x.aval.shape[p] for p in permutation))
        full = (*permutation, *range(x.aval.ndim, physical(x.aval).ndim))
        return self.op("transpose", [x], out, permutation=self.ints(full))

    def iota(self, aval: Any, dimension: int) -> Value:
        text = f"{dimension} : i64"
        if dims.is_static(aval.shape):
            return self.op("iota", [], aval, iota_dimension=text)
        return self.op("dynamic_iota", [self.shape_value(aval.shape)], aval, iota_dimension=text)

    def slice(
        self,
        x: Value,
        start: Sequence[Any],
        limit: Sequence[Any],
        strides: Sequence[Any] | None = None,
    ) -> Value:
        """Slice `x` from `start` to `limit` by `strides`; any of them may be symbolic."""
        strides = (1,) * len(start) if strides is None else strides
        shape = tuple(
            [dims.slice_size(lo, hi, st) for lo, hi, st in zip(start, limit, strides, strict=True)]
        )
        out = intern_aval(shape, x.aval.dtype, x.aval.weak_type, None)
        extra = physical(x.aval).shape[x.aval.ndim :]
        start, limit, strides = (
            (*start, *(0 for _ in extra)),
            (*limit, *extra),
            (*strides, *(1 for _ in extra)),
        )
        if dims.is_static(start) and dims.is_static(limit) and dims.is_static(strides):
            return self.op(
                "slice",
                [x],
                out,
                start_indices=self.ints(start),
                limit_indices=self.ints(limit),
                strides=self.ints(strides),
            )
        return self.op(
            "real_dynamic_slice", [x, *(self.shape_value(s) for s in (start, limit, strides))], out
        )

    @staticmethod
    def physical(aval: Any) -> Any:
        """Return the type in which a value is stored: extended dtypes add dimensions."""
        return physical(aval)

    def padded(
        self,
        x: Value,
        value: Value,
        low: Sequence[Any],
        high: Sequence[Any],
        interior: Sequence[Any] | None = None,
    ) -> Value:
        """Pad `x` with `value` before, after and between its elements; negative amounts crop."""
        interior = (0,) * len(low) if interior is None else interior
        shape = tuple(
            [
                lo + hi + dims.dilate_dim(size, between + 1)
                for size, lo, hi, between in zip(x.aval.shape, low, high, interior, strict=True)
            ]
        )
        out = intern_aval(shape, x.aval.dtype, x.aval.weak_type, None)
        if dims.is_static((*low, *high, *interior)):
            return self.op(
                "pad",
                [x, value],
                out,
                edge_padding_low=self.ints(low),
                edge_padding_high=self.ints(high),
                interior_padding=self.ints(interior),
            )
        amounts = [self.shape_value(tuple(p)) for p in (low, high, interior)]
        return self.op("dynamic_pad", [x, value, *amounts], out)

    def concatenate(self, xs: Sequence[Value], dimension: int) -> Value:
        size = xs[0].aval.shape[dimension]
        for x in xs[1:]:
            size = size + x.aval.shape[dimension]
        shape = (*xs[0].aval.shape[:dimension], size, *xs[0].aval.shape[dimension + 1 :])
        return self.op(
            "concatenate", xs, xs[0].aval.update(shape=shape), dimension=f"{dimension} : i64"
        )

    def view(self, x: Value, aval: Any) -> Value:
        """Reinterpret `x` as a value of another type with the same storage: keys as their numbers."""
        return Value(x.name, aval)

    # -- elements -----------------------------------------------------------------------------------

    def convert(self, x: Value, dtype: Any) -> Value:
        """Convert the elements of `x`; to boolean by comparison with zero."""
        if x.aval.dtype == dtype:
            return x
        out = intern_aval(x.aval.shape, dtype, False, None)
        if dtype == _BOOL:
            return self.compare("NE", x, self.full_like(x, 0))
        if dtype_predicates.is_complex(x.aval.dtype) and not dtype_predicates.is_complex(dtype):
            x = self.op(
                "real", [x], x.aval.with_dtype(dtype_predicates.real_part_dtype(x.aval.dtype))
            )
        return self.op("convert", [x], out)

    def compare(self, direction: str, x: Value, y: Value, *, total_order: bool = False) -> Value:
        """Compare values of one type elementwise: EQ NE LT LE GT GE."""
        kind = dtypes.kind(x.aval.dtype)
        how = "FLOAT" if kind in "fc" else "SIGNED" if kind == "i" else "UNSIGNED"
        if total_order and kind == "f":
            how = "TOTALORDER"
        out = intern_aval(x.aval.shape, _BOOL, False, None)
        return self.op(
            "compare",
            [x, y],
            out,
            comparison_direction=f"#stablehlo<comparison_direction {direction}>",
            compare_type=f"#stablehlo<comparison_type {how}>",
        )

    def select(self, which: Value, on_true: Value, on_false: Value) -> Value:
        return self.op("select", [which, on_true, on_false], on_true.aval)

    # -- regions and calls ----------------------------------------------------------------------------

    def region(
        self,
        arg_avals: Sequence[Any],
        body: Callable[..., Sequence[Value]],
        *,
        terminator: str = "return",
    ) -> str:
        """Return the text of a region; `body` gets its arguments as values and returns its results."""
        saved_lines, self.lines = self.lines, []
        # outer values are visible inside, inner ones are not visible outside: they are the last that were added
        known = [(d, len(d)) for d in (self.constants, self.dim_values, self.shape_values)]
        self.depth += 2
        self.pad = "  " * self.depth
        args = [Value(self.fresh().replace("%", "%a"), a) for a in arg_avals]
        results = body(*args)
        pad = "  " * self.depth
        ins = ", ".join(r.name for r in results)
        types = ", ".join(type_text(r.aval) for r in results)
        name = terminator if "." in terminator else "stablehlo." + terminator
        self.lines.append(f'{pad}"{name}"({ins}) : ({types}) -> ()')
        head = ", ".join(f"{a.name}: {type_text(a.aval)}" for a in args)
        outer = "  " * (self.depth - 1)
        label = f"{outer}^bb0({head}):\n" if args else ""
        text = "{\n" + label + "\n".join(self.lines) + "\n" + "  " * (self.depth - 2) + "}"
        self.depth -= 2
        self.pad = "  " * self.depth
        self.lines = saved_lines
        for values, count in known:
            while len(values) > count:
                values.popitem()
        return text

    def while_loop(
        self,
        init: Sequence[Value],
        condition: Callable[..., Value],
        body: Callable[..., Sequence[Value]],
    ) -> list[Value]:
        """Append a while loop; return its final state. `body` computes the next state while `condition` holds."""
        avals = [x.aval for x in init]
        regions = [
            self.region(avals, lambda *xs: [condition(*xs)]),
            self.region(avals, body),
        ]
        return self.op("while", init, avals, regions=regions)

    def region_of(self, jaxpr: Jaxpr, arg_avals: Sequence[Any] | None = None) -> str:
        """Return a region that evaluates a jaxpr without constvars."""
        return self.region(
            jaxpr.in_avals if arg_avals is None else arg_avals, lambda *xs: self.inline(jaxpr, xs)
        )

    def reduce(self, combine: str, x: Value, init: Any, axes: Sequence[int]) -> Value:
        """Reduce `x` over `axes` with a binary operation and its neutral element."""
        scalar = intern_aval((), x.aval.dtype, False, None)
        body = self.region([scalar, scalar], lambda p, q: [self.op(combine, [p, q], scalar)])
        shape = tuple(s for i, s in enumerate(x.aval.shape) if i not in axes)
        return self.op(
            "reduce",
            [x, self.constant(init, x.aval.dtype)],
            x.aval.update(shape=shape),
            regions=[body],
            dimensions=self.ints(axes),
        )

    def _may_lose_nans(self, aval: Any) -> bool:
        """Return whether XLA's extrema of such values may take a number where an operand is NaN."""
        if self.module.platform != "cpu" or not xla.loses_nans or aval.dtype not in _LOSE_NANS:
            return False
        return not dims.is_static(aval.shape) or aval.size >= tuning.LEAST_SIZE_THAT_LOSES_NAN

    def extremum(self, combine: str, x: Value, y: Value) -> Value:
        """Return the "maximum" or "minimum" of `x` and `y`, elementwise; NaN if either is.

        Where a reduction would lose NaNs of an extremum that XLA fuses into it, a choice stands between them,
        which is not fused so; nor is a clamp, which one constant operand allows.
        """
        if not self._may_lose_nans(self.outs[0]):
            return self.elementwise(combine, [x, y])
        for bound, other in ((x, y), (y, x)):
            if bound.splat is not None and not np.isnan(bound.splat):
                return self._clamped(combine, other, bound)
        found = self.elementwise(combine, [x, y])
        return self.select(self.compare("NE", found, found), self.full(np.nan, found.aval), found)

    def _clamped(self, combine: str, x: Value, bound: Value) -> Value:
        none = self.full(np.inf if combine == "maximum" else -np.inf, self.outs[0])
        bounds = [bound, none] if combine == "maximum" else [none, bound]
        return self.elementwise("clamp", [bounds[0], x, bounds[1]])

    def reduce_extremum(self, combine: str, x: Value, init: Any, axes: Sequence[int]) -> Value:
        """Reduce `x` to maxima or minima, which are NaN where an element is.

        Where XLA loses NaNs, a sum of squares tells of them: it may be infinite, and is NaN if and only if an
        element is. Large arrays are made small before (lowering/folded_extrema.py).
        """
        if (
            axes
            and self.may_rewrite
            and self._may_lose_nans(x.aval)
            and dims.is_static(x.aval.shape)
        ):
            x, axes = folded(self, combine, x, axes) or (x, axes)
        found = self.reduce(combine, x, init, axes)
        if not self._may_lose_nans(x.aval):
            return found
        total = self.reduce("add", self.op("multiply", [x, x], x.aval), 0, axes)
        return self.select(self.compare("NE", total, total), self.full(np.nan, found.aval), found)

    @property
    def may_rewrite(self) -> bool:
        """Return whether an operation may become others that XLA's CPU code is faster at.

        Not where operations within operations round separately, and not where XLA partitions them over devices.
        `jit(exact=True)` computes what the operation by itself does, which is rewritten.
        """
        module = self.module
        return module.platform == "cpu" and not module.exact_inside and not module.devices

    def inline(
        self, jaxpr: Jaxpr, args: Sequence[Value], consts: Sequence[Value] = ()
    ) -> list[Value]:
        """Append the equations of a jaxpr; return the values of its outputs."""
        env: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        for v in jaxpr.invars:  # the compiler keeps sums apart between constraints only
            if is_sum(v.aval):
                env[v] = constrained(self, env[v], v.aval.explicit_sharding)
        outer_location, outer_outs = self.location, self.outs
        exact, around = self.exact, self.exact_around
        templates_allowed = not (
            exact or self.dim_values or self.module.devices or self.module.manual
        )
        for eqn in jaxpr.eqns:
            ins = [env[v] if type(v) is Var else self.atom(env, v) for v in eqn.invars]
            self.location = self.module.location_of(eqn)
            self.outs = [v.aval for v in eqn.outvars]
            if exact and ins:
                # also for constants: XLA must not fuse over the operands of an operation, or share its
                # computation with another one
                ins = self.op("optimization_barrier", ins, [x.aval for x in ins])
                self.exact = self.module.exact_inside
            self.exact_around = exact
            primitive = eqn.primitive
            marks = self.marks
            if "{" in eqn.scope:
                self.marks = marks | split_metadata(eqn.scope)[1]
            if (
                templates_allowed
                and not self.marks
                and not (primitive.is_higher_order or eqn.effects)
            ):
                results = self.apply_as_before(eqn, ins)
            else:
                results = self.apply(primitive, ins, eqn.params)
                if not primitive.multiple_results:
                    results = [results]
            self.exact, self.exact_around, self.marks = exact, around, marks
            for v, r in zip(eqn.outvars, results, strict=True):
                if v.aval.explicit_sharding is not None and (
                    not eqn.primitive.is_higher_order or is_sum(v.aval)
                ):
                    r = constrained(self, r, v.aval.explicit_sharding)
                # rules may be careless about weak types, not about types
                env[v] = r if r.aval is v.aval else r.with_weakness(v.aval)
        self.location, self.outs = outer_location, outer_outs
        return [self.atom(env, v) for v in jaxpr.outvars]

    @contextlib.contextmanager
    def marked(self, marks: Iterable[tuple[str, str]]) -> Iterator[None]:
        """Give operations attributes for XLA in a block."""
        before = self.marks
        self.marks = before | {quote(k): quote(v) for k, v in marks}
        try:
            yield
        finally:
            self.marks = before

    def mark(self, x: Value, marks: Iterable[tuple[str, str]]) -> None:
        """Add attributes for XLA to the operation that computed a value, if it is of this function."""
        text = _dictionary({quote(k): quote(v) for k, v in marks})
        name = re.escape(x.name.partition("#")[0])
        defines = re.compile(rf"\s*{name}(:\d+)? = ")
        for i in range(len(self.lines) - 1, -1, -1):
            if defines.match(self.lines[i]):
                head, _, types = self.lines[i].rpartition(" : (")
                more = f"mhlo.frontend_attributes = {text}"
                head = f"{head[:-1]}, {more}}}" if head.endswith("}") else f"{head} {{{more}}}"
                self.lines[i] = f"{head} : ({types}"
                return

    def atom(self, env: dict, v: Any) -> Value:
        if type(v) is Literal:
            dtype = v.aval.dtype
            key = (v.val, dtype)
            known: Any = self.literals.get(key) if v.val else None  # 0.0 equals -0.0
            if known is None:
                if dtype == dtypes.float0:
                    return self.full(False, v.aval.with_dtype(_BOOL))
                scalar = np.asarray(v.val, dtype)[()]
                known = (scalar, scalar.tobytes(), ())
                if v.val:
                    self.literals[key] = known
            return self._splat(*known)
        return env[v]

    def constrained(self, x: Value, sharding: Any) -> Value:
        """Constrain a value to the sharding."""
        return constrained(self, x, sharding)

    def apply_as_before(self, eqn: Eqn, operands: Sequence[Value]) -> Sequence[Value]:
        """Return the results of `apply`; if an equal signature was lowered twice before, from its template."""
        outs, known = self.outs, self.module.templates
        names = [x.name for x in operands]
        key = signature(eqn, operands, names, outs, self.depth)
        try:
            found = known.get(key)
            compares = True
        except TypeError:  # an unhashable parameter
            found, compares = None, False
        if found:
            first = found.write(self, names)
            if first:
                return [
                    Value(f"%{first + number}{more}", aval, spelled)
                    for (number, more, spelled), aval in zip(found.results, outs)
                ]
        lines, counter, around = len(self.lines), self.counter, self._around()
        results = self.apply(eqn.primitive, operands, eqn.params)
        if not eqn.primitive.multiple_results:
            results = [results]
        if found is None and compares:
            if key not in known:
                known[key] = None
            elif around == self._around():
                known[key] = template(self, lines, counter, names, results, eqn.params) or False
        return results

    def _around(self) -> tuple[int, ...]:
        """Enter the scopes of an operation that has them, such as exactness or meshes."""
        module = self.module
        return len(self.constants), len(module.functions), len(module.callbacks)

    def apply(self, primitive: Any, operands: Sequence[Value], params: dict) -> Any:
        """Lower one operation: by the primitive's rule, or that of its composite.

        A rule that returns NotImplemented defers to the composite.
        """
        rule = self.module.rule(primitive)
        if rule is not None:
            found = rule(self, *operands, **params)
            if found is not NotImplemented:
                return found
        composite = primitive.composite_rule
        if composite is None:
            return primitive.rule("lower")

        def fun(*xs: Any) -> Sequence[Any]:
            out = composite(*xs, **params)
            return out if primitive.multiple_results else [out]

        outs = self.inline_function(fun, operands)
        return outs if primitive.multiple_results else outs[0]

    def inline_function(
        self, fun: Callable[..., Sequence[Any]], operands: Sequence[Value]
    ) -> list[Value]:
        """Append the equations of a function of arrays that returns a sequence of them."""
        jaxpr, consts = stage(fun, [x.aval for x in operands])
        return self.inline(jaxpr, operands, [self.constant(c) for c in consts])

    def call(self, jaxpr: Jaxpr, args: Sequence[Value], name: str) -> list[Value]:
        """Call the (shared) function of a jaxpr."""
        return self.module.call(self, jaxpr, args, name)

    def call_in_steps(self, jaxpr: Jaxpr, args: Sequence[Value], name: str) -> list[Value]:
        """Call the function of a jaxpr that runs operation by operation outside of tracing."""
        if not self.exact_around:
            return self.call(jaxpr, args, name)
        self.exact, outer = True, self.exact
        found = self.inline(jaxpr, args)
        self.exact = outer
        return found

    def call_text(
        self, functions: xla.mlir.ModuleFunctions, operands: Sequence[Value], outs: Sequence[Any]
    ) -> list[Value]:
        """Call the main function of another module, whose functions are inserted into this one."""
        inputs = [self._retyped(x, t) for x, t in zip(operands, functions.arg_types, strict=True)]
        self.counter += 1
        name, count = f"%{self.counter}", len(functions.result_types)
        bind = f"{name} = " if count == 1 else f"{name}:{count} = " if count else ""
        names = [name] if count == 1 else [f"{name}#{i}" for i in range(count)]
        self.lines.append(
            f'{self.pad}{bind}"func.call"({", ".join(x.name for x in inputs)}) {{callee = @{functions.main}}} : '
            f"({', '.join(functions.arg_types)}) -> ({', '.join(functions.result_types)}){self.location}"
        )
        results = [
            Value(n, a, t) for n, a, t in zip(names, outs, functions.result_types, strict=True)
        ]
        return [self._retyped(x, self.spell(x.aval)) for x in results]

    def _retyped(self, x: Value, type_text: str) -> Value:
        """Return the value with a type whose shape is less or more static."""
        if x.type == type_text:
            return x
        self.counter += 1
        name = f"%{self.counter}"
        self.lines.append(
            f'{self.pad}{name} = "stablehlo.convert"({x.name}) : ({x.type}) -> {type_text}{self.location}'
        )
        return Value(name, x.aval, type_text)

    def custom_call(
        self, target: str, operands: Sequence[Value], outs: Sequence[Any], **attributes: str
    ) -> list[Value]:
        """Append a call of a registered kernel; `attributes` as MLIR text."""
        return self.op(
            "custom_call", operands, list(outs), call_target_name=quote(target), **attributes
        )

    def python_call(
        self,
        target: str,
        function: Callable[..., Any],
        operands: Sequence[Value],
        outs: Sequence[Any],
        **attributes: str,
    ) -> list[Value]:
        """Append a call of a Python function by the engine's target for such calls."""
        index = len(self.module.callbacks)
        self.module.callbacks.append((function, [(a.shape, a.dtype) for a in map(physical, outs)]))
        return self.custom_call(
            target,
            operands,
            outs,
            api_version="4 : i32",
            backend_config=f"{{index = {index} : ui64}}",
            **attributes,
        )

    def callback(
        self,
        function: Callable[..., tuple],
        operands: Sequence[Value],
        outs: Sequence[Any],
        *,
        has_side_effect: bool,
        partitioned: bool = False,
    ) -> list[Value]:
        """Append a call of a Python function of NumPy arrays, which returns a tuple of those.

        With `partitioned`, each of several devices makes the call with its shards.
        """
        platform = "cpu" if self.module.platform == "cpu" else "gpu"
        kind, extra = f"python_{platform}", {}
        if has_side_effect and len(self.module.devices) > 1 and self.module.manual is None:
            if partitioned:
                kind = f"partitioned_{kind}"
                extra["operand_layouts"] = _default_layouts([x.aval for x in operands])
                extra["result_layouts"] = _default_layouts(outs)
            else:  # one of the devices makes the call, with whole arrays
                extra["sdy__sharding"] = self.module.on_first_device(len(outs))
        return self.python_call(
            f"xla_ffi_{kind}_callback",
            function,
            operands,
            outs,
            has_side_effect="true" if has_side_effect else "false",
            **extra,
        )

    def composite(
        self, name: str, jaxpr: Jaxpr, args: Sequence[Value], version: int, attributes: dict
    ) -> list[Value]:
        """Append an operation that a compiler may know by its name; it falls back to the jaxpr."""
        if not all(dims.is_static(a.shape) for a in (*jaxpr.in_avals, *jaxpr.out_avals)):
            return self.inline(jaxpr, args)
        return self.op(
            "composite",
            args,
            list(jaxpr.out_avals),
            name=quote(name),
            composite_attributes=self.attribute(attributes),
            decomposition="@" + self.module.function(jaxpr, name),
            version=f"{version} : i32",
        )

    # -- attribute texts ------------------------------------------------------------------------------

    @staticmethod
    def attribute(value: Any) -> str:
        """Format a number, string, dtype, array, or a sequence or dictionary of such, as an attribute."""
        return attribute_text(value)

    @staticmethod
    def ints(values: Sequence[int]) -> str:
        """Format `array<i64: 1, 0>`."""
        return _ints(tuple(values))

    @staticmethod
    def dense_ints(values: Any) -> str:
        """Format a constant int64 tensor as an attribute."""
        x = np.asarray(values, np.int64)
        if x.size == 0:
            return f"dense<> : {tensor_type(x.shape, x.dtype)}"
        return f"dense<{np.array2string(x, separator=', ', threshold=10**9).replace(chr(10), '')}> : {tensor_type(x.shape, x.dtype)}"


def _default_layouts(avals: Sequence[Any]) -> str:
    orders = [", ".join(map(str, reversed(range(physical(a).ndim)))) for a in avals]
    return f"[{', '.join([f'dense<[{o}]> : tensor<{o.count(chr(44)) + 1 if o else 0}xindex>' for o in orders])}]"


@functools.lru_cache(maxsize=4096)
def _ints(values: tuple[int, ...]) -> str:
    inner = ", ".join(map(str, values))
    return f"array<i64: {inner}>" if inner else "array<i64>"


@functools.cache
def _name(attribute: str) -> str:
    """Return the name of an attribute in MLIR; those of a dialect have a dot."""
    return attribute.replace("__", ".")
