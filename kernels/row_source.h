// Where a row is to be read.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

/// Below kernels/: what the row says, else the file that an op's rows are in.
template <class Op>
std::string source_of(const Row<Op>& row) {
  const std::string op(Op::kName);
  if (!row.source.empty()) return std::string(row.source);
  if (row.name == "cpu.reference") return "ref/" + op + ".cpp";
  return row.device == DeviceKind::cuda ? "cuda/" + op + ".cu" : "cpu/" + op + ".cpp";
}

}  // namespace orrery::kernels
