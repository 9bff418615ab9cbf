// Recipes of edits as files: made and checked on a model, shown, compared.
#include <fmt/format.h>

#include <filesystem>

#include "app/cli/common_options.h"
#include "app/cli/verbs.h"
#include "engine/api/own_ops.h"
#include "engine/api/recipes.h"

namespace orrery::cli {
namespace {

struct RecipeOptions {
  Parser::Values words;  // MODEL, or check MODEL R.json, show R.json, diff A.json B.json
  std::vector<std::string> edits;
  std::string out, name, notes;
};

Json edits_json(const std::vector<edit::Edit>& edits) {
  Json json = Json::array();
  for (const edit::Edit& edit : edits) json.push_back(edit.to_string());
  return json;
}

/// What of it the model does not take; empty: all of it can be made, and the graph runs.
Result<std::vector<api::Refusal>> problems_of(const Context& context, const std::string& model,
                                              edit::Recipe& recipe) {
  api::OpenOptions open;
  open.model = model;
  ORRERY_ASSIGN(const auto session, open_session(context, open));
  ORRERY_ASSIGN(api::Preview preview, session->preview(recipe.edits, context.stop()));
  for (api::Refusal& refusal : preview.refusals)
    refusal.reason = api::refusal_of(recipe, session->info(), std::move(refusal.reason));
  if (recipe.model.empty()) recipe.model = api::identity_of(session->info());
  return std::move(preview.refusals);
}

Result<int> make_recipe(const Context& context, const RecipeOptions& options) {
  edit::Recipe recipe{{}, options.name, options.notes, {}};
  for (const std::string& words : options.edits) {
    ORRERY_ASSIGN(edit::Edit edit, edit::parse_edit(words));
    recipe.edits.push_back(std::move(edit));
  }
  edit::resolve_files(recipe.edits, std::filesystem::current_path());
  api::name_contents(recipe.edits);
  ORRERY_ASSIGN(const auto problems, problems_of(context, options.words.front(), recipe));
  if (!problems.empty()) return problems.front().reason;
  ORRERY_TRY(write_file(options.out, edit::write_recipe(recipe)));
  if (context.json) {
    print_json({{"edits", edits_json(recipe.edits)}, {"problems", Json::array()}, {"path", options.out}});
  } else {
    print(fmt::format("{}: {} edits\n", options.out, recipe.edits.size()));
  }
  return kExitDone;
}

Result<int> check_recipe(const Context& context, const std::string& model, const std::string& path) {
  ORRERY_ASSIGN(edit::Recipe recipe, edit::read_recipe(path));
  ORRERY_ASSIGN(const auto problems, problems_of(context, model, recipe));
  if (context.json) {
    Json rows = Json::array();
    for (const api::Refusal& problem : problems)
      rows.push_back(
          {{"edit", problem.edit ? Json(*problem.edit) : Json()}, {"reason", problem.reason.to_string()}});
    print_json({{"edits", edits_json(recipe.edits)}, {"problems", std::move(rows)}});
    return kExitDone;
  }
  for (const api::Refusal& problem : problems)
    print(fmt::format("refused{}: {}\n", problem.edit ? fmt::format(", edit {}", *problem.edit + 1) : "",
                      problem.reason.to_string()));
  if (problems.empty()) print(fmt::format("all {} edits can be made\n", recipe.edits.size()));
  return kExitDone;
}

Result<int> show_recipe(const Context& context, const std::string& path) {
  ORRERY_ASSIGN(const edit::Recipe recipe, edit::read_recipe(path));
  if (context.json) {
    print_json({{"name", recipe.name},
                {"notes", recipe.notes},
                {"model", recipe.model},
                {"edits", edits_json(recipe.edits)}});
    return kExitDone;
  }
  if (!recipe.name.empty()) print(recipe.name + "\n");
  if (!recipe.notes.empty()) print(recipe.notes + "\n");
  for (size_t i = 0; i < recipe.edits.size(); ++i)
    print(fmt::format("{:>4}  {}\n", i + 1, recipe.edits[i].to_string()));
  return kExitDone;
}

Result<int> compare_recipes(const Context& context, const std::string& path_a, const std::string& path_b) {
  ORRERY_ASSIGN(const edit::Recipe a, edit::read_recipe(path_a));
  ORRERY_ASSIGN(const edit::Recipe b, edit::read_recipe(path_b));
  const api::RecipeDiff diff = api::diff_recipes(a.edits, b.edits);
  if (context.json) {
    print_json({{"added", edits_json(diff.added)},
                {"removed", edits_json(diff.removed)},
                {"reordered", diff.reordered}});
    return kExitDone;
  }
  for (const edit::Edit& edit : diff.removed) print("- " + edit.to_string() + "\n");
  for (const edit::Edit& edit : diff.added) print("+ " + edit.to_string() + "\n");
  if (diff.reordered) print("the same edits in another order\n");
  if (diff.same()) print("the same edits\n");
  return kExitDone;
}

Result<int> run_recipe(const RecipeOptions& options, const Context& context) {
  const Parser::Values& words = options.words;
  const std::string& first = words.front();
  if (first == "check" && words.size() == 3) return check_recipe(context, words[1], words[2]);
  if (first == "show" && words.size() == 2) return show_recipe(context, words[1]);
  if (first == "diff" && words.size() == 3) return compare_recipes(context, words[1], words[2]);
  return make_recipe(context, options);
}

/// What cannot be meant is wrong usage, not a failure.
void check_usage(const RecipeOptions& options) {
  const Parser::Values& words = options.words;
  if (words.empty()) return;
  const std::string& first = words.front();
  const bool makes = !options.edits.empty() || !options.out.empty();
  const bool reads =
      (first == "show" && words.size() == 2) || ((first == "check" || first == "diff") && words.size() == 3);
  if (reads && !makes) return;
  if (words.size() == 1 && !options.edits.empty() && !options.out.empty()) return;
  throw UsageError(
      "recipe: write MODEL --edit 'OP ...' --out R.json, check MODEL R.json, show R.json, or diff A.json "
      "B.json");
}

}  // namespace

Runner prepare_recipe(Parser& parser, Context& context) {
  const auto options = std::make_shared<RecipeOptions>();
  parser
      .add_option("WHAT", options->words,
                  "MODEL, whose recipe is made; or check MODEL R.json, show R.json, diff A.json B.json")
      .required();
  parser.add_option("--edit", options->edits, "an edit, such as bypass scope=layers.3; may be repeated")
      .one_value()
      .take_all();
  parser.add_option("--out", options->out, "where the recipe is written, R.json");
  parser.add_option("--name", options->name, "what it is called; none: named after its file");
  parser.add_option("--notes", options->notes, "kept with it for the reader");
  add_output_options(parser, context);
  parser.when_parsed([options] { check_usage(*options); });
  return [options, &context] { return run_recipe(*options, context); };
}

}  // namespace orrery::cli
