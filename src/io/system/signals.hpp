#pragma once

#include <csignal>

namespace sitter {

/// Keeps signal handlers from running in this thread. They also do not run in a child that is
/// forked meanwhile, until the child changes its own mask.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Gives a child, before its exec, the default dispositions and no blocked signals. Safe between
/// vfork and exec.
inline void reset_signals() {
  struct sigaction action {};
  // A signal that was blocked may be pending although the bridge ignores it. Ignoring it again
  // discards it (sigaction(2)).
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
  action.sa_handler = SIG_DFL;
  // For SIGKILL, SIGSTOP and the signals of the C library this fails, which does no harm.
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace sitter
