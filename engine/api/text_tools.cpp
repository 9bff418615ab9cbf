#include <fstream>
#include <iterator>

#include "engine/api/guard.h"
#include "engine/api/library.h"
#include "engine/api/text_support.h"

namespace orrery::api {
namespace {

text::TemplateInput template_input(const std::vector<Message>& messages, const TemplateOptions& options,
                                   std::string_view bos, std::string_view eos) {
  text::TemplateInput input;
  for (const Message& message : messages)
    input.messages.push_back({message.role, message.content, message.json});
  input.add_generation_prompt = options.generation_prompt;
  input.tools = options.tools;
  input.documents = options.documents;
  input.variables = options.variables;
  input.bos = bos;
  input.eos = eos;
  return input;
}

class Tools final : public TextTools {
 public:
  Tools(std::shared_ptr<const text::Tokenizer> tokenizer, Result<text::ChatTemplate> chat_template)
      : tokenizer_(std::move(tokenizer)), template_(std::move(chat_template)) {}

  std::vector<int32_t> encode(std::string_view text, bool special) const override {
    return guarded_or_empty([&] { return tokenizer_->encode(text, special); });
  }
  std::string decode(const std::vector<int32_t>& ids) const override {
    return guarded_or_empty([&] { return tokenizer_->decode(ids); });
  }
  std::string piece(int32_t id) const override {
    return guarded_or_empty([&] { return tokenizer_->piece(id); });
  }
  Result<std::string> render(const std::vector<Message>& messages,
                             const TemplateOptions& options) const override {
    return guarded([&]() -> Result<std::string> {
      if (!template_.ok()) return template_.error();
      return render_with(template_.value(), *tokenizer_, messages, options);
    });
  }

 private:
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  Result<text::ChatTemplate> template_;
};

/// Empty where it is not there or cannot be read.
std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Result<std::shared_ptr<const text::Tokenizer>> load_from_folder(const io::ModelFile& file) {
  const std::filesystem::path folder =
      file.format == io::Format::hugging_face_folder ? file.path : file.path.parent_path();
  text::TokenizerFiles files;
  files.sentencepiece = content_of(folder / "tokenizer.model");
  files.vocabulary_json = content_of(folder / "vocab.json");
  files.merges = content_of(folder / "merges.txt");
  files.vocabulary_text = content_of(folder / "vocab.txt");
  files.config = content_of(folder / "tokenizer_config.json");
  files.special_tokens_map = content_of(folder / "special_tokens_map.json");
  files.added_tokens = content_of(folder / "added_tokens.json");
  files.model_type = file.architecture;
  auto tokenizer = text::tokenizer_from_files(files);
  if (tokenizer.ok()) return tokenizer;
  Error error = std::move(tokenizer).error();
  error.where = error.where.empty() ? folder.string() : (folder / error.where).string();
  return error;
}

}  // namespace

Result<std::shared_ptr<const text::Tokenizer>> load_tokenizer(const io::ModelFile& file) {
  if (file.tokenizer_json.empty()) {
    if (file.format == io::Format::gguf) return text::tokenizer_from_gguf(file.metadata);
    return load_from_folder(file);
  }
  const std::string json = content_of(file.tokenizer_json);
  if (json.empty())
    return Error{ErrorCode::io, "The tokenizer cannot be read", file.tokenizer_json.string(),
                 "check the file and its permissions"};
  return text::tokenizer_from_json(json);
}

Result<void> check_vocabulary(const text::Tokenizer& tokenizer, const std::string& model) {
  if (tokenizer.vocabulary() > 0) return {};
  return Error{ErrorCode::unsupported, "This model has no vocabulary, so it neither reads nor writes text",
               model, "get a file of it that holds its tokenizer; this one can be drawn and timed"};
}

Result<text::ChatTemplate> load_template(const io::ModelFile& file, const text::Tokenizer& tokenizer) {
  if (file.chat_template.empty()) return text::ChatTemplate::usual(tokenizer);
  return text::ChatTemplate::parse(file.chat_template);
}

Result<std::string> render_with(const text::ChatTemplate& chat_template, const text::Tokenizer& tokenizer,
                                const std::vector<Message>& messages, const TemplateOptions& options) {
  return chat_template.render(
      template_input(messages, options, tokenizer.piece(tokenizer.bos()), tokenizer.piece(tokenizer.eos())));
}

Result<std::shared_ptr<TextTools>> TextTools::open(const std::string& model) {
  return guarded([&]() -> Result<std::shared_ptr<TextTools>> {
    ORRERY_ASSIGN(const ModelPath path, resolve_model(model, ""));
    ORRERY_ASSIGN(const auto file, io::open_model(path.model, {}, {}));
    ORRERY_ASSIGN(auto tokenizer, load_tokenizer(*file));
    ORRERY_TRY(check_vocabulary(*tokenizer, display_name(*file)));
    Result<text::ChatTemplate> chat_template = load_template(*file, *tokenizer);
    return std::shared_ptr<TextTools>(
        std::make_shared<Tools>(std::move(tokenizer), std::move(chat_template)));
  });
}

Result<std::string> render_template(std::string_view source, const std::vector<Message>& messages,
                                    const TemplateOptions& options, std::string_view bos,
                                    std::string_view eos) {
  return guarded([&]() -> Result<std::string> {
    ORRERY_ASSIGN(const text::ChatTemplate parsed, text::ChatTemplate::parse(source));
    return parsed.render(template_input(messages, options, bos, eos));
  });
}

}  // namespace orrery::api
