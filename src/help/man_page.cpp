#include <fmt/format.h>

#include "help/commands.hpp"
#include "help/help.hpp"
#include "options/raw_options.hpp"
#include "sitter/version.hpp"

namespace sitter {
namespace {

/// The text as man(7) prints it: a backslash begins an escape, a plain dash is a hyphen, and a dot
/// or an apostrophe at the beginning of a line begins a request.
std::string escaped(std::string_view text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

/// A word for a value. The words of a choice are typed as they stand.
std::string value(std::string_view name) {
  if (name.find('|') != name.npos) return bold(name);
  return "\\fI" + escaped(name) + "\\fR";
}

constexpr char kSynopsis[] = R"(.SH NAME
mcp\-sitter \- keeps an MCP client connected while its server is restarted
.SH SYNOPSIS
.B mcp\-sitter
.RI [ options ]
.RB [ \-\- ]
.I command
.RI [ arguments ...]
.br
.B mcp\-sitter
.RI [ options ]
.B \-\-http
.I url
.RB [ \-\-
.IR command ]
.br
.B mcp\-sitter
.RI [ options ]
.B \-\-cli
.I tool
.SH DESCRIPTION
.B mcp\-sitter
stands between an MCP client and the MCP server that you are developing.
The server is rebuilt, killed, crashes and comes back.
The client stays connected, and the model reads in the results of its tools what happened, why, and which tools changed.
)";

constexpr char kEnd[] = R"(.SH EXIT STATUS
0 when the client has closed the input, 2 for a mistake in the options, and 128 + N after the signal N.
.SH SEE ALSO
.B mcp\-sitter help
lists the topics that are explained at length.
)";

}  // namespace

std::string man_page() {
  std::string page =
      fmt::format(".TH MCP\\-SITTER 1 \"\" \"mcp\\-sitter {}\"\n{}", kVersion, kSynopsis);
  page += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    page += fmt::format(".TP\n{}\n{}\n", bold(command.name), escaped(command.about));
  }
  page += ".SH OPTIONS\n";
  std::string group;
  for (const OptionRow& option : option_table()) {
    if (option.group != group) page += fmt::format(".SS {}\n", escaped(option.group));
    group = option.group;
    std::string term;
    for (const std::string& name : option.names) {
      term += (term.empty() ? "" : ", ") + bold(name);
    }
    if (!option.value.empty()) term += " " + value(option.value);
    page += fmt::format(".TP\n{}\n{}\n", term, escaped(option.about));
  }
  return page + kEnd;
}

}  // namespace sitter
