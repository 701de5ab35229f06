#include <link.h>
#include <sys/procfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/process/core_file.hpp"
#include "sitter/bytes.hpp"

namespace sitter {
namespace {

constexpr std::size_t kNotesMax = limits::kMiB;

template <class Part>
bool read_at(int file, std::uint64_t offset, Part& part) {
  return pread(file, &part, sizeof part, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof part);
}

/// The notes of a core dump begin with what is known of the process, and name the files that it had
/// mapped, its program first (core(5), elf(5)).
CoreFacts facts_in_notes(std::string_view notes) {
  constexpr std::uint32_t kMappedFiles = 0x46494c45;  // NT_FILE
  CoreFacts facts;
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    const std::size_t begin = sizeof head + padded(head.n_namesz);
    if (begin > notes.size() || head.n_descsz > notes.size() - begin) break;
    const std::string_view text = notes.substr(begin, head.n_descsz);
    notes.remove_prefix(std::min(notes.size(), begin + padded(head.n_descsz)));
    if (head.n_type == NT_PRPSINFO && text.size() >= sizeof(elf_prpsinfo)) {
      elf_prpsinfo process;
      std::memcpy(&process, text.data(), sizeof process);
      facts.pid = process.pr_pid;
      facts.session = process.pr_sid;
    } else if (head.n_type == kMappedFiles && text.size() >= 2 * sizeof(long)) {
      // A count, the size of a page, three numbers for each file, and then the names.
      unsigned long count = 0;
      std::memcpy(&count, text.data(), sizeof count);
      const std::size_t names = (2 + 3 * std::min(count, text.size())) * sizeof(long);
      if (count > 0 && names < text.size()) facts.program = text.substr(names).data();
    }
  }
  return facts;
}

}  // namespace

std::optional<CoreFacts> read_core(int file) {
  ElfW(Ehdr) head;
  if (!read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_type != ET_CORE) {
    return std::nullopt;
  }
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) part;
    if (!read_at(file, head.e_phoff + i * sizeof part, part)) break;
    if (part.p_type != PT_NOTE) continue;
    std::string notes(std::min<std::size_t>(part.p_filesz, kNotesMax), '\0');
    const ssize_t size = pread(file, notes.data(), notes.size(), static_cast<off_t>(part.p_offset));
    notes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return facts_in_notes(notes);
  }
  return CoreFacts();
}

}  // namespace sitter
