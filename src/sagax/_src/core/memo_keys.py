"""Name what a jaxpr's `memo` holds: one key for each thing that is derived from a jaxpr and kept with it.

What a key's comment lists in parentheses follows the key in a tuple. Such a tuple also holds everything
else that the derived thing depends on, such as settings.
"""

from __future__ import annotations

# --- facts about a jaxpr -------------------------------------------------------------------------------

# The variables that nothing reads after an equation, by the equation's index.
LAST_USES = "last uses"
# True: every equation and input is read, so that pruning changes nothing.
IS_PRUNED = "is pruned"
# Whether a collective is in it, at any depth.
HAS_COLLECTIVES = "has collectives"
# The collectives in it, at any depth: (name, axes) of each.
COLLECTIVES = "collectives"
# Whether a size in it is symbolic.
HAS_SYMBOLIC_SIZES = "has symbolic sizes"
# The device meshes that its equations name.
MESHES = "meshes"
# A hashable form that is equal for jaxprs that differ in the names of variables only; None without one.
STRUCTURE = "structure"
# Whether random keys are among its values; and which of its inputs it consumes as keys.
HAS_RANDOM_KEYS = "has random keys"
KEY_REUSE = "key reuse"
# (constants) The axes along which to cast each constant of a loop's body before the loop.
CONSTANT_CASTS = "constant casts"

# --- transformed jaxprs ---------------------------------------------------------------------------------

# (nonzero tangents, instantiated outputs) Forward derivative, and the marks of outputs with a tangent.
JVP = "jvp"
# (nonzero tangents, instantiated outputs) The split into known and linear jaxpr.
LINEARIZE = "linearize"
# (linear inputs, nonzero cotangents, masked) Transpose, and the marks of inputs with a cotangent.
TRANSPOSE = "transpose"
# (first linear input, masked) Transpose that takes and gives all cotangents.
TRANSPOSE_FROM = "transpose from"
# (axis, mapped inputs, forced outputs) Batched form, and where each output is mapped.
BATCH = "batch"
# (used outputs, inputs to keep) The used part, and which inputs it still takes.
PRUNED = "pruned"
# (saved variables) remat's forward pass, which also returns what is saved.
REMAT_FORWARD = "remat forward"
# (linearized jaxpr, saved variables) remat's backward pass, which computes again what is not saved.
REMAT_BACKWARD = "remat backward"

# --- other inputs and outputs ---------------------------------------------------------------------------

# Constants as leading inputs.
HOISTED_CONSTANTS = "hoisted constants"
# (constants) Leading inputs as constants.
INPUTS_TO_CONSTANTS = "inputs to constants"
# (order) Inputs in another order.
PERMUTED_INPUTS = "permuted inputs"
# (index, avals) Further inputs, which it does not read.
MORE_INPUTS = "more inputs"
# (variables) Other outputs.
OTHER_OUTPUTS = "other outputs"
# (constants, outputs dropped, parts) Parts of a loop's carry as constants.
CARRY_TO_CONSTANTS = "carry to constants"
# (variables) The loop-invariant part of a scan's body.
LOOP_INVARIANTS = "loop invariants"
# (index, result) An effect token as input, and as a result.
WITH_TOKEN = "with token"

# --- branches and loops ---------------------------------------------------------------------------------

# (first constant, avals) A branch of cond with the constants of all branches as inputs.
BRANCH_CONSTANTS = "branch constants"
# (results, slots) A known branch that fills the residual slots of all branches.
BRANCH_WITH_SLOTS = "branch with slots"
# (plan, avals) A linear branch that reads its residuals from the slots.
BRANCH_TAKING_SLOTS = "branch taking slots"
# (inputs) A transposed branch with zeros for the cotangents that only other branches give.
BRANCH_FILLED = "branch filled"
# (length, reverse, constants, carry) One iteration of a scan on whole sequences.
SCAN_STEP = "scan step"
# (masked, linear inputs, nonzero cotangents, summed constants, avals) One iteration of a transposed scan.
SCAN_TRANSPOSE = "scan transpose"
# (avals) A while loop's condition that takes the tangents of the carry too.
WHILE_TANGENT_CONDITION = "while tangent condition"
# (bound, condition, constants, name) Parts of a bounded while loop as scans.
WHILE_CHECKPOINTED = "while checkpointed"
# (mapped predicate) The condition of a batched while loop: any element goes on.
WHILE_ANY = "while any"
# (condition, constants, bound) The body of a batched while loop: elements that ended stay.
WHILE_LOCKSTEP = "while lockstep"
# (constants, bound) A while loop's body or condition with a counter in the carry.
WHILE_COUNTED = "while counted"

# --- shard_map ------------------------------------------------------------------------------------------

# (input axes, output axes) With inputs and outputs that vary along mesh axes.
VARYING = "varying"
# (axes) With outputs that vary along the axes of their specs.
VARYING_OUTPUTS = "varying outputs"
# (mapped inputs, axes) With inputs that vary along the axes that they are batched over.
VARYING_INPUTS = "varying inputs"
# (region) With all inexact intermediate values as outputs.
INTERMEDIATE_VALUES = "intermediate values"
# (avals, parameters) The jaxpr of one application of shard_map.
SHARD_MAP_CALL = "shard_map call"
# (outputs, axes) With a leading dimension of size 1 on residuals.
RESIDUALS_EXPANDED = "residuals expanded"
# (inputs, avals) Without that dimension on inputs.
RESIDUALS_SQUEEZED = "residuals squeezed"
# (region, linear inputs, nonzero cotangents, specs) Transpose of a body on each device.
SHARD_MAP_TRANSPOSE = "shard_map transpose"

# --- passes, and what is compiled ---------------------------------------------------------------------

# With fences that keep XLA from fusing what many operations read.
FUSION_FENCES = "fusion fences"
# With random draws of a short last dimension computed along a long one.
FLAT_DRAWS = "flat draws"
# With dot_general on operands of few dimensions.
CANONICAL_DOTS = "canonical dots"
# With loops that Python unrolled as scans.
REROLLED = "rerolled"
# (device or placement, settings) The compiled form.
COMPILED = "compiled"
# (kinds of errors) checkify's form; on each device of a shard_map; and without equations for effects.
CHECKED = "checked"
CHECKED_SHARD_MAP = "checked shard_map"
CHECKED_SILENT = "checked silent"
