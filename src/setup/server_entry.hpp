#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "setup/clients.hpp"
#include "setup/document.hpp"

namespace sitter::setup {

using Words = std::vector<std::string>;

Words joined(Words front, const Words& behind);

/// The word as a person would type it: in double quotes, which cmd.exe takes too, unless a shell
/// would see more in them than text.
std::string typed_word(const std::string& word);

/// What an entry of a client says about its server.
struct Server {
  enum class Kind { stdio, http, other };

  Kind kind = Kind::other;
  /// Why it is neither; a clause.
  std::string problem;
  /// The command and its arguments.
  Words words;
  std::string cwd;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
};

Server read_server(const Json& entry, const Spelling& spelling);

/// Whether a word of a command may be secret: the value of a header, or an address with a user, a
/// password, a query or a fragment.
bool is_secret_word(std::string_view word, std::string_view before);

/// The words with `***` for each secret.
Words without_secrets(Words words);

/// Whether these words run mcp-sitter.
bool is_wrapped(const Words& words);

/// The words behind the program mcp-sitter.
Words arguments_of(const Words& wrapped);

/// The words without `cmd /c` at their beginning. With it, clients on Windows run the batch files
/// of npm, which mcp-sitter runs without it.
Words without_cmd(const Words& words);

/// The words of the server behind the options of mcp-sitter. Empty if they cannot be told from the
/// options.
Words words_behind(const Words& wrapped);

/// The words with other options of mcp-sitter: without those of these names, and with `added` in
/// the place of the first of them, or before the others.
Words with_options(const Words& wrapped, const Words& removed, const Words& added);

/// A new entry that runs these words. Headers and a URL with a query are treated as in
/// `over_stdio`.
Json entry_of(Words words, const Spelling& spelling);

/// The entry with these words in place of its command.
Json with_words(const Json& entry, const Spelling& spelling, const Words& words);

/// The entry of a client that has such a member, with the server's tools always loaded.
Json with_tools_loaded(const Json& entry, const Spelling& spelling);

/// The entry of a server over HTTP as one that runs this program with its address. The headers
/// become variables of the environment, and so does a URL with a query, which may be secret:
/// options name the variables.
Json over_stdio(const Json& entry, const Spelling& spelling, Words words);

/// The original entry as it is wrapped now. Nothing if the server's own words were edited since it
/// was wrapped.
std::optional<Json> wrapped_again(const Json& original, const Json& wrapped,
                                  const Spelling& spelling);

/// The wrapped entry in which everything that mcp-sitter had changed is as in the original one.
Json restored(const Json& original, const Json& wrapped, const Spelling& spelling);

}  // namespace sitter::setup
