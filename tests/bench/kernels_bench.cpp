// Time of every row of every op on shapes of real models, each checked against the oracle first.
//   kernels_bench 'decode .* Q4_1.*matvec' --threads 1      --list names all problems
#include "tests/bench/bench_main.h"

int main(int argc, char** argv) { return orrery::kernels::bench::bench_main(argc, argv, {}); }
