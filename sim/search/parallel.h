// Independent pieces of a search on a few threads. A room-internal header.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace headroom {

// Runs each job once. `go_on`, which may be empty, is asked with the number of the job by the calling thread
// alone, before each of the jobs that it takes; false: no other job is begun, and false is returned. An
// exception of a job is passed on.
bool run_all(const std::vector<std::function<void()>>& jobs, const std::function<bool(size_t)>& go_on);

}  // namespace headroom
