// What verbs on arrays share: NAME=VALUE options, and results told and written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/cli/output.h"
#include "app/cli/parser.h"
#include "engine/api/own_graph.h"

namespace orrery::cli {

/// Of a run on arrays.
struct ArrayOptions {
  std::vector<std::string> inputs;  // NAME=FILE.npy, or as it is typed
  std::string out;                  // folder; empty: nothing is written
  int repeat = 1;
  api::OpenOptions open;
};
/// --in --out --repeat --device --threads --precision.
void add_array_options(Parser& parser, ArrayOptions& options);

/// "x=x.npy" in two, of the option that has it.
Result<std::vector<std::pair<std::string, std::string>>> named_values(const std::vector<std::string>& texts,
                                                                      const std::string& option);

/// A value as it is told: the name that it is known by, and the file that it was written to (empty: none).
struct Told {
  std::string name, file;
  const api::Array* array = nullptr;
};
/// Writes each of the values to FOLDER/NAME.npy, and makes the folder; nothing where there is none.
Result<void> write_arrays(const std::string& folder, std::vector<Told>& values);
/// An error of the engine, with the place and the advice that it lacks.
Error placed(Error error, const std::string& where, const std::string& advice);

Json to_json(const std::vector<Told>& values);  // [{name, dtype, shape, file}]
void print_table(const std::vector<Told>& values);

Json to_json(const api::PlanStep& step);  // {node, op, device, kernel, refused, us}
/// Where it ran, by which kernel, and why by none before it.
void print_step(const api::PlanStep& step);

}  // namespace orrery::cli
