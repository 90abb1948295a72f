#pragma once
// The keys of a sweep file, with their values and meanings. Readers, `deft keys` and the schema of sweep files use
// these tables.

#include <cstdint>
#include <string>
#include <vector>

#include "base/key_table.h"
#include "sweeps/spec/spec.h"

namespace deft::sweeps {

// The tables of the file.
struct ResourcesTable {
    std::int64_t threads = 0;
    std::string slots = "auto";
    std::int64_t ranks = 1;
    std::int64_t ranks_per_node = 0;
    std::string hostfile, agent;
    std::string device;
    std::int64_t devices = 1;
    std::string dtype;
    double utilisation = 0;
    std::string fitted_on, fitted_in;
};

struct PriceTable {
    std::string sku;
    double usd_per_device_hour = 0;
    std::string date, source;
};

struct ReportTable {
    std::string paper;
};

struct ProvenanceTable {
    bool diff = true;
};

struct SearchTable {
    bool enabled = true;
    std::string stage;
    std::vector<std::int64_t> seeds = {900'001};
};

struct AxesTable {};
struct ExcludeTable {};

const Fields& fields_of(const Spec& spec);  // keys outside of tables
const Fields& fields_of(const ResourcesTable& resources);
const Fields& fields_of(const PriceTable& price);
const Fields& fields_of(const ReportTable& report);
const Fields& fields_of(const ProvenanceTable& provenance);
const Fields& fields_of(const Recipe& entry);
const Fields& fields_of(const Stage& stage);
const Fields& fields_of(const SearchTable& search);
const Fields& fields_of(const AxesTable& axes);
const Fields& fields_of(const ExcludeTable& exclude);

// The sweep's own tables, then those of its trials; the first one is the file itself.
std::vector<KeyTable> sweep_tables();

// The tables and keys of a trial, which [defaults] and [[case]] may contain.
const std::vector<std::string>& trial_keys();
// Whether the presence of the table enables a technique.
bool is_technique(std::string_view table);

// JSON Schema, draft-07, of sweep files.
Json sweep_schema();

}  // namespace deft::sweeps
