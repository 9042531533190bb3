"""Keep the words of the old dialect out of module names, first lines and definitions of sagax.

The terms to use instead are those of the field: `iteration` for `round`, `position` for `place`, `shard` for
`divided`. Each rule lists the files that do not follow it yet. A listed file must still break the rule, so
that the lists only shrink: remove a file from its list after the last violation in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "sagax"

MODULE_NAMES = frozenset(
    """absent aside at_once bodies children clusters commits divided divisions entries flat foreign
    implicit inside kept kinds later levels live making manual meeting moving no_tangents ordering outside
    pending places plainer plainly processes products reads records room sliding values varying waiting watching
    words""".split()
)
# Public names of NumPy and SciPy, and terms of random numbers.
EXEMPT_FOLDERS = ("numpy", "random", "scipy")

INTERROGATIVE = re.compile(r"(What|Where|Whether|When|How|Which|Who|Whoever)\b")

DIALECT = frozenset(
    """afresh again alike anew ask asked asks aside divided divisions kept later made makes meant meeting mine
    nobody piece pieces place placed places plainly reads rounds said say says seen tell tells together told
    wanted whoever""".split()
)
EXEMPT_NAMES = frozenset({"place"})  # numpy.place


def words_of(name: str) -> list[str]:
    """Split a name into lowercase words, without the term `in_place`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("in_place", "").split("_")


def definitions(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    """Yield the module, its classes and its functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield node


def dialect_module_name(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find a module name of the dialect."""
    if path.stem in MODULE_NAMES and path.parts[0] not in EXEMPT_FOLDERS:
        yield path.stem


def interrogative_first_line(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find docstrings that begin with an interrogative, not with a verb or a noun."""
    for node in definitions(tree):
        doc = ast.get_docstring(node) or ""
        if INTERROGATIVE.match(doc):
            yield f"{getattr(node, 'name', 'the module')}: {doc.splitlines()[0]}"


def dialect_definition(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find functions and classes whose names have a word of the dialect."""
    for node in definitions(tree):
        if isinstance(node, ast.Module) or node.name in EXEMPT_NAMES:
            continue
        if found := DIALECT.intersection(words_of(node.name)):
            yield f"{node.name} ({', '.join(sorted(found))})"


Rule = Callable[[Path, ast.Module], Iterator[str]]

# The files that still break a rule, by rule.
UNFINISHED: dict[Rule, frozenset[str]] = {
    dialect_module_name: frozenset(),
    interrogative_first_line: frozenset(
        """
        _src/api/arguments.py
        _src/api/autodiff_common.py
        _src/api/compile_log.py
        _src/api/custom_partitioning.py
        _src/api/debug_print.py
        _src/api/derivatives.py
        _src/api/donation.py
        _src/api/eager_transforms.py
        _src/api/environment.py
        _src/api/export.py
        _src/api/export_format.py
        _src/api/guards.py
        _src/api/jit.py
        _src/api/jit_shardings.py
        _src/api/option_enums.py
        _src/api/resharding.py
        _src/api/saved_residuals.py
        _src/api/serialize_executable.py
        _src/api/shape_dtype_struct.py
        _src/api/sharding_pictures.py
        _src/api/stages.py
        _src/api/tracing_utils.py
        _src/argument_checks/argument_names.py
        _src/argument_checks/checks.py
        _src/argument_checks/functions.py
        _src/config.py
        _src/core/__init__.py
        _src/core/avals.py
        _src/core/dtypes.py
        _src/core/families.py
        _src/core/jaxpr.py
        _src/core/meshes.py
        _src/core/sharding_rules.py
        _src/core/shardings.py
        _src/core/tangents.py
        _src/core/trace.py
        _src/core/value.py
        _src/frozen_class.py
        _src/higher_order/compiler_attributes.py
        _src/higher_order/cond.py
        _src/higher_order/custom_derivative_primitives.py
        _src/higher_order/custom_derivatives.py
        _src/higher_order/exported_calls.py
        _src/higher_order/float0_outputs.py
        _src/higher_order/lazy_masks.py
        _src/higher_order/loops.py
        _src/higher_order/remat.py
        _src/higher_order/scan.py
        _src/higher_order/shard_map.py
        _src/higher_order/trace_bodies.py
        _src/higher_order/trace_cache.py
        _src/higher_order/while_loop.py
        _src/lazy_import.py
        _src/lowering/builder.py
        _src/lowering/effect_tokens.py
        _src/lowering/flat_draws.py
        _src/lowering/fusion_fences.py
        _src/lowering/map_subjaxprs.py
        _src/lowering/module.py
        _src/lowering/passes.py
        _src/lowering/reroll.py
        _src/lowering/templates.py
        _src/primitives/accuracy.py
        _src/primitives/arithmetic.py
        _src/primitives/casting.py
        _src/primitives/comparison.py
        _src/primitives/convolution.py
        _src/primitives/convolution_layouts.py
        _src/primitives/convolution_variants.py
        _src/primitives/dot_algorithms.py
        _src/primitives/fourier.py
        _src/primitives/gathering.py
        _src/primitives/linalg/common.py
        _src/primitives/linalg/eigen.py
        _src/primitives/linalg/svd.py
        _src/primitives/ragged.py
        _src/primitives/random_bits.py
        _src/primitives/random_ciphers.py
        _src/primitives/reduce_window.py
        _src/primitives/reductions.py
        _src/primitives/rounding.py
        _src/primitives/scattering.py
        _src/primitives/selection.py
        _src/primitives/special/common.py
        _src/primitives/special/incomplete.py
        _src/primitives/unsupported.py
        _src/primitives/window_geometry.py
        _src/runtime/__init__.py
        _src/runtime/array.py
        _src/runtime/call_paths.py
        _src/runtime/callback_deadlock.py
        _src/runtime/commit_sites.py
        _src/runtime/compilation_cache.py
        _src/runtime/compile.py
        _src/runtime/debug_nans.py
        _src/runtime/device_put.py
        _src/runtime/devices.py
        _src/runtime/disk_store.py
        _src/runtime/eager.py
        _src/runtime/effect_tokens.py
        _src/runtime/key_reuse/analysis.py
        _src/runtime/key_reuse/ledger.py
        _src/runtime/map_limit.py
        _src/runtime/placements.py
        _src/runtime/working_memory.py
        _src/source_stacks.py
        _src/transforms/batch.py
        _src/transforms/masked_cotangents.py
        _src/transforms/prune.py
        core.py
        experimental/checkify/_transform.py
        """.split()
    ),
    dialect_definition: frozenset(
        """
        _src/api/arguments.py
        _src/api/debugger.py
        _src/api/eager_transforms.py
        _src/api/export_format.py
        _src/api/guards.py
        _src/api/jit.py
        _src/api/jit_shardings.py
        _src/api/pmap.py
        _src/api/saved_residuals.py
        _src/api/serialize_executable.py
        _src/api/stages.py
        _src/core/shardings.py
        _src/frozen_class.py
        _src/function_analysis/free_variables.py
        _src/function_analysis/purity.py
        _src/higher_order/custom_derivative_primitives.py
        _src/higher_order/custom_derivatives.py
        _src/higher_order/exported_calls.py
        _src/higher_order/float0_outputs.py
        _src/higher_order/lazy_masks.py
        _src/higher_order/scan.py
        _src/higher_order/shard_map.py
        _src/higher_order/trace_bodies.py
        _src/higher_order/while_loop.py
        _src/lowering/builder.py
        _src/lowering/fusion_fences.py
        _src/lowering/reroll.py
        _src/primitives/scattering.py
        _src/runtime/compilation_cache.py
        _src/runtime/compile.py
        _src/runtime/compile_threads.py
        _src/runtime/debug_nans.py
        _src/runtime/device_put.py
        _src/runtime/devices.py
        _src/runtime/eager.py
        _src/runtime/key_reuse/analysis.py
        _src/transforms/batch.py
        _src/transforms/masked_cotangents.py
        experimental/checkify/_transform.py
        nn/attention.py
        numpy/_choosing.py
        numpy/_fused.py
        numpy/_padding.py
        numpy/_polynomials.py
        scipy/linalg/_functions.py
        """.split()
    ),
}


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    """Parse all modules, by path relative to the package."""
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 300
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
    }


@pytest.mark.parametrize("rule", UNFINISHED, ids=lambda rule: rule.__name__)
def test_rule_holds(rule: Rule, modules: dict[str, ast.Module]) -> None:
    unfinished = UNFINISHED[rule]
    assert unfinished <= modules.keys(), "remove these files, which do not exist"
    broken = {path: list(rule(Path(path), tree)) for path, tree in modules.items()}
    new = {path: found for path, found in broken.items() if found and path not in unfinished}
    assert not new, f"{rule.__name__}: use a standard term, and begin docstrings with a verb"
    done = {path for path in unfinished if not broken[path]}
    assert not done, f"remove these files from UNFINISHED[{rule.__name__}]"


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (dialect_module_name, "_src/core/at_once.py", ""),
        (dialect_module_name, "lax/divisions.py", ""),
        (interrogative_first_line, "x.py", '"""What a call costs."""'),
        (interrogative_first_line, "x.py", 'def f():\n    """Whether it is safe."""'),
        (interrogative_first_line, "x.py", 'class C:\n    """Where it was created."""'),
        (dialect_definition, "x.py", "def told(x): ..."),
        (dialect_definition, "x.py", "class KeptOperands: ..."),
        (dialect_definition, "x.py", "class C:\n    def _asked_axes(self): ..."),
        (dialect_definition, "x.py", "def f():\n    def one_place(): ..."),
    ],
)
def test_rule_finds(rule: Rule, path: str, source: str) -> None:
    assert list(rule(Path(path), ast.parse(source)))


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (dialect_module_name, "numpy/products.py", ""),
        (dialect_module_name, "_src/core/avals.py", ""),
        (interrogative_first_line, "x.py", '"""Count the operations."""\ndef f(): ...'),
        (interrogative_first_line, "x.py", 'def f():\n    """Whatever."""'),
        (dialect_definition, "x.py", "def place(arr, mask, vals): ..."),
        (dialect_definition, "x.py", "def replace(x): ...\nclass Placement: ..."),
        (dialect_definition, "x.py", "def update_in_place(x): ..."),
    ],
)
def test_rule_allows(rule: Rule, path: str, source: str) -> None:
    assert not list(rule(Path(path), ast.parse(source)))
