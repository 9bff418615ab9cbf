// The ways of computing attention that kernels/cuda/attention.cu chooses from. Each launches on the stream of
// the call and needs no workspace.
#pragma once

#include <string>

#include "kernels/attention.h"

namespace orrery::kernels::cuda {

/// Any legal problem whose heads have at most 256 elements.
void attend_general(const Attention::Args& args, const Launch& launch);

/// f16 and bf16 pages, whose rows are read 16 bytes at a time.
std::string paged_halves_reason(const Attention::Problem& problem, int64_t largest_head);
bool aligned_pages(const Attention::Args& args);

/// Packed keys, operands rounded to TF32: heads of a multiple of 4 up to 128 elements, rows that are read 16
/// bytes at a time.
void attend_packed(const Attention::Args& args, const Launch& launch);

/// Tokens one by one, keys split over blocks: all tokens, or those that a sequence brings alone. Heads of up
/// to 256 elements.
enum class Singles : uint8_t { all_tokens, lone_tokens };
void attend_singles(const Attention::Args& args, const Launch& launch, Singles which);

/// Tiles of rows of the sequences that bring at least `least` tokens. Heads of up to 256
/// elements.
void attend_tiles(const Attention::Args& args, const Launch& launch, int least);

}  // namespace orrery::kernels::cuda
