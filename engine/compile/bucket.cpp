#include <algorithm>
#include <bit>

#include "engine/compile/plan.h"

namespace orrery::compile {
namespace {

int64_t power_of_two(int64_t count) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count, 1))));
}

}  // namespace

Bucket bucket_for(int64_t tokens, int64_t outputs, int64_t sequences) {
  Bucket bucket;
  bucket.max_tokens = power_of_two(tokens);
  bucket.min_tokens = bucket.max_tokens == 1 ? 1 : bucket.max_tokens / 2 + 1;
  bucket.max_outputs = power_of_two(outputs);
  bucket.max_sequences = power_of_two(sequences);
  return bucket;
}

}  // namespace orrery::compile
