#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_map>

#include "engine/io/reader.h"
#include "engine/ops/aliases.h"
#include "engine/own/file_names.h"
#include "engine/own/graph_file.h"
#include "engine/own/json_attributes.h"

namespace orrery::own {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;
constexpr size_t kMostNodes = 100'000;

Error refuse(std::string what, std::string where, std::string advice = {}) {
  return {ErrorCode::invalid_argument, std::move(what), std::move(where), std::move(advice)};
}

/// A JSON object whose members are read by name.
class Object {
 public:
  static Result<Object> of(const Json& json, std::string where,
                           std::initializer_list<std::string_view> keys) {
    if (!json.is_object()) return refuse("It is no object", std::move(where), "write {\"name\": ...}");
    for (const auto& [key, value] : json.items())
      if (std::ranges::find(keys, key) == keys.end())
        return refuse(fmt::format("The key {} is not known", io::shown(key)), std::move(where),
                      fmt::format("the keys are {}", fmt::join(keys.begin(), keys.end(), ", ")));
    return Object(json, std::move(where));
  }

  const std::string& where() const { return where_; }
  const Json* find(const char* key) const {
    const auto member = json_->find(key);
    return member == json_->end() ? nullptr : &*member;
  }
  /// A text that must be there.
  Result<std::string> text(const char* key) const {
    const Json* member = find(key);
    if (member && member->is_string()) return member->get<std::string>();
    return refuse(fmt::format("\"{}\" is {}", key, member ? "no text" : "missing"), where_);
  }
  Result<std::string> name() const {
    ORRERY_ASSIGN(std::string name, text("name"));
    ORRERY_TRY(check_name(name, where_));
    return name;
  }
  /// The elements of an array; none where it is missing.
  Result<std::vector<const Json*>> list(const char* key) const {
    std::vector<const Json*> elements;
    const Json* member = find(key);
    if (!member) return elements;
    if (!member->is_array()) return refuse(fmt::format("\"{}\" is no list", key), where_);
    for (const Json& element : *member) elements.push_back(&element);
    return elements;
  }
  Result<std::optional<Place>> place() const {
    const Json* member = find("layout");
    if (!member) return std::optional<Place>();
    ORRERY_ASSIGN(const Object layout, of(*member, where_ + ".layout", {"x", "y"}));
    Place place;
    for (const auto& [key, number] : {std::pair("x", &place.x), {"y", &place.y}}) {
      const Json* coordinate = layout.find(key);
      if (!coordinate || !coordinate->is_number())
        return refuse(fmt::format("\"{}\" is no number", key), layout.where());
      *number = coordinate->get<double>();
    }
    return std::optional(place);
  }

 private:
  Object(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  const Json* json_;
  std::string where_;
};

Result<graph::Attributes> attributes_of(const graph::OpSchema& op, const Json* json,
                                        const std::string& where) {
  graph::Attributes attributes;
  if (!json) return attributes;
  if (!json->is_object()) return refuse("\"attributes\" is no object", where);
  for (const auto& [key, value] : json->items()) {
    const std::string name = ops::attribute_name(op, key);
    const auto spec = std::ranges::find(op.attributes, name, &graph::AttributeSpec::name);
    const auto wanted = spec == op.attributes.end() ? graph::AttributeType::any : type_of(*spec);
    auto attribute = attribute_in(value, wanted);
    if (!attribute)
      return refuse(fmt::format("{} is no attribute's value", io::shown(key)), where,
                    "write true or false, a number, a text, or a list of numbers");
    if (!attributes.emplace(name, *std::move(attribute)).second)
      return refuse(fmt::format("The attribute {} is there under two names", io::shown(name)), where);
  }
  return attributes;
}

/// A node of the file that waits for what it reads.
struct Waiting {
  std::string where, scope, name;
  graph::OpPtr op;
  graph::Attributes attributes;
  std::vector<std::string> inputs;  // by the op's inputs; empty: absent
};

/// The inputs in the op's order.
Result<std::vector<std::string>> inputs_of(const graph::OpSchema& op, const Json* json,
                                           const std::string& where) {
  std::vector<std::string> inputs(op.inputs.size());
  if (!json) return inputs;
  if (!json->is_object()) return refuse("\"inputs\" is no object", where, "write {\"src\": \"x\"}");
  for (const auto& [key, value] : json->items()) {
    const auto spec = std::ranges::find(op.inputs, key, &graph::InputSpec::name);
    if (spec == op.inputs.end()) {
      std::string names;
      for (const graph::InputSpec& known : op.inputs) (names += names.empty() ? "" : ", ") += known.name;
      return refuse(fmt::format("{} has no input {}", op.name, io::shown(key)), where,
                    names.empty() ? "it has none" : "its inputs are " + names);
    }
    const auto place = static_cast<size_t>(spec - op.inputs.begin());
    if (value.is_string()) {
      inputs[place] = value.get<std::string>();
      continue;
    }
    const bool texts =
        value.is_array() && std::ranges::all_of(value, [](const Json& one) { return one.is_string(); });
    if (!spec->variadic || !texts)
      return refuse(fmt::format("{} is no value's name", io::shown(key)), where,
                    spec->variadic ? "write a list of names" : "write the name of a node, or name:output");
    inputs.resize(place);  // a variadic input is the last
    for (const Json& one : value) inputs.push_back(one.get<std::string>());
  }
  return inputs;
}

class Reader {
 public:
  Reader(const std::shared_ptr<const graph::OpRegistry>& ops, const std::filesystem::path& folder,
         const WeightOfFile& weight_of_file)
      : folder_(folder), weight_of_file_(weight_of_file), file_{graph::Graph(ops), {}, {}} {}

  Result<GraphFile> read(const Json& json) {
    ORRERY_ASSIGN(const Object root,
                  Object::of(json, "graph", {"orrery_graph", "inputs", "constants", "nodes", "outputs"}));
    ORRERY_TRY(each(root, "inputs",
                    [this](const Json& entry, const std::string& where) { return input(entry, where); }));
    ORRERY_TRY(each(root, "constants",
                    [this](const Json& entry, const std::string& where) { return constant(entry, where); }));
    ORRERY_TRY(each(root, "nodes",
                    [this](const Json& entry, const std::string& where) { return node(entry, where); }));
    ORRERY_TRY(add_waiting());
    std::vector<ValueId> outputs;
    ORRERY_TRY(each(root, "outputs", [&](const Json& entry, const std::string& where) -> Result<void> {
      if (!entry.is_string())
        return refuse("It is no value's name", where, "write the name of a node, or name:output");
      ORRERY_ASSIGN(const ValueId value, value_named(entry.get_ref<const std::string&>(), where));
      outputs.push_back(value);
      return {};
    }));
    graph().set_outputs(std::move(outputs));
    return std::move(file_);
  }

 private:
  graph::Graph& graph() { return file_.graph; }

  template <class Function>
  Result<void> each(const Object& root, const char* key, Function&& function) {
    ORRERY_ASSIGN(const std::vector<const Json*> entries, root.list(key));
    if (entries.size() > kMostNodes)
      return refuse(fmt::format("\"{}\" has {} entries; {} are read", key, entries.size(), kMostNodes),
                    root.where());
    for (size_t i = 0; i < entries.size(); ++i)
      ORRERY_TRY(function(*entries[i], fmt::format("{}[{}]", key, i)));
    return {};
  }

  /// A node by its name is there once, whatever it is.
  Result<void> take_name(const std::string& name, const Object& entry) {
    if (!names_.emplace(name, waiting_.size()).second)
      return refuse(fmt::format("The name {} is there twice", name), entry.where());
    ORRERY_ASSIGN(const std::optional<Place> place, entry.place());
    if (place) file_.places.emplace(name, *place);
    return {};
  }

  Result<void> add(const Object& entry, const std::string& path, std::string op,
                   graph::Attributes attributes) {
    ORRERY_TRY(take_name(path, entry));
    const auto [scope, name] = scope_and_name(path);
    const auto added = graph().add_node({std::move(op), scope, name, std::move(attributes), {}, {}, {}});
    if (added.ok()) return {};
    Error error = added.error();
    error.where = fmt::format("{}, {}", entry.where(), path);
    return error;
  }

  Result<void> input(const Json& json, const std::string& where) {
    ORRERY_ASSIGN(const Object entry,
                  Object::of(json, where, {"name", "dtype", "shape", "node", "given", "layout"}));
    ORRERY_ASSIGN(const std::string name, entry.name());
    ORRERY_ASSIGN(std::string dtype, entry.text("dtype"));
    ORRERY_ASSIGN(const std::vector<const Json*> dims, entry.list("shape"));
    std::string shape;
    for (const Json* dim : dims) {
      if (!dim->is_string() && !dim->is_number_integer())
        return refuse("A size is no whole number and no text", where, "write \"shape\": [\"n\", 64]");
      shape += shape.empty() ? "" : ",";
      shape += dim->is_string() ? dim->get<std::string>() : dim->dump();
    }
    std::string path = name;
    if (entry.find("node")) {
      ORRERY_ASSIGN(path, entry.text("node"));
      ORRERY_TRY(check_name(path, where));
    }
    if (entry.find("given")) {
      ORRERY_ASSIGN(file_.given[path], entry.text("given"));
    }
    return add(entry, path, "input",
               {{"name", name}, {"dtype", std::move(dtype)}, {"shape", std::move(shape)}});
  }

  Result<void> constant(const Json& json, const std::string& where) {
    ORRERY_ASSIGN(const Object entry, Object::of(json, where,
                                                 {"name", "file", "tensor", "attributes", "dtype", "shape",
                                                  "value", "data", "layout"}));
    ORRERY_ASSIGN(const std::string name, entry.name());
    if (entry.find("file")) return constant_file(entry, name);
    for (const char* key : {"tensor", "attributes"})
      if (entry.find(key)) return refuse(fmt::format("It has \"{}\" and no file", key), where);
    const graph::OpPtr op = graph().ops().find("constant");
    Json attributes = Json::object();
    for (const char* key : {"dtype", "shape", "value", "data"})
      if (const Json* member = entry.find(key)) attributes[key] = *member;
    ORRERY_ASSIGN(graph::Attributes read, attributes_of(*op, &attributes, where));
    return add(entry, name, op->name, std::move(read));
  }

  Result<void> constant_file(const Object& entry, const std::string& name) {
    for (const char* key : {"dtype", "shape", "value", "data"})
      if (entry.find(key))
        return refuse(fmt::format("It has a file and \"{}\"", key), entry.where(), "leave one of them out");
    ORRERY_ASSIGN(const std::string text, entry.text("file"));
    std::string tensor;
    if (entry.find("tensor")) {
      ORRERY_ASSIGN(tensor, entry.text("tensor"));
    }
    ORRERY_ASSIGN(graph::Attributes attributes, weight_of_file_((folder_ / text).lexically_normal(), tensor));
    const graph::OpPtr op = graph().ops().find("weight");
    ORRERY_ASSIGN(const graph::Attributes others,
                  attributes_of(*op, entry.find("attributes"), entry.where()));
    for (const auto& [key, value] : others) attributes.insert_or_assign(key, value);
    return add(entry, name, op->name, std::move(attributes));
  }

  Result<void> node(const Json& json, const std::string& where) {
    ORRERY_ASSIGN(const Object entry,
                  Object::of(json, where, {"op", "name", "inputs", "attributes", "layout"}));
    ORRERY_ASSIGN(const std::string op, entry.text("op"));
    ORRERY_ASSIGN(const std::string path, entry.name());
    Waiting node;
    node.where = fmt::format("{}, {}", where, path);
    const Json* inputs = entry.find("inputs");
    std::vector<std::string> operands;
    if (inputs && inputs->is_object())
      for (const auto& [operand, value] : inputs->items()) operands.push_back(operand);
    const Json* given = entry.find("attributes");
    std::vector<std::string> attributes;
    if (given && given->is_object())
      for (const auto& [attribute, value] : given->items()) attributes.push_back(attribute);
    node.op = ops::find_op(graph().ops(), op, operands, attributes);
    if (!node.op)
      return refuse(fmt::format("There is no op {}", io::shown(op)), node.where,
                    "orrery-cli ops lists them; one of your own is there after custom add");
    std::tie(node.scope, node.name) = scope_and_name(path);
    ORRERY_ASSIGN(node.attributes, attributes_of(*node.op, given, node.where));
    ORRERY_ASSIGN(node.inputs, inputs_of(*node.op, inputs, node.where));
    ORRERY_TRY(take_name(path, entry));
    waiting_.push_back(std::move(node));
    return {};
  }

  /// "y", "y:dst"
  static std::string_view node_in(std::string_view value) { return value.substr(0, value.find(':')); }

  /// Adds the nodes in the order of the file, as far as each comes after what it reads.
  Result<void> add_waiting() {
    std::vector<size_t> missing(waiting_.size());  // by node: nodes that it still waits for
    std::vector<std::vector<size_t>> readers(waiting_.size());
    for (size_t i = 0; i < waiting_.size(); ++i)
      for (const std::string& input : waiting_[i].inputs) {
        if (input.empty() || graph().find_path(node_in(input)).valid()) continue;
        const auto maker = names_.find(std::string(node_in(input)));
        if (maker == names_.end()) return no_such_value(input, waiting_[i].where);
        readers[maker->second].push_back(i);
        ++missing[i];
      }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < missing.size(); ++i)
      if (missing[i] == 0) ready.push(i);
    size_t added = 0;
    for (; !ready.empty(); ++added) {
      const size_t next = ready.top();
      ready.pop();
      ORRERY_TRY(add(waiting_[next]));
      for (const size_t reader : readers[next])
        if (--missing[reader] == 0) ready.push(reader);
    }
    if (added == waiting_.size()) return {};
    const auto stuck = std::ranges::find_if(missing, [](size_t count) { return count > 0; });
    return refuse("It depends on itself, through what it reads",
                  waiting_[static_cast<size_t>(stuck - missing.begin())].where,
                  "connect it to something else");
  }

  Result<void> add(Waiting& node) {
    graph::Graph::NewNode added{node.op->name, node.scope, node.name, std::move(node.attributes), {}, {}, {}};
    for (const std::string& input : node.inputs) {
      ValueId value;
      if (!input.empty()) {
        ORRERY_ASSIGN(value, value_named(input, node.where));
      }
      added.inputs.push_back(value);
    }
    if (!node.op->inputs.empty() && node.op->inputs.back().variadic)
      while (!added.inputs.empty() && !added.inputs.back().valid()) added.inputs.pop_back();
    const auto made = graph().add_node(std::move(added));
    if (made.ok()) return {};
    Error error = made.error();
    error.where = error.where.empty() ? node.where : fmt::format("{}: {}", node.where, error.where);
    return error;
  }

  static Error no_such_value(const std::string& name, const std::string& where) {
    return refuse(fmt::format("There is no value {}", io::shown(name)), where,
                  "write the name of an input, a constant or a node, or name:output");
  }

  Result<ValueId> value_named(const std::string& name, const std::string& where) {
    const std::string_view path = node_in(name);
    const NodeId id = graph().find_path(path);
    if (!id.valid()) return no_such_value(name, where);
    const graph::Node& node = graph().node(id);
    if (path.size() == name.size()) {
      if (node.outputs.size() == 1) return node.outputs.front();
      return refuse(fmt::format("{} makes {} values", path, node.outputs.size()), where,
                    fmt::format("write {}:{}", path, node.op->outputs.front()));
    }
    const std::string_view output = std::string_view(name).substr(path.size() + 1);
    for (const ValueId value : node.outputs)
      if (graph().value(value).name == output) return value;
    return no_such_value(name, where);
  }

  const std::filesystem::path& folder_;
  const WeightOfFile& weight_of_file_;
  GraphFile file_;
  std::unordered_map<std::string, size_t> names_;  // of all nodes; of those that wait, their place there
  std::vector<Waiting> waiting_;
};

Result<void> check_version(const Json& json) {
  const auto version = json.is_object() ? json.find("orrery_graph") : json.end();
  if (version == json.end() || !version->is_number_integer())
    return refuse("The text is no graph: orrery_graph is missing or no number", "graph",
                  "a graph is {\"orrery_graph\": 1, \"inputs\": [], \"nodes\": [], \"outputs\": []}");
  if (*version != 1)
    return Error{ErrorCode::unsupported,
                 fmt::format("The graph has the version {}, and 1 is read", version->dump()), "graph",
                 "update this program"};
  return {};
}

}  // namespace

Result<GraphFile> parse_graph(std::string_view json, const std::shared_ptr<const graph::OpRegistry>& ops,
                              const std::filesystem::path& folder, const WeightOfFile& weight_of_file) {
  if (json.size() > kLargestFile) return refuse("The graph's file is larger than 64 MB", "graph");
  Result<Json> tree = parse_json(json, "graph");
  if (!tree) {
    Error error = std::move(tree).error();
    error.advice = "correct it there";  // a person may have written it
    return error;
  }
  ORRERY_TRY(check_version(*tree));
  return Reader(ops, folder, weight_of_file).read(*tree);
}

bool looks_like_graph(std::string_view begin) {
  const size_t brace = begin.find_first_not_of(" \t\r\n");
  return brace != std::string_view::npos && begin[brace] == '{' &&
         begin.find("\"orrery_graph\"") != std::string_view::npos;
}

}  // namespace orrery::own
