// Any text as the file of a graph; what is read must be legal, and be written and read again as the same.
#include <cstdlib>
#include <string_view>

#include "engine/ops/lowering.h"
#include "engine/own/graph_file.h"
#include "engine/own/sizes.h"

namespace {

using namespace orrery;

/// Any file has any tensor.
Result<graph::Attributes> weight_of_file(const std::filesystem::path& path, const std::string& tensor) {
  return graph::Attributes{{"tensor", tensor.empty() ? path.stem().string() : tensor},
                           {"dtype", "f32"},
                           {"shape", std::vector<int64_t>{64, 8}},
                           {"file", path.string()},
                           {"stamp", ""}};
}

Result<own::GraphFile> parse(std::string_view text) {
  return own::parse_graph(text, ops::registry(), "/graphs", weight_of_file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = parse({reinterpret_cast<const char*>(data), size});
  if (!file.ok()) {
    if (file.error().what.empty()) std::abort();
    return 0;
  }
  if (!verify(file->graph).empty()) std::abort();
  const auto written = own::write_graph(file->graph, file->places, file->given, "/graphs", weight_of_file);
  if (!written.ok()) return 0;  // a weight that is no file's
  const auto again = parse(*written);
  if (!again.ok()) std::abort();
  const auto twice = own::write_graph(again->graph, again->places, again->given, "/graphs", weight_of_file);
  if (!twice.ok() || *twice != *written || again->places != file->places || again->given != file->given)
    std::abort();
  const auto shared = std::make_shared<const graph::Graph>(file->graph);
  static_cast<void>(own::with_sizes(shared, {{"n", 3}, {"m", int64_t{1} << 40}}));
  return 0;
}
