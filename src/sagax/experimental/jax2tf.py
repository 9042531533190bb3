"""Convert functions of sagax to functions of TensorFlow, through `export`.

TensorFlow runs StableHLO with its operation XlaCallModule. It is imported on the first call of a
converted function.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import trees, xla
from sagax._src.api import export
from sagax._src.api.jit import JitFunction, ShapeDtypeStruct, jit
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.dims.scope import SymbolicScope
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.primitives.fourier import SYMBOLIC_FFT


class MissingTensorFlowError(SagaxError, ImportError):
    """TensorFlow is not installed."""


def _tensorflow() -> Any:
    try:
        return importlib.import_module("tensorflow")
    except ImportError as error:
        raise MissingTensorFlowError(
            "jax2tf needs TensorFlow, which cannot be imported here",
            function="jax2tf.convert",
            got=f"{type(error).__name__}: {error}",
            fix="pip install tensorflow (or tensorflow-cpu); to run a function elsewhere without it, use sagax.export",
        ) from error


def convert(
    fun_jax: Callable[..., Any],
    *,
    polymorphic_shapes: Any = None,
    polymorphic_constraints: Sequence[str] = (),
    with_gradient: bool = True,
    enable_xla: bool = True,
    native_serialization: bool | None = None,
    native_serialization_platforms: Sequence[str] | None = None,
    native_serialization_disabled_checks: Sequence[export.DisabledSafetyCheck] = (),
) -> Callable[..., Any]:
    """Convert `fun_jax` to a function of TensorFlow tensors, for `tf.function` and saved models.

    Each call exports the function for the shapes and dtypes of its arguments. TensorFlow compiles the
    exported module with its own XLA.

    Args:
      polymorphic_shapes: shape specifications of the arguments (see `export.symbolic_args_specs`): a string
        or None for each, or a tree prefix. Sizes that TensorFlow does not know must have a name here.
      polymorphic_constraints: constraints on these names.
      with_gradient: TensorFlow's gradients are those of `fun_jax`.
      native_serialization_platforms: platforms to export for; default: the current platform.
      native_serialization_disabled_checks: see `export.DisabledSafetyCheck`.
      enable_xla, native_serialization: accepted for compatibility; only True (or None) is supported.

    Raises ImportError when a converted function is called and TensorFlow is not installed.

    >>> f_tf = jax2tf.convert(snp.sin, polymorphic_shapes="b, ...")
    >>> f_tf.__name__
    'sin'
    """
    checks.callable("jax2tf.convert", "fun_jax", fun_jax)
    if not enable_xla or native_serialization is False:
        raise ArgumentValueError(
            "programs are handed to TensorFlow as StableHLO only",
            function="jax2tf.convert",
            argument="native_serialization" if enable_xla else "enable_xla",
            got=False,
            expected="True",
        )
    jitted = fun_jax if isinstance(fun_jax, JitFunction) else jit(fun_jax)
    export_function = functools.partial(
        export.export,
        jitted,
        platforms=native_serialization_platforms,
        disabled_checks=native_serialization_disabled_checks,
    )

    def converted(*args: Any, **kwargs: Any) -> Any:
        tf = _tensorflow()
        specs = _specifications(tf, args, kwargs, polymorphic_shapes, polymorphic_constraints)
        exported = export_function()(*specs[0], **specs[1])
        leaves, _ = trees.flatten((args, kwargs))
        tensors = [
            tf.convert_to_tensor(x, dtypes.name(a.dtype))
            for x, a in zip(leaves, exported.in_avals, strict=True)
        ]
        run = functools.partial(_call, tf, exported)
        outs = _with_gradient(tf, exported, run)(*tensors) if with_gradient else run(*tensors)
        return exported.out_tree.unflatten(outs)

    functools.update_wrapper(converted, fun_jax, updated=())
    converted.__name__ = function_name(fun_jax)
    return converted


def _specifications(
    tf: Any, args: tuple, kwargs: dict, shapes: Any, constraints: Sequence[str]
) -> tuple:
    """Return the types of the arguments: sizes that TensorFlow knows, and names of others."""
    leaves, tree = trees.flatten((args, kwargs))
    if shapes is None or isinstance(shapes, str):
        texts = [shapes] * len(leaves)
    else:
        given = tuple(shapes) if isinstance(shapes, (list, tuple)) else (shapes,)
        named = (given, dict.fromkeys(kwargs))
        texts = trees.broadcast_prefix(
            named, (args, kwargs), is_leaf=lambda x: x is None or isinstance(x, str)
        )
    scope = SymbolicScope(constraints)
    specs = []
    for x, text in zip(leaves, texts, strict=True):
        if isinstance(x, (tf.Tensor, tf.Variable)):
            shape, dtype = tuple(x.shape.as_list()), x.dtype.as_numpy_dtype
        else:
            shape, dtype = np.shape(x), np.asarray(x).dtype
        if None in shape and text is None:
            raise ArgumentValueError(
                f"TensorFlow does not know all sizes of an argument of shape {shape}",
                function="jax2tf.convert",
                argument="polymorphic_shapes",
                fix='name them: polymorphic_shapes="b, ..." for an unknown first dimension',
            )
        if text is not None:
            shape = dims.symbolic_shape(text, scope=scope, like=shape)
        specs.append(ShapeDtypeStruct(shape, dtype))
    return tree.unflatten(specs)


def _with_gradient(
    tf: Any, exported: export.Exported, run: Callable[..., Any]
) -> Callable[..., Any]:
    """Give `run` the exported derivative as its gradient in TensorFlow."""

    @tf.custom_gradient
    def differentiable(*tensors: Any) -> tuple:
        outs = run(*tensors)

        def gradient(*cotangents: Any, variables: Any = None) -> Any:
            inexact = [
                ct
                for ct, a in zip(cotangents, exported.out_avals, strict=True)
                if dtypes.is_inexact(a.dtype)
            ]
            derivative = exported.vjp()
            run_derivative = functools.partial(_call, tf, derivative)
            found = iter(_with_gradient(tf, derivative, run_derivative)(*tensors, *inexact))
            grads = [next(found) if dtypes.is_inexact(a.dtype) else None for a in exported.in_avals]
            return grads if variables is None else (grads, [None] * len(variables))

        return outs, gradient

    return lambda *tensors: list(differentiable(*tensors))


def _call(tf: Any, exported: export.Exported, *tensors: Any) -> list:
    """Call an exported module by TensorFlow's XlaCallModule."""
    operations = importlib.import_module("tensorflow.compiler.tf2xla.python.xla")
    used = [tensors[i] for i in exported.module_kept_var_idx]
    platforms = exported.platforms
    if len(platforms) != 1:
        raise ArgumentValueError(
            function="jax2tf.convert",
            argument="native_serialization_platforms",
            got=list(platforms),
            expected="one platform",
            fix="convert the function once for each platform",
        )
    known = [
        tuple(None if dims.is_dim(d) else d for d in aval.shape) for aval in exported.out_avals
    ]
    found = operations.call_module(
        tuple(used),
        version=export.maximum_supported_calling_convention_version,
        Tout=[tf.as_dtype(dtypes.name(a.dtype)) for a in exported.out_avals],
        Sout=known,
        module=_module(exported),
        platforms=[p.upper() for p in platforms],
        function_list=[],
        has_token_input_output=False,
        disabled_checks=[],
    )
    return [tf.ensure_shape(x, shape) for x, shape in zip(found, known, strict=True)]


def _module(exported: export.Exported) -> bytes:
    """Convert a module for TensorFlow, which derives symbolic sizes from argument shapes."""
    code = exported._code
    artifact = exported.mlir_module_serialized
    if exported.nr_devices > 1:
        raise ArgumentValueError(
            f"{code.name} is divided among {exported.nr_devices} devices, which TensorFlow does not arrange",
            function="jax2tf.convert",
            fix="leave out shardings and shard_map",
        )
    if SYMBOLIC_FFT.encode() in artifact:
        raise ArgumentValueError(
            "TensorFlow cannot put numbers in for the symbolic length of a Fourier transform",
            function="jax2tf.convert",
            argument="polymorphic_shapes",
            fix="give the transformed dimensions numbers in polymorphic_shapes",
        )
    if not code.variables:
        return artifact
    inner = xla.mlir.module_functions(artifact, "inner_")
    types = inner.arg_types[len(code.variables) :]
    lines: list[str] = []
    values = [_size_of(code, variable, types, lines) for variable in code.variables]
    values += [f"%arg{i}" for i in range(len(types))]
    results = ", ".join(inner.result_types)
    count = len(inner.result_types)
    outs = ["%r"] if count == 1 else [f"%r#{i}" for i in range(count)]
    bind = "" if not count else "%r = " if count == 1 else f"%r:{count} = "
    lines.append(
        f"{bind}func.call @{inner.main}({', '.join(values)}) : ({', '.join(inner.arg_types)}) -> ({results})"
    )
    lines.append(f"return {', '.join(outs)} : {results}" if count else "return")
    head = ", ".join(f"%arg{i}: {t}" for i, t in enumerate(types))
    body, rest = "\n".join(lines), "\n".join(inner.texts)
    return xla.artifacts.serialize_artifact(
        f"module @{code.name.strip('<>') or 'f'} attributes {{jax.uses_shape_polymorphism = true}} {{\nfunc.func public @main({head}) -> ({results}) {{\n{body}\n}}\n{rest}\n}}\n"
    )


def _size_of(code: Any, variable: Any, types: Sequence[str], lines: list[str]) -> str:
    """Append operations that solve for a variable from an argument size linear in it; return the result's name."""
    for position, i in enumerate(code.kept):
        for axis, size in enumerate(code.in_avals[i].shape):
            if not dims.is_dim(size) or dims.variables(size) != {str(variable)}:
                continue
            offset = dims.substitute(size, {str(variable): 0})
            slope = dims.substitute(size, {str(variable): 1}) - offset
            linear = offset + slope * variable
            if not dims.same(linear, size):
                continue
            k = len(lines)
            lines.append(
                f"%d{k} = stablehlo.get_dimension_size %arg{position}, dim = {axis} : ({types[position]}) -> tensor<i32>"
            )
            if offset == 0 and slope == 1:
                return f"%d{k}"
            lines += [
                f"%o{k} = stablehlo.constant dense<{offset}> : tensor<i32>",
                f"%f{k} = stablehlo.constant dense<{slope}> : tensor<i32>",
                f"%m{k} = stablehlo.subtract %d{k}, %o{k} : tensor<i32>",
                f"%v{k} = stablehlo.divide %m{k}, %f{k} : tensor<i32>",
            ]
            return f"%v{k}"
    raise ArgumentValueError(
        f"no argument that the program uses has a size from which '{variable}' follows alone",
        function="jax2tf.convert",
        argument="polymorphic_shapes",
        fix=f"pass an argument with a dimension of size {variable}",
    )


__all__ = ["MissingTensorFlowError", "convert"]
