#!/usr/bin/env python3
"""Objects built for one instruction set may define no weak symbol outside their own namespace: the linker keeps one
copy of a weak function, and if that is the AVX-512 one, the program dies on machines without it.

  isa_symbols_test.py NM OBJECT...     exit 1 and name each such symbol
  isa_symbols_test.py --self           check that the rule finds planted symbols
"""
import re
import subprocess
import sys

OWN = re.compile(r"_Z[A-Z]*6orrery7kernels(8baseline|4avx2|9avx2_vnni|6avx512|11avx512_vnni|11avx512_bf16|8amx_bf16)")
WEAK = set("WVuvw")
# A pointer to the exception handler, one word of data: the same whichever copy is kept.
DATA = re.compile(r"DW\.ref\.")


def strays(listing):
    """Weak definitions in `nm` output that are in no ISA namespace."""
    found = []
    for line in listing.splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in WEAK and not OWN.match(parts[2]) and not DATA.match(parts[2]):
            found.append(parts[2])
    return found


def check_self():
    planted = ("0000000000000000 W _ZSt4moveIiEOiRi\n"
               "0000000000000000 u _ZN6orrery7kernels3fooE\n"
               "                 w __gmon_start__\n"
               "0000000000000000 V DW.ref.__gxx_personality_v0\n"
               "0000000000000000 W _ZN6orrery7kernels6avx5123fmaEv\n"
               "0000000000000000 W _ZNK6orrery7kernels4avx211Activations6valuesEi\n"
               "0000000000000000 T _ZN6orrery7kernels4avx23barEv\n")
    assert strays(planted) == ["_ZSt4moveIiEOiRi", "_ZN6orrery7kernels3fooE"], strays(planted)


def main():
    if sys.argv[1] == "--self":
        check_self()
        return 0
    nm, *objects = sys.argv[1:]
    if not objects:
        print("no objects given")
        return 1
    failed = 0
    for name in objects:
        listing = subprocess.run([nm, "--defined-only", name], check=True, capture_output=True, text=True).stdout
        for symbol in strays(listing):
            print(f"{name}: weak symbol outside the ISA's namespace: {symbol}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
