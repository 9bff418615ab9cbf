#include "engine/api/mix.h"

#include <fmt/format.h>

#include <map>

#include "app/cli/common_options.h"
#include "app/cli/input.h"
#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

struct MixOptions {
  Parser::Values sweeps;
  int64_t bytes = 0;
  std::optional<float> bits;
  std::string out;
  api::OpenOptions measured;
};

Result<std::vector<api::Sweep>> read_sweeps(const Parser::Values& files) {
  std::vector<api::Sweep> sweeps;
  for (const std::string& file : files) {
    ORRERY_ASSIGN(const std::string json, read_file(file));
    auto sweep = api::parse_sweep(json);
    if (!sweep.ok()) return sweep.error();
    sweeps.push_back(std::move(sweep).value());
  }
  return sweeps;
}

/// How many tensors each type gets.
std::map<std::string, int> counts_of(const api::MixTable& table, const api::Mix& mix) {
  std::map<std::string, int> counts;
  for (size_t t = 0; t < table.tensors.size(); ++t) ++counts[table.tensors[t].choices[mix.choices[t]].type];
  return counts;
}

Json json_of(const api::MixTable& table, const api::Mix& mix) {
  Json rows = Json::array(), curve = Json::array();
  for (size_t t = 0; t < table.tensors.size(); ++t) {
    const api::MixTensor::Choice& choice = table.tensors[t].choices[mix.choices[t]];
    rows.push_back({{"scope", table.tensors[t].scope},
                    {"type", choice.type.empty() ? Json() : Json(choice.type)},
                    {"bytes", choice.bytes},
                    {"distance", choice.distance}});
  }
  for (const api::Mix& point : api::mix_curve(table))
    curve.push_back({{"bytes", point.bytes}, {"distance", point.distance}});
  return {{"bytes", mix.bytes},
          {"bits", table.bits_of(mix.bytes)},
          {"predicted", mix.distance},
          {"tensors", std::move(rows)},
          {"curve", std::move(curve)}};
}

void print_mix(const api::MixTable& table, const api::Mix& mix) {
  print(fmt::format("{} of {} to {}, {:.2f} bits an element, predicted KL {:.3g}\n",
                    readable_bytes(mix.bytes), readable_bytes(table.least_bytes()),
                    readable_bytes(table.most_bytes()), table.bits_of(mix.bytes), mix.distance));
  for (const auto& [type, count] : counts_of(table, mix))
    print(fmt::format("{:>6} tensors {}\n", count, type.empty() ? "as they are" : type));
}

/// What it costs in truth: all of its edits together, over the text of the sweeps.
Result<api::MeasuredChange> measure(const MixOptions& options, const std::vector<edit::Edit>& edits,
                                    const std::string& text, const Context& context) {
  ORRERY_ASSIGN(const auto session, open_session(context, options.measured));
  return session->measure(edits, text, context.stop());
}

Result<int> run_mix(const MixOptions& options, const Context& context) {
  ORRERY_ASSIGN(const std::vector<api::Sweep> sweeps, read_sweeps(options.sweeps));
  ORRERY_ASSIGN(const api::MixTable table, api::mix_table(sweeps));
  const uint64_t bytes = options.bits ? table.bytes_of(*options.bits) : static_cast<uint64_t>(options.bytes);
  ORRERY_ASSIGN(const api::Mix mix, api::mix_for(table, bytes));
  const std::vector<edit::Edit> edits = api::edits_of(table, mix);
  std::optional<api::MeasuredChange> change;
  if (!options.measured.model.empty() && !edits.empty()) {
    ORRERY_ASSIGN(change, measure(options, edits, sweeps.front().request.text, context));
  }
  if (!options.out.empty()) {
    edit::Recipe recipe{edits, fmt::format("mix {}", readable_bytes(mix.bytes)), {}, {}};
    ORRERY_TRY(write_file(options.out, edit::write_recipe(recipe)));
  }
  if (context.json) {
    Json json = json_of(table, mix);
    json["measured"] = change ? Json(api::distance_of(*change)) : Json();
    json["path"] = options.out.empty() ? Json() : Json(options.out);
    print_json(json);
    return kExitDone;
  }
  print_mix(table, mix);
  if (change) print(fmt::format("measured KL {:.3g}\n", api::distance_of(*change)));
  if (options.out.empty()) {
    for (const edit::Edit& edit : edits) print(edit.to_string() + "\n");
  } else {
    print(options.out + "\n");
  }
  return kExitDone;
}

}  // namespace

Runner prepare_mix(Parser& parser, Context& context) {
  const auto options = std::make_shared<MixOptions>();
  parser
      .add_option("SWEEP.json", options->sweeps,
                  "sweeps quantise-tensors of one model in several types, as sweep --resume keeps them")
      .required();
  Parser size = parser.add_group("size");
  size.add_option("--bytes", options->bytes, "of the whole model at most").range(1, INT64_MAX);
  size.add_option("--bits", options->bits, "of an element of the swept tensors at most, on average");
  size.require_options(1, 1);
  parser.add_option("--out", options->out, "FILE.json: the recipe that makes it");
  parser.add_option("--measure", options->measured.model,
                    "MODEL: what the mix costs in truth, beside what is predicted");
  add_output_options(parser, context);
  return [options, &context] { return run_mix(*options, context); };
}

}  // namespace orrery::cli
