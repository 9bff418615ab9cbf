#!/usr/bin/env bash
# Times orrery-cli and llama.cpp's llama-bench on one model in one run, alternating, so that both meet the same machine.
#
#   beside_llama_cpp.sh LLAMA_BENCH MODEL.gguf [OUT.md]
#
# LLAMA_BENCH: built from the copy of llama.cpp inside the source package llama-cpp-python 0.3.36. THREADS, ROUNDS,
# PROMPT, GEN, ORRERY_CLI may be set.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7p' "$0"; exit 2; }
peer=$1 model=$2 out=${3:-/dev/stdout}
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
cli=${ORRERY_CLI:-$root/build/release/bin/orrery-cli}
threads=${THREADS:-2} rounds=${ROUNDS:-3} prompt=${PROMPT:-512} gen=${GEN:-64}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

for ((round = 0; round < rounds; ++round)); do
  "$peer" -m "$model" -t "$threads" -p "$prompt" -n "$gen" -r 3 -o json >"$work/peer.$round.json" 2>/dev/null
  "$cli" bench "$model" --threads "$threads" --prompt "$prompt" --gen "$gen" --repeats 3 --json >"$work/ours.$round.json"
done

python3 - "$work" "$rounds" "$model" "$threads" "$prompt" "$gen" >"$out" <<'P'
import json, os, platform, statistics, subprocess, sys
work, rounds, model, threads, prompt, gen = sys.argv[1:]
ours, peer = {"prefill": [], "decode": []}, {"prefill": [], "decode": []}
for i in range(int(rounds)):
    o = json.load(open(f"{work}/ours.{i}.json"))
    for phase in ours:
        ours[phase].append(o[phase]["tokens_per_second"])
    for row in json.load(open(f"{work}/peer.{i}.json")):
        peer["prefill" if row["n_gen"] == 0 else "decode"].append(row["avg_ts"])
cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.processor())
print(f"{os.path.basename(model)}, {threads} threads, {cpu}; median of {rounds} alternating rounds of 3 repeats\n")
print("| tokens/s | Orrery | llama.cpp | ratio | rounds (Orrery) |\n|---|---|---|---|---|")
for phase, n in (("prefill", prompt), ("decode", gen)):
    a, b = statistics.median(ours[phase]), statistics.median(peer[phase])
    print(f"| {phase} {n} | {a:.0f} | {b:.0f} | {a / b:.2f} | {', '.join(f'{x:.0f}' for x in ours[phase])} |")
P
