// How far two stored tensors are apart.
#pragma once

#include <stop_token>

#include "engine/weights/weight_store.h"

namespace orrery::weights {

struct Distance {
  double relative = 0;  // |A - B| / |A| (Frobenius); infinite where A is zero and B is not
  double cosine = 1, max_abs = 0;
};

/// Of tensors of one shape, each of any type that is run. Both are decoded row by row; each row is summed by
/// itself, so that the figures do not depend on who takes what. Bytes that lie at one place are not read.
/// Once it is to stop it returns soon, with what is no distance.
Distance distance_of(const io::Tensor& a, const io::Tensor& b, kernels::ThreadTeam& team,
                     const std::stop_token& stop);

}  // namespace orrery::weights
