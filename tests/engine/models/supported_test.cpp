// engine/SUPPORTED.md: what can be opened and what runs it, asked of the registries. The test fails where the
// page says something else; ORRERY_WRITE_SUPPORTED=1 writes the page anew.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/io/gguf_types.h"
#include "engine/models/builder.h"
#include "engine/ops/lowering.h"
#include "engine/text/supported.h"
#include "kernels/device_module.h"
#include "tests/support/machines.h"

namespace orrery::models {
namespace {

constexpr const char* kPage = ORRERY_SOURCE_DIR "/engine/SUPPORTED.md";
constexpr int64_t kManyTokens = 512;

std::string architecture_table() {
  std::string table = "## Architectures\n\n| name in the file | what it does |\n|---|---|\n";
  for (const Architecture& architecture : architectures())
    table += fmt::format("| `{}` | {} |\n", architecture.name, architecture.tasks);
  return table;
}

std::string format_list() {
  std::string list = "## File formats\n\n";
  for (int i = 0; i <= static_cast<int>(io::Format::hugging_face_folder); ++i)
    list += fmt::format("- {}\n", io::name_of(static_cast<io::Format>(i)));
  return list;
}

/// The row of Linear that runs a matrix of this type, rounding as usual.
std::string row_for(const kernels::RowTable& table, const kernels::Machine& machine, DType weight,
                    int64_t tokens) {
  kernels::Linear::Problem problem;
  problem.tokens = tokens;
  problem.cols = 4096;
  problem.segments[0] = {4096, weight};
  const auto* row = kernels::select(table.of<kernels::Linear>(), problem, machine).row;
  return row ? fmt::format("`{}`", row->name) : "-";
}

std::string type_table(const kernels::RowTable& cuda) {
  std::string table = fmt::format(
      "## Tensor types\n\nThe kernel of a linear layer, for one token and for {} (AVX-512 with VNNI and "
      "BF16; an "
      "H100 or H200).\n\n| type | CPU, 1 | CPU, {} | CUDA, 1 | CUDA, {} |\n|---|---|---|---|---|\n",
      kManyTokens, kManyTokens, kManyTokens);
  const kernels::RowTable& cpu = kernels::rows_on(kernels::DeviceKind::cpu);
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i) {
    const DType type = static_cast<DType>(i);
    if (is_integer(type) || type == DType::boolean) continue;
    table += fmt::format("| {} | {} | {} | {} | {} |\n", name_of(type),
                         row_for(cpu, kernels::machines::zen4, type, 1),
                         row_for(cpu, kernels::machines::zen4, type, kManyTokens),
                         row_for(cuda, kernels::machines::h200, type, 1),
                         row_for(cuda, kernels::machines::h200, type, kManyTokens));
  }
  std::vector<std::string_view> listed;
  for (const io::GgufTensorType& type : io::kGgufTensorTypes)
    if (!type.dtype) listed.push_back(type.name);
  return table + fmt::format("\nListed by name and not run: {}.\n", fmt::join(listed, ", "));
}

std::string sampler_table() {
  const graph::OpPtr sample = ops::registry()->find("sample");
  if (sample->attributes.empty()) return "";
  std::string table =
      "\n## Sampling\n\nAttributes of the drawn sampling node.\n\n| name | what it does |\n|---|---|\n";
  for (const graph::AttributeSpec& attribute : sample->attributes)
    table += fmt::format("| `{}` | {} |\n", attribute.name, attribute.doc);
  return table;
}

std::string tokenizer_list() {
  std::string list = "## Tokenizers\n";
  for (const text::SupportedPart& part : text::supported_tokenizers())
    list += fmt::format("\n{}: `{}`.\n", part.part, fmt::join(part.names, "`, `"));
  return list;
}

std::string page(const kernels::RowTable& cuda) {
  return "# What is supported\n\nWritten from the registries by tests/engine/models/supported_test.cpp "
         "(ORRERY_WRITE_SUPPORTED=1), which fails where they differ.\n\n" +
         architecture_table() + "\n" + format_list() + "\n" + tokenizer_list() + "\n" + type_table(cuda) +
         sampler_table();
}

TEST(Supported, ThePageSaysWhatTheRegistriesSay) {
  std::string reason;
  const kernels::DeviceModule* cuda = kernels::cuda_module(reason);
  if (!cuda) GTEST_SKIP() << reason;
  const std::string expected = page(cuda->rows);
  if (std::getenv("ORRERY_WRITE_SUPPORTED")) std::ofstream(kPage) << expected;
  std::ifstream stream(kPage);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), expected)
      << "write it anew with ORRERY_WRITE_SUPPORTED=1";
}

}  // namespace
}  // namespace orrery::models
