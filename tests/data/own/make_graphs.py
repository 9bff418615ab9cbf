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

import ml_dtypes
import numpy as np

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
DTYPES = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16),
          "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
          "u8": np.dtype(np.uint8), "bool": np.dtype(np.bool_)}
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
    function = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
                "greater": np.greater, "greater_equal": np.greater_equal}[op]
    return maker.node(op, "bool", function(x, y), inputs)


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


def random_graph(seed):
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
                     and v.array.shape[-1] == a.array.shape[-1])
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
        src = pick(lambda v: v.array.ndim > 0 and v.array.shape[-1] > 1)
        if not src:
            return None
        stop, stride = int(random.integers(1, src.array.shape[-1] + 1)), int(random.integers(1, 3))
        return maker.node("slice", src.dtype, src.array[..., 0:stop:stride], {"src": src.name},
                          {"axes": [-1], "starts": [0], "stops": [stop], "steps": [stride]}, src.error)

    kinds = ["add", "sub", "mul", "div", "compare", "where", "cast", "softmax", "matmul", "transpose", "reshape",
             "concat", "slice"]
    while len(maker.nodes) < 8:
        made = step(str(random.choice(kinds)))
        if made is not None and made.array.size <= 200:
            finite = np.isfinite(made.array.astype(np.float64)).all()
            if finite and made.error < 0.1 and np.abs(made.array.astype(np.float64)).max(initial=0) < 1e4:
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
    cases, arrays = [], {}
    for maker in list(layer_cases()) + [random_graph(seed) for seed in range(40)]:
        maker.done(cases, arrays)
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "graphs.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    np.savez(OUT / "graphs.npz", **arrays)
    ops = {node["op"] for case in cases for node in case["graph"]["nodes"]}
    print(len(cases), "graphs,", len(arrays), "arrays, ops:", ", ".join(sorted(ops)))


main()
