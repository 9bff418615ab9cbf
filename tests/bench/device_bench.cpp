// Time of a card's rows on the steps of a sentence encoder of BERT's size: 768 wide, 12 heads of 64, MLP of
// 3,072, bf16 weights, texts of 128 tokens; of the row that a plan would take. Among calls that are captured
// and launched as a graph, and launched alone, host included.
//   device_bench attention
#include "tests/bench/bench_main.h"

int main(int argc, char** argv) {
  return orrery::kernels::bench::bench_main(argc, argv,
                                            {.device = "cuda:0", .picked = "encoder", .chosen = true});
}
