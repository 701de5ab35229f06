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

# What is wrong with the command line.
wrong_words() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 2
}

has() { command -v "$1" >/dev/null; }

# Prints a word as a shell reads it.
quoted() {
  rest=$1 word=''
  while [ "$rest" != "${rest#*\'}" ]; do
    word=$word${rest%%\'*}"'\\''"
    rest=${rest#*\'}
  done
  printf '%s\n' "'$word$rest'"
}

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
    MINGW* | MSYS* | CYGWIN*) die "this is for Linux and macOS; for Windows, take the .zip from $releases/latest" ;;
  esac
  case $machine in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
  esac
  echo "$system-$machine"
}

# download <address> <file>
download() {
  case $1 in https:*) redirects='=https' ;; *) redirects='=http,https' ;; esac
  # A stalled connection ends after a minute.
  if has curl; then
    curl --fail --silent --show-error --location --proto-redir "$redirects" \
      --connect-timeout 30 --speed-limit 1 --speed-time 60 --output "$2" "$1"
  elif wget --version >/dev/null 2>&1; then
    wget -q -t 1 -T 60 -O "$2" "$1"
  else
    # This is BusyBox, which may have been built without -T, and then crashes with it.
    wget -q -O "$2" "$1"
  fi || die "$1 could not be downloaded"
}

sha256() {
  if has sha256sum; then sha256sum; else shasum -a 256; fi
}

# find_archive <address>: finds the archive for this system in SHA256SUMS, which came from this address. Sets name
# (without .tar.gz), sum and version.
find_archive() {
  name='' offered='' carriage_return=$(printf '\r')
  # The last line may have no end.
  while read -r its_sum its_name || [ -n "$its_sum" ]; do
    its_name=${its_name%"$carriage_return"}
    # Before the name of a binary file, some tools write an asterisk.
    its_name=${its_name#\*}
    case $its_sum in *[!0-9A-Fa-f]*) continue ;; esac
    case $its_name in
      mcp-sitter-*-"$platform".tar.gz) sum=$its_sum name=${its_name%.tar.gz} ;;
      mcp-sitter-*.tar.gz)
        its_name=${its_name%.tar.gz}
        offered="$offered, ${its_name#mcp-sitter-*-}"
        ;;
    esac
  done <"$work/SHA256SUMS"
  [ -n "$name$offered" ] || die "$1 is not a list of archives; are the releases at $from?"
  [ -n "$name" ] || die "this release has no program for $platform, only for ${offered#, }"
  version=${name#mcp-sitter-}
  version=${version%-"$platform"}
}

# Whether the archive has the sum of the list.
is_whole() {
  its_sum=$(sha256 <"$work/archive")
  [ "${its_sum%% *}" = "$(echo "$sum" | tr A-F a-f)" ]
}

# Downloads the release into $work/$name and checks it.
fetch() {
  case $(readlink "$prefix/bin/mcp-sitter" 2>/dev/null) in
    *node_modules*)
      die "$prefix/bin/mcp-sitter belongs to npm; run first: npm uninstall -g mcp-sitter-native," \
        "or name another folder with --prefix"
      ;;
  esac
  has curl || has wget || die "this script needs curl or wget, and finds neither; install one of them"
  has sha256sum || has shasum ||
    die "this script needs sha256sum or shasum to check what it downloads, and finds neither"
  platform=$(this_platform)
  folder=latest/download
  [ -z "$version" ] || folder=download/v$version
  download "$from/$folder/SHA256SUMS" "$work/SHA256SUMS"
  find_archive "$from/$folder/SHA256SUMS"
  download "$from/download/v$version/$name.tar.gz" "$work/archive"
  is_whole ||
    die "$name.tar.gz is not the file that SHA256SUMS names; nothing was installed. Try again later."
  tar -xzf "$work/archive" -C "$work" || die "$name.tar.gz could not be unpacked"
  mkdir -p "$work/$name/share/doc/mcp-sitter"
  for file in README.md LICENSE THIRD-PARTY-NOTICES.txt; do
    mv "$work/$name/$file" "$work/$name/share/doc/mcp-sitter/" || die "$name.tar.gz has no $file"
  done
}

# Makes a folder and those that it is in, and adds them to made_folders, each before those that it is in.
make_folder() {
  [ ! -d "$1/" ] || return 0
  make_folder "${1%/*}"
  # With two slashes or a dot at its end, it is the one that was just made.
  [ ! -d "$1/" ] || return 0
  mkdir "$1" || die "$1 could not be made; nothing was installed. Name another folder with --prefix."
  made_folders="$1
$made_folders"
}

# Copies the files to a folder below the prefix. The program is tried there, because programs may be forbidden to run in
# the folder for temporary files.
put_on_stage() {
  make_folder "$prefix"
  stage=$(mktemp -d "$prefix/.mcp-sitter-XXXXXX") ||
    die "$prefix cannot be written to; name another folder with --prefix"
  for file in $files; do
    mkdir -p "$stage/${file%/*}" || die "nothing was installed"
    cp -p "$work/$name/$file" "$stage/$file" || die "nothing was installed"
  done
  "$stage/bin/mcp-sitter" --version >/dev/null ||
    die "the program in $name.tar.gz does not run on this system in $prefix; nothing was installed"
}

# Gives the files their names below the prefix, each one complete and all of them at the end.
place() {
  for file in $files; do
    make_folder "$prefix/${file%/*}"
    if [ ! -w "$prefix/${file%/*}" ] || [ -d "$prefix/$file" ]; then
      die "$prefix/$file cannot be written; nothing was installed"
    fi
  done
  # A signal must not leave the files of two versions.
  trap '' HUP INT TERM PIPE
  for file in $files; do
    mv -f "$stage/$file" "$prefix/$file" ||
      die "$prefix/$file could not be replaced, and the files before it are of version $version; run this script again"
  done
}

# Says where the program is, how to remove it, and how a shell finds it.
report() {
  echo "mcp-sitter $version is installed: $prefix/bin/mcp-sitter"
  echo "To undo this, run this script with: --uninstall --prefix $(quoted "$prefix")"
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in PATH. Add it with: export PATH=$(quoted "$prefix/bin"):\"\$PATH\"" ;;
  esac
}

# Whether this script may have put this file below the prefix. npm puts links there.
is_ours() { [ -f "$prefix/$1" ] && [ ! -L "$prefix/$1" ]; }

# Whether a file of this script is there beside the program, which something else may have installed.
is_installed() {
  for file in $files; do
    [ "$file" = bin/mcp-sitter ] || ! is_ours "$file" || return 0
  done
  return 1
}

uninstall() {
  is_installed || die "there is no mcp-sitter of this script below $prefix"
  # The program comes first: the other files show that it is the program of this script.
  for file in bin/mcp-sitter $files; do
    ! is_ours "$file" || rm -f "$prefix/$file" ||
      die "$prefix/$file could not be removed; run this script as the user who installed it"
  done
  (
    cd "$prefix" || exit 0
    for file in $files; do
      rmdir -p "${file%/*}" 2>/dev/null || :
    done
  )
  echo "mcp-sitter is gone from $prefix."
}

clean_up() {
  # Another signal must not stop this.
  trap '' HUP INT TERM PIPE
  for folder in "$work" "$stage"; do
    [ -z "$folder" ] || rm -rf "$folder" || :
  done
  # A folder that holds something stays.
  printf '%s' "$made_folders" | while IFS= read -r folder; do
    rmdir "$folder" 2>/dev/null || :
  done
}

main() {
  version='' prefix='' from=$releases remove=no needless=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --prefix | --from)
        case ${2-} in '' | -*) wrong_words "$1 needs a word after it" ;; esac
        case $1 in
          --version)
            needless=$1
            version=${2#v}
            [ -n "$version" ] || wrong_words "--version needs a number, as 0.3.0"
            ;;
          --prefix) prefix=$2 ;;
          --from) needless=$1 from=${2%/} ;;
        esac
        shift
        ;;
      --uninstall) remove=yes ;;
      -h | --help) usage && exit ;;
      *) wrong_words "there is no option $1; --help shows all options" ;;
    esac
    shift
  done
  [ $remove = no ] || [ -z "$needless" ] || wrong_words "--uninstall takes no $needless"
  [ -n "$prefix${HOME-}" ] || die "HOME is not set; name a folder with --prefix"
  [ -n "$prefix" ] || prefix=$HOME/.local
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  while [ "$prefix" != "${prefix%/}" ]; do prefix=${prefix%/}; done
  # It was the root.
  [ -n "$prefix" ] || prefix=/.
  if [ $remove = yes ]; then
    uninstall
    exit
  fi

  # What root installs is for all users.
  [ "$(id -u)" != 0 ] || umask 022
  work='' stage='' made_folders=''
  trap clean_up EXIT
  trap 'exit 1' HUP INT TERM PIPE
  work=$(mktemp -d 2>/dev/null) ||
    die "no temporary folder could be made in ${TMPDIR:-/tmp}; let TMPDIR name another folder"
  fetch
  put_on_stage
  place
  # The installation is complete, even if nobody reads this.
  report || :
}

# One line in braces: a script that was cut while it was downloaded ends before it or with a syntax error.
{ main "$@"; }
