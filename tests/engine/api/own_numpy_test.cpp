// Graphs of one's own give what NumPy gives: those of tests/data/own/make_graphs.py, from their files through
// a session, on the CPU and on the test module's card.
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/own_graph.h"
#include "engine/io/model_file.h"
#include "engine/ops/elements.h"
#include "engine/ops/lowering.h"
#include "tests/engine/own/own_graphs.h"

namespace orrery::api {
namespace {

using Json = nlohmann::json;

const std::string kData = std::string(ORRERY_TEST_DATA) + "/own/";

std::vector<double> numbers(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> read;
  ops::for_each_number(dtype, bytes, [&](double number) { read.push_back(number); });
  return read;
}

/// Each within the tolerance of the largest.
void expect_close(const Array& got, const io::Tensor& wanted, double tolerance) {
  EXPECT_EQ(got.dtype, wanted.dtype);
  ASSERT_EQ(got.shape, wanted.shape);
  const std::vector<double> a = numbers(got.dtype, got.view()), b = numbers(wanted.dtype, wanted.data);
  double most = 1e-30;
  for (const double number : b) most = std::max(most, std::abs(number));
  for (size_t i = 0; i < b.size(); ++i)
    EXPECT_LE(std::abs(a[i] - b[i]), tolerance * most) << "element " << i << ": " << a[i] << ", not " << b[i];
}

class AsNumPy : public testing::TestWithParam<const char*> {
 protected:
  static Array array_of(const io::Tensor& tensor) {
    Array array = make_array(tensor.dtype, tensor.shape).value();
    std::memcpy(array.data.get(), tensor.data.data(), array.bytes);
    return array;
  }

  void run(const Json& entry) {
    const auto name = entry["name"].get<std::string>();
    SCOPED_TRACE(name);
    auto file = own::parse_graph(entry["graph"].dump(), ops::registry(), "/", nullptr);
    ASSERT_TRUE(file.ok()) << file.error().to_string();
    OpenOptions options;
    options.device = GetParam();
    options.precision = "exact";
    options.threads = 1;
    const auto session = open_graph(std::make_shared<const graph::Graph>(file->graph), name, options);
    ASSERT_TRUE(session.ok()) << (session.error().code == ErrorCode::device ? "no device to test: " : "")
                              << session.error().to_string();
    RunRequest request;
    for (const auto& input : entry["inputs"])
      request.inputs.emplace(input, array_of(*arrays_->find(name + "/" + input.get<std::string>())));
    const auto ran = run_graph(**session, request, {});
    ASSERT_TRUE(ran.ok()) << ran.error().to_string();
    ASSERT_EQ(ran->outputs.size(), entry["graph"]["outputs"].size());
    for (size_t i = 0; i < ran->outputs.size(); ++i) {
      const auto output = entry["graph"]["outputs"][i].get<std::string>();
      SCOPED_TRACE(output);
      expect_close(ran->outputs[i].array, *arrays_->find(name + "/" + output), entry["outputs"][output]);
    }
  }

  std::shared_ptr<const io::ModelFile> arrays_ = io::open_model(kData + "graphs.npz", {}, {}).value();
};
INSTANTIATE_TEST_SUITE_P(, AsNumPy, testing::Values("cpu", "cuda:0"),
                         [](const auto& info) { return info.index == 0 ? "OnTheCpu" : "OnTheCard"; });

TEST_P(AsNumPy, EachGraph) {
  std::ifstream file(kData + "graphs.json");
  const Json cases = Json::parse(file);
  EXPECT_GE(cases.size(), 50U);
  for (const Json& entry : cases) {
    run(entry);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace orrery::api
