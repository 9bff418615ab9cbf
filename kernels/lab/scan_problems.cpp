// Problems of CausalConvolution and SelectiveScan by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/scan_case.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kSizes = "SEQUENCESxTOKENSxLENGTHxCHANNELS";

/// Every sequence brings the last `TOKENS` of `LENGTH`.
ScanShape read_shape(Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, kSizes);
  ScanShape shape;
  shape.channels = sizes[3];
  if (sizes[1] > sizes[2]) words.fail("a sequence brings more tokens than it has");
  shape.parts.assign(static_cast<size_t>(sizes[0]), {sizes[1], sizes[2]});
  shape.seed = static_cast<uint32_t>(words.count("seed", 11));
  return shape;
}

std::vector<std::string> known_convolutions() {
  return {"mamba-130m decode 1x1x512x1536", "mamba-130m prompt 1x512x512x1536",
          "mamba-2.8b decode 16x1x512x5120"};
}

std::vector<std::string> known_scans() {
  return {"mamba-130m decode 1x1x512x1536", "mamba-130m prompt 1x512x512x1536",
          "mamba-2.8b decode 16x1x512x5120", "mamba-2.8b prompt 1x512x512x5120"};
}

std::unique_ptr<Experiment> make_convolution(const std::string& name, Words& words) {
  ScanShape shape = read_shape(words);
  shape.kernel = words.count("kernel", 4);
  if (shape.kernel < 1) words.fail("the convolution reads no token");
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<ConvolutionCase>>(name, ConvolutionCase(shape));
}

std::unique_ptr<Experiment> make_scan(const std::string& name, Words& words) {
  ScanShape shape = read_shape(words);
  shape.states = words.count("states", 16);
  if (shape.states < 1) words.fail("the channels keep no state");
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<ScanCase>>(name, ScanCase(shape));
}

}  // namespace

extern const ProblemFamily kConvolutionProblems{
    CausalConvolution::kName, "SEQUENCESxTOKENSxLENGTHxCHANNELS [kernel=N] [seed=N]", known_convolutions,
    named_rows<CausalConvolution>, make_convolution};
extern const ProblemFamily kScanProblems{SelectiveScan::kName,
                                         "SEQUENCESxTOKENSxLENGTHxCHANNELS [states=N] [seed=N]", known_scans,
                                         named_rows<SelectiveScan>, make_scan};

}  // namespace orrery::kernels::lab
