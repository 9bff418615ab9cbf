#include "engine/compile/plan.h"
#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/linear.h"
#include "kernels/norm.h"
#include "kernels/rope.h"
#include "kernels/sample.h"

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

std::vector<std::string> rows_after(std::string_view kernel) {
  using namespace kernels;  // NOLINT: the row tables only
  std::vector<std::string> after;
  static_cast<void>(collect(linear_rows(), kernel, after) || collect(attention_rows(), kernel, after) ||
                    collect(kv_append_rows(), kernel, after) || collect(norm_rows(), kernel, after) ||
                    collect(rope_rows(), kernel, after) || collect(elementwise_rows(), kernel, after) ||
                    collect(embedding_rows(), kernel, after) || collect(gather_rows(), kernel, after) ||
                    collect(sample_rows(), kernel, after));
  return after;
}

}  // namespace orrery::compile
