// Ctrl-C without half-written files.
//
// Contract:
//  - The first SIGINT or SIGTERM only sets a flag. Long work polls it and returns Fault::interrupted.
//  - The second one unlinks the temporary files that are open and ends the process by the signal's default.
//  - Blocking reads and writes are not restarted: they return EINTR, after which the flag is looked at.
#pragma once

#include <string>

#include "base/result.h"

namespace headroom {

// Installs the handlers; once, at the start of main. A signal that was ignored (nohup) stays ignored.
void handle_interrupts();
// Whether a signal came. One atomic load.
bool interrupted() noexcept;
// Error with Fault::interrupted if a signal came. `where` names the work: "simulation".
Result<void> check_interrupt(const std::string& where);
// Forgets the signal; for those who go on after cancelled work (the app, a table of what is done), and for
// tests.
void clear_interrupt() noexcept;

// The name of a file that must not outlive the process half-written: unlinked by the destructor and by a
// second signal, until keep() is called. Create the file after this object. Paths longer than PATH_MAX, and
// more than 16 names at a time, are guarded by the destructor alone.
class TemporaryName {
public:
    explicit TemporaryName(std::string path);
    ~TemporaryName();
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;

    const std::string& path() const { return path_; }
    // The file is whole and stands under its own name.
    void keep();

private:
    std::string path_;
    int slot_ = -1;
    bool kept_ = false;
};

}  // namespace headroom
