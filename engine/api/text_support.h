// The tokenizer and the chat template of a model file.
#pragma once

#include <memory>

#include "engine/api/session.h"
#include "engine/io/model_file.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

namespace orrery::api {

Result<std::shared_ptr<const text::Tokenizer>> load_tokenizer(const io::ModelFile& file);

/// Refuses the tokenizer of a model without a vocabulary, wherever there is text to be read or written.
Result<void> check_vocabulary(const text::Tokenizer& tokenizer, const std::string& model);

/// The file's template, or the usual one of its tokens when it has none.
Result<text::ChatTemplate> load_template(const io::ModelFile& file, const text::Tokenizer& tokenizer);

Result<std::string> render_with(const text::ChatTemplate& chat_template, const text::Tokenizer& tokenizer,
                                const std::vector<Message>& messages, const TemplateOptions& options);

}  // namespace orrery::api
