#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sitter {

/// Whether a file of this name is in the folder. A `*` at the front of the name stands for any
/// characters.
using HasFile = std::function<bool(const std::string& folder, std::string_view name)>;

/// Whether tools have made the folder, so that it holds no sources: it is a virtual environment of
/// Python, or it has a name that build tools choose, and there is a build file beside it or a mark
/// of the tool in it. The name alone shows nothing: people have sources in `src/build`, too.
bool is_made_by_tools(const std::string& folder, const HasFile& has_file);

/// The folders of which is_made_by_tools may change when this file comes or goes.
std::vector<std::string> folders_decided_by(std::string_view file);

}  // namespace sitter
