// The architectures, one file each. registry.cpp lists them: adding one adds a file, a line here and a line
// there.
#pragma once

#include "engine/models/builder.h"

namespace orrery::models {

Result<BuiltModel> build_llama(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_mamba(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_gpt2(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_gpt_neox(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_granite(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_olmo2(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_phi3(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_smollm3(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_stablelm(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_qwen2(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_qwen3(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_gemma2(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_gemma3(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_bert(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_distilbert(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_modernbert(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_mixtral(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_qwen3_moe(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_mpnet(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_roberta(const io::ModelFile& file, const io::Adapter* adapter);

}  // namespace orrery::models
