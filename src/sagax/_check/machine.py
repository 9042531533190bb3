"""Hold the state of the abstract interpreter: frames, findings, used random keys, clocks."""

from __future__ import annotations

import abc
import ast
from dataclasses import dataclass
from typing import Final

from sagax._check.abstract_values import (
    ABSTRACT,
    Array,
    Clock,
    Closure,
    Frame,
    Function,
    Named,
    Root,
    Tree,
    Unknown,
    Value,
)
from sagax._check.findings import Finding, is_warning

__all__ = ["MAX_DEPTH", "Machine", "Report", "Use"]

MAX_DEPTH: Final = 8  # of calls that are followed


_PAIRED = ("choice", "permutation")


def _imports_jax(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == "jax" for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "jax"


@dataclass(frozen=True, slots=True)
class Use:
    """Describe the use of a random key: the calls that led to it, the outermost first."""

    path: tuple[ast.expr, ...]
    frame_path: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Describe a finding before its position is turned into lines and columns."""

    node: ast.AST
    code: str
    message: str
    help: str


class Machine(abc.ABC):
    """The state of a run over one file, and what all parts of the interpreter use."""

    def __init__(
        self, tree: ast.Module, lines: list[str], displayed: frozenset[int], is_test: bool
    ) -> None:
        self.tree = tree
        self.lines = lines
        self.displayed = displayed  # lines of expressions that a notebook shows
        text = "\n".join(lines)
        self.is_test = is_test
        self.converts = "autojit" in text  # which turns control flow into array operations
        # sagax computes masks of traced arrays where what follows needs no size
        self.lazy_masks = "sagax" in text and not any(_imports_jax(node) for node in ast.walk(tree))
        self.reports: dict[tuple[int, int, str], Report] = {}
        self.module = Frame()
        self.frame = self.module
        self.roots: list[Root] = []
        self.functions: list[Function] = []
        self.traced: dict[tuple[ast.AST, ast.AST], int] = {}  # how often a transformation was met
        self.traced_nodes: set[ast.AST] = set()
        self.evaluated: set[ast.AST] = set()
        self.calls: list[ast.expr] = []  # that are being followed
        self.active: list[ast.AST] = []  # the functions that they run
        self.frames: list[Frame] = [self.module]
        self.used: dict[Value, Use] = {}
        self.statement_calls: dict[
            ast.Call, Value
        ] = {}  # calls that are statements: what they call
        self.donated: dict[Value, ast.AST] = {}
        self.clocks: list[Clock] = []
        self.guarded: int = 0  # in code that expects errors
        self.contexts: int = 0  # with statements
        self.compile_time: int = 0  # in `ensure_compile_time_eval`
        self.consumed: int = 0  # counts uses of keys
        self.in_module = True  # the module's own statements run
        self.work: int = 0
        self.work_limit = 0

    # --- parts that other modules of the interpreter define ---

    @abc.abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """Return the abstract value of an expression."""

    @abc.abstractmethod
    def run_block(self, body: list[ast.stmt]) -> bool:
        """Run statements; return whether they always leave the block."""

    @abc.abstractmethod
    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a target."""

    @abc.abstractmethod
    def call(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        """Return the value of a call."""

    @abc.abstractmethod
    def call_closure(
        self,
        closure: Closure,
        arguments: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
    ) -> Value:
        """Call a function of this file."""

    # --- findings ---

    def report(self, node: ast.AST, code: str, message: str, help: str = "") -> None:
        """Record a finding, unless the code around it expects an error."""
        if self.guarded and not is_warning(code):
            return
        key = (getattr(node, "lineno", 1), getattr(node, "col_offset", 0), code)
        self.reports.setdefault(key, Report(node, code, message, help))

    def findings(self, file: str) -> list[Finding]:
        """Return the findings in the order of their positions."""
        found: list[Finding] = []
        for key in sorted(self.reports):
            report = self.reports[key]
            line = getattr(report.node, "lineno", 1)
            end_line = getattr(report.node, "end_lineno", None) or line
            column = self._column(line, getattr(report.node, "col_offset", 0))
            end_column = self._column(end_line, getattr(report.node, "end_col_offset", None) or 0)
            source = tuple(self.lines[line - 1 : end_line])
            found.append(
                Finding(file, line, column, end_line, end_column, report.code, report.message, report.help, None, source)
            )  # fmt: skip
        return found

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset
        return len(text.encode()[:offset].decode(errors="replace"))

    def text(self, node: ast.AST, limit: int = 50) -> str:
        """Return the source of a node on one line."""
        line = getattr(node, "lineno", 1)
        end_line = getattr(node, "end_lineno", None) or line
        start = self._column(line, getattr(node, "col_offset", 0))
        end = self._column(end_line, getattr(node, "end_col_offset", None) or 0)
        lines = self.lines[line - 1 : end_line]
        if not lines:
            return ""
        lines = [*lines[:-1], lines[-1][:end]]
        lines[0] = lines[0][start:]
        text = " ".join(" ".join(lines).split())
        return text if len(text) <= limit else text[: limit - 3] + "..."

    # --- words ---

    def traced_by(self) -> str:
        """Return `while `f` is traced`."""
        root = self.frame.root
        return f"while `{root.name}` is traced" if root is not None else "while it is traced"

    def depends(self, value: Value) -> str:
        """Return the arguments that a value depends on, as a sentence part."""
        names = sorted(value.deps)[:4]
        if not names:
            return ""
        shown = ", ".join(f"`{name}`" for name in names)
        return f"it depends on {shown}; "

    def alias(self, name: str) -> str:
        """Return how this file calls something of jax: `jnp.where` for jax.numpy.where."""
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:cut])
            for bound, value in self.module.names.items():
                if isinstance(value, Named) and value.name == module:
                    return ".".join([bound, *parts[cut:]])
        return name.replace("jax.numpy.", "jnp.")

    # --- what kind of value ---

    @staticmethod
    def is_abstract(value: Value) -> bool:
        """Return whether the value is certainly a tracer, or a tree of tracers, without numbers."""
        return value.level >= ABSTRACT and isinstance(value, (Array, Tree))

    def fresh(self) -> Value:
        """Return an unknown value."""
        return Unknown()

    # --- random keys ---

    def consume(self, key: Value, node: ast.expr) -> None:
        """Use up a random key; report a second use."""
        if self.is_test:  # tests compare what the same key gives
            return
        if not isinstance(key, (Unknown, Array, Tree)):
            return
        self.consumed += 1
        path = (*self.calls, node)
        use = Use(path, tuple(self.frames))
        earlier = self.used.get(key)
        if earlier is None:
            self.used[key] = use
            return
        shared = 0
        for ours, theirs in zip(use.frame_path, earlier.frame_path, strict=False):
            if ours is not theirs:
                break
            shared += 1
        # the statement of the innermost frame that both uses have in common
        place = path[max(shared - (len(use.frame_path) - len(self.calls)), 0)]
        depth = len(earlier.frame_path) - len(earlier.path) + 1
        first = earlier.path[max(shared - depth, 0)]
        if first is not place and self._is_paired_draw(first, place, earlier.path[-1], node):
            return
        line = getattr(first, "lineno", 0)
        again = "by each iteration" if first is place else f"after line {line}"
        self.report(
            place,
            "SX0108",
            f"`{self._key_text(place)}` uses a random key again {again}, so it draws the same numbers",
            f"split the key, and use each part once: key, subkey = {self.alias('jax.random.split')}(key)",
        )

    def _is_paired_draw(
        self, first: ast.expr, second: ast.expr, one: ast.expr, other: ast.expr
    ) -> bool:
        """Return whether two uses may draw the same numbers on purpose.

        Such are two calls of one helper with other data, and the same permutation of two arrays.
        """
        if not all(isinstance(node, ast.Call) for node in (first, second, one, other)):
            return False
        if first is not one and second is not other:
            return self._called(first) == self._called(second)
        return self._called(one) == self._called(other) and self._called(one).endswith(_PAIRED)

    def _called(self, node: ast.expr) -> str:
        return self.text(node.func) if isinstance(node, ast.Call) else ""

    def _key_text(self, node: ast.AST) -> str:
        return self.text(node, 40)

    # --- clocks ---

    def started(self, node: ast.Call) -> None:
        """Note that a call was made which may still run when it returns."""
        for clock in self.clocks:
            clock.pending = node

    def waited(self) -> None:
        """Note that something may have waited for what runs."""
        for clock in self.clocks:
            clock.pending = None
