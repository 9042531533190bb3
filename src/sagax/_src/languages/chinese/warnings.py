"""Word in Chinese the warnings of ordinary runs, and the lines that tell how far a program is."""

WARNINGS = {
    # of donated arguments
    "Some donated buffers were not usable: {listed}.": "有些捐赠的缓冲区无法使用：{listed}。",
    "`{function}` does not use it": "`{function}` 没有使用它",
    "the function has no result": "函数没有结果",
    "each result of its type has memory already: {others}": "与它类型相同的每个结果都已有内存：{others}",
    "{result} has that of {name}": "{result} 使用 {name} 的内存",
    "no result has its shape and dtype; the nearest, {result}, is {type} (another shape and dtype)": "没有与它形状和数据类型相同的结果；最接近的 {result} 是 {type}（形状和数据类型不同）",
    "no result has its shape and dtype; the nearest, {result}, is {type} (another shape)": "没有与它形状和数据类型相同的结果；最接近的 {result} 是 {type}（形状不同）",
    "no result has its shape and dtype; the nearest, {result}, is {type} (another dtype)": "没有与它形状和数据类型相同的结果；最接近的 {result} 是 {type}（数据类型不同）",
    "A result takes over the memory of an argument of its own shape and dtype; donate no other argument.": "结果会使用形状和数据类型与它相同的参数的内存；请不要捐赠其他参数。",
    # of memory
    "sagax forgets what it compiled. This process has {used} of the {limit} memory maps that the system allows, and each compiled program takes some. Functions compiled for ever new shapes, or made anew for each call, are the usual reason: sagax.explain_compiles() shows them. The system's limit is vm.max_map_count.": "sagax 丢弃了已编译的程序。系统允许 {limit} 个内存映射，这个进程已有 {used} 个，而每个编译后的程序都要占用一些。常见的原因是函数不断为新的形状编译，或每次调用都重新建立：sagax.explain_compiles() 会显示它们。系统的上限是 vm.max_map_count。",
    # of autojit
    "{place}: `{statement}` became {became}": "{place}：`{statement}` 变为 {became}",
    # of the lines that tell how far a program is
    "sagax: tracing {name} ... {seconds} s": "sagax：正在追踪 {name} …… {seconds} 秒",
    "sagax: lowering {name} ... {seconds} s": "sagax：正在降级 {name} …… {seconds} 秒",
    "sagax: compiling {name} ... {seconds} s": "sagax：正在编译 {name} …… {seconds} 秒",
    "tracing": "追踪",
    "lowering": "降级",
    "compiling": "编译",
    "tracing {name} took {seconds} s": "追踪 {name} 用了 {seconds} 秒",
    "lowering {name} took {seconds} s": "降级 {name} 用了 {seconds} 秒",
    "compiling {name} took {seconds} s": "编译 {name} 用了 {seconds} 秒",
    "{name} took {seconds} s: {parts} s": "{name} 用了 {seconds} 秒：{parts} 秒",
    "{name} took {seconds} s: {count} iterations, {rate}": "{name} 用了 {seconds} 秒：{count} 次迭代，{rate}",
    "sagax: {text}: ended early": "sagax：{text}：提前结束",
    # why `sagax cache` shows no folder
    "the cache on disk needs owners and modes of files": "磁盘缓存需要文件的所有者和权限",
    "the cache on disk is off": "磁盘缓存已关闭",
    "XLA_FLAGS asks for files that are written by compiling": "XLA_FLAGS 要求编译时写入文件",
    "there is no folder for it": "没有用于它的文件夹",
    # of the report's page
    "it runs on several devices": "它在多个设备上运行",
    "its device is only described": "它的设备只是描述",
}
