// plan.json: parsing and checking end with a plan or an Error; a small plan is lowered and simulated.
#include "input.h"
#include "search/evaluate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headroom;
    const Result<Plan> plan = parse_plan(text_of(data, size), "fuzz");
    if (!plan || !check_plan(*plan, "fuzz")) return 0;
    if (parse_plan(write_plan(*plan), "written").value() != *plan) __builtin_trap();
    if (plan->chunks() * plan->model.layer_count() * plan->recipe.batch > 64 ||
        plan->context.count() > 1 << 20)
        return 0;
    try {
        (void)evaluate(*plan, true);
    } catch (const Overflow&) {  // the library's entry points turn it into an Error
    }
    return 0;
}
