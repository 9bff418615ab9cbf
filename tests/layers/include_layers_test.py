#!/usr/bin/env python3
"""Holds the include rules of the house: kernels <- engine <- ui <- app, and the order of the rooms inside engine.

  include_layers_test.py REPOSITORY          scan the repository; exit 1 and name each line that breaks a rule
  include_layers_test.py REPOSITORY --self   check that the scan finds planted violations
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
CODE = {".h", ".cpp", ".cu", ".cuh"}

# What a room of engine may include directly: itself and everything below it.
ENGINE_ORDER = {
    "base": [],
    "io": ["base"],
    "text": ["base"],
    "graph": ["base"],
    "ops": ["graph"],
    "own": ["ops", "io"],
    "custom": ["ops", "io"],
    "models": ["ops", "io"],
    "weights": ["io"],
    "edit": ["ops", "io", "weights"],
    "passes": ["ops"],
    "compile": ["passes", "weights"],
    "exporter": ["models", "compile"],
    "runtime": ["compile", "weights"],
    "generate": ["runtime", "text"],
    "api": ["base", "io", "text", "graph", "ops", "own", "custom", "models", "weights", "edit", "passes", "compile", "exporter", "runtime", "generate"],
    "serve": ["api"],
}
# Kernel op headers belong to the rooms that lower and run; types, activations, precisions, names of devices, the team, the ISA and
# the machine's speed may be used anywhere in engine.
DTYPES = {"kernels/dtype.h"}
KERNEL_VOCABULARY = DTYPES | {"kernels/activation.h", "kernels/device_id.h", "kernels/thread_team.h", "kernels/cpu/isa.h", "kernels/machine_speed.h", "kernels/precision.h"}
KERNEL_USERS = {"ops", "custom", "compile", "runtime", "weights"}
# Problems, oracle and times of the kernels by themselves: for the facade that shows them. Nothing that runs a model needs them.
KERNEL_LAB = ("kernels", "lab")
UI_ENGINE = {"api", "base", "graph"}
PAGES = {"change", "chat", "classify", "compare", "costs", "diff", "history", "inspector", "lab", "latency", "library", "metadata", "ops", "passes", "replies", "sweep", "values"}
QT = re.compile(r"^(Q[A-Z]\w*|qcustomplot\.h|Qt\w+/.*)$")
CUDA = re.compile(r"^(cuda.*|cublas.*|nvml.*|cutlass/.*|cute/.*)$")


def below(room, seen=None):
    seen = set() if seen is None else seen
    for lower in ENGINE_ORDER.get(room, []):
        if lower not in seen:
            seen.add(lower)
            below(lower, seen)
    return seen


def broken_rule(source, header):
    """Why `source` (path in the repository) may not include `header`, or None."""
    parts = pathlib.PurePosixPath(source).parts
    top, room = parts[0], parts[1] if len(parts) > 2 else ""
    if QT.match(header) and not (top in ("ui",) or parts[:2] in (("app", "desktop"), ("tests", "ui"), ("tests", "app"))):
        return "Qt belongs to ui, app/desktop and their tests"
    if CUDA.match(header) and parts[:2] != ("kernels", "cuda"):
        return "CUDA headers belong to kernels/cuda"
    if top == "tests":
        return None
    target = pathlib.PurePosixPath(header).parts
    if not target or target[0] not in ("kernels", "engine", "ui", "app"):
        return None
    to, to_room = target[0], target[1] if len(target) > 2 else ""
    order = ["kernels", "engine", "ui", "app"]
    if order.index(to) > order.index(top):
        return f"{top} may not include {to}"
    if top in ("ui", "app") and to == "kernels" and header not in DTYPES:
        return f"{top} does not see kernels"
    if top == "engine" and to == "kernels":
        if target[:2] == KERNEL_LAB:
            return None if room == "api" else f"engine/{room} may not include kernels/lab"
        if header not in KERNEL_VOCABULARY and room not in KERNEL_USERS:
            return f"engine/{room} may not include kernel headers other than {sorted(KERNEL_VOCABULARY)}"
    if top == "engine" and to == "engine" and to_room != room and to_room not in below(room):
        return f"engine/{room} may not include engine/{to_room}"
    if top == "ui" and to == "engine" and to_room not in UI_ENGINE:
        return f"ui includes only engine/{sorted(UI_ENGINE)}"
    if top == "ui" and to == "ui" and room in PAGES and to_room in PAGES and to_room != room:
        return "pages do not include each other"
    if top == "ui" and to == "ui" and room != "shell" and to_room == "shell":
        return "the shell is above the pages and what they share"
    if top == "app" and to == "engine" and to_room not in UI_ENGINE | {"serve"}:
        return f"app includes only engine/{sorted(UI_ENGINE)} and serve"
    return None


def scan(root):
    found, files = [], 0
    for top in ("kernels", "engine", "ui", "app", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in CODE or not path.is_file():
                continue
            files += 1
            source = path.relative_to(root).as_posix()
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                reason = broken_rule(source, match.group(1)) if match else None
                if reason:
                    found.append(f"{source}:{number}: {match.group(1)}: {reason}")
    return found, files


LIBRARY = re.compile(r"orrery_library\((\w+)(.*?)\)\n", re.S)


def unlinked(root):
    """Rooms of engine that a room includes and its library does not link: whoever links that library alone then lacks them."""
    links = {}
    for path in sorted((root / "engine").glob("*/CMakeLists.txt")):
        for name, body in LIBRARY.findall(path.read_text(encoding="utf-8") + "\n"):
            links[name] = set(re.findall(r"\borrery_\w+", body.partition("DEPENDS")[2]))

    def reached(library, seen):
        for lower in links.get(library, set()) - seen:
            seen.add(lower)
            reached(lower, seen)
        return seen

    found = []
    for room in ENGINE_ORDER:
        linked = reached(f"orrery_{room}", set())
        for path in sorted((root / "engine" / room).glob("*")):
            for match in map(INCLUDE.match, path.read_text(encoding="utf-8").splitlines() if path.suffix in CODE else []):
                to = pathlib.PurePosixPath(match.group(1)).parts if match else ()
                if len(to) > 2 and to[0] == "engine" and to[1] != room and f"orrery_{to[1]}" not in linked:
                    found.append(f"engine/{room}/{path.name}: includes {match.group(1)}; orrery_{room} does not link orrery_{to[1]}")
    return found


def self_check():
    bad = [("kernels/ref/norm.cpp", "engine/graph/graph.h"), ("engine/base/x.h", "engine/io/model_file.h"),
           ("engine/io/x.cpp", "kernels/linear.h"), ("engine/api/x.cpp", "QString"), ("ui/chat/x.h", "engine/runtime/y.h"),
           ("ui/chat/x.h", "ui/latency/plot.h"), ("engine/ops/x.cpp", "cuda_runtime.h"), ("app/cli/x.cpp", "QtCore/QString"),
           ("engine/graph/x.h", "engine/ops/lowering.h"), ("ui/graph/x.h", "kernels/linear.h"), ("ui/chat/page.cpp", "ui/shell/commands.h"),
           ("engine/runtime/x.cpp", "kernels/lab/problems.h"), ("app/cli/lab.cpp", "kernels/lab/problems.h"), ("engine/api/lab.cpp", "kernels/linear.h")]
    good = [("engine/io/x.cpp", "kernels/dtype.h"), ("engine/api/x.cpp", "engine/text/tokenizer.h"), ("ui/chat/x.h", "QWidget"),
            ("ui/shell/x.h", "ui/chat/chat_page.h"), ("ui/chat/page.cpp", "ui/frame/page.h"), ("engine/compile/x.cpp", "engine/ops/lowering.h"), ("kernels/linear.h", "vector"),
            ("engine/api/lab.cpp", "kernels/lab/problems.h")]
    missed = [pair for pair in bad if not broken_rule(*pair)] + [pair for pair in good if broken_rule(*pair)]
    for source, header in missed:
        print(f"wrong verdict for {source} including {header}")
    return not missed


def main():
    root = pathlib.Path(sys.argv[1])
    if "--self" in sys.argv:
        return 0 if self_check() else 1
    found, files = scan(root)
    found += unlinked(root)
    print("\n".join(found) if found else f"{files} files keep the include rules")
    return 1 if found or files == 0 else 0


sys.exit(main())
