// Problems of DropoutNorm and of its gradients by name.
#include "kernels/lab/dropout_norm_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kWords =
    "ROWSxCOLS [TYPE[+TYPE of x]] [rms] [residual] [bias] [rowscale] [colscale] [subset] [quantised] [src2] "
    "[norm2] "
    "[p=P] [inputs=normal|uniform|heavy] [seed=N]";

std::vector<std::string> known() {
  return {"GPT-2 1024x768 residual bias p=0.1",
          "8B 1024x4096 BF16 residual p=0.1",
          "8B 1024x4096 BF16+F32 rms residual p=0.1",
          "long rows 64x65536 BF16 residual p=0.1",
          "long rows 8192x18432 BF16 residual p=0.1",
          "drop path 8192x1024 BF16 residual subset p=0.1",
          "quantised 8192x4096 BF16 rms residual quantised",
          "parallel 8192x4096 BF16 residual bias src2 norm2 p=0.1"};
}

Told<DropoutNormShape> read(Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "ROWSxCOLS");
  DropoutNormShape shape{.rows = sizes[0], .cols = sizes[1]};
  const std::vector<DType> types = words.types(DType::f32);
  shape.src = types.front();
  shape.residual_type = shape.x = types.back();
  if (words.flag("rms")) shape.kind = Norm::Kind::rms;
  words.flag("layer");
  shape.residual = words.flag("residual");
  shape.bias = words.flag("bias");
  shape.rowscale = words.flag("rowscale");
  shape.colscale = words.flag("colscale");
  shape.subset = words.flag("subset");
  shape.quantised = words.flag("quantised");
  shape.src2 = words.flag("src2");
  shape.norm2 = words.flag("norm2");
  shape.p = words.number("p", 0.0);
  shape.seed = static_cast<uint32_t>(words.count("seed", 1));
  if (shape.p >= 1) words.fail("p must be less than 1");
  const std::string reason = ref::legal({shape.kind, shape.cols, shape.src, shape.residual_type, shape.x});
  if (!reason.empty()) words.fail(reason);
  return {shape, words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy})};
}

}  // namespace

extern const ProblemFamily kDropoutNormProblems{DropoutNorm::kName, kWords, known, named_rows<DropoutNorm>,
                                                make_told<DropoutNormCase, read>};
extern const ProblemFamily kDropoutNormBackwardProblems{DropoutNormBackward::kName, kWords, known,
                                                        named_rows<DropoutNormBackward>,
                                                        make_told<DropoutNormBackwardCase, read>};

}  // namespace orrery::kernels::lab
