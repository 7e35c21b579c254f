#include "search/disk_cost.h"

namespace headroom {

Result<std::optional<DiskCost>> disk_cost(const Plan& plan, const Evaluation& e) {
    Plan on_host = plan;
    Residency &kv = on_host.decisions.kv_residency, &gradients = on_host.decisions.kv_gradient_residency;
    if (e.tiers[static_cast<size_t>(Tier::disk)].need_bytes == 0) return std::nullopt;
    kv.disk_chunks = gradients.disk_chunks = 0;
    HEADROOM_TRY(const Evaluation there, evaluate(on_host, false));
    DiskCost cost;
    for (const OpKind kind : {OpKind::read_pages, OpKind::write_pages})
        cost.waits_ns += e.statistics.critical_ns[static_cast<size_t>(kind)];
    cost.step_ns = there.step_ns;
    cost.host_bytes = there.tiers[static_cast<size_t>(Tier::host)].need_bytes;
    return cost;
}

}  // namespace headroom
