#include "engine/api/steering.h"

#include <algorithm>

#include "engine/api/compare_values.h"
#include "engine/edit/steer.h"
#include "engine/generate/encode_texts.h"
#include "engine/generate/probe.h"

namespace orrery::api {
namespace {

class Steering {
 public:
  Steering(const SessionImpl& session, std::shared_ptr<const runtime::Version> version, ValueId stream)
      : session_(session), version_(std::move(version)), stream_(stream) {}

  Result<std::vector<double>> mean_of(const std::string& text) const {
    const int64_t most = std::min(logit_tokens(session_, session_), session_.text_limit());
    const std::vector<int32_t> tokens = generate::encode_within(*session_.engine().tokenizer, text, most);
    if (tokens.empty())
      return Error{ErrorCode::invalid_argument, "The text has no tokens", text.substr(0, 200),
                   "write a text"};
    ORRERY_TRY(session_.check_ids(tokens));
    const int64_t outputs = generate::logits_of(*version_->fused).valid() ? 1 : 0;
    ORRERY_ASSIGN(const auto probe, generate::Probe::run(session_.engine(), *version_, {&stream_, 1},
                                                         {.tokens = tokens, .outputs = outputs}));
    ORRERY_ASSIGN(const std::vector<float> values, probe->read(0));
    const size_t width = values.size() / tokens.size(), first = tokens.size() > 1 ? width : 0;
    std::vector<double> mean(width);
    for (size_t i = first; i < values.size(); ++i) mean[i % width] += static_cast<double>(values[i]);
    for (double& x : mean) x /= static_cast<double>((values.size() - first) / width);
    return mean;
  }

 private:
  const SessionImpl& session_;
  std::shared_ptr<const runtime::Version> version_;  // unfused, so that the stream is one of its values
  ValueId stream_;
};

}  // namespace

Result<std::vector<edit::Edit>> with_vectors(const SessionImpl& session, const SessionState& now,
                                             std::vector<edit::Edit> edits, const Watch& watch) {
  auto made = std::make_shared<graph::Graph>(*now.model);
  size_t applied = 0;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (!edit::wants_vector(edits[i])) continue;
    for (; applied < i; ++applied)
      if (!edit::apply(*made, edits[applied]).ok()) return edits;
    const auto texts = edit::texts_to_steer(*made, edits[i]);
    if (!texts.ok()) return edits;
    ORRERY_TRY(session.check_vocabulary());
    ORRERY_TRY(watch.stage("Reading the texts"));
    ORRERY_ASSIGN(auto version, prepare_version(std::make_shared<const graph::Graph>(*made),
                                                session.preparation(false, now.disabled_passes), watch));
    const Steering steering(session, std::move(version), texts->stream);
    ORRERY_ASSIGN(const std::vector<double> toward, steering.mean_of(texts->toward));
    ORRERY_ASSIGN(const std::vector<double> from, steering.mean_of(texts->from));
    std::vector<float> vector(toward.size());
    std::ranges::transform(toward, from, vector.begin(),
                           [](double a, double b) { return static_cast<float>(a - b); });
    edits[i] = edit::with_vector(std::move(edits[i]), vector);
  }
  return edits;
}

}  // namespace orrery::api
