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

}  // namespace orrery::weights
