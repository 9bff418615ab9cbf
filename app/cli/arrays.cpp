#include "app/cli/arrays.h"

#include <fmt/format.h>

#include <filesystem>

#include "engine/api/array_text.h"

namespace orrery::cli {
namespace {

std::string type_of(const api::Array& array) { return to_string(array.type()); }

/// As they are typed: "1, 2; 3, 4".
std::string elements_of(const api::Array& array, int64_t count) {
  const int64_t columns = array.shape.empty() ? 1 : array.shape.back();
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += fmt::format("{}{:.6g}", i == 0 ? "" : i % columns == 0 ? "; " : ", ", api::number_at(array, i));
  return text;
}

std::string summary(const api::Array& array) {
  constexpr int64_t kFew = 16;
  const api::Statistics statistics = api::statistics_of(array);
  if (statistics.elements <= kFew && array.shape.size() <= 2) return elements_of(array, statistics.elements);
  std::string text = fmt::format("{:.6g} to {:.6g}, mean {:.6g}, deviation {:.6g}", statistics.least,
                                 statistics.most, statistics.mean, statistics.deviation);
  if (statistics.nan > 0) text += fmt::format(", {} NaN", statistics.nan);
  if (statistics.infinite > 0) text += fmt::format(", {} infinite", statistics.infinite);
  return text;
}

/// "y:values" is y.values.npy.
std::filesystem::path file_of(const std::string& folder, std::string name) {
  std::replace(name.begin(), name.end(), ':', '.');
  return std::filesystem::path(folder) / (name + ".npy");
}

}  // namespace

void add_array_options(Parser& parser, ArrayOptions& options) {
  options.open.precision = "exact";
  parser
      .add_option(
          "--in", options.inputs,
          "NAME=FILE.npy ...: an array for each input; also as it is typed in the window, "
          "\"src=1, 2; 3, 4\", which `op` reads as f32 unless a type stands in front, \"indices=i32 0, 2\"")
      .take_all();
  parser.add_option("--out", options.out, "folder that the outputs are written to, as NAME.npy");
  parser
      .add_option("--repeat", options.repeat,
                  "runs to take the median of; with more than one, some warm up first")
      .range(1, 1'000'000)
      .show_default();
  parser.add_option("--device", options.open.device, "cpu or cuda:N").show_default();
  parser.add_option("--threads", options.open.threads, "worker threads; 0: the cores this process may run on")
      .range(0, 1024)
      .show_default();
  parser
      .add_option("--precision", options.open.precision,
                  "what may be rounded in products; exact: nothing beyond the type of the inputs")
      .one_of({"balanced", "exact", "bf16", "int16", "int8"})
      .show_default();
}

Result<std::vector<std::pair<std::string, std::string>>> named_values(const std::vector<std::string>& texts,
                                                                      const std::string& option) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{ErrorCode::invalid_argument, fmt::format("\"{}\" is not NAME=VALUE", text), option,
                   fmt::format("For example {} {}", option, option == "--in" ? "x=x.npy" : "axis=-1")};
    values.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return values;
}

Result<void> write_arrays(const std::string& folder, std::vector<Told>& values) {
  if (folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Error{ErrorCode::io, fmt::format("The folder cannot be made: {}", error.message()), folder,
                 "Choose another one"};
  for (Told& value : values) {
    const std::filesystem::path file = file_of(folder, value.name);
    ORRERY_TRY(api::write_array(file.string(), *value.array));
    value.file = file.string();
  }
  return {};
}

Error placed(Error error, const std::string& where, const std::string& advice) {
  if (error.where.empty()) error.where = where;
  if (error.advice.empty()) error.advice = advice;
  return error;
}

Json to_json(const std::vector<Told>& values) {
  Json json = Json::array();
  for (const Told& value : values)
    json.push_back({{"name", value.name},
                    {"dtype", orrery::name_of(value.array->dtype)},
                    {"shape", value.array->shape},
                    {"file", value.file.empty() ? Json() : Json(value.file)}});
  return json;
}

void print_table(const std::vector<Told>& values) {
  for (const Told& value : values)
    print(fmt::format("{:<24} {:<20} {}{}\n", value.name, type_of(*value.array), summary(*value.array),
                      value.file.empty() ? "" : "  " + value.file));
}

Json to_json(const api::PlanStep& step) {
  Json refused = Json::array();
  for (const auto& refusal : step.refused)
    refused.push_back({{"kernel", refusal.kernel}, {"reason", refusal.reason}});
  return {{"node", step.path},
          {"op", step.op},
          {"device", step.device},
          {"kernel", step.kernel},
          {"refused", std::move(refused)},
          {"us", step.us}};
}

void print_step(const api::PlanStep& step) {
  print(fmt::format("{:<24} {:<20} {:<8} {:<28} {:.1f} us\n", step.path, step.op, step.device, step.kernel,
                    step.us));
  if (step.device != step.asked) print(fmt::format("    not on {} as asked: {}\n", step.asked, step.reason));
  for (const auto& refusal : step.refused)
    print(fmt::format("    not {}: {}\n", refusal.kernel, refusal.reason));
}

}  // namespace orrery::cli
