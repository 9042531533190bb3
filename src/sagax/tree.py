"""Map and flatten pytrees, under short names: `tree.map`, `tree.leaves`, `tree.flatten`, ...

Each is the function of `sagax.tree_util` with `tree_` before its name (`dataclass` and `static` have
no counterpart there); how classes become pytrees is described in that module.

>>> from sagax import tree
>>> tree.map(lambda x, y: x - y, {"w": 3.0, "b": 1.0}, {"w": 0.5, "b": 0.5})
{'b': 0.5, 'w': 2.5}
"""

from sagax._src.trees import pytree_dataclass as dataclass
from sagax._src.trees import static
from sagax._src.trees import tree_all as all
from sagax._src.trees import tree_broadcast as broadcast
from sagax._src.trees import tree_flatten as flatten
from sagax._src.trees import tree_flatten_with_path as flatten_with_path
from sagax._src.trees import tree_leaves as leaves
from sagax._src.trees import tree_leaves_with_path as leaves_with_path
from sagax._src.trees import tree_map as map
from sagax._src.trees import tree_map_with_path as map_with_path
from sagax._src.trees import tree_reduce as reduce
from sagax._src.trees import tree_reduce_associative as reduce_associative
from sagax._src.trees import tree_structure as structure
from sagax._src.trees import tree_transpose as transpose
from sagax._src.trees import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "dataclass",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
