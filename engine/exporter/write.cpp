#include "engine/exporter/write.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/exporter/tensor_bytes.h"
#include "engine/graph/hash.h"
#include "engine/io/tensor_writer.h"
#include "engine/models/builder.h"

namespace orrery::exporter {
namespace {

constexpr size_t kChunk = size_t{8} << 20;

uint64_t hash_of(std::span<const std::byte> bytes) {
  uint64_t hash = bytes.size();
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    hash = graph::mix(hash, word);
  }
  return hash;
}

Result<std::unique_ptr<io::TensorWriter>> begin(const Plan& plan, const io::ModelFile& model,
                                                const std::filesystem::path& out) {
  io::TensorTable table;
  for (const PlannedTensor& tensor : plan.tensors) table.push_back(tensor.header);
  if (!plan.candidate.is_gguf())
    return io::new_folder(folder_of(model), plan.candidate.config, std::move(table), out);
  const std::filesystem::path source = model.files.empty() ? model.path : model.files.front()->path();
  return io::new_gguf(source, plan.candidate.edits, std::move(table), out);
}

/// The file as it is on the disk gives the graph that it was to give, of the bytes that were written.
Result<void> check(const Plan& plan, const std::filesystem::path& written,
                   const std::vector<uint64_t>& hashes, const Watch& watch) {
  const auto refuse = [&](std::string what, std::string where) {
    return Error{ErrorCode::internal, std::move(what), std::move(where),
                 "nothing was written; report this model and its recipe"};
  };
  ORRERY_TRY(watch.stage("Reading it again"));
  ORRERY_ASSIGN(const auto file, io::open_model(written, {}, watch.stop));
  ORRERY_ASSIGN(const models::BuiltModel built, models::build(*file, nullptr));
  const Matched matched = match(plan.folded, built.graph);
  if (!matched.differences.empty())
    return refuse("The written file gives another graph: " + matched.differences.front().what,
                  matched.differences.front().where);
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    ORRERY_TRY(watch.stage("Reading it again", i, plan.tensors.size()));
    const io::Tensor* tensor = file->find(plan.tensors[i].header.name);
    if (!tensor || hash_of(tensor->data) != hashes[i])
      return refuse("A tensor is not as it was written", plan.tensors[i].header.name);
  }
  return {};
}

Result<uint64_t> bytes_on_disk(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::filesystem::file_size(path, error);
  uint64_t bytes = 0;
  for (std::filesystem::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file(error)) bytes += it->file_size(error);
  return bytes;
}

}  // namespace

Result<uint64_t> write(const Plan& plan, weights::WeightStore& weights, const std::filesystem::path& out,
                       kernels::ThreadTeam& team, const Watch& watch) {
  if (!plan.differences.empty())
    return Error{ErrorCode::unsupported, plan.differences.front().what, plan.differences.front().where,
                 "undo the edit; a file of the model's architecture cannot say it"};
  ORRERY_ASSIGN(const auto writer, begin(plan, weights.file(), out));
  std::vector<uint64_t> hashes;
  uint64_t done = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    ORRERY_TRY(watch.stage("Writing " + out.filename().string(), done, plan.bytes));
    ORRERY_ASSIGN(const TensorBytes made, bytes_of(tensor, weights, team));
    hashes.push_back(hash_of(made.bytes));
    for (size_t at = 0; at < made.bytes.size(); at += kChunk) {
      ORRERY_TRY(watch.stage("Writing " + out.filename().string(), done, plan.bytes));
      const auto chunk = made.bytes.subspan(at, std::min(kChunk, made.bytes.size() - at));
      ORRERY_TRY(writer->write(chunk));
      done += chunk.size();
    }
  }
  ORRERY_ASSIGN(const std::filesystem::path written, writer->finish());
  ORRERY_TRY(check(plan, written, hashes, watch));
  ORRERY_TRY(writer->commit());
  return bytes_on_disk(out);
}

}  // namespace orrery::exporter
