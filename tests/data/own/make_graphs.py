#!/usr/bin/env python3
"""Writes graphs of one's own with what NumPy computes of them: random graphs of the ops on tensors, and one graph for
each op of layers that arrays can be given to. The outputs are committed; run it again only to change them.

  pip install numpy==2.4.6 ml_dtypes==0.6.0
  make_graphs.py tests/data/own

graphs.json is a list of {"name", "graph", "inputs", "outputs": {value: tolerance}}; graphs.npz has the arrays of each
as NAME/input and NAME/value. A tolerance is relative to the largest element: 0 asks for the same bits.
"""
import json
import pathlib
import sys

import numpy as np

import spatial_graphs

DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16),
          "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
          "u8": np.dtype(np.uint8), "bool": np.dtype(np.bool_)}
try:
    import ml_dtypes
    DTYPES["bf16"] = np.dtype(ml_dtypes.bfloat16)
except ImportError:  # random graphs do without
    pass
FLOATS = ("f32", "f16", "bf16")
WIDTH = {"f32": 24, "f16": 11, "bf16": 8, "u8": 8, "bool": 1, "i8": 7, "i16": 15, "i32": 31, "i64": 63}
ROUNDED = {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}  # of the largest element, for one result that is not exact


def holds(to, of):
    """Whether `to` has every value of `of`: the rule of engine/ops/tensor_support.h."""
    if to == of:
        return True
    if of in FLOATS:
        return to == "f32"
    if to == "bool" or (to == "u8" and of.startswith("i")):
        return False
    return WIDTH[to] >= WIDTH[of]


def promoted(a, b):
    return a if holds(a, b) else b if holds(b, a) else None


class Value:
    """A value of the graph: its array, and how far off a right result may be (0: not at all)."""

    def __init__(self, name, dtype, array, error=0.0):
        self.name, self.dtype, self.array, self.error = name, dtype, np.asarray(array), error


class Maker:
    def __init__(self, name, seed=0):
        self.name, self.random = name, np.random.default_rng(seed)
        self.inputs, self.nodes, self.values = [], [], []

    def input(self, dtype, shape, array=None, name=None, dims=None):
        name = name or f"x{len(self.inputs)}"
        if array is None:
            array = self.numbers(dtype, shape)
        value = Value(name, dtype, np.asarray(array).astype(DTYPES[dtype]))
        self.inputs.append((value, list(shape) if dims is None else dims))
        return value

    def numbers(self, dtype, shape):
        """Quarters from -4 to 4 and small whole numbers: their sums and products are exact in most types."""
        if dtype == "bool":
            return self.random.integers(0, 2, shape)
        if dtype in FLOATS:
            return self.random.integers(-16, 17, shape) / 4
        low = 0 if dtype == "u8" else -20
        return self.random.integers(low, 21, shape)

    def node(self, op, dtype, array, inputs, attributes=None, error=0.0, output=None):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append({"op": op, "name": name, "inputs": inputs, "attributes": attributes or {}})
        array = np.asarray(array)
        value = Value(name if output is None else f"{name}:{output}", dtype, array.astype(DTYPES[dtype]), error)
        self.values.append(value)
        return value

    def done(self, cases, arrays):
        entries = [{"name": value.name, "dtype": value.dtype, "shape": dims} for value, dims in self.inputs]
        graph = {"orrery_graph": 1, "inputs": entries, "nodes": self.nodes,
                 "outputs": [value.name for value in self.values]}
        cases.append({"name": self.name, "graph": graph, "inputs": [value.name for value, _ in self.inputs],
                      "outputs": {value.name: value.error for value in self.values}})
        for value in [value for value, _ in self.inputs] + self.values:
            arrays[f"{self.name}/{value.name}"] = np.asarray(value.array, order="C")


def combine(maker, op, a, b):
    common = promoted(a.dtype, b.dtype)
    if op == "div" and common not in FLOATS:
        common = "f32"
    x, y = (v.array.astype(DTYPES[common]) for v in (a, b))
    wide = np.float32 if common in FLOATS else np.int64
    x, y = x.astype(wide), y.astype(wide)
    inputs, error = {"a": a.name, "b": b.name}, max(a.error, b.error)
    if op in ("add", "sub", "mul", "div"):
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op]
        with np.errstate(all="ignore"):
            result = function(x, y).astype(DTYPES[common])
        inexact = error > 0 or op == "div" or (common in FLOATS and not np.array_equal(
            result.astype(np.float64), function(x.astype(np.float64), y.astype(np.float64))))
        return maker.node(op, common, result, inputs, error=2 * error + ROUNDED[common] if inexact else 0.0)
    if op in ("floor_div", "mod", "pow", "maximum", "minimum"):
        function = {"floor_div": np.floor_divide, "mod": np.mod, "pow": np.power, "maximum": np.maximum,
                    "minimum": np.minimum}[op]
        with np.errstate(all="ignore"):
            result = function(x, y).astype(DTYPES[common])
        exact = op != "pow" or common not in FLOATS
        return maker.node(op, common, result, inputs, error=error + (0.0 if exact else ROUNDED[common]))
    if op.startswith(("logical", "bitwise")):
        function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op.split("_")[1]]
        return maker.node(op, common, function(x, y).astype(DTYPES[common]), inputs)
    function = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
                "greater": np.greater, "greater_equal": np.greater_equal}[op]
    return maker.node(op, "bool", function(x, y), inputs)


MAPS = {"abs": np.abs, "negate": np.negative, "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt,
        "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "sin": np.sin, "cos": np.cos,
        "acos": np.arccos, "atanh": np.arctanh, "erf": lambda x: erf(x), "floor": np.floor, "round": np.round,
        "trunc": np.trunc, "is_nan": np.isnan, "is_inf": np.isinf, "bitwise_not": np.invert,
        "logical_not": np.logical_not}
INEXACT = ("exp", "log", "log1p", "sqrt", "rsqrt", "sigmoid", "sin", "cos", "acos", "atanh", "erf")


def map_of(maker, op, src):
    """A function of one value that is exact, but of what rounds nothing of one that is not."""
    x = src.array.astype(np.float64) if src.dtype in FLOATS else src.array
    with np.errstate(all="ignore"):
        result = MAPS[op](x)
    dtype = "bool" if op in ("is_nan", "is_inf") else src.dtype
    return maker.node(op, dtype, result, {"src": src.name}, error=src.error + (ROUNDED[dtype] if op in INEXACT else 0.0))


GELU = {"none": lambda x: x * 0.5 * erfc(-x / np.sqrt(2.0)),
        "tanh": lambda x: x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))),
        "quick": lambda x: x / (1 + np.exp(-1.702 * x))}
ACTIVATIONS = {"silu": lambda x: x / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}


def activation(maker, op, approximation, src):
    """Of a value that is exact."""
    x = src.array.astype(np.float64)
    function = GELU[approximation] if op == "gelu" else ACTIVATIONS[op]
    attributes = {"approximate": approximation} if op == "gelu" else {}
    with np.errstate(over="ignore"):  # far below 0 the share is 0
        result = function(x)
    return maker.node(op, src.dtype, result, {"src": src.name}, attributes, 0.0 if op == "relu" else ROUNDED[src.dtype])


def philox(seed, counters):
    """Philox4x32-10: the four words of each counter, which are rows of four."""
    words = np.array(counters, np.uint64).reshape(-1, 4).T.copy()
    key, low = [seed & 0xFFFFFFFF, seed >> 32], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        one, two = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = np.array([(two >> np.uint64(32)) ^ words[1] ^ np.uint64(key[0]), two & low,
                          (one >> np.uint64(32)) ^ words[3] ^ np.uint64(key[1]), one & low])
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return words.T


def random_numbers(maker, op, dtype, shape, seed, a, b):
    """As kernels/generate.h says."""
    size = int(np.prod(shape))
    stream = 0x756E6966 if op == "random_uniform" else 0x67617573
    words = philox(seed, [[group, 0, stream, 0] for group in range((size + 3) // 4)]).reshape(-1)
    if op == "random_uniform":
        numbers, names = a + (words >> np.uint64(8)) * 2.0 ** -24 * (b - a), ("low", "high")
    else:
        pairs = words.reshape(-1, 2).astype(np.float64)
        radius, turn = np.sqrt(-2 * np.log((pairs[:, 0] + 1) * 2.0 ** -32)) * b, 2 * np.pi * pairs[:, 1] * 2.0 ** -32
        numbers, names = a + np.stack([radius * np.cos(turn), radius * np.sin(turn)], -1).reshape(-1), ("mean", "std")
    numbers = numbers[:size].reshape(shape).astype(np.float32)
    attributes = {"shape": list(shape), "seed": seed, "dtype": dtype, names[0]: float(a), names[1]: float(b)}
    return maker.node(op, dtype, numbers, {}, attributes, 0.0 if op == "random_uniform" else ROUNDED[dtype])


def dropout(maker, src, p, seed):
    """As kernels/dropout.h says."""
    rows = src.array.reshape(-1, src.array.shape[-1] if src.array.ndim else 1).astype(np.float32)
    groups = (rows.shape[1] + 3) // 4
    words = philox(seed, [[group, row, 0, 0x64726F70] for row in range(rows.shape[0]) for group in range(groups)])
    words = words.reshape(rows.shape[0], -1)[:, :rows.shape[1]]
    kept = np.where((words >> np.uint64(8)) <= int((1 - p) * 2 ** 24), rows * np.float32(1 / (1 - p)), np.float32(0))
    return maker.node("dropout", src.dtype, kept.reshape(src.array.shape), {"src": src.name}, {"p": p, "seed": seed},
                      src.error + (ROUNDED[src.dtype] if src.error else 0.0))


def norm(maker, op, src, weight, bias, groups):
    """Of values that are exact, with vectors as long as the last dim, or the second of group_norm."""
    x, epsilon = src.array.astype(np.float64), 0.25
    over = (-1,)
    shape = x.shape
    if op == "group_norm":
        x = x.reshape(shape[0], groups, -1)
    mean = 0 if op == "rms_norm" else x.mean(axis=over, keepdims=True)
    y = ((x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=over, keepdims=True) + epsilon)).reshape(shape)
    along = [1, -1] + [1] * (len(shape) - 2) if op == "group_norm" else [-1]
    y = y * weight.array.astype(np.float64).reshape(along)
    inputs = {"src": src.name, "weight": weight.name}
    if bias is not None:
        y, inputs["bias"] = y + bias.array.astype(np.float64).reshape(along), bias.name
    attributes = {"epsilon": epsilon, **({"num_groups": groups} if op == "group_norm" else {})}
    return maker.node(op, src.dtype, y, inputs, attributes, 4 * ROUNDED[src.dtype])


def reduce(maker, op, src, axes, keepdims):
    wide = src.array.astype(np.float64 if src.dtype in FLOATS else np.int64)
    function = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min, "argmax": np.argmax,
                "argmin": np.argmin}[op]
    attributes = {"axis": axes, "keepdims": keepdims}
    if op.startswith("arg"):
        result = function(wide, axis=axes[0] if axes else None, keepdims=keepdims)
        return maker.node(op, "i64", result, {"src": src.name}, attributes)
    result = function(wide, axis=tuple(axes) or None, keepdims=keepdims)
    with np.errstate(all="ignore"):
        rounded = result.astype(DTYPES[src.dtype])
    exact = src.dtype not in FLOATS or (not src.error and np.array_equal(rounded.astype(np.float64), result))
    grows = {"sum": wide.size, "prod": 4 * wide.size}.get(op, 1)
    return maker.node(op, src.dtype, rounded, {"src": src.name}, attributes,
                      0.0 if exact else grows * src.error + ROUNDED[src.dtype])


def cumsum(maker, src, axis, exclusive, reverse):
    wide = src.array.astype(np.float64 if src.dtype in FLOATS else np.int64)
    turned = np.flip(wide, axis) if reverse else wide
    result = np.cumsum(turned, axis=axis)
    if exclusive:
        result = result - turned
    result = np.flip(result, axis) if reverse else result
    with np.errstate(all="ignore"):
        rounded = result.astype(DTYPES[src.dtype])
    exact = src.dtype not in FLOATS or np.array_equal(rounded.astype(np.float64), result)
    return maker.node("cumsum", src.dtype, rounded, {"src": src.name},
                      {"axis": axis, "exclusive": exclusive, "reverse": reverse},
                      wide.size * src.error + (0.0 if exact else ROUNDED[src.dtype]))


def cast(maker, src, dtype):
    array = src.array
    if src.dtype in FLOATS and dtype not in FLOATS + ("bool",):
        info = np.iinfo(DTYPES[dtype])
        array = np.clip(np.trunc(array.astype(np.float64)), info.min, info.max)
    if dtype in ("f16", "bf16"):
        array = array.astype(np.float32)
    with np.errstate(all="ignore"):
        result = array.astype(DTYPES[dtype])
    error = src.error + (ROUNDED[dtype] if dtype in FLOATS and src.dtype not in ("bool",) else 0)
    return maker.node("cast", dtype, result, {"src": src.name}, {"dtype": dtype}, error if src.error else 0.0)


def softmax(maker, src, axis):
    x = src.array.astype(np.float64)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return maker.node("softmax", src.dtype, e / e.sum(axis=axis, keepdims=True), {"src": src.name}, {"axis": axis},
                      8 * src.error + ROUNDED[src.dtype])


def matmul(maker, a, b, transpose_a=False, transpose_b=False):
    x, y = a.array.astype(np.float64), b.array.astype(np.float64)
    x = np.swapaxes(x, -1, -2) if transpose_a else x
    y = np.swapaxes(y, -1, -2) if transpose_b else y
    dtype = promoted(a.dtype, b.dtype)
    return maker.node("matmul", dtype, np.matmul(x, y), {"a": a.name, "b": b.name},
                      {"transpose_a": transpose_a, "transpose_b": transpose_b},
                      4 * (a.error + b.error) + 4 * ROUNDED[dtype])


def random_graph(seed, spatial=False):
    """`spatial`: with convolutions and pools too."""
    maker = Maker(f"random_{seed}", seed)
    random = maker.random
    shapes = [(2, 3), (3,), (1, 3), (2, 1), (4, 2, 3), ()]
    pool = [maker.input(str(random.choice(list(DTYPES))), shapes[random.integers(len(shapes))]) for _ in range(4)]
    pool.append(maker.input("f32", (2, 3)))
    divisors = [maker.input(dtype, (3,), random.choice([1, 2, 4, -2], 3)) for dtype in ("f32", "i32", "f16")]

    def pick(test):
        fitting = [value for value in pool if test(value)]
        return fitting[random.integers(len(fitting))] if fitting else None

    def broadcasts(a, b):
        try:
            return a is not None and b is not None and np.broadcast(a.array, b.array).ndim <= 6
        except ValueError:
            return False

    def batches(a, b):
        try:
            return len(np.broadcast_shapes(a, b)) <= 4
        except ValueError:
            return False

    def binary(exact=False, bools=False):
        a = pick(lambda v: not (exact and v.error))
        b = pick(lambda v: broadcasts(a, v) and not (exact and v.error) and promoted(a.dtype, v.dtype)
                 and (bools or promoted(a.dtype, v.dtype) != "bool"))
        return a, b

    def step(kind):
        if kind in ("add", "sub", "mul"):
            a, b = binary()
            return b and combine(maker, kind, a, b)
        if kind == "div":
            a = pick(lambda v: v.dtype != "bool")
            fitting = [d for d in divisors if broadcasts(a, d) and promoted(a.dtype, d.dtype)] if a else []
            return combine(maker, "div", a, fitting[random.integers(len(fitting))]) if fitting else None
        if kind == "compare":
            a, b = binary(exact=True, bools=True)
            return b and combine(maker, str(random.choice(["equal", "not_equal", "less", "less_equal", "greater",
                                                           "greater_equal"])), a, b)
        if kind == "where":
            condition = pick(lambda v: v.dtype == "bool")
            a, b = binary(bools=True)
            if not condition or not b or not broadcasts(condition, a) or not broadcasts(condition, b):
                return None
            dtype = promoted(a.dtype, b.dtype)
            result = np.where(condition.array, a.array.astype(DTYPES[dtype]), b.array.astype(DTYPES[dtype]))
            return maker.node("where", dtype, result, {"condition": condition.name, "a": a.name, "b": b.name},
                              error=max(a.error, b.error))
        if kind == "convolution":
            return spatial_graphs.convolution(maker, promoted, ROUNDED)
        if kind == "pool":
            return spatial_graphs.pool(maker, pick, ROUNDED)
        if kind == "cast":
            dtype = str(random.choice(list(DTYPES)))
            src = pick(lambda v: not v.error or dtype in FLOATS)
            return src and cast(maker, src, dtype)
        if kind == "softmax":
            src = pick(lambda v: v.dtype in FLOATS and v.array.ndim > 0 and np.abs(v.array.astype(np.float64)).max() < 50)
            return src and softmax(maker, src, int(random.integers(-src.array.ndim, src.array.ndim)))
        if kind == "matmul":
            a = pick(lambda v: v.dtype in FLOATS and v.array.ndim >= 2)
            b = pick(lambda v: a and v.dtype in FLOATS and v.array.ndim >= 2 and promoted(a.dtype, v.dtype)
                     and v.array.shape[-1] == a.array.shape[-1] and batches(a.array.shape[:-2], v.array.shape[:-2]))
            return b and matmul(maker, a, b, transpose_b=True)
        if kind == "transpose":
            src = pick(lambda v: v.array.ndim >= 2)
            if not src:
                return None
            order = [int(i) for i in random.permutation(src.array.ndim)]
            name = str(random.choice(["permutation", "perm", "axes"]))
            return maker.node("transpose", src.dtype, np.transpose(src.array, order), {"src": src.name}, {name: order},
                              src.error)
        if kind == "reshape":
            src = pick(lambda v: v.array.size > 1)
            shape = [-1] if random.integers(2) else [1, -1, 1]
            return src and maker.node("reshape", src.dtype, src.array.reshape(shape), {"src": src.name},
                                      {"shape": shape}, src.error)
        if kind == "concat":
            a = pick(lambda v: v.array.ndim > 0)
            axis = int(random.integers(-a.array.ndim, a.array.ndim)) if a else 0
            return a and maker.node("concat", a.dtype, np.concatenate([a.array] * 3, axis), {"parts": [a.name] * 3},
                                    {"axis": axis}, a.error)
        if kind == "map":
            op = str(random.choice(list(MAPS)))
            if op in ("bitwise_not", "logical_not"):
                src = pick(lambda v: v.dtype == "bool" if op == "logical_not" else v.dtype not in FLOATS + ("bool",))
            elif op in ("abs", "negate"):
                src = pick(lambda v: v.dtype != "bool")
            else:
                src = pick(lambda v: v.dtype in FLOATS and not v.error)
            return src and map_of(maker, op, src)
        if kind == "pair":
            op = str(random.choice(["floor_div", "mod", "maximum", "minimum"]))
            a, b = binary(exact=op in ("floor_div", "mod"))
            return b and combine(maker, op, a, b)
        if kind == "pow":
            a = pick(lambda v: not v.error and v.dtype != "bool")
            fitting = [d for d in divisors if broadcasts(a, d) and promoted(a.dtype, d.dtype)] if a else []
            fitting = [d for d in fitting if promoted(a.dtype, d.dtype) in FLOATS or d.array.min() >= 0]
            return combine(maker, "pow", a, fitting[random.integers(len(fitting))]) if fitting else None
        if kind == "logic":
            bits = bool(random.integers(2))
            def fits(v):
                return v.dtype not in FLOATS + ("bool",) if bits else v.dtype == "bool"
            a = pick(fits)
            b = pick(lambda v: broadcasts(a, v) and fits(v) and promoted(a.dtype, v.dtype))
            return b and combine(maker, ("bitwise_" if bits else "logical_") + str(random.choice(["and", "or", "xor"])), a, b)
        if kind == "reduce":
            op = str(random.choice(["sum", "mean", "prod", "max", "min", "argmax", "argmin"]))
            src = pick(lambda v: v.dtype != "bool" and (op != "mean" or v.dtype in FLOATS)
                       and not (op.startswith("arg") and v.error) and (op != "prod" or v.array.size <= 12))
            if not src:
                return None
            first = int(random.integers(src.array.ndim + 1))
            count = 0 if first == src.array.ndim else int(random.integers(1, src.array.ndim - first + 1))
            axes = list(range(first, first + (min(count, 1) if op.startswith("arg") else count)))
            return reduce(maker, op, src, axes, bool(random.integers(2)))
        if kind == "cumsum":
            src = pick(lambda v: v.dtype != "bool" and v.array.ndim > 0)
            return src and cumsum(maker, src, int(random.integers(-src.array.ndim, src.array.ndim)),
                                  bool(random.integers(2)), bool(random.integers(2)))
        if kind == "view":
            src = pick(lambda v: 0 < v.array.ndim < 5)
            if not src:
                return None
            ones = [d for d, size in enumerate(src.array.shape) if size == 1]
            if ones and random.integers(2):
                return maker.node("squeeze", src.dtype, np.squeeze(src.array, ones[0]), {"src": src.name},
                                  {"axis": ones[0]}, src.error)
            if random.integers(2):
                axis = int(random.integers(-src.array.ndim - 1, src.array.ndim + 1))
                return maker.node("unsqueeze", src.dtype, np.expand_dims(src.array, axis), {"src": src.name},
                                  {"axis": axis}, src.error)
            return maker.node("flatten", src.dtype, src.array.reshape(-1), {"src": src.name}, {}, src.error)
        if kind == "repeat":
            src = pick(lambda v: 0 < v.array.ndim < 3)
            if not src:
                return None
            way = int(random.integers(4))
            if way == 0:
                times = [int(t) for t in random.integers(1, 3, src.array.ndim)]
                return maker.node("tile", src.dtype, np.tile(src.array, times), {"src": src.name}, {"repeats": times},
                                  src.error)
            if way == 1:
                axis = int(random.integers(src.array.ndim))
                return maker.node("repeat_interleave", src.dtype, np.repeat(src.array, 2, axis), {"src": src.name},
                                  {"repeats": 2, "axis": axis}, src.error)
            if way == 2:
                axis = int(random.integers(-src.array.ndim - 1, src.array.ndim + 1))
                return maker.node("stack", src.dtype, np.stack([src.array] * 2, axis), {"parts": [src.name] * 2},
                                  {"axis": axis}, src.error)
            shape = [2] + [3 if size == 1 else size for size in src.array.shape]
            return maker.node("broadcast_to", src.dtype, np.broadcast_to(src.array, shape), {"src": src.name},
                              {"shape": shape}, src.error)
        if kind == "gather":
            src = pick(lambda v: 0 < v.array.ndim < 4)
            if not src:
                return None
            axis = int(random.integers(src.array.ndim))
            places = maker.input(str(random.choice(["i32", "i64"])), (2, 2)[:int(random.integers(3))])
            size = src.array.shape[axis]
            places.array = random.integers(-size, size, places.array.shape).astype(DTYPES[places.dtype])
            return maker.node("gather", src.dtype, np.take(src.array, places.array, axis),
                              {"src": src.name, "indices": places.name}, {"axis": axis}, src.error)
        if kind == "scatter":
            form = str(random.choice(["scatter", "scatter_add", "scatter_max", "scatter_min"]))
            src = pick(lambda v: 0 < v.array.ndim < 4 and v.dtype in ("f32", "i32", "i64") and not v.error)
            if not src:
                return None
            axis, shape = int(random.integers(src.array.ndim)), list(src.array.shape)
            size, shape[axis] = shape[axis], 3
            updates = maker.input(src.dtype, tuple(shape))
            places = maker.input("i64", tuple(shape))
            places.array = random.integers(-size, size, shape)
            result = src.array.copy()
            for at in np.ndindex(*shape):
                to = list(at)
                to[axis] = places.array[at]
                old, new = result[tuple(to)], updates.array[at]
                result[tuple(to)] = {"scatter": new, "scatter_add": old + new, "scatter_max": max(old, new),
                                     "scatter_min": min(old, new)}[form]
            return maker.node(form, src.dtype, result, {"src": src.name, "updates": updates.name, "indices": places.name},
                              {"axis": axis})
        if kind == "activation":
            src = pick(lambda v: v.dtype in FLOATS and not v.error)
            return src and activation(maker, str(random.choice(["gelu", "gelu", *ACTIVATIONS])),
                                      str(random.choice(list(GELU))), src)
        if kind == "logsoftmax":
            src = pick(lambda v: v.dtype in FLOATS and v.array.ndim > 0 and not v.error)
            if not src:
                return None
            axis = int(random.integers(-src.array.ndim, src.array.ndim))
            x = src.array.astype(np.float64) - src.array.astype(np.float64).max(axis=axis, keepdims=True)
            return maker.node("logsoftmax", src.dtype, x - np.log(np.exp(x).sum(axis=axis, keepdims=True)),
                              {"src": src.name}, {"axis": axis}, ROUNDED[src.dtype])
        if kind == "pad":
            src = pick(lambda v: 0 < v.array.ndim < 5)
            if not src:
                return None
            mode = str(random.choice(["constant", "edge", "reflect", "wrap"]))
            sides = [[int(random.integers(0, 3 if mode in ("constant", "edge") else max(size - 1, 0) + 1)) for _ in range(2)]
                     for size in src.array.shape]
            value = int(random.integers(0, 2))
            options = {"constant_values": value} if mode == "constant" else {}
            return maker.node("pad", src.dtype, np.pad(src.array, sides, mode, **options), {"src": src.name},
                              {"paddings": [side for pair in sides for side in pair], "mode": mode, "value": float(value)},
                              src.error)
        if kind == "range":
            dtype = str(random.choice(["f32", "i32", "i64", "f16"]))
            start, step = int(random.integers(-9, 9)), int(random.choice([-3, -2, 1, 2]))
            stop = start + int(random.integers(1, 12)) * (1 if step > 0 else -1)
            return maker.node("range", dtype, np.arange(start, stop, step), {},
                              {"start": float(start), "stop": float(stop), "step": float(step), "dtype": dtype})
        if kind == "random":
            op, shape = str(random.choice(["random_uniform", "random_gaussian"])), shapes[random.integers(len(shapes))]
            return random_numbers(maker, op, str(random.choice(["f32", "f16"])), shape, int(random.integers(2 ** 62)),
                                  float(random.integers(-4, 4)), float(random.integers(4, 8)))
        if kind == "dropout":
            src = pick(lambda v: v.dtype in FLOATS)
            return src and dropout(maker, src, float(random.choice([0.25, 0.5, 0.75])), int(random.integers(2 ** 40)))
        if kind == "band_part":
            src = pick(lambda v: v.array.ndim >= 2)
            if not src:
                return None
            lower, upper, exclude = int(random.integers(-1, 3)), int(random.integers(-1, 3)), bool(random.integers(2))
            i, j = np.indices(src.array.shape[-2:])
            band = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
            return maker.node("band_part", src.dtype, np.where(band != exclude, src.array, np.zeros_like(src.array)),
                              {"src": src.name}, {"num_lower": lower, "num_upper": upper, "exclude": exclude}, src.error)
        if kind == "outer":
            a = pick(lambda v: v.array.ndim == 1 and not v.error)
            b = pick(lambda v: a and v.array.ndim == 1 and not v.error and promoted(a.dtype, v.dtype) not in (None, "bool"))
            if not b:
                return None
            dtype = promoted(a.dtype, b.dtype)
            wide = np.float64 if dtype in FLOATS else np.int64
            result = np.outer(a.array.astype(wide), b.array.astype(wide))
            return maker.node("outer", dtype, result, {"a": a.name, "b": b.name},
                              error=ROUNDED[dtype] if dtype in FLOATS else 0.0)
        if kind == "parts":
            src = pick(lambda v: v.array.ndim > 0 and v.array.shape[-1] > 1)
            if not src:
                return None
            size = src.array.shape[-1]
            if random.integers(2):
                first = int(random.integers(1, size))
                sizes, op, attributes = [first, size - first], "split", {"split_sizes": [first, size - first], "axis": -1}
            else:
                count = int(random.choice([n for n in range(2, min(size, 16) + 1) if size % n == 0]))
                sizes, op, attributes = [size // count] * count, "chunk", {"chunks": count, "axis": -1}
            if len(sizes) > 16:
                return None
            parts = np.split(src.array, np.cumsum(sizes)[:-1], -1)
            made = maker.node(op, src.dtype, parts[0], {"src": src.name}, attributes, src.error, "part0")
            name = made.name.split(":")[0]
            maker.values += [Value(f"{name}:part{i}", src.dtype, part, src.error) for i, part in enumerate(parts) if i > 0]
            return made
        if kind == "nonzero":
            src = pick(lambda v: v.array.ndim > 0 and not v.error)
            if not src:
                return None
            places, room = np.argwhere(src.array != 0), int(random.integers(1, src.array.size + 1))
            rows = np.full((room, src.array.ndim), -1)
            rows[:min(room, len(places))] = places[:room]
            made = maker.node("nonzero", "i64", rows, {"src": src.name}, {"out_dim": room}, 0.0, "indices")
            maker.values.append(Value(made.name.split(":")[0] + ":count", "i64", np.array([len(places)])))
            return made
        if kind == "masked_scatter":
            mask = pick(lambda v: v.dtype == "bool")
            src = pick(lambda v: mask and v.array.shape == mask.array.shape)
            if not src:
                return None
            updates = maker.input(src.dtype, (max(int(mask.array.sum()), 1),))
            result = src.array.copy()
            result[mask.array] = updates.array[:int(mask.array.sum())]
            return maker.node("masked_scatter", src.dtype, result,
                              {"src": src.name, "mask": mask.name, "updates": updates.name}, error=src.error)
        if kind == "norm":
            op = str(random.choice(["rms_norm", "layer_norm", "group_norm"]))
            src = pick(lambda v: v.dtype in FLOATS and v.array.ndim >= (2 if op == "group_norm" else 1) and not v.error)
            if not src:
                return None
            size = src.array.shape[1 if op == "group_norm" else -1]
            vectors = [maker.input(src.dtype, (size,)) for _ in range(1 if op == "rms_norm" else 2)] + [None]
            groups = int(random.choice([n for n in range(1, size + 1) if size % n == 0]))
            return norm(maker, op, src, vectors[0], vectors[1], groups)
        if kind == "backwards":
            src = pick(lambda v: v.array.ndim > 0 and v.array.shape[-1] > 1)
            if not src:
                return None
            start, stride = int(random.integers(1, src.array.shape[-1])), int(random.integers(-2, 0))
            return maker.node("slice", src.dtype, src.array[..., start::stride], {"src": src.name},
                              {"axes": [-1], "starts": [start], "stops": [-100], "steps": [stride]}, src.error)
        src = pick(lambda v: v.array.ndim > 0 and v.array.shape[-1] > 1)
        if not src:
            return None
        stop, stride = int(random.integers(1, src.array.shape[-1] + 1)), int(random.integers(1, 3))
        return maker.node("slice", src.dtype, src.array[..., 0:stop:stride], {"src": src.name},
                          {"axes": [-1], "starts": [0], "stops": [stop], "steps": [stride]}, src.error)

    kinds = ["add", "sub", "mul", "div", "compare", "where", "cast", "softmax", "matmul", "transpose", "reshape",
             "concat", "slice", "map", "map", "pair", "pow", "logic", "reduce", "cumsum", "view", "repeat", "gather",
             "scatter", "activation", "activation", "logsoftmax", "pad", "range", "random", "dropout", "band_part", "outer",
             "parts", "nonzero", "masked_scatter", "norm", "norm", "backwards"]
    if spatial:
        kinds += ["convolution", "convolution", "pool", "pool"]
    while len(maker.nodes) < 8:
        made = step(str(random.choice(kinds)))
        if made is None:
            continue
        numbers = made.array.astype(np.float64)
        if not np.isfinite(numbers).all():  # nothing to hold a tolerance against
            maker.nodes.pop()
            maker.values.pop()
        elif made.array.size <= 200 and made.error < 0.1 and np.abs(numbers).max(initial=0) < 1e4:
            pool.append(made)
    return maker


def on_rows(op, function, attributes=None, error=4e-6, more=None):
    """An op of layers on f32 [n, 4], where n is a symbol."""
    maker = Maker(op, 7)
    src = maker.input("f32", (3, 4), maker.random.normal(size=(3, 4)), "src", ["n", 4])
    inputs = {"src": "src"}
    extra = []
    for name, shape in (more or {}).items():
        extra.append(maker.input("f32", shape, maker.random.normal(size=shape), name).array.astype(np.float64))
        inputs[name] = name
    maker.node(op, "f32", function(src.array.astype(np.float64), *extra), inputs, attributes, error)
    return maker


def erfc(x):
    from math import erfc as one
    return np.vectorize(one, otypes=[np.float64])(x)


def erf(x):
    from math import erf as one
    return np.vectorize(one)(x)


def layer_cases():
    yield on_rows("silu", lambda x: x / (1 + np.exp(-x)))
    yield on_rows("relu", lambda x: np.maximum(x, 0), error=0.0)
    yield on_rows("tanh", np.tanh)
    yield on_rows("gelu", lambda x: x * (1 + erf(x / np.sqrt(2))) / 2)
    yield on_rows("scale", lambda x: x * 0.25, {"factor": 0.25}, 0.0)
    yield on_rows("l2_normalise", lambda x: x / np.linalg.norm(x, axis=1, keepdims=True))
    yield on_rows("rms_norm", lambda x, w: x * w / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5), {"eps": 1e-5},
                  more={"weight": (4,)})
    yield on_rows("layer_norm", lambda x, w, b: (x - x.mean(1, keepdims=True)) * w
                  / np.sqrt(x.var(1, keepdims=True) + 1e-5) + b, {"eps": 1e-5}, more={"weight": (4,), "bias": (4,)})
    yield on_rows("split", lambda x: x[:, 1:3], {"axis": 1, "begin": 1, "count": 2}, 0.0)

    maker = Maker("rows")
    src = maker.input("f32", (5, 4), maker.random.normal(size=(5, 4)), "src", ["n", 4])
    maker.input("i32", (3,), [4, 0, 4], "rows", ["m"])
    starts = maker.input("i32", (3,), [0, 2, 5], "starts", ["texts+1"])
    maker.node("select_rows", "f32", src.array[[4, 0, 4]], {"src": "src", "output_rows": "rows"})
    runs = [src.array[a:b].astype(np.float64) for a, b in zip(starts.array[:-1], starts.array[1:])]
    for kind, one in (("mean", lambda r: r.mean(0)), ("first", lambda r: r[0]), ("last", lambda r: r[-1])):
        maker.node("pool", "f32", np.stack([one(r) for r in runs]), {"src": "src", "sequence_starts": "starts"},
                   {"kind": kind}, 4e-6)
    for causal in (False, True):
        texts = []
        for run in runs:
            heads = []
            for head in (run[:, :2], run[:, 2:]):
                scores = head @ head.T * 0.5
                if causal:
                    scores = np.where(np.tril(np.ones_like(scores)) > 0, scores, -np.inf)
                e = np.exp(scores - scores.max(1, keepdims=True))
                heads.append(e / e.sum(1, keepdims=True) @ head)
            texts.append(np.concatenate(heads, 1))
        maker.node("packed_attention", "f32", np.concatenate(texts),
                   {"query": "src", "key": "src", "value": "src", "sequence_starts": "starts"},
                   {"heads": 2, "kv_heads": 2, "scale": 0.5, "causal": causal}, 1e-5)
    yield maker

    maker = Maker("rope")
    src = maker.input("f32", (3, 4), maker.random.normal(size=(3, 4)), "src", ["n", 4])
    positions = maker.input("i32", (3,), [0, 5, 2], "positions", ["n"])
    angles = positions.array[:, None] * np.array([1.0, 10000.0 ** -0.5])
    x = src.array.astype(np.float64)
    low, high = x[:, :2], x[:, 2:]
    turned = np.concatenate([low * np.cos(angles) - high * np.sin(angles), high * np.cos(angles) + low * np.sin(angles)], 1)
    maker.node("rope", "f32", turned, {"src": "src", "positions": "positions"},
               {"style": "half", "heads": 1, "head_dim": 4, "rope_dims": 4, "base": 10000.0}, 1e-5)
    yield maker

    maker = Maker("experts")
    logits = maker.input("f32", (2, 5), [[1, 3, 2, 0, 2.5], [0, -1, 4, 4.5, 1]], "logits", ["n", 5])
    chosen = np.argsort(-logits.array, 1, kind="stable")[:, :2]
    e = np.exp(np.take_along_axis(logits.array.astype(np.float64), chosen, 1))
    maker.node("top_experts", "i32", chosen, {"logits": "logits"}, {"active": 2}, output="experts")
    maker.values.append(Value("top_experts_0:weights", "f32", (e / e.sum(1, keepdims=True)).astype(np.float32), 4e-6))
    yield maker

    maker = Maker("joined")
    parts = [maker.input("f32", (2, 3)) for _ in range(3)]
    arrays = [part.array for part in parts]
    names = {"parts": [part.name for part in parts]}
    maker.node("all_reduce", "f32", sum(arrays), names)
    maker.node("all_gather", "f32", np.concatenate(arrays, 1), names)
    yield maker


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    cases, arrays = [], {}
    for maker in list(layer_cases()) + [random_graph(seed) for seed in range(40)]:
        maker.done(cases, arrays)
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "graphs.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    np.savez(out / "graphs.npz", **arrays)
    ops = {node["op"] for case in cases for node in case["graph"]["nodes"]}
    print(len(cases), "graphs,", len(arrays), "arrays, ops:", ", ".join(sorted(ops)))


if __name__ == "__main__":
    main()
