#include "process.hpp"

#include <fstream>
#include <iterator>

namespace sitter::fake {

void say(std::string_view line) { write_all(kStderr, std::string(line) + '\n'); }

std::filesystem::path path_of(std::string_view name) {
  return std::u8string(name.begin(), name.end());
}

std::optional<long long> count_up(const std::string& file, long long limit) {
  const std::filesystem::path path = path_of(file);
  long long count = 0;
  std::ifstream(path) >> count;
  if (count >= limit) return std::nullopt;
  std::ofstream(path, std::ios::binary) << count + 1 << '\n';
  return count;
}

std::optional<std::string> read_file(const std::string& file) {
  std::ifstream stream(path_of(file), std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string working_directory() {
  std::error_code gone;
  return std::filesystem::current_path(gone).generic_string();
}

}  // namespace sitter::fake
