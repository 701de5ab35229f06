#!/bin/sh
# Installs mcp-sitter from a release, for people without Node.js; "install.sh --help" says how.
set -eu

releases=https://github.com/mcp-sitter/mcp-sitter/releases

# What is installed, below the prefix. The program comes last.
files='
  share/man/man1/mcp-sitter.1
  share/bash-completion/completions/mcp-sitter
  share/zsh/site-functions/_mcp-sitter
  share/fish/vendor_completions.d/mcp-sitter.fish
  share/doc/mcp-sitter/README.md
  share/doc/mcp-sitter/LICENSE
  share/doc/mcp-sitter/THIRD-PARTY-NOTICES.txt
  bin/mcp-sitter
'

usage() {
  cat <<TEXT
usage: install.sh [--version X] [--prefix DIR] [--from ADDRESS]
       install.sh --uninstall [--prefix DIR]

Installs mcp-sitter for this system, with its manual page, completions and licences.

  --version X     this version instead of the latest one
  --prefix DIR    where to install (default: ~/.local)
  --from ADDRESS  where the releases are (default: $releases)
  --uninstall     removes what this script has installed
TEXT
}

die() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null; }

# Prints the name of this system as the archives have it.
this_platform() {
  system=$(uname -s)
  machine=$(uname -m)
  # Under Rosetta, a shell sees an Intel processor.
  if [ "$system" = Darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
    machine=arm64
  fi
  case $system in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    MINGW* | MSYS* | CYGWIN*) system=win32 ;;
  esac
  case $machine in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
  esac
  echo "$system-$machine"
}

# download <address> <file>
download() {
  if has curl; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  else
    wget -q -t 1 -O "$2" "$1"
  fi || die "$1 could not be downloaded"
}

sha256() {
  if has sha256sum; then sha256sum; else shasum -a 256; fi
}

# Finds the archive for this system in SHA256SUMS: sets name (without .tar.gz), sum and version.
find_archive() {
  name='' offered=''
  while read -r its_sum its_name; do
    case $its_name in
      mcp-sitter-*-"$platform".tar.gz) sum=$its_sum name=${its_name%.tar.gz} ;;
      mcp-sitter-*.tar.gz)
        its_name=${its_name%.tar.gz}
        offered="$offered, ${its_name#mcp-sitter-*-}"
        ;;
    esac
  done <"$work/SHA256SUMS"
  [ -n "$name" ] || die "this release has no program for $platform, only for ${offered#, }"
  version=${name#mcp-sitter-}
  version=${version%-"$platform"}
}

# Downloads the release into $work/$name and checks it.
fetch() {
  has curl || has wget || die "this script needs curl or wget, and finds neither; install one of them"
  has sha256sum || has shasum ||
    die "this script needs sha256sum or shasum to check what it downloads, and finds neither"
  platform=$(this_platform)
  folder=latest/download
  [ -z "$version" ] || folder=download/v$version
  download "$from/$folder/SHA256SUMS" "$work/SHA256SUMS"
  find_archive
  download "$from/download/v$version/$name.tar.gz" "$work/archive"
  [ "$(sha256 <"$work/archive" | cut -d ' ' -f 1)" = "$sum" ] ||
    die "$name.tar.gz is not the file that SHA256SUMS names; nothing was installed. Try again later."
  tar -xzf "$work/archive" -C "$work" || die "$name.tar.gz could not be unpacked"
  mkdir -p "$work/$name/share/doc/mcp-sitter"
  for file in README.md LICENSE THIRD-PARTY-NOTICES.txt; do
    mv "$work/$name/$file" "$work/$name/share/doc/mcp-sitter/" || die "$name.tar.gz has no $file"
  done
  "$work/$name/bin/mcp-sitter" --version >/dev/null ||
    die "the program in $name.tar.gz does not run on this system; nothing was installed"
}

# Removes the folders that hold nothing, but not the prefix itself.
remove_empty_folders() {
  (
    cd "$prefix" || exit 0
    for file in $files; do
      rmdir -p "${file%/*}" 2>/dev/null || :
    done
  )
}

# Gives the files their names below the prefix, each one complete and all of them at the end.
place() {
  mkdir -p "$prefix" || die "$prefix could not be made; name another folder with --prefix"
  stage=$(mktemp -d "$prefix/.mcp-sitter-XXXXXX") ||
    die "$prefix cannot be written to; name another folder with --prefix"
  for file in $files; do
    mkdir -p "$stage/${file%/*}" "$prefix/${file%/*}" || die "nothing was installed"
    if [ ! -w "$prefix/${file%/*}" ] || [ -d "$prefix/$file" ]; then
      die "$prefix/$file cannot be written; nothing was installed"
    fi
    cp -p "$work/$name/$file" "$stage/$file" || die "nothing was installed"
  done
  for file in $files; do
    mv -f "$stage/$file" "$prefix/$file"
  done
}

uninstall() {
  [ -e "$prefix/bin/mcp-sitter" ] || die "there is no mcp-sitter below $prefix"
  for file in $files; do
    rm -f "$prefix/$file"
  done
  remove_empty_folders
  echo "mcp-sitter is gone from $prefix."
}

clean_up() {
  rm -rf "$work"
  [ -z "$stage" ] || { rm -rf "$stage" && remove_empty_folders; }
}

main() {
  version='' prefix='' from=$releases remove=no
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix | --from)
        [ -n "${2-}" ] || die "$1 needs a word after it"
        case $1 in
          --version) version=${2#v} ;;
          --prefix) prefix=$2 ;;
          --from) from=${2%/} ;;
        esac
        shift
        ;;
      --uninstall) remove=yes ;;
      -h | --help) usage && exit ;;
      *) die "there is no option $1; --help shows all options" ;;
    esac
    shift
  done
  [ -n "$prefix" ] || prefix=${HOME:?install.sh: HOME is not set; name a folder with --prefix}/.local
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  if [ $remove = yes ]; then
    uninstall
    exit
  fi

  stage=''
  work=$(mktemp -d)
  trap clean_up EXIT
  trap 'exit 1' HUP INT TERM
  fetch
  place
  echo "mcp-sitter $version is installed: $prefix/bin/mcp-sitter"
  echo "To undo this, run this script with: --uninstall --prefix '$prefix'"
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in PATH. Add it with: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

# The last line, so that a script that was cut while it was downloaded does nothing.
main "$@"
