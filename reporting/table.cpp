#include "reporting/table.h"

namespace deft::reporting {

std::string marked_text(const Cell& cell) {
    return cell.flag.empty() ? cell.text : cell.text + " †";
}

}  // namespace deft::reporting
