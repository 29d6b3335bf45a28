# scripts/lib/packages.sh - the distribution's packages: which ones, and installing those that are missing.
# shellcheck shell=bash

# The one list. third_party/README.md says what each is for.
readonly packages=(
  g++ cmake ninja-build                              # compiler and build
  libtbb-dev libspdlog-dev nlohmann-json3-dev libtomlplusplus-dev zlib1g-dev libxxhash-dev libhwloc-dev
  libopenmpi-dev openmpi-bin
  libcurl4-openssl-dev                               # requests of salient-kernels to model servers
  libgtest-dev libbenchmark-dev                      # tests, micro benchmarks
  xz-utils                                           # unpacks recorded runs of salient-kernels
  python3 python3-pip unzip ca-certificates          # fetch and unpack LibTorch's wheel; scripts/check_layers.py
)
optional_packages=(ccache wordnet-base)     # a faster second build; the graph that quickstart.sh trains on

# Installed for tests only (setup.sh --browser): the browser that opens report.html is larger than all others together.
readonly browser_package=chromium

# check_machine: stops on anything but 64-bit x86 with AVX2 and a distribution whose package names we know.
check_machine() {
  [ "$(uname -m)" = x86_64 ] || die 2 "this machine is $(uname -m); SALIENT runs on x86-64"
  grep -qw avx2 /proc/cpuinfo && grep -qw f16c /proc/cpuinfo ||
    die 2 "this processor lacks AVX2 and F16C (x86-64-v3), which the programs are built for"
}

check_distribution() {
  local ID='' VERSION_ID='' PRETTY_NAME='an unknown system'
  # shellcheck source=/dev/null
  [ ! -r /etc/os-release ] || . /etc/os-release
  case "$ID-$VERSION_ID" in
    debian-12 | debian-13 | ubuntu-22.04 | ubuntu-24.04) ;;
    *) die 2 "$PRETTY_NAME is not supported (Debian 12/13 and Ubuntu 22.04/24.04 are); install the counterparts of" \
         "'${packages[*]}' and start again with --no-packages" ;;
  esac
}

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || echo "$name"
  done
}

# install_packages: what is missing, as root or through sudo; otherwise prints the one line to run and stops.
install_packages() {
  local needed wanted
  mapfile -t needed < <(missing_packages "${packages[@]}")
  mapfile -t wanted < <(missing_packages "${optional_packages[@]}")
  [ ${#needed[@]} -gt 0 ] || [ ${#wanted[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    elif [ ${#needed[@]} -eq 0 ]; then
      say "not installed, and not necessary: ${wanted[*]}"
      return 0
    else
      die 66 "packages are missing and this user is not root; run this, then start again:" \
        "apt-get install -y --no-install-recommends ${needed[*]} ${wanted[*]}"
    fi
  fi
  apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" >>"$cache/apt.log" 2>&1
  }
  : >"$cache/apt.log"
  say "installing $((${#needed[@]} + ${#wanted[@]})) packages with apt-get: ${needed[*]} ${wanted[*]}"
  apt_get update || true  # a dead mirror matters only if a package cannot be had
  local available=() name
  for name in "${wanted[@]}"; do
    if apt-cache show "$name" >/dev/null 2>&1; then
      available+=("$name")
    else
      say "the distribution has no package $name; going on without it"
    fi
  done
  if apt_get install --no-install-recommends "${needed[@]}" "${available[@]}"; then return 0; fi
  if [ ${#available[@]} -gt 0 ] &&
    { [ ${#needed[@]} -eq 0 ] || apt_get install --no-install-recommends "${needed[@]}"; }; then
    say "could not install, and not necessary: ${available[*]}"
    return 0
  fi
  if grep -qE 'No space left|not enough free space' "$cache/apt.log"; then
    die 74 "the disk is full: apt-get could not install ${needed[*]}"
  fi
  if grep -qE 'Could not resolve|Could not connect|Failed to fetch|Connection (failed|timed out)' "$cache/apt.log"; then
    die 75 "no network: apt-get could not fetch ${needed[*]}; connect and start again (log: $cache/apt.log)"
  fi
  die 66 "apt-get could not install ${needed[*]}:" \
    "$(grep -m 1 '^E:' "$cache/apt.log" || echo 'no reason given') (log: $cache/apt.log)"
}
