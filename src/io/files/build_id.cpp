#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "io/files/binary_info.hpp"

namespace sitter {
namespace {

// These bounds are far above what a linker writes. Anything beyond them is ignored.
constexpr std::size_t kProgramHeadersMax = 256;
constexpr std::size_t kProgramHeaderMax = 256;
constexpr std::size_t kNotesMax = 64 * 1024;
constexpr std::size_t kLoadCommandsMax = 256 * 1024;
constexpr std::size_t kIdMax = 64;

/// Bytes from an untrusted file. A read outside of the bytes returns nothing or 0.
class Bytes {
 public:
  Bytes(std::string bytes, bool big_endian) : bytes_(std::move(bytes)), big_endian_(big_endian) {}

  std::size_t size() const { return bytes_.size(); }

  std::uint64_t number(std::size_t at, std::size_t width) const {
    if (at > size() || width > size() - at) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      auto byte = static_cast<unsigned char>(bytes_[at + (big_endian_ ? i : width - 1 - i)]);
      value = value << 8 | byte;
    }
    return value;
  }

  std::string_view text(std::size_t at, std::size_t length) const {
    if (at > size() || length > size() - at) return {};
    return std::string_view(bytes_).substr(at, length);
  }

 private:
  std::string bytes_;
  bool big_endian_;
};

class ImageFile {
 public:
  explicit ImageFile(const std::string& path) {
    std::error_code error;
    // Opening a pipe or a device could block.
    if (std::filesystem::is_regular_file(path, error)) {
      file_.open(std::filesystem::path(path), std::ios::binary);
    };
  }

  /// Returns fewer than `length` bytes at the end of the file.
  std::string read(std::uint64_t offset, std::size_t length) {
    std::string bytes(length, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(bytes.data(), static_cast<std::streamsize>(length));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file_.gcount(), 0)));
    return bytes;
  }

 private:
  std::ifstream file_;
};

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// A note begins with three words: the length of the name, the length of the content, and the type.
// The name and the content follow, each padded to words.
std::string build_id_in_notes(const Bytes& notes) {
  constexpr std::uint64_t kBuildId = 3;
  constexpr std::size_t kHeader = 12;
  auto padded = [](std::uint64_t length) { return (length + 3) & ~std::uint64_t{3}; };
  for (std::size_t at = 0; at + kHeader <= notes.size();) {
    std::uint64_t name_length = notes.number(at, 4);
    std::uint64_t length = notes.number(at + 4, 4);
    std::uint64_t type = notes.number(at + 8, 4);
    std::size_t name = at + kHeader;
    std::size_t content = name + padded(name_length);
    if (type == kBuildId && notes.text(name, name_length) == std::string_view("GNU\0", 4) &&
        length <= kIdMax) {
      return to_hex(notes.text(content, length));
    }
    at = content + padded(length);
  }
  return {};
}

std::string elf_build_id(ImageFile& file, const std::string& head) {
  constexpr std::uint64_t kNoteSegment = 4;
  bool wide = head[4] == 2;
  bool big_endian = head[5] == 2;
  Bytes header(head, big_endian);
  std::uint64_t table_at = wide ? header.number(32, 8) : header.number(28, 4);
  std::size_t entry_size = header.number(wide ? 54 : 42, 2);
  std::size_t count = header.number(wide ? 56 : 44, 2);
  if (entry_size < (wide ? 56U : 32U) || entry_size > kProgramHeaderMax ||
      count > kProgramHeadersMax) {
    return {};
  }
  Bytes table(file.read(table_at, entry_size * count), big_endian);
  for (std::size_t entry = 0; entry < table.size(); entry += entry_size) {
    if (table.number(entry, 4) != kNoteSegment) continue;
    std::uint64_t offset = wide ? table.number(entry + 8, 8) : table.number(entry + 4, 4);
    std::uint64_t size = wide ? table.number(entry + 32, 8) : table.number(entry + 16, 4);
    if (size > kNotesMax) continue;
    std::string id = build_id_in_notes(Bytes(file.read(offset, size), big_endian));
    if (!id.empty()) return id;
  }
  return {};
}

std::string mach_uuid(ImageFile& file, std::uint64_t at) {
  constexpr std::uint64_t kWideMagic = 0xFEEDFACF;
  constexpr std::uint64_t kNarrowMagic = 0xFEEDFACE;
  constexpr std::uint64_t kUuid = 0x1B;
  constexpr std::size_t kUuidLength = 16;
  Bytes header(file.read(at, 32), false);
  std::uint64_t magic = header.number(0, 4);
  if (magic != kWideMagic && magic != kNarrowMagic) return {};
  std::size_t size = header.number(20, 4);
  if (size > kLoadCommandsMax) return {};
  Bytes commands(file.read(at + (magic == kWideMagic ? 32 : 28), size), false);
  for (std::size_t command = 0; command + 8 <= commands.size();) {
    std::size_t length = commands.number(command + 4, 4);
    if (commands.number(command, 4) == kUuid)
      return to_hex(commands.text(command + 8, kUuidLength));
    if (length < 8) return {};
    command += length;
  }
  return {};
}

}  // namespace

std::string build_id_of(const std::string& path) {
  constexpr std::size_t kHeadLength = 64;
  constexpr std::uint64_t kFatMagic = 0xCAFEBABE;
  ImageFile file(path);
  std::string head = file.read(0, kHeadLength);
  if (head.size() < kHeadLength) return {};
  if (head.starts_with("\x7F"
                       "ELF"))
    return elf_build_id(file, head);
  // A Mach-O file for several machines begins with a table of big-endian words. Its first entry
  // stands for all.
  Bytes big_endian(head, true);
  bool is_fat = big_endian.number(0, 4) == kFatMagic;
  return mach_uuid(file, is_fat ? big_endian.number(16, 4) : 0);
}

}  // namespace sitter
