#pragma once

#include <string>

/// On what the benchmark runs, so that the figures of two machines can be compared.
namespace sitter::bench {

/// The processor, its number of cores, the kernel and the hypervisor.
std::string machine();
/// Measures the core that this process runs on: copying, and the cost of a page fault.
std::string speed_of_core();

}  // namespace sitter::bench
