#!/usr/bin/env bash
# What other programs cost: decode, or encoding, on a quiet machine, beside a process that is always busy (in a session of
# its own, and in the same one, which autogroups treat differently), and with each of the first two cores busy half the time.
#
#   busy_bench.sh MODEL [OUT.md] [-- CLI...]     CLI: programs to measure in turns; build/release/bin/orrery-cli
#
# ROUNDS, GEN and OPTIONS (of orrery-cli bench) may be set. As root all of it runs ahead of other sessions of the machine.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,8p' "$0"; exit 2; }
model=$1 out=/dev/stdout; shift
[ $# -eq 0 ] || [ "$1" = -- ] || { out=$1; shift; }
[ "${1-}" != -- ] || shift
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
[ $# -gt 0 ] || set -- "$root/build/release/bin/orrery-cli"
export ROUNDS=${ROUNDS:-3} GEN=${GEN:-64} OPTIONS=${OPTIONS:-}

setsid -w python3 - "$model" "$@" >"$out" <<'P'
import json, os, statistics, subprocess, sys, time
model, programs = sys.argv[1], sys.argv[2:]
rounds, gen, options = int(os.environ["ROUNDS"]), os.environ["GEN"], os.environ["OPTIONS"].split()

def ahead():
    try:
        with open("/proc/self/autogroup", "w") as group:
            group.write("-20")
    except OSError:
        pass

def own_session():
    os.setsid()
    ahead()

HALF = """import os, time
os.sched_setaffinity(0, {%d})
while True:
    end = time.perf_counter() + .005
    while time.perf_counter() < end: pass
    time.sleep(.005)"""
BUSY = ["sh", "-c", "while :; do :; done"]
beside = {
    "quiet": lambda: None,
    "a busy process": lambda: subprocess.Popen(BUSY, preexec_fn=own_session),
    "a busy process of the session": lambda: subprocess.Popen(BUSY),
    "core 0 busy half the time": lambda: subprocess.Popen([sys.executable, "-c", HALF % 0], preexec_fn=own_session),
    "core 1 busy half the time": lambda: subprocess.Popen([sys.executable, "-c", HALF % 1], preexec_fn=own_session),
}

def speed(program):
    command = [program, "bench", model, "--prompt", "0", "--gen", gen, "--repeats", "3", "--json", "--quiet", *options]
    done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return done["decode"]["tokens_per_second"] if "decode" in done else done["encode"]["sequences_per_second"]

ahead()
speeds = {(case, program): [] for case in beside for program in programs}
for _ in range(rounds):
    for case, start in beside.items():
        for program in programs:
            other = start()
            time.sleep(.1)
            try:
                speeds[case, program].append(speed(program))
            finally:
                if other:
                    other.kill()
                    other.wait()

median = {key: statistics.median(values) for key, values in speeds.items()}
print(f"{os.path.basename(model)}, {len(os.sched_getaffinity(0))} cores, a second; median of {rounds} rounds in turns\n")
for program in programs:
    print(f"{program}\n\n| beside | median | of quiet | rounds |\n|---|---|---|---|")
    for case in beside:
        values = ", ".join(f"{v:.0f}" for v in speeds[case, program])
        print(f"| {case} | {median[case, program]:.0f} | {median[case, program] / median['quiet', program]:.0%} | {values} |")
    print()
P
