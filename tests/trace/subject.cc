// SPDX-License-Identifier: MIT
//
// subject.cc - a program with known allocations, to be traced.
//
// Called as `trace_subject SCENARIO...`; the functions named plant_* are found
// in the trace by their symbols.
//
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#define PLANT extern "C" __attribute__((noinline))

static void *volatile keep;

PLANT void plant_leak(int count)
{
	for (int i = 0; i < count; i++) {
		keep = malloc(33);
	}
}

PLANT void plant_temporary(int count)
{
	for (int i = 0; i < count; i++) {
		free(keep = malloc(64 + i % 3));
	}
}

PLANT void plant_calloc(int count)
{
	for (int i = 0; i < count; i++) {
		keep = calloc(7, 11);
	}
}

PLANT void plant_aligned(int count)
{
	for (int i = 0; i < count; i++) {
		void *ptr = nullptr;

		if (posix_memalign(&ptr, 256, 1000) != 0) {
			abort();
		}
		keep = ptr;
		keep = memalign(64, 10);
	}
}

PLANT void plant_realloc(int count)
{
	void *ptr = malloc(10);

	for (int i = 1; i <= count; i++) {
		keep = ptr = realloc(ptr, 10 + 10 * (size_t)i);
	}
	free(ptr);
}

PLANT void plant_failed(void)
{
	void *ptr = malloc(10);

	keep = malloc((size_t)1 << 62);
	keep = realloc(ptr, (size_t)1 << 62);
	free(ptr);
}

PLANT void plant_sizes(int count)
{
	// A fixed mix around the sampling interval.
	static const size_t sizes[] = {16, 100, 1000, 5000, 40000};

	for (int i = 0; i < count; i++) {
		free(keep = malloc(sizes[i % 5]));
	}
}

PLANT void plant_deep(int depth)
{
	volatile char pad[32];

	pad[0] = 0;
	if (depth == 0) {
		keep = malloc(77);
	} else {
		plant_deep(depth - 1);
	}
	(void)pad[0];
}

static void plant_all(void)
{
	plant_leak(100);
	plant_temporary(1000);
	plant_calloc(10);
	plant_aligned(5);
	plant_realloc(50);
}

PLANT void plant_in_handler(int)
{
	keep = malloc(55);
}

static void threads(int count)
{
	std::vector<std::thread> all;

	for (int i = 0; i < count; i++) {
		all.emplace_back([i] {
			std::string name = "worker-" + std::to_string(i % 10);

			pthread_setname_np(pthread_self(), name.c_str());
			plant_leak(10);
			plant_temporary(100);
		});
		if (all.size() == 8) {
			for (auto &thread : all) {
				thread.join();
			}
			all.clear();
		}
	}
	for (auto &thread : all) {
		thread.join();
	}
}

// Blocks that change hands: made here, freed there, in both directions.
static void exchange(void)
{
	static void *volatile slots[64];
	auto work = [](unsigned seed) {
		for (int i = 0; i < 20000; i++) {
			seed = seed * 1103515245 + 12345;
			void *ptr = malloc(32);
			void *old = __atomic_exchange_n(
				&slots[seed >> 16 & 63], ptr, __ATOMIC_ACQ_REL);

			free(old);
		}
	};
	std::thread a(work, 1), b(work, 2);

	a.join();
	b.join();
	for (auto &slot : slots) {
		free(slot);
	}
}

struct late {
	~late()
	{
		plant_leak(3);
	}
};

static pthread_key_t key;

static void key_destructor(void *rounds)
{
	plant_leak(1);
	if ((intptr_t)rounds > 1) {
		pthread_setspecific(key, (void *)((intptr_t)rounds - 1));
	}
}

static void late_threads(void)
{
	pthread_key_create(&key, key_destructor);
	for (int i = 0; i < 20; i++) {
		std::thread([] {
			static thread_local late at_exit;

			(void)&at_exit;
			pthread_setspecific(key, (void *)(intptr_t)4);
		}).join();
	}
}

static void plugin(const char *path)
{
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		auto allocate =
			(void *(*)(size_t))dlsym(handle, "plugin_allocate");

		keep = allocate(123);
		dlclose(handle);
	}
}

static void print_home(const char *name)
{
	Dl_info info = {};

	dladdr(dlsym(RTLD_DEFAULT, name), &info);
	std::printf("%s %s\n", name, info.dli_fname);
}

static void throw_deep(int depth)
{
	std::string text = "a string that lives on the heap, surely";

	if (depth == 0) {
		throw std::runtime_error(text);
	}
	throw_deep(depth - 1);
}

static int run(const std::string &what)
{
	if (what == "all") {
		plant_all();
	} else if (what == "failed") {
		plant_failed();
	} else if (what == "sizes") {
		plant_sizes(100000);
	} else if (what == "leak") {
		plant_leak(100);
	} else if (what == "many") {
		plant_temporary(100000);
	} else if (what == "threads") {
		threads(400);
	} else if (what == "exchange") {
		exchange();
	} else if (what == "late") {
		late_threads();
	} else if (what == "deep") {
		plant_deep(3000);
	} else if (what == "plugin") {
		plugin(getenv("SUBJECT_PLUGIN"));
	} else if (what == "signals") {
		signal(SIGUSR1, plant_in_handler);
		for (int i = 0; i < 50; i++) {
			raise(SIGUSR1);
		}
	} else if (what == "homes") {
		print_home("backtrace");
		print_home("_Unwind_RaiseException");
		print_home("_Unwind_Resume");
		print_home("dl_iterate_phdr");
	} else if (what == "throw") {
		for (int i = 0; i < 1000; i++) {
			try {
				throw_deep(20);
			} catch (const std::runtime_error &) {
			}
		}
	} else if (what == "kill") {
		kill(getpid(), SIGKILL);
	} else if (what == "abort") {
		signal(SIGABRT, SIG_DFL);
		abort();
	} else if (what == "_exit") {
		_exit(0);
	} else if (what == "fork") {
		pid_t child = fork();

		if (child == 0) {
			plant_leak(7);
			_exit(0);
		}
		waitpid(child, nullptr, 0);
		std::printf("child %d\n", (int)child);
		plant_leak(2);
	} else if (what == "exec") {
		fflush(stdout);
		execl("/proc/self/exe", "subject", "leak", (char *)nullptr);
	} else if (what == "closefds") {
		for (int fd = 3; fd < 1024; fd++) {
			close(fd);
		}
	} else if (what == "sleep") {
		usleep(30000);
	} else {
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (run(argv[i]) != 0) {
			std::fprintf(stderr, "no scenario %s\n", argv[i]);
			return 2;
		}
	}
	return 0;
}
