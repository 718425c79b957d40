// SPDX-License-Identifier: MIT
//
// shapes.cc - stacks of every shape, captured and compared with libunwind's.
//
// Built with several compilers, levels and frame pointer settings (see
// CMakeLists.txt). verify() stands where malloc would be: it captures its
// caller's stack through the cache, unwinds it again with unw_backtrace(3),
// and demands that ids and stacks correspond one to one.
//
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#define _Static_assert static_assert
extern "C" {
#include "trace/capture.h"
#include "trace/sink.h"
}

#define NOINLINE __attribute__((noinline, noclone))

#ifdef __clang__
	#undef NOINLINE
	#define NOINLINE __attribute__((noinline))
#endif

static std::map<uint32_t, std::vector<uint64_t>> stack_of;
static std::map<std::vector<uint64_t>, uint32_t> id_of;
static const char *shape = "";
static int failures;
static long checks;
static thread_local capture *mine;
static thread_local walk *fresh, *joined;
static volatile int sink_value;

enum expect { EXACT, PREFIX };

static void fail(const char *what, const std::vector<uint64_t> &ours,
	const std::vector<uint64_t> &theirs)
{
	failures++;
	std::fprintf(stderr, "%s: %s\n", shape, what);
	for (size_t i = 0; i < ours.size() || i < theirs.size(); i++) {
		if (i < 60) {
			std::fprintf(stderr, "  %2zu ours %#lx theirs %#lx\n",
				i, i < ours.size() ? ours[i] : 0,
				i < theirs.size() ? theirs[i] : 0);
		}
	}
}

static std::vector<uint64_t> unwind(uint64_t pc)
{
	static thread_local void *buffer[4096];
	int count = unw_backtrace(buffer, 4096);
	int first = 0;

	while (first < count && (uint64_t)buffer[first] != pc) {
		first++;
	}
	return std::vector<uint64_t>(
		(uint64_t *)buffer + first, (uint64_t *)buffer + count);
}

static std::vector<uint64_t> walked(walk *w, const walk_registers &caller)
{
	std::vector<uint64_t> out;

	walk_stack(w, &caller);
	for (size_t i = 0; i < w->count; i++) {
		out.push_back(walk_frame_at(w, i)->pc);
	}
	return out;
}

// A walk that joined the last one must depend on the words that a fresh walk
// depends on; it may list more.
static void compare_words(void)
{
	std::map<uint64_t, uint64_t> have;

	for (size_t i = 0; i < joined->words; i++) {
		have[walk_words(joined)[i].addr] = walk_words(joined)[i].value;
	}
	for (size_t i = 0; i < fresh->words; i++) {
		const walk_word &word = walk_words(fresh)[i];
		auto found = have.find(word.addr);

		if (found == have.end() || found->second != word.value) {
			failures++;
			std::fprintf(stderr, "%s: word %zu of %zu missing\n",
				shape, i, fresh->words);
			return;
		}
	}
	if (fresh->uses_fp && !joined->uses_fp) {
		failures++;
		std::fprintf(stderr, "%s: fp matters\n", shape);
	}
}

// Where malloc would be.
static NOINLINE void verify(expect expected = EXACT)
{
	walk_registers caller = CAPTURE_CALLER();

	if (!mine) {
		mine = (capture *)calloc(1, sizeof(*mine));
		fresh = (walk *)calloc(1, sizeof(*fresh));
		joined = (walk *)calloc(1, sizeof(*joined));
	}

	uint32_t id = capture_stack(mine, &caller);
	std::vector<uint64_t> theirs = unwind(caller.pc);
	std::vector<uint64_t> ours = walked(joined, caller);

	walk_forget(fresh);

	std::vector<uint64_t> alone = walked(fresh, caller);

	checks++;
	if (expected == PREFIX) {
		// Where there is no unwind information, libunwind guesses.
		if (ours.size() > theirs.size()) {
			fail("longer than libunwind's", ours, theirs);
		}
		theirs.resize(ours.size());
	}
	if (id == 0) {
		fail("no id", ours, theirs);
	}
	if (alone != theirs) {
		fail("a walk that joins nothing differs", alone, theirs);
	}
	compare_words();
	if (ours != theirs) {
		fail("another stack than libunwind's", ours, theirs);
	}

	auto known = stack_of.emplace(id, theirs);

	if (!known.second && known.first->second != theirs) {
		fail("id of another stack", known.first->second, theirs);
	}

	auto given = id_of.emplace(theirs, id);

	if (!given.second && given.first->second != id) {
		fail("two ids for one stack", ours, theirs);
	}
}

// ---- shapes ----

static NOINLINE int recurse(int depth)
{
	volatile char pad[24];

	pad[0] = (char)depth;
	if (depth == 0) {
		verify();
	} else {
		recurse(depth - 1);
	}
	return pad[0];
}

static NOINLINE void tail_end(void)
{
	verify();
	sink_value++;
}

static NOINLINE void tail_middle(int n)
{
	if (n > 0) {
		return tail_middle(n - 1);
	}
	return tail_end();
}

static NOINLINE int variable_array(size_t n)
{
	volatile char *array = (volatile char *)alloca(n * 16);

	array[0] = 1;
	verify();
	return array[0];
}

struct alignas(64) wide {
	volatile char bytes[64];
};

static NOINLINE int realigned(int depth)
{
	wide block;

	block.bytes[0] = (char)depth;
	if (depth > 0) {
		realigned(depth - 1);
	} else {
		verify();
	}
	return block.bytes[0];
}

static NOINLINE int realigned_variable(size_t n)
{
	wide block;
	volatile char *array = (volatile char *)alloca(n);

	array[0] = block.bytes[0] = 1;
	verify();
	return array[0] + block.bytes[0];
}

static NOINLINE long many_arguments(
	long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	verify();
	return a + b + c + d + e + f + g + h + i + sink_value;
}

static int compare(const void *a, const void *b)
{
	verify();
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int)
{
	verify();
}

static NOINLINE void raise_in(int depth)
{
	if (depth) {
		raise_in(depth - 1);
	} else {
		raise(SIGUSR1);
	}
	sink_value++;
}

static volatile sig_atomic_t interrupts;

static void on_timer(int)
{
	interrupts++;
	verify();
}

static NOINLINE int busy(int n)
{
	return n < 2 ? n : busy(n - 1) + busy(n - 2);
}

// Stacks at any instruction, in prologues and epilogues as well.
static NOINLINE void interrupted(void)
{
	struct sigaction action = {};
	itimerval often = {{0, 100}, {0, 100}};
	itimerval never = {};

	action.sa_handler = on_timer;
	sigaction(SIGALRM, &action, nullptr);
	interrupts = 0;
	setitimer(ITIMER_REAL, &often, nullptr);
	while (interrupts < 300) {
		sink_value = busy(12);
	}
	setitimer(ITIMER_REAL, &never, nullptr);
}

struct verifies_when_destroyed {
	~verifies_when_destroyed()
	{
		verify();
	}
};

static NOINLINE void thrower(int depth)
{
	verifies_when_destroyed guard;

	if (depth == 0) {
		throw std::runtime_error("x");
	}
	thrower(depth - 1);
	sink_value++;
}

static NOINLINE void catcher(void)
{
	try {
		thrower(5);
	} catch (const std::runtime_error &) {
		verify();
		try {
			throw;
		} catch (...) {
			verify();
		}
	}
	verify();
}

static ucontext_t outside, inside;

static void coroutine(int depth)
{
	verify();
	recurse(depth);
	swapcontext(&inside, &outside);
	recurse(depth / 2);
}

static NOINLINE void run_coroutine(char *stack, size_t size, int depth)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, (void (*)())coroutine, 1, depth);
	swapcontext(&outside, &inside);
	verify();
	swapcontext(&outside, &inside);
	verify();
}

// The same addresses with another stack behind them: a stale entry would show.
static NOINLINE void coroutines(void)
{
	const size_t size = 65536;

	for (int i = 0; i < 6; i++) {
		char *stack =
			(char *)mmap(nullptr, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		run_coroutine(stack, size, i % 3 * 7);
		munmap(stack, size);
	}
}

#if defined(__x86_64__)
// sub $8,%rsp; call *%rdi; add $8,%rsp; ret: code that no one describes.
static const unsigned char jit_code[] = {
	0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};

static void from_jit(void)
{
	verify(PREFIX);
}

static NOINLINE void jit(void)
{
	void *code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	std::memcpy(code, jit_code, sizeof(jit_code));
	for (int i = 0; i < 3; i++) {
		((void (*)(void (*)(void)))code)(from_jit);
	}
	munmap(code, 4096);
}
#endif

[[noreturn]] static NOINLINE void never_returns(pthread_barrier_t *)
{
	verify();
	pthread_exit(nullptr);
}

static void *thread_main(void *arg)
{
	verify();
	recurse(20);
	coroutines();
	if (arg) {
		never_returns(nullptr);
	}
	return nullptr;
}

static NOINLINE void threads(void)
{
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, thread_main,
			i % 2 ? &thread : nullptr);
		pthread_join(thread, nullptr);
	}
}

// A random walk through frames of all kinds: caller and depth change, so the
// same (pc, sp) is met with different stacks behind it.
static uint64_t seed = 88172645463325252u;

static unsigned dice(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

static void wander(int depth);

static NOINLINE int wander_plain(int depth)
{
	wander(depth);
	return sink_value;
}

static NOINLINE int wander_same_frame(int depth)
{
	wander(depth);
	return sink_value + 1;
}

static NOINLINE int wander_array(int depth)
{
	volatile char *array = (volatile char *)alloca(16 + dice(3) * 16);

	array[0] = 0;
	wander(depth);
	return array[0];
}

static NOINLINE int wander_wide(int depth)
{
	wide block;

	block.bytes[0] = 0;
	wander(depth);
	return block.bytes[0];
}

static NOINLINE void wander(int depth)
{
	if (depth == 0 || dice(8) == 0) {
		verify();
		return;
	}
	for (unsigned i = 0; i < 1 + dice(3); i++) {
		switch (dice(4)) {
		case 0:
			sink_value = wander_plain(depth - 1);
			break;
		case 1:
			sink_value = wander_same_frame(depth - 1);
			break;
		case 2:
			sink_value = wander_array(depth - 1);
			break;
		default:
			sink_value = wander_wide(depth - 1);
		}
		verify();
	}
}

#define SHAPE(name, ...)                                                       \
	do {                                                                   \
		shape = name;                                                  \
		for (int twice = 0; twice < 3; twice++) {                      \
			__VA_ARGS__;                                           \
		}                                                              \
	} while (0)

int main()
{
	char path[] = "/tmp/allocmux-shapes-%p.trace";
	sink_options options = {};
	int numbers[] = {5, 3, 9, 1, 7};
	struct sigaction action = {};
	stack_t stack = {};

	options.pattern = path;
	options.mode = AMUX_TRACE_RECORD;
	options.block_size = 65536;
	if (sink_open(&options) != 0) {
		std::perror("trace file");
		return 2;
	}

	SHAPE("main", verify());
	SHAPE("recursion", for (int i = 0; i < 900; i += 37) recurse(i));
	SHAPE("tail calls", tail_middle(3));
	SHAPE("variable arrays",
		for (size_t i = 1; i < 40; i += 3) variable_array(i));
	SHAPE("realigned stack", realigned(4));
	SHAPE("realigned with variable array",
		for (size_t i = 16; i < 400; i += 48) realigned_variable(i));
	SHAPE("stack arguments", many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9));
	SHAPE("callback from libc",
		std::qsort(numbers, 5, sizeof(int), compare);
		numbers[0] = 6);
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, nullptr);
	SHAPE("signal", raise_in(0); raise_in(9));
	stack.ss_size = 65536;
	stack.ss_sp = std::malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	SHAPE("signal on its own stack", raise_in(3));
	SHAPE("exceptions in flight", catcher());
	SHAPE("makecontext", coroutines());
#if defined(__x86_64__)
	SHAPE("generated code", jit());
#endif
	SHAPE("threads", threads());
	SHAPE("interrupted anywhere", interrupted());
	SHAPE("wander", for (int i = 0; i < 60; i++) wander(9));

	std::printf("%ld stacks compared, %zu distinct, %d failures; cache %lu "
		    "hits, %lu misses\n",
		checks, stack_of.size(), failures, mine->hits, mine->misses);
	unlink(sink_path());
	return failures != 0 || mine->hits == 0;
}
