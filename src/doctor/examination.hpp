#pragma once

#include <functional>
#include <string_view>

#include "doctor/doctor_words.hpp"
#include "doctor/facts.hpp"

namespace sitter {

/// Starts the server as often as its examination needs, and ends each start again. Tells `on_step`
/// what it is doing. Always ends: a server that takes its time is given up.
///
/// Throws std::runtime_error if no bridge can be started.
DoctorFacts examine(const DoctorWords& words, const std::function<void(std::string_view)>& on_step);

}  // namespace sitter
