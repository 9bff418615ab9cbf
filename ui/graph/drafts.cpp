#include "ui/graph/drafts.h"

#include <algorithm>

#include "ui/graph/op_fit.h"

namespace orrery::ui {
namespace {

/// The node and the place of "layers.0.mlp.mul.b".
std::optional<graph::Use> readerOf(const graph::Graph& graph, const std::string& path) {
  const size_t dot = path.rfind('.');
  const graph::Node* node =
      dot == std::string::npos ? nullptr : graph.find(graph.find_path(path.substr(0, dot)));
  if (!node) return std::nullopt;
  for (size_t i = 0; i < node->inputs.size(); ++i)
    if (inputPath(*node, static_cast<int>(i)) == path) return graph::Use{node->id, static_cast<int>(i)};
  return std::nullopt;
}

}  // namespace

int Drafts::add(const graph::Graph& graph, Draft draft) {
  const std::string wanted = draft.name;
  const auto taken = [&] {
    return freePath(graph, draft.scope, draft.name) != draft.path() ||
           std::any_of(drafts_.begin(), drafts_.end(),
                       [&](const Draft& other) { return other.path() == draft.path(); });
  };
  for (int number = 2; taken(); ++number) draft.name = wanted + "_" + std::to_string(number);
  draft.id = ++last_;
  draft.inputs.resize(draft.op->inputs.size());
  drafts_.push_back(std::move(draft));
  return last_;
}

void Drafts::remove(int id) {
  const Draft* gone = find(id);
  if (!gone) return;
  const std::string own = gone->path() + ":";
  for (Draft& draft : drafts_)
    for (std::string& input : draft.inputs)
      if (input.starts_with(own)) input.clear();
  std::erase_if(drafts_, [id](const Draft& draft) { return draft.id == id; });
}

Draft* Drafts::find(int id) {
  const auto found =
      std::find_if(drafts_.begin(), drafts_.end(), [id](const Draft& one) { return one.id == id; });
  return found == drafts_.end() ? nullptr : &*found;
}

const Draft* Drafts::find(int id) const { return const_cast<Drafts*>(this)->find(id); }

const Draft* Drafts::making(const std::string& value) const {
  for (const Draft& draft : drafts_)
    for (size_t i = 0; i < draft.op->outputs.size(); ++i)
      if (draft.output(i) == value) return &draft;
  return nullptr;
}

std::vector<std::string> Drafts::missing(const graph::Graph& graph, const Draft& draft) const {
  std::vector<std::string> missing;
  for (size_t i = 0; i < draft.op->inputs.size(); ++i)
    if (isRequired(draft.op->inputs[i]) && draft.inputs[i].empty())
      missing.push_back(draft.op->inputs[i].name);
  for (const graph::AttributeSpec& spec : draft.op->attributes)
    if (!spec.fallback && !draft.attributes.contains(spec.name)) missing.push_back(spec.name);
  for (const std::string& input : draft.inputs)
    if (const Draft* other = input.empty() || findValue(graph, input).valid() ? nullptr : making(input))
      for (const std::string& what : this->missing(graph, *other))
        missing.push_back(other->name + "." + what);
  return missing;
}

std::optional<graph::ValueType> Drafts::typeOf(const graph::Graph& graph, const std::string& value) const {
  if (value.empty()) return std::nullopt;
  if (const ValueId id = findValue(graph, value); id.valid()) return graph.value(id).type;
  const Draft* draft = making(value);
  const auto made = draft ? types(graph, *draft) : Error{};
  if (!made.ok()) return std::nullopt;
  for (size_t i = 0; i < made->size(); ++i)
    if (draft->output(i) == value) return (*made)[i];
  return std::nullopt;
}

Result<std::vector<graph::ValueType>> Drafts::types(const graph::Graph& graph, const Draft& draft) const {
  std::vector<std::optional<graph::ValueType>> known;
  std::vector<const graph::ValueType*> inputs;
  for (const std::string& input : draft.inputs) known.push_back(typeOf(graph, input));
  for (const auto& type : known) inputs.push_back(type ? &*type : nullptr);
  return inferOp(*draft.op, draft.attributes, inputs);
}

bool Drafts::dependsOn(const Draft& draft, const Draft& other) const {
  if (draft.id == other.id) return true;
  return std::any_of(draft.inputs.begin(), draft.inputs.end(), [&](const std::string& input) {
    const Draft* before = making(input);
    return before && dependsOn(*before, other);
  });
}

Result<void> Drafts::canConnect(const graph::Graph& graph, const Draft& draft, size_t input,
                                const std::string& value) const {
  const std::string place = draft.name + "." + draft.op->inputs[input].name;
  if (const Draft* from = making(value); from && dependsOn(*from, draft))
    return Error{ErrorCode::invalid_argument, place + " would feed itself", place, ""};
  Draft tried = draft;
  tried.inputs[input] = value;
  const auto made = types(graph, tried);
  if (made.ok()) return {};
  const bool others = !missing(graph, tried).empty();  // only what is said of this input counts then
  if (others && made.error().where != draft.op->inputs[input].name) return {};
  return made.error();
}

Result<void> Drafts::canRead(const graph::Graph& graph, const graph::Use& reader, const Draft& draft,
                             size_t output) const {
  const auto made = types(graph, draft);
  if (!made.ok() || output >= made->size()) return {};  // told when its inputs are there
  const graph::Node& node = graph.node(reader.node);
  std::vector<const graph::ValueType*> inputs = graph.view(node).inputs;
  inputs[static_cast<size_t>(reader.input)] = &(*made)[output];
  const auto after = inferOp(*node.op, node.attributes, inputs);
  return after.ok() ? Result<void>() : Result<void>(after.error());
}

bool Drafts::addEdits(const graph::Graph& graph, const Draft& draft, std::vector<edit::Edit>& edits,
                      std::vector<int>& made) const {
  if (std::find(made.begin(), made.end(), draft.id) != made.end()) return true;
  made.push_back(draft.id);
  std::map<std::string, std::string> inputs;
  for (size_t i = 0; i < draft.inputs.size(); ++i) {
    if (draft.inputs[i].empty()) continue;
    const Draft* before = findValue(graph, draft.inputs[i]).valid() ? nullptr : making(draft.inputs[i]);
    if (before && !addEdits(graph, *before, edits, made)) return false;
    const bool first = i == 0 && draft.inputs[i] == draft.after;
    if (!first) inputs[draft.op->inputs[i].name] = draft.inputs[i];
  }
  edits.push_back(insertEdit(draft.op->name, draft.path(), inputs, draft.attributes, draft.after));
  for (const Draft::Reader& reader : draft.readers)
    if (const auto use = readerOf(graph, reader.input))
      edits.push_back(connectEdit(graph, *use, draft.output(static_cast<size_t>(reader.output))));
  return true;
}

EditRequest Drafts::request(const graph::Graph& graph, const Draft& draft) const {
  if (!missing(graph, draft).empty()) return {};
  EditRequest request;
  std::vector<int> made;
  addEdits(graph, draft, request.edits, made);
  request.name = QStringLiteral("insert ") + QString::fromStdString(draft.name);
  return request;
}

void Drafts::settle(const graph::Graph& graph) {
  std::erase_if(
      drafts_, [&graph](const Draft& draft) { return draft.asked && graph.find_path(draft.path()).valid(); });
  for (Draft& draft : drafts_) {
    for (std::string& input : draft.inputs)
      if (!input.empty() && !findValue(graph, input).valid() && !making(input)) input.clear();
    std::erase_if(draft.readers, [&](const Draft::Reader& reader) { return !readerOf(graph, reader.input); });
    if (!draft.after.empty() && !findValue(graph, draft.after).valid()) draft.after.clear();
  }
}

}  // namespace orrery::ui
