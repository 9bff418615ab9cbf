#include "engine/own/graph_file.h"

#include <limits>

#include "tests/engine/own/own_graphs.h"

namespace orrery::own {
namespace {

using testing::HasSubstr;

const std::filesystem::path kFolder = "/graphs";

/// Every file has one tensor, f32[64, 8], but those of another name.
Result<graph::Attributes> weight_of_file(const std::filesystem::path& path, const std::string& tensor) {
  const std::string name = path.filename();
  if (name == "missing.npy")
    return Error{ErrorCode::not_found, "The file cannot be opened", path.string(), ""};
  if (name == "two.safetensors" && tensor.empty())
    return Error{ErrorCode::not_found, "The file has 2 tensors, not one", path.string(), ""};
  return graph::Attributes{{"tensor", tensor.empty() ? path.stem().string() : tensor},
                           {"dtype", "f32"},
                           {"shape", std::vector<int64_t>{64, 8}},
                           {"file", path.string()},
                           {"stamp", "512@1"}};
}

Result<GraphFile> parse(std::string_view json) {
  return parse_graph(json, ops::registry(), kFolder, weight_of_file);
}

GraphFile parsed(std::string_view json) {
  auto file = parse(json);
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().to_string());
  return file.ok() ? std::move(file).value() : GraphFile{graph::Graph(ops::registry()), {}, {}};
}

std::string refusal(std::string_view json) {
  const auto file = parse(json);
  return file.ok() ? std::string("it is read") : file.error().to_string();
}

/// A graph with this among its members.
std::string graph_with(const std::string& members) { return "{\"orrery_graph\": 1, " + members + "}"; }

std::string written(const GraphFile& file, const std::filesystem::path& folder = kFolder) {
  const auto text = write_graph(file.graph, file.places, file.given, folder, weight_of_file);
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().to_string());
  return text.ok() ? *text : std::string();
}

TEST(GraphFile, IsReadAsTheCommandLineTellsIt) {
  const GraphFile file = parsed(
      R"({"orrery_graph": 1, "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 64]}], "nodes": [{"op": "matmul",
          "name": "y", "inputs": {"a": "x", "b": "w"}, "attributes": {}}], "constants": [{"name": "w", "file": "w.npy"}],
          "outputs": ["y"]})");
  EXPECT_EQ(file.graph.order().size(), 3U);
  const graph::Node& y = file.graph.node(file.graph.find_path("y"));
  EXPECT_EQ(y.op->name, "matmul");
  EXPECT_EQ(file.graph.value_path(y.inputs[0]), "x:value");
  EXPECT_EQ(to_string(file.graph.value(y.inputs[0]).type), "f32[n, 64]");
  const graph::Value& w = file.graph.value(y.inputs[1]);
  EXPECT_EQ(w.kind, graph::ValueKind::weight);
  EXPECT_EQ(file.graph.node(w.producer).attributes.at("file"), graph::Attribute("/graphs/w.npy"));
  EXPECT_EQ(file.graph.outputs(), y.outputs);
  EXPECT_EQ(to_string(file.graph.value(y.outputs[0]).type), "f32[n, 8]");
}

TEST(GraphFile, IsWrittenAsItIsRead) {
  const std::string text =
      "{\"orrery_graph\": 1,\n"
      " \"inputs\": [\n"
      "  {\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"2*n+1\",4],\"layout\":{\"x\":1.5,\"y\":-20.0}},\n"
      "  {\"name\":\"again\",\"dtype\":\"f32\",\"shape\":[],\"node\":\"block.x\",\"given\":\"1, 2\"}],\n"
      " \"constants\": [\n"
      "  {\"name\":\"half\",\"value\":0.5},\n"
      "  {\"name\":\"mask\",\"data\":[0.0,\"-inf\"],\"shape\":[2],\"layout\":{\"x\":0.0,\"y\":3.0}},\n"
      "  {\"name\":\"w\",\"file\":\"arrays/w.npy\"}],\n"
      " \"nodes\": [\n"
      "  "
      "{\"op\":\"scale\",\"name\":\"block.twice\",\"inputs\":{\"src\":\"x\"},\"attributes\":{\"factor\":2.0}}"
      ",\n"
      "  "
      "{\"op\":\"concat\",\"name\":\"block.all\",\"inputs\":{\"parts\":[\"x\",\"block.twice\"]},"
      "\"attributes\":{\"axis\":1}},\n"
      "  "
      "{\"op\":\"top_experts\",\"name\":\"best\",\"inputs\":{\"logits\":\"x\"},\"attributes\":{\"active\":2}}"
      "],\n"
      " \"outputs\": [\"block.all\", \"best:weights\"]}\n";
  const GraphFile file = parsed(text);
  EXPECT_EQ(written(file), text);
  EXPECT_EQ(file.places.at("mask"), (Place{0, 3}));
  EXPECT_EQ(file.given, (Given{{"block.x", "1, 2"}}));
  EXPECT_EQ(to_string(file.graph.value(file.graph.outputs()[0]).type), "f32[2*n+1, 8]");
  const GraphFile again = parsed(written(file));
  EXPECT_EQ(print(again.graph), print(file.graph));
}

TEST(GraphFile, NodesMayStandInAnyOrder) {
  const GraphFile file = parsed(graph_with(
      R"("nodes": [{"op": "add", "name": "c", "inputs": {"a": "b", "b": "a"}},
                   {"op": "scale", "name": "b", "inputs": {"src": "a"}, "attributes": {"factor": 2}},
                   {"op": "scale", "name": "a", "inputs": {"src": "x"}, "attributes": {"factor": 3}}],
         "inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 4]}], "outputs": ["c:dst"])"));
  EXPECT_EQ(file.graph.order().size(), 4U);
  EXPECT_TRUE(verify(file.graph).empty());
}

TEST(GraphFile, OtherNamesOfOpsAndAttributesAreTaken) {
  const GraphFile file = parsed(graph_with(
      R"("inputs": [{"name": "x", "dtype": "i8", "shape": [2, 3, 4]}],
         "nodes": [{"op": "transpose", "name": "a", "inputs": {"src": "x"}, "attributes": {"perm": [2, 0, 1]}}])"));
  EXPECT_EQ(to_string(file.graph.value(file.graph.node(file.graph.find_path("a")).outputs[0]).type),
            "i8[4, 2, 3]");
  EXPECT_THAT(written(file), HasSubstr("\"attributes\":{\"permutation\":[2,0,1]}"));
  EXPECT_THAT(refusal(graph_with(
                  R"("inputs": [{"name": "x", "dtype": "i8", "shape": [2, 3]}],
                     "nodes": [{"op": "transpose", "name": "a", "inputs": {"src": "x"},
                                "attributes": {"perm": [1, 0], "permutation": [1, 0]}}])")),
              HasSubstr("under two names"));
}

TEST(GraphFile, AConstantsFileIsFoundFromTheGraphs) {
  const auto at = [](const std::string& file) {
    return parsed(
        graph_with("\"constants\": [{\"name\": \"w\", \"file\": \"" + file + "\"}], \"outputs\": [\"w\"]"));
  };
  EXPECT_THAT(written(at("./a/../w.npy")), HasSubstr("\"file\":\"w.npy\""));
  EXPECT_THAT(written(at("/other/w.npy")), HasSubstr("\"file\":\"/other/w.npy\""));
  EXPECT_THAT(written(at("a/w.npy"), "/graphs/a"), HasSubstr("\"file\":\"w.npy\""));
  EXPECT_THAT(written(at("w.npy"), "/elsewhere"), HasSubstr("\"file\":\"/graphs/w.npy\""));
  EXPECT_THAT(refusal(graph_with(R"("constants": [{"name": "w", "file": "missing.npy"}])")),
              HasSubstr("cannot be opened (/graphs/missing.npy)"));
  EXPECT_THAT(refusal(graph_with(R"("constants": [{"name": "w", "file": "w.npy", "value": 1}])")),
              HasSubstr("It has a file and \"value\" (constants[0])"));
}

TEST(GraphFile, AConstantMayBeOneOfManyTensorsAndTakenOtherwise) {
  const std::string constants =
      " \"constants\": [\n"
      "  {\"name\":\"a\",\"file\":\"two.safetensors\",\"tensor\":\"first\"},\n"
      "  "
      "{\"name\":\"b\",\"file\":\"w.npy\",\"attributes\":{\"dtype\":\"Q8_0\",\"shape\":[8,64],\"transposed\":"
      "true}}],\n";
  const GraphFile file = parsed("{\"orrery_graph\": 1,\n" + constants + " \"nodes\": []}");
  EXPECT_THAT(written(file), HasSubstr(constants));
  EXPECT_EQ(to_string(file.graph.value(file.graph.node(file.graph.find_path("b")).outputs[0]).type),
            "Q8_0[8, 64]");
  EXPECT_THAT(refusal(graph_with(R"("constants": [{"name": "a", "file": "two.safetensors"}])")),
              HasSubstr("The file has 2 tensors, not one"));
  EXPECT_THAT(refusal(graph_with(R"("constants": [{"name": "a", "value": 1, "tensor": "first"}])")),
              HasSubstr("It has \"tensor\" and no file"));
}

TEST(GraphFile, WhatIsWrongIsToldWithItsPlace) {
  const std::string x = R"("inputs": [{"name": "x", "dtype": "f32", "shape": ["n", 4]}])";
  const auto with_node = [&](const std::string& node) {
    return refusal(graph_with(x + ", \"nodes\": [" + node + "]"));
  };
  const std::pair<std::string, std::string> told[] = {
      {refusal("[]"), "The text is no graph: orrery_graph is missing or no number (graph)"},
      {refusal("{\"orrery_graph\": 2}"), "The graph has the version 2, and 1 is read"},
      {refusal("{\"orrery_graph\": 1"), "Not legal JSON: parse error at line 1"},
      {refusal("{\"orrery_graph\": 1, \"orrery_graph\": 1}"), "The key \"orrery_graph\" is there twice"},
      {refusal(graph_with("\"edges\": []")),
       "The key \"edges\" is not known (graph): the keys are orrery_graph, inputs"},
      {refusal(graph_with("\"nodes\": {}")), "\"nodes\" is no list"},
      {refusal(graph_with("\"nodes\": [1]")), "It is no object (nodes[0])"},
      {refusal(graph_with(R"("inputs": [{"name": "x"}])")), "\"dtype\" is missing (inputs[0])"},
      {refusal(graph_with(R"("inputs": [{"name": "x", "dtype": "f32", "shape": [1.5]}])")),
       "A size is no whole number"},
      {refusal(graph_with(R"("inputs": [{"name": "x", "dtype": "f32", "shape": ["n*m"]}])")),
       "shape is \"n*m\"; write sizes, such as \"n, 64\" or \"2*n+1\" (inputs[0], x)"},
      {refusal(graph_with(R"("inputs": [{"name": "../x", "dtype": "f32", "shape": []}])")),
       "\"../x\" is no name (inputs[0])"},
      {refusal(graph_with(R"("inputs": [{"name": "x", "dtype": "q4_0", "shape": []}])")),
       "dtype is \"q4_0\"; an input is of f32"},
      {refusal(graph_with(x + R"(, "constants": [{"name": "x", "value": 1}])")),
       "The name x is there twice (constants[0])"},
      {refusal(graph_with(R"("constants": [{"name": "c", "dtype": "u8", "value": 300}])")),
       "value is 300, which is no u8"},
      {refusal(graph_with(x + ", \"outputs\": [\"y\"]")), "There is no value \"y\" (outputs[0])"},
      {refusal(graph_with(x + ", \"outputs\": [1]")), "It is no value's name (outputs[0])"},
      {with_node(R"({"op": "frobnicate", "name": "y"})"), "There is no op \"frobnicate\" (nodes[0], y)"},
      {with_node(R"({"op": "add", "name": "y", "inputs": {"a": "x", "c": "x"}})"),
       "add has no input \"c\" (nodes[0], y): its inputs are a, b"},
      {with_node(R"({"op": "add", "name": "y", "inputs": {"a": "x"}})"), "add needs its input b"},
      {with_node(R"({"op": "add", "name": "y", "inputs": {"a": "x", "b": ["x"]}})"),
       "\"b\" is no value's name"},
      {with_node(R"({"op": "add", "name": "y", "inputs": {"a": "x", "b": "z"}})"),
       "There is no value \"z\" (nodes[0], y)"},
      {with_node(R"({"op": "add", "name": "y", "inputs": {"a": "x", "b": "x:weights"}})"),
       "There is no value \"x:weights\""},
      {with_node(R"({"op": "add", "name": "y", "inputs": {"a": "x", "b": "y"}})"), "It depends on itself"},
      {with_node(R"({"op": "scale", "name": "y", "inputs": {"src": "x"}, "attributes": {"factor": {}}})"),
       "\"factor\" is no attribute's value"},
      {with_node(R"({"op": "scale", "name": "y", "inputs": {"src": "x"}, "attributes": {"factor": "2"}})"),
       "\"factor\" is no attribute's value"},
      {with_node(
           R"({"op": "softmax", "name": "y", "inputs": {"src": "x"}, "attributes": {"axis": 18446744073709551615}})"),
       "\"axis\" is no attribute's value"},
      {with_node(R"({"op": "softmax", "name": "y", "inputs": {"src": "x"}, "attributes": {"axis": 2}})"),
       "axis is 2, but src is f32[n, 4]"},
      {with_node(R"({"op": "softmax", "name": "y", "inputs": {"src": "x"}, "layout": {"x": 1}})"),
       "\"y\" is no number (nodes[0].layout)"},
      {with_node(
           R"({"op": "top_experts", "name": "y", "inputs": {"logits": "x"}, "attributes": {"active": 1}},
                    {"op": "scale", "name": "z", "inputs": {"src": "y"}, "attributes": {"factor": 1}})"),
       "y makes 2 values (nodes[1], z): write y:experts"},
      {refusal(std::string(17, '[') + std::string(17, ']')), "nested more than 16 levels deep"}};
  for (const auto& [got, wanted] : told) EXPECT_THAT(got, HasSubstr(wanted));
}

TEST(GraphFile, NodesInACircleAreRefusedHoweverMany) {
  std::string nodes;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i)
    nodes += (i == 0 ? "" : ",") + ("{\"op\":\"relu\",\"name\":\"n" + std::to_string(i) +
                                    "\",\"inputs\":{\"src\":\"n" + std::to_string((i + 1) % kCount) + "\"}}");
  EXPECT_THAT(refusal(graph_with("\"nodes\": [" + nodes + "]")), HasSubstr("It depends on itself"));
}

TEST(GraphFile, WhatAFileCannotSayIsNotWritten) {
  Maker make;
  make.op("weight", "w", {},
          {{"tensor", "blk.0.attn_q.weight"}, {"dtype", "f32"}, {"shape", std::vector<int64_t>{2, 2}}});
  const auto refused = write_graph(make.graph, {}, {}, kFolder, weight_of_file);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("a weight of a model"));
}

TEST(GraphFile, IsToldFromOtherFiles) {
  EXPECT_TRUE(looks_like_graph(" {\n \"orrery_graph\": 1"));
  EXPECT_FALSE(looks_like_graph("{\"orrery_recipe\": 1}"));
  EXPECT_FALSE(looks_like_graph("GGUF \"orrery_graph\""));
  EXPECT_FALSE(looks_like_graph(""));
}

}  // namespace
}  // namespace orrery::own
