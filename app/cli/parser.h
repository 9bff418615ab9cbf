// What a verb says about its options. Behind it is CLI11, which only parser.cpp includes: its headers take
// seconds to compile in every file that sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace orrery::cli {

/// The command line cannot be meant so; what() is shown. For callbacks of options.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An option or a flag of a Parser, for as long as its CommandLine.
class Option {
 public:
  Option() = default;
  Option required() const;
  Option needs(Option other) const;
  Option excludes(Option other) const;
  Option range(int64_t least, int64_t most) const;
  Option one_of(std::vector<std::string> values) const;
  Option one_value() const;                      // each time it is given
  Option take_all() const;                       // it may be given several times
  Option show_default() const;                   // the value that the variable has now
  Option group(const std::string& title) const;  // of the help
  bool given() const;                            // once the command line is parsed

 private:
  friend class Parser;
  explicit Option(CLI::Option* option) : option_(option) {}
  CLI::Option* option_ = nullptr;
};

/// The options of a verb, or a group of them. Variables must outlive parsing.
class Parser {
 public:
  using Values = std::vector<std::string>;

  /// T: std::string, int, int64_t, Values; std::optional of std::string, float, int32_t or uint64_t.
  template <class T>
  Option add_option(const std::string& name, T& value, const std::string& doc);
  Option add_option(const std::string& name, std::function<void(const Values&)> take, const std::string& doc);
  Option add_flag(const std::string& name, bool& value, const std::string& doc);
  Option add_flag(const std::string& name, std::function<void()> given, const std::string& doc);
  Parser add_group(const std::string& name, const std::string& doc = {});
  Option option(const std::string& name) const;     // one that was added
  void require_options(size_t least, size_t most);  // of this group
  void when_parsed(std::function<void()> check);
  void when_chosen(std::function<void()> run);  // the verb

 private:
  friend class CommandLine;
  explicit Parser(CLI::App* app) : app_(app) {}
  CLI::App* app_;
};

/// The program's verbs, of which one must be chosen.
class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& doc, const std::string& version,
              const std::string& footer);
  ~CommandLine();
  Parser add_verb(const std::string& name, const std::string& doc);
  /// The exit code where all that was asked for has been shown, as by --help. Throws UsageError.
  std::optional<int> parse(std::vector<std::string> arguments);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace orrery::cli
