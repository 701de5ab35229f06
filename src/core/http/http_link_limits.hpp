#pragma once

#include <cstddef>

#include "sitter/bytes.hpp"
#include "sitter/time.hpp"

/// The bounds of `HttpLink`, each with the reason for its number.
namespace sitter::limits {

/// What may wait for a daemon that is away, or that refuses it for now. Its absence may last while
/// a program of many calls runs on: half a minute of a few hundred calls a second.
inline constexpr std::size_t kHttpWaitingCountMax = 10'000;
inline constexpr std::size_t kHttpWaitingBytesMax = 64 * kMiB;

/// A daemon that can be reached has at least this long for its opening, however short
/// --wait-for-server is. An opening usually takes some milliseconds.
inline constexpr Milliseconds kHttpOpeningWaitMin{1000};

/// How many bytes of the reason why a daemon cannot be reached a text shows. It may quote what the
/// daemon has answered.
inline constexpr std::size_t kAbsenceWhyMax = 400;

/// A daemon that cannot be reached is tried again after the first time, which doubles with each try
/// up to the second. On this machine a try costs next to nothing, and a restart takes less than a
/// second, so the third takes the place of the second.
inline constexpr Milliseconds kHttpConnectWaitMin{50};
inline constexpr Milliseconds kHttpConnectWaitMax{1000};
inline constexpr Milliseconds kHttpLoopbackWaitMax{100};

/// How often a daemon that was just started here is tried, until it listens. Most listen within the
/// second time, from which on it may be said why they cannot be reached.
inline constexpr Milliseconds kHttpLaunchedWait{20};
inline constexpr Milliseconds kHttpLaunchPatience{2000};

/// The connections of a process end a little before its exit is seen. For so long a request whose
/// connection has ended waits for this exit, which says more than the connection.
inline constexpr Milliseconds kHttpExitWait{200};

/// Requests that a daemon may have at the same time, each of which takes a connection. A model
/// makes fewer calls at once, and small servers accept about this many.
inline constexpr std::size_t kHttpRequestsMax = 32;

/// Responses that a daemon keeps open after their answers, each of which takes a connection too.
/// With the requests and the other streams they stay far below the 256 files of a process on macOS.
inline constexpr std::size_t kHttpAnsweredMax = 32;

/// What may wait for its turn at the daemon: twice what may wait for a daemon that is away, since
/// all of that is sent as soon as the daemon is back.
inline constexpr std::size_t kHttpOutboxMax = 2 * kHttpWaitingBytesMax;

/// How often an answer to a question of the server is sent again if it cannot be delivered.
/// Together with the waits between them, this lasts longer than a hiccup of a proxy.
inline constexpr int kHttpAnswerRepeatsMax = 3;

/// How long a notification or an answer may hold the requests after it. A daemon takes it before it
/// acts on it, so this is long even for a busy daemon.
inline constexpr Milliseconds kHttpTakenWait{10000};

/// How long a response may stay open after its answer, or after its request was cancelled. Some
/// servers never end it. The notifications that a server sends late come within a second.
inline constexpr Milliseconds kHttpUselessWait{5000};

/// How long a child that is lost is still awaited. A daemon that restarts gracefully answers what
/// it has, and refuses connections meanwhile.
inline constexpr Milliseconds kHttpLosingWait{1000};

/// How long the end of a session over HTTP may take. The client waits for the end of the bridge.
inline constexpr Milliseconds kHttpEndWait{300};

/// The time after which a broken stream is opened again if the daemon names no other: it doubles
/// with each stream that brought nothing, up to the second. A daemon can name a time from the third
/// on; a shorter time would keep both sides busy.
inline constexpr Milliseconds kHttpStreamWaitMin{1000};
inline constexpr Milliseconds kHttpStreamWaitMax{30000};
inline constexpr Milliseconds kHttpRetryMin{100};

/// How often a daemon without a session is asked for its tools because it has closed an idle
/// connection. A daemon that closes every connection early costs one list in this time.
inline constexpr Milliseconds kHttpProbeInterval{5000};

/// How many redirects of one request are followed. A server needs one, to add a slash.
inline constexpr int kHttpRedirectsMax = 5;

/// How many bytes of responses that are not complete are kept together. Beyond that, of the
/// responses that are longer than the second only the largest is read on, so that it can become
/// complete.
inline constexpr std::size_t kHttpUnfinishedMax = 64 * kMiB;
inline constexpr std::size_t kHttpSmallResponse = kMiB;

/// How long this largest response may bring nothing while others wait for it: much longer than any
/// pause of a daemon that sends tens of MiB.
inline constexpr Milliseconds kHttpStalledWait{10000};

/// How much of the body of a refusal is kept: enough for any error of JSON-RPC that a model reads.
inline constexpr std::size_t kHttpErrorBodyMax = 64 * kKiB;

}  // namespace sitter::limits
