"""Implement `debug.breakpoint`: open a debugger inside a running executable."""

from __future__ import annotations

import cmd
import contextlib
import linecache
import pprint
import sys
import warnings
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

from sagax._src import trees
from sagax._src.argument_checks import checks
from sagax._src.callbacks.callbacks import debug_callback
from sagax._src.core.value import Array
from sagax._src.diagnostics.spans import is_user_file

_AROUND = 5  # lines shown before and after the current one


class Quit(Exception):
    """The user of the debugger quit."""


class _Variable(NamedTuple):
    """A local variable as a treedef and leaves; arrays are indices into the operands."""

    tree: Any
    leaves: tuple[Any, ...]
    operand_indices: tuple[int | None, ...]  # the operand index of each leaf; None: the leaf itself

    def value(self, operands: Sequence[Any]) -> Any:
        leaves = [
            leaf if index is None else operands[index]
            for leaf, index in zip(self.leaves, self.operand_indices, strict=True)
        ]
        return self.tree.unflatten(leaves)


class _Frame(NamedTuple):
    """A user's stack frame at tracing time."""

    file: str
    line: int
    function: str
    variables: dict[str, _Variable]
    globals: dict[str, Any]


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    stdin: Any = None,
    stdout: Any = None,
    **kwargs: Any,
) -> None:
    """Open a debugger at run time, with the values of local variables at this point.

    The commands are the inspecting ones of pdb: `p` and `pp` evaluate an expression, `l` lists the
    source, `w` shows the stack, `u` and `d` go up and down, `a` shows the local variables. `c`
    continues, and `q` quits (raises `Quit`). Values are those of the run, also under `jit`, `vmap`
    (example by example), `grad` and in loops.

    Args:
      backend: 'cli' or None, the debugger on the terminal.
      filter_frames: leave out frames that are not the user's.
      num_frames: how many frames to keep.
      ordered: keep the order among breakpoints of successive executables.
      stdin, stdout: files to read commands from and to write to, in place of the terminal.

    >>> import io
    >>> commands, shown = io.StringIO("p x + 1" + chr(10) + "c" + chr(10)), io.StringIO()
    >>> @sagax.jit
    ... def f(x):
    ...     y = 2 * x
    ...     sagax.debug.breakpoint(stdin=commands, stdout=shown)
    ...     return y
    >>> f(1.0)
    Array(2., dtype=float32, weak_type=True)
    >>> print(shown.getvalue().splitlines()[1])
    (sagax) 2.0
    """
    checks.one_of("debug.breakpoint", "backend", backend, (None, "cli"), "'cli' or None")
    operands: list[Any] = []
    frames: list[_Frame] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (num_frames is None or len(frames) < num_frames):
        if not filter_frames or is_user_file(frame.f_code.co_filename):
            frames.append(_captured(frame, operands))
        frame = frame.f_back

    def stop(values: list[Any]) -> None:
        shown = [(f, {name: v.value(values) for name, v in f.variables.items()}) for f in frames]
        with _terminal() if stdin is None and stdout is None else contextlib.nullcontext():
            _Debugger(shown, stdin, stdout).cmdloop()

    debug_callback(stop, operands, ordered=ordered)


def _captured(frame: FrameType, operands: list[Any]) -> _Frame:
    code = frame.f_code
    variables = {}
    for name, value in list(frame.f_locals.items()):
        if name == "__builtins__":  # of modules: long, and of no interest
            continue
        leaves, tree = [value], trees.flatten(0)[1]  # of what is no pytree
        # Variables may hold anything; the engine would lose the thread in a dict that contains itself.
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            if trees.flatten_error("debug.breakpoint", name, value, None) is None:
                leaves, tree = trees.flatten(value)
        operand_indices: list[int | None] = []
        for leaf in leaves:
            if isinstance(leaf, Array):
                operand_indices.append(len(operands))
                operands.append(leaf)
            else:
                operand_indices.append(None)
        constants = tuple(
            None if p is not None else x for x, p in zip(leaves, operand_indices, strict=True)
        )
        variables[name] = _Variable(tree, constants, tuple(operand_indices))
    return _Frame(code.co_filename, frame.f_lineno, code.co_name, variables, dict(frame.f_globals))


class _terminal:
    """Return the terminal, even while a test runner captures it."""

    def __enter__(self) -> None:
        debugging = sys.modules.get("_pytest.debugging")
        manager = getattr(getattr(debugging, "pytestPDB", None), "_pluginmanager", None)
        self.capture = manager.getplugin("capturemanager") if manager is not None else None
        if self.capture is not None:
            self.capture.suspend(in_=True)

    def __exit__(self, *_: Any) -> None:
        if self.capture is not None:
            self.capture.resume()


class _Debugger(cmd.Cmd):
    """Run the debugger's commands. Frames go from the innermost outwards."""

    prompt = "(sagax) "

    def __init__(self, frames: Sequence[tuple[_Frame, dict[str, Any]]], stdin: Any, stdout: Any):
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is None and stdout is None
        self.frames = frames
        self.at = 0

    def preloop(self) -> None:
        self._where()

    def write(self, text: Any) -> None:
        print(text, file=self.stdout)

    def _where(self) -> None:
        if self.frames:
            frame, _ = self.frames[self.at]
            self.write(f"> {frame.file}({frame.line}) {frame.function}()")

    def _evaluated(self, text: str) -> tuple[bool, Any]:
        frame, variables = self.frames[self.at]
        try:
            return True, eval(text, dict(frame.globals), dict(variables))
        except Exception as error:
            self.write(f"*** {type(error).__name__}: {error}")
            return False, None

    def default(self, line: str) -> None:
        if line == "EOF":
            raise Quit("the input of the debugger ended")
        self.do_p(line)

    def emptyline(self) -> bool:
        return False

    def do_p(self, text: str) -> None:
        """p expression: its value"""
        fine, value = self._evaluated(text)
        if fine:
            self.write(value)

    def do_pp(self, text: str) -> None:
        """pp expression: its value, laid out"""
        fine, value = self._evaluated(text)
        if fine:
            self.write(pprint.pformat(value))

    def do_a(self, _: str) -> None:
        """a: the local variables"""
        for name, value in self.frames[self.at][1].items():
            self.write(f"{name} = {value!r}")

    def do_l(self, _: str) -> None:
        """l: the source around the current line"""
        frame, _variables = self.frames[self.at]
        for n in range(max(1, frame.line - _AROUND), frame.line + _AROUND + 1):
            text = linecache.getline(frame.file, n)
            if text:
                self.write(f"{'->' if n == frame.line else '  '} {n:4} {text.rstrip()}")

    def do_u(self, _: str) -> None:
        """u: one frame outwards"""
        if self.at + 1 == len(self.frames):
            self.write("*** this is the outermost frame")
            return
        self.at += 1
        self._where()

    def do_d(self, _: str) -> None:
        """d: one frame inwards"""
        if self.at == 0:
            self.write("*** this is the innermost frame")
            return
        self.at -= 1
        self._where()

    def do_w(self, _: str) -> None:
        """w: all frames, the innermost last"""
        for i, (frame, _variables) in reversed(list(enumerate(self.frames))):
            mark = ">" if i == self.at else " "
            self.write(f"{mark} {frame.file}({frame.line}) {frame.function}()")

    do_bt = do_where = do_w
    do_up, do_down, do_list = do_u, do_d, do_l

    def do_c(self, _: str) -> bool:
        """c: go on"""
        return True

    do_continue = do_cont = do_c

    def do_q(self, _: str) -> None:
        """q: end the program"""
        raise Quit("the debugger was left")

    do_quit = do_exit = do_q
