#!/usr/bin/env python3
"""Every row that a card has of every op, on shapes so small that compute-sanitizer comes to an end: what each tool finds.

    card_sanitizer.py [--device cuda:0] [--tools memcheck,racecheck] [--jobs 6] [--limit 300] [REGEX] [-- BENCH...]

REGEX picks among "OP SHAPE"; BENCH is how kernels_bench is called, build/release/bin/kernels_bench where nothing is said. Each row is
held against the reference as well, on results that the tool's own kernels computed. Fails where anything is found, where a row
disagrees or where a run does not come to its end. cuBLAS's kernels are left out: they are not ours.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

# Shapes that take each way through a kernel: tails of tiles, shared keys, clusters, several rounds of a grid, both sides of a
# choice by size. A case is added with the kernel that it is for.
CASES = {
    "flash_attention": [
        "2x8x1x128 BF16 kv_heads=2 keys=1600",
        "1x4x8x64 F16 kv_heads=2 keys=300 causal",
        "1x6x70x128 BF16 kv_heads=2 keys=700 causal",
        "1x70x2x64 BF16 keys=1300",
        "2x2x200x64 BF16 causal lengths",
        "1x2x260x128 F16 left=70 softcap=5",
        "1x2x150x256 BF16",
        "1x2x100x128 BF16 bias mask dropout=0.1 causal",
        "1x2x65x72 causal",
        "1x1x32x32 scale=1",
    ],
    "flash_attention_backward": [
        "1x2x200x64 BF16 causal",
        "1x4x200x128 F16 kv_heads=1 lengths",
        "1x2x130x256 BF16",
        "1x2x65x40 bias mask dropout=0.1",
        "1x2x90x64 F16 bias causal softcap=5",
    ],
    "fastmax": [
        "1x2x200x32 BF16 plain",
        "1x2x200x64 BF16 causal",
        "1x2x150x64 causal p=1",
        "1x2x100x128 F16 causal kv_heads=1",
        "1x2x100x32 rpe noise=0.1",
        "1x2x300x20 causal features=0.1",
        "1x1x20x130 F16 rpe features=0.1",
        "1x1x1500x32 BF16 causal",
        "1x1x1500x32 BF16",
        "1x1x1500x32",
    ],
    "fastmax_backward": [
        "1x2x100x32",
        "1x2x200x64 BF16 causal",
        "1x1x1200x32 BF16",
        "1x1x1200x32 BF16 causal",
        "1x2x100x64 F16 p=1 kv_heads=1",
        "1x2x60x32 rpe noise=0.1",
        "1x4x300x20 causal features=0.1 kv_heads=2",
        "1x1x20x130 F16 p=1 rpe features=0.1",
        "1x1x1500x16",
    ],
    "fastmax_scan": ["2x1x32x4x64 kv_heads=2", "1x70x70x2x32", "1x70x70x2x64 p=1"],
    "dropout_norm": [
        "40x768 BF16 residual bias p=0.1",
        "40x100 rms residual",
        "3x65536 BF16 residual p=0.1",
        "20x1024 BF16 rms residual quantised",
        "20x512 BF16 residual src2 norm2 p=0.1",
        "20x768 BF16+F32 residual subset rowscale colscale p=0.1",
    ],
    "dropout_norm_backward": [
        "40x768 BF16 residual bias p=0.1",
        "40x100 rms residual",
        "3x65536 BF16 residual p=0.1",
        "20x512 BF16 residual src2 norm2 p=0.1",
        "20x768 BF16+F32 residual subset rowscale colscale p=0.1",
    ],
    "top_k": ["100x32x1 k=32", "2x20000x1 k=50", "8x512x1 all", "3x100x5 k=8 BF16", "2x3000x1 k=700 inputs=broken"],
    "sample": [
        "2x1000",
        "2x9000 top_k=50 batch",
        "1x20000 temperature=0",
        "2x3000 top_k=0 top_p=0.9 batch",
        "2x3000 recent=16 frequency=0.5 presence=0.5 bias top=5 batch",
        "2x3000 BF16 batch inputs=broken",
    ],
    "matmul_ladder": [
        "256x256x64",
        "256x256x256 BF16",
        "256x256x256 F8_E4M3",
        "260x132x68",
        "264x136x72 BF16",
        "272x144x80 F8_E4M3",
    ],
    "attention": [
        "2x1x300 heads=8 kv_heads=2 dim=128",
        "1x1x2100 heads=4 kv_heads=2",
        "1x1x300 heads=2 dim=256 bf16",
        "2x1x200 heads=4 kv_heads=2 Q8_0",
        "1x70x150 heads=4 kv_heads=2",
        "1x70x150 heads=4 kv_heads=2 dim=128 Q8_0 window=40",
        "4x33x33 heads=2 dim=32 packed",
        "1x40x40 heads=4 kv_heads=2 fastmax",
    ],
    "kv_append": ["2x3x100 kv_heads=2", "2x3x100 kv_heads=2 Q8_0"],
    "linear": [
        "1x512x384 Q4_1",
        "1x512x384+96 Q4_K",
        "5x512x384 Q6_K",
        "33x512x384 Q4_K",
        "70x256x264 Q8_0 silu",
        "3x256x264 BF16",
        "70x256x264 BF16 gelu_erf bias",
        "2x256x128 F32 exact",
        "70x256x264 F16",
    ],
    "norm": ["5x576 rms residual", "3x1000 layer"],
    "rope": ["3x4x64", "3x4x64 half rope_dims=32"],
    "elementwise": ["3x1001 silu_mul", "3x576 add"],
    "embedding": ["3x512 Q4_K vocabulary=100", "3x64 F16 vocabulary=50"],
    "gather": ["2x7x96 mean", "2x7x96 last"],
    "top_experts": ["5x64x6", "3x8x2 shares"],
    "expert_mlp": ["5x256x256 Q4_K experts=4 active=2", "3x256x256 BF16 experts=4 active=2"],
    "causal_convolution": ["2x3x20x96", "1x20x20x96"],
    "selective_scan": ["2x1x20x96", "1x70x70x96"],
    "combine": ["3x5x77 add", "3x5x77 less row", "3x5x77 where"],
    "copy": ["5x33x77 transpose", "5x33x77 slice BF16", "5x33x77 flat F16+F32"],
    "matmul": ["2x33x40x50", "1x130x64x72 BF16 transposed"],
    "softmax": ["3x1000x1", "3x40x7 log", "2x5000x1 BF16 inputs=masked"],
    "map": ["3x1001 exp", "3x1001 erf BF16"],
    "reduce": ["3x1000x1", "3x40x7 argmax", "1x20000x1 mean BF16", "2x300x40 max"],
    "cumsum": ["3x1000x1", "2x40x7 exclusive reverse", "1x20000x1"],
    "take": ["3x40x7x9"],
    "scatter": ["3x40x7x90 add", "3x40x7x90 set", "3x40x7x90 max"],
    "group_norm": ["2x32x100 groups=4", "2x64x3000 BF16 groups=2"],
    "nonzero": ["33x1001", "33x1001 put"],
    "generate": ["3x1001 range", "3x1001 gaussian"],
    "mask": ["2x33x40 band lower=3 upper=2", "2x33x40 dropout p=0.1"],
    "pad": ["2x3x9x11 reflect by=2", "2x3x9x11 wrap by=2"],
    "convolution": [
        "1x8x16x1x14x14",
        "2x64x64x1x14x14 BF16",
        "1x32x64x1x9x9 F16 kernel=1",
        "1x3x16x1x30x30 kernel=7 stride=2 BF16",
        "1x12x12x1x14x14 groups=12",
        "1x16x8x1x9x9 kernel=4 stride=2 padding=1 transposed BF16",
        "1x80x64x1x1x100 bias",
        "1x4x8x5x6x7",
    ],
    "pooling": ["3x1x14x15 kernel=3 stride=2", "3x1x14x15 average kernel=2 stride=2"],
    "pooling_backward": ["3x1x14x15 kernel=3 stride=2"],
    "resize": ["3x9x11x17x5 cubic", "3x9x11x18x22 nearest"],
    "resize_backward": ["3x9x11x17x5 cubic", "3x9x11x18x22 linear"],
    "roi_align": ["2x3x14x15 boxes=4"],
    "roi_align_backward": ["2x3x14x15 boxes=4"],
    "suppression": ["1x2x200 most=20"],
    "fold": ["3x1x14x15 kernel=3"],
    "hann": ["1x100"],
    "irfft": ["3x65x128", "3x51x100"],
    "irfft_backward": ["3x65x128", "3x51x100"],
    "recurrence": ["3x300x7", "2x5000x1 reverse"],
}
CLEAN = re.compile(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards displayed \(0 errors, 0 warnings\)")
ROW = re.compile(r"\bcuda\.\w+")


def examine(tool, op, shape, wish):
    """What came of it in a line, and whether all is well."""
    bench = ["--device", wish.device, "--op", op, "--shape", shape, "--untimed", "--no-limits", "--all-rows", "^(?!.*cublas)"]
    command = wish.bench + bench
    if tool != "none":
        command = [*wish.sanitizer, "--tool", tool] + command
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=wish.limit)
    except subprocess.TimeoutExpired:
        return f"no end in {wish.limit} s", False
    rows = [line for line in done.stdout.splitlines() if line.startswith(op + " ")]
    names = [found.group() for line in rows if (found := ROW.search(line))]
    findings = [line for line in done.stdout.splitlines() if re.match("========= .*(Error|Warning|SUMMARY|and Read|and Write)", line)]
    clean = tool == "none" or CLEAN.search(done.stdout)
    if done.returncode == 0 and clean and (names or wish.device == "cpu"):
        return f"clean: {', '.join(names)}", True
    said = [line for line in done.stdout.splitlines() if line and not line.startswith("=")]
    return "\n    ".join([f"exit status {done.returncode}", *findings[:12], *said[-6:]]), False


def main():
    words, bench = sys.argv[1:], []
    if "--" in words:
        words, bench = words[: words.index("--")], words[words.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("regex", nargs="?", default="", help="of 'OP SHAPE'")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--tools", default="memcheck,racecheck", help="also synccheck and initcheck; none checks the list itself")
    parser.add_argument("--sanitizer", default="compute-sanitizer", type=str.split)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--limit", type=int, default=300, help="seconds for each")
    wish = parser.parse_args(words)
    wish.bench = bench or [str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/kernels_bench")]
    asked = [(tool, op, shape) for op, shapes in CASES.items() for shape in shapes for tool in wish.tools.split(",")]
    asked = [case for case in asked if re.search(wish.regex, f"{case[1]} {case[2]}")]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(wish.jobs) as pool:
        for case, (line, well) in zip(asked, pool.map(lambda case: examine(*case, wish), asked)):
            print(f"{case[0]:9} {case[1]} {case[2]}: {line}", flush=True)
            wrong += not well
    print(f"{len(asked)} runs, {wrong} of them not clean")
    return 1 if wrong else 0


sys.exit(main())
