#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/shell_word.hpp"
#include "help/commands.hpp"
#include "help/help.hpp"
#include "options/raw_options.hpp"

namespace sitter {
namespace {

bool is_choice(const OptionRow& option) { return option.value.find('|') != std::string::npos; }

/// The words of a choice, with blanks between them.
std::string words_of(const OptionRow& option) {
  std::string words = option.value;
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

bool is_directory(const OptionRow& option) { return option.value == "DIR"; }

/// A pattern of --watch usually names a file or a folder.
bool is_file(const OptionRow& option) {
  return option.value == "FILE" || option.value == "PATTERN" || option.value == "TOOL";
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash() {
  std::string with_value, all, values;
  for (const OptionRow& option : option_table()) {
    all += fmt::format("{} ", fmt::join(option.names, " "));
    if (option.value.empty()) continue;
    with_value += fmt::format("{}{}", with_value.empty() ? "" : "|", option.names.back());
    std::string generated;
    if (is_choice(option)) generated = fmt::format("-W {}", shell_word(words_of(option)));
    if (is_directory(option)) generated = "-d";
    if (is_file(option)) generated = "-f";
    if (generated.empty()) continue;
    values += fmt::format("      {}) _mcp_sitter_offer {} ;;\n", option.names.back(), generated);
  }
  std::string commands_text;
  for (const Command& command : commands()) {
    if (command.words().empty()) continue;
    commands_text +=
        fmt::format("      {}) words={} ;;\n", command.name, shell_word(command.words()));
  }
  return fmt::format(
      R"(# Completion of mcp-sitter for bash, also for the version 3.2 that macOS has.
_mcp_sitter_offer() {{
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@" -- "$current")
}}
_mcp_sitter() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=-
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    case ${{COMP_WORDS[1]}} in
{2}    esac
    if [ "$words" != - ]; then
      # A word of a command, or a file.
      _mcp_sitter_offer -W "$words" -f
      return
    fi
  fi
  # The command of the server begins behind our options, and doctor takes them too.
  local at=1 dashes=
  [ "${{COMP_WORDS[1]}}" != doctor ] || ((COMP_CWORD == 1)) || at=2
  while ((at < COMP_CWORD)); do
    case ${{COMP_WORDS[at]}} in
      --) dashes=yes; ((++at)); break ;;
      {1}) ((at += 2)) ;;
      -*) ((++at)) ;;
      *) break ;;
    esac
  done
  if ((at > COMP_CWORD)); then
    case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{3}    esac
  elif ((at < COMP_CWORD)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$at"
    else
      _mcp_sitter_offer -f
    fi
  elif [[ $current == -* && -z $dashes ]]; then
    _mcp_sitter_offer -W '{0}'
  elif ((at == 1)) && [ -z "$dashes" ]; then
    _mcp_sitter_offer -W '{4}' -f
    # A list of all programs helps nobody, and would hold the files in PATH twice.
    [[ -z $current || $current == */* ]] ||
      _mcp_sitter_offer -c
  else
    _mcp_sitter_offer -f
    [[ -z $current || $current == */* ]] ||
      _mcp_sitter_offer -c
  fi
}}
complete -o filenames -F _mcp_sitter mcp-sitter
)",
      all, with_value, commands_text, values, command_names());
}

std::string zsh() {
  std::string commands_text, words, options;
  for (const Command& command : commands()) {
    commands_text +=
        fmt::format("    {}\n", shell_word(fmt::format("{}:{}", command.name, command.about)));
    words += fmt::format("    {}) (( CURRENT == 3 )) && compadd -- {}; return ;;\n", command.name,
                         command.words());
  }
  for (const OptionRow& option : option_table()) {
    // These characters end a description.
    std::string about;
    for (const char c : option.about) {
      if (c == '[' || c == ']' || c == ':' || c == '\\') about += '\\';
      about += c;
    }
    std::string value;
    if (!option.value.empty()) {
      const std::string action = is_choice(option)      ? fmt::format("({})", words_of(option))
                                 : is_directory(option) ? "_files -/"
                                 : is_file(option)      ? "_files"
                                                        : " ";
      value = fmt::format(":{}:{}", is_choice(option) ? "word" : option.value, action);
    }
    for (const std::string& name : option.names) {
      options +=
          fmt::format("    {} \\\n", shell_word(fmt::format("*{}[{}]{}", name, about, value)));
    }
  }
  return fmt::format(R"(#compdef mcp-sitter
# Completion of mcp-sitter for zsh.
_mcp-sitter() {{
  local -a commands=(
{}  )
  case $words[2] in
{}  esac
  _arguments -S -A '-*' \
{}    '1:command:{{ _describe command commands; _command_names; _files }}' \
    '*::arguments:_normal'
}}
_mcp-sitter "$@"
)",
                     commands_text, words, options);
}

std::string fish() {
  std::string text =
      "# Completion of mcp-sitter for fish.\n"
      "function __mcp_sitter_has_no_command\n"
      "  not __fish_seen_subcommand_from " +
      command_names() +
      "\n"
      "end\n";
  for (const Command& command : commands()) {
    text += fmt::format("complete -c mcp-sitter -n __fish_is_first_token -a {} -d {}\n",
                        command.name, shell_word(command.about));
    if (command.words().empty()) continue;
    text += fmt::format("complete -c mcp-sitter -f -n '__fish_seen_subcommand_from {}' -a {}\n",
                        command.name, shell_word(command.words()));
  }
  for (const OptionRow& option : option_table()) {
    text += "complete -c mcp-sitter -n __mcp_sitter_has_no_command";
    for (const std::string& name : option.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (is_choice(option)) {
      text += fmt::format(" -x -a {}", shell_word(words_of(option)));
    } else if (is_directory(option)) {
      text += " -x -a '(__fish_complete_directories)'";
    } else if (is_file(option)) {
      text += " -r -F";
    } else if (!option.value.empty()) {
      text += " -x";
    }
    text += fmt::format(" -d {}\n", shell_word(option.about));
  }
  return text;
}

/// A word of PowerShell, in which only the quote itself is special.
std::string powershell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') word += '\'';
    word += c;
  }
  return word + "'";
}

std::string powershell() {
  std::string commands_text, options, choices;
  for (const Command& command : commands()) {
    commands_text += fmt::format("    {} = {}, {}\n", powershell_word(command.name),
                                 powershell_word(command.about), powershell_word(command.words()));
  }
  for (const OptionRow& option : option_table()) {
    for (const std::string& name : option.names) {
      options += fmt::format("    {} = {}, ${}\n", powershell_word(name),
                             powershell_word(option.about), !option.value.empty());
    }
    if (!is_choice(option)) continue;
    choices += fmt::format("    {} = {}\n", powershell_word(option.names.back()),
                           powershell_word(words_of(option)));
  }
  // Where nothing is offered, PowerShell offers files.
  return fmt::format(R"(# Completion of mcp-sitter for PowerShell.
Register-ArgumentCompleter -Native -CommandName mcp-sitter -ScriptBlock {{
  param($current, $line, $position)
  # What each command is for, and the words that may follow it.
  $commands = [ordered]@{{
{}  }}
  # What each option is for, and whether a value follows it.
  $options = [ordered]@{{
{}  }}
  $choices = @{{
{}  }}
  function offer($word, $about) {{
    if (-not $word.StartsWith($current)) {{ return }}
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
  }}

  $words = @($line.CommandElements | Where-Object {{ $_.Extent.EndOffset -lt $position }} |
    ForEach-Object {{ $_.Extent.Text }})
  if ($words.Count -gt 1 -and $commands.Contains($words[1]) -and $commands[$words[1]][1]) {{
    $commands[$words[1]][1].Split(' ') | ForEach-Object {{ offer $_ $_ }}
    return
  }}
  # The command of the server begins behind our options, and doctor takes them too.
  $at = if ($words.Count -gt 1 -and $words[1] -eq 'doctor') {{ 2 }} else {{ 1 }}
  $dashes = $false
  while ($at -lt $words.Count -and $words[$at].StartsWith('-') -and -not $dashes) {{
    $dashes = $words[$at] -eq '--'
    $takes_value = $options.Contains($words[$at]) -and $options[$words[$at]][1]
    $at += if ($takes_value) {{ 2 }} else {{ 1 }}
  }}
  if ($at -gt $words.Count) {{
    $choice = $choices[$words[-1]]
    if ($choice) {{ $choice.Split(' ') | ForEach-Object {{ offer $_ $_ }} }}
  }} elseif ($at -lt $words.Count -or $dashes) {{
    return
  }} elseif ($current.StartsWith('-')) {{
    $options.Keys | ForEach-Object {{ offer $_ $options[$_][0] }}
  }} elseif ($at -eq 1) {{
    $commands.Keys | ForEach-Object {{ offer $_ $commands[$_][0] }}
  }}
}}
)",
                     commands_text, options, choices);
}

}  // namespace

const std::vector<Shell>& shells() {
  static const std::vector<Shell> all = {
      {"bash", bash,
       "mcp-sitter completion bash >~/.local/share/bash-completion/completions/mcp-sitter"},
      {"zsh", zsh, "mcp-sitter completion zsh >~/.zfunc/_mcp-sitter, with ~/.zfunc in fpath"},
      {"fish", fish, "mcp-sitter completion fish >~/.config/fish/completions/mcp-sitter.fish"},
      {"powershell", powershell,
       "mcp-sitter completion powershell | Out-String | Invoke-Expression, in the file $PROFILE"},
  };
  return all;
}

}  // namespace sitter
