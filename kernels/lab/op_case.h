// A case of an op: a problem and the inputs of one call, in ordinary memory. Whatever row runs it, wherever,
// its operands are put there by the case, and what comes out is compared with the oracle. A case C of an op
// has
//   using Op                              and `Op::Problem problem` or problem()
//   Call<Op> place(row, place) const      puts its operands as the row wants them
//   std::vector<Expected> expected(roundings) const
//                                         what the oracle says, of inputs rounded as the row rounds them
//   Work work() const                     what one call has to move and to multiply
// and where calls in turn should find some operands in memory and not in a cache, as those of a model do,
//   void cool(args, row, place, copy) const     points args at another copy of those operands
//   bool is_cold() const                  whether models meet it so; else they find all in a cache
#pragma once

#include <array>
#include <functional>
#include <map>

#include "kernels/device_module.h"
#include "kernels/lab/agreement.h"
#include "kernels/lab/place.h"

namespace orrery::kernels::lab {

template <class Op>
struct Call {
  typename Op::Args args;
  /// What the call wrote: after it is done.
  std::function<std::vector<Output>(Place&)> read;
};

/// What a call moves at least, each operand once, and its arithmetic, a multiply-add being two.
struct Work {
  double bytes = 0, flops = 0;
};

/// By output; those of an op that has but one are alike.
using Roundings = std::array<Rounding, 4>;

template <class Op>
Roundings roundings_of(const Row<Op>& row, const typename Op::Problem& problem) {
  Roundings roundings;
  for (size_t output = 0; row.rounding != nullptr && output < roundings.size(); ++output)
    roundings[output] = row.rounding(problem, static_cast<int>(output));
  return roundings;
}

/// Empty: the row takes the problem on the machine of its device.
template <class Op>
std::string refusal_of(const Row<Op>& row, const typename Op::Problem& problem) {
  return row.supports(problem, machine_of(row.device));
}

template <class Op>
std::byte* put_workspace(const Row<Op>& row, const typename Op::Problem& problem, Place& place) {
  const auto bytes = [&] { return row.workspace(problem, machine_of(row.device), place.threads()); };
  return place.put(nullptr, row.workspace != nullptr ? bytes() : 0, 64);
}

/// What the row writes.
template <class Case>
std::vector<Output> run(const Case& c, const Row<typename Case::Op>& row, Place& place) {
  const auto call = c.place(row, place);
  row.run(call.args, place.launch(put_workspace(row, c.problem, place)));
  place.wait();
  return call.read(place);
}

/// The reference is the last of the CPU's rows.
template <class Case>
std::vector<Output> run_reference(const Case& c, std::span<const Row<typename Case::Op>> rows) {
  ThreadTeam team(1);
  HostPlace place(team);
  return run(c, rows.back(), place);
}

/// What is expected of each row of a case, worked out once for every way of rounding.
template <class Case>
class Oracle {
 public:
  explicit Oracle(const Case& c) : case_(c) {}

  const std::vector<Expected>& of(const Row<typename Case::Op>& row) {
    const Roundings roundings = roundings_of(row, case_.problem);
    const auto found = expected_.find(roundings);
    if (found != expected_.end()) return found->second;
    return expected_[roundings] = case_.expected(roundings);
  }

 private:
  const Case& case_;
  std::map<Roundings, std::vector<Expected>> expected_;
};

}  // namespace orrery::kernels::lab
