"""Repair names that do not exist here: of older releases, of other libraries, and misspelled ones."""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Source, keyword_value
from sagax._src.diagnostics.model import Edit

# names of older releases and of other libraries, by the names that took their place
_RENAMED = {
    "jax.numpy.trapz": "jax.numpy.trapezoid", "jax.numpy.in1d": "jax.numpy.isin",
    "jax.numpy.product": "jax.numpy.prod", "jax.numpy.cumproduct": "jax.numpy.cumprod",
    "jax.numpy.alltrue": "jax.numpy.all", "jax.numpy.sometrue": "jax.numpy.any",
    "jax.numpy.row_stack": "jax.numpy.vstack", "jax.numpy.msort": "jax.numpy.sort",
    "jax.numpy.round_": "jax.numpy.round", "jax.numpy.NaN": "jax.numpy.nan",
    "jax.numpy.Inf": "jax.numpy.inf", "jax.numpy.infty": "jax.numpy.inf", "jax.numpy.PINF": "jax.numpy.inf",
    "jax.numpy.float": "float", "jax.numpy.int": "int", "jax.numpy.bool": "bool",
    "jax.numpy.cat": "jax.numpy.concatenate", "jax.numpy.tensor": "jax.numpy.array",
    "jax.numpy.Tensor": "jax.numpy.array", "jax.numpy.as_tensor": "jax.numpy.asarray",
    "jax.numpy.mm": "jax.numpy.matmul", "jax.numpy.bmm": "jax.numpy.matmul",
    "jax.numpy.numel": "jax.numpy.size", "jax.numpy.index_select": "jax.numpy.take",
    "jax.numpy.masked_select": "jax.numpy.extract", "jax.numpy.unsqueeze": "jax.numpy.expand_dims",
    "jax.numpy.permute": "jax.numpy.transpose", "jax.numpy.gather": "jax.numpy.take_along_axis",
    "jax.numpy.reduce_sum": "jax.numpy.sum", "jax.numpy.reduce_mean": "jax.numpy.mean",
    "jax.numpy.reduce_max": "jax.numpy.max", "jax.numpy.reduce_min": "jax.numpy.min",
    "jax.random.shuffle": "jax.random.permutation", "jax.random.rand": "jax.random.uniform",
    "jax.random.randn": "jax.random.normal", "jax.random.multinomial_sample": "jax.random.categorical",
    "jax.tree_multimap": "jax.tree.map", "jax.tree_util.tree_multimap": "jax.tree.map",
    "jax.tree.multimap": "jax.tree.map", "jax.value_and_gradient": "jax.value_and_grad",
    "jax.host_count": "jax.process_count", "jax.host_id": "jax.process_index",
    "jax.DeviceArray": "jax.Array", "jax.numpy.DeviceArray": "jax.Array", "jax.nn.crelu": "jax.nn.relu",
    "jax.no_grad": "jax.lax.stop_gradient", "jax.stop_grad": "jax.lax.stop_gradient",
    "jax.experimental.maps.Mesh": "jax.sharding.Mesh", "jax.interpreters.pxla.Mesh": "jax.sharding.Mesh",
    "jax.experimental.pjit.with_sharding_constraint": "jax.lax.with_sharding_constraint",
    "jax.experimental.pjit.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.abstract_arrays.ShapedArray": "jax.core.ShapedArray", "jax.linear_util.wrap_init": "jax.extend.linear_util.wrap_init",
    "jax.lib.xla_bridge.get_backend": "jax.extend.backend.get_backend",
    "jax.experimental.optimizers.adam": "jax.example_libraries.optimizers.adam",
    "jax.experimental.optimizers.sgd": "jax.example_libraries.optimizers.sgd",
    "jax.nn.logsoftmax": "jax.nn.log_softmax", "jax.nn.logsigmoid": "jax.nn.log_sigmoid",
    "jax.random.KeyArray": "jax.Array", "jax.random.PRNGKeyArray": "jax.Array", "jax.prng.PRNGKeyArray": "jax.Array",
    "jax.random.default_rng": "jax.random.key", "jax.random.seed": "jax.random.key",
    "jax.random.standard_normal": "jax.random.normal", "jax.random.integers": "jax.random.randint",
    "jax.random.random": "jax.random.uniform", "jax.random.gaussian": "jax.random.normal",
    "jax.experimental.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.interpreters.pxla.PartitionSpec": "jax.sharding.PartitionSpec",
    "jax.experimental.sharding.NamedSharding": "jax.sharding.NamedSharding",
    "jax.sharding.MeshPspecSharding": "jax.sharding.NamedSharding",
    "jax.experimental.stax.serial": "jax.example_libraries.stax.serial",
    "jax.experimental.stax.Dense": "jax.example_libraries.stax.Dense",
    "jax.experimental.optimizers.momentum": "jax.example_libraries.optimizers.momentum",
    "jax.experimental.optimizers.rmsprop": "jax.example_libraries.optimizers.rmsprop",
    "jax.experimental.host_callback.barrier_wait": "jax.effects_barrier",
    "jax.experimental.vectorize.vectorize": "jax.numpy.vectorize",
    "jax.core.Primitive": "jax.extend.core.Primitive", "jax.core.jaxpr_as_fun": "jax.extend.core.jaxpr_as_fun",
    "jax.core.raise_to_shaped": "jax.core.get_aval", "jax.core.concrete_aval": "jax.core.get_aval",
    "jax.lib.xla_bridge.device_count": "jax.device_count", "jax.lib.xla_bridge.devices": "jax.devices",
    "jax.lib.xla_bridge.default_backend": "jax.default_backend",
    "jax.tree_util.build_tree": "jax.tree.unflatten", "jax.soft_pmap": "jax.pmap",
    "jax.api.jit": "jax.jit", "jax.api.grad": "jax.grad", "jax.api.vmap": "jax.vmap",
    "jax.nn.normalize": "jax.nn.standardize", "jax.nn.softargmax": "jax.nn.softmax",
    "jax.numpy.fix": "jax.numpy.trunc", "jax.numpy.clamp": "jax.numpy.clip", "jax.numpy.cast": "jax.numpy.asarray",
    "jax.numpy.object": "object", "jax.numpy.str": "str", "jax.numpy.complex": "complex",
    "jax.numpy.long": "jax.numpy.int64", "jax.numpy.half": "jax.numpy.float16",
    "jax.numpy.repeat_interleave": "jax.numpy.repeat", "jax.numpy.chunk": "jax.numpy.split",
    "jax.numpy.swapdims": "jax.numpy.swapaxes", "jax.numpy.range": "jax.numpy.arange",
    "jax.numpy.lgamma": "jax.scipy.special.gammaln", "jax.numpy.topk": "jax.lax.top_k",
    "jax.numpy.reduce_prod": "jax.numpy.prod", "jax.numpy.reduce_any": "jax.numpy.any",
    "jax.numpy.reduce_all": "jax.numpy.all", "jax.scipy.misc.logsumexp": "jax.scipy.special.logsumexp",
    "jax.scipy.integrate.trapz": "jax.scipy.integrate.trapezoid",
    "jax.experimental.optimizers": "jax.example_libraries.optimizers", "jax.experimental.stax": "jax.example_libraries.stax",
    "jax.experimental.ode.build_odeint": "jax.experimental.ode.odeint",
}  # fmt: skip

# where a function may live that a script looks for elsewhere
_MODULES = (
    "jax.numpy", "jax.nn", "jax.lax", "jax", "jax.numpy.linalg", "jax.scipy.special", "jax.random",
    "jax.tree", "jax.tree_util", "jax.scipy.linalg", "jax.numpy.fft", "jax.scipy.signal",
    "jax.nn.initializers", "jax.ops", "jax.flatten_util", "jax.scipy.stats.norm", "jax.debug",
)  # fmt: skip

_LIKENESS = 0.75  # of names that differ by a letter or two
_MAX_NAMES = 3


def _lookup(name: str) -> Any:
    """Return the object of a qualified name below `jax`, None if there is none."""
    head, _, last = name.rpartition(".")
    if not head:
        return importlib.import_module("sagax") if name == "jax" else None
    module = _lookup(head)
    if module is None:
        return None
    found = getattr(module, last, None)
    if found is None and inspect.ismodule(module):
        try:
            return importlib.import_module(f"sagax{name[3:]}")
        except ImportError:
            return None
    return found


def _replacements(name: str) -> list[tuple[str, bool]]:
    """Return names that exist in place of one that does not, and whether each is just near."""
    if name in _RENAMED:
        return [(_RENAMED[name], False)]
    module, _, last = name.rpartition(".")
    plain = last.removeprefix("tree_")
    found = [f"jax.tree.{plain}"] if module == "jax" and plain != last else []
    found += [f"{other}.{last}" for other in _MODULES if other != module]
    elsewhere = [(other, False) for other in found if _lookup(other) is not None]
    if elsewhere:
        return elsewhere[:1]
    known = [n for n in dir(_lookup(module)) if not n.startswith("_")] if _lookup(module) else []
    near = difflib.get_close_matches(last, known, _MAX_NAMES, _LIKENESS)
    return [(f"{module}.{n}", True) for n in near]


@at_expression
def use_existing_name(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Replace a name that a module lacks by the one that took its place, or that is spelled alike."""
    said = re.match(r"module '[^']*'(?: \([^)]*\))? has no attribute '(\w+)'", case.facts.message)
    if said is None:
        return
    found = [n for n in source.nodes(ast.Attribute, node) if n.attr == said[1]]
    name = next((source.meaning(n) for n in found if source.meaning(n)), "")
    if not name.startswith("jax"):
        return
    # the script fails at each use in turn
    uses = [n for n in source.nodes(ast.Attribute) if source.meaning(n) == name]
    for rank, (other, near) in enumerate(_replacements(name), 1):
        text, imports = source.spell(other) if "." in other else (other, [])
        edits = [source.replace(n, text) for n in uses]
        title = f"use `{text}`: " + (
            "the nearest name" if near else f"there is no `{said[1]}` here"
        )
        yield Candidate("renamed_function", title, (*edits, *imports), rank)


def import_existing_name(case: Case) -> Iterator[Candidate]:
    """Import the name that took the place of one that a module lacks."""
    said = re.match(r"cannot import name '(\w+)' from", case.facts.message)
    if said is None:
        return
    for source in case.sources.values():
        for statement in source.nodes(ast.ImportFrom):
            alias = next((a for a in statement.names if a.name == said[1]), None)
            module = f"jax.{(statement.module or '').partition('.')[2]}".rstrip(".")
            if alias is None or (statement.module or "").split(".")[0] not in ("jax", "sagax"):
                continue
            for rank, (other, near) in enumerate(_replacements(f"{module}.{alias.name}"), 1):
                there, _, last = other.rpartition(".")
                bound = alias.asname or alias.name
                name = last if last == bound else f"{last} as {bound}"
                root = f"{source.package}{there[3:]}"
                if there == module:
                    edits = [source.replace(alias, name)]
                else:
                    rest = [source.code(a) for a in statement.names if a is not alias]
                    line = f"from {root} import {name}"
                    if rest:
                        line = f"from {statement.module} import {', '.join(rest)}\n{line}"
                    edits = [source.replace(statement, line)]
                title = f"import `{last}` from `{root}`" + (": the nearest name" if near else "")
                yield Candidate("renamed_function", title, tuple(edits), rank)


def replace_host_callback(case: Case) -> Iterator[Candidate]:
    """Replace the calls of `host_callback`, which is gone, by those of `jax.debug`."""
    if "host_callback" not in case.facts.message:
        return
    for source in case.sources.values():
        edits: list[Edit] = []
        statements = [
            s
            for s in source.nodes((ast.ImportFrom, ast.Import))  # type: ignore[arg-type]
            if any("host_callback" in f"{getattr(s, 'module', '')}.{a.name}" for a in s.names)
        ]
        for call in source.nodes(ast.Call):
            module, _, name = source.meaning(call.func).rpartition(".")
            if module != "jax.experimental.host_callback" or not call.args:
                continue
            given = ", ".join(source.code(a) for a in call.args)
            if name == "id_print":
                text, more = source.spell("jax.debug.print")
                what = keyword_value(call, "what")
                label = f"{what.value}: " if isinstance(what, ast.Constant) else ""
                quote = '"' if '"' in source.text else "'"
                text = f"{text}({quote}{label}{{}}{quote}, {source.code(call.args[0])})"
            elif name == "id_tap":
                text, more = source.spell("jax.debug.callback")
                text = f"{text}({given})"
            else:
                return
            if not isinstance(source.parents.get(call), ast.Expr):
                return  # the result is used
            edits += [source.replace(call, text), *more]
        if edits and len(statements) == 1:
            edits.append(source.delete(statements[0]))
            title = "use `jax.debug`: `host_callback` is gone"
            yield Candidate("debug_print", title, tuple(dict.fromkeys(edits)), 0)


def import_from_existing_module(case: Case) -> Iterator[Candidate]:
    """Import the names of a module that newer releases lack from where they are."""
    said = re.match(r"No module named '(?:jax|sagax)\.([\w.]+)'", case.facts.message)
    if said is None:
        return
    for source in case.sources.values():
        for statement in source.nodes(ast.ImportFrom):
            root, _, rest = (statement.module or "").partition(".")
            if root not in ("jax", "sagax") or rest != said[1]:
                continue
            found = [_replacements(f"jax.{rest}.{alias.name}") for alias in statement.names]
            if not all(found):
                continue
            lines: list[str] = []
            for alias, ((other, _), *_) in zip(statement.names, found, strict=True):
                there, _, last = other.rpartition(".")
                bound = alias.asname or alias.name
                name = last if last == bound else f"{last} as {bound}"
                lines.append(f"from {source.package}{there[3:]} import {name}")
            indent = "\n" + source.indent(statement)
            edit = source.replace(statement, indent.join(dict.fromkeys(lines)))
            title = f"import from where it is now: there is no module `{root}.{rest}`"
            yield Candidate("renamed_function", title, (edit,), 1)


# --- methods -------------------------------------------------------------------------------------

# methods of tensors of other libraries; {x} is the array, {0} the first argument
_METHODS = {
    "detach": "{lax}.stop_gradient({x})", "clone": "{x}.copy()", "contiguous": "{x}", "cpu": "{x}", "cuda": "{x}",
    "float": "{x}.astype({numpy}.float32)", "half": "{x}.astype({numpy}.float16)", "long": "{x}.astype(int)",
    "double": "{x}.astype(float)", "int": "{x}.astype(int)", "bool": "{x}.astype(bool)",
    "unsqueeze": "{numpy}.expand_dims({x}, {0})", "permute": "{x}.transpose({all})",
    "t": "{x}.T", "mm": "{x} @ {0}", "matmul": "{x} @ {0}", "bmm": "{x} @ {0}", "mv": "{x} @ {0}",
    "dim": "{x}.ndim", "numel": "{x}.size", "norm": "{numpy}.linalg.norm({all_of})",
    "masked_fill": "{numpy}.where({0}, {1}, {x})", "index_select": "{numpy}.take({x}, {1}, axis={0})",
    "gather": "{numpy}.take_along_axis({x}, {1}, axis={0})", "eq": "{x} == {0}", "ne": "{x} != {0}",
    "lt": "{x} < {0}", "le": "{x} <= {0}", "gt": "{x} > {0}", "ge": "{x} >= {0}",
    "pow": "{x} ** {0}", "mul": "{x} * {0}", "div": "{x} / {0}", "add": "{x} + {0}", "sub": "{x} - {0}",
    "neg": "-{x}", "expand_as": "{numpy}.broadcast_to({x}, {0}.shape)", "view_as": "{x}.reshape({0}.shape)",
    "get_shape": "{x}.shape",
}  # fmt: skip
# methods that change their object elsewhere: the new value is assigned
_UPDATES = {
    "add_": "{x} + {0}", "sub_": "{x} - {0}", "mul_": "{x} * {0}", "div_": "{x} / {0}", "zero_": "{numpy}.zeros_like({x})",
    "fill_": "{numpy}.full_like({x}, {0})", "copy_": "{0}", "clamp_": "{numpy}.clip({all_of})", "fill": "{numpy}.full_like({x}, {0})",
    "append": "{numpy}.append({x}, {0})", "assign": "{0}", "assign_add": "{x} + {0}", "assign_sub": "{x} - {0}",
    "masked_fill_": "{numpy}.where({0}, {1}, {x})", "itemset": "{x}.at[{0}].set({1})",
    "put": "{x}.at[{0}].set({1})", "resize": "{x}.reshape({all})",
}  # fmt: skip
_OPERATORS = (
    " + ",
    " - ",
    " * ",
    " / ",
    " @ ",
    " ** ",
    " == ",
    " != ",
    " < ",
    " > ",
    " <= ",
    " >= ",
)


@at_expression
def use_array_method(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Write a method that arrays lack as the function or the operator that there is."""
    said = re.match(r"'\w*(?:Tracer|Array)' object has no attribute '(\w+)'", case.facts.message)
    if said is None:
        return
    calls = [
        call
        for call in source.nodes(ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == said[1]
        if not source.meaning(call.func)
    ]
    inside = list(ast.walk(source.statement(node)))
    if not any(call in inside for call in calls):
        return
    edits: list[Edit] = []
    for call in calls:
        if call not in inside and source.function(call) is not source.function(node):
            continue  # of another object, perhaps
        edits += _method_edits(source, call, said[1])
    if edits:
        title = f"arrays have no `.{said[1]}`: `{edits[0].text}`"
        yield Candidate("array_method", title, tuple(dict.fromkeys(edits)), 1)


def _method_edits(source: Source, call: ast.Call, name: str) -> list[Edit]:
    assert isinstance(call.func, ast.Attribute)
    owner = call.func.value
    statement = source.statement(call)
    alone = isinstance(statement, ast.Expr) and statement.value is call
    form = _UPDATES.get(name) if alone else _METHODS.get(name)
    given = [source.code(a) for a in call.args]
    options = [f"{_KEYWORDS.get(k.arg or '', k.arg)}={source.code(k.value)}" for k in call.keywords]
    used: list[Edit] = []
    spelled = {"numpy": "", "lax": ""}
    if form is None:
        other = "" if alone else _function_of_arrays(name)
        if not other:
            return []
        text, used = source.spell(other)
        form = f"{text}({{all_of}})"
    for key in spelled:
        if f"{{{key}}}" in form:
            spelled[key], more = source.spell(f"jax.{key}")
            used += more
    binary = any(sign in form for sign in _OPERATORS)
    x = (
        source.operand(owner)
        if binary
        else source.primary(owner)
        if "{x}." in form
        else source.code(owner)
    )
    operands = [source.operand(a) if binary else source.code(a) for a in call.args]
    if any(f"{{{i}}}" in form and i >= len(operands) for i in (0, 1)):
        return []
    all_of = ", ".join([source.code(owner), *given, *options])
    text = form.format(*operands, x=x, all=", ".join([*given, *options]), all_of=all_of, **spelled)
    if alone:
        if not isinstance(owner, (ast.Name, ast.Attribute)):
            return []
        return [source.replace(statement, f"{source.code(owner)} = {text}"), *used]
    parent = source.parents.get(call)
    tight = isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Compare))
    if binary and tight:
        text = f"({text})"
    return [source.replace(call, text), *used]


def _function_of_arrays(name: str) -> str:
    """Return the function of arrays with the name of a method, "" if there is none."""
    modules = ("jax.numpy", "jax.nn", "jax.lax", "jax.numpy.linalg", "jax.scipy.special")
    return next((n for m in modules if _lookup(n := f"{m}.{name}") is not None), "")


# --- keywords ------------------------------------------------------------------------------------

_KEYWORDS = {
    "dim": "axis", "dims": "axis", "keepdim": "keepdims", "keep_dims": "keepdims", "size": "shape", "input": "a",
    "axes": "axis", "n_classes": "num_classes", "seed": "key", "rng": "key", "min": "minval", "max": "maxval",
    "low": "minval", "high": "maxval", "prob": "p", "replacement": "replace",
}  # fmt: skip


@at_expression
def use_existing_keyword(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rename a keyword that a function lacks to the one that it has."""
    said = re.search(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'", case.facts.message)
    if said is None:
        return
    for call in source.nodes(ast.Call, source.statement(node)):
        value = keyword_value(call, said[2])
        known = keywords_of(source, call)
        if value is None or not known:
            continue
        taken = {k.arg for k in call.keywords} | set(known[: len(call.args)])
        free = [name for name in known if name not in taken]
        wanted = _KEYWORDS.get(said[2], "")
        near = [wanted] if wanted in free else difflib.get_close_matches(said[2], free, 2, 0.6)
        keyword = next(k for k in call.keywords if k.arg == said[2])
        for rank, name in enumerate(near, 1):
            text = f"{name}={source.code(value)}"
            title = f"the argument is called `{name}`"
            yield Candidate("renamed_argument", title, (source.replace(keyword, text),), rank)
        if near:
            return


def keywords_of(source: Source, call: ast.Call) -> list[str]:
    """Return the parameters of a function of this package, or of a method of arrays."""
    meaning = source.meaning(call.func)
    if meaning.startswith("jax"):
        function = _lookup(meaning)
    elif isinstance(call.func, ast.Attribute) and not meaning:
        function = _lookup(f"jax.numpy.{call.func.attr}")  # whose methods have its keywords
    else:
        return []
    try:
        known = list(inspect.signature(function).parameters) if callable(function) else []
    except (TypeError, ValueError):
        return []
    return known if meaning else known[1:]
