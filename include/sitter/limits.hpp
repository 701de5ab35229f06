#pragma once

#include <cstddef>

#include "sitter/time.hpp"

/// Every bound of the bridge, each with the reason for its number.
namespace sitter::limits {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

/// simdjson reads whole vectors, so this many bytes behind a line must be readable.
inline constexpr std::size_t kLinePadding = 64;

/// The protocol knows no size limit. The official TypeScript clients end at 10 MiB, so this is far
/// above anything that works elsewhere, and still fits into a developer's memory six times.
inline constexpr std::size_t kLineMax = 256 * kMiB;

/// Before a line of this size or more is looked at, so much memory must be free: for each of its
/// bytes simdjson's index and strings (less than six) and two copies, and a rest. Otherwise the
/// line counts as too long. Smaller lines are not asked about, since the question would take longer
/// than reading them; without memory for one of these the program ends.
inline constexpr std::size_t kRoomAskedFrom = kMiB;
inline constexpr std::size_t kRoomPerByte = 8;
inline constexpr std::size_t kRoomBeside = 16 * kMiB;

/// What is kept of each end of a longer line: the id stands at one of them.
inline constexpr std::size_t kLineEndKept = 4 * kKiB;

/// Bytes queued in one direction before the other side is not read any more.
inline constexpr std::size_t kQueueBytesMax = 16 * kMiB;

/// A child that takes nothing for so long with a full queue is not merely slow.
inline constexpr Milliseconds kDeafAfter{1000};

/// Requests and notifications that wait while no child serves. A client asks a handful of things at
/// once, so with a thousand it goes round in a circle.
inline constexpr std::size_t kWaitingCountMax = 1000;
/// And their bytes, since a build may take minutes: what one queue to a child may hold.
inline constexpr std::size_t kWaitingBytesMax = kQueueBytesMax;

/// Requests that a child may have unanswered. At about 160 bytes each this stays near 20 MiB.
inline constexpr std::size_t kInFlightCountMax = 131072;

/// And the bytes of their ids and of the lines that are kept for a second try. At this bound no
/// more lines are kept. As much as may be queued for a child.
inline constexpr std::size_t kInFlightBytesMax = kQueueBytesMax;

/// Cancelled requests that are remembered in case that the child answers them all the same. A
/// server of the official SDKs never does, so without a bound they would pile up.
inline constexpr std::size_t kCancelledCountMax = 1000;

/// Ids of cancelled streams that are remembered, since a server may end them in good order all the
/// same, and the id may come again. It does so soon.
inline constexpr std::size_t kCancelledStreamsMax = 64;

/// Progress tokens of answered requests that are remembered in case that the child tells of them
/// all the same. One that does so late does it within its last few requests.
inline constexpr std::size_t kEndedTokensMax = 64;

/// Questions of the child that the client has not answered. A client shows them to a person. And
/// the bytes of their ids and progress tokens, which are kept: 4 KiB each if so many are open.
inline constexpr std::size_t kChildRequestsMax = 1000;
inline constexpr std::size_t kChildRequestBytesMax = 4 * kMiB;

/// A grandchild may hold the pipes of a child that has exited, so their end is not waited for any
/// longer. What the child itself wrote is in the pipe by then, and read in a few milliseconds.
inline constexpr Milliseconds kDrain{300};

/// What a build has started last may still be on its way from fork(2) to setsid(2): microseconds,
/// and some scheduler ticks on a busy machine.
inline constexpr Milliseconds kBuildLeavesWait{100};

/// Neither a process in uninterruptible sleep nor one of another user ends after SIGKILL.
inline constexpr Milliseconds kGiveUpAfterKill{2000};

/// docker, podman, kubectl and ssh pass the end on to another machine or daemon first.
inline constexpr Milliseconds kRemoteTermGrace{5000};

/// Clients send SIGTERM 2 s after they have closed our stdin, so a long --kill-grace must not count
/// at the end: two rungs of this length end a stubborn child in time.
inline constexpr Milliseconds kShutdownRungMax{500};

/// After a signal there is no time: Claude Code kills 0.5 s after its first signal.
inline constexpr Milliseconds kSignalKillAfter{200};
inline constexpr Milliseconds kSignalExitAfter{280};

/// How long answers that are owed are waited for after the client has closed our stdin: `printf ...
/// | mcp-sitter` is to print them all. Official clients send SIGTERM long before.
inline constexpr Milliseconds kOwedWait{10000};

/// Lists that are compared after a respawn: pages of each, since a server may page in a circle, and
/// bytes, which two thousand tools of 2 KiB have.
inline constexpr int kListPagesMax = 100;
inline constexpr std::size_t kListBytesMax = 4 * kMiB;

/// What is asked of a child that is not to serve before it has answered. The client's request waits
/// meanwhile, and one that is never answered must not use up the 60 s that the official TypeScript
/// clients wait. Of the lists the tools matter most. The settings of the session that are made
/// again get as long as the tools, and the question for the era as long as the other lists.
inline constexpr Milliseconds kToolsListWait{2000};
inline constexpr Milliseconds kOtherListWait{1000};

/// All calls that are made again at a new child, for servers that connect to something first; the
/// client's requests wait meanwhile, as above. And the arguments of one, which are kept.
inline constexpr Milliseconds kReplayWait{20000};
inline constexpr std::size_t kReplayBytesMax = kMiB;
/// The line of such a call, which is kept until it is answered: with an id and a `_meta` besides.
inline constexpr std::size_t kReplayLineMax = 2 * kReplayBytesMax;
/// Failures of them that the next notice tells: more than anybody names tools.
inline constexpr std::size_t kReplayFailuresMax = 10;

/// A list that changes while it is taken begins anew, so that a server that is still registering
/// its tools is seen whole; but some announce a change whenever they are listed.
inline constexpr int kListRestartsMax = 3;
/// And for the same reason lists are not taken again sooner than this.
inline constexpr Milliseconds kSurveyInterval{1000};

/// Arrays and objects within each other in what is parsed as a whole. Far beyond any schema, and
/// little for the recursion and the copies that each level costs.
inline constexpr std::size_t kNestingMax = 100;

/// Resource templates that are known while no child serves. A server has a handful.
inline constexpr std::size_t kTemplatesMax = 1000;

/// Cursors of one child that are told from those of its predecessors: as many pages as no list has.
/// Beyond that all cursors pass.
inline constexpr std::size_t kCursorsMax = 10000;

/// How long an answer waits for the client to list again. The official TypeScript clients wait 300
/// ms before they do.
inline constexpr Milliseconds kRelistWait{750};

/// How long it waits behind the list for a client that needs such a pause: Gemini CLI 0.61 shows a
/// new tool in its next turn after 20 ms if the machine is idle, and after 100 ms if it is busy.
inline constexpr Milliseconds kPauseAfterList{100};

/// And the bytes of such answers that are kept meanwhile. With more of them, none waits.
inline constexpr std::size_t kHeldBytesMax = 16 * kMiB;

/// The answers to one batch, which are kept until the last is there and go out as one line: more
/// than the official TypeScript clients take of any line. All open batches together keep no more
/// than that either. One answer alone may have any size.
inline constexpr std::size_t kBatchBytesMax = 16 * kMiB;

/// Entries of one batch. Each may be owed an error that is longer than itself, and no client that
/// is known sends more than a few.
inline constexpr std::size_t kBatchCountMax = 10'000;

/// A client that did not list again after so many announcements is not waited for any more.
inline constexpr int kUnheededMax = 2;

/// The official TypeScript clients lose progress that arrives in one read with its answer.
inline constexpr Milliseconds kProgressGap{1};

/// Writes that wait for such gaps. A server that answers faster than this, each answer right behind
/// its progress, would otherwise be ever further behind.
inline constexpr std::size_t kWaitingWritesMax = 50;

/// How long a build may take unless its caller says otherwise, and at most. Ten minutes is what
/// Claude Code gives a command of its own.
inline constexpr int kBuildSecondsDefault = 600;
inline constexpr int kBuildSecondsMax = 24 * 60 * 60;

/// What is kept of a build's output: lines, since empty ones take no bytes; the bytes are those of
/// any ring.
inline constexpr std::size_t kBuildLogLinesMax = 20'000;
/// And how many lines of it one call may ask for.
inline constexpr int kBuildLogShownMax = 20'000;

/// Lines of its first errors, which are kept though they are no longer among these: enough for the
/// first ten with what stands behind each; and the bytes of each, as an excerpt shows them.
inline constexpr std::size_t kBuildErrorsKept = 40;
inline constexpr std::size_t kBuildErrorBytesMax = 500;

/// What the result of a rebuild shows of it: about as much as a model reads of a command's output
/// without harm to the rest of its conversation.
inline constexpr std::size_t kBuildExcerptLinesMax = 80;
inline constexpr std::size_t kBuildExcerptBytesMax = 12 * kKiB;

/// And what the next result shows after a reload that failed, with at most the bytes of a notice.
inline constexpr std::size_t kReloadLinesMax = 30;

/// Of the schema of a tool, or of the names of all, in the answer to a wrong sitter_call: what a
/// notice may have.
inline constexpr std::size_t kShownSchemaMax = 4 * kKiB;

/// How long a request waits for a build. Most clients give up after 60 s, and then the model never
/// knows why.
inline constexpr Milliseconds kBuildPatience{45000};

/// Between two progress notifications about a build: a person reads no faster.
inline constexpr Milliseconds kBuildProgressInterval{250};

/// Of the line of the build that a progress notification shows.
inline constexpr std::size_t kBuildProgressLineMax = 200;

/// From this failed start in a row on, starts are kept apart.
inline constexpr int kFailedStartsFree = 3;
inline constexpr Milliseconds kStartInterval{1000};

/// Between the end of a child and its restart without a request: doubled with each in a row, so
/// that one that crashes at once does not keep a machine busy. A minute of running ends the row.
inline constexpr Milliseconds kRestartWaitMin{1000};
inline constexpr Milliseconds kRestartWaitMax{30000};
inline constexpr Milliseconds kGoodRunning{60000};

/// How long a child may take to acknowledge a stream before the bridge does. Far below the 60 s
/// that the official TypeScript client waits.
inline constexpr Milliseconds kStreamAckWait{5000};

/// A server that exits ends its streams first, and the client would not open them again.
inline constexpr Milliseconds kStreamEndWait{1000};

/// After so many children in a row that died without acknowledging a stream, the next has to answer
/// a request before it is asked for it. Two, as for a request that is sent once more.
inline constexpr int kStreamDeathsMax = 2;

/// Streams that are open at the same time, as many as the official TypeScript servers allow, and
/// the bytes of all their requests, which are kept: 4 KiB each if so many are open.
inline constexpr std::size_t kStreamsMax = 1024;
inline constexpr std::size_t kStreamBytesMax = 4 * kMiB;

/// Subscriptions that are made again with the next child, each with a request of its own. At about
/// 150 bytes each these take a tenth of the queue to it. And the bytes of their URIs, however long
/// these are: a quarter of that queue.
inline constexpr std::size_t kSubscriptionsMax = 10000;
inline constexpr std::size_t kSubscriptionBytesMax = kQueueBytesMax / 4;

/// Lines of the children's stderr that are kept, unless the user has chosen.
inline constexpr std::size_t kStderrLinesDefault = 1000;

/// Stderr of the child in memory: a thousand lines of 1 KiB. Of a longer line than the second only
/// the beginning is kept, or one dump would push out all that was said before it.
inline constexpr std::size_t kStderrBytesMax = kMiB;
inline constexpr std::size_t kStderrLineMax = 8 * kKiB;

/// Lines of it that one call of sitter_child_stderr shows at most: as many as are kept unless
/// --stderr-lines says otherwise, and far more than a model reads.
inline constexpr std::size_t kShownLinesMax = 1000;

/// What a crash report quotes of it: an assertion or a short stack trace. It is part of each
/// answer that the crash costs.
inline constexpr std::size_t kReportLinesMax = 20;
inline constexpr std::size_t kReportBytesMax = 4 * kKiB;

/// And what the instructions of an opening without a server quote. They are part of every
/// prompt, so they stay short.
inline constexpr std::size_t kOpeningStderrMax = kKiB;

/// A notice has to leave room for the result that it precedes.
inline constexpr std::size_t kNoticeBytesMax = 4 * kKiB;

/// Generations that sitter_status lists: enough to see whether it always ends in the same way, and
/// little to read.
inline constexpr std::size_t kHistoryMax = 10;

/// The arguments of a built-in tool, as raw text. Far more than the tools have use for; deep
/// nesting in it costs next to nothing.
inline constexpr std::size_t kArgumentsBytesMax = 64 * kKiB;

/// A result that is searched for whether it begins a task. That names the task and says little
/// more.
inline constexpr std::size_t kTaskResultMax = 64 * kKiB;

/// Braces without an end that are tried as the beginning of an object in a broken line. Each costs
/// a walk through the rest of the line, and a log line before a message has one or two.
inline constexpr int kUnclosedBracesMax = 16;

/// Watched files that changed and are told apart, as many as a large checkout touches, and how many
/// of them sitter_status names.
inline constexpr std::size_t kChangedFilesMax = 1000;
inline constexpr std::size_t kChangedFilesShown = 10;

/// A file that has changed in so many reloads in a row is written by them. Who saves the same file
/// in each of three builds, and never between, is told that it was not built.
inline constexpr int kOwnWritesInARow = 3;
/// And after so many reloads in a row that only changes during reloads have led to, whatever their
/// names, there is no further one: some builds give what they write a new name each time.
inline constexpr int kFollowingReloadsMax = 10;

/// Of a .gitignore file. The longest that people share have a few thousand lines.
inline constexpr std::size_t kIgnoreFileBytesMax = kMiB;

/// A program that is still being written cannot be started (ETXTBSY, execve(2)). A linker is done
/// with it soon.
inline constexpr Milliseconds kBusyFileWait{2000};
inline constexpr Milliseconds kBusyFileInterval{100};

/// Who controls the bridge from outside: people and scripts of one user, with short requests. What
/// is sent to one that does not read: the longest answer, a ring of stderr, twice.
inline constexpr std::size_t kControlConnectionsMax = 64;
inline constexpr std::size_t kControlLineMax = 64 * kKiB;
inline constexpr std::size_t kControlQueueMax = 4 * kMiB;

/// Processes that the refusal of a sitter_kill names: enough to see who they are. A busy machine
/// has hundreds of shells.
inline constexpr std::size_t kShownStrangersMax = 20;

/// A parser keeps four bytes of index per byte of its largest line. Beyond this size it is made
/// anew.
inline constexpr std::size_t kParserKeptMax = kMiB;

}  // namespace sitter::limits
