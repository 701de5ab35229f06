#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace sitter {

/// What `mcp-sitter --help` prints: examples, commands and options, at most 80 columns wide.
std::string help_text();

/// What `--help` of a command prints, at most 80 columns wide but for the usage: what the command
/// does, the lines of `usage`, its commands and options, and `end` in a paragraph of its own.
std::string command_help(const CLI::App& app, std::string_view usage, std::string_view end = {});

/// What the parser has found wrong with the words of a command, as a sentence without the
/// program's name. An unknown option gets a hint at the option that was probably meant.
std::string wrong_words(const CLI::App& app, const std::vector<std::string>& words,
                        const CLI::ParseError& error);

/// The manual page mcp-sitter(1), in the language of man(7).
std::string man_page();

/// A page of the documentation, which is part of the program.
struct Topic {
  /// As in `mcp-sitter help NAME`.
  std::string_view name;
  std::string_view markdown;

  /// The first heading.
  std::string_view title() const;
};

/// Made from docs/*.md by the build.
const std::vector<Topic>& topics();

/// A page of the documentation as a terminal shows it, at most 80 columns wide but for code. Reads
/// the Markdown that these pages use: headings, paragraphs, lists, code and tables. A row of a
/// table becomes its first cell, and the other cells below it, with their titles if there are three
/// columns or more. A link to a topic says how to read it.
std::string page_text(std::string_view markdown);

/// A shell for which there is a completion.
struct Shell {
  std::string_view name;
  /// The script that completes the words of mcp-sitter.
  std::string (*completion)();
  /// How to use the script, on one line.
  std::string_view use;
};

const std::vector<Shell>& shells();

}  // namespace sitter
