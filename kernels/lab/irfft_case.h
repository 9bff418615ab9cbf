// Random spectra, and random gradients of the signals that they are of.
#pragma once

#include "kernels/irfft.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class IrfftCase {
 public:
  using Op = Irfft;

  IrfftCase(const Irfft::Problem& asked, int64_t rows, double scale, uint32_t seed = 29);

  Call<Irfft> place(const Row<Irfft>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Irfft::Problem problem;

 private:
  int64_t rows_;
  double scale_;
  std::vector<std::byte> src_;
};

class IrfftBackwardCase {
 public:
  using Op = IrfftBackward;

  IrfftBackwardCase(const Irfft::Problem& asked, int64_t rows, double scale, uint32_t seed = 31);

  Call<IrfftBackward> place(const Row<IrfftBackward>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Irfft::Problem problem;

 private:
  int64_t rows_;
  double scale_;
  std::vector<std::byte> grad_dst_;
};

}  // namespace orrery::kernels::lab
