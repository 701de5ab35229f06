#pragma once

#include <map>
#include <string>
#include <vector>

namespace sitter {

/// Files that a running server holds, under other names while a build writes new ones. Windows lets
/// nobody write a program that runs, but anybody rename it.
class AsideFiles {
 public:
  /// Renames each of these files to "NAME.sitter-old-1", or the next free number. Those that
  /// earlier builds have left are deleted. Returns a sentence for each file that cannot be renamed.
  std::vector<std::string> put_aside(const std::vector<std::string>& files);

  /// The build has ended. The files that it has not made get their names back.
  void put_back();

  /// Deletes the old files, as far as nothing runs them any more.
  void clean();

  /// Gives the newest old file of that name, which may lack one of the endings, its name back, if
  /// there is no such file: the build was cut off. Returns whether it has.
  static bool restore(const std::string& program, std::vector<std::string> endings);

 private:
  /// The names by those that the files had.
  std::map<std::string, std::string> old_names_;
};

}  // namespace sitter
