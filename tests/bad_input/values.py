"""make_jaxpr, eval_shape, ShapeDtypeStruct, device_put and others, tree functions, stages of jit."""

from __future__ import annotations

import numpy as np

from bad_input import Opaque, add, case, square

three = np.ones(3, np.float32)

# make_jaxpr and eval_shape -------------------------------------------------------------------------


@case("make_jaxpr", "argument: fun", "3.0, of type float", "a function")
def make_jaxpr_of_value(jx):
    jx.make_jaxpr(3.0)


@case("make_jaxpr", "argument: fun", "got: None", "a function")
def make_jaxpr_of_none(jx):
    jx.make_jaxpr(None)


@case("jit of <lambda>", "argument: mode", "str")
def make_jaxpr_argument_text(jx):
    jx.make_jaxpr(lambda x, mode: x)(1.0, "train")


@case()
def make_jaxpr_static(jx):
    return str(jx.make_jaxpr(lambda x, n: x, static_argnums=1)(1.0, "train").out_avals)


@case("jit", "argument: n", "a list of length 1", "a hashable value")
def make_jaxpr_static_list(jx):
    jx.make_jaxpr(lambda x, n: x, static_argnums=1)(1.0, [1])


@case(
    "jit",
    "argument static_argnums must",
    "1",
    "a position from -1 to 0: square takes 1 positional argument",
)
def make_jaxpr_static_beyond(jx):
    jx.make_jaxpr(square, static_argnums=1)(1.0)


@case("jit", "argument: result['a']", "'text', of type str", "an array or a number")
def make_jaxpr_result_text(jx):
    jx.make_jaxpr(lambda x: {"a": "text"})(1.0)


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for jit")
def make_jaxpr_too_few(jx):
    jx.make_jaxpr(add)(1.0)


@case("x (argument of <lambda>)", "tracing `<lambda>` for jit")
def make_jaxpr_if(jx):
    jx.make_jaxpr(lambda x: x if x > 0 else -x)(1.0)


@case("jit of square", "argument: x")
def make_jaxpr_class_with_shape_only(jx):
    class Sized:
        shape = (3,)

    jx.make_jaxpr(square)(Sized())


@case()
def make_jaxpr_struct(jx):
    return str(jx.make_jaxpr(square)(jx.ShapeDtypeStruct((3,), "float32")).out_avals)


@case("eval_shape", "argument: fun", "3.0, of type float", "a function")
def eval_shape_of_value(jx):
    jx.eval_shape(3.0)


@case("jit of <lambda>", "argument: mode", "str")
def eval_shape_argument_text(jx):
    jx.eval_shape(lambda x, mode: x, 1.0, "train")


@case("jit of <lambda>", "argument: p['o']", "Opaque")
def eval_shape_argument_object(jx):
    jx.eval_shape(lambda p: p["a"], {"a": 1.0, "o": Opaque()})


@case("jit", "argument: result", "'text', of type str", "an array or a number")
def eval_shape_result_text(jx):
    jx.eval_shape(lambda x: "text", 1.0)


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for jit")
def eval_shape_too_few(jx):
    jx.eval_shape(add, 1.0)


@case("add", "(3,) and (4,)", "equal sizes, or size 1")
def eval_shape_shapes_do_not_fit(jx):
    jx.eval_shape(add, jx.ShapeDtypeStruct((3,), "float32"), jx.ShapeDtypeStruct((4,), "float32"))


@case("n (argument of <lambda>)", "tracing `<lambda>` for jit")
def eval_shape_value_needed(jx):
    jx.eval_shape(lambda n: jx.numpy.zeros(n), 3)


@case()
def eval_shape_of_duck(jx):
    class Duck:
        shape = (2, 3)
        dtype = np.dtype("float32")

    return jx.eval_shape(lambda x: x.T, Duck())


@case()
def eval_shape_of_none(jx):
    return jx.eval_shape(lambda x: x, None)


# ShapeDtypeStruct ----------------------------------------------------------------------------------


@case("ShapeDtypeStruct.__init__() missing 1 required")
def struct_without_dtype(jx):
    jx.ShapeDtypeStruct((3,))


@case("ShapeDtypeStruct", "argument dtype must", "got None", "a dtype")
def struct_dtype_none(jx):
    jx.ShapeDtypeStruct((3,), None)


@case("ShapeDtypeStruct", "argument: dtype", "'float33'")
def struct_dtype_unknown(jx):
    jx.ShapeDtypeStruct((3,), "float33")


@case("ShapeDtypeStruct", "argument: dtype", "object")
def struct_dtype_object(jx):
    return jx.eval_shape(square, jx.ShapeDtypeStruct((3,), np.dtype(object)))


@case("ShapeDtypeStruct", "argument: dtype", "<U3")
def struct_dtype_text(jx):
    return jx.eval_shape(square, jx.ShapeDtypeStruct((3,), np.dtype("U3")))


@case()
def struct_shape_number(jx):
    jx.ShapeDtypeStruct(3, "float32")


@case("ShapeDtypeStruct", "argument shape must", "got None", "an integer or a sequence of integers")
def struct_shape_none(jx):
    jx.ShapeDtypeStruct(None, "float32")


@case("ShapeDtypeStruct", "argument: shape", "3.0 (float)")
def struct_shape_float(jx):
    return jx.eval_shape(square, jx.ShapeDtypeStruct((3.0,), "float32"))


@case("ShapeDtypeStruct", "argument: shape", "-3 in (-3,)")
def struct_shape_negative(jx):
    return jx.eval_shape(square, jx.ShapeDtypeStruct((-3,), "float32"))


@case("ShapeDtypeStruct", "argument: shape", "(None, 3)", "integers")
def struct_shape_with_none(jx):
    return jx.eval_shape(square, jx.ShapeDtypeStruct((None, 3), "float32"))


@case("ShapeDtypeStruct", "argument shape must", "got 'ab'", "an integer or a sequence of integers")
def struct_shape_text(jx):
    return jx.eval_shape(square, jx.ShapeDtypeStruct("ab", "float32"))


@case("ShapeDtypeStruct", "argument: dtype", "(3,), of type tuple")
def struct_arguments_swapped(jx):
    jx.ShapeDtypeStruct("float32", (3,))


@case("sin", "float32[3]", "an array or a number")
def struct_used_as_array(jx):
    jx.numpy.sin(jx.ShapeDtypeStruct((3,), "float32"))


@case("unsupported operand type(s) for +:")
def struct_in_arithmetic(jx):
    jx.ShapeDtypeStruct((3,), "float32") + 1


@case("jit of square", "argument: x", "ShapeDtypeStruct")
def struct_given_to_jit(jx):
    jx.jit(square)(jx.ShapeDtypeStruct((3,), "float32"))


@case("grad of square", "argument: x", "ShapeDtypeStruct")
def struct_given_to_grad(jx):
    jx.grad(square)(jx.ShapeDtypeStruct((), "float32"))


@case("vmap of square", "argument: x", "ShapeDtypeStruct")
def struct_given_to_vmap(jx):
    jx.vmap(square)(jx.ShapeDtypeStruct((3,), "float32"))


@case("property 'shape' of 'ShapeDtypeStruct' object has no setter")
def struct_assigned(jx):
    s = jx.ShapeDtypeStruct((3,), "float32")
    s.shape = (4,)


@case()
def struct_update_unknown(jx):
    jx.ShapeDtypeStruct((3,), "float32").update(shap=(4,))


@case()
def struct_of_dtype_python_float(jx):
    return jx.ShapeDtypeStruct((3,), float)


@case()
def struct_len(jx):
    return len(jx.ShapeDtypeStruct((3, 2), "float32"))


@case("len() of a scalar: the value has shape ()")
def struct_len_of_scalar(jx):
    len(jx.ShapeDtypeStruct((), "float32"))


# device_put, device_get, block_until_ready ---------------------------------------------------------


@case("device_put", "argument: x", "str")
def device_put_text(jx):
    jx.device_put("text")


@case("device_put", "argument: x['o']", "Opaque")
def device_put_object_leaf(jx):
    jx.device_put({"a": three, "o": Opaque()})


@case("device_put", "argument: x", "ndarray")
def device_put_object_array(jx):
    jx.device_put(np.array([None, 1], object))


@case()
def device_put_none(jx):
    return jx.device_put(None)


@case()
def device_put_list(jx):
    return jx.device_put([1, 2.0])


@case(
    "device_put",
    "'cpu', of type str",
    "a device from sagax.devices(), a sharding, None, or a pytree of these",
)
def device_put_device_text(jx):
    jx.device_put(three, "cpu")


@case(
    "device_put",
    "argument device must",
    "0, of type int",
    "a device from sagax.devices(), a sharding, None, or a pytree of these",
)
def device_put_device_number(jx):
    jx.device_put(three, 0)


@case("device_put", "argument: device", "a list of length 1", "a prefix of the structure of x")
def device_put_device_list(jx):
    jx.device_put(three, jx.devices())


@case("Array has been deleted with shape=float32[3].")
def device_put_deleted(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    jx.device_put(x, jx.devices()[0])


@case()
def device_put_float64_narrows(jx):
    return jx.device_put(np.float64(1.5))


@case("1180591620717411303424", "int32")
def device_put_huge_int(jx):
    jx.device_put(2**70)


@case("device_put() missing 1 required positional argument: 'x'")
def device_put_nothing(jx):
    jx.device_put()


@case()
def device_get_text(jx):
    return jx.device_get("text")


@case()
def device_get_object(jx):
    return type(jx.device_get(Opaque())).__name__


@case()
def device_get_none(jx):
    return jx.device_get(None)


@case("Array has been deleted with shape=float32[3].")
def device_get_deleted(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    jx.device_get([x])


@case()
def device_get_tracer(jx):
    jx.jit(lambda x: jx.device_get(x))(1.0)


@case()
def block_until_ready_text(jx):
    return jx.block_until_ready("text")


@case()
def block_until_ready_tracer(jx):
    return jx.jit(lambda x: jx.block_until_ready(x))(1.0)


@case("Array has been deleted with shape=float32[3].")
def block_until_ready_deleted(jx):
    x = jx.numpy.ones(3) + 1
    x.delete()
    jx.block_until_ready({"a": x})


@case("cpu or cuda", "Unknown backend 'abacus'")
def devices_of_unknown_backend(jx):
    jx.devices("abacus")


@case("typeof", "argument: x", "str")
def typeof_text(jx):
    jx.typeof("text")


@case("typeof", "argument: x", "list")
def typeof_list(jx):
    jx.typeof([1.0])


# named scopes and others ---------------------------------------------------------------------------


@case("named_scope", "argument name must", "got 3", "a string")
def named_scope_number(jx):
    with jx.named_scope(3):
        pass


@case("named_scope", "argument name must", "got None", "a string")
def named_scope_none(jx):
    with jx.named_scope(None):
        pass


@case("named_call", "argument: fun", "3.0, of type float", "a function")
def named_call_of_value(jx):
    jx.named_call(3.0)


@case("x (argument of f)", "tracing `f` for jit")
def compile_time_eval_of_tracer(jx):
    def f(x):
        with jx.ensure_compile_time_eval():
            return int(jx.numpy.sum(x))

    jx.jit(f)(1)


@case("unsupported operand type(s) for +: 'float' and 'str'", "tracing `<lambda>` for jit")
def disable_jit_hides_nothing(jx):
    with jx.disable_jit():
        jx.jit(lambda x: x + "a")(1.0)


@case()
def disable_jit_unhashable_static(jx):
    with jx.disable_jit():
        return jx.jit(lambda x, n: x * len(n), static_argnums=1)(2.0, [1, 2])


@case("jax_enable_x65", "did you mean 'x64'")
def config_unknown_option(jx):
    jx.config.update("jax_enable_x65", True)


@case("numpy_dtype_promotion", "'standard', 'strict'", "'lax'")
def config_bad_value(jx):
    jx.config.update("jax_numpy_dtype_promotion", "lax")


@case("default_device", "'abacus'")
def default_device_text(jx):
    with jx.default_device("abacus"):
        jx.numpy.ones(3) + 1


# trees ---------------------------------------------------------------------------------------------


@case("rest[0]", "tree is a dict with keys 'a', 'b', but rest[0] is a dict with keys 'a'")
def tree_map_other_structure(jx):
    jx.tree.map(add, {"a": 1, "b": 2}, {"a": 1})


@case("tree[1] is a list of length 2, but rest[0][1] is a list of length 1")
def tree_map_other_length(jx):
    jx.tree.map(add, [1, [2, 3]], [1, [2]])


@case("tree_map: f, the first argument, must be a function", "NoneType")
def tree_map_function_none(jx):
    jx.tree.map(None, [1])


@case("tree_map: f, the first argument, must be a function", "other way round")
def tree_map_function_last(jx):
    jx.tree.map([1, 2], square)


@case("the keys of the dict tree cannot be sorted: 'a' (str), 2 (int)")
def tree_map_mixed_keys(jx):
    jx.tree.map(square, {"a": 1, 2: 3})


@case("tree_unflatten: the structure has 2 leaves, but 1")
def tree_unflatten_too_few(jx):
    jx.tree.unflatten(jx.tree.structure([1, 2]), [1])


@case("tree_unflatten: the structure has 2 leaves, but 3")
def tree_unflatten_too_many(jx):
    jx.tree.unflatten(jx.tree.structure([1, 2]), [1, 2, 3])


@case("tree_unflatten: treedef must be a PyTreeDef; got")
def tree_unflatten_swapped(jx):
    jx.tree.unflatten([1, 2], jx.tree.structure([1, 2]))


@case("tree_unflatten: leaves must be iterable; got an")
def tree_unflatten_number(jx):
    jx.tree.unflatten(jx.tree.structure([1, 2]), 3)


@case("tree_transpose: a tree of 2 x 2 = 4 leaves is")
def tree_transpose_wrong_outer(jx):
    jx.tree.transpose(jx.tree.structure([0, 0]), jx.tree.structure((0, 0)), {"a": 1})


@case("tree_reduce: the tree has no leaves and no")
def tree_reduce_empty(jx):
    jx.tree.reduce(add, [])


@case("register_pytree_node", "Node is a pytree node already")
def register_twice(jx):
    class Node:
        pass

    jx.tree_util.register_pytree_node(Node, lambda n: ((), None), lambda a, c: Node())
    jx.tree_util.register_pytree_node(Node, lambda n: ((), None), lambda a, c: Node())


@case("cannot be taken apart", "tracing `<lambda>` for jit")
def flatten_of_class_that_fails(jx):
    class Node:
        pass

    def flatten(node):
        raise RuntimeError("cannot be taken apart")

    jx.tree_util.register_pytree_node(Node, flatten, lambda a, c: Node())
    jx.jit(lambda n: 1.0)(Node())


@case("cannot be put together", "tracing `<lambda>` for jit")
def unflatten_of_class_that_fails(jx):
    class Node:
        pass

    def unflatten(aux, children):
        raise RuntimeError("cannot be put together")

    jx.tree_util.register_pytree_node(Node, lambda n: ((1.0,), None), unflatten)
    jx.jit(lambda n: 1.0)(Node())


@case("jit of <lambda>: n, of class Node, cannot be", "tracing `<lambda>` for jit")
def flatten_of_class_gives_no_pair(jx):
    class Node:
        pass

    jx.tree_util.register_pytree_node(Node, lambda n: 1.0, lambda a, c: Node())
    jx.jit(lambda n: 1.0)(Node())


@case()
def unhashable_metadata(jx):
    class Node:
        pass

    jx.tree_util.register_pytree_node(Node, lambda n: ((1.0,), [1]), lambda a, c: Node())
    return jx.jit(lambda n: 1.0)(Node())


@case("metadata fields", "while tracing `<lambda>` for jit")
def array_as_metadata(jx):
    class Node:
        pass

    jx.tree_util.register_pytree_node(Node, lambda n: ((1.0,), np.ones(2)), lambda a, c: Node())
    f = jx.jit(lambda n: 1.0)
    f(Node())
    f(Node())


# stages --------------------------------------------------------------------------------------------


@case("jit of <lambda>", "argument: mode", "str")
def lower_text(jx):
    jx.jit(lambda x, mode: x).lower(1.0, "train")


@case("add() missing 1 required positional argument: 'y'", "tracing `add` for jit")
def lower_too_few(jx):
    jx.jit(add).lower(1.0)


@case("jit", "argument: result", "'text', of type str", "an array or a number")
def lower_result_text(jx):
    jx.jit(lambda x: "text").lower(1.0)


@case("jit of <lambda>", "argument: p['a']", "Opaque")
def trace_object(jx):
    jx.jit(lambda p: 1.0).trace({"a": Opaque()})


@case("jit", "argument: n", "a list of length 1", "a hashable value")
def lower_unhashable_static(jx):
    jx.jit(lambda x, n: x, static_argnums=1).lower(1.0, [1])


@case("as_text", "argument dialect must", "'fortran'", "'stablehlo' or 'hlo'")
def as_text_of_unknown_dialect(jx):
    jx.jit(square).lower(1.0).as_text(dialect="fortran")


@case("the compiled square", "argument: x", "float32[4]", "float32[3]")
def compiled_other_shape(jx):
    jx.jit(square).lower(three).compile()(np.ones(4, np.float32))


@case("the compiled square", "argument: x", "int32[3]", "float32[3]")
def compiled_other_dtype(jx):
    jx.jit(square).lower(three).compile()(np.ones(3, np.int32))


@case("the compiled <lambda>", "argument: p['a'][0]", "float32[4]", "float32[3]")
def compiled_other_leaf_shape(jx):
    f = jx.jit(lambda p: p["a"][0]).lower({"a": [three]}).compile()
    f({"a": [np.ones(4, np.float32)]})


@case(
    "args when compiled[0] is a dict with keys 'a', but args[0] is a dict with keys 'b'",
    "the compiled <lambda>: the structure of the",
)
def compiled_other_structure(jx):
    f = jx.jit(lambda p: p["a"]).lower({"a": three}).compile()
    f({"b": three})


@case(
    "args when compiled is a tuple of length 1, but args is a tuple of length 2",
    "the compiled square: the structure of the",
)
def compiled_too_many(jx):
    jx.jit(square).lower(three).compile()(three, three)


@case(
    "args when compiled is a tuple of length 2, but args is a tuple of length 1",
    "the compiled add: the structure of the arguments",
)
def compiled_too_few(jx):
    jx.jit(add).lower(three, three).compile()(three)


@case("jit of square", "argument: x", "str")
def compiled_text(jx):
    jx.jit(square).lower(three).compile()("abc")


@case(
    "args when compiled is a tuple of length 1, but args is a tuple of length 0",
    "kwargs when compiled is an empty dict, but kwargs is a dict with keys 'x'",
)
def compiled_keyword_for_position(jx):
    jx.jit(square).lower(three).compile()(x=three)


@case(
    "args when compiled is a tuple of length 1, but args is a tuple of length 2",
    "the compiled <lambda>: the structure of the",
)
def compiled_static_given(jx):
    f = jx.jit(lambda x, n: x * n, static_argnums=1).lower(three, 3).compile()
    f(three, 3)


@case()
def compiled_static_left_out(jx):
    f = jx.jit(lambda x, n: x * n, static_argnums=1).lower(three, 3).compile()
    return f(three)


@case("the compiled square", "tracing `<lambda>` for jit")
def compiled_under_jit(jx):
    f = jx.jit(square).lower(three).compile()
    jx.jit(lambda x: f(x))(three)


@case("the compiled <lambda>", "tracing `CompiledStage` for grad")
def compiled_under_grad(jx):
    f = jx.jit(lambda x: x * x).lower(1.0).compile()
    jx.grad(f)(1.0)


@case("the compiled square", "tracing `CompiledStage` for vmap")
def compiled_under_vmap(jx):
    f = jx.jit(square).lower(np.float32(1.0)).compile()
    jx.vmap(f)(three)


@case("Array has been deleted with shape=float32[3].")
def compiled_with_deleted(jx):
    f = jx.jit(square).lower(three).compile()
    x = jx.numpy.ones(3) + 1
    x.delete()
    f(x)


@case()
def compiled_with_python_float(jx):
    return jx.jit(square).lower(1.0).compile()(2.0)


@case()
def compiled_for_weak_called_with_strong(jx):
    return jx.jit(square).lower(1.0).compile()(np.float32(2.0))


@case("compile", "compiler_options", "'fast'")
def compiler_options_text(jx):
    jx.jit(square).lower(1.0).compile(compiler_options="fast")


@case("xla_go_faster")
def compiler_options_unknown(jx):
    jx.jit(square).lower(1.0).compile(compiler_options={"xla_go_faster": True})


@case()
def lower_keyword_struct(jx):
    return (
        jx.jit(add).lower(three, y=jx.ShapeDtypeStruct((3,), "float32")).compile()(three, y=three)
    )
