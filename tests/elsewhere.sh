#!/usr/bin/env bash
# `make demo` and `make test` as a new user runs them, on bare Debian machines. Each machine is made
# by debootstrap below .elsewhere and entered by chroot. Its log stays beside it.
#
# Mounts and processes live in namespaces of their own: the kernel removes both when a run ends, also
# when it is killed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suites=${SUITES:-trixie bookworm}
commands=${COMMANDS:-demo test}
certificates=/usr/local/share/ca-certificates

if [ "$(id -u)" != 0 ]; then
  echo "other machines are made and entered as root: run make elsewhere as root" >&2
  exit 2
fi
if ! command -v debootstrap >/dev/null; then
  echo "installing debootstrap (once)" >&2
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y debootstrap; } >/dev/null \
    || { echo "no debootstrap: on Debian: apt-get install debootstrap" >&2; exit 2; }
fi

# How this machine reaches packages: its mirror, its certificates, its settings of apt, pip and Maven.
mirror() {
  apt-get indextargets --format '$(SITE) $(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' 2>/dev/null \
    | awk '$3 == "Debian" && $4 == "Debian" {print $2; exit}'
}

give_network() {
  local root=$1 file
  apt-config dump | grep -E '^Acquire::(https?|Check|Retries)' >"$root/etc/apt/apt.conf.d/90machine" || true
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf ~/.config/pip/pip.conf ~/.pip/pip.conf ~/.m2/settings.xml; do
    [ ! -e "$file" ] || install -D "$file" "$root$file"
  done
  if [ -d "$certificates" ]; then cp -rT "$certificates" "$root$certificates"; fi
  chroot "$root" update-ca-certificates >/dev/null 2>&1
}

make_machine() {
  local suite=$1 root=$2
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates,git,make,python3,python3-venv \
    "$suite" "$root" $(mirror)
  give_network "$root"
  git clone --quiet --no-hardlinks . "$root/root/reusewatch"
}

# A shell on the machine, with nothing of this one's environment but how it reaches packages.
inside() {
  local root=$1 passed=()
  shift
  while IFS= read -r -d '' one; do passed+=("$one"); done \
    < <(env -0 | grep -zv '^PIP_FIND_LINKS=' | grep -zEi '^(PIP_[A-Z_]*|[a-z]*_proxy|[A-Z_]*CERT[A-Z_]*|[A-Z]*_CA_[A-Z]*)=' || true)
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$1; shift
    mount -t proc none "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" env -i HOME=/root LANG=C.UTF-8 TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
  ' bash "$root" "${passed[@]}" bash -c "cd /root/reusewatch; $*"
}

try() {
  local suite=$1 root=$2 log=$3 command begin seconds how
  for command in $commands; do
    begin=$SECONDS how=ok
    inside "$root" "make $command" >>"$log" 2>&1 </dev/null || how="FAILED, exit $?"
    seconds=$((SECONDS - begin))
    ended+=("$suite, $(inside "$root" 'python3 --version'): make $command: $how after $seconds s: $(tail -1 "$log")")
    [ "$how" = ok ] || failed=1
  done
}

mkdir -p .elsewhere
ended=() failed=0
for suite in $suites; do
  root=$PWD/.elsewhere/$suite log=$PWD/.elsewhere/$suite.log
  echo "making a bare $suite, and trying there: $commands; see $log" >&2
  if make_machine "$suite" "$root" >"$log" 2>&1; then
    try "$suite" "$root" "$log"
  else
    ended+=("$suite: the machine could not be made: see $log") failed=1
  fi
done
printf '%s\n' "${ended[@]}"
exit $failed
