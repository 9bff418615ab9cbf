// The low-rank matrices that a weight node takes in, as its attribute `merged`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::ops {

/// factor * B A is added to the weight's tensor; the matrices are those of the tensor in the adapter of that
/// path and stamp (engine/weights/weight_file.h).
struct MergedAdapter {
  double factor = 1.0;
  std::string path, stamp;
};

/// A line each: "0.5 path", then the stamp after a tab.
std::string write_merged(const std::vector<MergedAdapter>& merged);
/// Lines of another form are left out.
std::vector<MergedAdapter> parse_merged(std::string_view text);

}  // namespace orrery::ops
