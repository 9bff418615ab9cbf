// Model files without bytes: metadata and a table of tensors, which is all that architectures read.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/models/builder.h"

namespace orrery::models::test {

/// A llama: width 64, 4 heads and 2 kv heads of 16, MLP 128, 100 tokens; own output matrix.
io::ModelFile fake_llama(int64_t layers = 2);
/// The same as a Hugging Face folder, tied.
io::ModelFile fake_hugging_face_llama();
/// A BERT of two layers: width 64, 4 heads, MLP 128, 100 tokens, 32 positions.
io::ModelFile fake_bert();

void set_tensor(io::ModelFile& file, const std::string& name, std::vector<int64_t> shape,
                DType dtype = DType::f32);
void remove_tensor(io::ModelFile& file, const std::string& name);

std::filesystem::path models_folder();  // ORRERY_MODELS, or the user's cache

/// The refusal's text, or "" when the file is opened.
std::string refusal(const io::ModelFile& file, const io::Adapter* adapter = nullptr);
const graph::Node& node_at(const graph::Graph& graph, std::string_view path);
std::string type_at(const graph::Graph& graph,
                    std::string_view path);  // of the first output: "f32[tokens, 64]"
/// Paths of the producers of a node's inputs.
std::vector<std::string> inputs_at(const graph::Graph& graph, std::string_view path);

}  // namespace orrery::models::test
