#include "kernels/cuda/emulator/block.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>
#include <numeric>

#include "kernels/cuda/emulator/allocations.h"
#include "kernels/cuda/emulator/sanitizers.h"
#include "kernels/cuda/emulator/warp.h"

namespace deft::kernels::cuda::emulator {

namespace {

const char* name(Wait wait) {
    switch (wait) {
        case Wait::nothing:
            return "ready";
        case Wait::block_barrier:
            return "__syncthreads";
        case Wait::warp_barrier:
            return "__syncwarp";
        case Wait::fence:
            return "__threadfence";
        case Wait::shuffle:
            return "a shuffle";
        case Wait::ballot:
            return "a ballot";
        case Wait::collective:
            return "a matrix instruction";
        case Wait::end:
            return "its end";
    }
    return "";
}

std::string place(const Thread& thread) {
    if (thread.wait == Wait::end) return "at its end";
    std::string text =
        fmt::format("at {} in {}:{}", name(thread.wait), tree_path(thread.site.file_name()), thread.site.line());
    if (thread.wait != Wait::block_barrier) text += fmt::format(" (lanes {:#010x})", thread.mask);
    return text;
}

bool same_wait(const Thread& a, const Thread& b) {
    return a.wait == b.wait && a.mask == b.mask && a.work == b.work && a.site.line() == b.site.line() &&
           std::strcmp(a.site.file_name(), b.site.file_name()) == 0;
}

bool is_barrier(Wait wait) {
    return wait == Wait::block_barrier || wait == Wait::warp_barrier || wait == Wait::fence;
}

bool is_warp_operation(Wait wait) {
    return wait == Wait::warp_barrier || wait == Wait::shuffle || wait == Wait::ballot || wait == Wait::collective;
}

void thread_entry() {
    running_block()->run_thread();
}

}  // namespace

const char* tree_path(const char* file) {
    while (std::strncmp(file, "../", 3) == 0) file += 3;
    return file;
}

Block::Block(const Grid& grid, unsigned index, FiberPool& pool, std::size_t first_fiber)
    : grid_(grid),
      index_(index),
      shared_(grid.shared_bytes),
      threads_(grid.threads),
      tags_(grid.threads),
      ready_(grid.threads) {
    scheduler_.tsan_fiber = tsan::current_fiber();
    std::iota(ready_.begin(), ready_.end(), 0u);
    std::uint64_t start_tag = 0;
    tsan::release(&start_tag);
    for (const unsigned i : ready_) {
        threads_[i].context = pool.start(first_fiber + i, thread_entry);
        tsan::switch_to(threads_[i].context.tsan_fiber);
        tsan::acquire(&start_tag);
        tsan::switch_to(scheduler_.tsan_fiber);
    }
}

void Block::release_to(void* tag) {
    for (const Thread& thread : threads_) {
        tsan::switch_to(thread.context.tsan_fiber);
        tsan::release(tag);
    }
    tsan::switch_to(scheduler_.tsan_fiber);
}

void Block::misuse(const std::string& what) const {
    throw Misuse(fmt::format("kernel {}, block {}: {}", grid_.kernel, index_, what));
}

void Block::run(std::mt19937_64* random, PassedBarriers& passed) {
    while (ended_ < grid_.threads) {
        if (ready_.empty()) report_stuck();
        current_ = take_ready(random);
        switch_context(scheduler_, current_thread().context);
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
        arrived(current_, passed);
    }
    if (const std::string damage = shared_.damage(); !damage.empty())
        misuse("shared memory was written outside its arrays: " + damage);
    if (const std::string excess = shared_.excess(); !excess.empty()) misuse(excess);
}

unsigned Block::take_ready(std::mt19937_64* random) {
    if (random != nullptr) {
        std::swap(ready_[(*random)() % ready_.size()], ready_.back());
        const unsigned thread = ready_.back();
        ready_.pop_back();
        return thread;
    }
    const unsigned thread = ready_.front();
    ready_.erase(ready_.begin());
    return thread;
}

void Block::run_thread() {
    Thread& self = current_thread();
    enter_context(scheduler_);
    // An exception must not unwind past this stack's first frame.
    try {
        grid_.body();
    } catch (...) {
        thrown_ = std::current_exception();
    }
    self.wait = Wait::end;
    leave_context(self.context, scheduler_);
}

bool Block::runs_on(std::uintptr_t stack_pointer) const {
    const Context& context = threads_[current_].context;
    const auto first = reinterpret_cast<std::uintptr_t>(context.stack);
    return stack_pointer >= first && stack_pointer < first + context.stack_bytes;
}

void Block::stop_at_fault(std::uintptr_t address, bool is_write) {
    thrown_ = std::make_exception_ptr(
        Misuse(fmt::format("kernel {}, block {}: thread {} {} {}", grid_.kernel, index_, current_,
                           is_write ? "writes" : "reads", allocations().describe(address))));
    leave_context(current_thread().context, scheduler_);
}

void Block::wait(Wait wait, const std::source_location& site) {
    Thread& self = current_thread();
    self.wait = wait;
    self.site = site;
    switch_context(self.context, scheduler_);
}

void Block::arrived(unsigned thread, PassedBarriers& passed) {
    std::vector<unsigned> group;
    if (threads_[thread].wait == Wait::end) {
        ++ended_;
    } else if (threads_[thread].wait == Wait::block_barrier) {
        if (++at_block_barrier_ < grid_.threads) return;
        at_block_barrier_ = 0;
        group.resize(grid_.threads);
        std::iota(group.begin(), group.end(), 0u);
        release(group, passed);
    } else if (threads_[thread].wait == Wait::fence) {
        release({thread}, passed);
    } else if (all_lanes_wait(thread)) {
        const unsigned first = thread / kWarp * kWarp;
        for (unsigned lanes = threads_[thread].mask; lanes != 0; lanes &= lanes - 1)
            group.push_back(first + static_cast<unsigned>(std::countr_zero(lanes)));
        release(group, passed);
    }
}

bool Block::all_lanes_wait(unsigned thread) const {
    const unsigned first = thread / kWarp * kWarp;
    for (unsigned lanes = threads_[thread].mask; lanes != 0; lanes &= lanes - 1) {
        const unsigned other = first + static_cast<unsigned>(std::countr_zero(lanes));
        if (other >= grid_.threads || !is_warp_operation(threads_[other].wait)) return false;
    }
    return true;
}

void Block::release(const std::vector<unsigned>& group, PassedBarriers& passed) {
    check_one_place(group);
    const Thread& first = threads_[group.front()];
    if (is_barrier(first.wait)) {
        passed.insert({first.site.file_name(), first.site.line()});
        if (first.wait != Wait::fence) order_memory(group);
    } else if (first.wait == Wait::collective) {
        work_together(group);
    } else {
        exchange_values(group);
    }
    for (const unsigned i : group) threads_[i].wait = Wait::nothing;
    ready_.insert(ready_.end(), group.begin(), group.end());
}

void Block::check_one_place(const std::vector<unsigned>& group) const {
    const Thread& first = threads_[group.front()];
    for (const unsigned i : group)
        if (!same_wait(first, threads_[i]))
            misuse(fmt::format("divergent {}: thread {} waits {}, thread {} {}", name(first.wait), group.front(),
                               place(first), i, place(threads_[i])));
}

void Block::exchange_values(const std::vector<unsigned>& group) {
    std::uint64_t votes = 0;
    for (const unsigned i : group)
        if (threads_[i].value != 0) votes |= std::uint64_t{1} << i % kWarp;
    for (const unsigned i : group) {
        Thread& thread = threads_[i];
        if (thread.wait == Wait::ballot) {
            thread.result = votes;
        } else if ((thread.mask >> thread.source & 1) != 0) {
            thread.result = threads_[i / kWarp * kWarp + static_cast<unsigned>(thread.source)].value;
        } else {
            misuse(fmt::format("thread {} reads lane {}, which takes no part, {}", i, thread.source, place(thread)));
        }
    }
}

void Block::work_together(const std::vector<unsigned>& group) {
    void* operands[kWarp];
    for (const unsigned i : group) operands[i % kWarp] = reinterpret_cast<void*>(threads_[i].value);
    threads_[group.front()].work(operands);
    for (const unsigned i : group) threads_[i].work = nullptr;
}

// Accesses of any thread of the group happen before later accesses of all. All release, then all acquire, so that
// nothing later leaks in.
void Block::order_memory(const std::vector<unsigned>& group) {
    if (!tsan::active()) return;
    void* const tag = &tags_[group.front()];
    for (const unsigned i : group) {
        tsan::switch_to(threads_[i].context.tsan_fiber);
        tsan::release(tag);
    }
    for (const unsigned i : group) {
        tsan::switch_to(threads_[i].context.tsan_fiber);
        tsan::acquire(tag);
    }
    tsan::switch_to(scheduler_.tsan_fiber);
}

void Block::report_stuck() const {
    std::map<std::string, int> counts;
    bool block_barrier = false, warp_operation = false, lanes_missing = false;
    for (unsigned i = 0; i < grid_.threads; ++i) {
        const Thread& thread = threads_[i];
        ++counts[place(thread)];
        block_barrier |= thread.wait == Wait::block_barrier;
        if (!is_warp_operation(thread.wait)) continue;
        warp_operation = true;
        for (unsigned lane = 0; lane < kWarp; ++lane) {
            const unsigned other = i / kWarp * kWarp + lane;
            const bool gone = other >= grid_.threads || threads_[other].wait == Wait::end;
            lanes_missing |= (thread.mask >> lane & 1) != 0 && gone;
        }
    }
    std::string text = lanes_missing                      ? "lanes missing from a warp's operation"
                       : block_barrier && !warp_operation ? "divergent __syncthreads"
                                                          : "deadlock";
    const char* separator = ": ";
    for (const auto& [where, count] : counts) {
        text += fmt::format("{}{} of {} threads {}", separator, count, grid_.threads, where);
        separator = ", ";
    }
    misuse(text);
}

}  // namespace deft::kernels::cuda::emulator
