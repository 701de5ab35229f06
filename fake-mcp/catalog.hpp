#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace sitter::fake {

/// The lists that this server offers: raw JSON definitions, built in or read from files. Each
/// process reads the files once, so a changed file is a changed list in the next process.
class Catalog {
 public:
  /// Exits with 1 and a sentence on stderr if a file is not a JSON array. The options must outlive
  /// this object.
  explicit Catalog(const Options& options);

  /// The tools/list result for a raw cursor (empty: the first page). Nothing if there is no such
  /// page.
  std::optional<std::string> tools_page(std::string_view cursor) const;
  std::string resources() const;
  std::string prompts() const;
  /// The raw definition of a tool; empty if it is not listed.
  std::string_view tool(std::string_view name) const;

  /// Reads the tools again from their file. Without a file, adds a tool.
  void change_tools();

 private:
  const Options& options_;
  std::vector<std::string> tools_;
  std::vector<std::string> resources_;
  std::vector<std::string> prompts_;
  int added_count_ = 0;
};

}  // namespace sitter::fake
