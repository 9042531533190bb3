"""Prove a fix: compare runs of the original and of the changed script.

The changed script runs with transformations, the original without them (or with, where only the cost
was wrong). A fix is proven if both print the same and keep the same values, for the given inputs and
for others; if a disturbance of 1 % in the edited functions would have been noticed; if each branch of
these functions was taken; and if derivatives agree with finite differences. Anything that could not
be compared is named, and the fix then only ran.
"""

from __future__ import annotations

import ast
import os
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sagax._autofix.compare import (
    different_names,
    exceeds_noise,
    has_nan,
    holds_infinity,
    holds_nan,
    is_noise,
    keeps_infinities,
    same_result,
    same_structure,
    same_values,
)
from sagax._autofix.probes import (
    LOWERED,
    NEGATED,
    RAISED,
    SCALED,
    SHRUNK,
    ZEROED,
    Probe,
    Records,
    Target,
    branch_tests,
    find_data,
    find_targets,
)
from sagax._autofix.run_task import Outcome, Task
from sagax._src.diagnostics.edits import line_edits
from sagax._src.diagnostics.model import Span

_COSTLY = 1.5
_LEAST_SECONDS = 0.2  # shorter differences are noise
_LEAST_BYTES = 256 << 20  # less is the noise of the compiler

Run = Callable[[Sequence[Task]], list[Outcome]]


@dataclass(frozen=True)
class Reference:
    """Say how the original script gives the right result.

    Attributes:
      name: what it is, for the text.
      untransformed: whether it runs without transformations.
      same_draws: whether draws that do not depend on keys make both comparable.
      x64: whether it computes with 64 bits.
      any_for_nan: whether nan in it, which is the mistake, may become a number.
      reliable: whether a difference shows that the fix is wrong.
      mistaken: whether the result is the mistake.
      sorted_keys: whether the keys of its dicts are sorted, as leaves are.
      in_place: calls whose result is thrown away, which update their arguments in it.
      derivatives: whether only derivatives are the mistake, so that finite differences tell what is right.
      assume: whether what no rule of the library allows has its only meaning in it.
      any_for_infinite: whether what overflows in it may become a number, as in a stable function.
    """

    name: str
    untransformed: bool = True
    same_draws: bool = False
    x64: bool = False
    any_for_nan: bool = False
    reliable: bool = True
    mistaken: bool = False
    sorted_keys: bool = False
    in_place: tuple[Span, ...] = ()
    derivatives: bool = False
    assume: bool = False
    any_for_infinite: bool = False


@dataclass
class Proof:
    """Hold what was compared.

    Attributes:
      held: comparisons that hold.
      missing: comparisons that could not be made.
      refuted: the first difference that was found; the fix is wrong.
      cost: time or memory that the fix costs, if it is much.
    """

    held: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    refuted: str = ""
    cost: str = ""

    @property
    def proven(self) -> bool:
        return not self.refuted and not self.missing


def prove(
    task: Task,
    original: Mapping[str, str],
    changed: Mapping[str, str],
    reference: Reference,
    run: Run,
) -> Proof:
    """Compare a script with its changed texts; `original` holds the texts of the changed files."""
    return _Prover(task, original, changed, reference, run).prove()


def rounded_names(
    task: Task,
    original: Mapping[str, str],
    changed: Mapping[str, str],
    reference: Reference,
    run: Run,
    before: Outcome,
    after: Outcome,
) -> set[str]:
    """Return the variables that differ by no more than rounding the inputs changes them in the original.

    `before` and `after` are runs of the original and of the changed script.
    """
    prover = _Prover(task, original, changed, reference, run)
    (nudged,) = run([prover.make_task(prover.before, nudge=True)])
    if not nudged.completed:
        return set()
    return {
        name
        for name in different_names(before, after, reference.any_for_nan) or ()
        if name in nudged.results
        and is_noise(before.results[name], after.results[name], nudged.results[name])
    }


class _Prover:
    def __init__(
        self,
        task: Task,
        original: Mapping[str, str],
        changed: Mapping[str, str],
        reference: Reference,
        run: Run,
    ) -> None:
        functions: list[Target] = []
        for file, text in changed.items():
            lines = {
                line
                for edit in line_edits(file, original[file], text)
                for line in range(edit.span.line, edit.span.end_line + 1)
            }
            functions += find_targets(file, original[file], text, lines)
        self.functions = tuple(functions)
        self.original, self.texts = original, changed
        base = replace(task, watch=False, trial=True, measure=())
        self.before = replace(
            base,
            changed={
                **task.changed,
                **(_sorted_keys(task.script, original) if reference.sorted_keys else {}),
            },
            untransformed=reference.untransformed,
            assume=reference.assume,
            in_place=reference.in_place,
        )
        self.after = replace(base, changed=changed)
        self.reference, self.run = reference, run
        self.proof = Proof()
        self.sensitive = not self.functions
        self.unknown = False  # an infinite result became a number, which nothing is compared with
        self.compared: set[str] = set()  # functions whose own results are numbers that agree

    # -- tasks ------------------------------------------------------------------------------------

    def make_task(self, task: Task, **options: object) -> Task:
        probe = Probe(functions=self.functions, same_draws=self.reference.same_draws)
        x64 = self.reference.x64 and task is self.before
        return replace(task, probe=replace(probe, x64=x64, **options))  # type: ignore[arg-type]

    def _pair(self, **options: object) -> list[Task]:
        return [self.make_task(self.before, **options), self.make_task(self.after, **options)]

    # -- the proof --------------------------------------------------------------------------------

    def prove(self) -> Proof:
        tasks = [*self._pair(), self.make_task(self.after, disturb=True)]
        eager = self.make_task(replace(self.after, untransformed=True), derivatives=True)
        before, after, disturbed, eager_after = self.run([*tasks, eager])
        if not before.completed:
            self.proof.missing.append(f"{self.reference.name} does not run to its end")
            return self.proof
        if self.reference.derivatives and self._prove_derivatives(before, eager_after):
            return self.proof
        if not self._agree(before, after, "for the given inputs"):
            if not self.proof.refuted and self.reference.any_for_nan:
                self._compare_functions(before, eager_after)
            return self.proof
        if self.reference.mistaken:
            self.proof.missing.append(
                "what is right where it is nan"
                if self.reference.any_for_nan
                else "what is right: the result is as before"
            )
        self.proof.held.append(f"same printed results and variables as {self.reference.name}")
        self._compare_functions(before, eager_after)
        if not self.reference.untransformed and _is_unseen(after, disturbed):
            self._compare_eagerly(eager_after)
        self._check_sensitivity(after, disturbed)
        self._compare_derivatives(eager_after)
        if not self.proof.refuted:
            self._vary(before, bool(eager_after.derivatives))
        if not (self.sensitive or self.proof.refuted or self.proof.missing):
            self.proof.missing.append(f"what depends on {_names(self.functions)}")
        if not self.reference.untransformed:
            self.proof.cost = _cost(before, after)
        return self.proof

    def _agree(self, before: Outcome, after: Outcome, where: str) -> bool:
        if not after.completed:
            self.proof.refuted = f"the changed program fails {where}"
        elif not same_result(before, after, self.reference.any_for_nan):
            if not self.reference.reliable or before.derivatives_lost:
                comparable = self.reference.in_place or self.reference.sorted_keys
                what = "differs" if comparable else "has none"
                self.proof.missing.append(f"the result {where}: {self.reference.name} {what}")
            else:
                self.proof.refuted = f"another result than {self.reference.name} {where}"
            return False
        return not self.proof.refuted

    def _compare_functions(self, before: Outcome, after: Outcome) -> None:
        """Compare the results of the edited functions, call by call."""
        if not self.functions:
            return
        if not after.completed or before.records is None or after.records is None:
            self.proof.missing.append("the results of the edited functions by themselves")
            return
        compared = 0
        for name in [target.name for target in self.functions]:
            old = before.records.results.get(name, [])
            new = after.records.results.get(name, [])
            if len(old) != len(new):
                continue
            pairs = [(a, b) for a, b in zip(old, new, strict=True) if same_structure(a, b)]
            wildcard = self.reference.any_for_nan  # nan may stay within a function
            spoiled = False  # an earlier result was nan, which later calls may take
            for a, b in pairs:
                same = same_values(a, b)
                if not same and same_values(a, b, wildcard):
                    same = keeps_infinities(a, b) or self.reference.any_for_infinite
                    self.unknown = self.unknown or not keeps_infinities(a, b)
                reliable = self.reference.reliable or self.reference.any_for_nan
                if not same and self.reference.untransformed and reliable:
                    if not spoiled:
                        self.proof.refuted = f"another result of `{name}`"
                        return
                    self.proof.missing.append(f"the calls of `{name}` after one that gives nan")
                    break
                spoiled = spoiled or (wildcard and holds_nan(a))
                if same_values(a, b) and a:
                    self.compared.add(name)
            if not (self.reference.untransformed and self.reference.reliable or wildcard):
                # a difference is no fault there, but it leaves the function uncompared
                pairs = [(a, b) for a, b in pairs if same_values(a, b)]
                if len(pairs) < len(old):
                    self.compared.discard(name)
            compared += len(pairs)
        if compared:
            self.proof.held.append(f"same results of {_names(self.functions)}")

    def _compare_eagerly(self, after: Outcome) -> None:
        """Compare the results of jitted functions, which are known without transformations only."""
        (before,) = self.run([self.make_task(replace(self.before, untransformed=True))])
        if before.completed and after.completed:
            self._compare_functions(before, after)

    def _prove_derivatives(self, before: Outcome, after: Outcome) -> bool:
        """Return whether the edited functions give what they gave, with derivatives that are right.

        Later calls may get other arguments, since the program follows the derivatives.
        """
        eager = replace(self.after, untransformed=True)
        tasks = [
            self.make_task(self.before, vary=SCALED),
            self.make_task(eager, derivatives=True, vary=SCALED),
        ]
        runs = [(before, after), tuple(self.run(tasks))]
        for old, new in runs:
            if not (old.completed and new.completed and old.records and new.records):
                return False
            if old.records.inputs != new.records.inputs or not self.functions:
                return False
            for target in self.functions:
                first = [r.results.get(target.name, [])[:1] for r in (old.records, new.records)]
                known = first[0] and first[0][0] is not None
                if not known or not same_values(first[0], first[1]):
                    return False
            if not new.derivatives or not all(check.agrees for check in new.derivatives):
                return False
        self.proof.held += [
            f"same results of {_names(self.functions)} for the same arguments",
            "derivatives as by finite differences",
        ]
        return True

    def _check_sensitivity(self, after: Outcome, disturbed: Outcome) -> None:
        if not self.functions:
            return
        records = disturbed.records or Records()
        if records.disturbed and not _is_unseen(after, disturbed):
            self.sensitive = True
            self.proof.held.append(f"a change of 1 % in {_names(self.functions)} shows")
        elif all(target.name in self.compared for target in self.functions):
            self.sensitive = (
                True  # their own results were compared, whatever the program prints of them
            )
        elif records.disturbed:
            self.proof.missing.append(
                f"nothing that the program prints or keeps depends on {_names(self.functions)}"
            )

    def _compare_derivatives(self, outcome: Outcome, where: str = "") -> None:
        found = outcome.derivatives
        wrong = [check for check in found if check.agrees is False]
        if wrong and any("stop_gradient" in text for text in self.original.values()):
            what = "derivatives: the program stops some of them on purpose"
            self.proof.missing += [] if what in self.proof.missing else [what]
        elif wrong:
            self.proof.refuted = (
                f"a derivative is {wrong[0].exact:.3g}{where}, "
                f"by finite differences {wrong[0].difference:.3g}"
            )
        elif any(check.agrees for check in found):
            self.proof.held.append(f"derivatives as by finite differences{where}")

    def _vary(self, before: Outcome, differentiates: bool) -> None:
        """Compare at other inputs, until each branch of the edited functions was taken."""
        taken = _taken(before)
        compared = 0
        small = (SHRUNK,) if self.reference.x64 or self.unknown else ()
        for how in (SCALED, NEGATED, ZEROED, *small, LOWERED):
            if how == LOWERED and compared and not self._untaken(taken):
                break
            tasks = self._pair(vary=how)
            if differentiates:
                eager = replace(self.after, untransformed=True)
                tasks.append(self.make_task(eager, derivatives=True, vary=how))
            old, new, *differentiated = self.run(tasks)
            if not old.completed or not (old.records and old.records.varied):
                continue
            if new.completed and new.records and new.records.inputs != old.records.inputs:
                # arguments of another type would vary in another way: leave them
                if not self._fix_arguments(old.records.inputs ^ new.records.inputs):
                    continue
                old, new = self.run(self._pair(vary=how))
                differentiated = []
                if not old.completed or not (old.records and old.records.varied):
                    continue
                if not new.records or new.records.inputs != old.records.inputs:
                    continue
            if has_nan(old) and (how == ZEROED or not has_nan(before)):  # no point to compare at
                continue
            where = "for other inputs"
            if self._is_chaotic(old, new, how):
                continue
            if not self._agree(old, new, where):
                return
            for outcome in differentiated:
                self._compare_derivatives(outcome, f" {where}")
            if self.proof.refuted:
                return
            compared += 1
            if how == SHRUNK and _is_finite(old) and self._same_functions(old, new):
                self.unknown = False
            self.sensitive = self.sensitive or not same_result(before, old)
            for test, values in _taken(old).items():
                taken.setdefault(test, set()).update(values)
        if self.unknown:
            self.proof.missing.append("what is right where it overflows")
        if not self.proof.refuted:
            self._raise()
        if self.functions and not (compared or self.proof.refuted):
            compared = self._vary_data(before)
        if self.proof.refuted:
            return
        if compared:
            self.proof.held = list(dict.fromkeys(self.proof.held))
            self.proof.held.append(f"same results for {compared} other set(s) of inputs")
        elif self.functions:
            self.proof.missing.append("other inputs")
        for test in self._untaken(taken):
            self._flip(test)
            if self.proof.refuted:
                return
        if taken and not any(m.startswith("a branch") for m in self.proof.missing):
            self.proof.held.append("both sides of each branch")

    def _is_chaotic(self, old: Outcome, new: Outcome, how: int) -> bool:
        """Return whether runs differ where the original differs as much if its arguments are rounded."""
        wildcard = self.reference.any_for_nan
        if not new.completed or same_result(old, new, wildcard):
            return False
        (nudged,) = self.run([self.make_task(self.before, vary=how, nudge=True)])
        return nudged.completed and not exceeds_noise(old, new, nudged)

    def _vary_data(self, before: Outcome) -> int:
        """Compare with other data at the top of the files; return how often that was possible.

        This is for functions without arguments to vary, and for those that the original does not call.
        """
        found = [find_data(file, self.original[file], text) for file, text in self.texts.items()]
        data = tuple(target for target in found if target is not None)
        if not data:
            return 0
        old, new = self.run(self._pair(vary=SCALED, functions=data))
        known = old.completed and old.records is not None and old.records.varied
        if not known or same_result(before, old):  # what varies is not what counts
            return 0
        return int(self._agree(old, new, "for other inputs"))

    def _same_functions(self, old: Outcome, new: Outcome) -> bool:
        """Return whether the edited functions give the same numbers, as far as both are known."""
        if old.records is None:
            return False
        eager = replace(self.after, untransformed=True)
        (after,) = self.run([self.make_task(eager, vary=SHRUNK)])
        if not (new.completed and after.completed and after.records):
            return False
        names = [target.name for target in self.functions]
        pairs = [(old.records.results.get(n), after.records.results.get(n)) for n in names]
        return bool(pairs) and all(bool(a) and same_values(a, b) for a, b in pairs)

    def _fix_arguments(self, inputs: set[str]) -> bool:
        """Vary no longer the arguments that two runs do not share; return whether others are left."""
        names = {text.partition(":")[0] for text in inputs}
        self.functions = tuple(
            replace(f, parameters=tuple(p for p in f.parameters if p not in names))
            for f in self.functions
        )
        return any(f.parameters for f in self.functions)

    def _raise(self) -> None:
        """Compare with larger integers, for which a size that an edit gives may be too small."""
        old, new = self.run(self._pair(vary=RAISED))
        if old.completed and old.records and old.records.varied:
            if not new.completed or not same_result(old, new, self.reference.any_for_nan):
                self.proof.missing.append(
                    f"larger arguments of {_names(self.functions)}, which differ"
                )

    def _untaken(self, taken: Mapping[str, set[bool]]) -> list[str]:
        """Return the tests of branches in the edited functions that had one value only."""
        found: list[str] = []
        for file in self.texts:
            names = tuple(target.name for target in self.functions if target.file == file)
            after = ast.parse(self.texts[file])
            kept = set(branch_tests(after, names))
            for test in branch_tests(ast.parse(self.original[file]), names):
                # a branch that stayed is not the edit's
                if test not in kept and len(taken.get(test, ())) == 1:
                    found.append(test)
        return found

    def _flip(self, test: str) -> None:
        old, new = self.run(self._pair(flip=test))
        flipped = new.records is not None and new.records.varied > 0
        if not old.completed or not flipped:
            self.proof.missing.append("a branch that these inputs do not take")
        else:
            self._agree(old, new, "on the branch that these inputs do not take")


class _SortedKeys(ast.NodeTransformer):
    """Sort the keys of dict displays, and the keywords of `dict`."""

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        pairs = list(zip(node.keys, node.values, strict=True))
        names = [k.value if isinstance(k, ast.Constant) else None for k, _ in pairs]
        if all(isinstance(n, str) for n in names):
            pairs = [pairs[i] for i in sorted(range(len(names)), key=lambda i: str(names[i]))]
            node.keys, node.values = [k for k, _ in pairs], [v for _, v in pairs]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
            node.keywords.sort(key=lambda k: k.arg or "")
        return node


def _sorted_keys(script: str, original: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the script and of the changed files, with the keys of dicts sorted."""
    texts = dict(original)
    if os.path.abspath(script) not in texts:
        with tokenize.open(script) as handle:
            texts[os.path.abspath(script)] = handle.read()
    return {
        file: ast.unparse(ast.fix_missing_locations(_SortedKeys().visit(ast.parse(text))))
        for file, text in texts.items()
    }


def _is_unseen(after: Outcome, disturbed: Outcome) -> bool:
    """Return whether nothing that is printed or kept shows that results were disturbed."""
    return disturbed.completed and same_result(after, disturbed)


def _is_finite(outcome: Outcome) -> bool:
    """Return whether all recorded results of a run are finite."""
    found = list(outcome.records.results.values()) if outcome.records is not None else []
    return not has_nan(outcome) and not any(holds_infinity(x) or holds_nan(x) for x in found)


def _taken(outcome: Outcome) -> dict[str, set[bool]]:
    return {t: set(v) for t, v in outcome.records.tests.items()} if outcome.records else {}


def _names(functions: Sequence[Target]) -> str:
    names = [f"`{target.name.split('#')[0]}`" for target in functions]
    return ", ".join(dict.fromkeys(names))


def _cost(before: Outcome, after: Outcome) -> str:
    if after.seconds > _COSTLY * before.seconds and after.seconds > before.seconds + _LEAST_SECONDS:
        return f"takes {after.seconds:.1f} s instead of {before.seconds:.1f} s, compiling included"
    more = after.peak_bytes - before.peak_bytes
    if after.peak_bytes > _COSTLY * before.peak_bytes and more > _LEAST_BYTES:
        return f"takes {more / 2**20:.0f} MiB more memory"
    return ""
