#include "engine/compile/plan.h"
#include "kernels/device_module.h"

namespace orrery::compile {
namespace {

template <class Op>
bool collect(std::span<const kernels::Row<Op>> rows, std::string_view kernel,
             std::vector<std::string>& after) {
  bool found = false;
  for (const kernels::Row<Op>& row : rows) {
    if (found) after.emplace_back(row.name);
    found = found || row.name == kernel;
  }
  return found;
}

}  // namespace

std::vector<std::string> rows_after(std::string_view kernel, kernels::DeviceKind device) {
  const kernels::DeviceRows& rows = kernels::rows_of(device);
  std::vector<std::string> after;
  static_cast<void>(collect(rows.linear, kernel, after) || collect(rows.attention, kernel, after) ||
                    collect(rows.kv_append, kernel, after) || collect(rows.norm, kernel, after) ||
                    collect(rows.rope, kernel, after) || collect(rows.elementwise, kernel, after) ||
                    collect(rows.embedding, kernel, after) || collect(rows.gather, kernel, after) ||
                    collect(rows.sample, kernel, after));
  return after;
}

}  // namespace orrery::compile
