// A tensor stored in another type.
#pragma once

#include "engine/weights/weight_store.h"

namespace orrery::weights {

/// Refuses types that nothing is stored in on purpose (IQ4, MXFP4, F8), and rows that do not divide into the
/// type's blocks.
Result<void> check_requantise(const io::Tensor& tensor, DType dtype);

/// The tensor's decoded values as `dtype`, row by row; each thread takes a range of rows. The tensor is
/// checked.
Result<Buffer> requantise(const io::Tensor& tensor, DType dtype, kernels::ThreadTeam& team);

/// A tensor's elements, row after row; of blocks where its rows divide into them.
std::vector<float> decoded(const io::Tensor& tensor);
/// Whole blocks of elements as they are stored in the type, which can be stored.
void encode(DType dtype, std::span<const float> elements, std::byte* dst);

}  // namespace orrery::weights
