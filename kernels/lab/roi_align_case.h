// Samples of random boxes.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/roi_align.h"

namespace orrery::kernels::lab {

class RoiAlignCase {
 public:
  using Op = RoiAlign;

  /// Boxes (n, 5), or, of none, random ones, some of which reach beyond the images.
  RoiAlignCase(const RoiAlign::Problem& asked, int64_t images, int64_t boxes, uint32_t seed = 17,
               Distribution distribution = Distribution::normal, std::vector<float> given = {});

  Call<RoiAlign> place(const Row<RoiAlign>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  RoiAlign::Problem problem;

 private:
  int64_t images_;
  std::vector<std::byte> src_;
  std::vector<float> boxes_;
};

/// What comes back to the cells of random boxes.
class RoiAlignBackwardCase {
 public:
  using Op = RoiAlignBackward;

  RoiAlignBackwardCase(const RoiAlign::Problem& asked, int64_t images, int64_t boxes, uint32_t seed = 19,
                       Distribution distribution = Distribution::normal, std::vector<float> given = {});

  Call<RoiAlignBackward> place(const Row<RoiAlignBackward>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  RoiAlignBackward::Problem problem;

 private:
  int64_t images_;
  std::vector<std::byte> src_, grad_dst_;
  std::vector<float> boxes_;
};

}  // namespace orrery::kernels::lab
