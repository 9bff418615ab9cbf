#include "app/cli/parser.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

namespace orrery::cli {

Option Option::required() const { return Option(option_->required()); }
Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
Option Option::range(int64_t least, int64_t most) const {
  return Option(option_->check(CLI::Range(least, most)));
}
Option Option::one_of(std::vector<std::string> values) const {
  return Option(option_->check(CLI::IsMember(std::move(values))));
}
Option Option::one_value() const { return Option(option_->expected(1)->allow_extra_args(false)); }
Option Option::take_all() const { return Option(option_->take_all()); }
Option Option::show_default() const { return Option(option_->capture_default_str()); }
Option Option::group(const std::string& title) const { return Option(option_->group(title)); }
bool Option::given() const { return !option_->empty(); }

template <class T>
Option Parser::add_option(const std::string& name, T& value, const std::string& doc) {
  return Option(app_->add_option(name, value, doc));
}
template Option Parser::add_option(const std::string&, std::string&, const std::string&);
template Option Parser::add_option(const std::string&, int&, const std::string&);
template Option Parser::add_option(const std::string&, int64_t&, const std::string&);
template Option Parser::add_option(const std::string&, Parser::Values&, const std::string&);
template Option Parser::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Parser::add_option(const std::string&, std::optional<float>&, const std::string&);
template Option Parser::add_option(const std::string&, std::optional<int32_t>&, const std::string&);
template Option Parser::add_option(const std::string&, std::optional<uint64_t>&, const std::string&);

Option Parser::add_option(const std::string& name, std::function<void(const Values&)> take,
                          const std::string& doc) {
  return Option(app_->add_option_function<Values>(name, std::move(take), doc));
}
Option Parser::add_flag(const std::string& name, bool& value, const std::string& doc) {
  return Option(app_->add_flag(name, value, doc));
}
Option Parser::add_flag(const std::string& name, std::function<void()> given, const std::string& doc) {
  return Option(app_->add_flag_callback(name, std::move(given), doc));
}
Parser Parser::add_group(const std::string& name, const std::string& doc) {
  return Parser(app_->add_option_group(name, doc));
}
Option Parser::option(const std::string& name) const { return Option(app_->get_option(name)); }
void Parser::require_options(size_t least, size_t most) { app_->require_option(least, most); }
void Parser::when_parsed(std::function<void()> check) { app_->parse_complete_callback(std::move(check)); }
void Parser::when_chosen(std::function<void()> run) { app_->final_callback(std::move(run)); }

CommandLine::CommandLine(const std::string& program, const std::string& doc, const std::string& version,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(doc, program)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->get_formatter()->column_width(38);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Parser CommandLine::add_verb(const std::string& name, const std::string& doc) {
  return Parser(app_->add_subcommand(name, doc));
}

std::optional<int> CommandLine::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app_->parse(std::move(arguments));
    return std::nullopt;
  } catch (const CLI::Success& shown) {
    return app_->exit(shown);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace orrery::cli
