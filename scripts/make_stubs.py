"""Write the types that users see: a stub for each public namespace, in `stubs/sagax`.

    python scripts/make_stubs.py [--check]

The wheel holds them beside the modules. A stub exports the names of its namespace, with the signatures that its
functions have at run time. What a signature cannot say, overloads and generic types, stands in
`scripts/stub_parts/NAMESPACE.stub`, whose definitions replace those of the same name. `--check` writes nothing, and
fails if a stub is out of date.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import re
import shutil
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE, WRITTEN, STUBS = ROOT / "src", ROOT / "scripts" / "stub_parts", ROOT / "stubs"

# Modules of their own whose functions are typed where they stand, or that are no namespaces.
_NOT_STUBBED = {
    "sagax.as_jax",
    "sagax.nn.activations",
    "sagax.nn.attention",
    "sagax.nn.normalization",
    "sagax.example_libraries.stax",
    "sagax.experimental.pallas.tpu_sc",
}
_STUBBED = {
    "sagax.tree",
    "sagax.tree_util",
    "sagax.numpy.fft",
    "sagax.nn.initializers",
    "sagax.core",
}

# Modules of functions of arrays: their parameters without a type of their own are arrays or numbers.
_LEAVES = {
    "sagax.experimental.rnn",
    "sagax.experimental.ode",
    "sagax.scipy.cluster.vq",
    "sagax.scipy.fft",
    "sagax.scipy.ndimage",
    *(
        f"sagax.scipy.stats.{path.stem}"
        for path in (SOURCE / "sagax" / "scipy" / "stats").glob("[!_]*.py")
    ),
}

# What the annotation `Any` of a parameter means for users, by the name of the parameter.
_SHAPE, _DTYPE, _AXIS = "Any", "DTypeLike | None", "int | Sequence[int] | None"
_OPERAND, _OPTIONAL = "ArrayLike", "ArrayLike | None"
_ARRAYS = """
    A B a a1 a2 ar ar1 ar2 arr array arrays_ b c condition data df dfden dfnum fill_value filt image images indices_
    init_array lhs loc logits m max_ mean min_ operand p q rhs scale segment_ids target u v val values x x1 x2 xp fp y z
    alpha lam left right lower upper minval maxval sigma concentration n_ on_true on_false which update start_index
    index start stop bins_ t element
""".split()
_BY_NAME = {
    **dict.fromkeys(_ARRAYS, _OPERAND),
    "dtype": _DTYPE,
    "new_dtype": _DTYPE,
    "index_dtype": "DTypeLike",
    "preferred_element_type": _DTYPE,
    "key": "Array",
    "keys": "Array",
    "where": _OPTIONAL,
    "initial": _OPTIONAL,
    "weights": _OPTIONAL,
    "ddof": "float",
    "correction": "float | None",
    "shape": "Shape",
    "copy": "bool | None",
    "size": "int | None",
}
# Exceptions: by namespace, function and parameter; a star stands for all functions.
_BY_PLACE = {
    ("sagax.numpy", "array", "object"): "Any",
    ("sagax.numpy", "asarray", "a"): "Any",
    ("sagax.numpy", "block", "arrays"): "Any",
    ("sagax.numpy", "where", "fill_value"): "Any",
    ("sagax.numpy", "nonzero", "fill_value"): "Any",
    ("sagax.numpy", "argwhere", "fill_value"): "Any",
    ("sagax.numpy", "einsum", "subscripts"): "Any",
    ("sagax.numpy", "isdtype", "kind"): "Any",
    ("sagax.numpy", "can_cast", "from_"): "Any",
    ("sagax.numpy", "iterable", "y"): "Any",
    ("sagax.numpy", "isscalar", "element"): "Any",
    ("sagax.numpy", "reshape", "shape"): "Shape",
    ("sagax.numpy", "zeros_like", "a"): "Any",
    ("sagax.numpy", "ones_like", "a"): "Any",
    ("sagax.numpy", "full_like", "a"): "Any",
    ("sagax.numpy", "empty_like", "a"): "Any",
    ("sagax.numpy", "zeros_like", "shape"): "Shape | None",
    ("sagax.numpy", "delete", "obj"): "Any",
    ("sagax.numpy", "insert", "obj"): "Any",
    ("sagax.numpy", "issubdtype", "a"): "Any",
    ("sagax.numpy", "issubdtype", "b"): "Any",
    ("sagax.numpy", "promote_types", "a"): "Any",
    ("sagax.numpy", "promote_types", "b"): "Any",
    ("sagax.numpy", "from_dlpack", "x"): "Any",
    ("sagax.numpy", "frombuffer", "buffer"): "Any",
    ("sagax.numpy", "roll", "shift"): "ArrayLike | Sequence[int]",
    ("sagax.numpy", "take", "indices"): "ArrayLike | Sequence[int]",
    ("sagax.numpy", "array_repr", "arr"): "Any",
    ("sagax.numpy", "array_str", "a"): "Any",
    ("sagax.numpy", "clip", "min"): _OPTIONAL,
    ("sagax.numpy", "clip", "max"): _OPTIONAL,
    ("sagax.numpy", "quantile", "method"): "str",
    ("sagax.image", "*", "method"): "ResizeMethodName | ResizeMethod",
    ("sagax.lax", "convert_element_type", "new_dtype"): "DTypeLike | None",
    ("sagax.lax", "*", "p"): "Any",
    ("sagax.lax", "dtype", "x"): "Any",
    ("sagax.lax", "sort_key_val", "keys"): "ArrayLike",
    ("sagax.lax", "reduce_precision", "x"): _OPERAND,
    ("sagax.lax", "*", "shape"): "Sequence[Any]",
    ("sagax.lax", "full_like", "shape"): "Any",
    ("sagax.lax", "argmax", "operand"): _OPERAND,
    ("sagax.random", "fold_in", "data"): _OPERAND,
    ("sagax.random", "split", "num"): "int | tuple[int, ...]",
    ("sagax.random", "choice", "p"): _OPTIONAL,
    ("sagax.random", "binomial", "n"): _OPERAND,
    ("sagax.random", "multinomial", "n"): _OPERAND,
    ("sagax.random", "multivariate_normal", "cov"): _OPERAND,
    ("sagax.random", "categorical", "mode"): "str | None",
    ("sagax.random", "triangular", "mode"): _OPERAND,
    ("sagax.random", "key", "seed"): "int | Array",
    ("sagax.random", "PRNGKey", "seed"): "int | Array",
    ("sagax.random", "key_impl", "keys"): "Array",
    ("sagax.nn", "one_hot", "num_classes"): "int",
    ("sagax.ops", "*", "mode"): "Any",
    ("sagax.experimental.rnn", "*", "precision"): "Any",
    ("sagax.experimental.rnn", "*", "weights"): _OPERAND,
    ("sagax.experimental.rnn", "init_lstm_weight", "rng"): "Array",
    ("sagax.scipy.ndimage", "map_coordinates", "coordinates"): "Array | Sequence[ArrayLike]",
}
# Namespaces whose parameters are typed by name; and those of operations, whose other results `Any` are arrays.
_OF_ARRAYS = (
    "sagax.numpy",
    "sagax.lax",
    "sagax.random",
    "sagax.nn",
    "sagax.ops",
    "sagax.image",
    "sagax.scipy",
)
_RESULTS = {
    ("sagax.lax", "top_k"): "tuple[Array, Array]",
    ("sagax.lax", "sort_key_val"): "tuple[Array, Array]",
    ("sagax.lax", "approx_max_k"): "tuple[Array, Array]",
    ("sagax.lax", "approx_min_k"): "tuple[Array, Array]",
}
# Functions of operation namespaces that return something else than arrays.
_NOT_ARRAYS = {
    "create_token", "after_all", "dtype", "custom_root", "custom_linear_solve", "dce_sink", "reduce",
    "all_to_all", "all_gather", "composite", "zeros_like_shaped_array", "axis_size", "padtype_to_pads",
    "sort_key_val", "reduce_window", "psend", "precv", "pshuffle", "pswapaxes", "psum_scatter", "pcast", "pbroadcast",
    "pvary", "conv_general_permutations", "split", "eigh", "eig", "lu", "svd", "qr", "schur",
    "tridiagonal", "householder_product", "scan", "associative_scan", "ppermute",
}  # fmt: skip
_ALIASES = {
    "Axis": _AXIS,
    "Axes": _AXIS,
    "Arrays": "Array | np.ndarray | Sequence[ArrayLike]",
    "dims.Size": "int",
    "Size": "int",
    "Sizes": "Sequence[int] | None",
    "Norm": 'Literal["backward", "ortho", "forward"] | None',
    "IsLeaf": "Callable[[Any], bool]",
    "Children": "Iterable[Any]",
    "KeyedChildren": "Iterable[tuple[Any, Any]]",
    "Policy": "Callable[..., Any]",
    "KeyPath": "tuple[Any, ...]",
    "ConcreteArray": "Array",
    "AxisType": "Any",
    "IO": "IO",
}
_GENERIC = {
    "Callable": "Callable[..., Any]",
    "tuple": "tuple[Any, ...]",
    "list": "list[Any]",
    "dict": "dict[Any, Any]",
    "Sequence": "Sequence[Any]",
    "Iterable": "Iterable[Any]",
    "Iterator": "Iterator[Any]",
}
_TYPING = set(
    "Any Literal NoReturn TypeVar ParamSpec Concatenate Protocol Generic IO overload".split()
)
_COLLECTIONS = set("Callable Collection Hashable Iterable Iterator Mapping Sequence".split())


def _modules() -> Iterator[str]:
    """Name the public modules of which stubs are made."""
    for path in sorted((SOURCE / "sagax").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if any(x.startswith("_") for x in parts):
            continue
        name = ".".join(parts)
        text = path.read_text()
        tree = ast.parse(text)
        defines = any(isinstance(x, ast.ClassDef | ast.FunctionDef) for x in tree.body)
        listed = "__all__ = " in text
        if name in _NOT_STUBBED:
            continue
        if (
            name in _STUBBED | _LEAVES
            or (path.name == "__init__.py" and not listed)
            or not (defines or listed)
        ):
            yield name


def _path(module: str) -> Path:
    """Return the source of a module."""
    path = SOURCE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.cache
def _imports(path: Path) -> dict[str, tuple[str, str]]:
    """Return where each public name that a module imports from this package comes from."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sagax"):
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module, alias.name)
    lazy = path.parent / "_lazy_names.py"
    if path.name == "__init__.py" and lazy.exists():
        found.update(_imports(lazy))
    return {k: _origin(*v) for k, v in found.items() if not k.startswith("_")}


@functools.cache
def _origin(module: str, name: str) -> tuple[str, str]:
    """Return where a name is defined: modules between export it for nobody else."""
    path = SOURCE.joinpath(*module.split("."))
    if (path / name).is_dir() or (path / f"{name}.py").exists():
        return module, name
    found = _imports(_path(module)).get(name)
    return found or (module, name)


class Stub:
    """The stub of one namespace."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module: Any = importlib.import_module(name)
        self.needed: dict[str, set[str]] = {}  # imports: module -> names
        self.defined: set[str] = set()

    def text(self) -> str:
        """Return the stub, before formatting."""
        written, blocks = self._written(), []
        tree = ast.parse(_path(self.name).read_text())
        imports = _imports(_path(self.name))
        local = [x.name for x in tree.body if isinstance(x, ast.FunctionDef)]
        assigned = [
            x.targets[0].id
            for x in tree.body
            if isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Name)
        ]
        listed = getattr(self.module, "__all__", None)
        names = [x for x in [*imports, *local, *assigned] if not x.startswith("_")]
        if listed is not None:
            names = [x for x in dict.fromkeys([*names, *listed]) if x in listed]
        elif local and self.name == "sagax.nn.initializers":  # which imports to use, not to export
            names = [x for x in names if x not in imports]
        classes = [
            x for x in tree.body if isinstance(x, ast.ClassDef) and not x.name.startswith("_")
        ]
        for name in sorted(set(names) | {x.name for x in classes}):
            if name in written:
                continue
            self._add(name, imports, blocks, {x.name: x for x in classes})
        if self.name == "sagax":
            blocks.append("__version__: str")
        body = "\n".join([*written.get("", []), *blocks])
        for name in sorted(written):
            if name:
                body += "\n" + "\n".join(written[name])
        body = self._unshadowed(body)
        self._need_what_is_named(body)
        doc = inspect.getdoc(self.module) or ""
        head = f'"""{doc.splitlines()[0]}"""\n\n' if doc else ""
        return head + self._import_lines() + body + "\n"

    def _add(
        self,
        name: str,
        imports: dict[str, tuple[str, str]],
        blocks: list[str],
        classes: dict[str, ast.ClassDef],
    ) -> None:
        value = getattr(self.module, name)
        if name in classes:
            blocks.append(ast.unparse(_skeleton(classes[name])))
        elif isinstance(value, types.FunctionType):
            blocks.append(self._function(name, value))
        elif self.name == "sagax.numpy" and isinstance(value, type) and _is_scalar_type(value):
            blocks.append(f"{name}: _ScalarType")
        elif type(value).__name__ == "ufunc" and (value.nin, value.nout) == (2, 1):
            blocks.append(f"{name}: _Ufunc")
        elif name in imports:
            module, original = imports[name]
            if original == name:
                self.needed.setdefault(module, set()).add(f"{name} as {name}")
                self.defined.add(name)
            else:  # only `x as x` exports
                self.needed.setdefault(module, set()).add(f"{original} as _{name}")
                blocks.append(f"{name} = _{name}")
        elif isinstance(value, float | str | int | bool):
            blocks.append(f"{name}: {type(value).__name__}")
        elif isinstance(value, type):
            same = [x for x in imports if getattr(self.module, x) is value]
            plain = value.__module__ == "builtins"
            blocks.append(
                f"{name} = {value.__name__ if plain else same[0]}"
                if plain or same
                else f"{name}: type[Any]"
            )
        else:
            blocks.append(f"{name}: Any")

    def _written(self) -> dict[str, list[str]]:
        """Return what was written by hand: definitions by name; "" has what they use."""
        if self.name != "sagax.tree":
            return self._fragment()
        renamed, own = _renamed_tree(self), self._fragment()
        used = list(dict.fromkeys(own.pop("") + renamed.pop("")))
        return {"": used, **own, **renamed}

    def _fragment(self) -> dict[str, list[str]]:
        path = WRITTEN / f"{self.name}.stub"
        if not path.exists():
            return {}
        text = _expanded(path.read_text(), self)
        found: dict[str, list[str]] = {"": []}
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.Expr):
                continue  # the docstring
            first = min([node.lineno, *[x.lineno for x in getattr(node, "decorator_list", [])]])
            code = "\n".join(lines[first - 1 : node.end_lineno])
            if isinstance(node, ast.ImportFrom):
                assert node.module
                for alias in node.names:
                    given = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                    self.needed.setdefault(node.module, set()).add(given)
                    if alias.asname:
                        found[alias.asname] = []
            elif isinstance(node, ast.Import):
                found[""].insert(0, code)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(code)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, []).append(code)
            else:
                found[""].append(code)
        return found

    def _function(self, name: str, function: Any) -> str:
        signature = inspect.signature(function)
        parameters, star, positional = [], False, False
        for p in signature.parameters.values():
            if positional and p.kind is not p.POSITIONAL_ONLY:
                parameters.append("/")
                positional = False
            positional = positional or p.kind is p.POSITIONAL_ONLY
            if p.kind is p.KEYWORD_ONLY and not star:
                parameters.append("*")
                star = True
            star = star or p.kind is p.VAR_POSITIONAL
            if p.name.startswith("_") and p.default is not p.empty:
                continue
            prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            default = "" if p.default is p.empty else f" = {_shown(p.default)}"
            parameters.append(f"{prefix}{p.name}: {self._parameter(name, function, p)}{default}")
        if positional:
            parameters.append("/")
        result = _RESULTS.get((self.name, name)) or self._type(
            signature.return_annotation, function
        )
        if (
            result == "Any"
            and self.name in ("sagax.lax", "sagax.lax.linalg")
            and name not in _NOT_ARRAYS
        ):
            result = "Array"
        if _is_context_manager(function):
            self.needed.setdefault("contextlib", set()).add("AbstractContextManager")
            result = re.sub(r"Iterator\[(.*)\]", r"AbstractContextManager[\1]", result)
        return f"def {name}({', '.join(parameters)}) -> {result}: ..."

    def _parameter(self, name: str, function: Any, p: inspect.Parameter) -> str:
        for place in ((self.name, name, p.name), (self.name, "*", p.name)):
            if place in _BY_PLACE:
                return _BY_PLACE[place]
        if p.kind is p.VAR_KEYWORD:
            return "Any"
        kind = self._type(p.annotation, function)
        if kind == "Any" and (self.name in _LEAVES or self.name.startswith(_OF_ARRAYS)):
            kind = _BY_NAME.get(p.name, _OPERAND if self.name in _LEAVES else "Any")
            if p.default is None and "None" not in kind and kind != "Any":
                kind += " | None"
        return kind

    def _type(self, annotation: Any, function: Any) -> str:
        """Return an annotation of a function in terms of what the stub imports."""
        if annotation is inspect.Parameter.empty:
            return "Any"
        if not isinstance(annotation, str):
            annotation = getattr(annotation, "__name__", repr(annotation))
        tree = ast.parse(annotation.strip("\"'"), mode="eval")
        return ast.unparse(_Names(self, function).visit(tree.body))

    def _unshadowed(self, body: str) -> str:
        """Name builtins by their module where the namespace has something of the same name."""
        tree = ast.parse(body)
        own = {x.name for x in tree.body if isinstance(x, ast.FunctionDef | ast.ClassDef)}
        own |= {
            x.target.id
            for x in tree.body
            if isinstance(x, ast.AnnAssign) and isinstance(x.target, ast.Name)
        }
        own = {x for x in own | self.defined if hasattr(builtins, x)}
        if own:
            tree = _Builtins(own).visit(tree)
            self.needed.setdefault("", set()).add("import builtins")
        return ast.unparse(tree)

    def _need_what_is_named(self, body: str) -> None:
        names = {x.id for x in ast.walk(ast.parse(body)) if isinstance(x, ast.Name)}
        for name in names & _TYPING:
            self.needed.setdefault("typing", set()).add(name)
        for name in names & _COLLECTIONS:
            self.needed.setdefault("collections.abc", set()).add(name)
        if "Array" in names and self.name != "sagax":
            self.needed.setdefault("sagax._src.core.value", set()).add("Array")
        for name in names & {"ArrayLike", "DTypeLike"}:
            self.needed.setdefault("sagax.typing", set()).add(name)
        for name in names & {"Shape", "ResizeMethodName"}:
            self.needed.setdefault("sagax._shapes", set()).add(name)
        if "np" in names:
            self.needed.setdefault("", set()).add("import numpy as np")
        if "os" in names:
            self.needed.setdefault("", set()).add("import os")

    def _import_lines(self) -> str:
        lines = sorted(self.needed.pop("", set()))
        for module in sorted(self.needed):
            names = self.needed[module]
            if module == self.name:  # submodules
                names = {x for x in names if " as " in x}
            # exported and used: once is enough
            names -= {x for x in names if f"{x} as {x}" in names}
            lines += [f"from {module} import {x}" for x in sorted(names)]
        return "\n".join(lines) + "\n\n"


class _Names(ast.NodeTransformer):
    """Replaces names of an annotation by what stubs can import."""

    def __init__(self, stub: Stub, function: Any) -> None:
        self.stub, self.function = stub, function

    def visit_Constant(self, node: ast.Constant) -> Any:
        return self._parsed(node.value) if isinstance(node.value, str) else node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            return node
        node.slice = self.visit(node.slice)
        if isinstance(node.value, ast.Name) and node.value.id in _GENERIC:
            return node
        node.value = self.visit(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        text = ast.unparse(node)
        if text in _ALIASES:
            return self._parsed(_ALIASES[text])
        return node if text.startswith(("np.", "os.")) else self._parsed("Any")

    def visit_Name(self, node: ast.Name) -> Any:
        name = node.id
        text = _GENERIC.get(name) or _ALIASES.get(name)
        if text:
            return self._parsed(text)
        if name in _TYPING | _COLLECTIONS | {"Array"} or hasattr(builtins, name):
            return node
        value = inspect.unwrap(self.function).__globals__.get(name)
        module = self.function.__module__
        if isinstance(value, type):
            origin = value.__module__
            if origin.startswith("jaxlib") or not hasattr(importlib.import_module(origin), name):
                origin = module
        else:
            found = _imports(_path(module)) if module.startswith("sagax") else {}
            if name not in found:
                return self._parsed("Any")
            origin, name = found[name]
        if origin != self.stub.name:
            self.stub.needed.setdefault(origin, set()).add(name)
        return ast.Name(name)

    @staticmethod
    def _parsed(text: str) -> ast.expr:
        return ast.parse(text, mode="eval").body


class _Builtins(ast.NodeTransformer):
    """Replaces names of builtins in annotations."""

    def __init__(self, names: set[str]) -> None:
        self.names, self.within = names, False

    def _annotation(self, node: ast.expr | None) -> Any:
        if node is None:
            return None
        self.within = True
        found = self.visit(node)
        self.within = False
        return found

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = self._annotation(node.returns)
        for arg in ast.walk(node.args):
            if isinstance(arg, ast.arg):
                arg.annotation = self._annotation(arg.annotation)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.annotation = self._annotation(node.annotation)
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        if self.within and node.id in self.names:
            return ast.Attribute(ast.Name("builtins"), node.id)
        return node


def _is_context_manager(function: Any) -> bool:
    return "contextlib" in getattr(function.__code__, "co_filename", "")


def _is_scalar_type(value: type) -> bool:
    return value.__module__ == "sagax.numpy" and hasattr(value, "dtype") and type(value) is not type


def _skeleton(node: ast.ClassDef) -> ast.ClassDef:
    """Return a class without the bodies of its methods."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            item.body = [ast.Expr(ast.Constant(...))]
    return node


def _shown(default: Any) -> str:
    plain = (
        isinstance(default, str | bool | int | type(None))
        and type(default).__module__ == "builtins"
    )
    if plain or (isinstance(default, float) and default == default and abs(default) < 1e300):
        return repr(default)
    return "()" if default == () and isinstance(default, tuple) else "..."


def _renamed_tree(tree: Stub) -> dict[str, list[str]]:
    """Return the functions of `tree_util` under the names of `tree`."""
    stub = Stub("sagax.tree_util")
    found = {k.removeprefix("tree_"): v for k, v in stub._written().items()}
    rest = {"": found.pop("")}
    for module, names in stub.needed.items():
        tree.needed.setdefault(module, set()).update(names)
    for name, parts in found.items():
        rest[name] = [x.replace(f"def tree_{name}(", f"def {name}(") for x in parts]
    return rest


_JIT_TYPES = {
    "static_argnums": "int | Sequence[int] | None",
    "static_argnames": "str | Sequence[str] | None",
    "donate_argnums": "int | Sequence[int] | None",
    "donate_argnames": "str | Sequence[str] | None",
    "compiler_options": "dict[str, Any] | None",
    "stale": 'Literal["warn", "retrace", "raise", "ignore"] | None',
}
_UNIQUE = ("return_index", "return_inverse", "return_counts")


def _expanded(text: str, stub: Stub) -> str:
    """Fill in what the hand-written text leaves to the signatures."""
    if "{jit_options}" in text:
        text = text.replace("{jit_options}", _options(stub.module.jit, _JIT_TYPES))
    if "{checkpoint_options}" in text:
        text = text.replace(
            "{checkpoint_options}",
            _options(stub.module.checkpoint, {"policy": "Callable[..., Any] | None"}),
        )
    if "{vmap_options}" in text:
        options = _options(stub.module.vmap, {"axis_size": "int | None"})
        text = text.replace("{vmap_options}", options)
    if "{scan_options}" in text:
        options = (
            "length: int | None = None, reverse: bool = False, unroll: int | bool = 1, *, "
            "progress: bool | str = False"
        )
        text = text.replace("{scan_options}", options)
    if "{vjp_options}" in text:
        options = "reduce_axes: Any = (), saveable_args: Any = True, in_nzs: Any = None, safe_where: bool | None = None"
        text = text.replace("{vjp_options}", options)
    if "{gradients}" in text:
        found = _derivatives("grad", "{d}") + _derivatives("value_and_grad", "tuple[{r}, {d}]")
        text = text.replace("{gradients}", "\n".join(found))
    if "{jacobians}" in text:
        text = text.replace("{jacobians}", "\n".join(_jacobians()))
    if "{unique}" in text:
        text = text.replace("{unique}", "\n".join(_unique()))
    return text


def _options(function: Any, kinds: dict[str, str]) -> str:
    parts = []
    for p in list(inspect.signature(function).parameters.values())[1:]:
        kind = kinds.get(p.name, str(p.annotation))
        parts.append(f"{p.name}: {kind} = {_shown(p.default)}")
    return ", ".join(parts)


def _derivatives(name: str, result: str) -> list[str]:
    """Return the overloads of `grad`: by the first argument, by `argnums`, by `has_aux`."""
    options = "holomorphic: bool = False, allow_int: bool = False, reduce_axes: Any = (), "
    options += "*, safe_where: bool | None = None"
    cases = [  # parameters, argnums, parameters of the derivative, its type
        ("Concatenate[Array, _P]", "Literal[0] = 0", "Concatenate[ArrayLike, _P]", "Array"),
        ("Concatenate[float, _P]", "Literal[0] = 0", "Concatenate[ArrayLike, _P]", "Array"),
        ("Concatenate[_A, _P]", "Literal[0] = 0", "Concatenate[_A, _P]", "_A"),
        ("Concatenate[_A, _B, _P]", "Literal[1]", "Concatenate[_A, _B, _P]", "_B"),
        ("Concatenate[_A, _B, _C, _P]", "Literal[2]", "Concatenate[_A, _B, _C, _P]", "_C"),
        (
            "Concatenate[_A, _B, _P]",
            "tuple[Literal[0], Literal[1]]",
            "Concatenate[_A, _B, _P]",
            "tuple[_A, _B]",
        ),
        ("_P", "int | Sequence[int] = 0", "_P", "Any"),
    ]
    found = []
    for aux in (False, True):
        for given, argnums, taken, derivative in cases:
            returned = "tuple[_R, _Aux]" if aux else "_R"
            if name == "grad":
                value = f"tuple[{derivative}, _Aux]" if aux else derivative
                returned = returned.replace("_R", "Any")
            else:
                value = result.format(r=returned, d=derivative)
            flag = "has_aux: Literal[True]" if aux else "has_aux: Literal[False] = False"
            ways = [f"argnums: {argnums}, {flag}, {options}"]
            if aux:  # by position, after `argnums`; or by name
                ways = [f"argnums: {argnums.split(' = ')[0]}, {flag}, {options}"]
                rest = options.replace("*, ", "")
                ways.append(f"argnums: {argnums}, *, {flag}, {rest}")
                if "=" not in argnums:
                    del ways[1]
            elif "=" not in argnums:
                ways = [f"argnums: {argnums}, {flag}, {options}"]
            for way in ways:
                found.append(
                    f"@overload\ndef {name}(fun: Callable[{given}, {returned}], {way}) -> Callable[{taken}, {value}]: ..."
                )
    return found


def _jacobians() -> list[str]:
    found = []
    for name in ("jacfwd", "jacrev", "jacobian", "hessian"):
        options = "holomorphic: bool = False"
        if name in ("jacrev", "jacobian"):
            options += ", allow_int: bool = False"
        for first in ("Array", "float"):
            found.append(
                f"@overload\ndef {name}(fun: Callable[Concatenate[{first}, _P], Array], argnums: Literal[0] = 0, "
                f"has_aux: Literal[False] = False, {options}) -> Callable[Concatenate[ArrayLike, _P], Array]: ..."
            )
        found.append(
            f"@overload\ndef {name}(fun: Callable[_P, Any], argnums: int | Sequence[int] = 0, "
            f"has_aux: bool = False, {options}) -> Callable[_P, Any]: ..."
        )
    return found


def _unique() -> list[str]:
    """Return the overloads of `unique`: one for each choice of results, with the flags by name; two by position."""
    rest = "axis: int | None = None, equal_nan: bool = True, size: int | None = None, "
    rest += "fill_value: ArrayLike | None = None, sorted: bool = True"
    found = []
    for chosen in range(8):
        on = [bool(chosen >> i & 1) for i in range(3)]
        flags = [
            f"{name}: Literal[True]" if yes else f"{name}: Literal[False] = False"
            for name, yes in zip(_UNIQUE, on, strict=True)
        ]
        count = 1 + sum(on)
        result = "Array" if count == 1 else f"tuple[{', '.join(['Array'] * count)}]"
        found.append(
            f"@overload\ndef unique(ar: ArrayLike, *, {', '.join(flags)}, {rest}) -> {result}: ..."
        )
        positional = [f"{n}: Literal[{y}]" for n, y in zip(_UNIQUE, on, strict=True)]
        last = max((i for i, yes in enumerate(on) if yes), default=-1) + 1
        positional = positional[:last] + [f"{n}: Literal[False] = False" for n in _UNIQUE[last:]]
        found.append(
            f"@overload\ndef unique(ar: ArrayLike, {', '.join(positional)}, {rest.replace('equal_nan', '*, equal_nan', 1)}) -> {result}: ..."
        )
    return found


_SHAPES = '''"""Name types of shapes and options, for stubs alone."""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from sagax._src.core.value import Array

Shape: TypeAlias = SupportsIndex | tuple[Any, ...] | list[Any] | np.ndarray | Array
ResizeMethodName: TypeAlias = Literal[
    "nearest", "linear", "bilinear", "trilinear", "triangle", "cubic", "bicubic", "tricubic", "lanczos3", "lanczos5"
]
'''


def generate() -> dict[str, str]:
    """Return the text of each stub, by its path below `stubs`."""
    found = {"sagax/_shapes.pyi": _SHAPES}
    for name in _modules():
        path = _path(name).relative_to(SOURCE).with_suffix(".pyi")
        found[str(path)] = Stub(name).text()
    value = WRITTEN / "sagax._src.core.value.stub"
    found["sagax/_src/core/value.pyi"] = value.read_text()
    return found


def write(folder: Path) -> None:
    """Write and format the stubs in a folder."""
    import subprocess

    shutil.rmtree(folder / "sagax", ignore_errors=True)
    made = generate()
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    ruff = [sys.executable, "-m", "ruff"]
    paths = [
        str(folder / name) for name in made
    ]  # by name, since the settings leave the folder out
    subprocess.run([*ruff, "check", "--quiet", "--fix-only", "--select=I", *paths], check=True)
    subprocess.run([*ruff, "format", "--quiet", *paths], check=True)


if __name__ == "__main__":
    write(STUBS)
