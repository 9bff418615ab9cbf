// The architectures, one file each. registry.cpp lists them: adding one adds a file, a line here and a line
// there.
#pragma once

#include "engine/models/builder.h"

namespace orrery::models {

Result<BuiltModel> build_llama(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_qwen2(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_qwen3(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_gemma2(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_gemma3(const io::ModelFile& file, const io::Adapter* adapter);
Result<BuiltModel> build_bert(const io::ModelFile& file, const io::Adapter* adapter);

}  // namespace orrery::models
