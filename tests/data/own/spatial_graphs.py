"""Convolutions and pools of random graphs (make_graphs.py), with what NumPy computes of them."""
import numpy as np


def windows(src, kernel, stride, dilation):
    """[.., places, taps] of the last dims of src, which has its padding."""
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    axes = tuple(range(src.ndim - len(kernel), src.ndim))
    views = np.lib.stride_tricks.sliding_window_view(src, extents, axes)
    places = [slice(None)] * axes[0] + [slice(None, None, s) for s in stride]
    return views[tuple(places + [slice(None, None, d) for d in dilation])]


def padded(src, padding, value=0.0):
    """The last dims of src with places before and after, or without some of its own where a number is negative."""
    ahead = src.ndim - len(padding)
    inner = [slice(None)] * ahead + [slice(max(-low, 0), size - max(-high, 0))
                                     for (low, high), size in zip(padding, src.shape[ahead:])]
    wide = [(0, 0)] * ahead + [(max(low, 0), max(high, 0)) for low, high in padding]
    return np.pad(src[tuple(inner)], wide, constant_values=value)


def convolved(src, weight, groups, stride, padding, dilation):
    """src [n, channels, ..], weight [outputs, channels / groups, ..]"""
    taps = windows(padded(src, padding), weight.shape[2:], stride, dilation)
    dims = len(stride)
    n, sizes = src.shape[0], taps.shape[2:2 + dims]
    taps = taps.reshape(n, groups, -1, *taps.shape[2:])
    weight = weight.reshape(groups, -1, *weight.shape[1:])
    places, kernel = "xyz"[:dims], "ijk"[:dims]
    dst = np.einsum(f"ngc{places}{kernel},goc{kernel}->ngo{places}", taps, weight)
    return dst.reshape(n, -1, *sizes)


def spread(src, weight, groups, stride, padding, dilation, more):
    """The transpose: a convolution of src between zeros with reversed taps. weight [channels, outputs / groups, ..]"""
    dims = len(stride)
    apart = np.zeros(src.shape[:2] + tuple((size - 1) * s + 1 for size, s in zip(src.shape[2:], stride)))
    apart[(slice(None), slice(None)) + tuple(slice(None, None, s) for s in stride)] = src
    extents = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilation)]
    around = [(extent - 1 - low, extent - 1 - high + extra)
              for extent, (low, high), extra in zip(extents, padding, more)]
    channels, outputs = weight.shape[:2]
    turned = weight.reshape(groups, channels // groups, outputs, *weight.shape[2:]).swapaxes(1, 2)
    turned = np.flip(turned, tuple(range(3, 3 + dims))).reshape(groups * outputs, channels // groups, *weight.shape[2:])
    return convolved(apart, turned, groups, [1] * dims, around, dilation)


def pooled(src, average, kernel, stride, padding, dilation, rounded_up, counts_padding):
    """None where there is a window without elements, which no number stands for."""
    ahead, beyond = src.ndim - len(kernel), []
    for d, (low, high) in enumerate(padding):
        size, extent = src.shape[ahead + d], (kernel[d] - 1) * dilation[d] + 1
        room = size + low + high - extent
        count = (room + (stride[d] - 1 if rounded_up else 0)) // stride[d] + 1
        if rounded_up and (count - 1) * stride[d] >= size + low:
            count -= 1
        beyond.append((0, max((count - 1) * stride[d] + extent - size - low - high, 0)))
    last = tuple(range(-len(kernel), 0))

    def taken(array, around, outside):
        return windows(padded(padded(array, padding, around), beyond, outside), kernel, stride, dilation)
    counts = taken(np.ones(src.shape), 0.0, 0.0).sum(last)
    if not counts.all():
        return None
    if not average:
        return taken(src, -np.inf, -np.inf).max(last)
    if counts_padding:
        counts = taken(np.ones(src.shape), 1.0, 0.0).sum(last)
    return taken(src, 0.0, 0.0).sum(last) / counts


def told(random, numbers):
    """A list, or one number where all are the same."""
    return int(numbers[0]) if len(set(numbers)) == 1 and random.integers(2) else [int(number) for number in numbers]


def shape_of_windows(random, sizes, transposed=False):
    """kernel, stride, padding (before, after), dilation, and their attributes; None where no window fits."""
    dims = len(sizes)
    kernel, stride, dilation = (random.integers(1, most, dims) for most in (4, 4, 3))
    padding = random.integers(0, 4, (dims, 2))
    if random.integers(2):
        padding[:, 1] = padding[:, 0]
    for d, size in enumerate(sizes):
        extent = (kernel[d] - 1) * dilation[d] + 1
        room = (size - 1) * stride[d] + extent - padding[d].sum() if transposed else size + padding[d].sum() - extent + 1
        if room < 1:
            return None
    even = (padding[:, 0] == padding[:, 1]).all()
    attributes = {"stride": told(random, stride), "dilation": told(random, dilation),
                  "padding": told(random, padding[:, 0]) if even else [int(number) for number in padding.ravel()]}
    return [list(map(int, numbers)) for numbers in (kernel, stride)], padding.tolist(), dilation.tolist(), attributes


def convolution(maker, promoted, rounded):
    random = maker.random
    dims, transposed = int(random.integers(1, 4)), bool(random.integers(2))
    groups = int(random.integers(1, 3))
    sizes = [int(size) for size in random.integers(1, 6, dims)]
    made = shape_of_windows(random, sizes, transposed)
    if not made:
        return None
    (kernel, stride), padding, dilation, attributes = made
    n, channels, outputs = (int(number) for number in random.integers(1, 4, 3))
    types = [str(random.choice(["f32", "f16"])) for _ in range(2)]
    src = maker.input(types[0], (n, channels * groups, *sizes))
    weight = maker.input(types[1], (channels * groups, outputs, *kernel) if transposed
                         else (outputs * groups, channels, *kernel))
    dtype = promoted(*types)
    inputs, attributes["groups"] = {"src": src.name, "weight": weight.name}, groups
    x, w = src.array.astype(np.float64), weight.array.astype(np.float64)
    if transposed:
        more = [int(random.integers(max(s, d))) for s, d in zip(stride, dilation)]
        attributes["output_padding"] = told(random, more)
        dst = spread(x, w, groups, stride, padding, dilation, more)
    else:
        dst = convolved(x, w, groups, stride, padding, dilation)
    if random.integers(2):
        bias = maker.input("f32", (outputs * groups,))
        inputs["bias"] = bias.name
        dst = dst + bias.array.astype(np.float64).reshape(-1, *[1] * dims)
    return maker.node(f"conv{dims}d" + ("_transpose" if transposed else ""), dtype, dst, inputs, attributes,
                      rounded[dtype])


def pool(maker, pick, rounded):
    random = maker.random
    src = pick(lambda v: v.dtype in ("f32", "f16") and 3 <= v.array.ndim <= 5 and not v.error)
    if src is None or random.integers(2):
        sizes = [int(size) for size in random.integers(1, 7, random.integers(1, 4))]
        src = maker.input(str(random.choice(["f32", "f16"])), (2, 2, *sizes))
    dims = src.array.ndim - 2
    made = shape_of_windows(random, src.array.shape[2:])
    if not made:
        return None
    (kernel, stride), padding, dilation, attributes = made
    average, up = bool(random.integers(2)), bool(random.integers(2))
    attributes.update({"kernel": told(random, kernel), "ceil_mode": up})
    counts_padding = bool(random.integers(2))
    if average:
        attributes["count_include_pad"] = counts_padding
    dst = pooled(src.array.astype(np.float64), average, kernel, stride, padding, dilation, up, counts_padding)
    if dst is None:
        return None
    return maker.node(f"{'avg' if average else 'max'}_pool{dims}d", src.dtype, dst, {"src": src.name}, attributes,
                      rounded[src.dtype] if average else 0.0)
