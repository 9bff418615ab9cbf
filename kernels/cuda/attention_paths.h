// The ways of computing attention that kernels/cuda/attention.cu makes its rows of. Each launches on the
// stream of the call.
#pragma once

#include <string>

#include "kernels/attention.h"
#include "kernels/machine.h"

namespace orrery::kernels::cuda {

/// A softmax over any legal keys, of heads of at most 256 elements.
void attend_general(const Attention::Args& args, const Launch& launch);

/// The same by Fastmax: up to `few_tokens` tokens one by one, keys split over blocks; of more, tiles of rows,
/// and tokens that a sequence brings alone one by one.
void attend_fastmax(const Attention::Args& args, const Launch& launch, int64_t few_tokens);
size_t fastmax_shared_bytes(const Attention::Problem& problem);
size_t fastmax_workspace(const Attention::Problem& problem);

/// Packed keys, operands rounded to TF32: heads of a multiple of 4 up to 128 elements, rows that are read 16
/// bytes at a time.
void attend_packed(const Attention::Args& args, const Launch& launch);
size_t packed_shared_bytes(const Attention::Problem& problem);

/// Tokens one by one, keys split over blocks: all tokens, or those that a sequence brings alone. Heads of up
/// to 256 elements in f16 or bf16 pages, whose rows are read 16 bytes at a time. In clusters, whose blocks
/// have so much shared memory where there are most of them:
enum class Singles : uint8_t { all_tokens, lone_tokens };
void attend_singles(const Attention::Args& args, const Launch& launch, Singles which);
size_t cluster_shared_bytes(const Attention::Problem& problem, const CardMachine& card);
/// The same, to the bit, by a second kernel that joins what the blocks of the first left in the workspace.
void attend_singles_split(const Attention::Args& args, const Launch& launch, Singles which);
size_t group_shared_bytes(const Attention::Problem& problem);
size_t split_workspace(const Attention::Problem& problem);

/// Tiles of rows of the sequences that bring at least `least` tokens. Heads and pages as above; a block has
/// so much shared memory at least.
void attend_tiles(const Attention::Args& args, const Launch& launch, int least);
size_t tiles_shared_bytes(const Attention::Problem& problem);

}  // namespace orrery::kernels::cuda
