#!/usr/bin/env python3
"""Random graphs of the ops on tensors give through `orrery-cli run` what NumPy gives. The graphs are those of
tests/data/own/make_graphs.py, of other seeds; some go into one file, so that a start of the program is not what takes
the time.

  random_graphs_test.py ORRERY_CLI [FIRST_SEED COUNT [DEVICE]]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    system = "/usr/bin/python3"  # the one that the distribution's NumPy belongs to
    if os.path.exists(system) and not os.path.samefile(system, sys.executable):
        os.execv(system, [system, *sys.argv])
    print("needs NumPy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "data" / "own"))
import make_graphs  # noqa: E402

TOGETHER = 100


def close(got, wanted, tolerance):
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    off = np.abs(a - b).max(initial=0)
    most = np.abs(b).max(initial=1e-30)
    return None if off <= tolerance * most else f"is off by {off / most:.1e}, {tolerance:.1e} may be: {a} not {b}"


def merged(seeds):
    """One graph of many, its nodes named after their seeds; the arrays of its inputs; what its outputs are."""
    graph, inputs, outputs = {"orrery_graph": 1, "inputs": [], "nodes": [], "outputs": []}, {}, {}
    for seed in seeds:
        maker = make_graphs.random_graph(seed, spatial=True)

        def named(name):
            return f"g{seed}.{name}"
        for value, dims in maker.inputs:
            graph["inputs"].append({"name": named(value.name), "dtype": value.dtype, "shape": dims})
            inputs[named(value.name)] = value.array
        for node in maker.nodes:
            operands = {key: [named(one) for one in name] if isinstance(name, list) else named(name)
                        for key, name in node["inputs"].items()}
            graph["nodes"].append({**node, "name": named(node["name"]), "inputs": operands})
        for value in maker.values:
            graph["outputs"].append(named(value.name))
            outputs[named(value.name)] = value
    return graph, inputs, outputs


def run(program, seeds, device, folder):
    graph, inputs, outputs = merged(seeds)
    (folder / "graph.json").write_text(json.dumps(graph))
    given = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        given.append(f"{name}={folder / name}.npy")
    command = [program, "run", str(folder / "graph.json"), "--in", *given, "--out", str(folder / "out"), "--precision",
               "exact", "--device", device, "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"seeds {seeds[0]} to {seeds[-1]}: {done.stderr.strip()}"]
    wrong = []
    for told in json.loads(done.stdout)["outputs"]:
        value = outputs[told["name"]]
        reason = close(np.load(told["file"]), np.asarray(value.array), value.error)
        if reason:
            wrong.append(f"{told['name']} {reason}")
    return wrong


def main():
    program = sys.argv[1]
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (1000, 2000)
    device = sys.argv[4] if len(sys.argv) > 4 else "cpu"
    make_graphs.DTYPES.pop("bf16", None)  # .npy files have no such type
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        for start in range(first, first + count, TOGETHER):
            folder = pathlib.Path(work) / str(start)
            os.makedirs(folder)
            wrong += run(program, range(start, min(start + TOGETHER, first + count)), device, folder)
    print(f"{count} graphs, {len(wrong)} values off")
    for line in wrong[:20]:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
