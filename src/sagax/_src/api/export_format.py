"""Read and write the binary format of exported functions.

A fixed header, a description in JSON, and the modules (StableHLO portable artifacts) one after the
other; all of it under a digest. Reading executes no code: types of pytree nodes are looked up among
those that the process has registered.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import ShapedArray, Space, intern_aval
from sagax._src.core.dims.assume import Assumption
from sagax._src.core.dims.scope import SymbolicScope
from sagax._src.core.meshes import UNCONSTRAINED, AbstractMesh, AxisType, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.higher_order.exported_calls import ExportedCode, Partitioning
from sagax._src.primitives.random_bits import implementation, key_dtype

_MAGIC = b"SAGAXEXP"
VERSION = 2  # raised when older readers would misread the format
_HEADER = struct.Struct("<8sHQ32s")  # magic, version, length of the rest, its SHA-256


# --- user-defined pytree nodes
# ----------------------------------------------------------------------


class _Node:
    """Define how nodes of one type are written and read; without functions there is no static data."""

    def __init__(
        self,
        kind: type,
        name: str,
        serialize: Callable[[Any], bytes] | None,
        deserialize: Callable[[bytes], Any] | None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.serialize = serialize
        self.deserialize = deserialize

    def treedef(self, data: bytes, children: Sequence[Any]) -> Any:
        """Rebuild the treedef of a node from its serialized static data and its children."""
        aux = None if self.deserialize is None else self.deserialize(data)
        return trees.treedef_of(self.kind, aux, children)


_by_type: dict[type, _Node] = {}
_by_name: dict[str, _Node] = {}


def _register(nodetype: type, node: _Node) -> None:
    if nodetype in _by_type:
        raise ArgumentValueError(
            f"Duplicate serialization registration for type `{nodetype}`. Previous registration was with "
            f"serialized_name `{_by_type[nodetype].name}`.",
            fix="register each type once",
        )
    if node.name in _by_name:
        raise ArgumentValueError(
            f"Duplicate serialization registration for serialized_name `{node.name}`.",
            fix="give each type a name of its own",
        )
    _by_type[nodetype] = _by_name[node.name] = node


def register_pytree_node_serialization(
    nodetype: type,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> type:
    """Register a pytree node type, so that exported functions with such nodes can be serialized.

    The type must be a registered pytree node. `serialized_name` names it in the bytes, so it must
    stay the same; `serialize_auxdata` and `deserialize_auxdata` turn the static data of a node into
    bytes and back. Reading builds nodes with the pytree registry; `from_children` is accepted for
    compatibility. Register the type in the same way before `deserialize`. Returns the type.

    >>> from sagax import export
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, c: Pair(*c))
    >>> _ = export.register_pytree_node_serialization(
    ...     Pair, serialized_name="example.Pair",
    ...     serialize_auxdata=lambda aux: b"", deserialize_auxdata=lambda data: None)
    """
    _check_type(nodetype, serialized_name, "register_pytree_node_serialization")
    _register(
        nodetype,
        _Node(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata),
    )
    return nodetype


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Register a NamedTuple, so that exported functions with it can be serialized.

    `serialized_name` names the type in the bytes, so it must stay the same. Returns the type.

    >>> from typing import NamedTuple
    >>> from sagax import export
    >>> class Point(NamedTuple):
    ...     x: float
    ...     y: float
    >>> _ = export.register_namedtuple_serialization(Point, serialized_name="example.Point")
    """
    _check_type(nodetype, serialized_name, "register_namedtuple_serialization")
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ArgumentValueError(
            f"Use `jax.export.register_pytree_node_serialization` for types other than `collections.namedtuple`: {nodetype}",
            function="register_namedtuple_serialization",
            argument="nodetype",
            got=nodetype,
            expected="a NamedTuple",
        )
    _register(nodetype, _Node(nodetype, serialized_name, None, None))
    return nodetype


def _check_type(nodetype: Any, name: Any, function: str) -> None:
    if not isinstance(nodetype, type) or not isinstance(name, str) or not name:
        raise ArgumentError(
            function=function,
            got=f"{kind_of(nodetype)} and {kind_of(name)}",
            expected="a class, and a text as serialized_name",
        )


# structures -------------------------------------------------------------------------------------------


def tree_to_json(tree: Any) -> Any:
    """Convert a treedef to JSON: null for a leaf, else [kind, data, children]."""
    if trees.treedef_is_leaf(tree) and tree.num_nodes == 1 and tree.num_leaves == 1:
        return None
    children = [tree_to_json(c) for c in trees.treedef_children(tree)]
    kind, aux = tree.node_data() or (type(None), None)
    if kind is type(None):
        return ["none", None, children]
    if kind is tuple or kind is list:
        return [kind.__name__, None, children]
    if kind is dict or kind is OrderedDict:
        keys: list[Any] = list(aux or ())
        if not all(isinstance(k, (str, int, bool)) for k in keys):
            raise ArgumentError(
                "Serialization is supported only for dictionaries with string keys. "
                f"Found keys: {', '.join(map(repr, keys))}",
                function="serialize",
            )
        return [kind.__name__, keys, children]
    node = _by_type.get(kind)
    if node is None:
        isnamed = issubclass(kind, tuple) and hasattr(kind, "_fields")
        how = (
            "register_namedtuple_serialization" if isnamed else "register_pytree_node_serialization"
        )
        raise ArgumentValueError(
            f"Cannot serialize PyTreeDef with unregistered type `{kind}`. Use `export.{how}`.",
            function="serialize",
            got=tree,
        )
    data = b"" if node.serialize is None else node.serialize(aux)
    if not isinstance(data, (bytes, bytearray)):
        raise ArgumentError(
            f"The custom serialization function for `node_type` {kind} must return a `bytes` object. It returned a {type(data)}.",
            function="serialize",
        )
    return ["node", [node.name, base64.b64encode(bytes(data)).decode()], children]


class _Malformed(Exception):
    """The bytes have a valid digest, but do not describe an exported function."""


_LEAF = trees.flatten(0)[1]
_KINDS: dict[str, type] = {"none": type(None), "tuple": tuple, "list": list}
_KEYED: dict[str, type] = {"dict": dict, "OrderedDict": OrderedDict}


def tree_from_json(data: Any) -> Any:
    if data is None:
        return _LEAF
    kind, aux, given = data
    children = [tree_from_json(c) for c in given]
    if kind in _KINDS:
        return trees.treedef_of(_KINDS[kind], None, children)
    if kind in _KEYED:
        if len(aux) != len(children):
            raise _Malformed("a dict with more keys than values, or fewer")
        return trees.treedef_of(_KEYED[kind], aux if kind == "dict" else tuple(aux), children)
    if kind != "node":
        raise _Malformed(f"a structure of kind {kind!r}")
    name, text = aux
    node = _by_name.get(name)
    if node is None:
        raise ArgumentValueError(
            f"Cannot deserialize a PyTreeDef with serialized_name `{name}`, which is not registered",
            function="deserialize",
            fix="call export.register_pytree_node_serialization (or register_namedtuple_serialization) first",
        )
    return node.treedef(base64.b64decode(text, validate=True), children)


# types ------------------------------------------------------------------------------------------------


def _aval_to_json(aval: ShapedArray) -> Any:
    dtype = aval.dtype
    name = f"key:{dtype.impl.name}" if dtypes.is_extended(dtype) else str(dtype)
    if dtype == dtypes.float0:
        name = "float0"
    fields = [name, [_size_to_json(d) for d in aval.shape], bool(aval.weak_type)]
    return fields if aval.memory_space is Space.Device else [*fields, aval.memory_space.name]


def _size_to_json(d: Any) -> Any:
    return str(d) if dims.is_dim(d) else int(d)


def _size_from_json(d: Any, scope: SymbolicScope | None) -> Any:
    if isinstance(d, str) and scope is not None:
        return scope.read(d)
    if isinstance(d, int) and not isinstance(d, bool):
        return d
    raise _Malformed(f"a size {d!r}")


def _aval_from_json(data: Any, scope: SymbolicScope | None) -> ShapedArray:
    name, shape, weak, *space = data
    if name.startswith("key:"):
        impl = implementation(name[4:])
        if impl is None:
            raise _Malformed(f"keys of an implementation {name[4:]!r}")
        dtype: Any = key_dtype(impl)
    else:
        dtype = dtypes.float0 if name == "float0" else np.dtype(name)
    sizes = tuple(_size_from_json(d, scope) for d in shape)
    aval = intern_aval(sizes, dtype, bool(weak), None)
    return aval.with_memory_space(Space[space[0]]) if space else aval


# devices ----------------------------------------------------------------------------------------------


def _partitioning_to_json(partitioning: Partitioning | None) -> Any:
    if partitioning is None:
        return None
    count, *shardings = partitioning
    return [count, *[[_sharding_to_json(s) for s in some] for some in shardings]]


def _sharding_to_json(sharding: NamedSharding | None) -> Any:
    """Convert a sharding to JSON: null for none, else [axes, entries]; an entry 0 is left to the compiler."""
    if sharding is None:
        return None
    mesh, spec = sharding.mesh, sharding.spec
    axes = [
        [name, size, kind.name]
        for (name, size), kind in zip(mesh.shape_tuple, mesh.axis_types, strict=True)
    ]
    return [axes, [0 if e is UNCONSTRAINED else e for e in spec]]


def _partitioning_from_json(data: Any) -> Partitioning | None:
    if data is None:
        return None
    count, ins, outs = data
    if not isinstance(count, int) or count < 1:
        raise _Malformed(f"a program for {count} devices")
    return Partitioning(count, *[tuple(map(_sharding_from_json, some)) for some in (ins, outs)])


def _sharding_from_json(data: Any) -> NamedSharding | None:
    if data is None:
        return None
    axes, entries = data
    names, sizes, kinds = zip(*axes, strict=True)
    mesh = AbstractMesh(sizes, names, tuple([AxisType[k] for k in kinds]))
    found = [UNCONSTRAINED if e == 0 else tuple(e) if isinstance(e, list) else e for e in entries]
    return NamedSharding(mesh, PartitionSpec(*found))


# --- the whole format
# -------------------------------------------------------------------------------


class Parts(NamedTuple):
    """Hold the parts of one serialized function."""

    code: ExportedCode
    in_tree: Any
    out_tree: Any
    disabled_checks: tuple[str, ...]


def write(parts: Sequence[Parts]) -> bytes:
    """Serialize an exported function and its derivatives, in this order."""
    blobs: list[bytes] = []
    described = [_describe(p, blobs) for p in parts]
    text = json.dumps({"exports": described}, separators=(",", ":")).encode()
    body = struct.pack("<Q", len(text)) + text + b"".join(blobs)
    return _HEADER.pack(_MAGIC, VERSION, len(body), hashlib.sha256(body).digest()) + body


def _describe(parts: Parts, blobs: list[bytes]) -> Any:
    code = parts.code
    scope: Any = next((v.scope for v in code.variables), None)
    modules = []
    for platform in code.platforms:
        module = code.artifact(platform)
        modules.append([platform, len(module)])
        blobs.append(module)
    return {
        "name": code.name,
        "in_tree": tree_to_json(parts.in_tree),
        "out_tree": tree_to_json(parts.out_tree),
        "in_avals": [_aval_to_json(a) for a in code.in_avals],
        "out_avals": [_aval_to_json(a) for a in code.out_avals],
        "labels": list(code.labels),
        "constraints": [] if scope is None else list(scope.constraints),
        "variables": [str(v) for v in code.variables],
        "given": [[name, _size_to_json(d)] for name, d in code.given],
        "kept": list(code.kept),
        "assumptions": [
            [a.kind, _size_to_json(a.lhs), _size_to_json(a.rhs), _source_position(a.where)]
            for a in code.assumptions
        ],
        "disabled": list(parts.disabled_checks),
        "modules": modules,
        "divided": _partitioning_to_json(code.partitioning),
    }


def _source_position(where: Any) -> str | None:
    """Format the user's source position as text."""
    return where if where is None or isinstance(where, str) else str(where)


def read(blob: Any) -> list[Parts]:
    """Deserialize the bytes of `write`. Raises ArgumentValueError for any other bytes."""
    checks.instance(
        "deserialize", "blob", blob, (bytes, bytearray, memoryview), "bytes", show=kind_of
    )
    blob = bytes(blob)
    if blob[: len(_MAGIC)] != _MAGIC:
        raise _foreign(blob)
    if len(blob) < _HEADER.size:
        raise _unreadable("it is cut short")
    _, version, length, digest = _HEADER.unpack_from(blob)
    if version > VERSION or version < 1:
        raise _unreadable(
            f"it is of version {version}, this one reads up to {VERSION}", "install a newer sagax"
        )
    body = blob[_HEADER.size :]
    if len(body) != length:
        raise _unreadable(f"{length} bytes were written after the header, {len(body)} are there")
    if hashlib.sha256(body).digest() != digest:
        raise _unreadable("it was damaged: its digest does not fit")
    try:
        return _parsed(body)
    except SagaxError:
        raise
    # Python's exceptions for a malformed description, for huge numbers and for deep nesting
    except (
        _Malformed,
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
        struct.error,
    ) as error:
        raise _unreadable(f"it is not well formed: {error}") from None


def _unreadable(
    why: str, fix: str = "copy it again from where it was written"
) -> ArgumentValueError:
    return ArgumentValueError(
        f"these bytes cannot be read as an exported function: {why}",
        function="deserialize",
        argument="blob",
        fix=fix,
    )


def _foreign(blob: bytes) -> ArgumentValueError:
    """Return the error for bytes that are no exported function."""
    at = blob.find(b"StableHLO_v")
    if at < 0:
        return _unreadable("it does not begin as an exported function does")
    if at < 32:
        return _unreadable(
            "it does not begin as an exported function does: it is a StableHLO module alone",
            "serialize the Exported itself: exported.serialize()",
        )
    return _unreadable(
        "it does not begin as an exported function does; it holds StableHLO in the form of another library",
        "export the function with sagax.export: serialized forms of other libraries, such as jax.export, are not read",
    )


def _parsed(body: bytes) -> list[Parts]:
    (length,) = struct.unpack_from("<Q", body)
    text, rest = body[8 : 8 + length], body[8 + length :]
    at = 0
    found = []
    for data in json.loads(text)["exports"]:
        modules = {}
        for platform, size in data["modules"]:
            modules[platform] = rest[at : at + size]
            at += size
        found.append(_one(data, modules))
    if at != len(rest) or not found:
        raise _Malformed("the modules have other sizes than they should")
    return found


def _one(data: Any, modules: dict[str, bytes]) -> Parts:
    variables = data["variables"]
    scope = SymbolicScope(data["constraints"]) if variables else None

    def size(d: Any) -> Any:
        return _size_from_json(d, scope)

    code = ExportedCode(
        data["name"],
        data["labels"],
        [_aval_from_json(a, scope) for a in data["in_avals"]],
        [_aval_from_json(a, scope) for a in data["out_avals"]],
        [size(v) for v in variables],
        [(name, size(d)) for name, d in data["given"]],
        modules,
        data["kept"],
        [
            Assumption(k, size(lhs), size(rhs), position)
            for k, lhs, rhs, position in data["assumptions"]
        ],
        any_platform="platform" in data["disabled"],
        partitioning=_partitioning_from_json(data.get("divided")),  # absent in version 1
    )
    in_tree, out_tree = tree_from_json(data["in_tree"]), tree_from_json(data["out_tree"])
    if in_tree.num_leaves != len(code.in_avals) or out_tree.num_leaves != len(code.out_avals):
        raise _Malformed("the structures have other numbers of leaves than there are types")
    numbers = len(code.in_avals), len(code.out_avals)
    if code.partitioning is not None and numbers != tuple(map(len, code.partitioning[1:])):
        raise _Malformed("other numbers of shardings than there are types")
    if not all(0 <= i < len(code.in_avals) for i in code.kept):
        raise _Malformed("an input that is not there")
    return Parts(code, in_tree, out_tree, tuple(data["disabled"]))
