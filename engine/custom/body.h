// An op of one's own as its library has it: opened, held to the header, and called.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/custom/signature.h"

namespace orrery::custom {

/// Small letters, digits and _, 48 at most; no digit first.
bool is_op_name(std::string_view name);

/// A library that exports one op (resources/sdk/orrery_op.h). It stays in memory once it was opened: what ran
/// of it may have left threads or exit handlers.
class Library {
 public:
  /// Runs the library's own initialisers: only what passed the trial is opened in the program. Refused: what
  /// is no such library, another ABI, and a declaration that does not hold together.
  static Result<std::shared_ptr<const Library>> open(const std::filesystem::path& path);

  const orrery_op& op() const { return op_; }
  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  const Signature& signature() const { return signature_; }
  bool has_backward() const { return op_.cpu_backward || op_.cuda_backward; }

 private:
  Library() = default;
  orrery_op op_{};
  std::string name_, doc_;
  Signature signature_;
};

/// What the nodes of the op compute, or those of its gradients.
class Body {
 public:
  Body(std::shared_ptr<const Library> library, bool backward);

  struct Port {
    std::string name;
    bool optional = false;
  };
  const Library& library() const { return *library_; }
  const std::shared_ptr<const Library>& shared_library() const { return library_; }
  bool is_backward() const { return backward_; }
  const std::string& name() const { return name_; }  // "bias_gelu_backward": the kernel's too
  std::string doc() const;
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

  /// A call with the attributes, in the order of the signature; texts stay those of the map.
  orrery_call start(const graph::Attributes& attributes) const;
  /// Types, sizes and items that follow from those of the inputs. Refused: inputs that do not fit; and
  /// outputs that are none, which the op's author has to fix.
  Result<void> complete(orrery_call& call) const;

  /// Of a call whose sizes are known.
  int64_t items(const orrery_call& call) const;
  double flops(const orrery_call& call) const {
    return library_->op().flops * static_cast<double>(items(call));
  }

  bool has_cpu() const { return cpu() != nullptr; }
  /// Of items [begin, end).
  void run(const orrery_call& call, int64_t begin, int64_t end) const { cpu()(&call, begin, end); }
  /// What the author holds the body against; gradients have none.
  bool has_reference() const { return !backward_ && library_->op().reference; }
  /// The whole call.
  void run_reference(const orrery_call& call) const { library_->op().reference(&call); }
  /// Null: the card runs a kernel of its name.
  const char* (*cuda() const)(const orrery_call*, void*) {
    return backward_ ? library_->op().cuda_backward : library_->op().cuda;
  }
  int block() const { return backward_ ? library_->op().backward_cuda_block : library_->op().cuda_block; }

 private:
  void (*cpu() const)(const orrery_call*, int64_t, int64_t) {
    return backward_ ? library_->op().cpu_backward : library_->op().cpu;
  }
  Result<void> complete_backward(orrery_call& call) const;
  int32_t shared_by() const { return backward_ ? library_->op().backward_items : library_->op().items; }

  std::shared_ptr<const Library> library_;
  bool backward_;
  std::string name_;
  std::vector<Port> inputs_;
  std::vector<std::string> outputs_;
  std::vector<size_t> gradients_;  // of these inputs
};

/// So many items has a call that is shared by these parts of a tensor.
int64_t items_of(const orrery_tensor& tensor, int32_t shared_by);

}  // namespace orrery::custom
