#pragma once

#include <functional>
#include <string_view>

namespace sitter {

/// Waits until stderr has taken all of it. False if stderr has failed for good.
bool write_to_stderr(std::string_view bytes);

/// Starts a thread in which no signal is handled. Throws `std::system_error` if the system allows
/// no more threads.
void start_thread(std::function<void()> run);

}  // namespace sitter
