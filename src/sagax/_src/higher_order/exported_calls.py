"""Call exported functions: inline their StableHLO into the caller's module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sagax._src import config, xla
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import ShapedArray
from sagax._src.core.dims.expression import Dim
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED, Default
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, InconclusiveDimensionOperation
from sagax._src.higher_order.loops import one_by_one
from sagax._src.primitives.fourier import SYMBOLIC_FFT, with_known_lengths
from sagax._src.primitives.structural import instantiate, zeros_of
from sagax._src.transforms.batch import move_batch_dims

DimensionValues = tuple[tuple[str, Any], ...]
"""Dimension values that the caller passes: (argument name, size) in the order of the export."""


class Partitioning(NamedTuple):
    """The number of devices of an exported module, and the shardings of its inputs and results.

    Shardings are over abstract meshes; None: the compiler chooses.
    """

    nr_devices: int
    in_shardings: tuple
    out_shardings: tuple


class ExportedCode:
    """An exported function: its types, its modules and their requirements.

    `labels` are the names of the inputs as users see them (`args[0]`). `variables` are the symbolic sizes that each
    module takes as leading int32 arguments; `given` names the sizes that a caller passes directly. With `any_platform`
    the first module serves platforms without one. `kept` are the indices of the inputs that the modules take.
    `partitioning` is None for a module on one device. `derivative` returns the code of the reverse derivative, or raises.
    """

    derivative: Callable[[], ExportedCode] | None = None

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        in_avals: Sequence[ShapedArray],
        out_avals: Sequence[ShapedArray],
        variables: Sequence[Dim],
        given: Sequence[tuple[str, dims.Size]],
        modules: Mapping[str, str | bytes],
        kept: Sequence[int],
        assumptions: Sequence[Any],
        *,
        any_platform: bool = False,
        partitioning: Partitioning | None = None,
    ) -> None:
        self.name = name
        self.labels = tuple(labels)
        self.in_avals = tuple(in_avals)
        self.out_avals = tuple(out_avals)
        self.variables = tuple(variables)
        self.given = tuple(given)
        self._modules = dict(modules)  # texts, until the artifacts are first needed
        self.kept = tuple(kept)
        self.assumptions = tuple(assumptions)
        self.any_platform = any_platform
        self.partitioning = partitioning
        self._refined: dict[tuple, str | bytes] = {}

    def __repr__(self) -> str:
        return self.name

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms of the modules."""
        return tuple(self._modules)

    @property
    def nr_devices(self) -> int:
        """The number of devices of the modules."""
        return 1 if self.partitioning is None else self.partitioning.nr_devices

    # -- symbolic sizes ----------------------------------------------------------------------------

    def sizes(self, avals: Sequence[ShapedArray], known: DimensionValues = ()) -> dict[str, Any]:
        """Return the value of each variable for arguments of these types.

        Raises ArgumentValueError, with the specifications, if there is none.
        """
        for label, expected, got in zip(self.labels, self.in_avals, avals, strict=True):
            if expected.dtype != got.dtype:
                raise self._refused(
                    f"Dtype mismatch for {label}: expected {expected.dtype} and called with {got.dtype}",
                    fix=_conversion(label, expected.dtype),
                )
        pairs = [(a.shape, b.shape) for a, b in zip(self.in_avals, avals, strict=True)]
        labels = list(self.labels)
        for (name, size), (_, value) in zip(self.given, known, strict=True):
            pairs.append(((size,), (value,)))
            labels.append(name)
        if any(dims.is_dim(d) for _, shape in pairs for d in shape):
            return self._symbolic_sizes(pairs, labels)
        found = dims.solve_dims(pairs, labels)
        if found.error is not None:
            raise self._refused(found.error)
        for assumed in self.assumptions:
            if not assumed.holds(found.env):
                raise self._broken(assumed, found.env)
        return dict(found.env)

    def _refused(self, message: str, fix: str | None = None) -> ArgumentValueError:
        return ArgumentValueError(message, fix=fix)

    def _broken(self, assumed: Any, env: Mapping[str, int]) -> ArgumentValueError:
        values = ", ".join(f"{k} = {v}" for k, v in sorted(env.items()))
        where = f" (asked at {assumed.where})" if assumed.where is not None else ""
        opposite = {"!=": "==", "==": "!="}.get(assumed.kind)
        fix = None
        if opposite is not None:
            fix = f"export for such sizes separately, or with a constraint that settles {assumed.lhs} {opposite} {assumed.rhs}"
        return self._refused(
            f"Input shapes do not match what the exported function was traced for.\n"
            f"It took for granted that {assumed}{where}, and for these arguments {values}.",
            fix=fix,
        )

    def _symbolic_sizes(self, pairs: Sequence[tuple], labels: Sequence[str]) -> dict[str, Any]:
        """Express variables by the sizes of the calling jaxpr, which are symbolic themselves."""
        env: dict[str, Any] = {}
        left = []
        for (spec, shape), label in zip(pairs, labels, strict=True):
            if len(spec) != len(shape):
                raise self._refused(
                    f"Rank mismatch for {label}: expected {dims.shape_text(spec)} and called with {dims.shape_text(shape)}"
                )
            left += [(s, d, f"{label}.shape[{i}]") for i, (s, d) in enumerate(zip(spec, shape))]
        for s, d, _ in left:  # sizes that are a variable
            for v in self.variables:
                if dims.is_dim(s) and dims.same(s, v):
                    env.setdefault(str(v), d)
        for s, d, _ in left:  # sizes that are a multiple of one variable
            unknown = sorted(dims.variables(s) - env.keys())
            if len(unknown) == 1 and dims.is_dim(s):
                rest = dims.substitute(s, {**env, unknown[0]: 0})
                slope = dims.substitute(s, {**env, unknown[0]: 1}) - rest
                if isinstance(slope, int) and slope and dims.same((d - rest) % slope, 0):
                    env[unknown[0]] = (d - rest) // slope
        for s, d, label in left:
            missing = dims.variables(s) - env.keys()
            if missing:
                raise self._refused(
                    f"Cannot solve for values of dimension variables {set(missing)}: "
                    f"{label} is specified as {s} and called with {d}"
                )
            if not dims.same(dims.substitute(s, env), d):
                raise self._refused(
                    f"Input shapes do not match the polymorphic shapes specification.\n"
                    f"{label} is specified as {s}, here {dims.substitute(s, env)}, and called with {d}"
                )
        for assumed in self.assumptions:
            lhs, rhs = (dims.substitute(x, env) for x in (assumed.lhs, assumed.rhs))
            if assumed.kind == "!=" and isinstance(lhs == rhs, bool) and not (lhs == rhs):
                continue  # proved, or an assumption of the calling jaxpr now
            raise InconclusiveDimensionOperation(
                f"the exported function took {assumed} for granted, here {lhs} {assumed.kind} {rhs}"
            )
        return env

    def results(
        self, avals: Sequence[ShapedArray], known: DimensionValues = ()
    ) -> list[ShapedArray]:
        """Return the types of the results for arguments of these types."""
        if not self.variables:
            self.sizes(avals, known)
            return list(self.out_avals)
        env = self.sizes(avals, known)
        return [
            a.update(shape=tuple(dims.substitute(d, env) for d in a.shape)) for a in self.out_avals
        ]

    # -- modules -----------------------------------------------------------------------------------

    def module(self, platform: str) -> str | bytes:
        """Return the module for a platform, as text or as a portable artifact."""
        found = self._modules.get(platform)
        if found is None and self.any_platform:
            return next(iter(self._modules.values()))
        if found is None:
            raise self._refused(
                f"Function '{self.name}' was exported for platforms '{self.platforms}' but it is used on '{platform}'.",
                fix=f"export it with platforms=[..., {platform!r}]",
            )
        return found

    def artifact(self, platform: str) -> bytes:
        """Return the module for a platform of `platforms`, as a portable artifact."""
        found = self._modules[platform]
        if isinstance(found, str):
            found = self._modules[platform] = xla.artifacts.serialize_artifact(found)
        return found

    def refined(
        self, platform: str, spell: Any, avals: Sequence[ShapedArray], known: DimensionValues
    ) -> str | bytes:
        """Return the module in the static shapes of these arguments; `spell` formats an aval as an MLIR type."""
        module = self.module(platform)
        if not self.variables:
            return module
        key = (platform, tuple(a.shape for a in avals), known)
        found = self._refined.get(key)
        if found is None:
            env = self.sizes(avals, known)
            found = xla.mlir.refine_shapes(
                _with_sizes(
                    module,
                    [env[str(v)] for v in self.variables],
                    [spell(avals[i]) for i in self.kept],
                ),
                shardy=self.partitioning is not None,
            )
            if SYMBOLIC_FFT.encode() in found:
                found = with_known_lengths(xla.mlir.format_module(found))
            self._refined[key] = found
        return found

    def shardings(self, count: int) -> tuple[tuple, tuple]:
        """Return the shardings of inputs and results on `count` devices, which must fit."""
        if self.partitioning is None:
            return (None,) * len(self.in_avals), (None,) * len(self.out_avals)
        if self.partitioning.nr_devices != count:
            raise self._refused(
                f"Function {self.name} was exported for {self.partitioning.nr_devices} devices and is called in a context "
                f"with {count} devices, which is not allowed.",
                fix="put an argument on a mesh of that many devices with sagax.device_put, or call it inside of "
                "jit(..., in_shardings=exported.in_shardings_jax(mesh))",
            )
        return self.partitioning[1:]


def _conversion(label: str, dtype: Any) -> str:
    """Return the conversion of an argument to the dtype that an exported function takes."""
    name = dtypes.name(dtype)
    if dtypes.canonicalize(dtype, False) != dtype and not config.thread.settings.x64:
        return (
            f"it was exported with 64-bit types: turn them on with sagax.config.update('enable_x64', True), and pass "
            f"{label} as {name}; or export it again for {dtypes.name(dtypes.canonicalize(dtype, False))}"
        )
    return f"convert it: {label}.astype({name!r})"


def _with_sizes(module: str | bytes, sizes: Sequence[int], types: Sequence[str]) -> str:
    """Return a module whose main takes arguments of static types and calls `module` with its sizes."""
    meshes: dict[str, str] = {}
    inner = xla.mlir.module_functions(
        module, "dynamic_", lambda text: meshes.setdefault(text, f"mesh_{len(meshes)}")
    )
    lines = [
        f"%s{i} = stablehlo.constant dense<{size}> : tensor<i32>" for i, size in enumerate(sizes)
    ]
    values = [f"%s{i}" for i in range(len(sizes))]
    for i, (static, dynamic) in enumerate(zip(types, inner.arg_types[len(sizes) :], strict=True)):
        if static == dynamic:
            values.append(f"%arg{i}")
            continue
        lines.append(f"%a{i} = stablehlo.convert %arg{i} : ({static}) -> {dynamic}")
        values.append(f"%a{i}")
    results = ", ".join(inner.result_types)
    count = len(inner.result_types)
    outs = ["%r"] if count == 1 else [f"%r#{i}" for i in range(count)]
    bind = "" if not count else "%r = " if count == 1 else f"%r:{count} = "
    lines.append(
        f"{bind}func.call @{inner.main}({', '.join(values)}) : ({', '.join(inner.arg_types)}) -> ({results})"
    )
    lines.append(f"return {', '.join(outs)} : {results}" if count else "return")
    head = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(types))
    body = "\n".join(lines)
    rest = "\n".join([*(f"sdy.mesh @{m} = {text}" for text, m in meshes.items()), *inner.texts])
    return f"module @refined {{\nfunc.func public @main({head}) -> ({results}) {{\n{body}\n}}\n{rest}\n}}\n"


# the primitive ----------------------------------------------------------------------------------------

call_exported_p = Primitive(
    "call_exported",
    family=HIGHER_ORDER,
    check_rule=Default("what was exported cannot be changed: its results are looked at"),
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)


@call_exported_p.abstract
def _(*avals: ShapedArray, code: ExportedCode, known: DimensionValues) -> list:
    return code.results(avals, known)


@call_exported_p.jvp
def _(
    primals: Sequence[Any], tangents: Sequence[Any], *, code: ExportedCode, known: DimensionValues
) -> tuple:
    outs = call_exported_p.bind(*primals, code=code, known=known)
    zeros = [Zero.like(aval_of(o)) for o in outs]
    if all(map(is_zero, tangents)):
        return outs, zeros
    derivative_of(code)  # raises if there is none
    floating = [instantiate(t) for t, a in zip(tangents, code.in_avals) if has_tangent(a)]
    pushed = iter(push_exported_p.bind(*primals, *floating, code=code, known=known))
    return outs, [next(pushed) if has_tangent(aval_of(o)) else z for o, z in zip(outs, zeros)]


def has_tangent(aval: Any) -> bool:
    """Return whether values of this type can be differentiated."""
    return dtypes.is_inexact(aval.dtype)


def derivative_of(code: ExportedCode) -> ExportedCode:
    """Return the code of the reverse derivative."""
    if code.derivative is None:
        raise ArgumentValueError(
            "No VJP is available",
            function=f"vjp of {code.name}",
            fix="serialize it with vjp_order=1, or more for higher derivatives and for forward mode",
        )
    return code.derivative()


@call_exported_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    outs = one_by_one(
        lambda *xs: call_exported_p.bind(*xs, **params),
        axis.size,
        move_batch_dims(args, in_dims),
        in_dims,
        unrolled=False,
    )
    return outs, [0] * len(outs)


@call_exported_p.lower
def _(b: Any, *args: Any, code: ExportedCode, known: DimensionValues) -> list:
    avals = [x.aval for x in args]
    ins, results = code.shardings(
        1 if b.module.manual is not None else max(len(b.module.devices), 1)
    )
    args = tuple([x if d is None else b.constrained(x, d) for x, d in zip(args, ins, strict=True)])
    static = all(dims.is_static(a.shape) for a in avals) and not any(
        dims.is_dim(v) for _, v in known
    )
    kept = [args[i] for i in code.kept]
    if not static:
        env = code.sizes(avals, known)
        sizes = [b.module.dim_value(b, env[str(v)]) for v in code.variables]
        module, operands = code.module(b.module.platform), [*sizes, *kept]
    else:
        module = code.refined(b.module.platform, b.spell, avals, known)
        operands = kept
    functions = xla.mlir.module_functions(
        module, b.module.function_name(f"exported_{code.name}") + "_", b.module.mesh_named
    )
    b.module.functions.extend("  " + text for text in functions.texts)
    outs = b.call_text(functions, operands, b.outs)
    return [x if d is None else b.constrained(x, d) for x, d in zip(outs, results, strict=True)]


# Forward mode. The reverse derivative J^T is linear in its cotangents, so its own reverse derivative
# with respect to them is J. Reverse mode does not need it: there J^T itself is the transpose.

push_exported_p = Primitive(
    "push_exported",
    family=HIGHER_ORDER,
    check_rule=Default("what was exported cannot be changed: its results are looked at"),
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)


@push_exported_p.abstract
def _(*avals: ShapedArray, code: ExportedCode, known: DimensionValues) -> list:
    return _tangents(code, avals, known)


def _tangents(
    code: ExportedCode, avals: Sequence[ShapedArray], known: DimensionValues
) -> list[ShapedArray]:
    """Return the types of the tangents of the results."""
    outs = code.results(avals[: len(code.in_avals)], known)
    return [a.strip_weak_type() for a in outs if has_tangent(a)]


@push_exported_p.composite
def _(*args: Any, code: ExportedCode, known: DimensionValues) -> list:
    n = len(code.in_avals)
    xs, ts = args[:n], args[n:]
    cts = [zeros_of(a) for a in _tangents(code, [aval_of(x) for x in xs], known)]
    twice = derivative_of(derivative_of(code))
    found = call_exported([*xs, *cts, *ts], twice, known)
    return found[len(found) - len(cts) :]


@push_exported_p.transpose
def _(cts: Sequence[Any], *args: Any, code: ExportedCode, known: DimensionValues) -> list:
    n = len(code.in_avals)
    given = [instantiate(ct) for ct in cts]
    found = call_exported([*args[:n], *given], derivative_of(code), known)
    return [*[None] * n, *found]


def call_exported(args: Sequence[Any], code: ExportedCode, known: DimensionValues) -> list:
    """Return the flat results of an exported function."""
    return call_exported_p.bind(*args, code=code, known=known)
