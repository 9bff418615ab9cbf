// Time of every row of Attention and of what fills its pages. Decode walks over copies of its pages until
// they exceed the caches, as a model with many layers does.
//   attention_bench SmolLM2 --threads 1
#include "tests/bench/bench_main.h"

int main(int argc, char** argv) {
  return orrery::kernels::bench::bench_main(argc, argv, {.ops = {"attention", "kv_append"}});
}
