"""Word the first lines of errors in English or Chinese, by the option `lang` (SAGAX_LANG=zh).

Texts of the user's source stand in backquotes in both languages: `explain` finds expressions by them.
"""

from __future__ import annotations

from sagax._src import config

_ENGLISH = {
    "unknown_in": "not known while `{function}` is traced",
    "unknown": "not known while it is traced",
    "truth_if": "`{text}` is {unknown}, so `if` cannot choose",
    "truth_while": "`{text}` is {unknown}, so `while` cannot know when to stop",
    "truth_assert": "`{text}` is {unknown}, so `assert` cannot check it",
    "truth_operator": "`{text}` is {unknown}, so `{word}` cannot choose",
    "truth_not": "`{text}` is {unknown}, so `not` cannot negate it",
    "truth_items": "`{text}` is {unknown}, so `if` cannot choose the items",
    "truth_match": "`{text}` is {unknown}, so `match` cannot choose",
    "truth_chain": "`{text}` compares twice, with `and` between, and the first answer is {unknown}",
    "truth_in": "`{text}` is {unknown}, so `in` cannot answer",
    "truth_builtin": "`{text}` asks about values that are {unknown}, so `{name}` cannot choose",
    "truth_call": "`{text}` asks whether a value is true that is {unknown}",
    "truth": "whether `{text}` is true is {unknown}",
    "index": "`{text}` needs an index that is {unknown}: a list or a tuple cannot be traced",
    "needs_number": "`{text}` needs a number that is {unknown}",
    "needs_value": "`{text}` needs a value that is {unknown}",
    "needs_integer": "`{text}` needs an integer that is {unknown}",
    "numbers": "`{text}` needs numbers that are {unknown}",
    "mask": "the size of `{text}` depends on a mask whose values are {unknown}",
    "key_in_loop": "`{key}` is used in each round of the loop: all rounds draw the same numbers",
    "key_same": "`{key}` is used twice by the same expression, which draws the same numbers again",
    "key_lines": "`{key}` is used twice, in line {first} and in line {second}",
    "key_places": "`{key}` is used twice, at {first} and at {second}",
    "function_as_array": "`{name}` is a function, `{value}`, where an array is needed",
    "text_as_array": "`{name}` is the text {value}, where an array is needed",
    "no_array": "`{name}` is of class {value}, which is neither an array nor a registered pytree",
    "length": "`{text}` has {size}",
    "lengths": "the sequences of the scan differ in length: {shown}",
}

_CHINESE = {
    "unknown_in": "在追踪 `{function}` 时尚未知",
    "unknown": "在追踪时尚未知",
    "truth_if": "`{text}` 的值{unknown}，因此 `if` 无法选择分支",
    "truth_while": "`{text}` 的值{unknown}，因此 `while` 无法判断何时停止",
    "truth_assert": "`{text}` 的值{unknown}，因此 `assert` 无法检查",
    "truth_operator": "`{text}` 的值{unknown}，因此 `{word}` 无法选择",
    "truth_not": "`{text}` 的值{unknown}，因此 `not` 无法取反",
    "truth_items": "`{text}` 的值{unknown}，因此 `if` 无法筛选元素",
    "truth_match": "`{text}` 的值{unknown}，因此 `match` 无法选择分支",
    "truth_chain": "`{text}` 是由 `and` 连接的两次比较，而第一次比较的结果{unknown}",
    "truth_in": "`{text}` 的值{unknown}，因此 `in` 无法给出结果",
    "truth_builtin": "`{text}` 要比较的值{unknown}，因此 `{name}` 无法选择",
    "truth_call": "`{text}` 要判断一个值的真假，而该值{unknown}",
    "truth": "`{text}` 的真假{unknown}",
    "index": "`{text}` 需要的索引{unknown}：列表和元组不能被追踪",
    "needs_number": "`{text}` 需要的数{unknown}",
    "needs_value": "`{text}` 需要的值{unknown}",
    "needs_integer": "`{text}` 需要的整数{unknown}",
    "numbers": "`{text}` 需要的数值{unknown}",
    "mask": "`{text}` 的大小取决于掩码，而掩码的值{unknown}",
    "key_in_loop": "`{key}` 在循环的每一轮中都被使用：每一轮得到的随机数都相同",
    "key_same": "`{key}` 被同一个表达式使用了两次，两次得到的随机数相同",
    "key_lines": "`{key}` 被使用了两次：第 {first} 行和第 {second} 行",
    "key_places": "`{key}` 被使用了两次：{first} 和 {second}",
    "function_as_array": "`{name}` 是函数 `{value}`，而这里需要数组",
    "text_as_array": "`{name}` 是字符串 {value}，而这里需要数组",
    "no_array": "`{name}` 的类型是 {value}，它既不是数组，也不是已注册的 pytree",
    "length": "`{text}` 的长度为 {size}",
    "lengths": "scan 的各个序列长度不同：{shown}",
}

TEXTS = {"en": _ENGLISH, "zh": _CHINESE}


def text_of(name: str, /, **facts: object) -> str:
    """Return the text of this name in the language of the settings, with the facts in it."""
    return TEXTS[config.current().lang][name].format_map(facts)
