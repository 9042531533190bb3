"""cond and switch."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

xs3 = np.arange(3, dtype=np.float32)

# cond ----------------------------------------------------------------------------------------------


@case("cond", "argument: pred", "got: bool[2]", "an array of shape ()")
def cond_pred_vector(jx):
    jx.lax.cond(np.array([True, False]), square, square, 1.0)


@case("cond", "argument: pred", "got: bool[1]", "an array of shape ()")
def cond_pred_one_element(jx):
    jx.lax.cond(np.array([True]), square, square, 1.0)


@case("cond", "argument: pred", "'yes', of type str", "a boolean or a real number, of shape ()")
def cond_pred_text(jx):
    jx.lax.cond("yes", square, square, 1.0)


@case("cond", "argument: pred", "got: None", "a boolean or a real number, of shape ()")
def cond_pred_none(jx):
    jx.lax.cond(None, square, square, 1.0)


@case("cond", "argument: pred", "a list of length 1", "a boolean or a real number, of shape ()")
def cond_pred_list(jx):
    jx.lax.cond([True], square, square, 1.0)


@case("cond", "argument: pred", "the function <lambda>", "a boolean or a real number, of shape ()")
def cond_pred_function(jx):
    jx.lax.cond(lambda x: x > 0, square, square, 1.0)


@case()
def cond_pred_number(jx):
    return jx.lax.cond(2.5, lambda x: x, lambda x: -x, 1.0)


@case("cond", "argument: pred", "1j, of type complex", "a boolean or a real number, of shape ()")
def cond_pred_complex(jx):
    return jx.lax.cond(1j, lambda x: x, lambda x: -x, 1.0)


@case(
    "cond",
    "argument: pred",
    "an array of type key<fry>[]",
    "a boolean or a real number, of shape ()",
)
def cond_pred_key(jx):
    jx.lax.cond(jx.random.key(0), square, square, 1.0)


@case("cond", "argument: true_fun", "1.0, of type float", "a function")
def cond_true_fun_value(jx):
    jx.lax.cond(True, 1.0, square, 1.0)


@case("cond", "argument: false_fun", "got: None", "a function")
def cond_false_fun_none(jx):
    jx.lax.cond(True, square, None, 1.0)


@case("cond", "argument: true_fun", "1.0, of type float", "a function")
def cond_values_for_functions(jx):
    jx.lax.cond(True, 1.0, 2.0)


@case("cond() missing 1 required positional argument: 'false_fun'")
def cond_missing_function(jx):
    jx.lax.cond(True, square)


@case("cond", "argument: output", "got: int32[]", "float32[]")
def cond_output_dtype(jx):
    def halve(x):
        return x / 2

    def keep(x):
        return x

    jx.lax.cond(True, halve, keep, jx.numpy.int32(3))


@case("cond", "argument: output", "float32[2]", "float32[3]")
def cond_output_shape(jx):
    jx.lax.cond(True, lambda x: x, lambda x: x[:2], xs3)


@case("cond", "argument: output['b'][1]", "float32[]", "expected: int32[]")
def cond_output_leaf(jx):
    jx.lax.cond(
        True,
        lambda x: {"a": x, "b": [x, 1]},
        lambda x: {"a": x, "b": [x, 1.5]},
        xs3,
    )


@case(
    "true_fun is a tuple of length 2, but false_fun is a leaf",
    "cond: cond branch outputs must have the same",
)
def cond_output_structure(jx):
    jx.lax.cond(True, lambda x: (x, x), lambda x: x, 1.0)


@case(
    "true_fun is a dict with keys 'a', but false_fun is a dict with keys 'b'",
    "cond: cond branch outputs must have the same",
)
def cond_output_keys(jx):
    jx.lax.cond(True, lambda x: {"a": x}, lambda x: {"b": x}, 1.0)


@case("true_fun is None, but false_fun is a leaf", "cond: cond branch outputs must have the same")
def cond_one_returns_none(jx):
    def update(x):
        x + 1

    jx.lax.cond(True, update, lambda x: x, 1.0)


@case()
def cond_weak_types_differ(jx):
    return jx.lax.cond(True, lambda x: x, lambda x: 1.0, np.float32(2.0))


@case("cond", "argument: output", "float32[]", "expected: int32[]")
def cond_int_and_float_constants(jx):
    jx.lax.cond(True, lambda: 1, lambda: 2.0)


@case("cond", "argument: result", "'b', of type str", "an array or a number")
def cond_result_text(jx):
    jx.lax.cond(True, lambda x: "a", lambda x: "b", 1.0)


@case("cond", "argument: operands[1]", "str")
def cond_operand_text(jx):
    jx.lax.cond(True, lambda x, m: x, lambda x, m: x, 1.0, "train")


@case("cond", "argument: operands[0]['a']", "Opaque")
def cond_operand_object(jx):
    jx.lax.cond(True, lambda x: 1.0, lambda x: 2.0, {"a": Opaque()})


@case("add() missing 1 required positional argument: 'y'", "tracing `add` in cond")
def cond_too_few_operands(jx):
    jx.lax.cond(True, add, add, 1.0)


@case("square() takes 1 positional argument but 2 were given", "tracing `square` in cond")
def cond_too_many_operands(jx):
    jx.lax.cond(True, square, square, 1.0, 2.0)


@case("cond", "argument: operand", "1 by position and operand=2.0")
def cond_operand_twice(jx):
    jx.lax.cond(True, square, square, 1.0, operand=2.0)


@case()
def cond_operand_none(jx):
    return jx.lax.cond(True, lambda _: 1.0, lambda _: 2.0, operand=None)


@case()
def cond_no_operands(jx):
    return jx.lax.cond(True, lambda: 1.0, lambda: 2.0)


@case()
def cond_old_form_of_five(jx):
    return jx.lax.cond(True, 1.0, lambda x: x, 2.0, lambda x: -x)


@case()
def cond_vmapped_pred(jx):
    return jx.vmap(lambda p: jx.lax.cond(p, lambda: 1.0, lambda: 2.0))(np.array([True, False]))


@case("x (argument of <lambda>)", "float32[]")
def cond_leaks_side_effect(jx):
    kept = []
    jx.lax.cond(True, lambda x: (kept.append(x), x)[1], lambda x: x, 1.0)
    return kept[0] + 1


# switch --------------------------------------------------------------------------------------------


@case("switch", "argument: branches", "no functions", "at least one function")
def switch_no_branches(jx):
    jx.lax.switch(0, [], 1.0)


@case("switch", "argument: branches[1]", "2.0, of type float", "a function")
def switch_branch_value(jx):
    jx.lax.switch(0, [square, 2.0], 1.0)


@case("switch", "argument: branches", "the function square", "a sequence of functions")
def switch_branches_function(jx):
    jx.lax.switch(0, square, 1.0)


@case("switch", "argument: branches", "got: None", "a sequence of functions")
def switch_branches_none(jx):
    jx.lax.switch(0, None, 1.0)


@case("switch", "argument: branches[0]", "'a', of type str", "a function")
def switch_branches_dict(jx):
    jx.lax.switch(0, {"a": square, "b": square}, 1.0)


@case("switch", "argument: index", "got: 1.0", "an integer of shape ()")
def switch_index_float(jx):
    jx.lax.switch(1.0, [square, square], 1.0)


@case("switch", "argument: index", "got: True", "an integer of shape ()")
def switch_index_bool(jx):
    jx.lax.switch(True, [square, square], 1.0)


@case("switch", "argument: index", "int64[2]", "an integer of shape ()")
def switch_index_vector(jx):
    jx.lax.switch(np.array([0, 1]), [square, square], 1.0)


@case("switch", "argument: index", "str")
def switch_index_text(jx):
    jx.lax.switch("a", [square, square], 1.0)


@case("switch", "argument: index", "NoneType")
def switch_index_none(jx):
    jx.lax.switch(None, [square, square], 1.0)


@case()
def switch_index_beyond_is_clamped(jx):
    return jx.lax.switch(7, [lambda x: x, lambda x: -x], 1.0)


@case()
def switch_index_negative_is_clamped(jx):
    return jx.lax.switch(-7, [lambda x: x, lambda x: -x], 1.0)


@case("switch", "argument: output", "float32[]", "expected: int32[]")
def switch_output_dtype(jx):
    jx.lax.switch(0, [lambda x: x, lambda x: x * 2, lambda x: x * 0.5], np.int32(1))


@case(
    "branches[0] is a list of length 1, but branches[1] is a tuple of length 1",
    "switch: switch branch outputs must have the same",
)
def switch_output_structure(jx):
    jx.lax.switch(0, [lambda x: [x], lambda x: (x,)], 1.0)


@case()
def switch_single_branch(jx):
    return jx.lax.switch(5, [lambda x: x + 1], 1.0)


@case("switch", "argument: operands[0]", "str")
def switch_operand_text(jx):
    jx.lax.switch(0, [lambda x: 1.0, lambda x: 2.0], "x")


@case("switch_branch_arity.<locals>.<lambda>() missing 1", "tracing `<lambda>` in switch")
def switch_branch_arity(jx):
    jx.lax.switch(0, [lambda x: x, lambda x, y: x], 1.0)


@case()
def switch_index_uint8(jx):
    return jx.lax.switch(np.uint8(200), [lambda x: x, lambda x: -x], 1.0)
