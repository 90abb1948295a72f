#include "sweeps/spec/price.h"

namespace deft::sweeps {

std::optional<results_db::Price> price_for(const Spec& spec) {
    return spec.price;
}

}  // namespace deft::sweeps
