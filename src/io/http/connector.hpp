#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/http/url.hpp"
#include "io/http/byte_stream.hpp"
#include "io/http/environment.hpp"
#include "io/stream/event_loop.hpp"

namespace sitter {

/// Begins to open connections to one daemon.
using Connector = std::function<std::unique_ptr<ByteStream>(ByteStream::Events)>;

/// Connections to the host of the URL: over TCP, through a proxy if the environment names one, and
/// with TLS for https. `cacert` is the file of `--cacert`, or empty.
Connector connector_to(EventLoop& loop, const Url& url, const std::string& cacert,
                       const Environment& environment);

}  // namespace sitter
